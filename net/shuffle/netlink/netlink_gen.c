// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/shuffle.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/shuffle_netlink.h>

/* Integer value ranges */
static const struct netlink_range_validation shuffle_a_config_ifindex_range = {
	.min	= 1ULL,
	.max	= 2147483647ULL,
};

static const struct netlink_range_validation shuffle_a_config_unscheduled_range = {
	.max	= 67108864ULL,
};

static const struct netlink_range_validation shuffle_a_config_link_rate_range = {
	.max	= 10000000ULL,
};

static const struct netlink_range_validation shuffle_a_config_rtt_range = {
	.max	= 1000000000ULL,
};

static const struct netlink_range_validation shuffle_a_config_rtt_bytes_range = {
	.max	= 67108864ULL,
};

static const struct netlink_range_validation shuffle_a_config_packet_size_range = {
	.max	= 32768ULL,
};

static const struct netlink_range_validation shuffle_a_config_resend_first_range = {
	.min	= 10ULL,
	.max	= 10000000ULL,
};

static const struct netlink_range_validation shuffle_a_config_resend_min_range = {
	.min	= 10ULL,
	.max	= 10000000ULL,
};

static const struct netlink_range_validation shuffle_a_config_resend_max_range = {
	.min	= 1000ULL,
	.max	= 60000000ULL,
};

static const struct netlink_range_validation shuffle_a_config_port_range = {
	.min	= 1ULL,
	.max	= 65535ULL,
};

static const struct netlink_range_validation shuffle_a_config_egress_bytes_range = {
	.max	= 67108864ULL,
};

static const struct netlink_range_validation shuffle_a_config_early_bytes_range = {
	.max	= 1073741824ULL,
};

static const struct netlink_range_validation shuffle_a_config_early_expiry_range = {
	.min	= 1ULL,
	.max	= 3600000ULL,
};

static const struct netlink_range_validation shuffle_a_config_finished_max_range = {
	.max	= 1048576ULL,
};

static const struct netlink_range_validation shuffle_a_config_finished_expiry_range = {
	.min	= 1ULL,
	.max	= 3600000ULL,
};

static const struct netlink_range_validation shuffle_a_config_idle_timeout_range = {
	.max	= 86400000ULL,
};

static const struct netlink_range_validation shuffle_a_config_sndbuf_range = {
	.min	= 4096ULL,
	.max	= 1073741824ULL,
};

static const struct netlink_range_validation shuffle_a_config_rcvbuf_range = {
	.min	= 4096ULL,
	.max	= 1073741824ULL,
};

static const struct netlink_range_validation shuffle_a_config_echo_rate_range = {
	.min	= 1ULL,
	.max	= 10000000ULL,
};

static const struct netlink_range_validation shuffle_a_config_mem_max_range = {
	.min	= 1048576ULL,
	.max	= 1152921504606846976ULL,
};

/* SHUFFLE_CMD_CONFIG_GET - do */
const struct nla_policy shuffle_config_get_nl_policy[SHUFFLE_A_CONFIG_IFINDEX + 1] = {
	[SHUFFLE_A_CONFIG_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_ifindex_range),
};

