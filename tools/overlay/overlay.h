/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Overlays: what the programs in the kernel (overlay.bpf.c) and shufflectl share.
 *
 * A packet to a member that is more than one hop away goes in a packet to the next server:
 *
 *   IP      addresses of the link; time to live: the hops that are left
 *   UDP     ports of the packet inside; no checksum: that one has its own
 *   struct overlay_header, filter in words of 64 bits, big-endian
 *   the packet as the member's kernel has made it: IP, UDP, records
 */
#ifndef SHUFFLE_OVERLAY_H
#define SHUFFLE_OVERLAY_H

#include <linux/types.h>

/* Where no record has its version and type: version 3, type 7. */
#define OVERLAY_MAGIC		0x37
/* A server of a BCube has dozens, whatever its size. */
#define OVERLAY_NEIGHBOURS	256
/* Members of a group. */
#define OVERLAY_WAYS		4096
#define OVERLAY_OWN		1024
#define OVERLAY_LINKS		OVERLAY_NEIGHBOURS
/* A way there and back in the largest BCube, and some more. */
#define OVERLAY_HOPS		64
/* Of a filter; tools/topo/bloom.h has the same. */
#define OVERLAY_BITS		1024
#define OVERLAY_WORDS		(OVERLAY_BITS / 64)
#define OVERLAY_HASHES		32
/* Source ports of shuffle traffic, which only privileged programs may use. */
#define OVERLAY_PORT_FIRST	768
#define OVERLAY_PORTS		256

/**
 * struct overlay_header - between UDP and the filter
 * @magic: OVERLAY_MAGIC
 * @flags: 0
 * @hashes: bits of each hop: 1 to OVERLAY_HASHES
 * @salt: makes other bits of the same hops
 * @bits: of the filter, big-endian: 1 to OVERLAY_BITS
 * @zero: 0
 */
struct overlay_header {
	__u8	magic;
	__u8	flags;
	__u8	hashes;
	__u8	salt;
	__be16	bits;
	__be16	zero;
};

/**
 * struct overlay_addr - an address, as a key
 * @byte: it; IPv4: the first four, the others are 0
 * @v6: 1: IPv6
 * @pad: 0
 */
struct overlay_addr {
	__u8	byte[16];
	__u8	v6;
	__u8	pad[3];
};

/**
 * struct overlay_settings - of all
 * @server: our number in the topology
 * @neighbours: their number
 * @port: UDP port of shuffle traffic, big-endian
 * @control_tos: traffic class of packets that go first
 * @pad: 0
 */
struct overlay_settings {
	__u32	server;
	__u32	neighbours;
	__be16	port;
	__u8	control_tos;
	__u8	pad;
};

/**
 * struct overlay_neighbour - a server to which packets can be passed on
 * @server: its number in the topology
 * @ifindex: the device of the link to it
 * @addr: its address there
 * @local: ours
 */
struct overlay_neighbour {
	__u32			server;
	__u32			ifindex;
	struct overlay_addr	addr;
	struct overlay_addr	local;
};

/**
 * struct overlay_way - a way to a member, whose address is the key
 * @via: index of the first neighbour
 * @bits: of the filter
 * @hops: a packet takes no more than these
 * @hashes: bits of each hop
 * @salt: of the filter
 * @pad: 0
 * @filter: words, big-endian
 */
struct overlay_way {
	__u32	via;
	__u16	bits;
	__u8	hops;
	__u8	hashes;
	__u8	salt;
	__u8	pad[3];
	__u8	filter[OVERLAY_WORDS * 8];
};

/**
 * enum overlay_counter - what is counted, in datagrams
 * @OVERLAY_SENT: own, that were given a way
 * @OVERLAY_TAKEN: that had come to the end of their way
 * @OVERLAY_PASSED_ON: sent to the next server on their way
 * @OVERLAY_PATH_AMBIGUOUS: dropped: several neighbours are in the filter
 * @OVERLAY_DROP_NO_HOP: dropped: no neighbour is in the filter
 * @OVERLAY_DROP_HOPS: dropped: no hops are left, or more than OVERLAY_HOPS
 * @OVERLAY_DROP_NEIGHBOUR: dropped: not from a neighbour
 * @OVERLAY_DROP_MEMBER: dropped: from one that there is no way to
 * @OVERLAY_DROP_SOURCE: dropped: from the port of an unprivileged program
 * @OVERLAY_DROP_MALFORMED: dropped: no such header, or not of shuffle traffic
 * @OVERLAY_DROP_ROOM: dropped: no memory for the header
 * @OVERLAY_N_COUNTERS: their number
 */
enum overlay_counter {
	OVERLAY_SENT,
	OVERLAY_TAKEN,
	OVERLAY_PASSED_ON,
	OVERLAY_PATH_AMBIGUOUS,
	OVERLAY_DROP_NO_HOP,
	OVERLAY_DROP_HOPS,
	OVERLAY_DROP_NEIGHBOUR,
	OVERLAY_DROP_MEMBER,
	OVERLAY_DROP_SOURCE,
	OVERLAY_DROP_MALFORMED,
	OVERLAY_DROP_ROOM,
	OVERLAY_N_COUNTERS,
};

#endif
