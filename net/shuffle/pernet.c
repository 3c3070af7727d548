// SPDX-License-Identifier: GPL-2.0-only
/* What a network namespace has from its beginning to its end. */
#include <linux/random.h>

#include "config.h"
#include "mib.h"
#include "netlink/netlink.h"
#include "netns.h"
#include "rx/timewait.h"
#include "rx/udp_rcv.h"
#include "sock.h"
#include "tx/egress.h"

static int __net_init shuffle_net_init(struct net *net)
{
	struct shuffle_net *sn = shuffle_net(net);
	int err;

	sn->net = net;
	sn->udp_rcv = shuffle_udp_rcv;
	mutex_init(&sn->udp_mutex);
	spin_lock_init(&sn->peers_lock);
	sn->peers = RB_ROOT;
	spin_lock_init(&sn->users_lock);
	sn->users = RB_ROOT;
	/* netlink dumps use generation 0 for "not started" */
	atomic_set(&sn->gen, 1);
	sn->config_gen = 1;
	get_random_bytes(&sn->echo_key, sizeof(sn->echo_key));
	shuffle_event_init(sn);
	shuffle_config_init(sn);
	shuffle_timewait_init(sn);
	shuffle_cross_traffic_init(sn);
	sn->mib = alloc_percpu(struct shuffle_mib);
	err = -ENOMEM;
	if (!sn->mib)
		goto err_mib;
	err = shuffle_egress_init(sn);
	if (err)
		goto err_egress;
	err = shuffle_ports_init(sn);
	if (err)
		goto err_ports;
	err = shuffle_multicast_init(sn);
	if (err)
		goto err_multicast;
	err = shuffle_sock_list_init(sn);
	if (err)
		goto err_socks;
	err = shuffle_proc_init(sn);
	if (err)
		goto err_proc;
	return 0;

err_proc:
	shuffle_sock_list_exit(sn);
err_socks:
	shuffle_multicast_exit(sn);
err_multicast:
	shuffle_ports_exit(sn);
err_ports:
	shuffle_egress_stop(sn);	/* it has never run */
	shuffle_egress_exit(sn);
err_egress:
	free_percpu(sn->mib);
err_mib:
	shuffle_config_exit(sn);
	return err;
}

/* No socket is left: each holds a reference to the namespace.
 *
 * Devices go before subsystems, and a UDP socket that has received from a multicast address holds
 * a route through the loopback, which would wait for it for ever.
 */
static void __net_exit shuffle_net_pre_exit(struct net *net)
{
	shuffle_udp_close(shuffle_net(net));
	/* the grace period between this and shuffle_net_exit() is for that, too */
	shuffle_egress_stop(shuffle_net(net));
}

static void __net_exit shuffle_net_exit(struct net *net)
{
	struct shuffle_net *sn = shuffle_net(net);

	/* First: at module unload the namespace stays, and processes may still read
	 * its /proc files.
	 */
	shuffle_proc_exit(sn);
	shuffle_egress_exit(sn);
	shuffle_cross_traffic_exit(sn);
	shuffle_timewait_purge(sn);
	shuffle_config_exit(sn);
	shuffle_event_exit(sn);
	shuffle_sock_list_exit(sn);
	shuffle_multicast_exit(sn);
	shuffle_ports_exit(sn);
	free_percpu(sn->mib);
}

static struct pernet_operations shuffle_net_ops = {
	.init = shuffle_net_init,
	.pre_exit = shuffle_net_pre_exit,
	.exit = shuffle_net_exit,
	.id = &shuffle_net_id,
	.size = sizeof(struct shuffle_net),
};

int shuffle_netns_init(void)
{
	return register_pernet_subsys(&shuffle_net_ops);
}

void shuffle_netns_exit(void)
{
	unregister_pernet_subsys(&shuffle_net_ops);
}