/* SHUFFLE_CMD_CONFIG_SET - do */
const struct nla_policy shuffle_config_set_nl_policy[SHUFFLE_A_CONFIG_MEM_MAX + 1] = {
	[SHUFFLE_A_CONFIG_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_ifindex_range),
	[SHUFFLE_A_CONFIG_UNSET] = NLA_POLICY_MASK(NLA_U64, 0x3ffffff),
	[SHUFFLE_A_CONFIG_OVERCOMMIT] = NLA_POLICY_RANGE(NLA_U32, 1, 1000),
	[SHUFFLE_A_CONFIG_WINDOW_MODE] = NLA_POLICY_MAX(NLA_U32, 2),
	[SHUFFLE_A_CONFIG_SCALE_BACK_EXPONENT] = NLA_POLICY_RANGE(NLA_U32, 1, 4),
	[SHUFFLE_A_CONFIG_UNSCHEDULED] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_unscheduled_range),
	[SHUFFLE_A_CONFIG_LINK_RATE] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_link_rate_range),
	[SHUFFLE_A_CONFIG_RTT] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_rtt_range),
	[SHUFFLE_A_CONFIG_RTT_BYTES] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_rtt_bytes_range),
	[SHUFFLE_A_CONFIG_PACKET_SIZE] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_packet_size_range),
	[SHUFFLE_A_CONFIG_CONTROL_DSCP] = NLA_POLICY_MAX(NLA_U32, 63),
	[SHUFFLE_A_CONFIG_RESEND_FIRST] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_resend_first_range),
	[SHUFFLE_A_CONFIG_RESEND_MIN] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_resend_min_range),
	[SHUFFLE_A_CONFIG_RESEND_MAX] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_resend_max_range),
	[SHUFFLE_A_CONFIG_OP_ORDER] = NLA_POLICY_MAX(NLA_U32, 2),
	[SHUFFLE_A_CONFIG_GIVE_WAY] = NLA_POLICY_MAX(NLA_U32, 90),
	[SHUFFLE_A_CONFIG_PORT] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_port_range),
	[SHUFFLE_A_CONFIG_EGRESS_BYTES] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_egress_bytes_range),
	[SHUFFLE_A_CONFIG_EARLY_BYTES] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_early_bytes_range),
	[SHUFFLE_A_CONFIG_EARLY_EXPIRY] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_early_expiry_range),
	[SHUFFLE_A_CONFIG_FINISHED_MAX] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_finished_max_range),
	[SHUFFLE_A_CONFIG_FINISHED_EXPIRY] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_finished_expiry_range),
	[SHUFFLE_A_CONFIG_IDLE_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_idle_timeout_range),
	[SHUFFLE_A_CONFIG_SNDBUF] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_sndbuf_range),
	[SHUFFLE_A_CONFIG_RCVBUF] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_rcvbuf_range),
	[SHUFFLE_A_CONFIG_ECHO] = NLA_POLICY_MAX(NLA_U32, 2),
	[SHUFFLE_A_CONFIG_ECHO_RATE] = NLA_POLICY_FULL_RANGE(NLA_U32, &shuffle_a_config_echo_rate_range),
	[SHUFFLE_A_CONFIG_MEM_MAX] = NLA_POLICY_FULL_RANGE(NLA_U64, &shuffle_a_config_mem_max_range),
};

/* SHUFFLE_CMD_OP_GET - do */
const struct nla_policy shuffle_op_get_nl_policy[SHUFFLE_A_OP_SOCKET + 1] = {
	[SHUFFLE_A_OP_OP_ID] = { .type = NLA_U64, },
	[SHUFFLE_A_OP_SOCKET] = { .type = NLA_U64, },
};

/* SHUFFLE_CMD_OP_CANCEL - do */
const struct nla_policy shuffle_op_cancel_nl_policy[SHUFFLE_A_OP_SOCKET + 1] = {
	[SHUFFLE_A_OP_OP_ID] = { .type = NLA_U64, },
	[SHUFFLE_A_OP_SOCKET] = { .type = NLA_U64, },
};

/* SHUFFLE_CMD_MSG_GET - do */
const struct nla_policy shuffle_msg_get_nl_policy[SHUFFLE_A_MSG_RANK + 1] = {
	[SHUFFLE_A_MSG_OP_ID] = { .type = NLA_U64, },
	[SHUFFLE_A_MSG_SOCKET] = { .type = NLA_U64, },
	[SHUFFLE_A_MSG_DIRECTION] = NLA_POLICY_MAX(NLA_U32, 1),
	[SHUFFLE_A_MSG_RANK] = NLA_POLICY_MAX(NLA_U32, 4095),
};

