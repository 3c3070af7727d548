// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Splitters of all hosts' keys: MilliSort's recursive partitioning (section 2.3.3).
 *
 * Ranks that are multiples of r, the reduction factor, are pivot sorters.  Each gathers the pivots
 * of r hosts, or of all if these are less than 2 r.  The pivot sorters sort what they have as hosts
 * sort records: with pivots of pivots and pivot sorters of the next level, ranks that are multiples
 * of r^2, up to one that is alone, the coordinator.  Groups of pivots are sent with their local
 * rank, here a weight, so that each pivot sorter knows which splitters are its own.  They exchange
 * these, and tell the hosts of their group all.
 */
#include <stdlib.h>
#include <string.h>

#include "dist.h"
#include "util.h"

struct dist {
	struct net *net;
	size_t klen;
	size_t per_part;	/* pivots for each part, "s" */
	unsigned int reduction;
};

/* In front of the pivots that a pivot sorter sends to another one. */
struct slice_head {
	uint64_t before;	/* weight of those that it has before them */
	uint64_t total;		/* and of all */
};

/* A list as it is here from one as it is sent, or back. */
static struct pt_list wire(const struct pt_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		wire64(&pt_at(l, i)->weight, 1);
		wire64(&pt_at(l, i)->index, 1);
		wire32(&pt_at(l, i)->rank, 1);
	}
	return *l;
}

/* A list as it came; its memory stays the step's. */
static struct pt_list list_of(const struct dist *d, void *mem, size_t len, unsigned int from)
{
	size_t stride = pt_stride(d->klen);

	if (len % stride)
		die("host %u: a list of pivots of %zu bytes", from, len);
	return wire(&(struct pt_list){ .n = len / stride, .klen = d->klen, .mem = mem });
}

static void copy_list(struct pt_list *to, const struct pt_list *from)
{
	if (pt_list_init(to, from->n, from->klen))
		die("out of memory: %zu pivots", from->n);
	memcpy(to->mem, from->mem, from->n * pt_stride(from->klen));
}

static size_t bytes_of(const struct pt_list *l)
{
	return l->n * pt_stride(l->klen);
}

static unsigned int parts_at(const struct dist *d, uint64_t stride)
{
	return (d->net->group.count + stride - 1) / stride;
}

static void merge(struct dist *d, const struct pt_list *lists, size_t n, struct pt_list *to)
{
	if (pt_merge(lists, n, to))
		die("out of memory: pivots of %zu hosts", n);
	charge_spend(&d->net->charge, CHARGE_PIVOT, to->n);
}

/* How many members of a level one sorts the pivots of.  A level of one or two pivot sorters would
 * take its messages' time, and would hardly divide the work.
 */
static unsigned int width_at(const struct dist *d, uint64_t stride)
{
	unsigned int parts = parts_at(d, stride);

	return parts < 2 * d->reduction ? parts : d->reduction;
}

/* Pivots of the members of a group to the first of them; there, all in one list. */
static void gather(struct dist *d, unsigned int step, uint64_t stride, unsigned int leader,
		   const struct pt_list *own, struct pt_list *all)
{
	unsigned int width = width_at(d, stride);
	struct net *net = d->net;
	struct pt_list *lists;
	struct net_op op;
	unsigned int i, n = 0;
	uint64_t rank;

	net_begin(net, &op, step + NET_GATHER);
	if (net->rank != leader) {
		wire(own);
		net_send(&op, leader, own->mem, bytes_of(own));
	}
	for (i = 1; net->rank == leader && i < width; i++) {
		rank = leader + i * stride;
		if (rank < net->group.count)
			net_expect(&op, rank);
	}
	net_run(&op);
	if (net->rank != leader) {
		wire(own);
	} else {
		lists = memory(width, sizeof(*lists));
		lists[n++] = *own;
		for (rank = leader + stride; n < width && rank < net->group.count;
		     rank += stride)
			lists[n++] = list_of(d, op.in[rank], op.in_len[rank], rank);
		merge(d, lists, n, all);
		free(lists);
	}
	net_end(&op);
}

