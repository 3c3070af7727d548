/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a query needs of the other hosts: AF_SHUFFLE sockets (net_shuffle.c), or threads of one
 * process (net_local.c).  All hosts make the same calls in the same order.  A call that fails ends
 * the program with a message that names the hosts that are missing.
 */
#ifndef QUERY_NET_H
#define QUERY_NET_H

#include <stddef.h>
#include <stdint.h>

#include "shuffle_coll.h"
#include "shuffle_keys.h"

/**
 * struct sums - what relays have made of all hosts' records, at member 0
 * @result: one of each key; memory that the caller frees
 * @results: their number
 * @come: records that came to member 0
 */
struct sums {
	struct shuffle_key_value *result;
	size_t results, come;
};

struct inbox {
	unsigned int count;
	void **bufs;
	uint64_t *lens;
	void *owner;
};

/**
 * struct net - a host's view of all hosts
 * @rank: which one this is
 * @count: their number
 * @exchange: a whole shuffle: bufs[i] of lens[i] bytes goes to member i
 * @release: the messages of an exchange are not needed any more
 * @reduce: combines the buffers of all hosts into that of member 0
 * @allreduce: into those of all
 * @broadcast: the buffer of member 0 goes to all
 * @gather: @size bytes of each to member 0, in order of rank
 * @left_ms: until the deadline, at least 1
 * @reduce_names: strings of all hosts to member 0
 * @sum_by_key: records of all other hosts to member 0, summed on their way as relays do it; records
 *	in order of unsigned keys.  At member 0: their sums.  NULL: there are no relays
 * @relays: of @sum_by_key
 */
struct net {
	unsigned int rank, count;
	void (*exchange)(struct net *net, const void *const *bufs, const uint64_t *lens,
			 struct inbox *in);
	void (*release)(struct net *net, struct inbox *in);
	void (*reduce)(struct net *net, void *buf, size_t size, shuffle_combine combine,
		       void *arg);
	void (*allreduce)(struct net *net, void *buf, size_t size, shuffle_combine combine,
			  void *arg);
	void (*broadcast)(struct net *net, void *buf, size_t size);
	void (*gather)(struct net *net, const void *from, void *to, size_t size);
	uint64_t (*left_ms)(struct net *net);
	void (*reduce_names)(struct net *net, struct shuffle_key_names *names);
	void (*sum_by_key)(struct net *net, const struct shuffle_key_value *record, size_t records,
			   struct sums *sums);
	struct relays *relays;
};

struct group;

struct net *net_shuffle_open(const struct group *group, unsigned int rank, uint64_t op,
			     uint64_t deadline_ms);
uint64_t net_shuffle_first_op(struct net *net);
void net_shuffle_close(struct net *net);
void net_relays_open(struct net *net, const struct group *hosts, const char *file,
		     const char *roles, uint64_t first_op);
void net_relays_close(struct relays *r);

/* Calls run(arg, net) on @count threads, one for each host. */
void net_local_run(unsigned int count, void (*run)(void *arg, struct net *net), void *arg);

#endif /* QUERY_NET_H */
