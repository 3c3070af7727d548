// SPDX-License-Identifier: GPL-2.0-only
/* sock_diag: the sockets, for ss and its like. */
#include <linux/module.h>
#include <linux/sock_diag.h>
#include <net/netlink.h>

#include "../../../uapi/linux/shuffle_diag.h"
#include "../group.h"
#include "../netns.h"
#include "../sock.h"
#include "netlink.h"

/* ssk->lock held */
static u8 state(const struct shuffle_sock *ssk)
{
	lockdep_assert_held(&ssk->lock);
	if (!ssk->addr.shs_family)
		return SHUFFLE_DIAG_STATE_UNBOUND;
	if (!ssk->group)
		return SHUFFLE_DIAG_STATE_BOUND;
	return ssk->nr_ops ? SHUFFLE_DIAG_STATE_BUSY : SHUFFLE_DIAG_STATE_JOINED;
}

static int fill_diag(struct sk_buff *skb, struct sk_buff *in, const struct nlmsghdr *req,
		     struct shuffle_sock *ssk, u32 states, u16 flags)
{
	struct shuffle_diag_msg *m;
	struct sock *sk = &ssk->sk;
	struct nlmsghdr *nlh;

	nlh = nlmsg_put(skb, NETLINK_CB(in).portid, req->nlmsg_seq, SOCK_DIAG_BY_FAMILY,
			sizeof(*m), flags);
	if (!nlh)
		return -EMSGSIZE;
	m = nlmsg_data(nlh);
	memset(m, 0, sizeof(*m));
	m->shdiag_family = sk->sk_family;
	m->shdiag_type = sk->sk_type;
	m->shdiag_ino = ssk->inode;
	sock_diag_save_cookie(sk, m->shdiag_cookie);
	m->shdiag_uid = from_kuid_munged(sk_user_ns(NETLINK_CB(in).sk), READ_ONCE(sk->sk_uid));
	m->shdiag_rqueue = atomic_read(&sk->sk_rmem_alloc);
	m->shdiag_wqueue = READ_ONCE(sk->sk_wmem_queued);
	m->shdiag_ifindex = READ_ONCE(sk->sk_bound_dev_if);
	spin_lock_bh(&ssk->lock);
	m->shdiag_state = state(ssk);
	m->shdiag_ops = ssk->nr_ops;
	if (ssk->addr.shs_family) {
		m->shdiag_ip_family = ssk->addr.shs_ip_family;
		m->shdiag_port = ssk->addr.shs_port;
		memcpy(m->shdiag_addr, ssk->addr.shs_addr, sizeof(m->shdiag_addr));
	}
	if (ssk->group) {
		m->shdiag_rank = ssk->group->rank;
		m->shdiag_members = ssk->group->count;
	}
	spin_unlock_bh(&ssk->lock);
	if (!(states & BIT(m->shdiag_state))) {
		nlmsg_cancel(skb, nlh);
		return 0;
	}
	if (sock_diag_put_meminfo(sk, skb, SHUFFLE_DIAG_MEMINFO) ||
	    nla_put_u8(skb, SHUFFLE_DIAG_SHUTDOWN, READ_ONCE(sk->sk_shutdown))) {
		nlmsg_cancel(skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(skb, nlh);
	return 0;
}

/* cb->args[0]: number of the next socket */
static int dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct shuffle_diag_req *req = nlmsg_data(cb->nlh);
	struct shuffle_net *sn = shuffle_net(sock_net(skb->sk));
	struct shuffle_sock *ssk;
	int err = 0;

	while (!err && (ssk = shuffle_sock_list_next(sn, cb->args[0]))) {
		err = fill_diag(skb, cb->skb, cb->nlh, ssk, req->shdiag_states, NLM_F_MULTI);
		if (!err)
			cb->args[0] = ssk->number + 1UL;
		sock_put(&ssk->sk);
		cond_resched();
	}
	return skb->len;
}

static int get_one(struct sk_buff *in, const struct nlmsghdr *nlh,
		   const struct shuffle_diag_req *req)
{
	struct net *net = sock_net(in->sk);
	struct shuffle_net *sn = shuffle_net(net);
	struct shuffle_sock *ssk;
	struct sk_buff *skb;
	unsigned long number = 0;
	int err;

	while ((ssk = shuffle_sock_list_next(sn, number))) {
		if (ssk->inode == req->shdiag_ino)
			break;
		number = ssk->number + 1UL;
		sock_put(&ssk->sk);
		cond_resched();
	}
	if (!ssk)
		return -ENOENT;
	err = sock_diag_check_cookie(&ssk->sk, req->shdiag_cookie);
	if (err)
		goto out;
	err = -ENOMEM;
	skb = nlmsg_new(sizeof(struct shuffle_diag_msg) + 256, GFP_KERNEL);
	if (!skb)
		goto out;
	err = fill_diag(skb, in, nlh, ssk, ~0, 0);
	if (err)
		nlmsg_free(skb);
	else
		err = nlmsg_unicast(net->diag_nlsk, skb, NETLINK_CB(in).portid);
out:
	sock_put(&ssk->sk);
	return err;
}

static int handle(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	const struct shuffle_diag_req *req = nlmsg_data(nlh);
	struct netlink_dump_control c = { .dump = dump };

	if (nlmsg_len(nlh) < sizeof(*req) || req->sdiag_protocol || req->pad)
		return -EINVAL;
	if (nlh->nlmsg_flags & NLM_F_DUMP)
		return netlink_dump_start(sock_net(skb->sk)->diag_nlsk, skb, nlh, &c);
	return get_one(skb, nlh, req);
}

static struct sock_diag_handler handler = {
	.owner = THIS_MODULE,
	.dump = handle,
};

int __init shuffle_diag_init(void)
{
	handler.family = shuffle_family;
	return sock_diag_register(&handler);
}

void shuffle_diag_exit(void)
{
	sock_diag_unregister(&handler);
}
