// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times to leave: a message of a row is announced, or sent, when its time comes, and nobody hears
 * of it before (SHUFFLE_CMSG_TIMES).
 *
 * An operation has its messages sorted by time; a socket has its operations in a tree by the time
 * of their next message, and one timer, for the first of them.  All under ssk->lock.  How long a
 * row's times are is bounded by its members, and so are those of a socket: SHUFFLE_MAX_MSGS.
 */
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/time_namespace.h>

#include "../shuffle.h"

/**
 * struct times_due - a message that waits for its time
 * @at: ns, CLOCK_MONOTONIC
 * @rank: of the message
 */
struct times_due {
	u64	at;
	u32	rank;
};

/**
 * struct shuffle_op_times - messages of an operation that wait for their times
 * @node: in ssk->times, or empty
 * @op: the operation
 * @n: messages
 * @next: the first of them whose time has not come
 * @due: by time
 */
struct shuffle_op_times {
	struct rb_node		node;
	struct shuffle_op	*op;
	u32			n;
	u32			next;
	struct times_due	due[];
};

static u64 next_at(const struct shuffle_op_times *t)
{
	return t->due[t->next].at;
}

static int by_time(const void *a, const void *b)
{
	const struct times_due *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	/* sort() is not stable */
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static const u64 *times_at(const struct shuffle_times *times)
{
	return (const void *)times + times->size;
}

/* A time of the caller's CLOCK_MONOTONIC, which its time namespace may have moved by @offset, on
 * that of the machine.
 */
static u64 machine_time(u64 at, s64 offset)
{
	if (offset < 0)
		return at && at <= U64_MAX + offset ? at - offset : at;
	return at > offset ? at - offset : 0;
}

/**
 * shuffle_times_alloc() - messages of a new operation have times to leave
 * @op: operation that nobody else has seen
 * @times: what the caller says
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL: a time is too far ahead; -ENOMEM.
 */
int shuffle_times_alloc(struct shuffle_op *op, const struct shuffle_times *times)
{
	const u64 *user = times_at(times);
	struct timespec64 moved = {};
	struct shuffle_op_times *t;
	u64 now = shuffle_now(), at;
	u32 i, count = min(times->count, op->group->count);
	s64 offset;

	timens_add_monotonic(&moved);
	offset = timespec64_to_ns(&moved);
	for (i = 0; i < count; i++) {
		at = machine_time(user[i], offset);
		if (at > now && at - now > SHUFFLE_MAX_AHEAD_NS)
			return -EINVAL;
	}
	t = kvzalloc(struct_size(t, due, count), GFP_KERNEL_ACCOUNT);
	if (!t)
		return -ENOMEM;
	RB_CLEAR_NODE(&t->node);
	t->op = op;
	for (i = 0; i < count; i++) {
		at = machine_time(user[i], offset);
		if (at <= now)
			continue;
		op->out[i].held = true;
		t->due[t->n++] = (struct times_due) { .at = at, .rank = i };
	}
	sort(t->due, t->n, sizeof(*t->due), by_time, NULL);
	op->times = t;
	return 0;
}

/* Put an operation into its socket's tree.  True: it is the first. */
static bool insert(struct shuffle_sock *ssk, struct shuffle_op_times *t)
{
	struct rb_node **link = &ssk->times.rb_root.rb_node;
	struct rb_node *parent = NULL;
	bool first = true;

	while (*link) {
		parent = *link;
		if (next_at(t) < next_at(rb_entry(parent, struct shuffle_op_times, node))) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			first = false;
		}
	}
	rb_link_node(&t->node, parent, link);
	rb_insert_color_cached(&t->node, &ssk->times, first);
	return first;
}

static void start_timer(struct shuffle_sock *ssk)
{
	struct rb_node *node = rb_first_cached(&ssk->times);

	if (node)
		hrtimer_start(&ssk->times_timer,
			      ns_to_ktime(next_at(rb_entry(node, struct shuffle_op_times, node))),
			      HRTIMER_MODE_ABS_SOFT);
}

/**
 * shuffle_times_start() - an operation's row is announced: its times count from now on
 * @op: operation with times
 *
 * Context: process.
 */
void shuffle_times_start(struct shuffle_op *op)
{
	struct shuffle_op_times *t = op->times;
	struct shuffle_sock *ssk = op->ssk;

	spin_lock_bh(&ssk->lock);
	if (!op->ended && t->next < t->n && insert(ssk, t))
		start_timer(ssk);
	spin_unlock_bh(&ssk->lock);
}

/**
 * shuffle_times_stop() - an operation ends
 * @op: operation with times
 *
 * Context: any, ssk->lock held.
 */
void shuffle_times_stop(struct shuffle_op *op)
{
	struct shuffle_op_times *t = op->times;

	lockdep_assert_held(&op->ssk->lock);
	if (RB_EMPTY_NODE(&t->node))
		return;
	rb_erase_cached(&t->node, &op->ssk->times);
	RB_CLEAR_NODE(&t->node);
}

/* Some of what is due leaves: a burst of packets.  True: there is more. */
static bool leave(struct shuffle_sock *ssk, u64 now, struct sk_buff_head *q)
{
	u32 left = SHUFFLE_BURST;
	struct rb_node *node;

	while ((node = rb_first_cached(&ssk->times))) {
		struct shuffle_op_times *t = rb_entry(node, struct shuffle_op_times, node);

		if (next_at(t) > now)
			return false;
		if (!left--)
			return true;
		rb_erase_cached(&t->node, &ssk->times);
		RB_CLEAR_NODE(&t->node);
		shuffle_announce_held(t->op, t->due[t->next++].rank, q);
		/* a message to ourselves may have been the last thing to wait for */
		if (t->next < t->n && !t->op->ended)
			insert(ssk, t);
	}
	return false;
}

static enum hrtimer_restart times_fire(struct hrtimer *timer)
{
	struct shuffle_sock *ssk = container_of(timer, struct shuffle_sock, times_timer);
	struct sk_buff_head q;
	bool more;

	__skb_queue_head_init(&q);
	spin_lock(&ssk->lock);
	more = leave(ssk, shuffle_now(), &q);
	/* others want the CPU, too, and the lock */
	if (more)
		hrtimer_start(timer, ns_to_ktime(shuffle_now()), HRTIMER_MODE_ABS_SOFT);
	else
		start_timer(ssk);
	spin_unlock(&ssk->lock);
	shuffle_output_flush(shuffle_net(sock_net(&ssk->sk)), &q);
	return HRTIMER_NORESTART;
}

/**
 * shuffle_times_init() - a new socket
 * @ssk: the socket
 */
void shuffle_times_init(struct shuffle_sock *ssk)
{
	ssk->times = RB_ROOT_CACHED;
	hrtimer_init(&ssk->times_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	ssk->times_timer.function = times_fire;
}

/**
 * shuffle_times_exit() - a socket is closed
 * @ssk: the socket, which has no operations any more
 *
 * Context: process, may sleep.
 */
void shuffle_times_exit(struct shuffle_sock *ssk)
{
	hrtimer_cancel(&ssk->times_timer);
}
