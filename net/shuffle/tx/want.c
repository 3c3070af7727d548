// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows that are asked for (SHUFFLE_ROW_WANT): the program announces its row and copies nothing in
 * order of rank.  When the send buffer has room, a WANT record says which bytes the schedule would
 * take next; data that the program sends then answers these records in their order.
 *
 * A program with an event loop gets the schedule of a blocking call that way: no thread waits for
 * room.
 *
 * Life: made by sendmsg() with the announcement, freed with the operation.  Its entry is in
 *
 * - ssk->notices while there is something to ask for and room for it,
 * - ssk->hungry or ssk->wants while there is no room: hungry are those that owe no answer,
 * - none while as many records as it remembers are unanswered, all has been asked for, or no
 *   receiver that has granted more, or has less than its share, is left: shuffle_fill_share().
 *
 * Whatever takes an entry out of ssk->notices looks whether the next one that waits has room.
 */
#include <linux/slab.h>

#include "../mem.h"
#include "../op.h"
#include "../sched/policy.h"
#include "../sock.h"
#include "msg_out.h"
#include "own_schedule.h"
#include "want.h"

/* WANT records that the program has not answered; a power of 2 */
#define SHUFFLE_WANTS		64

/**
 * struct shuffle_want - what is asked for of a row
 * @ready: in ssk->notices, ssk->hungry, ssk->wants, or in none
 * @fill: schedule of what has been asked for
 * @left: bytes that have not been asked for
 * @share: bytes that a message may be asked for beyond what its receiver has granted
 * @outstanding: bytes that have been asked for and not come
 * @first: the oldest record that has not been answered whole
 * @first_used: bytes of that one that have come
 * @end: behind the youngest one
 * @asked: the records, number i at i modulo SHUFFLE_WANTS
 *
 * All of it is guarded by ssk->lock.
 */
struct shuffle_want {
	struct shuffle_ready	ready;
	struct shuffle_policy_tx fill;
	u64			left;
	u64			share;
	u64			outstanding;
	u32			first;
	u32			first_used;
	u32			end;
	struct {
		u32	rank;
		u32	len;
	} asked[SHUFFLE_WANTS];
};

/* What is asked for has its place, as what is there.  A row that owes no answer may be asked for a
 * unit beyond that, within another send buffer: others, whose programs do not answer, do not stop
 * it.
 */
static bool want_has_room(const struct shuffle_sock *ssk, bool hungry)
{
	u64 sndbuf = shuffle_sock_sndbuf(&ssk->sk), there = ssk->sk.sk_wmem_queued;

	if (there + ssk->wanted < sndbuf)
		return true;
	return hungry && there < sndbuf && there + ssk->wanted < 2 * sndbuf;
}

/* Put it where it belongs; it is on no list. */
static void enqueue(struct shuffle_want *want)
{
	struct shuffle_sock *ssk = want->ready.op->ssk;
	bool hungry = !want->outstanding;

	if (!want->left || !want->fill.heap.n || want->end - want->first == SHUFFLE_WANTS)
		return;
	want->ready.parked = !want_has_room(ssk, hungry);
	if (want->ready.parked) {
		list_add_tail(&want->ready.node, hungry ? &ssk->hungry : &ssk->wants);
		return;
	}
	list_add_tail(&want->ready.node, &ssk->notices);
	ssk->sk.sk_data_ready(&ssk->sk);
}

static void limit(struct shuffle_want *want, u32 rank)
{
	struct shuffle_tx_sched *m = &want->fill.msg[rank];

	lockdep_assert_held(&want->ready.op->ssk->lock);
	m->limit = min(want->ready.op->tx.msg[rank].granted + want->share, m->len);
	shuffle_policy_tx_update(&want->fill, rank);
}

/* A row that does not fit the send buffer: no receiver may have more than its share of that, or it
 * keeps others from it.
 */
static void limit_all(struct shuffle_want *want)
{
	struct shuffle_op *op = want->ready.op;
	u32 i = op->fill.rank, end, left = 0;

	for (; i < op->tx.announced; i++)
		left += want->fill.msg[i].next < want->fill.msg[i].len;
	if (left < 2)
		return;
	for (i = op->fill.rank; i < op->tx.announced;) {
		end = min(i + SHUFFLE_SLICE, op->tx.announced);
		spin_lock_bh(&op->ssk->lock);
		want->share = shuffle_fill_share(op, left);
		for (; i < end; i++)
			limit(want, i);
		spin_unlock_bh(&op->ssk->lock);
	}
}

