// SPDX-License-Identifier: GPL-2.0-or-later
/* Do not edit: made by tools/netlink/attrs.py (source) from
 * Documentation/netlink/specs/shuffle.yaml
 */
#include <stddef.h>

#include <linux/shuffle_netlink.h>

#include "shuffle_attrs.h"

static const char *const enum_window_mode_names[] = {
	"pro-rata",
	"constant",
	"scale-back",
};

static const char *const enum_window_mode_docs[] = {
	"a share of the column's limit, as large as its share of what is left",
	"one RTTbytes",
	"pro rata; and a receiver with less left than the slowest receiver gives itself less, by the ratio to the power scale-back-exponent",
};

const struct shuffle_attr_enum shuffle_attr_enum_window_mode = {
	"window-mode", false, 3, enum_window_mode_names, enum_window_mode_docs
};

static const char *const enum_op_order_names[] = {
	"fair",
	"smallest",
	"deadline",
};

static const char *const enum_op_order_docs[] = {
	"they share the link evenly",
	"the one with the least left, of this host's messages",
	"the one whose deadline comes first; those without one come last",
};

const struct shuffle_attr_enum shuffle_attr_enum_op_order = {
	"op-order", false, 3, enum_op_order_names, enum_op_order_docs
};

static const char *const enum_op_state_names[] = {
	"open",
	"running",
	"done",
	"failed",
};

static const char *const enum_op_state_docs[] = {
	"lengths of some messages of the row have not been given yet",
	"the whole row is known",
	"complete; the process has not read that yet",
	"failed or cancelled; the process has not read that yet",
};

const struct shuffle_attr_enum shuffle_attr_enum_op_state = {
	"op-state", false, 4, enum_op_state_names, enum_op_state_docs
};

static const char *const enum_direction_names[] = {
	"out",
	"in",
};

static const char *const enum_direction_docs[] = {
	"to the other member",
	"from the other member",
};

const struct shuffle_attr_enum shuffle_attr_enum_direction = {
	"direction", false, 2, enum_direction_names, enum_direction_docs
};

static const char *const enum_msg_state_names[] = {
	"unknown",
	"active",
	"waiting",
	"stalled",
	"complete",
	"acked",
	"read",
	"absent",
};

static const char *const enum_msg_state_docs[] = {
	"length not known yet",
	"bytes are on their way or may be sent",
	"known, and nothing granted that is not there",
	"incoming; what was granted has not come in time",
	"incoming; all there. Outgoing; all sent, not acknowledged",
	"outgoing; the receiver has all of it",
	"incoming; the process has all of it",
	"there is no such message in this operation",
};

const struct shuffle_attr_enum shuffle_attr_enum_msg_state = {
	"msg-state", false, 8, enum_msg_state_names, enum_msg_state_docs
};

static const char *const enum_echo_names[] = {
	"off",
	"members",
	"all",
};

static const char *const enum_echo_docs[] = {
	"nobody's",
	"hosts of members of the groups of this namespace's sockets",
	"everybody's",
};

const struct shuffle_attr_enum shuffle_attr_enum_echo = {
	"echo", false, 3, enum_echo_names, enum_echo_docs
};

static const char *const enum_setting_names[] = {
	"overcommit",
	"window-mode",
	"scale-back-exponent",
	"unscheduled",
	"link-rate",
	"rtt",
	"rtt-bytes",
	"packet-size",
	"control-dscp",
	"resend-first",
	"resend-min",
	"resend-max",
	"op-order",
	"give-way",
	"port",
	"egress-bytes",
	"early-bytes",
	"early-expiry",
	"finished-max",
	"finished-expiry",
	"idle-timeout",
	"sndbuf",
	"rcvbuf",
	"echo",
	"echo-rate",
	"mem-max",
};

static const char *const enum_setting_docs[] = {
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
};

const struct shuffle_attr_enum shuffle_attr_enum_setting = {
	"setting", true, 26, enum_setting_names, enum_setting_docs
};

