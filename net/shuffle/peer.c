// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hosts that members are on: what the namespace knows of them, for those who look
 * from outside.  A peer lives as long as a group has a member there, so it is the
 * processes of this host, not packets, that make them.
 *
 * sn->peers_lock guards the table, RCU its readers.  Sockets that share a peer
 * update its figures without a lock: sums are atomic, for the others a lost
 * update is a lost sample.
 */
#include <linux/jhash.h>
#include <linux/slab.h>

#include "shuffle.h"

/* the rate is measured over at least this time */
#define SHUFFLE_RATE_NS		(5 * NSEC_PER_MSEC)

static struct hlist_head *peer_bucket(struct shuffle_net *sn, const struct sockaddr_shuffle *a)
{
	return &sn->peers[jhash(a->shs_addr, sizeof(a->shs_addr), sn->peers_seed) %
			  SHUFFLE_PEER_BUCKETS];
}

static bool peer_addr_equal(const struct shuffle_peer *peer, const struct sockaddr_shuffle *a)
{
	return peer->addr.shs_ip_family == a->shs_ip_family &&
	       peer->addr.shs_scope_id == a->shs_scope_id &&
	       !memcmp(peer->addr.shs_addr, a->shs_addr, sizeof(a->shs_addr));
}

static struct shuffle_peer *peer_find(struct shuffle_net *sn, const struct sockaddr_shuffle *a)
{
	struct shuffle_peer *peer;

	hlist_for_each_entry_rcu(peer, peer_bucket(sn, a), node, lockdep_is_held(&sn->peers_lock))
		if (peer_addr_equal(peer, a) && refcount_inc_not_zero(&peer->ref))
			return peer;
	return NULL;
}

/**
 * shuffle_peer_get() - the host that a member is on
 * @sn: namespace
 * @a: address of the member
 *
 * Context: process, may sleep.
 * Return: the peer with a reference, or NULL: no memory.
 */
struct shuffle_peer *shuffle_peer_get(struct shuffle_net *sn, const struct sockaddr_shuffle *a)
{
	struct shuffle_peer *peer, *new;

	rcu_read_lock();
	peer = peer_find(sn, a);
	rcu_read_unlock();
	if (peer)
		return peer;
	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return NULL;
	new->sn = sn;
	new->addr = *a;
	new->addr.shs_port = 0;
	refcount_set(&new->ref, 1);
	spin_lock_bh(&sn->peers_lock);
	peer = peer_find(sn, a);
	if (!peer)
		hlist_add_head_rcu(&new->node, peer_bucket(sn, a));
	spin_unlock_bh(&sn->peers_lock);
	if (peer) {
		kfree(new);
		return peer;
	}
	atomic_inc(&sn->gen);
	return new;
}

/**
 * shuffle_peer_put() - drop a reference
 * @peer: peer or NULL
 *
 * Context: any.
 */
void shuffle_peer_put(struct shuffle_peer *peer)
{
	if (!peer || !refcount_dec_and_test(&peer->ref))
		return;
	spin_lock_bh(&peer->sn->peers_lock);
	hlist_del_rcu(&peer->node);
	spin_unlock_bh(&peer->sn->peers_lock);
	atomic_inc(&peer->sn->gen);
	kfree_rcu(peer, rcu);
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
	u64 old = READ_ONCE(peer->rtt_ns);
	u64 least = READ_ONCE(peer->rtt_min_ns);

	/* the loopback is no measure of the network */
	if (rank == op->group->rank)
		return;
	WRITE_ONCE(peer->rtt_ns, old ? old - old / 8 + ns / 8 : ns);
	if (!least || ns < least)
		WRITE_ONCE(peer->rtt_min_ns, ns);
	shuffle_dev_sample(op->dev, ns);
}

/**
 * shuffle_peer_received() - new data has come from a member
 * @op: operation
 * @rank: the member
 * @bytes: payload
 *
 * Context: any, ssk->lock held; op->progress_at is now.
 */
void shuffle_peer_received(struct shuffle_op *op, u32 rank, u32 bytes)
{
	struct shuffle_peer *peer = peer_of(op, rank);
	u64 now = op->progress_at;
	u64 since = READ_ONCE(peer->rate_at);
	u64 sum = atomic64_add_return(bytes, &peer->rx_bytes);

	WRITE_ONCE(peer->data_at, now);
	if (now - since < SHUFFLE_RATE_NS)
		return;
	/* a pause is no rate */
	if (since && now - since < 100 * SHUFFLE_RATE_NS)
		WRITE_ONCE(peer->rate, div64_u64((sum - READ_ONCE(peer->rate_bytes)) *
						 NSEC_PER_SEC, now - since));
	WRITE_ONCE(peer->rate_bytes, sum);
	WRITE_ONCE(peer->rate_at, now);
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
	atomic64_add(bytes, &peer_of(op, rank)->tx_bytes);
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

	atomic64_inc(out ? &peer->resends_out : &peer->resends_in);
}