/**
 * shuffle_want_granted() - a receiver of a row that is asked for has granted more
 * @op: operation whose row is asked for
 * @rank: the receiver
 *
 * Context: any, ssk->lock held.
 */
void shuffle_want_granted(struct shuffle_op *op, u32 rank)
{
	struct shuffle_want *want = op->tx.want;

	lockdep_assert_held(&op->ssk->lock);
	if (!want->left || want->fill.msg[rank].limit == want->fill.msg[rank].len)
		return;
	limit(want, rank);
	if (list_empty(&want->ready.node))
		enqueue(want);
}

/**
 * shuffle_want_start() - the data of a row is to be asked for
 * @op: operation that has been announced; earlier calls may have brought a part of the data
 *
 * Context: process, may sleep, op->fill.mutex held.
 * Return: 0, -ENOMEM, or -EPIPE (the operation has failed).
 */
int shuffle_want_start(struct shuffle_op *op)
{
	struct shuffle_want *want = kzalloc(sizeof(*want), GFP_KERNEL_ACCOUNT);
	int err;
	u32 i;

	if (!want)
		return -ENOMEM;
	want->ready.op = op;
	want->ready.rank = SHUFFLE_WANT;
	INIT_LIST_HEAD(&want->ready.node);
	err = shuffle_fill_schedule(op, op->fill.rank, &want->fill);
	for (i = op->fill.rank; i < op->tx.announced; i++)
		want->left += op->tx.sched.msg[i].len - op->tx.msg[i].filled;
	if (!err) {
		spin_lock_bh(&op->ssk->lock);
		/* grants are not missed from now on */
		op->tx.want = want;
		spin_unlock_bh(&op->ssk->lock);
		if (want->left > shuffle_sock_sndbuf(&op->ssk->sk))
			limit_all(want);
		spin_lock_bh(&op->ssk->lock);
		/* a row that brings nothing may be done already */
		if (op->life.ended)
			err = op->life.error ? -EPIPE : 0;
		else if (list_empty(&want->ready.node))
			enqueue(want);
		spin_unlock_bh(&op->ssk->lock);
		return err;
	}
	shuffle_free_schedule(&want->fill);
	kfree(want);
	return err;
}

/**
 * shuffle_want_free() - the operation is freed
 * @want: of an operation that has ended, or NULL
 */
void shuffle_want_free(struct shuffle_want *want)
{
	if (!want)
		return;
	shuffle_free_schedule(&want->fill);
	kfree(want);
}

/**
 * shuffle_want_room() - the send buffer may have room
 * @ssk: socket
 *
 * The row that has waited longest is the next one; those that owe no answer come first.
 *
 * Context: any, ssk->lock held.
 */
void shuffle_want_room(struct shuffle_sock *ssk)
{
	struct shuffle_ready *ready;
	bool hungry;

	lockdep_assert_held(&ssk->lock);
	ready = list_first_entry_or_null(&ssk->hungry, struct shuffle_ready, node);
	hungry = ready;
	if (!hungry)
		ready = list_first_entry_or_null(&ssk->wants, struct shuffle_ready, node);
	if (!ready || !want_has_room(ssk, hungry))
		return;
	ready->parked = false;
	list_move_tail(&ready->node, &ssk->notices);
	ssk->sk.sk_data_ready(&ssk->sk);
}

/**
 * shuffle_want_stop() - nothing is asked for any more
 * @op: operation that ends
 *
 * Context: any, ssk->lock held.
 */
void shuffle_want_stop(struct shuffle_op *op)
{
	struct shuffle_want *want = op->tx.want;

	lockdep_assert_held(&op->ssk->lock);
	if (!want)
		return;
	list_del_init(&want->ready.node);
	want->ready.parked = false;
	op->ssk->wanted -= want->outstanding;
	want->outstanding = 0;
	want->left = 0;
	shuffle_want_room(op->ssk);
}

/**
 * shuffle_want_next() - recvmsg() asks the program for data
 * @ready: of a row that is asked for, in ssk->notices
 * @rec: becomes the record
 *
 * Context: process, ssk->lock held.
 * Return: false if there is nothing to ask for now: no record.
 */
