// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hosts that members are on: what the namespace knows of them, for those who look
 * from outside.  A peer lives as long as a group has a member there, so it is the
 * processes of this host, not packets, that make them.
 *
 * sn->peers_lock guards the tree of peers.
 * It takes a few comparisons whatever addresses there are.  Sockets that share a peer
 * update its figures without a lock: sums are atomic, for the others a lost update is
 * a lost sample.
 */
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "config.h"
#include "group.h"
#include "netns.h"
#include "op.h"
#include "peer.h"
#include "sock.h"
#include "user.h"

/* the rate is measured over at least this time */
#define SHUFFLE_RATE_NS		(5 * NSEC_PER_MSEC)

/* Peers that the groups of one user may make in a namespace, sixteen of the largest
 * groups without a host in common.  A peer that is there already costs nothing.
 */
#define SHUFFLE_MAX_PEERS	(16 * SHUFFLE_MAX_MEMBERS)

/* IPv4 first, then by address, then by interface */
static int peer_cmp(const struct sockaddr_shuffle *a, const struct sockaddr_shuffle *b)
{
	int diff;

	if (a->shs_ip_family != b->shs_ip_family)
		return a->shs_ip_family < b->shs_ip_family ? -1 : 1;
	diff = memcmp(a->shs_addr, b->shs_addr, sizeof(a->shs_addr));
	if (diff || a->shs_scope_id == b->shs_scope_id)
		return diff;
	return a->shs_scope_id < b->shs_scope_id ? -1 : 1;
}

/* The peer, or NULL and where it would be.  sn->peers_lock held. */
static struct shuffle_peer *peer_find(struct shuffle_net *sn, const struct sockaddr_shuffle *a,
				      struct rb_node **parent, struct rb_node ***link)
{
	struct shuffle_peer *peer;
	int diff;

	lockdep_assert_held(&sn->peers_lock);
	*parent = NULL;
	*link = &sn->peers.rb_node;
	while (**link) {
		*parent = **link;
		peer = rb_entry(*parent, struct shuffle_peer, node);
		diff = peer_cmp(a, &peer->addr);
		if (!diff)
			return peer;
		*link = diff < 0 ? &(*parent)->rb_left : &(*parent)->rb_right;
	}
	return NULL;
}

/* Enter @new, or find one that another process has made.  sn->peers_lock held. */
static struct shuffle_peer *peer_enter(struct shuffle_net *sn, struct shuffle_peer *new)
{
	struct rb_node *parent, **link;
	struct shuffle_peer *peer;

	peer = peer_find(sn, &new->addr, &parent, &link);
	if (peer) {
		refcount_inc(&peer->ref);
		return peer;
	}
	if (!atomic_add_unless(&new->user->peers, 1, SHUFFLE_MAX_PEERS))
		return ERR_PTR(-ENOBUFS);
	shuffle_user_hold(new->user);
	rb_link_node(&new->node, parent, link);
	rb_insert_color(&new->node, &sn->peers);
	return new;
}

/**
 * shuffle_peer_get() - the host that a member is on
 * @ssk: the socket of the group
 * @a: address of the member
 *
 * Context: process, may sleep.
 * Return: the peer with a reference, or an ERR_PTR: -ENOMEM, or -ENOBUFS (groups of
 * this user have made SHUFFLE_MAX_PEERS already).
 */
struct shuffle_peer *shuffle_peer_get(struct shuffle_sock *ssk, const struct sockaddr_shuffle *a)
{
	struct shuffle_net *sn = ssk->sn;
	struct rb_node *parent, **link;
	struct shuffle_peer *peer, *new;

	spin_lock_bh(&sn->peers_lock);
	peer = peer_find(sn, a, &parent, &link);
	if (peer)
		refcount_inc(&peer->ref);
	spin_unlock_bh(&sn->peers_lock);
	if (peer)
		return peer;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return ERR_PTR(-ENOMEM);
	new->user = ssk->user;
	new->sn = sn;
	new->addr = *a;
	new->addr.shs_port = 0;
	new->local = shuffle_sock_is_local(&ssk->sk, a);
	refcount_set(&new->ref, 1);
	spin_lock_bh(&sn->peers_lock);
	peer = peer_enter(sn, new);
	spin_unlock_bh(&sn->peers_lock);
	if (peer != new)
		kfree(new);
	else
		atomic_inc(&sn->gen);
	return peer;
}

/**
 * shuffle_peer_next() - the first peer at or behind an address
 * @sn: namespace
 * @a: the address; its port does not count
 * @behind: not the one that has it
 *
 * Context: any.
 * Return: the peer with a reference, or NULL.
 */
