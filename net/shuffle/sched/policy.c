// SPDX-License-Identifier: GPL-2.0-only
/* The schedule (portable: see portable.h, policy.h). */
#include "policy_ops.h"

/* part / whole in 1/2^32, for part <= whole, without 128-bit arithmetic */
static u64 fraction(u64 part, u64 whole)
{
	while (whole > U32_MAX) {
		whole >>= 1;
		part >>= 1;
	}
	return shuffle_div64(part << 32, whole);
}

/* What fraction of a message is left, in 1/2^32, greater is sooner:
 * 1 - (random offset inside the unit) / len (section 3.3).  The randomness keeps equal messages
 * from meeting at their receiver in lock step, the seed lets both ends agree.  Consecutive seeds
 * give offsets that lie evenly between each other (multiples of the golden ratio), so that hosts
 * whose seeds are shifted against each other prefer different receivers at any moment.
 */
static u64 grpf_prio(u32 seed, u64 len, u64 off, u32 unit)
{
	u64 left = len - off;
	u32 span = left < unit ? (u32)left : unit;

	if (!len)
		return U64_MAX;
	if (span > 1)
		left -= ((u64)(seed * 0x9e3779b1U + shuffle_policy_mix(0, off)) * span) >> 32;
	return fraction(left, len);
}

static const struct shuffle_policy_ops grpf = {
	.prio = grpf_prio,
};

/* The module has one policy, and the compiler sees which: no call goes through a pointer.  The
 * simulator and the unit tests have its rivals beside it.
 */
static const struct shuffle_policy_ops *ops_of(u8 kind)
{
#ifdef SHUFFLE_RIVALS
	if (kind != SHUFFLE_POLICY_GRPF)
		return shuffle_rivals[kind];
#endif
	return &grpf;
}

/* a * b / c for b <= c, rounded down (up to the bits that a large c loses) */
static u64 mul_div(u64 a, u64 b, u64 c)
{
	u64 whole;

	while (c > U32_MAX) {
		c >>= 1;
		b >>= 1;
	}
	if (!c)
		return 0;
	if (a <= U32_MAX)
		return shuffle_div64(a * b, c);
	/* More than 4 GiB may be outstanding: 1000 times 64 MiB.  What a has beyond
	 * multiples of c is below 2^32, and so is b: their product fits.
	 */
	whole = shuffle_div64(a, c);
	return whole * b + shuffle_div64((a - whole * c) * b, c);
}

/**
 * shuffle_policy_prio() - scheduling priority of a unit of a message
 * @kind: enum shuffle_policy_kind
 * @seed: of the message
 * @len: bytes of the message
 * @off: first byte of the unit, below @len (or both 0)
 * @unit: bytes of a unit
 *
 * Return: the priority, greater is sooner.
 */
u64 shuffle_policy_prio(u8 kind, u32 seed, u64 len, u64 off, u32 unit)
{
	return ops_of(kind)->prio(seed, len, off, unit);
}

/**
 * shuffle_policy_seed() - seed of the priorities of one message
 * @seed: of the operation, the same at all members
 * @from: rank of its sender
 * @to: rank of its receiver
 * @members: of the group
 *
 * Counted from the sender's own rank: no two senders begin with one receiver.
 *
 * Return: the seed.
 */
u32 shuffle_policy_seed(u32 seed, u32 from, u32 to, u32 members)
{
	return seed + (to < from ? to + members - from : to - from);
}

static u32 tx_seed(const struct shuffle_policy_tx *tx, u32 i)
{
	return shuffle_policy_seed(tx->seed, tx->rank, i, tx->members);
}

static u64 tx_key(const struct shuffle_policy_tx *tx, u32 i)
{
	const struct shuffle_tx_sched *m = &tx->msg[i];

	if (ops_of(tx->kind)->round_robin && tx->served)
		return U64_MAX - tx->served[i];
	return shuffle_policy_prio(tx->kind, tx_seed(tx, i), m->len, m->next, tx->unit);
}

/**
 * shuffle_policy_tx_update() - a message's limit has changed, or its next without a packet
 * @tx: schedule
 * @i: message
 */
void shuffle_policy_tx_update(struct shuffle_policy_tx *tx, u32 i)
{
	const struct shuffle_tx_sched *m = &tx->msg[i];

	if (m->next >= m->limit) {
		shuffle_heap_remove(&tx->heap, i);
		return;
	}
	shuffle_heap_set(&tx->heap, i, tx_key(tx, i));
}

/**
 * shuffle_policy_tx_sent() - a packet or more of a message has been sent
 * @tx: schedule
 * @i: message, whose next has changed
 */
