// SPDX-License-Identifier: GPL-2.0-only
/* From a network namespace, or what is in it, to our state of it. */
#include <net/netns/generic.h>

#include "netns.h"

unsigned int shuffle_net_id __read_mostly;

/**
 * shuffle_net() - our state in a network namespace
 * @net: the namespace
 *
 * Context: any, while @net is alive.
 */
struct shuffle_net *shuffle_net(const struct net *net)
{
	return net_generic(net, shuffle_net_id);
}
