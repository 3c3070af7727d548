// SPDX-License-Identifier: GPL-2.0-only
/*
 * The address family: sockets, bind, options, poll.  The sk lock guards options
 * and the address.
 */
#include <linux/module.h>
#include <linux/net.h>
#include <linux/poll.h>
#include <net/inet_ecn.h>
#include <net/ip.h>

#include "config.h"
#include "group.h"
#include "kernels.h"
#include "mem.h"
#include "netns.h"
#include "op.h"
#include "rx/delayed_ack.h"
#include "rx/early.h"
#include "rx/recvmsg.h"
#include "sched/tag.h"
#include "sock.h"
#include "tx/owner.h"
#include "tx/pages.h"
#include "tx/sendmsg.h"
#include "user.h"

static int shuffle_buf_min = PAGE_SIZE;

static struct lock_class_key shuffle_sk_key;
static struct lock_class_key shuffle_slock_key;

struct proto shuffle_proto = {
	.name			= "SHUFFLE",
	.owner			= THIS_MODULE,
	.obj_size		= sizeof(struct shuffle_sock),
	.memory_allocated	= &shuffle_mem_allocated,
	.per_cpu_fw_alloc	= &shuffle_mem_of_cpu,
	.sysctl_mem		= shuffle_mem_limit,
	.sysctl_wmem		= &shuffle_buf_min,
	.sysctl_rmem		= &shuffle_buf_min,
};

static void sock_destruct(struct sock *sk)
{
	struct shuffle_sock *ssk = shuffle_sk(sk);

	shuffle_user_put(ssk->user);
	memzero_explicit(&ssk->key, sizeof(ssk->key));
	sk_mem_reclaim_final(sk);
	WARN_ON_ONCE(sk->sk_forward_alloc);
	WARN_ON_ONCE(atomic_read(&sk->sk_rmem_alloc));
	WARN_ON_ONCE(sk->sk_wmem_queued);
}

/* Here, where one may sleep, and not in sock_destruct(): of a large group that takes long. */
static void drop_group(struct shuffle_sock *ssk)
{
	struct shuffle_membership *group = NULL;

	spin_lock_bh(&ssk->lock);
	swap(group, ssk->group);
	spin_unlock_bh(&ssk->lock);
	shuffle_group_put(group);
}

static int sock_release_op(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct shuffle_sock *ssk;
	struct shuffle_op *op;
	struct hlist_node *tmp;
	int i;

	if (!sk)
		return 0;
	ssk = shuffle_sk(sk);
	lock_sock(sk);
	shuffle_sock_list_del(ssk);
	shuffle_mem_add_socket(-1);
	/* no system call runs on the socket any more: nobody else has it */
	mutex_lock(&ssk->read_mutex);
	for (i = 0; i < SHUFFLE_OP_BUCKETS; i++)
		hlist_for_each_entry_safe(op, tmp, &ssk->ops[i], node) {
			shuffle_op_unlink(op);
			cond_resched();
		}
	mutex_unlock(&ssk->read_mutex);
	/* who asks for one of these operations has found it, or its remains in timewait.c: without
	 * either, the socket counts as gone (shuffle_abort_forgot())
	 */
	shuffle_ports_del(ssk);
	shuffle_delayed_exit(ssk);
	shuffle_multicast_leave(ssk);
	shuffle_owner_close(ssk);
	if (ssk->addr.shs_family)
		shuffle_udp_put(ssk->sn);
	shuffle_early_exit(ssk);
	shuffle_pages_exit(ssk);
	drop_group(ssk);
	sk->sk_shutdown = SHUTDOWN_MASK;
	sock_orphan(sk);
	sock->sk = NULL;
	release_sock(sk);
	sock_put(sk);
	return 0;
}