/* All splitters from the first member of a group to the others. */
static void broadcast(struct dist *d, unsigned int step, uint64_t stride, unsigned int leader,
		      struct pt_list *splitters)
{
	unsigned int width = width_at(d, stride);
	struct net *net = d->net;
	struct net_op op;
	struct pt_list came;
	unsigned int i;
	uint64_t rank;

	net_begin(net, &op, step + NET_BROADCAST);
	if (net->rank == leader)
		wire(splitters);
	for (i = 1; net->rank == leader && i < width; i++) {
		rank = leader + i * stride;
		if (rank < net->group.count)
			net_send(&op, rank, splitters->mem, bytes_of(splitters));
	}
	if (net->rank != leader)
		net_expect(&op, leader);
	net_run(&op);
	if (net->rank == leader) {
		wire(splitters);
	} else {
		came = list_of(d, op.in[leader], op.in_len[leader], leader);
		copy_list(splitters, &came);
	}
	net_end(&op);
}

/* Each pivot sorter has found some splitters, and gets those of all, in order. */
static void allgather(struct dist *d, unsigned int step, uint64_t stride, struct pt_list *found,
		      struct pt_list *splitters)
{
	struct net *net = d->net;
	unsigned int n = 0, parts = parts_at(d, stride);
	struct pt_list *lists = memory(parts, sizeof(*lists));
	struct net_op op;
	size_t all = 0;
	uint64_t rank;
	char *to;

	net_begin(net, &op, step + NET_ALLGATHER);
	wire(found);
	for (rank = 0; rank < net->group.count; rank += stride) {
		if (rank == net->rank)
			continue;
		net_send(&op, rank, found->mem, bytes_of(found));
		net_expect(&op, rank);
	}
	net_run(&op);
	wire(found);
	for (rank = 0; rank < net->group.count; rank += stride, n++) {
		lists[n] = rank == net->rank ? *found :
			   list_of(d, op.in[rank], op.in_len[rank], rank);
		all += lists[n].n;
	}
	if (pt_list_init(splitters, all, d->klen))
		die("out of memory: %zu splitters", all);
	/* in order of rank they are in order */
	for (n = 0, to = splitters->mem; n < parts; n++) {
		memcpy(to, lists[n].mem, bytes_of(&lists[n]));
		to += bytes_of(&lists[n]);
	}
	free(lists);
	net_end(&op);
}

static void find_splitters(struct dist *d, unsigned int level, uint64_t stride,
			   const struct pt_list *pivots, struct pt_list *splitters);

/* Each pivot sorter has a list, and gets its part of all: *slice, and the weights. */
static void sort_pivots(struct dist *d, unsigned int level, uint64_t stride,
			const struct pt_list *own, struct pt_list *slice, uint64_t *before,
			uint64_t *total)
{
	unsigned int step = NET_LEVELS + level * NET_LEVEL_OPS, i = 0, parts = parts_at(d, stride);
	size_t *bound = memory(parts + 1, sizeof(*bound)), bytes = pt_stride(d->klen), j = 0;
	struct pt_list *lists = memory(parts, sizeof(*lists)), pivots, splitters, part;
	struct slice_head head = { .total = pt_weight(own) };
	void **out = memory(parts, sizeof(*out));
	struct net *net = d->net;
	struct net_op op;
	uint64_t rank;

	if (pt_resample(own, d->per_part * parts, &pivots))
		die("out of memory: %zu pivots", d->per_part * parts);
	find_splitters(d, level, stride, &pivots, &splitters);
	pt_bounds_list(own, &splitters, parts, bound);
	pt_list_free(&pivots);
	pt_list_free(&splitters);

	net_begin(net, &op, step + NET_SHUFFLE);
	*before = 0;
	*total = head.total;
	for (rank = 0; i < parts; rank += stride, i++) {
		size_t len = (bound[i + 1] - bound[i]) * bytes;

		if (rank == net->rank) {
			*before = head.before;
		} else {
			out[i] = memory(sizeof(head) + len, 1);
			part = (struct pt_list){ .n = bound[i + 1] - bound[i], .klen = d->klen,
						 .mem = (char *)out[i] + sizeof(head) };
			memcpy(out[i], &head, sizeof(head));
			wire64(out[i], sizeof(head) / 8);
			memcpy(part.mem, own->mem + bound[i] * bytes, len);
			wire(&part);
			net_send(&op, rank, out[i], sizeof(head) + len);
			net_expect(&op, rank);
		}
		for (; j < bound[i + 1]; j++)
			head.before += pt_at(own, j)->weight;
	}
	net_run(&op);
	for (rank = 0, i = 0; i < parts; rank += stride, i++) {
		if (rank == net->rank) {
			lists[i] = (struct pt_list){ .n = bound[i + 1] - bound[i], .klen = d->klen,
						     .mem = own->mem + bound[i] * bytes };
			continue;
		}
		if (op.in_len[rank] < sizeof(head))
			die("host %u: pivots without a local rank", (unsigned int)rank);
		memcpy(&head, op.in[rank], sizeof(head));
		wire64(&head, sizeof(head) / 8);
		*before += head.before;
		*total += head.total;
		lists[i] = list_of(d, (char *)op.in[rank] + sizeof(head),
				   op.in_len[rank] - sizeof(head), rank);
	}
	merge(d, lists, parts, slice);
	net_end(&op);
	for (i = 0; i < parts; i++)
		free(out[i]);
	free(out);
	free(lists);
	free(bound);
}

