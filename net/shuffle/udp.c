// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel UDP sockets that carry all shuffle traffic of a namespace.
 *
 * They are plain sockets with a data_ready of ours, not tunnel sockets: a socket
 * with encap_rcv never sees a super-packet whole (udp_unexpected_gso()).
 */
#include <linux/udp.h>
#include <linux/workqueue.h>
#include <net/udp.h>

#include "config.h"
#include "kernels.h"
#include "netns.h"

/* The queue is drained at once; this only has to hold what several CPUs can
 * bring at the same moment.
 */
#define SHUFFLE_UDP_RCVBUF	(32 << 20)

/* ICMP errors are hints that anybody can forge; timers decide. */
static void udp_error_report(struct sock *sk)
{
	WRITE_ONCE(sk->sk_err, 0);
}

/* ICMP errors quote a source port that no socket is bound to; let them find us,
 * so that "fragmentation needed" reaches the route.
 */
static int udp_err_lookup(struct sock *sk, struct sk_buff *skb)
{
	return 0;
}

static int set_int(struct socket *sock, int level, int name, int val)
{
	return sock->ops->setsockopt(sock, level, name, KERNEL_SOCKPTR(&val), sizeof(val));
}

static int udp_create(struct shuffle_net *sn, int ip_family, struct socket **res)
{
	struct sockaddr_storage ss = { .ss_family = ip_family };
	struct socket *sock;
	struct sock *sk;
	int err;

	err = sock_create_kern(sn->net, ip_family, SOCK_DGRAM, IPPROTO_UDP, &sock);
	if (err)
		return err;
	sk = sock->sk;

	if (ip_family == AF_INET6) {
		((struct sockaddr_in6 *)&ss)->sin6_port = htons(READ_ONCE(sn->dev0.cfg.port));
		lock_sock(sk);
		sk->sk_ipv6only = 1;
		release_sock(sk);
	} else {
		((struct sockaddr_in *)&ss)->sin_port = htons(READ_ONCE(sn->dev0.cfg.port));
	}
	err = set_int(sock, SOL_UDP, UDP_GRO, 1);
	/* otherwise UDP clears what rx/udp_rcv.c reads; IPv6 keeps it */
	if (!err && ip_family == AF_INET)
		err = set_int(sock, SOL_IP, IP_PKTINFO, 1);
	if (err)
		goto fail;

	lock_sock(sk);
	WRITE_ONCE(sk->sk_rcvbuf, SHUFFLE_UDP_RCVBUF);
	sk->sk_allocation = GFP_ATOMIC;
#ifdef CONFIG_NET_RX_BUSY_POLL
	/* no busy polling in a softirq */
	WRITE_ONCE(sk->sk_ll_usec, 0);
#endif
	release_sock(sk);

	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_sk_user_data(sk, sn);
	/* the same functions for both families, to be put back at the end */
	sn->udp_data_ready = sk->sk_data_ready;
	sn->udp_error_report = sk->sk_error_report;
	WRITE_ONCE(sk->sk_data_ready, sn->udp_rcv);
	WRITE_ONCE(sk->sk_error_report, udp_error_report);
	WRITE_ONCE(udp_sk(sk)->encap_err_lookup, udp_err_lookup);
	write_unlock_bh(&sk->sk_callback_lock);

	err = kernel_bind(sock, (struct sockaddr_unsized *)&ss,
			  ip_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
						  sizeof(struct sockaddr_in));
	if (err)
		goto fail;
	*res = sock;
	return 0;

fail:
	sock_release(sock);
	return err;
}

/* udp_mutex held */
static void udp_close(struct shuffle_net *sn)
{
	struct socket *old[2] = {};
	int i;

	lockdep_assert_held(&sn->udp_mutex);
	for (i = 0; i < 2; i++) {
		struct sock *sk;

		if (!sn->udp[i])
			continue;
		old[i] = sn->udp[i];
		WRITE_ONCE(sn->udp[i], NULL);
		sk = old[i]->sk;
		write_lock_bh(&sk->sk_callback_lock);
		rcu_assign_sk_user_data(sk, NULL);
		WRITE_ONCE(sk->sk_data_ready, sn->udp_data_ready);
		WRITE_ONCE(sk->sk_error_report, sn->udp_error_report);
		WRITE_ONCE(udp_sk(sk)->encap_err_lookup, NULL);
		write_unlock_bh(&sk->sk_callback_lock);
	}
	if (!old[0] && !old[1])
		return;
	shuffle_forwarded_ignore(sn->net);
	/* callbacks, hooks, and senders that have read sn->udp, run in RCU read-side
	 * sections (or with BH off, the same)
	 */
	synchronize_rcu();
	for (i = 0; i < 2; i++) {
		if (!old[i])
			continue;
		sn->udp_drops += atomic_read(&old[i]->sk->sk_drops);
		sock_release(old[i]);
	}
}