struct shuffle_peer *shuffle_peer_next(struct shuffle_net *sn, const struct sockaddr_shuffle *a,
				       bool behind)
{
	struct shuffle_peer *peer, *found = NULL;
	struct rb_node *node;
	int diff;

	spin_lock_bh(&sn->peers_lock);
	for (node = sn->peers.rb_node; node;) {
		peer = rb_entry(node, struct shuffle_peer, node);
		diff = peer_cmp(a, &peer->addr);
		if (diff < 0 || (!diff && !behind)) {
			found = peer;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	if (found)
		refcount_inc(&found->ref);
	spin_unlock_bh(&sn->peers_lock);
	return found;
}

/**
 * shuffle_peer_put() - drop a reference
 * @peer: peer or NULL
 *
 * Context: any.
 */
void shuffle_peer_put(struct shuffle_peer *peer)
{
	struct shuffle_net *sn;

	if (!peer)
		return;
	sn = peer->sn;
	if (refcount_dec_not_one(&peer->ref))
		return;
	spin_lock_bh(&sn->peers_lock);
	if (!refcount_dec_and_test(&peer->ref)) {
		spin_unlock_bh(&sn->peers_lock);
		return;
	}
	rb_erase(&peer->node, &sn->peers);
	spin_unlock_bh(&sn->peers_lock);
	atomic_inc(&sn->gen);
	atomic_dec(&peer->user->peers);
	shuffle_user_put(peer->user);
	kfree(peer);
}

static struct shuffle_peer *peer_of(const struct shuffle_op *op, u32 rank)
{
	return op->group->member[rank].peer;
}

/**
 * shuffle_peer_rtt() - a time from a grant, or an announcement, to its answer
 * @op: operation
 * @rank: the member that has answered
 * @ns: the time
 *
 * Context: any, ssk->lock held.
 */
void shuffle_peer_rtt(struct shuffle_op *op, u32 rank, u64 ns)
{
	struct shuffle_peer *peer = peer_of(op, rank);
	u64 old = atomic64_read(&peer->rtt_ns);
	u64 least = atomic64_read(&peer->rtt_min_ns);

	lockdep_assert_held(&op->ssk->lock);
	/* the loopback is no measure of the network */
	if (rank == op->group->rank)
		return;
	atomic64_set(&peer->rtt_ns, old ? old - old / 8 + ns / 8 : ns);
	if (!least || ns < least)
		atomic64_set(&peer->rtt_min_ns, ns);
	shuffle_dev_sample(op->dev, ns);
}

/**
 * shuffle_peer_received() - new data has come from a member
 * @op: operation
 * @rank: the member
 * @bytes: payload
 *
 * Context: any, ssk->lock held; op->life.progress_at is now.
 */
void shuffle_peer_received(struct shuffle_op *op, u32 rank, u32 bytes)
{
	struct shuffle_peer *peer = peer_of(op, rank);
	u64 now = op->life.progress_at;
	u64 since = atomic64_read(&peer->rate_at);
	u64 sum = atomic64_add_return(bytes, &peer->rx_bytes);

	lockdep_assert_held(&op->ssk->lock);
	if (!peer->local)
		shuffle_user_earn(op->ssk->user);
	atomic64_set(&peer->data_at, now);
	if (now - since < SHUFFLE_RATE_NS)
		return;
	/* a pause is no rate */
	if (since && now - since < 100 * SHUFFLE_RATE_NS)
		atomic64_set(&peer->rate, div64_u64((sum - atomic64_read(&peer->rate_bytes)) *
						 NSEC_PER_SEC, now - since));
	atomic64_set(&peer->rate_bytes, sum);
	atomic64_set(&peer->rate_at, now);
}

/**
 * shuffle_peer_sent() - data goes to a member
 * @op: operation
 * @rank: the member
 * @bytes: payload
 *
 * Context: any, ssk->lock held.
 */
void shuffle_peer_sent(struct shuffle_op *op, u32 rank, u32 bytes)
{
	struct shuffle_peer *peer = peer_of(op, rank);

	lockdep_assert_held(&op->ssk->lock);
	atomic64_add(bytes, &peer->tx_bytes);
	if (!peer->local)
		shuffle_user_earn(op->ssk->user);
}

/**
 * shuffle_peer_resend() - a RESEND goes to a member, or has come from it
 * @op: operation
 * @rank: the member
 * @out: it goes
 *
 * Context: any, ssk->lock held.
 */
void shuffle_peer_resend(struct shuffle_op *op, u32 rank, bool out)
{
	struct shuffle_peer *peer = peer_of(op, rank);

	lockdep_assert_held(&op->ssk->lock);
	atomic64_inc(out ? &peer->resends_out : &peer->resends_in);
}
