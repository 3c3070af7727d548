/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * AF_SHUFFLE: sockets for shuffles.
 *
 * A shuffle is N members, each holding one message for every member.  One
 * socket is one member.  See Documentation/networking/api.rst.
 *
 * How these structures grow.  A program fills in the sizes as it knows them, with
 * sizeof(), and zeroes what it does not use.  A kernel that knows more takes what is
 * not there for zero; one that knows less takes more if it is zero, and otherwise
 * fails with E2BIG.  New fields go behind the others, before what has no fixed
 * length.  The sizes came with version 0.2; nothing here is changed any more but
 * by these rules.
 */
#ifndef _UAPI_LINUX_SHUFFLE_H
#define _UAPI_LINUX_SHUFFLE_H

#include <linux/types.h>
#include <linux/socket.h>

/*
 * The number is borrowed from Ash, which nobody implements; the module
 * parameter "family" moves it.  /proc/net/shuffle/family names the one in use.
 */
#define SHUFFLE_DEFAULT_FAMILY	18
#ifndef AF_SHUFFLE
#define AF_SHUFFLE		SHUFFLE_DEFAULT_FAMILY
#define PF_SHUFFLE		AF_SHUFFLE
#endif

/* Level of socket options and control messages. */
#ifndef SOL_SHUFFLE
#define SOL_SHUFFLE		0x5348
#endif

#define SHUFFLE_MAX_MEMBERS	4096

/**
 * struct sockaddr_shuffle - address of a member: an IP address and a port
 * @shs_family: AF_SHUFFLE
 * @shs_ip_family: AF_INET or AF_INET6
 * @shs_port: shuffle port, network byte order; 0 in bind() picks one
 * @shs_reserved: must be zero
 * @shs_scope_id: interface index of a link-local IPv6 address, otherwise 0
 * @shs_addr: the address, network byte order; IPv4 uses the first 4 bytes and
 *	leaves the others zero
 */
struct sockaddr_shuffle {
	__kernel_sa_family_t	shs_family;
	__u16			shs_ip_family;
	__be16			shs_port;
	__u16			shs_reserved;
	__u32			shs_scope_id;
	__u8			shs_addr[16];
};

/* Socket options, level SOL_SHUFFLE */
enum {
	/* get, set: struct shuffle_group; set only while no operation runs */
	SHUFFLE_GROUP = 1,
	/* set: __u64 operation id; the operation ends with ECANCELED
	 * get: __u64 the one that was cancelled last by this option, 0: none
	 */
	SHUFFLE_CANCEL = 2,
	/* get, set: __u32 ms without any progress until an operation that has
	 * no deadline of its own fails with ETIMEDOUT; 0 waits for ever
	 */
	SHUFFLE_IDLE_TIMEOUT = 3,
	/* set: SHUFFLE_KEY_BYTES bytes, or none to take the key back; for the groups set
	 * from then on.  All members need the same key: records that were not made with
	 * it are dropped.  It cannot be read.
	 */
	SHUFFLE_KEY = 4,
	/* get, set: struct shuffle_multicast, or nothing to take the address back; for the groups
	 * set from then on
	 */
	SHUFFLE_MULTICAST = 6,
};

#define SHUFFLE_KEY_BYTES	16

/**
 * struct shuffle_group - value of the option SHUFFLE_GROUP
 * @size: sizeof(struct shuffle_group): where the members begin, a multiple of 8
 * @member_size: how far they are apart, a multiple of 4: sizeof(struct
 *	sockaddr_shuffle), or sizeof(struct shuffle_edge) where members have more
 *	addresses than one
 * @flags: must be zero
 * @rank: index of this socket in the list of members
 * @count: number of members
 * @reserved: must be zero
 * @members: all members, in the same order everywhere; members[rank] must be
 *	the address that the socket is bound to.  With @member_size of an edge it is
 *	not to be indexed
 *
 * getsockopt() fills in the kernel's own sizes; it has edges if setsockopt() had.
 */
