// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: messages of an operation. */
#include "../group.h"
#include "../netns.h"
#include "../op.h"
#include "../rx/msg_in.h"
#include "../rx/timer.h"
#include "../sched/policy.h"
#include "../sock.h"
#include "../tx/msg_out.h"
#include "netlink.h"
#include "netlink_gen.h"

static int put_head(struct sk_buff *skb, struct shuffle_op *op, u32 rank, bool in)
{
	if (shuffle_put_u64(skb, SHUFFLE_A_MSG_OP_ID, op->id) ||
	    shuffle_put_u64(skb, SHUFFLE_A_MSG_SOCKET, op->ssk->cookie) ||
	    nla_put_u32(skb, SHUFFLE_A_MSG_DIRECTION,
			in ? SHUFFLE_NL_DIRECTION_IN : SHUFFLE_NL_DIRECTION_OUT) ||
	    nla_put_u32(skb, SHUFFLE_A_MSG_RANK, rank))
		return -EMSGSIZE;
	return shuffle_netlink_put_addr(skb, &op->group->member[rank].addr, SHUFFLE_A_MSG_IPV4,
					SHUFFLE_A_MSG_IPV6, SHUFFLE_A_MSG_PORT);
}

static u32 in_state(const struct shuffle_op *op, u32 rank)
{
	const struct shuffle_rx_sched *m = &op->rx.sched.msg[rank];
	const struct shuffle_msg_in *in = &op->rx.msg[rank];

	if (in->absent)
		return SHUFFLE_NL_MSG_STATE_ABSENT;
	if (in->delivered)
		return SHUFFLE_NL_MSG_STATE_READ;
	if (in->complete)
		return SHUFFLE_NL_MSG_STATE_COMPLETE;
	if (!m->announced)
		return SHUFFLE_NL_MSG_STATE_UNKNOWN;
	if (m->stalled)
		return SHUFFLE_NL_MSG_STATE_STALLED;
	return m->granted > m->received ? SHUFFLE_NL_MSG_STATE_ACTIVE :
	       SHUFFLE_NL_MSG_STATE_WAITING;
}

static u32 out_state(const struct shuffle_op *op, u32 rank)
{
	const struct shuffle_tx_sched *m = &op->tx.sched.msg[rank];
	const struct shuffle_msg_out *out = &op->tx.msg[rank];

	if (rank >= op->tx.announced)
		return SHUFFLE_NL_MSG_STATE_UNKNOWN;
	if (out->absent)
		return SHUFFLE_NL_MSG_STATE_ABSENT;
	if (out->acked)
		return SHUFFLE_NL_MSG_STATE_ACKED;
	if (shuffle_msg_out_next(op, rank) == m->len)
		return SHUFFLE_NL_MSG_STATE_COMPLETE;
	if (out->shared && !out->alone)
		m = &op->tx.sched.msg[shuffle_group_all(op->group)];
	return m->limit > m->next ? SHUFFLE_NL_MSG_STATE_ACTIVE : SHUFFLE_NL_MSG_STATE_WAITING;
}

static int put_times(struct sk_buff *skb, u32 resends, u64 at, u64 wait)
{
	u64 now = shuffle_now();

	if (nla_put_u32(skb, SHUFFLE_A_MSG_RESENDS, resends) ||
	    (at && shuffle_put_u64(skb, SHUFFLE_A_MSG_BEHIND, now - min(now, at))) ||
	    (wait && shuffle_put_u64(skb, SHUFFLE_A_MSG_RESEND_WAIT, wait)))
		return -EMSGSIZE;
	return 0;
}

static int put_in(struct sk_buff *skb, const struct shuffle_op *op, u32 rank)
{
	const struct shuffle_rx_sched *m = &op->rx.sched.msg[rank];
	const struct shuffle_msg_in *in = &op->rx.msg[rank];

	if (nla_put_u32(skb, SHUFFLE_A_MSG_STATE, in_state(op, rank)))
		return -EMSGSIZE;
	if (m->announced && (shuffle_put_u64(skb, SHUFFLE_A_MSG_LENGTH, m->len) ||
			     shuffle_put_u64(skb, SHUFFLE_A_MSG_GRANTED, m->granted) ||
			     shuffle_put_u64(skb, SHUFFLE_A_MSG_DONE, m->received) ||
			     shuffle_put_u64(skb, SHUFFLE_A_MSG_LEFT, m->len - m->received) ||
			     shuffle_put_u64(skb, SHUFFLE_A_MSG_PREFIX, in->have.prefix) ||
			     shuffle_put_u64(skb, SHUFFLE_A_MSG_READ, in->read) ||
			     nla_put_u32(skb, SHUFFLE_A_MSG_GAPS, in->have.n)))
		return -EMSGSIZE;
	return put_times(skb, in->resends, in->complete ? 0 : in->moved_at ?: op->life.started_at,
			 in->complete ? 0 : shuffle_timer_in_wait(op, rank));
}