void shuffle_policy_tx_sent(struct shuffle_policy_tx *tx, u32 i)
{
	tx->turn++;
	if (tx->served)
		tx->served[i] = tx->turn;
	shuffle_policy_tx_update(tx, i);
}

/**
 * shuffle_policy_tx_pick() - the message that sends next
 * @tx: schedule
 *
 * Return: the message, or SHUFFLE_NONE.
 */
u32 shuffle_policy_tx_pick(const struct shuffle_policy_tx *tx)
{
	return tx->heap.n ? shuffle_heap_top(&tx->heap) : SHUFFLE_NONE;
}

/* All of a message that is no longer than @max, otherwise whole packets. */
static u64 most_unscheduled(u64 len, u32 packet, u64 max)
{
	return len <= max ? len : shuffle_div64(max, packet) * packet;
}

/**
 * shuffle_policy_unscheduled() - what may be sent without a grant
 * @tx: schedule whose heap is empty; the limit of the messages in question is
 *	set to what each may send, and the heap is empty again at the end
 * @from: first message
 * @to: behind the last
 * @budget: bytes, about RTTbytes
 * @packet: payload bytes of a packet
 * @max: most that one message may have; less than a packet: only short ones have any
 *
 * The first @budget bytes, in whole packets, of the packet schedule sorted by
 * priority (section 3.3), which is pro rata to length.
 *
 * Return: bytes allotted.
 */
u64 shuffle_policy_unscheduled(struct shuffle_policy_tx *tx, u32 from, u32 to,
			       u64 budget, u32 packet, u64 max)
{
	u64 used = 0;
	u32 i;

	for (i = from; i < to; i++) {
		tx->msg[i].limit = most_unscheduled(tx->msg[i].len, packet, max);
		used += tx->msg[i].limit;
	}
	if (used <= budget)
		return used;
	used = 0;
	for (i = from; i < to; i++) {
		bool any = tx->msg[i].limit;

		tx->msg[i].limit = 0;
		if (any)
			shuffle_heap_set(&tx->heap, i,
					 shuffle_policy_prio(tx->kind, tx_seed(tx, i),
							     tx->msg[i].len, 0, packet));
	}
	while (used < budget && tx->heap.n) {
		u32 top = shuffle_heap_top(&tx->heap);
		struct shuffle_tx_sched *m = &tx->msg[top];
		u64 take = m->len - m->limit;

		if (take > packet)
			take = packet;
		m->limit += take;
		used += take;
		if (m->limit == most_unscheduled(m->len, packet, max))
			shuffle_heap_remove(&tx->heap, top);
		else
			shuffle_heap_set(&tx->heap, top,
					 shuffle_policy_prio(tx->kind, tx_seed(tx, top),
							     m->len, m->limit, packet));
	}
	while (tx->heap.n)
		shuffle_heap_remove(&tx->heap, shuffle_heap_top(&tx->heap));
	return used;
}

static u64 outstanding(const struct shuffle_rx_sched *m)
{
	return m->granted > m->received ? m->granted - m->received : 0;
}

/* what a message counts for in rx->outstanding */
static u64 counted(const struct shuffle_rx_sched *m)
{
	return m->stalled ? 0 : outstanding(m);
}

/**
 * shuffle_policy_rx_total_rem() - bytes that the receiver still waits for
 * @rx: schedule
 *
 * Messages not heard of count as if they were as long as the others are on
 * average, so that the first to be heard do not take every grant (the caveat at
 * the end of section 3.4).
 *
 * Return: bytes.
 */
u64 shuffle_policy_rx_total_rem(const struct shuffle_policy_rx *rx)
{
	u32 announced = rx->n - rx->absent - rx->unannounced;

	if (!rx->unannounced || !announced)
		return rx->rem;
	return rx->rem + shuffle_div64(rx->announced_len, announced) * rx->unannounced;
}

/**
 * shuffle_policy_window() - most that may be outstanding on a message
 * @rx: schedule
 * @i: message
 * @max_out: limit of the whole column, bytes
 *
 * max(1 unit, floor(max_out * msg_rem / total_rem)): pro rata sliding windows
 * (section 3.4, equation 3.8).
 *
 * Return: bytes.
 */
u64 shuffle_policy_window(const struct shuffle_policy_rx *rx, u32 i, u64 max_out)
{
	const struct shuffle_rx_sched *m = &rx->msg[i];
	u64 total = shuffle_policy_rx_total_rem(rx);
	u64 rem = m->len - m->received;
	u64 w = rem < total ? mul_div(max_out, rem, total) : max_out;

	return w > rx->unit ? w : rx->unit;
}

static u64 rem(const struct shuffle_rx_sched *m)
{
	return m->len - m->received;
}