static int sock_bind(struct socket *sock, struct sockaddr_unsized *uaddr, int addr_len)
{
	const struct sockaddr_shuffle *a = (struct sockaddr_shuffle *)uaddr;
	struct sock *sk = sock->sk;
	struct shuffle_sock *ssk = shuffle_sk(sk);
	struct net *net = sock_net(sk);
	struct sockaddr_shuffle bound;
	u16 port;
	int err;

	if (addr_len < (int)sizeof(*a))
		return -EINVAL;
	err = shuffle_addr_check(a);
	if (err)
		return err;
	port = ntohs(a->shs_port);
	if (port && inet_port_requires_bind_service(net, port) &&
	    !ns_capable(net->user_ns, CAP_NET_BIND_SERVICE))
		return -EACCES;
	if (!shuffle_sock_is_local(sk, a))
		return -EADDRNOTAVAIL;

	lock_sock(sk);
	err = -EINVAL;
	if (ssk->addr.shs_family)
		goto out;
	err = shuffle_udp_open(ssk->sn);
	if (err)
		goto out;
	err = shuffle_owner_open(ssk, a->shs_ip_family);
	if (err) {
		shuffle_udp_put(ssk->sn);
		goto out;
	}
	bound = *a;
	err = shuffle_ports_add(ssk, &bound);
	if (err) {
		shuffle_owner_close(ssk);
		shuffle_udp_put(ssk->sn);
		goto out;
	}
	/* packets find it before: without a group they mean nothing */
	spin_lock_bh(&ssk->lock);
	ssk->addr = bound;
	spin_unlock_bh(&ssk->lock);
out:
	release_sock(sk);
	return err;
}

static int sock_getname(struct socket *sock, struct sockaddr *uaddr, int peer)
{
	struct sockaddr_shuffle *a = (struct sockaddr_shuffle *)uaddr;
	struct sock *sk = sock->sk;

	if (peer)
		return -ENOTCONN;
	lock_sock(sk);
	*a = shuffle_sk(sk)->addr;
	release_sock(sk);
	a->shs_family = shuffle_family;
	return sizeof(*a);
}

static __poll_t sock_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct sock *sk = sock->sk;
	struct shuffle_sock *ssk = shuffle_sk(sk);
	__poll_t mask = 0;

	sock_poll_wait(file, sock, wait);
	if (READ_ONCE(sk->sk_err))
		mask |= EPOLLERR;
	/* lockless: a task that adds to the list wakes the poller after that */
	if (!list_empty_careful(&ssk->ready) || !list_empty_careful(&ssk->notices))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(sk->sk_wmem_queued) < shuffle_sock_sndbuf(sk))
		mask |= EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND;
	return mask;
}

/*
 * SO_RESERVE_MEM changes sk_forward_alloc under the sk lock, and packets change it
 * under ssk->lock: it must not reach us.  Newer kernels refuse it for all but TCP;
 * others only for protocols without memory accounting and outside of memory cgroups.
 * No counter of our own could stand in: sk_rmem_schedule() and sk_mem_charge() know
 * only that one.  So all options of level SOL_SOCKET come here first, where the kernel
 * lets a protocol ask for that.  Where it neither does nor refuses the option, a
 * program that uses it spoils the accounting of its own socket, and closing the socket warns.
 */
static void sock_want_common(struct socket *sock)
{
#ifdef SOCK_CUSTOM_SOCKOPT
	set_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
#endif
}

static int sock_set_common(struct socket *sock, int optname, sockptr_t optval,
			   unsigned int optlen)
{
	if (optname == SO_RESERVE_MEM)
		return -EOPNOTSUPP;
	return sock_setsockopt(sock, SOL_SOCKET, optname, optval, optlen);
}