static int put_out(struct sk_buff *skb, const struct shuffle_op *op, u32 rank)
{
	const struct shuffle_tx_sched *m = &op->tx.sched.msg[rank];
	const struct shuffle_msg_out *out = &op->tx.msg[rank];
	u64 filled = op->tx.msg[shuffle_msg_out_holder(op, rank)].filled;
	u64 next = shuffle_msg_out_next(op, rank);

	if (nla_put_u32(skb, SHUFFLE_A_MSG_STATE, out_state(op, rank)))
		return -EMSGSIZE;
	if (rank < op->tx.announced && (shuffle_put_u64(skb, SHUFFLE_A_MSG_LENGTH, m->len) ||
					shuffle_put_u64(skb, SHUFFLE_A_MSG_GRANTED, out->granted) ||
					shuffle_put_u64(skb, SHUFFLE_A_MSG_DONE, next) ||
					shuffle_put_u64(skb, SHUFFLE_A_MSG_LEFT, m->len - next) ||
					shuffle_put_u64(skb, SHUFFLE_A_MSG_PREFIX, filled)))
		return -EMSGSIZE;
	return put_times(skb, out->resends, out->acked ? 0 : out->announced_at,
			 out->acked ? 0 : out->wait_ns);
}

/**
 * shuffle_netlink_put_msg() - a message as attributes
 * @skb: netlink message
 * @op: operation
 * @rank: the other member
 * @in: it comes from there
 *
 * Context: any, ssk->lock held.
 * Return: 0 or -EMSGSIZE.
 */
int shuffle_netlink_put_msg(struct sk_buff *skb, struct shuffle_op *op, u32 rank, bool in)
{
	return put_head(skb, op, rank, in) ?:
	       (in ? put_in(skb, op, rank) : put_out(skb, op, rank));
}

/**
 * struct fill_arg - a message of an operation of a socket
 * @ssk: socket
 * @id: operation id
 * @rank: the other member
 * @in: it comes from there
 */
struct fill_arg {
	struct shuffle_sock	*ssk;
	u64			id;
	u32			rank;
	bool			in;
};

static int fill_message(struct sk_buff *skb, const void *arg)
{
	const struct fill_arg *f = arg;
	struct shuffle_op *op;
	int err = -ENOENT;

	spin_lock_bh(&f->ssk->lock);
	op = shuffle_op_find(f->ssk, f->id);
	if (op)
		err = f->rank < op->group->count ?
		      shuffle_netlink_put_msg(skb, op, f->rank, f->in) : -ERANGE;
	spin_unlock_bh(&f->ssk->lock);
	return err;
}

int shuffle_nl_msg_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct shuffle_net *sn = shuffle_net(genl_info_net(info));
	struct nlattr **a = info->attrs;
	struct fill_arg f;
	int err;

	err = shuffle_netlink_once(info->nlhdr, info->extack);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, SHUFFLE_A_MSG_OP_ID)) {
		NL_SET_ERR_MSG(info->extack, "op-id is missing");
		return -EINVAL;
	}
	if (GENL_REQ_ATTR_CHECK(info, SHUFFLE_A_MSG_DIRECTION)) {
		NL_SET_ERR_MSG(info->extack, "direction is missing");
		return -EINVAL;
	}
	if (GENL_REQ_ATTR_CHECK(info, SHUFFLE_A_MSG_RANK)) {
		NL_SET_ERR_MSG(info->extack, "rank is missing");
		return -EINVAL;
	}
	f.id = nla_get_u64(a[SHUFFLE_A_MSG_OP_ID]);
	f.rank = nla_get_u32(a[SHUFFLE_A_MSG_RANK]);
	f.in = nla_get_u32(a[SHUFFLE_A_MSG_DIRECTION]) == SHUFFLE_NL_DIRECTION_IN;
	f.ssk = shuffle_netlink_op_sock(sn, a[SHUFFLE_A_MSG_OP_ID], a[SHUFFLE_A_MSG_SOCKET],
					info->extack);
	if (IS_ERR(f.ssk))
		return PTR_ERR(f.ssk);
	err = shuffle_netlink_reply(info, SHUFFLE_CMD_MSG_GET, fill_message, &f);
	if (err == -ENOENT)
		NL_SET_ERR_MSG(info->extack, "op-id: the operation has just gone");
	if (err == -ERANGE)
		NL_SET_ERR_MSG_ATTR(info->extack, a[SHUFFLE_A_MSG_RANK],
				    "rank: must be below the operation's number of members");
	sock_put(&f.ssk->sk);
	return err;
}

