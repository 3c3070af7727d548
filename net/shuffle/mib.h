/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of a network namespace: /proc/net/shuffle/netstat. */
#ifndef _SHUFFLE_MIB_H
#define _SHUFFLE_MIB_H

#include <net/snmp.h>

/* name, what it counts */
#define SHUFFLE_MIB_LIST(X)							\
	X(DataOut,		"DATA packets sent, retransmissions included")	\
	X(DataIn,		"DATA records received")			\
	X(DataBytesOut,		"payload bytes sent, retransmissions included")	\
	X(DataBytesIn,		"payload bytes received that were new")		\
	X(BytesIn,		"bytes of packets received, headers of all layers included")\
	X(AnnounceOut,		"announcements sent: empty DATA records")		\
	X(GrantOut,		"GRANT records sent")				\
	X(GrantIn,		"GRANT records received")			\
	X(AckOut,		"ACK records sent")				\
	X(AckIn,		"ACK records received")				\
	X(ResendOut,		"RESEND records sent")				\
	X(ResendIn,		"RESEND records received")			\
	X(QuestionOut,		"of the RESENDs sent, questions what has left")	\
	X(QuestionIn,		"of the RESENDs received, such questions")	\
	X(AnswerOut,		"answers to them sent")				\
	X(LossProved,		"answers to them that showed a loss")		\
	X(LossDisproved,	"data that came by itself after such an answer")\
	X(EchoIn,		"questions for an echo received")		\
	X(EchoOut,		"of these, answered")				\
	X(EchoRefused,		"not answered: a stranger's, or the setting echo")	\
	X(EchoLimited,		"not answered: more than echo-rate")		\
	X(CtrlPktsOut,		"packets without payload sent")			\
	X(CtrlBytesOut,		"bytes of those, without IP and UDP headers")	\
	X(RetransBytes,		"payload bytes sent again")			\
	X(DupBytes,		"payload bytes received that had arrived")	\
	X(SameOut,		"of the DATA packets sent, those to all members at once")\
	X(GaveWay,		"times that less was granted because of others' traffic")	\
	X(CtrlBehind,		"control packets in the data's class: their user had too many")	\
	X(OrderDenied,		"rows that asked to go in front of those of other users")	\
	X(AheadOut,		"packets of short messages sent in front of other data")	\
	X(SameAlone,		"messages that others had in common, sent alone")\
	X(ProbeOut,		"asked for an ACK that is overdue")		\
	X(ReAck,		"ACK sent on behalf of a finished operation")	\
	X(AbortIn,		"heard that a member has left its operation")	\
	X(AbortOut,		"told or answered that a member has left")	\
	X(OpsStarted,		"operations started")				\
	X(OpsDone,		"operations completed")				\
	X(OpsFailed,		"operations failed or cancelled")		\
	X(Collectives,		"of the operations started, collectives")	\
	X(EarlyKept,		"packets kept for an operation not known yet")	\
	X(EarlyClaimed,		"of these, claimed by their operation")		\
	X(EarlyExpired,		"of these, expired, or dropped with their socket")	\
	X(EarlyFull,		"early packets dropped: no room")		\
	X(DropMalformed,	"datagrams or rests of them dropped: malformed")\
	X(DropVersion,		"dropped: another protocol version")		\
	X(DropCsum,		"dropped: UDP checksum")			\
	X(DropSource,		"datagrams dropped: from a port that anybody may use")	\
	X(DropForwarded,	"packets not forwarded: they would pass for ours")	\
	X(DropTag,		"records dropped: tag wrong, missing or not expected")	\
	X(DropNoSocket,		"records dropped: no such socket")		\
	X(DropNoOp,		"records dropped: operation not known")		\
	X(DropMember,		"records dropped: not from that member")	\
	X(DropDevice,		"records dropped: came in by another device")	\
	X(DropNonce,		"records dropped: wrong nonce or length")	\
	X(DropNotGranted,	"DATA dropped: far beyond its grant")		\
	X(DropState,		"records dropped: no such message, or not now")	\
	X(DropRcvbuf,		"DATA dropped: receive buffer full")		\
	X(DropMem,		"dropped: out of memory")			\
	X(DropIslands,		"DATA dropped: too many gaps in its message")	\
	X(DropUdp,		"datagrams dropped: UDP receive buffer full")	\
	X(NoRoute,		"packets not sent: no route")			\
	X(NoNeigh,		"packets not sent: too many wait for neighbours")\
	X(PathShrunk,		"times that a path was narrower than it said")	\
	X(EgressStuck,		"times that packets in a device stood still")	\
	X(PageReuse,		"pages filled again for data to be sent")	\
	X(Pressure,		"times the receive buffer held back grants")	\
	X(EventsLost,		"netlink events dropped: too many waiting")

#define SHUFFLE_MIB_ENUM(name, text)	SHUFFLE_MIB_##name,
enum {
	SHUFFLE_MIB_LIST(SHUFFLE_MIB_ENUM)
	SHUFFLE_MIB_MAX,
};

struct shuffle_mib {
	unsigned long	mibs[SHUFFLE_MIB_MAX];
};

#define SHUFFLE_INC(sn, name)		SNMP_INC_STATS((sn)->mib, SHUFFLE_MIB_##name)
#define SHUFFLE_ADD(sn, name, n)	SNMP_ADD_STATS((sn)->mib, SHUFFLE_MIB_##name, n)

struct shuffle_net;

extern const char * const shuffle_mib_names[];
extern const char * const shuffle_mib_texts[];
u64 shuffle_mib_value(struct shuffle_net *sn, int i);

#endif /* _SHUFFLE_MIB_H */