bool shuffle_want_next(struct shuffle_ready *ready, struct shuffle_record *rec)
{
	struct shuffle_want *want = container_of(ready, struct shuffle_want, ready);
	struct shuffle_op *op = ready->op;
	struct shuffle_tx_sched *m;
	u32 rank, len, unit;

	lockdep_assert_held(&op->ssk->lock);
	list_del_init(&ready->node);
	if (!want_has_room(op->ssk, !want->outstanding)) {
		enqueue(want);
		return false;
	}
	rank = shuffle_policy_tx_pick(&want->fill);
	if (WARN_ON_ONCE(rank == SHUFFLE_NONE))
		return false;
	m = &want->fill.msg[rank];
	unit = shuffle_mem_scarce() ? op->rx.sched.unit : op->fill.unit;
	len = min_t(u64, m->len - m->next, unit);
	*rec = (struct shuffle_record) {
		.op_id = op->id,
		.type = SHUFFLE_RECORD_WANT,
		.rank = rank,
		.msg_len = m->len,
		.offset = m->next,
		.len = len,
	};
	m->next += len;
	shuffle_policy_tx_sent(&want->fill, rank);
	want->asked[want->end % SHUFFLE_WANTS].rank = rank;
	want->asked[want->end++ % SHUFFLE_WANTS].len = len;
	want->left -= len;
	want->outstanding += len;
	op->ssk->wanted += len;
	enqueue(want);
	shuffle_want_room(op->ssk);
	return true;
}

/**
 * shuffle_want_begin() - the program answers
 * @op: operation whose row is asked for
 * @cur: becomes the place at which its data goes on
 *
 * Context: process, op->fill.mutex held.
 * Return: bytes that have been asked for and not come, or -EPIPE (the operation has ended).
 */
s64 shuffle_want_begin(struct shuffle_op *op, struct shuffle_want_cursor *cur)
{
	struct shuffle_want *want = op->tx.want;
	s64 outstanding;

	spin_lock_bh(&op->ssk->lock);
	cur->at = want->first;
	cur->used = want->first_used;
	outstanding = op->life.ended ? -EPIPE : (s64)want->outstanding;
	spin_unlock_bh(&op->ssk->lock);
	return outstanding;
}

/**
 * shuffle_want_at() - which message comes next
 * @op: operation whose row is asked for
 * @cur: place in what has been asked for, before its end
 * @len: becomes the bytes that are missing of that record
 *
 * Context: process, op->fill.mutex held: records are only added meanwhile.
 * Return: rank of the message.
 */
u32 shuffle_want_at(const struct shuffle_op *op, const struct shuffle_want_cursor *cur, u32 *len)
{
	const struct shuffle_want *want = op->tx.want;
	u32 rank;

	spin_lock_bh(&op->ssk->lock);
	rank = want->asked[cur->at % SHUFFLE_WANTS].rank;
	*len = want->asked[cur->at % SHUFFLE_WANTS].len - cur->used;
	spin_unlock_bh(&op->ssk->lock);
	return rank;
}

/**
 * shuffle_want_advance() - the bytes at a place have been copied
 * @op: operation whose row is asked for
 * @cur: the place; moves on
 * @len: bytes, no more than shuffle_want_at() has said
 *
 * Context: process, op->fill.mutex held: the record stays what it is until it has been answered.
 */
void shuffle_want_advance(const struct shuffle_op *op, struct shuffle_want_cursor *cur, u32 len)
{
	cur->used += len;
	if (cur->used < op->tx.want->asked[cur->at % SHUFFLE_WANTS].len)
		return;
	cur->at++;
	cur->used = 0;
}

/**
 * shuffle_want_answered() - the next bytes of what was asked for have been handed over
 * @op: operation whose row is asked for
 * @bytes: their number
 *
 * Context: process, op->fill.mutex held.
 */
void shuffle_want_answered(struct shuffle_op *op, u64 bytes)
{
	struct shuffle_want *want = op->tx.want;
	u64 used;

	spin_lock_bh(&op->ssk->lock);
	if (!op->life.ended) {
		used = want->first_used + bytes;
		while (want->first != want->end &&
		       used >= want->asked[want->first % SHUFFLE_WANTS].len)
			used -= want->asked[want->first++ % SHUFFLE_WANTS].len;
		want->first_used = used;
		want->outstanding -= bytes;
		op->ssk->wanted -= bytes;
		/* it may owe nothing any more */
		if (want->ready.parked)
			list_del_init(&want->ready.node);
		if (list_empty(&want->ready.node))
			enqueue(want);
		/* it may have left already, before it counted as having come */
		shuffle_want_room(op->ssk);
	}
	spin_unlock_bh(&op->ssk->lock);
}
