/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of one network namespace.
 *
 * sn->egress_lock	BH spinlock: list of sockets that have data to send
 * sn->finished_lock, dev->lock, sn->peers_lock, sn->users_lock
 *			BH spinlocks, none inside another; sn->ports, sn->socks and
 *			sn->cookies have locks of their own
 *
 * Settings: the rtnl, then sn->config_mutex, then sn->udp_mutex; packet paths read
 * them without a lock.
 */
#ifndef _SHUFFLE_NETNS_H
#define _SHUFFLE_NETNS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/rbtree.h>
#include <linux/rhashtable-types.h>
#include <linux/siphash.h>
#include <linux/skbuff.h>
#include <linux/sockptr.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include "../../uapi/linux/shuffle.h"
#include "config.h"
#include "mib.h"

/* Source ports of all packets: only privileged processes may use ports below 1024, so a
 * packet from one of these comes from a host's kernel, or from a process that may do the
 * same; forwarded.c keeps containers behind NAT from it.  Not below 768: fewer services
 * live there.
 */
#define SHUFFLE_SOURCE_PORT_FIRST	768
#define SHUFFLE_SOURCE_PORT_BITS	8

static inline bool shuffle_source_port(u32 port)
{
	return port - SHUFFLE_SOURCE_PORT_FIRST < 1U << SHUFFLE_SOURCE_PORT_BITS;
}

#define SHUFFLE_FINISHED_BITS	8

#define SHUFFLE_ECHO_BITS	8

struct shuffle_op;
struct shuffle_membership;
struct shuffle_ports;
struct shuffle_sock;

/**
 * struct shuffle_net - state of one network namespace
 * @net: the namespace
 * @udp: kernel UDP sockets, [0] IPv4, [1] IPv6; opened with the first bind
 * @udp_mutex: guards opening and closing of @udp, and @udp_users
 * @udp_users: number of bound sockets, which need @udp
 * @udp_drops: packets dropped by sockets of @udp that have been closed
 * @udp_rcv: callback that @udp has while it is open: shuffle_udp_rcv()
 * @udp_data_ready: callback that @udp had when opened; put back before @udp is closed
 * @udp_error_report: callback for errors that @udp had when opened; put back likewise
 * @ports: bound sockets by address and port
 * @multicast: addresses that sockets have joined: multicast.c
 * @multicast_mutex: held while @multicast is changed
 * @mib: counters
 * @egress_dev: no device: what @egress belongs to
 * @egress: sends data while there is room in the qdiscs
 * @egress_lock: guards @egress_socks, @egress_class, @egress_classes, @egress_mix
 * @egress_socks: sockets that have data to send, each holding a reference; the socket that has
 *	waited longest is first
 * @egress_class: sockets of @egress_socks, by the class of their first operation
 * @egress_classes: a bit for each list of @egress_class that is not empty
 * @egress_mix: how many of @egress_socks have an operation without an order, and how many have not
 * @egress_turn: number of turns that the egress has given; only the egress uses it
 * @egress_at: time at which a socket last had its turn, ns
 * @egress_queued: bytes of packets on their way out that the egress waits for: tx/owner.c
 * @egress_stuck: bytes of @egress_queued that have not moved for long, and are not waited for
 * @egress_mark: value of @egress_queued when the egress last looked for stuck packets
 * @egress_marked_at: time of that look, ns
 * @socks: all sockets by number, oldest first
 * @socks_next: number that the next socket is tried with
 * @cookies: all sockets by cookie
 * @gen: changes with every socket, operation and peer that comes or goes
 * @cross_work: looks at what others send to this host: cross_traffic.c
 * @cross_at: time at which @cross_work was started last, ns
 * @cross_looked: time at which @cross_work last ran, ns
 * @peers: hosts that members are on, by address
 * @users: users that have sockets, peers or ended operations
 * @nr_users: number of @users; READ_ONCE() without the lock
 * @users_lock: guards @users and @nr_users
 * @peers_lock: guards @peers
 * @events: netlink events that wait to be sent
 * @events_lost: a bit for each multicast group of which events have been dropped
 * @event_work: sends @events
 * @config_gen: changes with every setting
 * @change_mutex: held while settings are changed, and sockets opened for that
 * @config_mutex: guards settings and @devs
 * @dev0: settings of the namespace
 * @devs: devices that have settings of their own or that operations have used;
 *	read under RCU
 * @early_bytes: bytes of packets that all sockets keep for operations that have not begun
 * @finished: operations that have ended, oldest first
 * @finished_hash: operations of @finished by operation id
 * @finished_key: key of that hash, for users choose operation ids
 * @finished_users: users of @finished by what their operations count, the least first
 * @finished_lock: guards all fields whose names begin with finished
 * @finished_work: lets old operations of @finished expire
 * @finished_n: number of @finished, in which operations of large groups count more
 * @rates_work: asks devices for their rates where that was not possible at once: dev.c
 * @echo_full_at: token buckets of echoes by source: sched/rate.h, rx/echo.c
 * @echo_all_full_at: token bucket of echoes to all sources together
 * @echo_key: key of the hash that gives a source its bucket
 * @forgot_full_at: token bucket of answers for operations that are not known: abort.c
 */