static bool wanted(struct nlattr **tb, const struct shuffle_op *op, long n)
{
	long count = op->group->count;

	if (tb[SHUFFLE_A_MSG_RANK] && n % count != nla_get_u32(tb[SHUFFLE_A_MSG_RANK]))
		return false;
	return !tb[SHUFFLE_A_MSG_DIRECTION] ||
	       (n >= count) == nla_get_u32(tb[SHUFFLE_A_MSG_DIRECTION]);
}

/**
 * struct nth_arg - message n of an operation: all that go out, then all that come in
 * @op: operation
 * @n: number
 */
struct nth_arg {
	struct shuffle_op	*op;
	long			n;
};

static int fill_nth(struct sk_buff *skb, const void *arg)
{
	const struct nth_arg *a = arg;
	long count = a->op->group->count;

	return shuffle_netlink_put_msg(skb, a->op, a->n % count, a->n >= count);
}

/* Returns 1 behind the last one. */
static int dump_nth(struct sk_buff *skb, struct netlink_callback *cb, const struct nth_arg *a,
		    struct nlattr **tb)
{
	if (!a->op || a->n >= 2 * (long)a->op->group->count)
		return 1;
	if (!wanted(tb, a->op, a->n))
		return 0;
	return shuffle_netlink_dump_one(skb, cb, SHUFFLE_CMD_MSG_GET, fill_nth, a);
}

/* cb->args: [0] cookie of the socket, [1] next message; [2] all have been said */
int shuffle_nl_msg_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct shuffle_net *sn = shuffle_net(sock_net(skb->sk));
	struct nlattr *tb[SHUFFLE_A_MSG_RANK + 1];
	struct shuffle_sock *ssk;
	struct nth_arg next;
	int err;

	err = shuffle_netlink_dump_parse(cb, tb, SHUFFLE_A_MSG_RANK, shuffle_msg_get_nl_policy);
	if (err)
		return err;
	if (!tb[SHUFFLE_A_MSG_OP_ID]) {
		NL_SET_ERR_MSG(cb->extack, "op-id is missing");
		return -EINVAL;
	}
	if (cb->args[2])
		return 0;
	if (!cb->args[0])
		ssk = shuffle_netlink_op_sock(sn, tb[SHUFFLE_A_MSG_OP_ID],
					      tb[SHUFFLE_A_MSG_SOCKET], cb->extack);
	else
		ssk = shuffle_sock_list_next(sn, cb->args[0]);
	if (IS_ERR(ssk))
		return PTR_ERR(ssk);
	if (!ssk)
		return 0;
	if (!cb->args[0])
		cb->args[0] = ssk->number;
	cb->seq = atomic_read(&sn->gen);
	/* one message at a time under the lock */
	while (!err && ssk->number == cb->args[0]) {
		spin_lock_bh(&ssk->lock);
		next.op = shuffle_op_find(ssk, nla_get_u64(tb[SHUFFLE_A_MSG_OP_ID]));
		next.n = cb->args[1];
		err = dump_nth(skb, cb, &next, tb);
		spin_unlock_bh(&ssk->lock);
		if (!err)
			cb->args[1]++;
	}
	cb->args[2] = err > 0 || ssk->number != cb->args[0];
	sock_put(&ssk->sk);
	return skb->len ?: min(err, 0);
}
