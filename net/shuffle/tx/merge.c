// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows one message of which is what all that come are merged into, by key (SHUFFLE_CMSG_MERGE; Guo
 * et al., "Exploiting in-network aggregation for shuffle transfers").  What comes in order is
 * merged at once and freed, and what is merged leaves while the rest comes.  No process wakes up in
 * between.
 *
 * Our own part is a message to ourselves, which comes like others.  Sums are not idempotent: each
 * byte of a message comes once in order, and the number of senders that are folded in goes along
 * with the END of the result (merge_send.c).
 *
 * What has no room to leave is not taken in, and then members are not granted more: an inner member
 * holds what its two buffers have room for, a table, and some records of each stream.  Sorted
 * streams wait for one another, so the one that all others wait for is granted something, and taken
 * in, whatever others hold: shuffle_msg_in_must_go_on().
 *
 * All under ssk->lock, any context, unless said otherwise.
 */
#include <linux/slab.h>

#include "../shuffle.h"

/* Bytes that are merged at once; the timer goes on.  A piece that is freed costs like some. */
#define MERGE_BYTES	SZ_32K
#define PIECE_BYTES	256

/* Records that are copied out of a stream at once */
#define STAGE_RECORDS	256U
#define STAGE_BYTES	(STAGE_RECORDS * SHUFFLE_PAIR_BYTES)

/* How often memory, or room, is asked for again */
#define RETRY_NS	(5 * NSEC_PER_MSEC)

/**
 * shuffle_merge_free() - free what belongs to a merge
 * @m: of an operation that nobody sees any more, or NULL
 *
 * Context: process.
 */
void shuffle_merge_free(struct shuffle_key_merge *m)
{
	if (!m)
		return;
	kvfree(m->input);
	kvfree(m->stage);
	kvfree(m->out);
	kvfree(m->table.pair);
	kvfree(m->merge.stream);
	kvfree(m->merge.node);
	kfree(m);
}

/**
 * shuffle_merge_memory() - what a merge needs beside the socket's buffers
 * @c: of the caller
 * @inputs: messages that come
 *
 * Return: bytes, about.
 */
u64 shuffle_merge_memory(const struct shuffle_merge *c, u32 inputs)
{
	if (c->flags & SHUFFLE_MERGE_SORTED)
		return SHUFFLE_MERGE_AHEAD + SHUFFLE_MERGE_OUT + (u64)inputs * STAGE_BYTES;
	return SHUFFLE_MERGE_AHEAD + SHUFFLE_MERGE_OUT + STAGE_BYTES +
	       shuffle_merge_table_bytes(c->records ?: SHUFFLE_MERGE_RECORDS);
}

static int alloc_sorted(struct shuffle_key_merge *m, u8 oper)
{
	struct shuffle_merge_stream *stream;
	struct shuffle_merge_node *node;

	stream = kvcalloc(m->inputs, sizeof(*stream), GFP_KERNEL_ACCOUNT);
	node = kvcalloc(m->inputs, sizeof(*node), GFP_KERNEL_ACCOUNT);
	m->stage = kvmalloc_array(m->inputs, STAGE_BYTES, GFP_KERNEL_ACCOUNT);
	shuffle_merge_sorted_init(&m->merge, oper, stream, node, m->inputs);
	return stream && node && m->stage ? 0 : -ENOMEM;
}

static int alloc_table(struct shuffle_key_merge *m, u8 oper, u32 records)
{
	u64 bytes = shuffle_merge_table_bytes(records);
	void *memory = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);

	m->stage = kvmalloc(STAGE_BYTES, GFP_KERNEL_ACCOUNT);
	if (!memory)
		return -ENOMEM;
	shuffle_merge_table_init(&m->table, oper, get_random_u64(), records, memory);
	return m->stage ? 0 : -ENOMEM;
}

static int alloc_inputs(struct shuffle_op *op)
{
	struct shuffle_key_merge *m = op->merge;
	u32 i, n = 0;

	m->inputs = op->incomplete;	/* nothing has come yet */
	m->input = kvcalloc(m->inputs, sizeof(*m->input), GFP_KERNEL_ACCOUNT);
	m->out = kvmalloc(SHUFFLE_MERGE_OUT, GFP_KERNEL_ACCOUNT);
	if (!m->input || !m->out)
		return -ENOMEM;
	for (i = 0; i < op->group->count; i++)
		if (!op->in[i].absent)
			m->input[n++].rank = i;
	return 0;
}

/**
 * shuffle_merge_alloc() - what comes is to be merged
 * @op: operation that nobody has seen yet
 * @c: of the caller
 *
 * Context: process.
 * Return: 0, -EINVAL (no such member, or one that sends us something; nothing comes), -EOPNOTSUPP
 * (too many members send, or get the result) or -ENOMEM.
 */