/* SHUFFLE_CMD_PEER_GET - do */
const struct nla_policy shuffle_peer_get_nl_policy[SHUFFLE_A_PEER_IFINDEX + 1] = {
	[SHUFFLE_A_PEER_IPV4] = NLA_POLICY_EXACT_LEN(4),
	[SHUFFLE_A_PEER_IPV6] = NLA_POLICY_EXACT_LEN(16),
	[SHUFFLE_A_PEER_IFINDEX] = { .type = NLA_U32, },
};

/* SHUFFLE_CMD_SOCKET_GET - do */
const struct nla_policy shuffle_socket_get_nl_policy[SHUFFLE_A_SOCKET_SOCKET + 1] = {
	[SHUFFLE_A_SOCKET_SOCKET] = { .type = NLA_U64, },
};

/* SHUFFLE_CMD_STATS_GET - do */
const struct nla_policy shuffle_stats_get_nl_policy[SHUFFLE_A_STAT_NAME + 1] = {
	[SHUFFLE_A_STAT_NAME] = { .type = NLA_NUL_STRING, .len = 31, },
};

/* Ops table for shuffle */
const struct genl_ops shuffle_nl_ops[8] = {
	{
		.cmd		= SHUFFLE_CMD_CONFIG_GET,
		.doit		= shuffle_nl_config_get_doit,
		.dumpit		= shuffle_nl_config_get_dumpit,
		.policy		= shuffle_config_get_nl_policy,
		.maxattr	= SHUFFLE_A_CONFIG_IFINDEX,
	},
	{
		.cmd		= SHUFFLE_CMD_CONFIG_SET,
		.doit		= shuffle_nl_config_set_doit,
		.policy		= shuffle_config_set_nl_policy,
		.maxattr	= SHUFFLE_A_CONFIG_MEM_MAX,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= SHUFFLE_CMD_OP_GET,
		.doit		= shuffle_nl_op_get_doit,
		.dumpit		= shuffle_nl_op_get_dumpit,
		.policy		= shuffle_op_get_nl_policy,
		.maxattr	= SHUFFLE_A_OP_SOCKET,
	},
	{
		.cmd		= SHUFFLE_CMD_OP_CANCEL,
		.doit		= shuffle_nl_op_cancel_doit,
		.policy		= shuffle_op_cancel_nl_policy,
		.maxattr	= SHUFFLE_A_OP_SOCKET,
		.flags		= GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd		= SHUFFLE_CMD_MSG_GET,
		.doit		= shuffle_nl_msg_get_doit,
		.dumpit		= shuffle_nl_msg_get_dumpit,
		.policy		= shuffle_msg_get_nl_policy,
		.maxattr	= SHUFFLE_A_MSG_RANK,
	},
	{
		.cmd		= SHUFFLE_CMD_PEER_GET,
		.doit		= shuffle_nl_peer_get_doit,
		.dumpit		= shuffle_nl_peer_get_dumpit,
		.policy		= shuffle_peer_get_nl_policy,
		.maxattr	= SHUFFLE_A_PEER_IFINDEX,
	},
	{
		.cmd		= SHUFFLE_CMD_SOCKET_GET,
		.doit		= shuffle_nl_socket_get_doit,
		.dumpit		= shuffle_nl_socket_get_dumpit,
		.policy		= shuffle_socket_get_nl_policy,
		.maxattr	= SHUFFLE_A_SOCKET_SOCKET,
	},
	{
		.cmd		= SHUFFLE_CMD_STATS_GET,
		.doit		= shuffle_nl_stats_get_doit,
		.dumpit		= shuffle_nl_stats_get_dumpit,
		.policy		= shuffle_stats_get_nl_policy,
		.maxattr	= SHUFFLE_A_STAT_NAME,
	},
};

static const struct genl_multicast_group shuffle_nl_mcgrps[] = {
	[SHUFFLE_NLGRP_OPS] = { "ops", },
	[SHUFFLE_NLGRP_MEMORY] = { "memory", },
	[SHUFFLE_NLGRP_CONFIG] = { "config", },
};