struct shuffle_group {
	__u32			size;
	__u32			member_size;
	__u32			flags;
	__u32			rank;
	__u32			count;
	__u32			reserved;
	struct sockaddr_shuffle	members[];
};

#define SHUFFLE_GROUP_SIZE_VER0		24
#define SHUFFLE_MEMBER_SIZE_VER0	28
#define SHUFFLE_MEMBER_SIZE_VER1	44

/**
 * struct shuffle_edge - a member of a group, and the addresses of the way to it
 * @member: the member, by the address to which our packets go; other members may know it
 *	by others of its addresses
 * @local: our address towards it, 4 or 16 bytes, the rest is 0; all 0: that to which the
 *	socket is bound.  Packets leave with it as their source, and those of the member
 *	are taken if they have come to it
 *
 * A socket has up to SHUFFLE_LOCALS addresses, that to which it is bound among them, all
 * with its port.  IPv6 ones must not be link-local where there are more than one, and
 * SHUFFLE_MULTICAST does not go with them.
 */
struct shuffle_edge {
	struct sockaddr_shuffle	member;
	__u8			local[16];
};

#define SHUFFLE_LOCALS			8

/**
 * struct shuffle_multicast - value of the option SHUFFLE_MULTICAST
 * @size: sizeof(struct shuffle_multicast)
 * @ip_family: AF_INET or AF_INET6, that of the address to which the socket is bound
 * @hops: time to live of packets to @addr; 0 for 1: they stay on the link
 * @reserved: must be zero
 * @scope_id: index of the device by which packets leave and come; 0, or that which has the address
 *	to which the socket is bound
 * @port: port of what is sent there, host byte order, the same at all members; 0 for the socket's
 *	own, which all members must have then
 * @unicast: get: members of the group that do not get them, and to which the data of rows with
 *	SHUFFLE_ROW_SAME goes one by one; set: must be zero
 * @addr: IP multicast address, the same at all members, 4 or 16 bytes, the rest is 0
 *
 * The socket joins @addr.
 */
struct shuffle_multicast {
	__u32	size;
	__u16	ip_family;
	__u8	hops;
	__u8	reserved;
	__u32	scope_id;
	__u16	port;
	__u16	unicast;
	__u8	addr[16];
};

#define SHUFFLE_MULTICAST_SIZE_VER0	32

/* Control messages, level SOL_SHUFFLE */
enum {
	/* sendmsg: struct shuffle_row */
	SHUFFLE_CMSG_ROW = 1,
	/* recvmsg: struct shuffle_records */
	SHUFFLE_CMSG_RECORDS = 2,
	/* sendmsg, beside the first SHUFFLE_CMSG_ROW: struct shuffle_absent */
	SHUFFLE_CMSG_ABSENT = 3,
	/* sendmsg, alone: struct shuffle_collective */
	SHUFFLE_CMSG_COLLECTIVE = 4,
};

/*
 * struct shuffle_row, flags
 *
 * SHUFFLE_ROW_MORE: further ranks of this row are announced by later calls.
 * Without it, ranks not announced by then get an empty message.
 */
#define SHUFFLE_ROW_MORE	(1U << 0)
/*
 * SHUFFLE_ROW_WANT: the call announces messages and brings no data.  Once the whole row
 * is announced and there is room for data, SHUFFLE_RECORD_WANT says which bytes the
 * schedule takes next.  Data of later calls (count = 0) answers these records in the
 * order in which they came; a call may answer several of them, or a part of one.  Its
 * first_rank is the rank of the record with which it goes on, or EINVAL.  More than was
 * asked for: EMSGSIZE.
 */
#define SHUFFLE_ROW_WANT	(1U << 2)
/*
 * SHUFFLE_ROW_DELAYED_ACK: nobody waits for DONE.  Receivers may acknowledge our messages some
 * milliseconds later, with data of theirs, so DONE comes later and there are fewer packets.
 * Read by the first call only.
 */