int shuffle_merge_alloc(struct shuffle_op *op, const struct shuffle_merge *c)
{
	bool same = c->flags & SHUFFLE_MERGE_SAME;
	struct shuffle_key_merge *m;
	int err;

	if (c->to >= op->group->count || !op->incomplete ||
	    (same && c->to == op->group->rank))
		return -EINVAL;
	m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	if (!m)
		return -ENOMEM;
	op->merge = m;
	m->to = SHUFFLE_NONE;
	m->tell = op->group->count;
	m->starved = SHUFFLE_NONE;
	m->expected = c->senders;
	if (c->to == op->group->rank)
		return 0;
	/* of several some may send us something: what they send depends on nothing that we do */
	if (!same && !op->in[c->to].absent)
		return -EINVAL;
	if (op->incomplete > SHUFFLE_SAME_MEMBERS ||
	    (same && op->group->count > SHUFFLE_SAME_MEMBERS))
		return -EOPNOTSUPP;
	m->to = same ? shuffle_group_all(op->group) : c->to;
	m->sorted = c->flags & SHUFFLE_MERGE_SORTED;
	m->flush_ns = (u64)c->flush_us * NSEC_PER_USEC;
	err = alloc_inputs(op);
	if (err)
		return err;
	return m->sorted ? alloc_sorted(m, c->oper) :
			   alloc_table(m, c->oper, c->records ?: SHUFFLE_MERGE_RECORDS);
}

/* Copy what has come of an input, behind the part of a record that had come before; no more than
 * fit.  Returns its bytes: not always whole records.
 */
static u32 copy_stage(const struct shuffle_op *op, const struct shuffle_merge_input *input, u8 *to)
{
	const struct shuffle_msg_in *in = &op->in[input->rank];
	u32 n = min_t(u64, in->have.prefix - in->read, STAGE_BYTES - input->cut_bytes);

	memcpy(to, input->cut, input->cut_bytes);
	if (n)
		shuffle_msg_in_copy(in, in->read, to + input->cut_bytes, n);
	return input->cut_bytes + n;
}

/* The first @records of the @bytes in @stage have been taken: the others are there still, but for a
 * part of a record behind all that there were.  A packet may end in one, and would be held for it.
 */
static void take_stage(struct shuffle_op *op, struct shuffle_merge_input *input, const u8 *stage,
		       u32 bytes, u32 records, s32 *budget)
{
	struct shuffle_msg_in *in = &op->in[input->rank];
	u32 used = records * SHUFFLE_PAIR_BYTES, rest = 0;

	if (bytes - used < SHUFFLE_PAIR_BYTES)
		rest = bytes - used;
	else if (!used)
		return;
	in->read += used + rest - input->cut_bytes;
	memcpy(input->cut, stage + used, rest);
	input->cut_bytes = rest;
	*budget -= used;
	*budget -= PIECE_BYTES * shuffle_msg_in_drop(op, input->rank);
	SHUFFLE_ADD(shuffle_op_net(op), MergeRecords, records);
}

/* All of it has been taken. */
static bool is_taken(struct shuffle_op *op, u32 rank)
{
	struct shuffle_msg_in *in = &op->in[rank];

	if (!in->complete || in->read < op->prx.msg[rank].len)
		return false;
	in->delivered = true;
	return true;
}

/* ---- sorted ---- */

/* More records of the stream that is waited for.  False: none have come. */
static bool refill(struct shuffle_op *op, s32 *budget)
{
	struct shuffle_key_merge *m = op->merge;
	u32 which = m->merge.which, bytes;
	struct shuffle_merge_stream *stream = &m->merge.stream[which];
	struct shuffle_merge_input *input = &m->input[which];
	u8 *stage = m->stage + which * STAGE_BYTES;

	bytes = copy_stage(op, input, stage);
	take_stage(op, input, stage, bytes, bytes / SHUFFLE_PAIR_BYTES, budget);
	if (bytes >= SHUFFLE_PAIR_BYTES) {
		stream->data = stage;
		stream->at = 0;
		stream->n = bytes / SHUFFLE_PAIR_BYTES;
		return true;
	}
	stream->end = is_taken(op, input->rank);
	if (!stream->end)
		m->starved = input->rank;
	return stream->end;
}

/* What is in m->out: @begin bytes, which are the rest of a record that was cut by a packet's end,
 * and @n records.  Those that are new cost as much as some that are copied.
 */
static void have_merged(struct shuffle_key_merge *m, u32 begin, u32 n, s32 *budget)
{
	u32 bytes = begin + n * SHUFFLE_PAIR_BYTES;

	*budget -= bytes - m->out_bytes;
	m->out_bytes = bytes;
}