static const struct shuffle_attr set_config[] = {
	[SHUFFLE_A_CONFIG_IFINDEX] = {
		"ifindex", "ifindex", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		1ULL, 2147483647ULL,
		"The device; without it the namespace itself."
	},
	[SHUFFLE_A_CONFIG_IFNAME] = {
		"ifname", "ifname", SHUFFLE_ATTR_STRING, false, NULL,
		NULL, NULL,
		0ULL, 15ULL,
		"Name of the device."
	},
	[SHUFFLE_A_CONFIG_FAMILY] = {
		"family", "family", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Address family number in use, for socket(2)."
	},
	[SHUFFLE_A_CONFIG_WIRE_VERSION] = {
		"wire-version", "wire_version", SHUFFLE_ATTR_U8, false, NULL,
		NULL, NULL,
		0ULL, 255ULL,
		"Version of the packet format."
	},
	[SHUFFLE_A_CONFIG_LINK_RATE_NOW] = {
		"link-rate-now", "link_rate_now", SHUFFLE_ATTR_U32, false, "Mb/s",
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Link rate in use [Mb/s]."
	},
	[SHUFFLE_A_CONFIG_RTT_NOW] = {
		"rtt-now", "rtt_now", SHUFFLE_ATTR_U32, false, "ns",
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Round-trip time of the idle network in use [ns]."
	},
	[SHUFFLE_A_CONFIG_RTT_BYTES_NOW] = {
		"rtt-bytes-now", "rtt_bytes_now", SHUFFLE_ATTR_U32, false, "B",
		NULL, NULL,
		0ULL, 4294967295ULL,
		"RTTbytes in use, link rate times round-trip time [B]."
	},
	[SHUFFLE_A_CONFIG_MEM_USED] = {
		"mem-used", "mem_used", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Memory that all sockets of the machine hold [B]."
	},
	[SHUFFLE_A_CONFIG_OWN] = {
		"own", "own", SHUFFLE_ATTR_U64, false, NULL,
		&shuffle_attr_enum_setting, NULL,
		0ULL, 67108863ULL,
		"Settings that have been set here."
	},
	[SHUFFLE_A_CONFIG_UNSET] = {
		"unset", "unset", SHUFFLE_ATTR_U64, false, NULL,
		&shuffle_attr_enum_setting, NULL,
		0ULL, 67108863ULL,
		"Settings to give back, to the namespace or to their defaults."
	},
	[SHUFFLE_A_CONFIG_OVERCOMMIT] = {
		"overcommit", "overcommit", SHUFFLE_ATTR_U32, false, "RTTbytes",
		NULL, NULL,
		1ULL, 1000ULL,
		"Grants outstanding at a receiver [RTTbytes]."
	},
	[SHUFFLE_A_CONFIG_WINDOW_MODE] = {
		"window-mode", "window_mode", SHUFFLE_ATTR_U32, false, NULL,
		&shuffle_attr_enum_window_mode, NULL,
		0ULL, 2ULL,
		"Limit of the grants outstanding on one message."
	},
	[SHUFFLE_A_CONFIG_SCALE_BACK_EXPONENT] = {
		"scale-back-exponent", "scale_back_exponent", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		1ULL, 4ULL,
		"Window mode scale-back, how strongly; 1 linear, 2 quadratic."
	},
	[SHUFFLE_A_CONFIG_UNSCHEDULED] = {
		"unscheduled", "unscheduled", SHUFFLE_ATTR_U32, false, "B",
		NULL, NULL,
		0ULL, 67108864ULL,
		"What a member sends before the first grant [B]; 0 is one RTTbytes."
	},
	[SHUFFLE_A_CONFIG_LINK_RATE] = {
		"link-rate", "link_rate", SHUFFLE_ATTR_U32, false, "Mb/s",
		NULL, NULL,
		0ULL, 10000000ULL,
		"Rate of the link [Mb/s]; 0 is auto, what the device says."
	},
	[SHUFFLE_A_CONFIG_RTT] = {
		"rtt", "rtt", SHUFFLE_ATTR_U32, false, "ns",
		NULL, NULL,
		0ULL, 1000000000ULL,
		"Round-trip time of the idle network [ns]; 0 is auto, the least measured."
	},
	[SHUFFLE_A_CONFIG_RTT_BYTES] = {
		"rtt-bytes", "rtt_bytes", SHUFFLE_ATTR_U32, false, "B",
		NULL, NULL,
		0ULL, 67108864ULL,
		"RTTbytes [B]; 0 is auto, link rate times round-trip time."
	},
	[SHUFFLE_A_CONFIG_PACKET_SIZE] = {
		"packet-size", "packet_size", SHUFFLE_ATTR_U32, false, "B",
		NULL, NULL,
		0ULL, 32768ULL,
		"Most payload of a packet [B], at least 256; 0 is auto, what the path MTU leaves. For operations and data that are not laid out yet."
	},
	[SHUFFLE_A_CONFIG_CONTROL_DSCP] = {
		"control-dscp", "control_dscp", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 63ULL,
		"DSCP of packets without payload; 48 is CS6."
	},
	[SHUFFLE_A_CONFIG_RESEND_FIRST] = {
		"resend-first", "resend_first", SHUFFLE_ATTR_U32, false, "us",
		NULL, NULL,
		10ULL, 10000000ULL,
		"Wait for granted data before anything was measured [us]."
	},
	[SHUFFLE_A_CONFIG_RESEND_MIN] = {
		"resend-min", "resend_min", SHUFFLE_ATTR_U32, false, "us",
		NULL, NULL,
		10ULL, 10000000ULL,
		"Least wait for granted data [us]."
	},
	[SHUFFLE_A_CONFIG_RESEND_MAX] = {
		"resend-max", "resend_max", SHUFFLE_ATTR_U32, false, "us",
		NULL, NULL,
		1000ULL, 60000000ULL,
		"Longest wait, after it has been doubled again and again [us]."
	},
	[SHUFFLE_A_CONFIG_OP_ORDER] = {
		"op-order", "op_order", SHUFFLE_ATTR_U32, false, NULL,
		&shuffle_attr_enum_op_order, NULL,
		0ULL, 2ULL,
		"Which of several operations goes first. Not fair: the others are left an eighth, and short messages go in front of other data, like packets without payload."
	},
	[SHUFFLE_A_CONFIG_GIVE_WAY] = {
		"give-way", "give_way", SHUFFLE_ATTR_U32, false, "%",
		NULL, NULL,
		0ULL, 90ULL,
		"Part of a link [%] that receivers leave to others' traffic, if it wants that: they grant less while it comes. 0: they do not look."
	},
	[SHUFFLE_A_CONFIG_PORT] = {
		"port", "port", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		1ULL, 65535ULL,
		"UDP port of all traffic of the namespace, the same on all hosts. Cannot be changed while a socket is bound. Not for a device."
	},
	[SHUFFLE_A_CONFIG_EGRESS_BYTES] = {
		"egress-bytes", "egress_bytes", SHUFFLE_ATTR_U32, false, "B",
		NULL, NULL,
		0ULL, 67108864ULL,
		"What may wait in the host's own queues [B]; 0 is auto, two units of the schedule. Not for a device."
	},
	[SHUFFLE_A_CONFIG_EARLY_BYTES] = {
		"early-bytes", "early_bytes", SHUFFLE_ATTR_U32, false, "B",
		NULL, NULL,
		0ULL, 1073741824ULL,
		"Memory for packets of operations that this host has not started [B]. Not for a device."
	},
	[SHUFFLE_A_CONFIG_EARLY_EXPIRY] = {
		"early-expiry", "early_expiry", SHUFFLE_ATTR_U32, false, "ms",
		NULL, NULL,
		1ULL, 3600000ULL,
		"How long these are kept [ms]. Not for a device."
	},
	[SHUFFLE_A_CONFIG_FINISHED_MAX] = {
		"finished-max", "finished_max", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 1048576ULL,
		"Ended operations remembered; each counts 1 + members / 16. Not for a device."
	},
	[SHUFFLE_A_CONFIG_FINISHED_EXPIRY] = {
		"finished-expiry", "finished_expiry", SHUFFLE_ATTR_U32, false, "ms",
		NULL, NULL,
		1ULL, 3600000ULL,
		"How long these are remembered [ms]. Not for a device."
	},
	[SHUFFLE_A_CONFIG_IDLE_TIMEOUT] = {
		"idle-timeout", "idle_timeout", SHUFFLE_ATTR_U32, false, "ms",
		NULL, NULL,
		0ULL, 86400000ULL,
		"Without any progress for so long, an operation without a deadline fails [ms]; 0 never; of sockets opened later. Not for a device."
	},
	[SHUFFLE_A_CONFIG_SNDBUF] = {
		"sndbuf", "sndbuf", SHUFFLE_ATTR_U32, false, "B",
		NULL, NULL,
		4096ULL, 1073741824ULL,
		"Send buffer of sockets opened later [B]. Not for a device."
	},
	[SHUFFLE_A_CONFIG_RCVBUF] = {
		"rcvbuf", "rcvbuf", SHUFFLE_ATTR_U32, false, "B",
		NULL, NULL,
		4096ULL, 1073741824ULL,
		"Receive buffer of sockets opened later [B]. Not for a device."
	},
	[SHUFFLE_A_CONFIG_ECHO] = {
		"echo", "echo", SHUFFLE_ATTR_U32, false, NULL,
		&shuffle_attr_enum_echo, NULL,
		0ULL, 2ULL,
		"Whose echoes the kernel answers; with all the UDP port is open before a socket is bound. Not for a device."
	},
	[SHUFFLE_A_CONFIG_ECHO_RATE] = {
		"echo-rate", "echo_rate", SHUFFLE_ATTR_U32, false, "1/s",
		NULL, NULL,
		1ULL, 10000000ULL,
		"Echoes answered [1/s] of one host; of all hosts together, eight times as many. Not for a device."
	},
	[SHUFFLE_A_CONFIG_MEM_MAX] = {
		"mem-max", "mem_max", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		1048576ULL, 1152921504606846976ULL,
		"Memory that all sockets of the machine may hold [B]. Changed in the initial network namespace only."
	},
};

