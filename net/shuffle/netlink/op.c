// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: operations. */
#include "../coll/engine.h"
#include "../config.h"
#include "../group.h"
#include "../netns.h"
#include "../op.h"
#include "../rx/msg_in.h"
#include "../rx/rto.h"
#include "../sched/policy.h"
#include "../sched/portable.h"
#include "../sock.h"
#include "../tx/msg_out.h"
#include "netlink.h"
#include "netlink_gen.h"

static struct user_namespace *ns_of(const struct shuffle_sock *ssk)
{
	return sock_net(&ssk->sk)->user_ns;
}

/**
 * struct sums - what is not counted as it happens
 * @bytes: length of the row, as far as it is known
 * @wire: of these, those that leave the host
 * @copied: taken from the process
 * @sent: sent at least once
 * @granted: granted and not sent
 * @acked: messages acknowledged
 */
struct sums {
	u64 bytes;
	u64 wire;
	u64 copied;
	u64 sent;
	u64 granted;
	u32 acked;
};

/* At most SHUFFLE_MAX_MEMBERS of them, only when somebody asks. */
static struct sums add_up(const struct shuffle_op *op)
{
	struct sums s = {};
	u32 i;

	for (i = 0; i < op->tx.announced; i++) {
		const struct shuffle_tx_sched *m = &op->tx.sched.msg[i];
		const struct shuffle_msg_out *out = &op->tx.msg[i];
		u64 next = shuffle_msg_out_next(op, i);

		s.bytes += m->len;
		s.copied += op->tx.msg[shuffle_msg_out_holder(op, i)].filled;
		s.sent += next;
		s.granted += out->granted > next ? out->granted - next : 0;
		s.acked += out->acked;
	}
	s.wire = s.bytes - op->tx.sched.msg[op->group->rank].len;
	return s;
}

/* The larger of row and column at the link's rate, and one round trip.  Lengths are
 * whatever members have announced, and the rate whatever has been set: thousands of
 * years are no fault, but do not fit.
 */
static u64 lower_bound(const struct shuffle_op *op, const struct sums *s)
{
	u32 self = op->group->rank;
	u64 in = op->rx.sched.announced_len, ns;

	/* the result of a collective is none that has been announced */
	if (!op->rx.msg[self].absent)
		in -= op->rx.sched.msg[self].len;
	ns = shuffle_mul_div(max(in, s->wire), 8000, max(READ_ONCE(op->dev->rate), 1U));
	return shuffle_add(ns, READ_ONCE(op->dev->rtt));
}

static int put_collective(struct sk_buff *skb, const struct shuffle_engine *e)
{
	return nla_put_u32(skb, SHUFFLE_A_OP_STEPS, e->steps) ?:
	       nla_put_u32(skb, SHUFFLE_A_OP_STEP, e->at);
}

/**
 * shuffle_netlink_put_op() - which operation it is
 * @skb: message
 * @op: operation
 *
 * Context: any; ssk->lock held, or the operation has ended.
 * Return: 0 or -EMSGSIZE.
 */
int shuffle_netlink_put_op(struct sk_buff *skb, struct shuffle_op *op)
{
	struct shuffle_sock *ssk = op->ssk;

	if (shuffle_put_u64(skb, SHUFFLE_A_OP_OP_ID, op->id) ||
	    shuffle_put_u64(skb, SHUFFLE_A_OP_SOCKET, ssk->cookie) ||
	    nla_put_u32(skb, SHUFFLE_A_OP_INODE, ssk->inode) ||
	    nla_put_u32(skb, SHUFFLE_A_OP_UID,
			from_kuid_munged(ns_of(ssk), READ_ONCE(ssk->sk.sk_uid))) ||
	    nla_put_u32(skb, SHUFFLE_A_OP_RANK, op->group->rank) ||
	    nla_put_u32(skb, SHUFFLE_A_OP_MEMBERS, op->group->count) ||
	    (op->dev->ifindex && nla_put_u32(skb, SHUFFLE_A_OP_IFINDEX, op->dev->ifindex)) ||
	    (op->engine && put_collective(skb, op->engine)))
		return -EMSGSIZE;
	return 0;
}

static int put_end(struct sk_buff *skb, const struct shuffle_op *op, const struct sums *s)
{
	u64 took = op->life.ended_at - op->life.started_at;

	if (shuffle_put_u64(skb, SHUFFLE_A_OP_DURATION, took))
		return -EMSGSIZE;
	if (op->life.error)
		return nla_put_u32(skb, SHUFFLE_A_OP_ERROR, op->life.error);
	took = shuffle_mul_div(took, 1000, 1);
	return nla_put_u32(skb, SHUFFLE_A_OP_SLOWDOWN,
			   min_t(u64, div64_u64(took, max(lower_bound(op, s), 1ULL)), U32_MAX));
}

