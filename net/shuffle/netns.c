// SPDX-License-Identifier: GPL-2.0-only
/* From a network namespace, or what is in it, to our state of it. */
#include <net/netns/generic.h>

#include "netns.h"
#include "op.h"
#include "sock.h"

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

/**
 * shuffle_op_net() - the network namespace of an operation
 * @op: operation; its socket keeps the namespace alive
 *
 * Context: any.
 */
struct shuffle_net *shuffle_op_net(const struct shuffle_op *op)
{
	return shuffle_net(sock_net(&op->ssk->sk));
}