const struct shuffle_attr_set shuffle_attr_set_config = {
	"config", sizeof(set_config) / sizeof(set_config[0]), set_config
};

static const struct shuffle_attr set_op[] = {
	[SHUFFLE_A_OP_OP_ID] = {
		"op-id", "op_id", SHUFFLE_ATTR_U64, false, NULL,
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Operation id, the same at all members."
	},
	[SHUFFLE_A_OP_SOCKET] = {
		"socket", "socket", SHUFFLE_ATTR_U64, false, NULL,
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Cookie of the socket, unique on this machine."
	},
	[SHUFFLE_A_OP_INODE] = {
		"inode", "inode", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Inode of the socket, as in /proc/PID/fd."
	},
	[SHUFFLE_A_OP_UID] = {
		"uid", "uid", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"User that owns the socket."
	},
	[SHUFFLE_A_OP_STATE] = {
		"state", "state", SHUFFLE_ATTR_U32, false, NULL,
		&shuffle_attr_enum_op_state, NULL,
		0ULL, 3ULL,
		"How far it is."
	},
	[SHUFFLE_A_OP_ERROR] = {
		"error", "error", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Why it has failed, a positive errno."
	},
	[SHUFFLE_A_OP_RANK] = {
		"rank", "rank", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"This member's rank."
	},
	[SHUFFLE_A_OP_MEMBERS] = {
		"members", "members", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Number of members."
	},
	[SHUFFLE_A_OP_IFINDEX] = {
		"ifindex", "ifindex", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Device by which it leaves; its settings hold."
	},
	[SHUFFLE_A_OP_AGE] = {
		"age", "age", SHUFFLE_ATTR_U64, false, "ns",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Time since its start [ns]."
	},
	[SHUFFLE_A_OP_IDLE] = {
		"idle", "idle", SHUFFLE_ATTR_U64, false, "ns",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Time since its last progress [ns]."
	},
	[SHUFFLE_A_OP_DEADLINE] = {
		"deadline", "deadline", SHUFFLE_ATTR_U64, false, "ns",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Time until it fails [ns]; absent without a deadline."
	},
	[SHUFFLE_A_OP_TX_BYTES] = {
		"tx-bytes", "tx_bytes", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Length of the row, as far as it is known [B]."
	},
	[SHUFFLE_A_OP_TX_COPIED] = {
		"tx-copied", "tx_copied", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Of these, taken from the process [B]."
	},
	[SHUFFLE_A_OP_TX_SENT] = {
		"tx-sent", "tx_sent", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Of these, sent at least once [B]."
	},
	[SHUFFLE_A_OP_TX_LEFT] = {
		"tx-left", "tx_left", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Of the row, not sent yet [B]."
	},
	[SHUFFLE_A_OP_TX_GRANTED] = {
		"tx-granted", "tx_granted", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Granted by receivers and not sent yet [B]."
	},
	[SHUFFLE_A_OP_TX_MESSAGES] = {
		"tx-messages", "tx_messages", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Messages of the row whose length is known."
	},
	[SHUFFLE_A_OP_TX_ACKED] = {
		"tx-acked", "tx_acked", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Of these, acknowledged."
	},
	[SHUFFLE_A_OP_RX_BYTES] = {
		"rx-bytes", "rx_bytes", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Length of the column, as far as it is known [B]."
	},
	[SHUFFLE_A_OP_RX_RECEIVED] = {
		"rx-received", "rx_received", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Of these, received [B]."
	},
	[SHUFFLE_A_OP_RX_LEFT] = {
		"rx-left", "rx_left", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Of these, not received yet [B]."
	},
	[SHUFFLE_A_OP_RX_GRANTED] = {
		"rx-granted", "rx_granted", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Granted to senders and not received, outstanding grants [B]."
	},
	[SHUFFLE_A_OP_RX_MESSAGES] = {
		"rx-messages", "rx_messages", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Messages of the column whose length is known."
	},
	[SHUFFLE_A_OP_RX_COMPLETE] = {
		"rx-complete", "rx_complete", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Messages of the column that are all there."
	},
	[SHUFFLE_A_OP_RESENDS] = {
		"resends", "resends", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Times that members were asked for lost data or were silent too long."
	},
	[SHUFFLE_A_OP_RTT] = {
		"rtt", "rtt", SHUFFLE_ATTR_U64, false, "ns",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Smoothed time from a grant to its data [ns]; absent before the first."
	},
	[SHUFFLE_A_OP_RESEND_WAIT] = {
		"resend-wait", "resend_wait", SHUFFLE_ATTR_U64, false, "ns",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Wait for granted data [ns]."
	},
	[SHUFFLE_A_OP_LOWER_BOUND] = {
		"lower-bound", "lower_bound", SHUFFLE_ATTR_U64, false, "ns",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Least time that the operation can take at this member [ns]; the larger of row and column at the link's rate, and one round trip."
	},
	[SHUFFLE_A_OP_DURATION] = {
		"duration", "duration", SHUFFLE_ATTR_U64, false, "ns",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"From start to end [ns]; of an operation that has ended."
	},
	[SHUFFLE_A_OP_SLOWDOWN] = {
		"slowdown", "slowdown", SHUFFLE_ATTR_U32, false, "1/1000",
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Duration by lower bound [1/1000]; of an operation that has ended."
	},
	[SHUFFLE_A_OP_MISSING_IN] = {
		"missing-in", "missing_in", SHUFFLE_ATTR_U32, true, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Rank whose message is not complete; 64 at most."
	},
	[SHUFFLE_A_OP_MISSING_ACK] = {
		"missing-ack", "missing_ack", SHUFFLE_ATTR_U32, true, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Rank that has not acknowledged its message; 64 at most."
	},
	[SHUFFLE_A_OP_MISSING_IN_COUNT] = {
		"missing-in-count", "missing_in_count", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Number of ranks whose message is not complete."
	},
	[SHUFFLE_A_OP_MISSING_ACK_COUNT] = {
		"missing-ack-count", "missing_ack_count", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Number of ranks that have not acknowledged."
	},
	[SHUFFLE_A_OP_COUNT] = {
		"count", "count", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Operations cancelled."
	},
	[SHUFFLE_A_OP_STEPS] = {
		"steps", "steps", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Number of steps of a collective; absent of a shuffle."
	},
	[SHUFFLE_A_OP_STEP] = {
		"step", "step", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"The step of a collective whose turn it is, from 0 on."
	},
};