static int udp_open4(struct shuffle_net *sn)
{
	struct socket *sock;
	int err;

	err = shuffle_forwarded_watch(sn->net);
	if (err)
		return err;
	err = udp_create(sn, AF_INET, &sock);
	if (err) {
		shuffle_forwarded_ignore(sn->net);
		return err;
	}
	/* pairs with the readers in tx/output.c */
	smp_store_release(&sn->udp[0], sock);
	return 0;
}

/* In a worker; the process that waits for it holds udp_mutex. */
static int udp_open(struct shuffle_net *sn)
{
	struct socket *sock;
	int err;

	if (!sn->udp[0]) {
		err = udp_open4(sn);
		if (err)
			return err;
	}
	if (sn->udp[1] || !IS_ENABLED(CONFIG_IPV6))
		return 0;
	err = udp_create(sn, AF_INET6, &sock);
	if (!err)
		/* pairs with the readers in tx/output.c */
		smp_store_release(&sn->udp[1], sock);
	return err == -EAFNOSUPPORT || err == -EADDRNOTAVAIL ? 0 : err;
}

/**
 * struct udp_work - somebody waits until the sockets are open
 * @work: opens them
 * @sn: namespace
 * @err: result
 */
struct udp_work {
	struct work_struct	work;
	struct shuffle_net	*sn;
	int			err;
};

static void udp_open_work(struct work_struct *work)
{
	struct udp_work *w = container_of(work, struct udp_work, work);

	w->err = udp_open(w->sn);
}

/* The sockets serve all users, so they must not belong to the first process that binds.  A
 * kernel worker opens them: it is in the root cgroup, and it has the right to a privileged
 * port, which that process need not have.
 */
static int udp_open_by_kernel(struct shuffle_net *sn)
{
	struct udp_work w = { .sn = sn };

	INIT_WORK_ONSTACK(&w.work, udp_open_work);
	queue_work(system_dfl_wq, &w.work);
	flush_work(&w.work);
	destroy_work_on_stack(&w.work);
	return w.err;
}

/**
 * shuffle_udp_open() - open the namespace's UDP sockets unless they are open
 * @sn: namespace
 *
 * The caller is a user of them until shuffle_udp_put().  They stay open without
 * users until the port is changed, or the namespace or the module goes: a finished
 * operation still answers when its process has gone.
 *
 * Context: process, may sleep.
 * Return: 0, or the error of the IPv4 socket (-EADDRINUSE: the port is taken).
 * A host without IPv6 has no IPv6 socket.
 */
int shuffle_udp_open(struct shuffle_net *sn)
{
	int err = 0;

	mutex_lock(&sn->udp_mutex);
	if (!sn->udp[0] || !sn->udp[1])
		err = udp_open_by_kernel(sn);
	if (!err)
		sn->udp_users++;
	mutex_unlock(&sn->udp_mutex);
	return err;
}

/**
 * shuffle_udp_put() - a bound socket has gone
 * @sn: namespace
 *
 * Context: process, may sleep.
 */
void shuffle_udp_put(struct shuffle_net *sn)
{
	mutex_lock(&sn->udp_mutex);
	sn->udp_users--;
	mutex_unlock(&sn->udp_mutex);
}

/**
 * shuffle_udp_set_port() - use another UDP port from now on
 * @sn: namespace
 * @port: UDP port
 *
 * Context: process, may sleep.
 * Return: 0, or -EBUSY while there are users.
 */
int shuffle_udp_set_port(struct shuffle_net *sn, u16 port)
{
	int err = -EBUSY;

	mutex_lock(&sn->udp_mutex);
	if (!sn->udp_users) {
		/* before anybody opens them again */
		WRITE_ONCE(sn->dev0.cfg.port, port);
		udp_close(sn);
		err = 0;
	}
	mutex_unlock(&sn->udp_mutex);
	return err;
}

/**
 * shuffle_udp_close() - close them; no callback runs any more when it returns
 * @sn: namespace without user sockets
 *
 * Context: process, may sleep.
 */
void shuffle_udp_close(struct shuffle_net *sn)
{
	mutex_lock(&sn->udp_mutex);
	udp_close(sn);
	mutex_unlock(&sn->udp_mutex);
}

/**
 * shuffle_udp_drops() - datagrams that found the UDP receive buffer full
 * @sn: namespace
 *
 * Context: process.
 */
unsigned long shuffle_udp_drops(struct shuffle_net *sn)
{
	unsigned long n;
	int i;

	mutex_lock(&sn->udp_mutex);
	n = sn->udp_drops;
	for (i = 0; i < 2; i++)
		if (sn->udp[i])
			n += atomic_read(&sn->udp[i]->sk->sk_drops);
	mutex_unlock(&sn->udp_mutex);
	return n;
}
