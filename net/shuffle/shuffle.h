/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The nouns of the module in one include; each has a header of its own, and each room
 * (tx, rx, sched, netlink) one that names what others may use.
 *
 * Locks, outermost first:
 *
 *   sk lock (lock_sock)	socket options, bind, and readers (recvmsg);
 *	sn->udp_mutex		inside it: opening the UDP sockets
 *	sn->multicast_mutex	inside it, like the rtnl: joining a multicast address
 *   op->tx_mutex		writers of one row (sendmsg), may sleep in it;
 *	ssk->pages.lock		inside it: the pages that are filled
 *   ssk->lock			BH spinlock: operations, messages, memory accounting
 *   sn->egress_lock		BH spinlock: list of sockets that have data to send
 *   sn->finished_lock, dev->lock, sn->peers_lock, sn->users_lock
 *			BH spinlocks, none inside another; sn->ports, sn->socks and
 *			sn->cookies have locks of their own
 *
 * Settings: sn->change_mutex, inside it sn->udp_mutex or sn->config_mutex, not both.  Who holds
 * udp_mutex may wait for a worker that takes the rtnl; inside the rtnl there is config_mutex only.
 * Packet paths read settings without a lock.
 *
 * Packets are built under ssk->lock, collected on a list and handed to IP only
 * after it is released: a qdisc or an action may call back into the receive path.
 *
 * Which state each of them guards, and where that is asserted: the table in
 * Documentation/networking/internals.rst.
 *
 * Life of the objects:
 *
 *   socket	held by its file, by the egress list and by every receive path
 *		that found it; freed after an RCU grace period.
 *   group	reference counted, immutable but for the cached routes of its
 *		members, which ssk->lock guards.  Held by its socket, by its
 *		operations and by the record of a finished operation.
 *   op		in ssk->ops from the first sendmsg until its DONE or FAILED record
 *		has been read, or the socket is closed.  Unlinked only in process
 *		context, where its timer can be cancelled.
 *   netns	a socket holds its network namespace, so when that exits there are
 *		no sockets; kernel UDP sockets and finished records go with it.  Early
 *		packets go with their socket.
 */
#ifndef _SHUFFLE_H
#define _SHUFFLE_H

#include "group.h"
#include "mem.h"
#include "netns.h"
#include "op.h"
#include "peer.h"
#include "rx/rx.h"
#include "sock.h"
#include "tx/tx.h"
#include "user.h"

#endif /* _SHUFFLE_H */