struct shuffle_net {
	struct net		*net;
	struct socket		*udp[2];
	struct mutex		udp_mutex;
	u32			udp_users;
	unsigned long		udp_drops;
	void			(*udp_rcv)(struct sock *sk);
	void			(*udp_data_ready)(struct sock *sk);
	void			(*udp_error_report)(struct sock *sk);
	struct rhashtable	ports;
	struct rhltable		multicast;
	struct mutex		multicast_mutex;
	struct shuffle_mib __percpu *mib;
	struct net_device	*egress_dev;
	struct napi_struct	egress;
	spinlock_t		egress_lock;
	struct list_head	egress_socks;
	struct list_head	egress_class[SHUFFLE_ORDER_CLASSES];
	u64			egress_classes;
	struct shuffle_order_mix egress_mix;
	u32			egress_turn;
	atomic64_t		egress_at;
	atomic_t		egress_queued;
	int			egress_stuck;
	int			egress_mark;
	u64			egress_marked_at;
	struct xarray		socks;
	u32			socks_next;
	struct rhashtable	cookies;
	atomic_t		gen;
	struct work_struct	cross_work;
	atomic64_t		cross_at;
	u64			cross_looked;
	struct rb_root		peers;
	struct rb_root		users;
	u32			nr_users;
	spinlock_t		users_lock;
	spinlock_t		peers_lock;
	struct sk_buff_head	events;
	unsigned long		events_lost;
	struct work_struct	event_work;
	u32			config_gen;
	struct mutex		change_mutex;
	struct mutex		config_mutex;
	struct shuffle_dev	dev0;
	struct list_head	devs;
	struct work_struct	rates_work;
	atomic_t		early_bytes;
	struct list_head	finished;
	struct hlist_head	finished_hash[1 << SHUFFLE_FINISHED_BITS];
	siphash_key_t		finished_key;
	struct rb_root		finished_users;
	spinlock_t		finished_lock;
	struct delayed_work	finished_work;
	u32			finished_n;
	atomic64_t		echo_full_at[1 << SHUFFLE_ECHO_BITS];
	atomic64_t		echo_all_full_at;
	siphash_key_t		echo_key;
	atomic64_t		forgot_full_at;
};

/* netns.c */
extern unsigned int shuffle_net_id;
struct shuffle_net *shuffle_net(const struct net *net);

/* pernet.c */
int shuffle_netns_init(void);
void shuffle_netns_exit(void);

/* proc.c */
int shuffle_proc_init(struct shuffle_net *sn);
void shuffle_proc_exit(struct shuffle_net *sn);

/* udp.c */
int shuffle_udp_open(struct shuffle_net *sn);
void shuffle_udp_put(struct shuffle_net *sn);
int shuffle_udp_set_port(struct shuffle_net *sn, u16 port);
void shuffle_udp_close(struct shuffle_net *sn);
unsigned long shuffle_udp_drops(struct shuffle_net *sn);

/* forwarded.c */
int shuffle_forwarded_watch(struct net *net);
void shuffle_forwarded_ignore(struct net *net);

/* ports.c */
int shuffle_ports_init(struct shuffle_net *sn);
void shuffle_ports_exit(struct shuffle_net *sn);
int shuffle_ports_add(struct shuffle_sock *ssk, struct sockaddr_shuffle *addr);
void shuffle_ports_del(struct shuffle_sock *ssk);
int shuffle_ports_more(struct shuffle_sock *ssk, const struct shuffle_membership *group,
		       struct shuffle_ports *ports);
void shuffle_ports_drop(struct shuffle_sock *ssk, const struct shuffle_ports *from,
			const struct shuffle_ports *but);
struct shuffle_sock *shuffle_ports_find(struct shuffle_net *sn, u16 ip_family,
					const void *addr, u16 port);

/* multicast.c */
#define SHUFFLE_MULTICAST_SHARED	8	/* sockets with one address and port */

int shuffle_multicast_init(struct shuffle_net *sn);
void shuffle_multicast_exit(struct shuffle_net *sn);
int shuffle_multicast_set(struct shuffle_sock *ssk, sockptr_t optval, unsigned int optlen);
int shuffle_multicast_get(struct shuffle_sock *ssk, char __user *optval, int __user *optlen);
void shuffle_multicast_leave(struct shuffle_sock *ssk);
u8 shuffle_multicast_addr(const struct shuffle_sock *ssk, struct sockaddr_shuffle *addr,
			  bool *own_port);
u32 shuffle_multicast_find(struct shuffle_net *sn, const struct sockaddr_shuffle *to, u16 port,
			   u32 dif, u32 sdif, struct shuffle_sock **found);

/* sock_list.c */
int shuffle_sock_list_init(struct shuffle_net *sn);
void shuffle_sock_list_exit(struct shuffle_net *sn);
int shuffle_sock_list_add(struct shuffle_sock *ssk);
void shuffle_sock_list_del(struct shuffle_sock *ssk);
struct shuffle_sock *shuffle_sock_list_next(struct shuffle_net *sn, unsigned long number);
struct shuffle_sock *shuffle_sock_list_find(struct shuffle_net *sn, u64 cookie);

#endif /* _SHUFFLE_NETNS_H */
