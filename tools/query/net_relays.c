// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records of key and value summed by relays on their way to member 0: hosts where shuffle-relayd(8)
 * merges, and hosts of the query that merge what others send with what they have.  The plan is that
 * of shuffle-plan(1), installed by shuffle-plan-install(1).  Its group has the hosts of the query,
 * by their addresses, and the relays; its port is another one.
 */
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "common.h"
#include "net.h"
#include "roles.h"

/**
 * struct relays - the plan's group
 * @tree: of them, with the relays
 * @group: its members
 * @role: what they do
 * @rank: ours in it
 * @receiver: that of member 0 of the query
 * @next_op: the next operation
 */
struct relays {
	struct shuffle_tree *tree;
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

static void __attribute__((noreturn)) failed(const struct relays *r,
					     const struct shuffle_keys_fault *fault)
{
	char name[80];

	if (fault->rank < r->group.count)
		warnx("rank %u of the relays' group (%s)", fault->rank,
		      shuffle_addr_str(&r->group.members[fault->rank], name, sizeof(name)));
	errx(1, "a sum over relays has failed: %s (%s)", fault->text, strerror(fault->error));
}

static void relays_sum(struct net *net, const struct shuffle_key_value *record, size_t records,
		       struct sums *sums)
{
	struct relays *r = net->relays;
	struct shuffle_tree_counts before, after;
	uint64_t op = r->next_op++, ms = net->left_ms(net);
	struct shuffle_tree_end end;
	int rc;

	if (!net->rank) {
		record = NULL;
		records = 0;
	}
	shuffle_tree_count(r->tree, &before);
	if (shuffle_tree_start(r->tree, op, record, records))
		err(1, "a sum over relays");
	rc = shuffle_tree_wait(r->tree, &end, ms < INT_MAX ? ms : INT_MAX);
	if (!rc) {
		/* so that the others hear of it now */
		shuffle_tree_cancel(r->tree, op);
		rc = shuffle_tree_wait(r->tree, &end, 0);
		end.fault.error = ETIMEDOUT;
	}
	if (rc < 0)
		err(1, "a sum over relays");
	if (end.fault.error)
		failed(r, &end.fault);
	shuffle_tree_count(r->tree, &after);
	sums->result = end.result;
	sums->results = end.results;
	sums->come = after.records_in - before.records_in;
}

/**
 * net_relays_open - sums go over the relays of a plan
 * @net: hosts; its @sum_by_key is set
 * @hosts: their addresses, the query's group
 * @file: the group of the plan, as group_read() has it
 * @roles: what its members do, see roles_read()
 * @first_op: the first number of an operation over relays, see net_shuffle_first_op()
 */
void net_relays_open(struct net *net, const struct group *hosts, const char *file,
		     const char *roles, uint64_t first_op)
{
	struct relays *r = xcalloc(1, sizeof(*r));
	uint64_t ms = net->left_ms(net);
	struct shuffle_tree_spec spec = {
		.oper = SHUFFLE_KEYS_SUM, .flags = SHUFFLE_KEYS_SORTED,
		.idle_ms = ms < UINT32_MAX ? ms : UINT32_MAX,
	};

	group_read(&r->group, file);
	r->role = roles_read(roles, r->group.count, &r->receiver);
	check_members(r, hosts, file, roles);
	r->rank = rank_of(r, &hosts->members[net->rank], file);
	r->next_op = first_op;
	r->tree = roles_open(r->role, &r->group, r->rank, &spec);
	if (!r->tree)
		err(1, "cannot join the group of %s as rank %u", file, r->rank);
	net->relays = r;
	net->sum_by_key = relays_sum;
}

/**
 * net_relays_close - leave the plan's group, when all have their results
 * @r: relays
 */
void net_relays_close(struct relays *r)
{
	shuffle_tree_close(r->tree);
	free(r->role);
	free(r->group.members);
	free(r);
}