/* With headroom: the message with the most yet to arrive, as far as arrivals have shown. */
static void find_largest(struct shuffle_policy_rx *rx, u32 i)
{
	if (rx->sim.headroom > 1 && rem(&rx->msg[i]) > rem(&rx->msg[rx->sim.largest]))
		rx->sim.largest = i;
}

/* Bytes of one sender alone never queue at our port: only those of the others do,
 * in front of them.  So what the limit is for is the others' part of the grants;
 * windows stay pro rata.  A receiver with one large message gives its sender so
 * much that it need not stop when we are preempted.
 */
static u64 with_headroom(const struct shuffle_policy_rx *rx, u64 max_out)
{
	u64 most, whole, others;
	u32 times = rx->sim.headroom;

	if (times <= 1 || !rx->rem)
		return max_out;
	others = rx->rem - rem(&rx->msg[rx->sim.largest]);
	most = max_out > shuffle_div64(U64_MAX, times) ? U64_MAX : max_out * times;
	if (others <= shuffle_div64(rx->rem, times))
		return most;
	/* max_out * rem / others, which is less than most */
	whole = shuffle_div64(rx->rem, others);
	return max_out * whole + mul_div(max_out, rx->rem - whole * others, others);
}

/* A receiver that has less left than the slowest one leaves the links that they share to
 * the slowest.  Equation 3.13 is the first power of the ratio, equation 3.14 with its n is power
 * n + 1.  Powers react to old knowledge of the slowest, too, by slowing everybody down.
 */
static u64 limit_to_slowest(const struct shuffle_policy_rx *rx, u64 max_out)
{
	u64 total = shuffle_policy_rx_total_rem(rx);
	u32 i;

	if (total >= rx->slowest)
		return max_out;
	for (i = 0; i < rx->scale_back; i++)
		max_out = mul_div(max_out, total, rx->slowest);
	return max_out;
}

static void rx_update(struct shuffle_policy_rx *rx, u32 i)
{
	const struct shuffle_rx_sched *m = &rx->msg[i];
	const struct shuffle_policy_ops *ops = ops_of(rx->kind);
	u64 key;

	if (m->granted >= m->len) {
		shuffle_heap_remove(&rx->heap, i);
		return;
	}
	if (ops->grant_prio)
		key = ops->grant_prio(rx, i);
	else
		key = shuffle_policy_prio(rx->kind, m->seed, m->len, m->granted, rx->unit);
	shuffle_heap_set(&rx->heap, i, key);
}

/* a message is granted whole, or stalled; true if its priority has changed */
static bool rx_released(struct shuffle_policy_rx *rx, u32 i)
{
	const struct shuffle_policy_ops *ops = ops_of(rx->kind);

	return ops->released && ops->released(rx, i);
}

/**
 * shuffle_policy_rx_announced() - the length of a message has become known
 * @rx: schedule
 * @i: message, not heard of before
 * @len: length of the message, bytes
 * @unsched: bytes that its sender sends unasked; they count as granted
 * @seed: of its priorities
 */
void shuffle_policy_rx_announced(struct shuffle_policy_rx *rx, u32 i, u64 len,
				 u64 unsched, u32 seed)
{
	struct shuffle_rx_sched *m = &rx->msg[i];

	m->announced = true;
	m->len = len;
	m->seed = seed;
	m->granted = unsched < len ? unsched : len;
	rx->unannounced--;
	rx->announced_len += len;
	rx->rem += len;
	rx->outstanding += counted(m);
	find_largest(rx, i);
	rx_update(rx, i);
}

/**
 * shuffle_policy_rx_absent() - there is no such message
 * @rx: schedule
 * @i: message, not heard of before
 */
void shuffle_policy_rx_absent(struct shuffle_policy_rx *rx, u32 i)
{
	rx->msg[i].announced = true;
	rx->unannounced--;
	rx->absent++;
}

/**
 * shuffle_policy_rx_arrived() - bytes of a message have arrived
 * @rx: schedule
 * @i: message
 * @bytes: how many that had not arrived before
 * @end: behind the last of them; a sender may round a grant up to a packet
 */
void shuffle_policy_rx_arrived(struct shuffle_policy_rx *rx, u32 i, u64 bytes, u64 end)
{
	struct shuffle_rx_sched *m = &rx->msg[i];
	bool same = end <= m->granted;

	rx->outstanding -= counted(m);
	m->stalled = false;
	if (m->unit_only_left)
		m->unit_only_left--;
	if (end > m->granted)
		m->granted = end;
	m->received += bytes;
	rx->rem -= bytes;
	find_largest(rx, i);
	rx->outstanding += counted(m);
	if (m->granted >= m->len)
		rx_released(rx, i);
	/* a priority is of what is granted next, but for policies with their own */
	if (!same || ops_of(rx->kind)->grant_prio || !shuffle_heap_has(&rx->heap, i))
		rx_update(rx, i);
}

