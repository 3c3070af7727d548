// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records of key and value summed by relays on their way to member 0: hosts whose kernels merge,
 * and hosts of the query that merge what others send with what they have.  The plan is that of
 * shuffle-plan(1), installed by shuffle-plan-install(1).  Its group has the hosts of the query, by
 * their addresses, and the relays; its port is another one.
 */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "common.h"
#include "net.h"
#include "roles.h"

#define OP_SHIFT	16		/* operations of a query that --op numbers: 2^16 */

/**
 * struct relays - the plan's group
 * @fd: its socket
 * @group: its members
 * @role: what they do
 * @rank: ours in it
 * @receiver: that of member 0 of the query
 * @next_op: the next operation
 */
struct relays {
	int fd;
	struct group group;
	struct role *role;
	unsigned int rank, receiver;
	uint64_t next_op;
};

/* Are these the same host?  Ports are of no account. */
static bool same_host(const struct sockaddr_shuffle *a, const struct sockaddr_shuffle *b)
{
	struct sockaddr_shuffle x = *a, y = *b;

	x.shs_port = 0;
	y.shs_port = 0;
	return !memcmp(&x, &y, sizeof(x));
}

/* The rank in the plan of a host of the query. */
static unsigned int rank_of(const struct relays *r, const struct sockaddr_shuffle *host,
			    const char *file)
{
	char name[80];
	unsigned int i;

	for (i = 0; i < r->group.count; i++)
		if (same_host(&r->group.members[i], host))
			return i;
	errx(2, "%s: %s of the query is not there", file,
	     shuffle_addr_str(host, name, sizeof(name)));
}

/* The members that the plan knows are the hosts of the query. */
static void check_members(const struct relays *r, const struct group *hosts, const char *file,
			  const char *roles)
{
	unsigned int i, rank, members = 0;

	for (i = 0; i < r->group.count; i++)
		members += r->role[i].kind == ROLE_MEMBER;
	for (i = 0; i < hosts->count; i++) {
		rank = rank_of(r, &hosts->members[i], file);
		if (r->role[rank].kind != ROLE_MEMBER)
			errx(2, "%s: rank %u is host %u of the query, and no member", roles, rank,
			     i);
		if (!i && rank != r->receiver)
			errx(2, "%s: rank %u is the receiver, and not rank %u, host 0 of the query",
			     roles, r->receiver, rank);
	}
	if (members != hosts->count)
		errx(2, "%s: %u members, the query has %u hosts", roles, members, hosts->count);
}

static size_t children_lens(const struct shuffle_column *col)
{
	size_t records = 0;
	unsigned int i;

	for (i = 0; i < col->count; i++) {
		if (col->lens[i] % sizeof(struct shuffle_key_value))
			errx(1, "relays: rank %u sends a part of a record", i);
		records += col->lens[i] / sizeof(struct shuffle_key_value);
	}
	return records;
}

/* What has come; each child's records one behind the other. */
static struct shuffle_key_value *take(const struct shuffle_column *col, size_t *records)
{
	struct shuffle_key_value *all, *to;
	unsigned int i;
	size_t n;

	*records = children_lens(col);
	all = xcalloc(*records + 1, sizeof(*all));
	to = all;
	for (i = 0; i < col->count; i++) {
		n = col->lens[i] / sizeof(*to);
		if (n)
			memcpy(to, col->bufs[i], n * sizeof(*to));
		to += n;
	}
	for (n = 0; n < *records; n++) {
		all[n].key = be64toh(all[n].key);
		all[n].value = be64toh(all[n].value);
	}
	return all;
}

static void __attribute__((noreturn)) failed(const struct relays *r,
					     const struct shuffle_column *col, int error)
{
	const char *hint = "";
	char name[80];
	unsigned int i;

	for (i = 0; i < col->missing_count; i++)
		warnx("rank %u of the relays' group (%s) is missing", col->missing[i],
		      shuffle_addr_str(&r->group.members[col->missing[i]], name, sizeof(name)));
	if (error == EBADMSG)
		hint = "; not all hosts are counted, or one twice: do the relays fit the roles?";
	if (error == EPROTO)
		hint = "; are the relays made with the words sorted and oper sum?";
	errx(1, "a sum over relays has failed: %s%s", strerror(error), hint);
}

