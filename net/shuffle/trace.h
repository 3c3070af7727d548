/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints: one for each change of an operation's state. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM shuffle

#if !defined(_SHUFFLE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SHUFFLE_TRACE_H

#include <linux/tracepoint.h>

#include "coll/engine.h"
#include "group.h"
#include "op.h"
#include "peer.h"

TRACE_EVENT(shuffle_op_start,
	TP_PROTO(const struct shuffle_op *op),
	TP_ARGS(op),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u32, rank)
		__field(u32, members)
		__field(int, steps)
	),
	TP_fast_assign(
		__entry->id = op->id;
		__entry->rank = op->group->rank;
		__entry->members = op->group->count;
		__entry->steps = op->engine ? op->engine->steps : -1;
	),
	/* of what is no collective -1 */
	TP_printk("op=%llu rank=%u members=%u steps=%d", __entry->id, __entry->rank,
		  __entry->members, __entry->steps)
);

TRACE_EVENT(shuffle_op_end,
	TP_PROTO(const struct shuffle_op *op),
	TP_ARGS(op),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u32, rank)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->id = op->id;
		__entry->rank = op->group->rank;
		__entry->error = op->life.error;
	),
	TP_printk("op=%llu rank=%u error=%d", __entry->id, __entry->rank, __entry->error)
);

DECLARE_EVENT_CLASS(shuffle_grant,
	TP_PROTO(const struct shuffle_op *op, u32 peer, u64 off),
	TP_ARGS(op, peer, off),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, off)
		__field(u32, rank)
		__field(u32, peer)
	),
	TP_fast_assign(
		__entry->id = op->id;
		__entry->off = off;
		__entry->rank = op->group->rank;
		__entry->peer = peer;
	),
	TP_printk("op=%llu rank=%u peer=%u granted=%llu", __entry->id, __entry->rank,
		  __entry->peer, __entry->off)
);

DEFINE_EVENT(shuffle_grant, shuffle_grant_out,
	TP_PROTO(const struct shuffle_op *op, u32 peer, u64 off),
	TP_ARGS(op, peer, off)
);

DEFINE_EVENT(shuffle_grant, shuffle_grant_in,
	TP_PROTO(const struct shuffle_op *op, u32 peer, u64 off),
	TP_ARGS(op, peer, off)
);

DECLARE_EVENT_CLASS(shuffle_resend,
	TP_PROTO(const struct shuffle_op *op, u32 peer, u64 off, u64 len),
	TP_ARGS(op, peer, off, len),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u64, off)
		__field(u64, len)
		__field(u32, rank)
		__field(u32, peer)
	),
	TP_fast_assign(
		__entry->id = op->id;
		__entry->off = off;
		__entry->len = len;
		__entry->rank = op->group->rank;
		__entry->peer = peer;
	),
	TP_printk("op=%llu rank=%u peer=%u offset=%llu length=%llu", __entry->id,
		  __entry->rank, __entry->peer, __entry->off, __entry->len)
);

DEFINE_EVENT(shuffle_resend, shuffle_resend_out,
	TP_PROTO(const struct shuffle_op *op, u32 peer, u64 off, u64 len),
	TP_ARGS(op, peer, off, len)
);

DEFINE_EVENT(shuffle_resend, shuffle_resend_in,
	TP_PROTO(const struct shuffle_op *op, u32 peer, u64 off, u64 len),
	TP_ARGS(op, peer, off, len)
);

TRACE_EVENT(shuffle_msg_done,
	TP_PROTO(const struct shuffle_op *op, u32 peer, bool sent),
	TP_ARGS(op, peer, sent),
	TP_STRUCT__entry(
		__field(u64, id)
		__field(u32, rank)
		__field(u32, peer)
		__field(bool, sent)
	),
	TP_fast_assign(
		__entry->id = op->id;
		__entry->rank = op->group->rank;
		__entry->peer = peer;
		__entry->sent = sent;
	),
	TP_printk("op=%llu rank=%u peer=%u %s", __entry->id, __entry->rank,
		  __entry->peer, __entry->sent ? "acknowledged" : "received")
);

#endif /* _SHUFFLE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
