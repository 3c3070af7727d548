/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queueing disciplines of a device, as the kernel describes them. */
#ifndef SHUFFLE_TC_H
#define SHUFFLE_TC_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/pkt_sched.h>

#include "nl.h"

/**
 * struct tc_counts - what has gone through a qdisc
 * @bytes: sent
 * @packets: sent
 * @drops: dropped
 * @backlog: bytes waiting
 * @qlen: packets waiting
 */
struct tc_counts {
	uint64_t	bytes;
	uint64_t	packets;
	uint64_t	drops;
	uint64_t	backlog;
	uint64_t	qlen;
};

/**
 * struct tc_node - a qdisc
 * @handle: 0 if the kernel attached it by itself
 * @parent: TC_H_ROOT or a class of another one
 * @kind: "prio"
 * @options: value of TCA_OPTIONS, NULL if there is none
 * @options_len: its length
 * @odd: has what a copy would not have: size tables, shared filter blocks
 * @filters: number of filters on it
 * @counts: statistics
 */
struct tc_node {
	uint32_t	handle;
	uint32_t	parent;
	char		kind[16];
	void		*options;
	unsigned int	options_len;
	bool		odd;
	unsigned int	filters;
	struct tc_counts counts;
};

/**
 * struct tc_tree - all qdiscs of a device for sending
 * @ifindex: the device
 * @node: array
 * @n: number of elements
 */
struct tc_tree {
	int		ifindex;
	struct tc_node	*node;
	unsigned int	n;
};

/**
 * struct tc_match - what control packets look like on the wire
 * @dscp: their DSCP
 * @port: UDP port of all shuffle traffic
 */
struct tc_match {
	uint8_t		dscp;
	uint16_t	port;
};

/**
 * struct tc_key - a word of a packet
 * @off: bytes behind the start of the network header
 * @val: value, host byte order
 * @mask: bits that count
 */
struct tc_key {
	int		off;
	uint32_t	val;
	uint32_t	mask;
};

/* verdict of filters about a control packet */
#define TC_FILTER_NONE		(-1)	/* no filter matches */
#define TC_FILTER_UNKNOWN	(-2)	/* there is one that cannot be judged */

struct tc_tree *tc_tree_get(struct nl_sock *sk, int ifindex);
struct tc_tree *tc_tree_new(int ifindex);
struct tc_node *tc_tree_add(struct tc_tree *t, const struct tc_node *node);
void tc_tree_free(struct tc_tree *t);
const struct tc_node *tc_root(const struct tc_tree *t);
const struct tc_node *tc_child(const struct tc_tree *t, uint32_t parent);
const struct tc_node *tc_find(const struct tc_tree *t, uint32_t handle);
bool tc_is_below(const struct tc_tree *t, const struct tc_node *n, const struct tc_node *top);

bool tc_netem_has_rate(const struct tc_node *n);
int tc_qdisc_put(struct nl_sock *sk, int ifindex, uint32_t parent, uint32_t handle,
		 const char *kind, const void *options, unsigned int len, int flags);
int tc_qdisc_del(struct nl_sock *sk, int ifindex, uint32_t parent, uint32_t handle);
int tc_filters_get(struct nl_sock *sk, int ifindex, uint32_t parent, struct nl_reply *r);
int tc_u32_add(struct nl_sock *sk, int ifindex, uint32_t parent, uint32_t classid,
	       unsigned int pref, uint16_t protocol, const struct tc_key *key, unsigned int n);
int tc_filter_add(struct nl_sock *sk, int ifindex, uint32_t parent, uint32_t classid,
		  const struct tc_match *match);
int tc_filter_verdict(struct nl_sock *sk, int ifindex, uint32_t parent, uint16_t protocol,
		      const struct tc_match *match, bool control);

#endif