/* Who sends to us, and to whom we send; @merge: how, if anybody does. */
static void plan_row(const struct relays *r, const void **bufs, uint64_t *lens, uint64_t *absent,
		     const void *own, size_t bytes, struct shuffle_merge *merge)
{
	const struct role *mine = &r->role[r->rank];
	unsigned int i;

	for (i = 0; i < r->group.count; i++) {
		lens[i] = SHUFFLE_ABSENT;
		if (r->role[i].parent != r->rank)
			absent[i / 64] |= 1ULL << i % 64;
	}
	*merge = (struct shuffle_merge){ .oper = SHUFFLE_MERGE_SUM, .to = mine->parent,
					 .flags = SHUFFLE_MERGE_SORTED };
	if (mine->parent == ROLE_NOBODY) {
		merge->to = r->rank;
		merge->flags = 0;
		for (i = 0; i < r->group.count; i++)
			merge->senders += r->role[i].kind == ROLE_MEMBER && i != r->rank;
		return;
	}
	i = mine->children ? r->rank : mine->parent;
	bufs[i] = own;
	lens[i] = bytes;
	if (mine->children) {
		lens[mine->parent] = 0;
		absent[i / 64] &= ~(1ULL << i % 64);
	}
}

static void relays_sum(struct net *net, struct shuffle_key_value *record, size_t records,
		       struct shuffle_key_value **result, size_t *results)
{
	struct relays *r = net->relays;
	unsigned int n = r->group.count;
	const void **bufs = xcalloc(n, sizeof(*bufs));
	uint64_t *lens = xcalloc(n, sizeof(*lens));
	uint64_t *absent = xcalloc((n + 63) / 64, sizeof(*absent));
	uint64_t op = r->next_op++, ms = net->left_ms(net);
	uint32_t idle_ms = ms < UINT32_MAX ? ms : UINT32_MAX;
	struct shuffle_column *col = shuffle_column_new(op, n);
	struct shuffle_merge merge;
	struct shuffle_tx tx;
	size_t i;

	if (!col)
		err(1, "%u messages", n);
	for (i = 0; i < records; i++) {
		record[i].key = htobe64(record[i].key);
		record[i].value = htobe64(record[i].value);
	}
	if (setsockopt(r->fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle_ms, sizeof(idle_ms)))
		err(1, "the relays' deadline");
	plan_row(r, bufs, lens, absent, record, records * sizeof(*record), &merge);
	shuffle_tx_init(&tx, op, bufs, lens, n, ms);
	shuffle_tx_absent(&tx, absent);
	if (r->role[r->rank].children)
		shuffle_tx_merge(&tx, &merge);
	/* one that has ended meanwhile says why below */
	if (shuffle_tx_finish(r->fd, &tx) && errno != EPIPE)
		err(1, "a sum over relays");
	if (shuffle_recv_column(r->fd, col))
		failed(r, col, errno);
	*result = take(col, results);
	shuffle_column_free(col);
	free(absent);
	free(lens);
	free(bufs);
}

/**
 * net_relays_open - sums go over the relays of a plan
 * @net: hosts; its @sum_by_key is set
 * @hosts: their addresses, the query's group
 * @file: the group of the plan, as group_read() has it
 * @roles: what its members do, see roles_read()
 * @op: the query's number
 */
void net_relays_open(struct net *net, const struct group *hosts, const char *file,
		     const char *roles, uint64_t op)
{
	struct relays *r = xcalloc(1, sizeof(*r));

	group_read(&r->group, file);
	r->role = roles_read(roles, r->group.count, &r->receiver);
	check_members(r, hosts, file, roles);
	r->rank = rank_of(r, &hosts->members[net->rank], file);
	r->next_op = op << OP_SHIFT;
	r->fd = shuffle_open(r->group.members, r->group.count, r->rank, SOCK_CLOEXEC);
	if (r->fd < 0)
		err(1, "cannot join the group of %s as rank %u", file, r->rank);
	net->relays = r;
	net->sum_by_key = relays_sum;
}