/**
 * shuffle_policy_rx_stalled() - a sender has not delivered in time
 * @rx: schedule
 * @i: rank of the sender, whose message is late
 *
 * Until it does, others get what was granted to it: receivers that wait for a
 * sender which waits for another receiver would otherwise wait for ever.
 */
void shuffle_policy_rx_stalled(struct shuffle_policy_rx *rx, u32 i)
{
	struct shuffle_rx_sched *m = &rx->msg[i];

	rx->outstanding -= counted(m);
	m->stalled = true;
	/* Its buffer may be too small for several units: it is freed as we grant.  Or it was
	 * late for another reason: twice as long for each time.
	 */
	if (m->stalls < SHUFFLE_STALLS_MAX)
		m->stalls++;
	m->unit_only_left = SHUFFLE_UNIT_ONLY_ARRIVALS << m->stalls;
	if (rx_released(rx, i))
		rx_update(rx, i);
}

/* Bytes of a message's next grant.  As many units as SHUFFLE_GRANTS_PER_MSG allows, and
 * one only where windows are constant: they have room for two.
 */
static u64 amount_of(const struct shuffle_policy_rx *rx, const struct shuffle_rx_sched *m)
{
	u64 n = 1;

	if (rx->burst > 1 && !m->unit_only_left && !rx->constant_window &&
	    !ops_of(rx->kind)->unit_only &&
	    m->len / SHUFFLE_GRANTS_PER_MSG >= 2ULL * rx->unit) {
		n = shuffle_div64(m->len / SHUFFLE_GRANTS_PER_MSG, rx->unit);
		if (n > rx->burst)
			n = rx->burst;
	}
	return shuffle_policy_amount(m->len - m->granted, (u32)n * rx->unit);
}

/* most that may be outstanding on a message */
static u64 window_of(const struct shuffle_policy_rx *rx, u32 i, u64 max_out, u64 rtt_bytes)
{
	const struct shuffle_policy_ops *ops = ops_of(rx->kind);

	if (ops->window)
		return ops->window(rx, i, rtt_bytes);
	if (rx->constant_window)
		return shuffle_policy_constant_window(rx, rtt_bytes);
	return shuffle_policy_window(rx, i, max_out);
}

/**
 * shuffle_policy_rx_grant() - choose a message and grant it more
 * @rx: schedule
 * @max_out: most that may be outstanding on the whole column, bytes
 * @rtt_bytes: Hadoop's window of a message, and any constant one, bytes
 * @room: most that this grant may promise (memory), bytes
 *
 * GRPF (listing 3): of the messages whose window has room, the one with the
 * greatest fraction left to grant.  A message at its window leaves the heap and
 * comes back when its sender delivers, so a stalled sender costs nothing.
 *
 * Return: the message, whose granted has grown, or SHUFFLE_NONE.
 */
u32 shuffle_policy_rx_grant(struct shuffle_policy_rx *rx, u64 max_out, u64 rtt_bytes,
			    u64 room)
{
	const struct shuffle_policy_ops *ops = ops_of(rx->kind);

	/* At the start, keep for those not heard of what is theirs: otherwise all
	 * receivers give everything to the same early senders.  The windows below
	 * are shares of this smaller limit, so they start small on purpose: with
	 * windows of the whole limit skewed matrices took up to 10 % longer.
	 */
	if (rx->unannounced)
		max_out = mul_div(max_out, rx->n - rx->unannounced, rx->n);
	else
		max_out = with_headroom(rx, max_out);
	if (rx->scale_back)
		max_out = limit_to_slowest(rx, max_out);
	while (rx->heap.n) {
		u32 i = shuffle_heap_top(&rx->heap);
		struct shuffle_rx_sched *m = &rx->msg[i];
		u64 amount, window;

		if (ops->may_grant && !ops->may_grant(rx, i))
			return SHUFFLE_NONE;
		window = window_of(rx, i, max_out, rtt_bytes);
		amount = amount_of(rx, m);
		if (amount > room)
			amount = shuffle_policy_amount(m->len - m->granted, rx->unit);
		if (outstanding(m) + amount > window && outstanding(m)) {
			shuffle_heap_remove(&rx->heap, i);
			continue;
		}
		if (!ops->unlimited && rx->outstanding &&
		    rx->outstanding + amount > max_out)
			return SHUFFLE_NONE;
		if (amount > room)
			return SHUFFLE_NONE;

		rx->outstanding -= counted(m);
		m->granted += amount;
		rx->outstanding += counted(m);
		if (ops->granted)
			ops->granted(rx, i);
		if (m->granted >= m->len)
			rx_released(rx, i);
		rx_update(rx, i);
		return i;
	}
	return SHUFFLE_NONE;
}
