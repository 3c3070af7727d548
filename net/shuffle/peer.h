/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hosts that members are on, and what is known of each.
 */
#ifndef _SHUFFLE_PEER_H
#define _SHUFFLE_PEER_H

#include <linux/atomic.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>
#include "../../uapi/linux/shuffle.h"

struct shuffle_net;
struct shuffle_op;
struct shuffle_sock;
struct shuffle_user;

/**
 * struct shuffle_peer - a host that members are on: peer.c
 * @node: place in sn->peers
 * @ref: number of members on the host
 * @sn: namespace
 * @user: user whose group has made the peer
 * @addr: address of the host, port 0
 * @local: @addr was one of this host's own when the peer was made
 * @tx_bytes: payload bytes sent to the host
 * @rx_bytes: new payload bytes from the host
 * @resends_out: number of RESENDs sent to the host
 * @resends_in: number of RESENDs that came from the host
 * @data_at: time at which data last came from the host, ns; 0: never
 * @rtt_ns: smoothed time from a grant to its data
 * @rtt_min_ns: least time from a grant to its data
 * @rate: rate at which the host last delivered, bytes/s
 * @rate_at: time at which @rate was measured, ns
 * @rate_bytes: value of @rx_bytes at @rate_at
 */
struct shuffle_peer {
	struct rb_node		node;
	refcount_t		ref;
	struct shuffle_net	*sn;
	struct shuffle_user	*user;
	struct sockaddr_shuffle	addr;
	bool			local;
	atomic64_t		tx_bytes;
	atomic64_t		rx_bytes;
	atomic64_t		resends_out;
	atomic64_t		resends_in;
	atomic64_t		data_at;
	atomic64_t		rtt_ns;
	atomic64_t		rtt_min_ns;
	atomic64_t		rate;
	atomic64_t		rate_at;
	atomic64_t		rate_bytes;
};

struct shuffle_peer *shuffle_peer_get(struct shuffle_sock *ssk, const struct sockaddr_shuffle *a);
struct shuffle_peer *shuffle_peer_next(struct shuffle_net *sn, const struct sockaddr_shuffle *a,
				       bool behind);
void shuffle_peer_put(struct shuffle_peer *peer);
void shuffle_peer_rtt(struct shuffle_op *op, u32 rank, u64 ns);
void shuffle_peer_received(struct shuffle_op *op, u32 rank, u32 bytes);
void shuffle_peer_sent(struct shuffle_op *op, u32 rank, u32 bytes);
void shuffle_peer_resend(struct shuffle_op *op, u32 rank, bool out);

#endif /* _SHUFFLE_PEER_H */
