// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a merge makes (merge.c), on its way: announced, laid out as packets, and ended.
 *
 * How long the result becomes is known in the end only: it is announced, when all lengths are
 * known, with the most that it can have and a byte more, which no whole records reach, and ends
 * with an END record (rx/msg_end.c).
 *
 * All under ssk->lock, any context.
 */
#include "../shuffle.h"

/* The largest packet: some of it fit into what waits for more */
#define PKT_MAX		(SHUFFLE_MERGE_OUT / 2)

/* The first one from @rank on that gets the result; behind the last one group->count. */
static u32 next_receiver(const struct shuffle_op *op, u32 rank)
{
	if (!shuffle_merge_same(op))
		return rank <= op->merge->to ? op->merge->to : op->group->count;
	while (rank < op->group->count && !shuffle_merge_makes(op, rank))
		rank++;
	return rank;
}

/* So much of what a receiver gets may go without a grant: as many may send to it as to us, or all
 * members something.
 */
static u64 unscheduled(const struct shuffle_op *op)
{
	const struct shuffle_key_merge *m = op->merge;
	u64 n = min3(shuffle_unscheduled_forward(op, m->inputs),
		     div_u64(4 * shuffle_grant_max_out(op->dev), op->group->count), m->bound);

	return n < m->bound ? rounddown(n, SHUFFLE_UNSCHED_UNIT) : n;
}

/* How long the result is, as far as is known: of the one message, or of each, and of that whose
 * bytes they have.
 */
static void set_len(struct shuffle_op *op, u64 len)
{
	u32 i;

	op->ptx.msg[op->merge->to].len = len;
	for (i = next_receiver(op, 0); i < op->group->count; i = next_receiver(op, i + 1))
		op->ptx.msg[i].len = len;
}

/**
 * shuffle_merge_announce() - all lengths are known: announce the most that they can become
 * @op: operation with a merge that has not announced it
 *
 * Return: false: not all are known yet, or it would be too much.
 */
bool shuffle_merge_announce(struct shuffle_op *op)
{
	struct shuffle_key_merge *m = op->merge;
	u32 i, first = next_receiver(op, 0);
	struct dst_entry *dst;
	u64 records = 0, unsched;

	lockdep_assert_held(&op->ssk->lock);
	if (op->prx.unannounced)
		return false;
	for (i = 0; i < m->inputs; i++)
		records += op->prx.msg[m->input[i].rank].len / SHUFFLE_PAIR_BYTES;
	if (records >= SHUFFLE_MAX_LEN / SHUFFLE_PAIR_BYTES) {
		shuffle_op_fail(op, EMSGSIZE);
		return false;
	}
	m->bound = records * SHUFFLE_PAIR_BYTES + 1;
	dst = shuffle_route(shuffle_op_net(op), op->ssk, op->group, first);
	m->pkt = min_t(u32, shuffle_route_payload(op->dev, op->group, first, dst), PKT_MAX);
	dst_release(dst);
	unsched = unscheduled(op);
	for (i = first; i < op->group->count; i = next_receiver(op, i + 1)) {
		op->out[i].unsched = unsched;
		op->out[i].granted = unsched;
		shuffle_op_left(op, op->row_left + m->bound);
	}
	set_len(op, m->bound);
	m->announced = true;
	m->tell = first;
	return true;
}

/* Lay out merged records as packets.  What goes to several has the headers of each when it is sent
 * (send_packets()).
 */
static void fill_chunk(const struct shuffle_op *op, struct shuffle_chunk *chunk)
{
	struct shuffle_wire w = shuffle_msg_out_wire(op, chunk->rank);
	const struct shuffle_membership *group = op->group;
	struct shuffle_data_tag tag = {};
	u8 hdr[SHUFFLE_WIRE_MAX_HDR];
	u32 done, at = 0, n;

	if (group->keyed)
		shuffle_data_tag_init(&tag, &group->key, &w);
	shuffle_wire_build(hdr, &w);
	for (done = 0; done < chunk->len; done += n) {
		n = min(chunk->pkt, chunk->len - done);
		if (!shuffle_merge_same(op)) {
			shuffle_wire_place(hdr, chunk->off + done, n);
			if (group->keyed)
				shuffle_put64(hdr + SHUFFLE_WIRE_DATA_HDR,
					      shuffle_data_tag(&tag, chunk->off + done, n));
			shuffle_chunk_fill(chunk, at, hdr, group->data_hdr);
		}
		at += group->data_hdr;
		shuffle_chunk_fill(chunk, at, op->merge->out + done, n);
		at += n;
	}
}