/* Returns true if there is more to do at once. */
static bool merge_sorted(struct shuffle_op *op, s32 *budget)
{
	struct shuffle_key_merge *m = op->merge;
	u32 begin, n;
	int state;

	m->starved = SHUFFLE_NONE;
	while (*budget > 0) {
		begin = m->out_bytes % SHUFFLE_PAIR_BYTES;
		n = m->out_bytes / SHUFFLE_PAIR_BYTES;
		state = shuffle_merge_streams(&m->merge, m->out + begin,
					      (SHUFFLE_MERGE_OUT - begin) / SHUFFLE_PAIR_BYTES, &n);
		have_merged(m, begin, n, budget);
		switch (state) {
		case SHUFFLE_MERGE_DONE:
			if (shuffle_merge_emit(op, true))
				shuffle_merge_close(op);
			return false;
		case SHUFFLE_MERGE_FULL:
			if (!shuffle_merge_emit(op, false))
				return false;
			break;
		case SHUFFLE_MERGE_STARVED:
			if (refill(op, budget))
				break;
			shuffle_merge_emit(op, false);
			return false;
		default:
			shuffle_op_fail(op, EPROTO);
			return false;
		}
	}
	return true;
}

/* ---- in any order ---- */

/* The table's records leave, and it is empty again.  The last ones wait for others to fill their
 * packet, but in the end or when others have waited too long.  False: not all of them yet.
 */
static bool empty_table(struct shuffle_op *op, s32 *budget)
{
	struct shuffle_key_merge *m = op->merge;
	u32 n;

	while (m->drained < m->table.n) {
		if (*budget <= 0)
			return false;
		n = (SHUFFLE_MERGE_OUT - m->out_bytes) / SHUFFLE_PAIR_BYTES;
		n = min(n, m->table.n - m->drained);
		shuffle_merge_store(m->out + m->out_bytes, m->table.pair + m->drained, n);
		m->out_bytes += n * SHUFFLE_PAIR_BYTES;
		m->drained += n;
		*budget -= n * SHUFFLE_PAIR_BYTES;
		if (!shuffle_merge_emit(op, false))
			return false;
	}
	if (!shuffle_merge_emit(op, m->urgent))
		return false;
	/* as much memory as many records */
	shuffle_merge_table_empty(&m->table);
	*budget -= MERGE_BYTES;
	m->drained = 0;
	m->emptying = false;
	m->urgent = false;
	return true;
}

/* Merge what has come of one input.  Returns false if no record has. */
static bool add_records(struct shuffle_op *op, struct shuffle_merge_input *input, s32 *budget,
			u64 now)
{
	struct shuffle_key_merge *m = op->merge;
	u32 bytes = copy_stage(op, input, m->stage), n = bytes / SHUFFLE_PAIR_BYTES, added;

	if (n && !m->table.n && !m->out_bytes)
		m->first_at = now;
	added = shuffle_merge_add(&m->table, m->stage, n);
	take_stage(op, input, m->stage, bytes, added, budget);
	if (added < n)
		m->emptying = true;
	return n;
}

/* Merge what has come, from all in turns, until the table is full.  Returns true if nothing is
 * left of any of them.
 */
static bool fill_table(struct shuffle_op *op, s32 *budget, u64 now)
{
	struct shuffle_key_merge *m = op->merge;
	u32 idle = 0, taken = 0;

	while (idle < m->inputs && *budget > 0 && !m->emptying) {
		struct shuffle_merge_input *input = &m->input[m->turn];

		m->turn = (m->turn + 1) % m->inputs;
		if (add_records(op, input, budget, now)) {
			idle = 0;
			taken = 0;
			continue;
		}
		idle++;
		taken += is_taken(op, input->rank);
	}
	return taken == m->inputs;
}

static bool flush_is_due(const struct shuffle_key_merge *m, u64 now)
{
	return m->flush_ns && (m->table.n || m->out_bytes) && now >= m->first_at + m->flush_ns;
}

/* Returns true if there is more to do at once. */
static bool merge_table(struct shuffle_op *op, s32 *budget, u64 now)
{
	struct shuffle_key_merge *m = op->merge;
	bool all;

	do {
		if (m->emptying && !empty_table(op, budget))
			break;
		all = fill_table(op, budget, now);
		m->urgent = all || flush_is_due(m, now);
		if (!all && m->urgent)
			m->emptying = true;
		if (m->emptying)
			SHUFFLE_INC(shuffle_op_net(op), MergeFlushes);
		if (!all)
			continue;
		if (!m->table.n && !m->out_bytes) {
			shuffle_merge_close(op);
			return false;
		}
		m->emptying = true;
	} while (*budget > 0 && m->emptying);
	return *budget <= 0;
}