#define SHUFFLE_ROW_DELAYED_ACK	(1U << 3)
/*
 * SHUFFLE_ROW_SAME: all messages of the row have the same bytes, and the data of the calls is
 * these bytes, once.  They go to the group's multicast address (SHUFFLE_MULTICAST; EOPNOTSUPP
 * without one), at the rate of the slowest receiver; what a member has not got goes to it alone.
 * One call announces all messages: lengths are the same or SHUFFLE_ABSENT, as our own must be.
 * Not with SHUFFLE_ROW_MORE or SHUFFLE_ROW_WANT; up to SHUFFLE_SAME_MEMBERS.
 */
#define SHUFFLE_ROW_SAME	(1U << 4)
#define SHUFFLE_SAME_MEMBERS	256
/*
 * SHUFFLE_ROW_FAIR, SHUFFLE_ROW_SMALLEST, SHUFFLE_ROW_DEADLINE: this operation's order among others
 * that share a link with it, instead of the setting op-order: evenly, by what it has left, or by
 * @deadline_ms.  One of them at most.  It holds for what this member grants and sends, so all
 * members should say the same.  Where several users have sockets, an order that op-order does not
 * say takes CAP_NET_ADMIN.  Read by the first call only; for struct shuffle_collective, too.
 */
#define SHUFFLE_ROW_FAIR	(1U << 5)
#define SHUFFLE_ROW_SMALLEST	(2U << 5)
#define SHUFFLE_ROW_DEADLINE	(3U << 5)
#define SHUFFLE_ROW_ORDER	(3U << 5)	/* the bits of the three */

/*
 * A length: there is no message to this rank.  Nothing is sent, and nothing is waited for.
 * The receiver has to say so, too: SHUFFLE_CMSG_ABSENT.
 */
#define SHUFFLE_ABSENT		(~0ULL)

/**
 * struct shuffle_row - start an operation, or go on with one
 * @size: sizeof(struct shuffle_row): where the lengths begin, a multiple of 8
 * @flags: SHUFFLE_ROW_*
 * @op_id: identifier, the same at all members, never used twice
 * @deadline_ms: from now until the operation fails with ETIMEDOUT; 0: no
 *	deadline (the idle timeout holds); read by the first call only
 * @first_rank: receiver of the first message announced here; must be the
 *	number of ranks announced so far
 * @count: number of messages announced here; 0 only goes on with the data
 * @digest: of all that has to be the same at all members, as the program knows it: what it makes
 *	of the messages, in which order, of which type and byte order.  0: nothing.  Where members
 *	have different ones the operation fails with EPROTO at all of them; read by the first call
 *	only.  SHUFFLE_ROW_SIZE_VER1
 * @lens: length in bytes of the messages to ranks @first_rank and up, or SHUFFLE_ABSENT
 *
 * The data of a row is the concatenation of its messages in order of rank.
 * Every call supplies the next part of it in its iovec and returns how many
 * bytes were taken; a call that could not wait takes fewer, and the next call
 * (count = 0) goes on behind them.  See SHUFFLE_ROW_WANT for another order.
 */
struct shuffle_row {
	__u32	size;
	__u32	flags;
	__u64	op_id;
	__u64	deadline_ms;
	__u32	first_rank;
	__u32	count;
	__u64	digest;
	__u64	lens[];
};

#define SHUFFLE_ROW_SIZE_VER0	32
#define SHUFFLE_ROW_SIZE_VER1	40

/**
 * struct shuffle_absent - ranks that have no message for us in this operation
 * @size: sizeof(struct shuffle_absent): where the bits begin, a multiple of 8
 * @words: number of @bits; ranks beyond them have a message
 * @bits: bit (rank % 64) of bits[rank / 64]: there is no message from this rank
 *
 * Both ends of a message have to agree.  A message that only its sender calls absent is
 * missing in the end; one that only its receiver calls absent is dropped, counted as
 * DropState, and never acknowledged.  Of a socket's message to itself both are known:
 * EINVAL.
 */
struct shuffle_absent {
	__u32	size;
	__u32	words;
	__u64	bits[];
};

#define SHUFFLE_ABSENT_SIZE_VER0	8

