/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/shuffle.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_SHUFFLE_GEN_H
#define _LINUX_SHUFFLE_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/shuffle_netlink.h>

extern const struct nla_policy shuffle_config_get_nl_policy[SHUFFLE_A_CONFIG_IFINDEX + 1];

extern const struct nla_policy shuffle_config_set_nl_policy[SHUFFLE_A_CONFIG_MEM_MAX + 1];

extern const struct nla_policy shuffle_op_get_nl_policy[SHUFFLE_A_OP_SOCKET + 1];

extern const struct nla_policy shuffle_op_cancel_nl_policy[SHUFFLE_A_OP_SOCKET + 1];

extern const struct nla_policy shuffle_msg_get_nl_policy[SHUFFLE_A_MSG_RANK + 1];

extern const struct nla_policy shuffle_peer_get_nl_policy[SHUFFLE_A_PEER_IFINDEX + 1];

extern const struct nla_policy shuffle_socket_get_nl_policy[SHUFFLE_A_SOCKET_SOCKET + 1];

extern const struct nla_policy shuffle_stats_get_nl_policy[SHUFFLE_A_STAT_NAME + 1];

/* Ops table for shuffle */
extern const struct genl_ops shuffle_nl_ops[8];

int shuffle_nl_config_get_doit(struct sk_buff *skb, struct genl_info *info);
int shuffle_nl_config_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int shuffle_nl_config_set_doit(struct sk_buff *skb, struct genl_info *info);
int shuffle_nl_op_get_doit(struct sk_buff *skb, struct genl_info *info);
int shuffle_nl_op_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int shuffle_nl_op_cancel_doit(struct sk_buff *skb, struct genl_info *info);
int shuffle_nl_msg_get_doit(struct sk_buff *skb, struct genl_info *info);
int shuffle_nl_msg_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int shuffle_nl_peer_get_doit(struct sk_buff *skb, struct genl_info *info);
int shuffle_nl_peer_get_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int shuffle_nl_socket_get_doit(struct sk_buff *skb, struct genl_info *info);
int shuffle_nl_socket_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int shuffle_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info);
int shuffle_nl_stats_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);

enum {
	SHUFFLE_NLGRP_OPS,
	SHUFFLE_NLGRP_MEMORY,
	SHUFFLE_NLGRP_CONFIG,
};

#endif /* _LINUX_SHUFFLE_GEN_H */