/**
 * shuffle_netlink_put_end() - how an operation has ended, for an event
 * @skb: message
 * @op: operation that has ended
 *
 * Context: process.
 * Return: 0 or -EMSGSIZE.
 */
int shuffle_netlink_put_end(struct sk_buff *skb, struct shuffle_op *op)
{
	struct sums s = add_up(op);

	if (shuffle_put_u64(skb, SHUFFLE_A_OP_TX_BYTES, s.bytes) ||
	    shuffle_put_u64(skb, SHUFFLE_A_OP_RX_BYTES, op->rx.sched.announced_len) ||
	    nla_put_u32(skb, SHUFFLE_A_OP_RESENDS, op->rx.resends))
		return -EMSGSIZE;
	if (op->life.error && (shuffle_put_u64(skb, SHUFFLE_A_OP_TX_SENT, s.sent) ||
			       shuffle_put_u64(skb, SHUFFLE_A_OP_RX_RECEIVED,
					       op->rx.sched.announced_len - op->rx.sched.rem)))
		return -EMSGSIZE;
	if (!op->life.error && shuffle_put_u64(skb, SHUFFLE_A_OP_LOWER_BOUND, lower_bound(op, &s)))
		return -EMSGSIZE;
	return put_end(skb, op, &s);
}

static u32 state(const struct shuffle_op *op)
{
	if (op->life.ended)
		return op->life.error ? SHUFFLE_NL_OP_STATE_FAILED : SHUFFLE_NL_OP_STATE_DONE;
	return op->tx.closed ? SHUFFLE_NL_OP_STATE_RUNNING : SHUFFLE_NL_OP_STATE_OPEN;
}

static int put_tx(struct sk_buff *skb, const struct shuffle_op *op, const struct sums *s)
{
	if (shuffle_put_u64(skb, SHUFFLE_A_OP_TX_BYTES, s->bytes) ||
	    shuffle_put_u64(skb, SHUFFLE_A_OP_TX_COPIED, s->copied) ||
	    shuffle_put_u64(skb, SHUFFLE_A_OP_TX_SENT, s->sent) ||
	    shuffle_put_u64(skb, SHUFFLE_A_OP_TX_LEFT, s->bytes - s->sent) ||
	    shuffle_put_u64(skb, SHUFFLE_A_OP_TX_GRANTED, s->granted) ||
	    nla_put_u32(skb, SHUFFLE_A_OP_TX_MESSAGES, op->tx.announced) ||
	    nla_put_u32(skb, SHUFFLE_A_OP_TX_ACKED, s->acked))
		return -EMSGSIZE;
	return 0;
}

static int put_rx(struct sk_buff *skb, const struct shuffle_op *op)
{
	const struct shuffle_policy_rx *rx = &op->rx.sched;

	if (shuffle_put_u64(skb, SHUFFLE_A_OP_RX_BYTES, rx->announced_len) ||
	    shuffle_put_u64(skb, SHUFFLE_A_OP_RX_RECEIVED, rx->announced_len - rx->rem) ||
	    shuffle_put_u64(skb, SHUFFLE_A_OP_RX_LEFT, rx->rem) ||
	    shuffle_put_u64(skb, SHUFFLE_A_OP_RX_GRANTED, rx->outstanding) ||
	    nla_put_u32(skb, SHUFFLE_A_OP_RX_MESSAGES, rx->n - rx->unannounced) ||
	    nla_put_u32(skb, SHUFFLE_A_OP_RX_COMPLETE, rx->n - op->rx.incomplete) ||
	    nla_put_u32(skb, SHUFFLE_A_OP_RESENDS, op->rx.resends))
		return -EMSGSIZE;
	if (op->rx.srtt_ns && shuffle_put_u64(skb, SHUFFLE_A_OP_RTT, op->rx.srtt_ns))
		return -EMSGSIZE;
	return shuffle_put_u64(skb, SHUFFLE_A_OP_RESEND_WAIT, shuffle_rto(op));
}