const struct shuffle_attr_set shuffle_attr_set_op = {
	"op", sizeof(set_op) / sizeof(set_op[0]), set_op
};

static const struct shuffle_attr set_msg[] = {
	[SHUFFLE_A_MSG_OP_ID] = {
		"op-id", "op_id", SHUFFLE_ATTR_U64, false, NULL,
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Operation id."
	},
	[SHUFFLE_A_MSG_SOCKET] = {
		"socket", "socket", SHUFFLE_ATTR_U64, false, NULL,
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Cookie of the socket."
	},
	[SHUFFLE_A_MSG_DIRECTION] = {
		"direction", "direction", SHUFFLE_ATTR_U32, false, NULL,
		&shuffle_attr_enum_direction, NULL,
		0ULL, 1ULL,
		"To or from the other member."
	},
	[SHUFFLE_A_MSG_RANK] = {
		"rank", "rank", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4095ULL,
		"The other member."
	},
	[SHUFFLE_A_MSG_IPV4] = {
		"ipv4", "ipv4", SHUFFLE_ATTR_IPV4, false, NULL,
		NULL, NULL,
		4ULL, 4ULL,
		"Its address, if it is an IPv4 address."
	},
	[SHUFFLE_A_MSG_IPV6] = {
		"ipv6", "ipv6", SHUFFLE_ATTR_IPV6, false, NULL,
		NULL, NULL,
		16ULL, 16ULL,
		"Its address, if it is an IPv6 address."
	},
	[SHUFFLE_A_MSG_PORT] = {
		"port", "port", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Its shuffle port."
	},
	[SHUFFLE_A_MSG_STATE] = {
		"state", "state", SHUFFLE_ATTR_U32, false, NULL,
		&shuffle_attr_enum_msg_state, NULL,
		0ULL, 7ULL,
		"How far it is."
	},
	[SHUFFLE_A_MSG_LENGTH] = {
		"length", "length", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Length of the message [B]; absent while it is not known."
	},
	[SHUFFLE_A_MSG_GRANTED] = {
		"granted", "granted", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"May be sent up to here [B]."
	},
	[SHUFFLE_A_MSG_DONE] = {
		"done", "done", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Sent, or received, so far [B]."
	},
	[SHUFFLE_A_MSG_LEFT] = {
		"left", "left", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Not sent, or not received, yet [B]."
	},
	[SHUFFLE_A_MSG_PREFIX] = {
		"prefix", "prefix", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Incoming, received without a gap up to here [B]. Outgoing, taken from the process up to here."
	},
	[SHUFFLE_A_MSG_READ] = {
		"read", "read", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Incoming, read by the process [B]."
	},
	[SHUFFLE_A_MSG_GAPS] = {
		"gaps", "gaps", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Incoming, gaps in what has been received."
	},
	[SHUFFLE_A_MSG_RESENDS] = {
		"resends", "resends", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Times that it was late, or that an acknowledgment was asked for."
	},
	[SHUFFLE_A_MSG_BEHIND] = {
		"behind", "behind", SHUFFLE_ATTR_U64, false, "ns",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Time since its last progress [ns]."
	},
	[SHUFFLE_A_MSG_RESEND_WAIT] = {
		"resend-wait", "resend_wait", SHUFFLE_ATTR_U64, false, "ns",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Wait until the other member is asked (again) [ns]."
	},
};

const struct shuffle_attr_set shuffle_attr_set_msg = {
	"msg", sizeof(set_msg) / sizeof(set_msg[0]), set_msg
};

static const struct shuffle_attr set_peer[] = {
	[SHUFFLE_A_PEER_IPV4] = {
		"ipv4", "ipv4", SHUFFLE_ATTR_IPV4, false, NULL,
		NULL, NULL,
		4ULL, 4ULL,
		"Its address, if it is an IPv4 address."
	},
	[SHUFFLE_A_PEER_IPV6] = {
		"ipv6", "ipv6", SHUFFLE_ATTR_IPV6, false, NULL,
		NULL, NULL,
		16ULL, 16ULL,
		"Its address, if it is an IPv6 address."
	},
	[SHUFFLE_A_PEER_IFINDEX] = {
		"ifindex", "ifindex", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Device by which it is reached; the scope of a link-local address."
	},
	[SHUFFLE_A_PEER_MEMBERS] = {
		"members", "members", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Members on this host, over all groups of the namespace."
	},
	[SHUFFLE_A_PEER_PATH_MTU] = {
		"path-mtu", "path_mtu", SHUFFLE_ATTR_U32, false, "B",
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Path MTU [B]; absent without a route."
	},
	[SHUFFLE_A_PEER_RTT_MIN] = {
		"rtt-min", "rtt_min", SHUFFLE_ATTR_U64, false, "ns",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Least round-trip time measured [ns]; absent before the first."
	},
	[SHUFFLE_A_PEER_RTT] = {
		"rtt", "rtt", SHUFFLE_ATTR_U64, false, "ns",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Smoothed time from a grant, or announcement, to its answer [ns]."
	},
	[SHUFFLE_A_PEER_TX_BYTES] = {
		"tx-bytes", "tx_bytes", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Payload sent to it [B]."
	},
	[SHUFFLE_A_PEER_RX_BYTES] = {
		"rx-bytes", "rx_bytes", SHUFFLE_ATTR_U64, false, "B",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"New payload received from it [B]."
	},
	[SHUFFLE_A_PEER_RX_RATE] = {
		"rx-rate", "rx_rate", SHUFFLE_ATTR_U64, false, "B/s",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Rate at which it last delivered, over some milliseconds [B/s]."
	},
	[SHUFFLE_A_PEER_RESENDS_OUT] = {
		"resends-out", "resends_out", SHUFFLE_ATTR_U64, false, NULL,
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"RESENDs sent to it."
	},
	[SHUFFLE_A_PEER_RESENDS_IN] = {
		"resends-in", "resends_in", SHUFFLE_ATTR_U64, false, NULL,
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"RESENDs received from it."
	},
	[SHUFFLE_A_PEER_HEARD] = {
		"heard", "heard", SHUFFLE_ATTR_U64, false, "ns",
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Time since data last came from it [ns]; absent if none did."
	},
};

const struct shuffle_attr_set shuffle_attr_set_peer = {
	"peer", sizeof(set_peer) / sizeof(set_peer[0]), set_peer
};