static int set_key(struct shuffle_sock *ssk, sockptr_t optval, unsigned int optlen)
{
	u8 bytes[SHUFFLE_KEY_BYTES];

	BUILD_BUG_ON(SHUFFLE_KEY_BYTES != SHUFFLE_KEY_LEN);
	if (optlen && optlen != sizeof(bytes))
		return -EINVAL;
	if (optlen && copy_from_sockptr(bytes, optval, sizeof(bytes)))
		return -EFAULT;
	lock_sock(&ssk->sk);
	ssk->keyed = optlen;
	if (optlen)
		shuffle_key_read(&ssk->key, bytes);
	else
		memzero_explicit(&ssk->key, sizeof(ssk->key));
	release_sock(&ssk->sk);
	memzero_explicit(bytes, sizeof(bytes));
	return 0;
}

/* IP_TOS and IPV6_TCLASS are one here: members may have addresses of either kind. */
static bool is_tos(int level, int optname)
{
	return (level == SOL_IP && optname == IP_TOS) ||
	       (level == SOL_IPV6 && optname == IPV6_TCLASS);
}

/* As ip(7) and RFC 3542 have them: IP_TOS may be a byte, and -1 is the default class. */
static int set_tos(struct shuffle_sock *ssk, int optname, sockptr_t optval, unsigned int optlen)
{
	int tos;
	u8 byte;

	if (optlen >= sizeof(tos)) {
		if (copy_from_sockptr(&tos, optval, sizeof(tos)))
			return -EFAULT;
	} else if (optname == IP_TOS && optlen) {
		if (copy_from_sockptr(&byte, optval, sizeof(byte)))
			return -EFAULT;
		tos = byte;
	} else {
		return -EINVAL;
	}
	if (optname == IPV6_TCLASS && tos == -1)
		tos = 0;
	if (tos < 0 || tos > 255)
		return -EINVAL;
	/* the transport has no use for ECN */
	WRITE_ONCE(ssk->tos, tos & ~INET_ECN_MASK);
	return 0;
}

static int get_tos(const struct shuffle_sock *ssk, int optname, char __user *optval,
		   int __user *optlen)
{
	int tos = READ_ONCE(ssk->tos), len;
	u8 byte = tos;

	if (get_user(len, optlen))
		return -EFAULT;
	if (optname == IP_TOS && len > 0 && len < (int)sizeof(tos)) {
		if (copy_to_user(optval, &byte, sizeof(byte)) || put_user(1, optlen))
			return -EFAULT;
		return 0;
	}
	if (len < (int)sizeof(tos))
		return -EINVAL;
	if (copy_to_user(optval, &tos, sizeof(tos)) || put_user((int)sizeof(tos), optlen))
		return -EFAULT;
	return 0;
}

static int sock_setsockopt_op(struct socket *sock, int level, int optname,
			      sockptr_t optval, unsigned int optlen)
{
	struct sock *sk = sock->sk;
	struct shuffle_sock *ssk = shuffle_sk(sk);
	u32 ms;
	u64 id;
	int err = 0;

	if (level == SOL_SOCKET)
		return sock_set_common(sock, optname, optval, optlen);
	if (is_tos(level, optname))
		return set_tos(ssk, optname, optval, optlen);
	if (level != SOL_SHUFFLE)
		return -ENOPROTOOPT;
	switch (optname) {
	case SHUFFLE_GROUP:
		lock_sock(sk);
		err = shuffle_group_set(ssk, optval, optlen);
		release_sock(sk);
		return err;
	case SHUFFLE_KEY:
		return set_key(ssk, optval, optlen);
	case SHUFFLE_MULTICAST:
		lock_sock(sk);
		err = shuffle_multicast_set(ssk, optval, optlen);
		release_sock(sk);
		return err;
	case SHUFFLE_CANCEL:
		if (optlen != sizeof(id))
			return -EINVAL;
		if (copy_from_sockptr(&id, optval, sizeof(id)))
			return -EFAULT;
		err = shuffle_op_cancel(ssk, id);
		if (err)
			return err;
		spin_lock_bh(&ssk->lock);
		ssk->cancelled = id;
		spin_unlock_bh(&ssk->lock);
		return 0;
	case SHUFFLE_IDLE_TIMEOUT:
		if (optlen != sizeof(ms))
			return -EINVAL;
		if (copy_from_sockptr(&ms, optval, sizeof(ms)))
			return -EFAULT;
		WRITE_ONCE(ssk->idle_ms, ms);
		return 0;
	}
	return -ENOPROTOOPT;
}

