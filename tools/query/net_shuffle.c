// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A query's hosts on AF_SHUFFLE sockets: rows go through one that is bound to the address of the
 * group file, collectives through one whose port the kernel chooses and the first one tells the
 * others, so that neither receives records of the other's operations.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "column.h"
#include "common.h"
#include "net.h"

#define NS_PER_MS	1000000ULL
#define OP_SHIFT	16		/* operations of a query that --op numbers: 2^16 */
#define OP_ROLL_CALL	((1ULL << OP_SHIFT) - 1)
#define COLL_SHIFT	32
#define GATHER_RADIX	6	/* Li, section 2.1.4 */
#define ROLL_CALL_MS	2000	/* at least, for hosts that notice a failure later */

struct shuffle_net {
	struct net net;
	const struct group *group;
	int rows_fd, coll_fd;
	struct shuffle_coll *coll;
	uint64_t op;		/* the query's number; 0: agreed on */
	uint64_t first_op, next_op;
	uint64_t end_ns;	/* the deadline */
	uint64_t roll_call_ms;
};

static struct shuffle_net *of(struct net *net)
{
	return (struct shuffle_net *)net;
}

/* Until the deadline, at least 1. */
static uint64_t left_ms(const struct shuffle_net *n)
{
	uint64_t now = now_ns();

	return now + NS_PER_MS < n->end_ns ? (n->end_ns - now) / NS_PER_MS : 1;
}

static void name_missing(const struct shuffle_net *n, const struct shuffle_column *col)
{
	char name[80];
	unsigned int i;

	for (i = 0; i < col->missing_count; i++)
		warnx("member %u (%s) is missing", col->missing[i],
		      shuffle_addr_str(&n->group->members[col->missing[i]], name, sizeof(name)));
}

/* One operation of the socket for rows; returns its column, or NULL with errno, and names who is
 * missing.
 */
static struct shuffle_column *exchange(struct shuffle_net *n, uint64_t op,
				       const void *const *bufs, const uint64_t *lens,
				       uint64_t ms, bool quiet)
{
	struct shuffle_column *col = shuffle_column_new(op, n->net.count);
	int error;

	if (!col)
		err(1, "%u messages", n->net.count);
	if (!shuffle_exchange(n->rows_fd, op, bufs, lens, n->net.count, ms, col))
		return col;
	error = errno;
	if (!quiet)
		name_missing(n, col);
	shuffle_column_free(col);
	errno = error;
	return NULL;
}

/* Nothing to and from everybody.  0, or -1: who does not answer has been named. */
static int roll_call(struct shuffle_net *n)
{
	const void **bufs = xcalloc(n->net.count, sizeof(*bufs));
	uint64_t *lens = xcalloc(n->net.count, sizeof(*lens));
	struct shuffle_column *col;

	col = exchange(n, n->first_op | OP_ROLL_CALL, bufs, lens,
		       left_ms(n) + n->roll_call_ms, false);
	free(bufs);
	free(lens);
	if (!col)
		return -1;
	shuffle_column_free(col);
	return 0;
}

/*
 * A member that waits for one that has died is itself missed by those that are a step ahead.  Who
 * does not answer now is the one.
 */
static void __attribute__((noreturn)) failed(struct shuffle_net *n, const char *what, int error)
{
	if (error == EEXIST)
		errx(1, "operation %llu was used before: --op needs another number",
		     (unsigned long long)n->op);
	/* Our own fault: gone at once, we are the one that does not answer the others. */
	if (error == ENOMEM || error == ENOBUFS || error == EMSGSIZE || error == EPROTO)
		errx(1, "%s has failed: %s", what, strerror(error));
	if (!roll_call(n))
		errx(1, "%s has failed (%s), but all members answer: the deadline is too short",
		     what, strerror(error));
	errx(1, "%s has failed: %s", what, strerror(error));
}

static void net_exchange(struct net *net, const void *const *bufs, const uint64_t *lens,
			 struct inbox *in)
{
	struct shuffle_net *n = of(net);
	struct shuffle_column *col;

	col = exchange(n, n->next_op++, bufs, lens, left_ms(n), true);
	if (!col)
		failed(n, "a shuffle of rows", errno);
	in->count = net->count;
	in->bufs = col->bufs;
	in->lens = col->lens;
	in->owner = col;
}

static void net_release(struct net *net, struct inbox *in)
{
	(void)net;
	if (in->owner)
		shuffle_column_free(in->owner);
	memset(in, 0, sizeof(*in));
}

static void coll_done(struct shuffle_net *n, int ret, const char *what)
{
	if (ret)
		failed(n, what, errno);
}

static void net_reduce(struct net *net, void *buf, size_t size, shuffle_combine combine, void *arg)
{
	struct shuffle_net *n = of(net);
	void *from = xcalloc(1, size);

	memcpy(from, buf, size);
	shuffle_coll_timeout(n->coll, left_ms(n));
	coll_done(n, shuffle_reduce(n->coll, from, buf, size, size, combine, arg, 0), "a reduce");
	free(from);
}

static void net_allreduce(struct net *net, void *buf, size_t size, shuffle_combine combine,
			  void *arg)
{
	struct shuffle_net *n = of(net);
	void *from = xcalloc(1, size);

	memcpy(from, buf, size);
	shuffle_coll_timeout(n->coll, left_ms(n));
	coll_done(n, shuffle_allreduce(n->coll, from, buf, size, size, combine, arg),
		  "an all-reduce");
	free(from);
}

static void net_broadcast(struct net *net, void *buf, size_t size)
{
	struct shuffle_net *n = of(net);

	shuffle_coll_timeout(n->coll, left_ms(n));
	coll_done(n, shuffle_broadcast(n->coll, buf, size, 0), "a broadcast");
}