static const struct shuffle_attr set_socket[] = {
	[SHUFFLE_A_SOCKET_SOCKET] = {
		"socket", "socket", SHUFFLE_ATTR_U64, false, NULL,
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Cookie of the socket, unique on this machine."
	},
	[SHUFFLE_A_SOCKET_INODE] = {
		"inode", "inode", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Inode, as in /proc/PID/fd."
	},
	[SHUFFLE_A_SOCKET_UID] = {
		"uid", "uid", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"User that owns it."
	},
	[SHUFFLE_A_SOCKET_IPV4] = {
		"ipv4", "ipv4", SHUFFLE_ATTR_IPV4, false, NULL,
		NULL, NULL,
		4ULL, 4ULL,
		"Address that it is bound to, if it is an IPv4 address."
	},
	[SHUFFLE_A_SOCKET_IPV6] = {
		"ipv6", "ipv6", SHUFFLE_ATTR_IPV6, false, NULL,
		NULL, NULL,
		16ULL, 16ULL,
		"Address that it is bound to, if it is an IPv6 address."
	},
	[SHUFFLE_A_SOCKET_PORT] = {
		"port", "port", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Shuffle port that it is bound to."
	},
	[SHUFFLE_A_SOCKET_RANK] = {
		"rank", "rank", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Its rank; absent without a group."
	},
	[SHUFFLE_A_SOCKET_MEMBERS] = {
		"members", "members", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Members of its group; absent without one."
	},
	[SHUFFLE_A_SOCKET_OPS] = {
		"ops", "ops", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Operations, ended ones that have not been read included."
	},
	[SHUFFLE_A_SOCKET_RCVBUF] = {
		"rcvbuf", "rcvbuf", SHUFFLE_ATTR_U32, false, "B",
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Limit of received data, SO_RCVBUF [B]."
	},
	[SHUFFLE_A_SOCKET_RCV_USED] = {
		"rcv-used", "rcv_used", SHUFFLE_ATTR_U32, false, "B",
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Of this in use [B]."
	},
	[SHUFFLE_A_SOCKET_SNDBUF] = {
		"sndbuf", "sndbuf", SHUFFLE_ATTR_U32, false, "B",
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Limit of data to send, SO_SNDBUF [B]."
	},
	[SHUFFLE_A_SOCKET_SND_USED] = {
		"snd-used", "snd_used", SHUFFLE_ATTR_U32, false, "B",
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Of this in use [B]."
	},
	[SHUFFLE_A_SOCKET_MARK] = {
		"mark", "mark", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"SO_MARK; for those with CAP_NET_ADMIN."
	},
	[SHUFFLE_A_SOCKET_PRIORITY] = {
		"priority", "priority", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"SO_PRIORITY."
	},
	[SHUFFLE_A_SOCKET_IFINDEX] = {
		"ifindex", "ifindex", SHUFFLE_ATTR_U32, false, NULL,
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Device that it is bound to, SO_BINDTODEVICE; absent without one."
	},
	[SHUFFLE_A_SOCKET_IDLE_TIMEOUT] = {
		"idle-timeout", "idle_timeout", SHUFFLE_ATTR_U32, false, "ms",
		NULL, NULL,
		0ULL, 4294967295ULL,
		"Idle timeout of its operations [ms]; 0 none."
	},
	[SHUFFLE_A_SOCKET_PRESSURE] = {
		"pressure", "pressure", SHUFFLE_ATTR_U8, false, NULL,
		NULL, NULL,
		0ULL, 255ULL,
		"1 while memory holds grants back, otherwise 0."
	},
	[SHUFFLE_A_SOCKET_LOCAL] = {
		"local", "local", SHUFFLE_ATTR_NEST, true, NULL,
		NULL, &shuffle_attr_set_socket_local,
		0ULL, 0ULL,
		"The addresses that its group gives it, that to which it is bound first; absent if that is the only one."
	},
};

const struct shuffle_attr_set shuffle_attr_set_socket = {
	"socket", sizeof(set_socket) / sizeof(set_socket[0]), set_socket
};

static const struct shuffle_attr set_socket_local[] = {
	[SHUFFLE_A_SOCKET_LOCAL_IPV4] = {
		"ipv4", "ipv4", SHUFFLE_ATTR_IPV4, false, NULL,
		NULL, NULL,
		4ULL, 4ULL,
		"The address, if it is an IPv4 address."
	},
	[SHUFFLE_A_SOCKET_LOCAL_IPV6] = {
		"ipv6", "ipv6", SHUFFLE_ATTR_IPV6, false, NULL,
		NULL, NULL,
		16ULL, 16ULL,
		"The address, if it is an IPv6 address."
	},
};

const struct shuffle_attr_set shuffle_attr_set_socket_local = {
	"socket-local", sizeof(set_socket_local) / sizeof(set_socket_local[0]), set_socket_local
};

static const struct shuffle_attr set_stat[] = {
	[SHUFFLE_A_STAT_NAME] = {
		"name", "name", SHUFFLE_ATTR_STRING, false, NULL,
		NULL, NULL,
		0ULL, 31ULL,
		"Its name, as in /proc/net/shuffle/netstat."
	},
	[SHUFFLE_A_STAT_VALUE] = {
		"value", "value", SHUFFLE_ATTR_U64, false, NULL,
		NULL, NULL,
		0ULL, 18446744073709551615ULL,
		"Its value."
	},
	[SHUFFLE_A_STAT_DOC] = {
		"doc", "doc", SHUFFLE_ATTR_STRING, false, NULL,
		NULL, NULL,
		0ULL, 0ULL,
		"What it counts."
	},
};

const struct shuffle_attr_set shuffle_attr_set_stat = {
	"stat", sizeof(set_stat) / sizeof(set_stat[0]), set_stat
};

static const unsigned int config_get_request[] = {
	SHUFFLE_A_CONFIG_IFINDEX,
};

