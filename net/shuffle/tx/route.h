/* SPDX-License-Identifier: GPL-2.0-only */
/* Routes to members, and how much a packet carries there. */
#ifndef _SHUFFLE_TX_ROUTE_H
#define _SHUFFLE_TX_ROUTE_H

#include <linux/types.h>

struct dst_entry;
struct shuffle_dev;
struct shuffle_membership;
struct shuffle_net;
struct shuffle_sock;
struct sockaddr_shuffle;

struct dst_entry *shuffle_route_answer(struct shuffle_net *sn, const struct sockaddr_shuffle *from,
				       const struct sockaddr_shuffle *to, __be16 sport);
struct dst_entry *shuffle_route(struct shuffle_net *sn, struct shuffle_sock *ssk,
				struct shuffle_membership *group, u32 rank);
struct dst_entry *shuffle_route_peer(struct shuffle_net *sn, const struct sockaddr_shuffle *to);
u32 shuffle_route_payload(const struct shuffle_dev *dev, const struct shuffle_membership *group,
			  u32 rank, struct dst_entry *dst);

#endif /* _SHUFFLE_TX_ROUTE_H */