static int sock_getsockopt_op(struct socket *sock, int level, int optname,
			      char __user *optval, int __user *optlen)
{
	struct sock *sk = sock->sk;
	struct shuffle_sock *ssk = shuffle_sk(sk);
	u32 ms;
	u64 id;
	int len;
	int err;

	if (is_tos(level, optname))
		return get_tos(ssk, optname, optval, optlen);
	if (level != SOL_SHUFFLE)
		return -ENOPROTOOPT;
	switch (optname) {
	case SHUFFLE_GROUP:
		lock_sock(sk);
		err = shuffle_group_get(ssk, optval, optlen);
		release_sock(sk);
		return err;
	case SHUFFLE_MULTICAST:
		lock_sock(sk);
		err = shuffle_multicast_get(ssk, optval, optlen);
		release_sock(sk);
		return err;
	case SHUFFLE_CANCEL:
		if (get_user(len, optlen))
			return -EFAULT;
		if (len < (int)sizeof(id))
			return -EINVAL;
		spin_lock_bh(&ssk->lock);
		id = ssk->cancelled;
		spin_unlock_bh(&ssk->lock);
		if (copy_to_user(optval, &id, sizeof(id)) || put_user((int)sizeof(id), optlen))
			return -EFAULT;
		return 0;
	case SHUFFLE_IDLE_TIMEOUT:
		if (get_user(len, optlen))
			return -EFAULT;
		if (len < (int)sizeof(ms))
			return -EINVAL;
		ms = READ_ONCE(ssk->idle_ms);
		if (copy_to_user(optval, &ms, sizeof(ms)) || put_user((int)sizeof(ms), optlen))
			return -EFAULT;
		return 0;
	}
	return -ENOPROTOOPT;
}

/* No operation is begun any more, so nothing comes with which ACKs could go: those that wait go
 * now, and later ones at once.  What has begun goes on.
 */
static int sock_shutdown(struct socket *sock, int how)
{
	struct shuffle_sock *ssk = shuffle_sk(sock->sk);
	int err = 0;

	if (how != SHUT_WR)
		return -EOPNOTSUPP;
	lock_sock(&ssk->sk);
	if (ssk->group) {
		WRITE_ONCE(ssk->sk.sk_shutdown, SEND_SHUTDOWN);
		shuffle_delayed_exit(ssk);
	} else {
		err = -ENOTCONN;
	}
	release_sock(&ssk->sk);
	return err;
}

static const struct proto_ops shuffle_proto_ops = {
	.family		= PF_SHUFFLE,	/* see shuffle_sock_init() */
	.owner		= THIS_MODULE,
	.release	= sock_release_op,
	.bind		= sock_bind,
	.connect	= sock_no_connect,
	.socketpair	= sock_no_socketpair,
	.accept		= sock_no_accept,
	.getname	= sock_getname,
	.poll		= sock_poll,
	.ioctl		= sock_no_ioctl,
	.listen		= sock_no_listen,
	.shutdown	= sock_shutdown,
	.setsockopt	= sock_setsockopt_op,
	.getsockopt	= sock_getsockopt_op,
	.sendmsg	= shuffle_sendmsg,
	.recvmsg	= shuffle_recvmsg,
	.mmap		= sock_no_mmap,
};