static const unsigned int config_get_reply[] = {
	SHUFFLE_A_CONFIG_IFINDEX,
	SHUFFLE_A_CONFIG_IFNAME,
	SHUFFLE_A_CONFIG_FAMILY,
	SHUFFLE_A_CONFIG_WIRE_VERSION,
	SHUFFLE_A_CONFIG_LINK_RATE_NOW,
	SHUFFLE_A_CONFIG_RTT_NOW,
	SHUFFLE_A_CONFIG_RTT_BYTES_NOW,
	SHUFFLE_A_CONFIG_MEM_USED,
	SHUFFLE_A_CONFIG_OWN,
	SHUFFLE_A_CONFIG_OVERCOMMIT,
	SHUFFLE_A_CONFIG_WINDOW_MODE,
	SHUFFLE_A_CONFIG_SCALE_BACK_EXPONENT,
	SHUFFLE_A_CONFIG_UNSCHEDULED,
	SHUFFLE_A_CONFIG_LINK_RATE,
	SHUFFLE_A_CONFIG_RTT,
	SHUFFLE_A_CONFIG_RTT_BYTES,
	SHUFFLE_A_CONFIG_PACKET_SIZE,
	SHUFFLE_A_CONFIG_CONTROL_DSCP,
	SHUFFLE_A_CONFIG_RESEND_FIRST,
	SHUFFLE_A_CONFIG_RESEND_MIN,
	SHUFFLE_A_CONFIG_RESEND_MAX,
	SHUFFLE_A_CONFIG_OP_ORDER,
	SHUFFLE_A_CONFIG_GIVE_WAY,
	SHUFFLE_A_CONFIG_PORT,
	SHUFFLE_A_CONFIG_EGRESS_BYTES,
	SHUFFLE_A_CONFIG_EARLY_BYTES,
	SHUFFLE_A_CONFIG_EARLY_EXPIRY,
	SHUFFLE_A_CONFIG_FINISHED_MAX,
	SHUFFLE_A_CONFIG_FINISHED_EXPIRY,
	SHUFFLE_A_CONFIG_IDLE_TIMEOUT,
	SHUFFLE_A_CONFIG_SNDBUF,
	SHUFFLE_A_CONFIG_RCVBUF,
	SHUFFLE_A_CONFIG_ECHO,
	SHUFFLE_A_CONFIG_ECHO_RATE,
	SHUFFLE_A_CONFIG_MEM_MAX,
};

static const unsigned int config_set_request[] = {
	SHUFFLE_A_CONFIG_IFINDEX,
	SHUFFLE_A_CONFIG_UNSET,
	SHUFFLE_A_CONFIG_OVERCOMMIT,
	SHUFFLE_A_CONFIG_WINDOW_MODE,
	SHUFFLE_A_CONFIG_SCALE_BACK_EXPONENT,
	SHUFFLE_A_CONFIG_UNSCHEDULED,
	SHUFFLE_A_CONFIG_LINK_RATE,
	SHUFFLE_A_CONFIG_RTT,
	SHUFFLE_A_CONFIG_RTT_BYTES,
	SHUFFLE_A_CONFIG_PACKET_SIZE,
	SHUFFLE_A_CONFIG_CONTROL_DSCP,
	SHUFFLE_A_CONFIG_RESEND_FIRST,
	SHUFFLE_A_CONFIG_RESEND_MIN,
	SHUFFLE_A_CONFIG_RESEND_MAX,
	SHUFFLE_A_CONFIG_OP_ORDER,
	SHUFFLE_A_CONFIG_GIVE_WAY,
	SHUFFLE_A_CONFIG_PORT,
	SHUFFLE_A_CONFIG_EGRESS_BYTES,
	SHUFFLE_A_CONFIG_EARLY_BYTES,
	SHUFFLE_A_CONFIG_EARLY_EXPIRY,
	SHUFFLE_A_CONFIG_FINISHED_MAX,
	SHUFFLE_A_CONFIG_FINISHED_EXPIRY,
	SHUFFLE_A_CONFIG_IDLE_TIMEOUT,
	SHUFFLE_A_CONFIG_SNDBUF,
	SHUFFLE_A_CONFIG_RCVBUF,
	SHUFFLE_A_CONFIG_ECHO,
	SHUFFLE_A_CONFIG_ECHO_RATE,
	SHUFFLE_A_CONFIG_MEM_MAX,
};

static const unsigned int config_ntf_reply[] = {
	SHUFFLE_A_CONFIG_IFINDEX,
	SHUFFLE_A_CONFIG_IFNAME,
	SHUFFLE_A_CONFIG_FAMILY,
	SHUFFLE_A_CONFIG_WIRE_VERSION,
	SHUFFLE_A_CONFIG_LINK_RATE_NOW,
	SHUFFLE_A_CONFIG_RTT_NOW,
	SHUFFLE_A_CONFIG_RTT_BYTES_NOW,
	SHUFFLE_A_CONFIG_MEM_USED,
	SHUFFLE_A_CONFIG_OWN,
	SHUFFLE_A_CONFIG_OVERCOMMIT,
	SHUFFLE_A_CONFIG_WINDOW_MODE,
	SHUFFLE_A_CONFIG_SCALE_BACK_EXPONENT,
	SHUFFLE_A_CONFIG_UNSCHEDULED,
	SHUFFLE_A_CONFIG_LINK_RATE,
	SHUFFLE_A_CONFIG_RTT,
	SHUFFLE_A_CONFIG_RTT_BYTES,
	SHUFFLE_A_CONFIG_PACKET_SIZE,
	SHUFFLE_A_CONFIG_CONTROL_DSCP,
	SHUFFLE_A_CONFIG_RESEND_FIRST,
	SHUFFLE_A_CONFIG_RESEND_MIN,
	SHUFFLE_A_CONFIG_RESEND_MAX,
	SHUFFLE_A_CONFIG_OP_ORDER,
	SHUFFLE_A_CONFIG_GIVE_WAY,
	SHUFFLE_A_CONFIG_PORT,
	SHUFFLE_A_CONFIG_EGRESS_BYTES,
	SHUFFLE_A_CONFIG_EARLY_BYTES,
	SHUFFLE_A_CONFIG_EARLY_EXPIRY,
	SHUFFLE_A_CONFIG_FINISHED_MAX,
	SHUFFLE_A_CONFIG_FINISHED_EXPIRY,
	SHUFFLE_A_CONFIG_IDLE_TIMEOUT,
	SHUFFLE_A_CONFIG_SNDBUF,
	SHUFFLE_A_CONFIG_RCVBUF,
	SHUFFLE_A_CONFIG_ECHO,
	SHUFFLE_A_CONFIG_ECHO_RATE,
	SHUFFLE_A_CONFIG_MEM_MAX,
};

static const unsigned int op_get_request[] = {
	SHUFFLE_A_OP_OP_ID,
	SHUFFLE_A_OP_SOCKET,
};