/* Members of a level have pivots; all of them get the splitters that divide what these stand for
 * among them.
 */
static void find_splitters(struct dist *d, unsigned int level, uint64_t stride,
			   const struct pt_list *pivots, struct pt_list *splitters)
{
	unsigned int step = NET_LEVELS + level * NET_LEVEL_OPS, parts = parts_at(d, stride);
	uint64_t next = stride * width_at(d, stride), before = 0, total;
	unsigned int leader = d->net->rank - d->net->rank % next;
	struct pt_list all, found, slice;

	gather(d, step, stride, leader, pivots, &all);
	if (d->net->rank == leader) {
		if (next >= d->net->group.count) {
			if (pt_select(&all, 0, pt_weight(&all), parts, splitters))
				die("out of memory: %u splitters", parts);
		} else {
			sort_pivots(d, level + 1, next, &all, &slice, &before, &total);
			if (pt_select(&slice, before, total, parts, &found))
				die("out of memory: %u splitters", parts);
			pt_list_free(&slice);
			allgather(d, step, next, &found, splitters);
			pt_list_free(&found);
		}
		pt_list_free(&all);
	}
	broadcast(d, step, stride, leader, splitters);
}

/**
 * dist_splitters_of() - find the splitters of what all hosts' pivots stand for; the program ends if
 * that fails
 * @net: the hosts
 * @own: pivots of this one
 * @pivots: of each host
 * @reduction: reduction factor, at least 2
 * @splitters: list that is set: one less than hosts, the same everywhere; none if there are no keys
 */
void dist_splitters_of(struct net *net, const struct pt_list *own, size_t pivots,
		       unsigned int reduction, struct pt_list *splitters)
{
	unsigned int hosts = net->group.count;
	struct dist d = {
		.net = net,
		.klen = own->klen,
		.per_part = (pivots + hosts - 1) / hosts,
		.reduction = reduction,
	};

	find_splitters(&d, 0, 1, own, splitters);
	if (splitters->n && splitters->n != hosts - 1)
		die("%zu splitters for %u hosts", splitters->n, hosts);
}

/**
 * dist_splitters() - find the splitters of all hosts' keys
 * @net: the hosts
 * @keys: sorted keys of this one
 * @pivots: of each host
 * @reduction: as for dist_splitters_of()
 * @splitters: likewise
 */
void dist_splitters(struct net *net, const struct pt_keys *keys, size_t pivots,
		    unsigned int reduction, struct pt_list *splitters)
{
	struct pt_list own;

	if (pt_sample(keys, pivots, &own))
		die("out of memory: %zu pivots", pivots);
	dist_splitters_of(net, &own, pivots, reduction, splitters);
	pt_list_free(&own);
}
