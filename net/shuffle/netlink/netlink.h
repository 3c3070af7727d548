/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control plane: shared by its files and by the files that have events to report.
 *
 * Dumps and events are filled under the locks that guard what they show, never for
 * more than one operation, message or peer at a time; they are sent without locks.
 */
#ifndef _SHUFFLE_NETLINK_H
#define _SHUFFLE_NETLINK_H

#include <net/genetlink.h>

#include "../config.h"
#include "../netns.h"
#include "../op.h"
#include "../sock.h"
#include "netlink_gen.h"

extern struct genl_family shuffle_nl_family;

/* netlink.c */
int shuffle_netlink_init(void);
void shuffle_netlink_exit(void);
int shuffle_netlink_once(const struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int shuffle_netlink_dump_one(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
			     int (*fill)(struct sk_buff *skb, const void *arg), const void *arg);
bool shuffle_netlink_init_admin(const struct sk_buff *skb);
int shuffle_netlink_dump_parse(struct netlink_callback *cb, struct nlattr **tb, int maxtype,
			       const struct nla_policy *policy);
int shuffle_netlink_reply(struct genl_info *info, u8 cmd,
			  int (*fill)(struct sk_buff *skb, const void *arg), const void *arg);
int shuffle_netlink_put_addr(struct sk_buff *skb, const struct sockaddr_shuffle *a,
			     int ipv4, int ipv6, int port);

/* Without padding, as nla_put_uint() of later kernels: the number may be aligned
 * to 4 bytes only.
 */
static inline int shuffle_put_u64(struct sk_buff *skb, int attr, u64 v)
{
	return nla_put(skb, attr, sizeof(v), &v);
}

/* netlink_config.c */
int shuffle_netlink_fill_config(struct sk_buff *skb, const void *dev);

/* netlink_op.c */
struct shuffle_sock *shuffle_netlink_op_sock(struct shuffle_net *sn, const struct nlattr *id,
					     const struct nlattr *cookie,
					     struct netlink_ext_ack *extack);
int shuffle_netlink_put_op(struct sk_buff *skb, struct shuffle_op *op);
int shuffle_netlink_put_end(struct sk_buff *skb, struct shuffle_op *op);

/* netlink_msg.c */
int shuffle_netlink_put_msg(struct sk_buff *skb, struct shuffle_op *op, u32 rank, bool in);

/* netlink_sock.c */
int shuffle_netlink_put_sock(struct sk_buff *skb, struct shuffle_sock *ssk);

/* netlink_event.c */
int shuffle_event_setup(void);
void shuffle_event_go(void);
void shuffle_event_stop(void);
void shuffle_event_teardown(void);
void shuffle_event_init(struct shuffle_net *sn);
void shuffle_event_exit(struct shuffle_net *sn);
void shuffle_event_config(struct shuffle_dev *dev);
void shuffle_event_start(struct shuffle_op *op);
bool shuffle_event_wanted(struct shuffle_net *sn);
void shuffle_event_end(struct shuffle_op *op);
void shuffle_event_straggler(struct shuffle_op *op, u32 rank);
void shuffle_event_pressure(struct shuffle_sock *ssk);

/* diag.c */
int shuffle_diag_init(void);
void shuffle_diag_exit(void);

#endif /* _SHUFFLE_NETLINK_H */