static const unsigned int op_get_reply[] = {
	SHUFFLE_A_OP_OP_ID,
	SHUFFLE_A_OP_SOCKET,
	SHUFFLE_A_OP_INODE,
	SHUFFLE_A_OP_UID,
	SHUFFLE_A_OP_STATE,
	SHUFFLE_A_OP_ERROR,
	SHUFFLE_A_OP_RANK,
	SHUFFLE_A_OP_MEMBERS,
	SHUFFLE_A_OP_STEPS,
	SHUFFLE_A_OP_STEP,
	SHUFFLE_A_OP_IFINDEX,
	SHUFFLE_A_OP_AGE,
	SHUFFLE_A_OP_IDLE,
	SHUFFLE_A_OP_DEADLINE,
	SHUFFLE_A_OP_TX_BYTES,
	SHUFFLE_A_OP_TX_COPIED,
	SHUFFLE_A_OP_TX_SENT,
	SHUFFLE_A_OP_TX_LEFT,
	SHUFFLE_A_OP_TX_GRANTED,
	SHUFFLE_A_OP_TX_MESSAGES,
	SHUFFLE_A_OP_TX_ACKED,
	SHUFFLE_A_OP_RX_BYTES,
	SHUFFLE_A_OP_RX_RECEIVED,
	SHUFFLE_A_OP_RX_LEFT,
	SHUFFLE_A_OP_RX_GRANTED,
	SHUFFLE_A_OP_RX_MESSAGES,
	SHUFFLE_A_OP_RX_COMPLETE,
	SHUFFLE_A_OP_RESENDS,
	SHUFFLE_A_OP_RTT,
	SHUFFLE_A_OP_RESEND_WAIT,
	SHUFFLE_A_OP_LOWER_BOUND,
	SHUFFLE_A_OP_DURATION,
	SHUFFLE_A_OP_SLOWDOWN,
};

static const unsigned int op_cancel_request[] = {
	SHUFFLE_A_OP_OP_ID,
	SHUFFLE_A_OP_SOCKET,
};

static const unsigned int op_cancel_reply[] = {
	SHUFFLE_A_OP_OP_ID,
	SHUFFLE_A_OP_COUNT,
};

static const unsigned int op_started_ntf_reply[] = {
	SHUFFLE_A_OP_OP_ID,
	SHUFFLE_A_OP_SOCKET,
	SHUFFLE_A_OP_INODE,
	SHUFFLE_A_OP_UID,
	SHUFFLE_A_OP_RANK,
	SHUFFLE_A_OP_MEMBERS,
	SHUFFLE_A_OP_STEPS,
	SHUFFLE_A_OP_STEP,
	SHUFFLE_A_OP_IFINDEX,
	SHUFFLE_A_OP_DEADLINE,
};

static const unsigned int op_finished_ntf_reply[] = {
	SHUFFLE_A_OP_OP_ID,
	SHUFFLE_A_OP_SOCKET,
	SHUFFLE_A_OP_INODE,
	SHUFFLE_A_OP_UID,
	SHUFFLE_A_OP_RANK,
	SHUFFLE_A_OP_MEMBERS,
	SHUFFLE_A_OP_STEPS,
	SHUFFLE_A_OP_STEP,
	SHUFFLE_A_OP_IFINDEX,
	SHUFFLE_A_OP_TX_BYTES,
	SHUFFLE_A_OP_RX_BYTES,
	SHUFFLE_A_OP_RESENDS,
	SHUFFLE_A_OP_LOWER_BOUND,
	SHUFFLE_A_OP_DURATION,
	SHUFFLE_A_OP_SLOWDOWN,
};

static const unsigned int op_failed_ntf_reply[] = {
	SHUFFLE_A_OP_OP_ID,
	SHUFFLE_A_OP_SOCKET,
	SHUFFLE_A_OP_INODE,
	SHUFFLE_A_OP_UID,
	SHUFFLE_A_OP_ERROR,
	SHUFFLE_A_OP_RANK,
	SHUFFLE_A_OP_MEMBERS,
	SHUFFLE_A_OP_STEPS,
	SHUFFLE_A_OP_STEP,
	SHUFFLE_A_OP_IFINDEX,
	SHUFFLE_A_OP_TX_BYTES,
	SHUFFLE_A_OP_RX_BYTES,
	SHUFFLE_A_OP_TX_SENT,
	SHUFFLE_A_OP_RX_RECEIVED,
	SHUFFLE_A_OP_RESENDS,
	SHUFFLE_A_OP_DURATION,
	SHUFFLE_A_OP_MISSING_IN,
	SHUFFLE_A_OP_MISSING_ACK,
	SHUFFLE_A_OP_MISSING_IN_COUNT,
	SHUFFLE_A_OP_MISSING_ACK_COUNT,
};

static const unsigned int msg_get_request[] = {
	SHUFFLE_A_MSG_OP_ID,
	SHUFFLE_A_MSG_SOCKET,
	SHUFFLE_A_MSG_DIRECTION,
	SHUFFLE_A_MSG_RANK,
};

static const unsigned int msg_get_reply[] = {
	SHUFFLE_A_MSG_OP_ID,
	SHUFFLE_A_MSG_SOCKET,
	SHUFFLE_A_MSG_DIRECTION,
	SHUFFLE_A_MSG_RANK,
	SHUFFLE_A_MSG_IPV4,
	SHUFFLE_A_MSG_IPV6,
	SHUFFLE_A_MSG_PORT,
	SHUFFLE_A_MSG_STATE,
	SHUFFLE_A_MSG_LENGTH,
	SHUFFLE_A_MSG_GRANTED,
	SHUFFLE_A_MSG_DONE,
	SHUFFLE_A_MSG_LEFT,
	SHUFFLE_A_MSG_PREFIX,
	SHUFFLE_A_MSG_READ,
	SHUFFLE_A_MSG_GAPS,
	SHUFFLE_A_MSG_RESENDS,
	SHUFFLE_A_MSG_BEHIND,
	SHUFFLE_A_MSG_RESEND_WAIT,
};

static const unsigned int msg_straggler_ntf_reply[] = {
	SHUFFLE_A_MSG_OP_ID,
	SHUFFLE_A_MSG_SOCKET,
	SHUFFLE_A_MSG_DIRECTION,
	SHUFFLE_A_MSG_RANK,
	SHUFFLE_A_MSG_IPV4,
	SHUFFLE_A_MSG_IPV6,
	SHUFFLE_A_MSG_PORT,
	SHUFFLE_A_MSG_STATE,
	SHUFFLE_A_MSG_LENGTH,
	SHUFFLE_A_MSG_GRANTED,
	SHUFFLE_A_MSG_DONE,
	SHUFFLE_A_MSG_LEFT,
	SHUFFLE_A_MSG_RESENDS,
	SHUFFLE_A_MSG_BEHIND,
	SHUFFLE_A_MSG_RESEND_WAIT,
};

static const unsigned int peer_get_request[] = {
	SHUFFLE_A_PEER_IPV4,
	SHUFFLE_A_PEER_IPV6,
	SHUFFLE_A_PEER_IFINDEX,
};