static void net_gather(struct net *net, const void *from, void *to, size_t size)
{
	struct shuffle_net *n = of(net);

	shuffle_coll_timeout(n->coll, left_ms(n));
	coll_done(n, shuffle_gather(n->coll, from, to, size, 0), "a gather");
}

static void net_reduce_names(struct net *net, struct shuffle_key_names *names)
{
	struct shuffle_keys_fault fault = { 0 };
	struct shuffle_net *n = of(net);

	shuffle_coll_timeout(n->coll, left_ms(n));
	if (!shuffle_reduce_names(n->coll, names, 0, &fault))
		return;
	if (fault.error == ENOTUNIQ)
		errx(1, "%s", fault.text);
	failed(n, "a gather of keys", fault.error ? fault.error : errno);
}

static uint64_t net_left_ms(struct net *net)
{
	return left_ms(of(net));
}

/* The ports of the sockets for collectives, through that for rows. */
static void open_coll(struct shuffle_net *n)
{
	struct sockaddr_shuffle *members;
	const void **bufs = xcalloc(n->net.count, sizeof(*bufs));
	uint64_t *lens = xcalloc(n->net.count, sizeof(*lens));
	struct sockaddr_shuffle mine = n->group->members[n->net.rank];
	struct inbox in;
	unsigned int i;

	mine.shs_port = 0;
	n->coll_fd = shuffle_bind(&mine, SOCK_CLOEXEC);
	if (n->coll_fd < 0)
		err(1, "a socket for collectives");
	for (i = 0; i < n->net.count; i++) {
		bufs[i] = &mine.shs_port;
		lens[i] = sizeof(mine.shs_port);
	}
	net_exchange(&n->net, bufs, lens, &in);
	members = xcalloc(n->net.count, sizeof(*members));
	for (i = 0; i < n->net.count; i++) {
		if (in.lens[i] != sizeof(mine.shs_port))
			errx(1, "member %u speaks another protocol", i);
		members[i] = n->group->members[i];
		memcpy(&members[i].shs_port, in.bufs[i], sizeof(mine.shs_port));
	}
	net_release(&n->net, &in);
	if (shuffle_join(n->coll_fd, members, n->net.count, n->net.rank))
		err(1, "cannot join the group of collectives");
	n->coll = shuffle_coll_new(n->coll_fd, n->net.rank, n->net.count,
				   n->op ? n->op << COLL_SHIFT : n->first_op);
	if (!n->coll || shuffle_coll_pattern(n->coll, "tree", GATHER_RADIX))
		err(1, "collectives");
	free(members);
	free(bufs);
	free(lens);
}

/* Room for the query's operations: the roll call is the last of them. */
static void agree(struct shuffle_net *n, uint64_t deadline_ms)
{
	unsigned int missing;
	char name[80];

	if (!shuffle_agree(n->rows_fd, n->net.count, deadline_ms, &n->first_op, &missing)) {
		/* up: ids below the first one are not new */
		n->first_op = (n->first_op + OP_ROLL_CALL) & ~OP_ROLL_CALL;
		return;
	}
	if (missing >= n->net.count)
		err(1, "the members do not agree on an operation");
	err(1, "member %u (%s) does not answer", missing,
	    shuffle_addr_str(&n->group->members[missing], name, sizeof(name)));
}

/**
 * net_shuffle_open - join the group
 * @group: all members
 * @rank: which one this is
 * @op: a number of the query that this group has not used before, below 2^31; 0: the members agree
 * @deadline_ms: that the whole query may take
 *
 * Return: the hosts.
 */
struct net *net_shuffle_open(const struct group *group, unsigned int rank, uint64_t op,
			     uint64_t deadline_ms)
{
	struct shuffle_net *n = xcalloc(1, sizeof(*n));
	char name[80];

	n->net = (struct net){
		.rank = rank,
		.count = group->count,
		.exchange = net_exchange,
		.release = net_release,
		.reduce = net_reduce,
		.allreduce = net_allreduce,
		.broadcast = net_broadcast,
		.gather = net_gather,
		.left_ms = net_left_ms,
		.reduce_names = net_reduce_names,
	};
	n->group = group;
	n->op = op;
	n->first_op = op << OP_SHIFT;
	n->roll_call_ms = deadline_ms / 2 > ROLL_CALL_MS ? deadline_ms / 2 : ROLL_CALL_MS;
	n->end_ns = now_ns() + deadline_ms * NS_PER_MS;
	n->rows_fd = shuffle_open(group->members, group->count, rank, SOCK_CLOEXEC);
	if (n->rows_fd < 0 && errno == EAFNOSUPPORT)
		errx(1, "%s; or use --local", shuffle_family_str());
	if (n->rows_fd < 0)
		err(1, "cannot join the group as %s",
		    shuffle_addr_str(&group->members[rank], name, sizeof(name)));
	if (!op)
		agree(n, deadline_ms);
	n->next_op = n->first_op;
	open_coll(n);
	return &n->net;
}

/**
 * net_shuffle_first_op - what the members have agreed on, or --op says
 * @net: the hosts
 *
 * Return: the first of 2^16 numbers of operations that are this query's.
 */
uint64_t net_shuffle_first_op(struct net *net)
{
	return of(net)->first_op;
}

/**
 * net_shuffle_close - leave, when all others are done, too
 * @net: the hosts
 */
void net_shuffle_close(struct net *net)
{
	struct shuffle_net *n = of(net);

	coll_done(n, shuffle_coll_free(n->coll), "a collective");
	if (roll_call(n))
		errx(1, "after the result: %s", strerror(errno));
	close(n->coll_fd);
	close(n->rows_fd);
	free(n);
}