/* Some of it has room always: our own part, or other operations, may fill the send buffer, and what
 * is sent of it is freed by a GRANT that comes when there is more of it.
 */
static bool may_emit(const struct shuffle_op *op)
{
	const struct shuffle_msg_out *out = &op->out[op->merge->to];

	return out->filled - min(out->free_to, out->filled) < SHUFFLE_MERGE_AHEAD ||
	       shuffle_chunk_room(op, op->merge->to);
}

/**
 * shuffle_merge_emit() - merged records may leave
 * @op: operation with a merge
 * @all: else a part of a packet stays
 *
 * Return: false: there is no room, or no memory, now.
 */
bool shuffle_merge_emit(struct shuffle_op *op, bool all)
{
	struct shuffle_key_merge *m = op->merge;
	u32 n = all ? m->out_bytes : rounddown(m->out_bytes, m->pkt);
	struct shuffle_chunk *chunk;

	lockdep_assert_held(&op->ssk->lock);
	if (!n)
		return true;
	m->waits = true;
	if (!may_emit(op))
		return false;
	if (n <= SHUFFLE_INLINE_MAX)
		chunk = shuffle_chunk_few(m->to, op->out[m->to].filled, m->out, n);
	else
		chunk = shuffle_chunk_make(op, m->to, op->out[m->to].filled, n, m->pkt);
	if (!chunk || !shuffle_chunk_charge(op, chunk))
		return false;
	m->waits = false;
	if (chunk->kind == SHUFFLE_CHUNK_PACKETS)
		fill_chunk(op, chunk);
	shuffle_msg_out_append(op, chunk);
	m->out_bytes -= n;
	memmove(m->out, m->out + n, m->out_bytes);
	return true;
}

/**
 * shuffle_merge_close() - all of the result is there
 * @op: operation with a merge
 */
void shuffle_merge_close(struct shuffle_op *op)
{
	struct shuffle_key_merge *m = op->merge;
	u64 less = m->bound - op->out[m->to].filled;
	u32 i;

	lockdep_assert_held(&op->ssk->lock);
	m->closed = true;
	m->tell = next_receiver(op, 0);
	set_len(op, op->out[m->to].filled);
	for (i = m->tell; i < op->group->count; i = next_receiver(op, i + 1)) {
		shuffle_op_left(op, op->row_left - min(op->row_left, less));
		shuffle_msg_out_limit(op, i);
		shuffle_timer_out(op, i);
	}
}

/**
 * shuffle_merge_end() - say how long a message is in the end
 * @op: operation with a merge
 * @rank: a member that gets the result
 * @flags: SHUFFLE_FLAG_PROBE: to be told whether it has arrived; or 0
 * @q: packets
 *
 * Nothing as long as that is not known.
 */
void shuffle_merge_end(struct shuffle_op *op, u32 rank, u8 flags, struct sk_buff_head *q)
{
	const struct shuffle_key_merge *m = op->merge;
	struct shuffle_wire w = {
		.type = SHUFFLE_END,
		.flags = flags,
		.op_id = op->id,
		.nonce = shuffle_op_nonce(op, rank),
		.end.len = op->ptx.msg[rank].len,
		.end.senders = m->senders,
	};

	lockdep_assert_held(&op->ssk->lock);
	if (!m->closed)
		return;
	shuffle_output_record(shuffle_op_net(op), op->ssk, op->group, rank, &w, q);
	SHUFFLE_INC(shuffle_op_net(op), EndOut);
}

/**
 * shuffle_merge_tell() - tell receivers what is new
 * @op: operation with a merge
 * @q: packets
 *
 * END is no use before the message has been heard of, and may overtake its first packet: the
 * message is announced once more in front of it.
 *
 * Return: true if there are more to be told at once.
 */
bool shuffle_merge_tell(struct shuffle_op *op, struct sk_buff_head *q)
{
	struct shuffle_key_merge *m = op->merge;
	u32 n;

	lockdep_assert_held(&op->ssk->lock);
	for (n = 0; !op->ended && m->tell < op->group->count; n++) {
		if (n == SHUFFLE_BURST)
			return true;
		if (!op->out[m->tell].acked)
			shuffle_msg_out_announce(op, m->tell, 0, q);
		m->tell = next_receiver(op, m->tell + 1);
	}
	return false;
}