/**
 * shuffle_merge_run() - merge what has come, but not for too long
 * @op: operation with a merge
 * @now: ns
 *
 * Return: true if there is more to do at once.
 */
bool shuffle_merge_run(struct shuffle_op *op, u64 now)
{
	struct shuffle_key_merge *m = op->merge;
	s32 budget = MERGE_BYTES;
	bool more;

	lockdep_assert_held(&op->ssk->lock);
	if (!shuffle_merge_takes(op) || op->ended || !op->closed || m->closed)
		return false;
	if (!m->announced && !shuffle_merge_announce(op))
		return false;
	m->waits = false;
	more = m->sorted ? merge_sorted(op, &budget) : merge_table(op, &budget, now);
	if (!op->ended)
		shuffle_egress_kick(op);
	return more;
}

/* Other operations may be granted what has been freed: on a relay nobody reads and says so. */
static void let_others_grant(struct shuffle_op *op, u64 now)
{
	struct shuffle_op *next;

	next = list_first_entry_or_null(&op->ssk->grant_ops, struct shuffle_op, grant_node);
	if (!next || next == op)
		return;
	list_move_tail(&next->grant_node, &op->ssk->grant_ops);
	shuffle_timer_now(next, now);
}

/* Go on, and leave to the timer what takes packets or more time. */
static void run(struct shuffle_op *op, u64 now)
{
	bool more = shuffle_merge_run(op, now);
	u64 due;

	if (op->ended)
		return;
	due = more || op->merge->tell < op->group->count ? now :
	      shuffle_merge_due(op, shuffle_timer_rto(op), now);
	if (due != U64_MAX)
		shuffle_timer_now(op, due);
	let_others_grant(op, now);
}

/**
 * shuffle_merge_arrived() - a message has been announced, or more of it has come in order
 * @op: operation with a merge
 * @rank: the message
 * @now: ns
 */
void shuffle_merge_arrived(struct shuffle_op *op, u32 rank, u64 now)
{
	struct shuffle_key_merge *m = op->merge;

	lockdep_assert_held(&op->ssk->lock);
	if (!shuffle_merge_takes(op) || op->ended)
		return;
	/* whole records; or a byte more, where the length is not known yet */
	if (op->prx.msg[rank].len % SHUFFLE_PAIR_BYTES > 1) {
		shuffle_op_fail(op, EPROTO);
		return;
	}
	/* all others wait for another one */
	if (m->starved != SHUFFLE_NONE && m->starved != rank)
		return;
	run(op, now);
}

/**
 * shuffle_merge_complete() - all of a message has come
 * @op: operation with a merge
 * @rank: the message
 * @now: ns
 */
void shuffle_merge_complete(struct shuffle_op *op, u32 rank, u64 now)
{
	const struct shuffle_msg_in *in = &op->in[rank];
	struct shuffle_key_merge *m = op->merge;

	lockdep_assert_held(&op->ssk->lock);
	if (op->ended)
		return;
	m->senders += in->closed ? in->senders : 1;
	if (m->senders > SHUFFLE_MAX_SENDERS || op->prx.msg[rank].len % SHUFFLE_PAIR_BYTES) {
		shuffle_op_fail(op, EPROTO);
		return;
	}
	if (!op->incomplete && m->expected && m->senders != m->expected) {
		shuffle_op_fail(op, EBADMSG);
		return;
	}
	shuffle_merge_arrived(op, rank, now);
}

/**
 * shuffle_merge_start() - the row has been announced: begin
 * @op: operation with a merge
 *
 * Context: process, without the lock.
 */
void shuffle_merge_start(struct shuffle_op *op)
{
	spin_lock_bh(&op->ssk->lock);
	if (!op->ended)
		run(op, shuffle_now());
	spin_unlock_bh(&op->ssk->lock);
}

/**
 * shuffle_merge_due() - when the timer is to go on with a merge
 * @op: operation with a merge
 * @rto: shuffle_timer_rto()
 * @now: ns
 *
 * Return: ns, or U64_MAX: others say when.
 */
u64 shuffle_merge_due(const struct shuffle_op *op, u64 rto, u64 now)
{
	const struct shuffle_key_merge *m = op->merge;

	lockdep_assert_held(&op->ssk->lock);
	if (m->closed)
		return U64_MAX;
	/* memory may come back without a sign, and others' room */
	if (m->waits)
		return now + max_t(u64, rto, RETRY_NS);
	if (m->flush_ns && (m->table.n || m->out_bytes) && !m->emptying)
		return m->first_at + m->flush_ns;
	return U64_MAX;
}