static int put_all(struct sk_buff *skb, const void *arg)
{
	struct shuffle_op *op = (struct shuffle_op *)arg;
	struct sums s = add_up(op);
	u64 now = shuffle_now();

	if (shuffle_netlink_put_op(skb, op) ||
	    nla_put_u32(skb, SHUFFLE_A_OP_STATE, state(op)) ||
	    shuffle_put_u64(skb, SHUFFLE_A_OP_AGE, now - op->life.started_at) ||
	    shuffle_put_u64(skb, SHUFFLE_A_OP_IDLE, now - min(now, op->life.progress_at)) ||
	    put_tx(skb, op, &s) || put_rx(skb, op) ||
	    shuffle_put_u64(skb, SHUFFLE_A_OP_LOWER_BOUND, lower_bound(op, &s)))
		return -EMSGSIZE;
	if (op->life.deadline_at && !op->life.ended &&
	    shuffle_put_u64(skb, SHUFFLE_A_OP_DEADLINE,
			    op->life.deadline_at - min(now, op->life.deadline_at)))
		return -EMSGSIZE;
	return op->life.ended ? put_end(skb, op, &s) : 0;
}

/* Does the socket take part? */
static bool takes_part(struct shuffle_sock *ssk, u64 id)
{
	bool yes;

	spin_lock_bh(&ssk->lock);
	yes = shuffle_op_find(ssk, id);
	spin_unlock_bh(&ssk->lock);
	return yes;
}

/**
 * shuffle_netlink_op_sock() - the socket that a request about an operation means
 * @sn: namespace
 * @id: attribute: operation id
 * @cookie: attribute: socket, or NULL
 * @extack: says what is wrong
 *
 * Context: process.
 * Return: the only socket that takes part, or @cookie's if it does, with a
 * reference; -ENOENT, -ENOTUNIQ.
 */
struct shuffle_sock *shuffle_netlink_op_sock(struct shuffle_net *sn, const struct nlattr *id,
					     const struct nlattr *cookie,
					     struct netlink_ext_ack *extack)
{
	struct shuffle_sock *ssk, *found = NULL;
	u64 op_id = nla_get_u64(id);
	unsigned long number = 0;

	if (cookie) {
		ssk = shuffle_sock_list_find(sn, nla_get_u64(cookie));
		if (ssk && takes_part(ssk, op_id))
			return ssk;
		if (ssk)
			NL_SET_ERR_MSG_ATTR(extack, id, "op-id: the socket takes no part in it");
		else
			NL_SET_ERR_MSG_ATTR(extack, cookie, "socket: no such socket here");
		if (ssk)
			sock_put(&ssk->sk);
		return ERR_PTR(-ENOENT);
	}
	for (; (ssk = shuffle_sock_list_next(sn, number)); cond_resched()) {
		number = ssk->number + 1UL;
		if (!takes_part(ssk, op_id)) {
			sock_put(&ssk->sk);
			continue;
		}
		if (found) {
			sock_put(&ssk->sk);
			sock_put(&found->sk);
			NL_SET_ERR_MSG_ATTR(extack, id,
					    "op-id: several sockets take part; name one by socket");
			return ERR_PTR(-ENOTUNIQ);
		}
		found = ssk;
	}
	if (found)
		return found;
	NL_SET_ERR_MSG_ATTR(extack, id, "op-id: no such operation here");
	return ERR_PTR(-ENOENT);
}

/**
 * struct fill_arg - an operation of a socket
 * @ssk: socket
 * @id: operation id
 */
struct fill_arg {
	struct shuffle_sock	*ssk;
	u64			id;
};

static int fill_op(struct sk_buff *skb, const void *arg)
{
	const struct fill_arg *f = arg;
	struct shuffle_op *op;
	int err = -ENOENT;

	spin_lock_bh(&f->ssk->lock);
	op = shuffle_op_find(f->ssk, f->id);
	if (op)
		err = put_all(skb, op);
	spin_unlock_bh(&f->ssk->lock);
	return err;
}

int shuffle_nl_op_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct shuffle_net *sn = shuffle_net(genl_info_net(info));
	struct fill_arg f;
	int err;

	err = shuffle_netlink_once(info->nlhdr, info->extack);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, SHUFFLE_A_OP_OP_ID)) {
		NL_SET_ERR_MSG(info->extack, "op-id is missing");
		return -EINVAL;
	}
	f.id = nla_get_u64(info->attrs[SHUFFLE_A_OP_OP_ID]);
	f.ssk = shuffle_netlink_op_sock(sn, info->attrs[SHUFFLE_A_OP_OP_ID],
					info->attrs[SHUFFLE_A_OP_SOCKET], info->extack);
	if (IS_ERR(f.ssk))
		return PTR_ERR(f.ssk);
	err = shuffle_netlink_reply(info, SHUFFLE_CMD_OP_GET, fill_op, &f);
	if (err == -ENOENT)
		NL_SET_ERR_MSG(info->extack, "op-id: the operation has just gone");
	sock_put(&f.ssk->sk);
	return err;
}