static int sock_create_op(struct net *net, struct socket *sock, int protocol, int kern)
{
	const struct shuffle_config *cfg;
	struct shuffle_sock *ssk;
	struct sock *sk;
	int err;
	int i;

	if (sock->type != SOCK_SEQPACKET)
		return -ESOCKTNOSUPPORT;
	if (protocol)
		return -EPROTONOSUPPORT;
	sk = sk_alloc(net, shuffle_family, GFP_KERNEL, &shuffle_proto, kern);
	if (!sk)
		return -ENOMEM;
	ssk = shuffle_sk(sk);
	sock->ops = &shuffle_proto_ops;
	sock_want_common(sock);
	sock->state = SS_UNCONNECTED;
	sock_init_data(sock, sk);
	sock_lock_init_class_and_name(sk, "slock-AF_SHUFFLE", &shuffle_slock_key,
				      "sk_lock-AF_SHUFFLE", &shuffle_sk_key);
	sock_set_flag(sk, SOCK_RCU_FREE);
	/* A filter would see super-packets with records of several operations, and could
	 * only drop what the sender then repeats: SO_ATTACH_FILTER gets EPERM.
	 */
	sock_set_flag(sk, SOCK_FILTER_LOCKED);
	sk->sk_destruct = sock_destruct;
	sk->sk_write_space = shuffle_sock_write_space;
	ssk->sn = shuffle_net(net);
	cfg = &ssk->sn->dev0.cfg;
	WRITE_ONCE(sk->sk_sndbuf, READ_ONCE(cfg->sndbuf));
	WRITE_ONCE(sk->sk_rcvbuf, READ_ONCE(cfg->rcvbuf));

	spin_lock_init(&ssk->lock);
	mutex_init(&ssk->read_mutex);
	for (i = 0; i < SHUFFLE_OP_BUCKETS; i++)
		INIT_HLIST_HEAD(&ssk->ops[i]);
	INIT_LIST_HEAD(&ssk->ready);
	INIT_LIST_HEAD(&ssk->parts);
	INIT_LIST_HEAD(&ssk->notices);
	INIT_LIST_HEAD(&ssk->hungry);
	INIT_LIST_HEAD(&ssk->wants);
	INIT_LIST_HEAD(&ssk->grant_ops);
	INIT_LIST_HEAD(&ssk->tx_ops);
	INIT_LIST_HEAD(&ssk->tx_order);
	INIT_LIST_HEAD(&ssk->tx_fair);
	INIT_LIST_HEAD(&ssk->egress_node);
	INIT_LIST_HEAD(&ssk->egress_order);
	shuffle_pages_init(ssk);
	shuffle_early_init(ssk);
	ssk->inode = SOCK_INODE(sock)->i_ino;
	ssk->idle_ms = READ_ONCE(cfg->idle_timeout_ms);
	ssk->user = shuffle_user_get(ssk->sn, sk->sk_uid);
	/* last: from here on others see it */
	err = ssk->user ? shuffle_sock_list_add(ssk) : -ENOMEM;
	if (err) {
		sock_orphan(sk);
		sock->sk = NULL;
		sock_put(sk);
		return err;
	}
	shuffle_mem_add_socket(1);
	return 0;
}

static struct net_proto_family shuffle_family_ops = {
	.create	= sock_create_op,
	.owner	= THIS_MODULE,
};

/**
 * shuffle_sock_init() - register protocol and family
 *
 * Return: 0, or an error that is named in the log: most likely somebody else has
 * the family number.
 */
int shuffle_sock_init(void)
{
	int err;

	shuffle_mem_set_max(0);
	err = proto_register(&shuffle_proto, 1);
	if (err)
		return err;
	shuffle_family_ops.family = shuffle_family;
	err = sock_register(&shuffle_family_ops);
	if (err) {
		pr_err("shuffle: address family %d is %s; try family=22, 19 or 13\n",
		       shuffle_family, err == -EEXIST ? "in use by another module" :
		       "refused by this kernel");
		proto_unregister(&shuffle_proto);
	}
	return err;
}

void shuffle_sock_exit(void)
{
	sock_unregister(shuffle_family);
	/* freed sockets may wait for their grace period */
	rcu_barrier();
	proto_unregister(&shuffle_proto);
}