static const unsigned int peer_get_reply[] = {
	SHUFFLE_A_PEER_IPV4,
	SHUFFLE_A_PEER_IPV6,
	SHUFFLE_A_PEER_IFINDEX,
	SHUFFLE_A_PEER_MEMBERS,
	SHUFFLE_A_PEER_PATH_MTU,
	SHUFFLE_A_PEER_RTT_MIN,
	SHUFFLE_A_PEER_RTT,
	SHUFFLE_A_PEER_TX_BYTES,
	SHUFFLE_A_PEER_RX_BYTES,
	SHUFFLE_A_PEER_RX_RATE,
	SHUFFLE_A_PEER_RESENDS_OUT,
	SHUFFLE_A_PEER_RESENDS_IN,
	SHUFFLE_A_PEER_HEARD,
};

static const unsigned int socket_get_request[] = {
	SHUFFLE_A_SOCKET_SOCKET,
};

static const unsigned int socket_get_reply[] = {
	SHUFFLE_A_SOCKET_SOCKET,
	SHUFFLE_A_SOCKET_INODE,
	SHUFFLE_A_SOCKET_UID,
	SHUFFLE_A_SOCKET_IPV4,
	SHUFFLE_A_SOCKET_IPV6,
	SHUFFLE_A_SOCKET_PORT,
	SHUFFLE_A_SOCKET_RANK,
	SHUFFLE_A_SOCKET_MEMBERS,
	SHUFFLE_A_SOCKET_OPS,
	SHUFFLE_A_SOCKET_RCVBUF,
	SHUFFLE_A_SOCKET_RCV_USED,
	SHUFFLE_A_SOCKET_SNDBUF,
	SHUFFLE_A_SOCKET_SND_USED,
	SHUFFLE_A_SOCKET_MARK,
	SHUFFLE_A_SOCKET_PRIORITY,
	SHUFFLE_A_SOCKET_IFINDEX,
	SHUFFLE_A_SOCKET_IDLE_TIMEOUT,
	SHUFFLE_A_SOCKET_PRESSURE,
	SHUFFLE_A_SOCKET_LOCAL,
};

static const unsigned int socket_pressure_ntf_reply[] = {
	SHUFFLE_A_SOCKET_SOCKET,
	SHUFFLE_A_SOCKET_INODE,
	SHUFFLE_A_SOCKET_UID,
	SHUFFLE_A_SOCKET_IPV4,
	SHUFFLE_A_SOCKET_IPV6,
	SHUFFLE_A_SOCKET_PORT,
	SHUFFLE_A_SOCKET_RCVBUF,
	SHUFFLE_A_SOCKET_RCV_USED,
	SHUFFLE_A_SOCKET_PRESSURE,
};

static const unsigned int stats_get_request[] = {
	SHUFFLE_A_STAT_NAME,
};

static const unsigned int stats_get_reply[] = {
	SHUFFLE_A_STAT_NAME,
	SHUFFLE_A_STAT_VALUE,
	SHUFFLE_A_STAT_DOC,
};

const struct shuffle_attr_op shuffle_attr_ops[] = {
	{
		"config-get", SHUFFLE_CMD_CONFIG_GET, &shuffle_attr_set_config,
		NULL, true,
		1, config_get_request,
		35, config_get_reply,
		"Settings of the namespace, or of a device. The dump has the namespace first, then every device that has settings of its own or that operations have used."
	},
	{
		"config-set", SHUFFLE_CMD_CONFIG_SET, &shuffle_attr_set_config,
		NULL, false,
		28, config_set_request,
		0, NULL,
		"Change settings of the namespace, or of a device. All of them or none takes effect; running operations follow except in op-order and what is laid out in packets already."
	},
	{
		"config-ntf", SHUFFLE_CMD_CONFIG_NTF, &shuffle_attr_set_config,
		"config", false,
		0, NULL,
		35, config_ntf_reply,
		"Settings have changed; what they are now."
	},
	{
		"op-get", SHUFFLE_CMD_OP_GET, &shuffle_attr_set_op,
		NULL, true,
		2, op_get_request,
		33, op_get_reply,
		"An operation, or all. Several sockets of a namespace can take part in one operation; socket picks one of them."
	},
	{
		"op-cancel", SHUFFLE_CMD_OP_CANCEL, &shuffle_attr_set_op,
		NULL, false,
		2, op_cancel_request,
		2, op_cancel_reply,
		"End an operation with ECANCELED at every socket of the namespace that runs it, or at one. Other hosts are not told. Replies with the number of sockets at which it was running."
	},
	{
		"op-started-ntf", SHUFFLE_CMD_OP_STARTED_NTF, &shuffle_attr_set_op,
		"ops", false,
		0, NULL,
		10, op_started_ntf_reply,
		"An operation has started here."
	},
	{
		"op-finished-ntf", SHUFFLE_CMD_OP_FINISHED_NTF, &shuffle_attr_set_op,
		"ops", false,
		0, NULL,
		15, op_finished_ntf_reply,
		"An operation is complete here, all received and all acknowledged."
	},
	{
		"op-failed-ntf", SHUFFLE_CMD_OP_FAILED_NTF, &shuffle_attr_set_op,
		"ops", false,
		0, NULL,
		20, op_failed_ntf_reply,
		"An operation has failed here or was cancelled, and which ranks are missing."
	},
	{
		"msg-get", SHUFFLE_CMD_MSG_GET, &shuffle_attr_set_msg,
		NULL, true,
		4, msg_get_request,
		18, msg_get_reply,
		"One message of an operation, or all of them. op-id is required; socket is if several sockets of the namespace take part in the operation."
	},
	{
		"msg-straggler-ntf", SHUFFLE_CMD_MSG_STRAGGLER_NTF, &shuffle_attr_set_msg,
		"ops", false,
		0, NULL,
		15, msg_straggler_ntf_reply,
		"A message falls behind. Its sender has kept this host waiting twice in a row while the rest of the operation went on. Once a message, until it makes progress."
	},
	{
		"peer-get", SHUFFLE_CMD_PEER_GET, &shuffle_attr_set_peer,
		NULL, true,
		3, peer_get_request,
		13, peer_get_reply,
		"A host that members of groups are on, or all."
	},
	{
		"socket-get", SHUFFLE_CMD_SOCKET_GET, &shuffle_attr_set_socket,
		NULL, true,
		1, socket_get_request,
		19, socket_get_reply,
		"A socket, or all."
	},
	{
		"socket-pressure-ntf", SHUFFLE_CMD_SOCKET_PRESSURE_NTF, &shuffle_attr_set_socket,
		"memory", false,
		0, NULL,
		9, socket_pressure_ntf_reply,
		"Memory holds the grants of a socket back; once a second at most."
	},
	{
		"stats-get", SHUFFLE_CMD_STATS_GET, &shuffle_attr_set_stat,
		NULL, true,
		1, stats_get_request,
		3, stats_get_reply,
		"A counter of the namespace by its name, or all."
	},
};

const unsigned int shuffle_attr_n_ops =
	sizeof(shuffle_attr_ops) / sizeof(shuffle_attr_ops[0]);
