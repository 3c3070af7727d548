/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* sock_diag of AF_SHUFFLE: NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY. */
#ifndef _UAPI_LINUX_SHUFFLE_DIAG_H
#define _UAPI_LINUX_SHUFFLE_DIAG_H

#include <linux/types.h>

/* shdiag_state; a bit of shdiag_states each: 1 << state */
enum {
	SHUFFLE_DIAG_STATE_UNBOUND,	/* no address */
	SHUFFLE_DIAG_STATE_BOUND,	/* no group */
	SHUFFLE_DIAG_STATE_JOINED,	/* no operation runs */
	SHUFFLE_DIAG_STATE_BUSY,	/* operations run */
	SHUFFLE_DIAG_STATES,
};

/**
 * struct shuffle_diag_req - which sockets
 * @sdiag_family: AF_SHUFFLE; /proc/net/shuffle/family names the number in use
 * @sdiag_protocol: zero
 * @pad: zero
 * @shdiag_states: with NLM_F_DUMP: sockets in these states
 * @shdiag_ino: without NLM_F_DUMP: the socket with this inode
 * @shdiag_cookie: and this cookie; all ones for any
 */
struct shuffle_diag_req {
	__u8	sdiag_family;
	__u8	sdiag_protocol;
	__u16	pad;
	__u32	shdiag_states;
	__u32	shdiag_ino;
	__u32	shdiag_cookie[2];
};

/**
 * struct shuffle_diag_msg - a socket; attributes SHUFFLE_DIAG_* follow
 * @shdiag_family: as in the request
 * @shdiag_type: SOCK_SEQPACKET
 * @shdiag_state: SHUFFLE_DIAG_STATE_*
 * @shdiag_ip_family: AF_INET, AF_INET6, or 0 without an address
 * @shdiag_ino: inode
 * @shdiag_cookie: unique on this machine
 * @shdiag_uid: owner, in the reader's user namespace
 * @shdiag_rqueue: received data that has not been read, bytes of memory
 * @shdiag_wqueue: data that has not been acknowledged, bytes of memory
 * @shdiag_ops: operations
 * @shdiag_ifindex: device that it is bound to, 0 none
 * @shdiag_rank: its rank
 * @shdiag_members: members of its group, 0 without one
 * @shdiag_port: shuffle port, network byte order
 * @pad: zero
 * @shdiag_addr: address, network byte order; IPv4 in the first 4 bytes
 */
struct shuffle_diag_msg {
	__u8	shdiag_family;
	__u8	shdiag_type;
	__u8	shdiag_state;
	__u8	shdiag_ip_family;
	__u32	shdiag_ino;
	__u32	shdiag_cookie[2];
	__u32	shdiag_uid;
	__u32	shdiag_rqueue;
	__u32	shdiag_wqueue;
	__u32	shdiag_ops;
	__u32	shdiag_ifindex;
	__u32	shdiag_rank;
	__u32	shdiag_members;
	__be16	shdiag_port;
	__u16	pad;
	__u8	shdiag_addr[16];
};

enum {
	SHUFFLE_DIAG_NONE,
	SHUFFLE_DIAG_MEMINFO,	/* __u32[SK_MEMINFO_VARS] */
	SHUFFLE_DIAG_SHUTDOWN,	/* __u8, as of the other families */

	__SHUFFLE_DIAG_MAX,
};

#define SHUFFLE_DIAG_MAX	(__SHUFFLE_DIAG_MAX - 1)

#endif /* _UAPI_LINUX_SHUFFLE_DIAG_H */