/* The n-th operation of a bucket.  ssk->lock held. */
static struct shuffle_op *nth(struct shuffle_sock *ssk, int bucket, long n)
{
	struct shuffle_op *op;

	lockdep_assert_held(&ssk->lock);
	hlist_for_each_entry(op, &ssk->ops[bucket], node)
		if (!n--)
			return op;
	return NULL;
}

/* One operation at a time under the lock.  cb->args: [1] bucket, [2] place in it */
static int dump_sock(struct sk_buff *skb, struct netlink_callback *cb, struct shuffle_sock *ssk,
		     const struct nlattr *id)
{
	struct shuffle_op *op;
	int err = 0;

	while (!err && cb->args[1] < SHUFFLE_OP_BUCKETS) {
		spin_lock_bh(&ssk->lock);
		op = nth(ssk, cb->args[1], cb->args[2]);
		if (op && (!id || op->id == nla_get_u64(id)))
			err = shuffle_netlink_dump_one(skb, cb, SHUFFLE_CMD_OP_GET, put_all, op);
		spin_unlock_bh(&ssk->lock);
		if (err)
			break;
		cb->args[2]++;
		if (!op) {
			cb->args[2] = 0;
			cb->args[1]++;
		}
		cond_resched();
	}
	if (!err)
		cb->args[1] = 0;
	return err;
}

int shuffle_nl_op_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct shuffle_net *sn = shuffle_net(sock_net(skb->sk));
	struct nlattr *tb[SHUFFLE_A_OP_SOCKET + 1];
	struct nlattr *cookie;
	struct shuffle_sock *ssk;
	int err;

	err = shuffle_netlink_dump_parse(cb, tb, SHUFFLE_A_OP_SOCKET, shuffle_op_get_nl_policy);
	if (err)
		return err;
	cookie = tb[SHUFFLE_A_OP_SOCKET];
	cb->seq = atomic_read(&sn->gen);
	while ((ssk = shuffle_sock_list_next(sn, cb->args[0]))) {
		if (ssk->number != cb->args[0]) {
			cb->args[0] = ssk->number;
			cb->args[1] = 0;
			cb->args[2] = 0;
		}
		if (!cookie || ssk->cookie == nla_get_u64(cookie))
			err = dump_sock(skb, cb, ssk, tb[SHUFFLE_A_OP_OP_ID]);
		sock_put(&ssk->sk);
		if (err)
			break;
		cb->args[0]++;
		cond_resched();
	}
	return skb->len ?: err;
}

/**
 * struct cancelled - answer to a cancel
 * @id: operation id
 * @count: sockets at which it was running
 */
struct cancelled {
	u64 id;
	u32 count;
};

static int fill_cancelled(struct sk_buff *skb, const void *arg)
{
	const struct cancelled *c = arg;

	return shuffle_put_u64(skb, SHUFFLE_A_OP_OP_ID, c->id) ?:
	       nla_put_u32(skb, SHUFFLE_A_OP_COUNT, c->count);
}

int shuffle_nl_op_cancel_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *cookie = info->attrs[SHUFFLE_A_OP_SOCKET];
	struct shuffle_net *sn = shuffle_net(genl_info_net(info));
	struct cancelled c = {};
	struct shuffle_sock *ssk;
	unsigned long number = 0;
	int err;

	err = shuffle_netlink_once(info->nlhdr, info->extack);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, SHUFFLE_A_OP_OP_ID)) {
		NL_SET_ERR_MSG(info->extack, "op-id is missing");
		return -EINVAL;
	}
	c.id = nla_get_u64(info->attrs[SHUFFLE_A_OP_OP_ID]);
	if (cookie) {
		ssk = shuffle_sock_list_find(sn, nla_get_u64(cookie));
		if (!ssk) {
			NL_SET_ERR_MSG_ATTR(info->extack, cookie, "socket: no such socket here");
			return -ENOENT;
		}
		c.count += !shuffle_op_cancel(ssk, c.id);
		sock_put(&ssk->sk);
	} else {
		while ((ssk = shuffle_sock_list_next(sn, number))) {
			number = ssk->number + 1UL;
			c.count += !shuffle_op_cancel(ssk, c.id);
			sock_put(&ssk->sk);
			cond_resched();
		}
	}
	if (!c.count) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[SHUFFLE_A_OP_OP_ID],
				    "op-id: no such operation runs here");
		return -ENOENT;
	}
	return shuffle_netlink_reply(info, SHUFFLE_CMD_OP_CANCEL, fill_cancelled, &c);
}