/* struct shuffle_collective, oper: how items are combined.  Sums wrap round. */
enum shuffle_coll_oper {
	SHUFFLE_COLL_NONE,		/* of collectives that combine nothing */
	SHUFFLE_COLL_SUM,
	SHUFFLE_COLL_MIN,
	SHUFFLE_COLL_MAX,
	SHUFFLE_COLL_AND,
	SHUFFLE_COLL_OR,
	SHUFFLE_COLL_XOR,
	SHUFFLE_COLL_MINLOC,		/* of pairs: the one with the least value, or index */
	SHUFFLE_COLL_MAXLOC,		/* the one with the greatest value, or the least index */
	SHUFFLE_COLL_OPERS,
};

/* struct shuffle_collective, type: of the items, in the byte order of this machine, which need not
 * be that of other members: on the wire they are little-endian.  IEEE numbers
 * have MIN and MAX only, in IEEE 754's total order: -0 is less than 0, a NaN with sign less than
 * all, another one greater than all.  A pair is a signed value and a signed index behind it, and
 * has MINLOC and MAXLOC only.
 */
enum shuffle_coll_type {
	SHUFFLE_COLL_U8,
	SHUFFLE_COLL_U16,
	SHUFFLE_COLL_U32,
	SHUFFLE_COLL_U64,
	SHUFFLE_COLL_S8,
	SHUFFLE_COLL_S16,
	SHUFFLE_COLL_S32,
	SHUFFLE_COLL_S64,
	SHUFFLE_COLL_F32,
	SHUFFLE_COLL_F64,
	SHUFFLE_COLL_PAIR32,
	SHUFFLE_COLL_PAIR64,
	SHUFFLE_COLL_TYPES,
};

/* Most bytes that a collective holds at one member */
#define SHUFFLE_COLL_MAX_BYTES	1024
/* Most bytes that a member sends in one, all messages together, or receives */
#define SHUFFLE_COLL_MAX_SUM	(256 * 1024)

/* struct shuffle_step, what */
enum shuffle_step_what {
	SHUFFLE_STEP_SEND,		/* our bytes, as they are then, go to @peer */
	SHUFFLE_STEP_STORE,		/* those that come from @peer take the place of ours */
	SHUFFLE_STEP_COMBINE,		/* those that come from @peer are combined with ours */
	SHUFFLE_STEPS,
};

/**
 * struct shuffle_step - a message of one member in a collective
 * @what: enum shuffle_step_what
 * @peer: rank of the other member
 * @at: where the bytes begin in the member's memory
 * @len: their number; behind the memory's last byte they go on with its first one
 *
 * No two messages go to one member, and no two come from one.  Both ends have the same @len.
 */
struct shuffle_step {
	__u32	what;
	__u32	peer;
	__u32	at;
	__u32	len;
};

#define SHUFFLE_STEP_SIZE_VER0		16

/**
 * struct shuffle_collective - start a collective, which the members' kernels carry out
 * @size: sizeof(struct shuffle_collective)
 * @step_size: sizeof(struct shuffle_step): how far steps are apart, a multiple of 8
 * @op_id: identifier of the operation, as of a row
 * @deadline_ms: likewise
 * @digest: likewise
 * @flags: SHUFFLE_ROW_DELAYED_ACK, and one of SHUFFLE_ROW_ORDER
 * @steps: number of steps
 * @held: bytes of this member's memory, which are 0 at first, up to SHUFFLE_COLL_MAX_BYTES
 * @in_at: where what this member puts in begins there
 * @out_at: where the result begins there
 * @out_len: bytes of the result
 * @vectors: 0: there is no result; 1: it is what is there in the end; more: so many vectors of
 *	@out_len bytes, one behind the other from @out_at on, are combined in the end
 * @oper: enum shuffle_coll_oper
 * @type: enum shuffle_coll_type; if items are combined, whole ones are held, sent and received
 * @reserved: must be zero
 *
 * The data of the call is the steps, and behind them what this member puts in.  All of it is
 * taken, without waiting.  Steps are carried out one behind the other: one that sends takes what
 * is there then, one that receives waits for its message.
 *
 * The result is a message from our own rank.  DONE follows as of a row: all that we have sent has
 * arrived.  What a member has to do is the program's plan; members that are to find out that they
 * have different ones give @digest.
 */
