// SPDX-License-Identifier: GPL-2.0-only
/* Netlink: sockets. */
#include "../group.h"
#include "../netns.h"
#include "../sock.h"
#include "netlink.h"
#include "netlink_gen.h"

/* The addresses of a socket with more than one. */
static int put_locals(struct sk_buff *skb, const struct shuffle_membership *group)
{
	const struct sockaddr_shuffle *a = group->local;
	struct nlattr *nest;
	u32 i;

	for (i = 0; group->locals > 1 && i < group->locals; i++, a++) {
		nest = nla_nest_start(skb, SHUFFLE_A_SOCKET_LOCAL);
		if (!nest || shuffle_netlink_put_addr(skb, a, SHUFFLE_A_SOCKET_LOCAL_IPV4,
						      SHUFFLE_A_SOCKET_LOCAL_IPV6, 0))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

/**
 * shuffle_netlink_put_sock() - a socket as attributes
 * @skb: message
 * @ssk: socket
 *
 * Context: any, ssk->lock held.
 * Return: 0 or -EMSGSIZE.
 */
int shuffle_netlink_put_sock(struct sk_buff *skb, struct shuffle_sock *ssk)
{
	struct user_namespace *ns = sock_net(&ssk->sk)->user_ns;
	const struct sock *sk = &ssk->sk;

	lockdep_assert_held(&ssk->lock);
	if (shuffle_put_u64(skb, SHUFFLE_A_SOCKET_SOCKET, ssk->cookie) ||
	    nla_put_u32(skb, SHUFFLE_A_SOCKET_INODE, ssk->inode) ||
	    nla_put_u32(skb, SHUFFLE_A_SOCKET_UID, from_kuid_munged(ns, READ_ONCE(sk->sk_uid))) ||
	    shuffle_netlink_put_addr(skb, &ssk->addr, SHUFFLE_A_SOCKET_IPV4,
				     SHUFFLE_A_SOCKET_IPV6, SHUFFLE_A_SOCKET_PORT) ||
	    nla_put_u32(skb, SHUFFLE_A_SOCKET_OPS, ssk->nr_ops) ||
	    nla_put_u32(skb, SHUFFLE_A_SOCKET_RCVBUF, READ_ONCE(sk->sk_rcvbuf)) ||
	    nla_put_u32(skb, SHUFFLE_A_SOCKET_RCV_USED, atomic_read(&sk->sk_rmem_alloc)) ||
	    nla_put_u32(skb, SHUFFLE_A_SOCKET_SNDBUF, READ_ONCE(sk->sk_sndbuf)) ||
	    nla_put_u32(skb, SHUFFLE_A_SOCKET_SND_USED, READ_ONCE(sk->sk_wmem_queued)) ||
	    nla_put_u32(skb, SHUFFLE_A_SOCKET_PRIORITY, READ_ONCE(sk->sk_priority)) ||
	    nla_put_u32(skb, SHUFFLE_A_SOCKET_IDLE_TIMEOUT, READ_ONCE(ssk->idle_ms)) ||
	    nla_put_u8(skb, SHUFFLE_A_SOCKET_PRESSURE, ssk->pressure))
		return -EMSGSIZE;
	if (READ_ONCE(sk->sk_bound_dev_if) &&
	    nla_put_u32(skb, SHUFFLE_A_SOCKET_IFINDEX, READ_ONCE(sk->sk_bound_dev_if)))
		return -EMSGSIZE;
	if (ssk->group && (nla_put_u32(skb, SHUFFLE_A_SOCKET_RANK, ssk->group->rank) ||
			   nla_put_u32(skb, SHUFFLE_A_SOCKET_MEMBERS, ssk->group->count) ||
			   put_locals(skb, ssk->group)))
		return -EMSGSIZE;
	return 0;
}

/**
 * struct fill_arg - what a message is made from
 * @ssk: the socket
 * @admin: the asker has CAP_NET_ADMIN here, and sees the mark, as with sock_diag
 */
struct fill_arg {
	struct shuffle_sock	*ssk;
	bool			admin;
};

static int fill_socket(struct sk_buff *skb, const void *arg)
{
	const struct fill_arg *f = arg;
	struct shuffle_sock *ssk = f->ssk;
	int err;

	spin_lock_bh(&ssk->lock);
	err = shuffle_netlink_put_sock(skb, ssk);
	spin_unlock_bh(&ssk->lock);
	if (!err && f->admin)
		err = nla_put_u32(skb, SHUFFLE_A_SOCKET_MARK, READ_ONCE(ssk->sk.sk_mark));
	return err;
}

int shuffle_nl_socket_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct fill_arg f = { .admin = netlink_net_capable(skb, CAP_NET_ADMIN) };
	struct shuffle_net *sn = shuffle_net(genl_info_net(info));
	struct nlattr *a;
	int err;

	err = shuffle_netlink_once(info->nlhdr, info->extack);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, SHUFFLE_A_SOCKET_SOCKET)) {
		NL_SET_ERR_MSG(info->extack, "socket is missing");
		return -EINVAL;
	}
	a = info->attrs[SHUFFLE_A_SOCKET_SOCKET];
	f.ssk = shuffle_sock_list_find(sn, nla_get_u64(a));
	if (!f.ssk) {
		NL_SET_ERR_MSG_ATTR(info->extack, a, "socket: no such socket here");
		return -ENOENT;
	}
	err = shuffle_netlink_reply(info, SHUFFLE_CMD_SOCKET_GET, fill_socket, &f);
	sock_put(&f.ssk->sk);
	return err;
}

/* cb->args[0]: number of the next socket */
int shuffle_nl_socket_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct shuffle_net *sn = shuffle_net(sock_net(skb->sk));
	struct nlattr *tb[SHUFFLE_A_SOCKET_SOCKET + 1];
	struct fill_arg f;
	int err;

	err = shuffle_netlink_dump_parse(cb, tb, SHUFFLE_A_SOCKET_SOCKET,
					 shuffle_socket_get_nl_policy);
	if (err)
		return err;
	f.admin = netlink_net_capable(cb->skb, CAP_NET_ADMIN);
	cb->seq = atomic_read(&sn->gen);
	while ((f.ssk = shuffle_sock_list_next(sn, cb->args[0]))) {
		struct nlattr *a = tb[SHUFFLE_A_SOCKET_SOCKET];

		if (!a || f.ssk->cookie == nla_get_u64(a))
			err = shuffle_netlink_dump_one(skb, cb, SHUFFLE_CMD_SOCKET_GET,
						       fill_socket, &f);
		if (!err)
			cb->args[0] = f.ssk->number + 1UL;
		sock_put(&f.ssk->sk);
		if (err)
			break;
		cond_resched();
	}
	return skb->len ?: err;
}