struct shuffle_collective {
	__u32	size;
	__u32	step_size;
	__u64	op_id;
	__u64	deadline_ms;
	__u64	digest;
	__u32	flags;
	__u32	steps;
	__u32	held;
	__u32	in_at;
	__u32	out_at;
	__u32	out_len;
	__u32	vectors;
	__u8	oper;
	__u8	type;
	__u16	reserved;
};

#define SHUFFLE_COLLECTIVE_SIZE_VER0	64

/* struct shuffle_record, type */
enum {
	/* bytes of a message; @len of them are in the buffer */
	SHUFFLE_RECORD_DATA = 1,
	/* the operation is complete: all received, all sent acknowledged */
	SHUFFLE_RECORD_DONE = 2,
	/* the operation has failed, @error says why */
	SHUFFLE_RECORD_FAILED = 3,
	/* follows FAILED: nothing or not all of it came from @rank, or @rank
	 * has not acknowledged its message (SHUFFLE_MISSING_*).  Where members have
	 * left, those who are known to be to blame for that are named, and no others.
	 */
	SHUFFLE_RECORD_MISSING = 4,
	/* there is room for these bytes of our message to @rank (SHUFFLE_ROW_WANT) */
	SHUFFLE_RECORD_WANT = 6,
};

/* struct shuffle_record, flags */
#define SHUFFLE_RECORD_LAST	(1U << 0) /* DATA: message ends here */
#define SHUFFLE_MISSING_RECV	(1U << 1) /* MISSING: its message is not whole */
#define SHUFFLE_MISSING_ACK	(1U << 2) /* MISSING: ours is not acknowledged */
#define SHUFFLE_MISSING_LEFT	(1U << 3) /* MISSING: it has left, @error says why */

/**
 * struct shuffle_record - what recvmsg() returns, one for each piece
 * @op_id: the operation
 * @msg_len: DATA, WANT: length of the whole message; FAILED: number of MISSING
 *	records that follow, in this call or the next ones
 * @offset: DATA, WANT: where in the message this piece begins
 * @len: DATA: bytes of this piece, which follow those of the record before; WANT:
 *	bytes that are wanted
 * @rank: DATA: sender; WANT: receiver; MISSING: the member in question
 * @type: SHUFFLE_RECORD_*
 * @flags: SHUFFLE_RECORD_LAST, SHUFFLE_MISSING_*
 * @error: FAILED: errno (positive).  ECONNRESET: a member has left; EPROTO: one takes part in
 *	another operation than the others; ETIMEDOUT.
 *	MISSING with SHUFFLE_MISSING_LEFT: why the member has left.  ECANCELED: its program has
 *	cancelled the operation; EPIPE: its socket is closed, or its process is gone; ENOMEM;
 *	EPROTO; ETIMEDOUT: it has been silent, another member says; ENOENT: its host knows
 *	nothing of the operation (any more); EIO: another error
 * @reserved: zero
 */
struct shuffle_record {
	__u64	op_id;
	__u64	msg_len;
	__u64	offset;
	__u64	len;
	__u32	rank;
	__u16	type;
	__u16	flags;
	__u32	error;
	__u32	reserved;
};

/**
 * struct shuffle_records - all that one recvmsg() returns
 * @size: of a record, sizeof(struct shuffle_record): how far they are apart
 * @count: number of records
 * @rec: the records
 *
 * Room for n of them is CMSG_LEN(sizeof(struct shuffle_records) +
 * n * sizeof(struct shuffle_record)).  Records of this size fit it for ever: larger
 * ones are returned to programs only that ask for them, by an option to come.
 */
struct shuffle_records {
	__u32			size;
	__u32			count;
	struct shuffle_record	rec[];
};

#endif /* _UAPI_LINUX_SHUFFLE_H */
