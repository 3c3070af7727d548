// SPDX-License-Identifier: GPL-2.0-only
/* What must hold, computed the slow way (see model.h). */
#include "model.h"

/**
 * shuffle_model_heap() - check a heap
 * @h: heap
 * @ids: indices that exist
 *
 * Return: NULL, or what is wrong.
 */
const char *shuffle_model_heap(const struct shuffle_heap *h, u32 ids)
{
	u32 in = 0;
	u32 i;

	if (h->n > ids)
		return "heap: more in it than exist";
	for (i = 0; i < h->n; i++) {
		u32 id = h->node[i].id;

		if (id >= ids)
			return "heap: no such index";
		if (h->node[id].at != i + 1)
			return "heap: an index does not know its position";
		if (i && h->node[(i - 1) / 2].key < h->node[i].key)
			return "heap: a child is greater than its parent";
	}
	for (i = 0; i < ids; i++)
		in += h->node[i].at != 0;
	return in == h->n ? NULL : "heap: an outsider has a position";
}

/**
 * shuffle_model_ranges() - compare ranges with a map of bytes
 * @r: ranges
 * @base: all bytes below have arrived
 * @map: for each byte from @base on: has it arrived?
 * @len: bytes of the map; none behind it has arrived
 *
 * Return: NULL, or what is wrong.
 */
const char *shuffle_model_ranges(const struct shuffle_ranges *r, u64 base,
				 const u8 *map, u32 len)
{
	u64 bytes = base;
	u32 island = 0;
	u32 i = 0;

	while (i < len && map[i])
		i++;
	if (r->prefix != base + i)
		return "ranges: prefix";
	bytes += i;
	while (i < len) {
		u32 start;

		if (!map[i]) {
			i++;
			continue;
		}
		start = i;
		while (i < len && map[i])
			i++;
		bytes += i - start;
		if (island >= r->n)
			return "ranges: an island is missing";
		if (r->island[island].start != base + start)
			return "ranges: start of an island";
		if (r->island[island].end != base + i)
			return "ranges: end of an island";
		island++;
	}
	if (island != r->n)
		return "ranges: an island too many";
	return r->bytes == bytes ? NULL : "ranges: count of bytes";
}

/**
 * shuffle_model_missing() - compare shuffle_ranges_missing() with a map of bytes
 * @r: ranges
 * @base: all bytes below have arrived
 * @map: for each byte from @base on: has it arrived?
 * @len: bytes of the map
 * @from: look from this byte of the map on
 * @to: and not at or behind this one
 *
 * Return: NULL, or what is wrong.
 */
const char *shuffle_model_missing(const struct shuffle_ranges *r, u64 base,
				  const u8 *map, u32 len, u32 from, u32 to)
{
	struct shuffle_range gap = { 0, 0 };
	u32 start = from;
	u32 end;
	bool found;

	found = shuffle_ranges_missing(r, base + from, base + to, &gap);
	if (to > len)
		return "ranges: bad question";
	while (start < to && map[start])
		start++;
	if (start >= to)
		return found ? "ranges: a gap where there is none" : NULL;
	for (end = start; end < to && !map[end]; end++)
		;
	if (!found)
		return "ranges: a gap not found";
	if (gap.start != base + start || gap.end != base + end)
		return "ranges: a gap in another place";
	return NULL;
}

/**
 * shuffle_model_tx() - check a sender's schedule
 * @tx: schedule
 *
 * Return: NULL, or what is wrong.
 */
const char *shuffle_model_tx(const struct shuffle_policy_tx *tx)
{
	bool may_send;
	u32 i;

	for (i = 0; i < tx->n; i++) {
		const struct shuffle_tx_sched *m = &tx->msg[i];

		if (m->next > m->len || m->limit > m->len)
			return "tx: beyond the end of the message";
		may_send = m->next < m->limit;
		if (may_send != !!tx->heap.node[i].at)
			return "tx: in the heap and cannot send, or the reverse";
	}
	return shuffle_model_heap(&tx->heap, tx->n);
}

/**
 * shuffle_model_rx() - check a receiver's schedule
 * @rx: schedule
 *
 * Return: NULL, or what is wrong.
 */
const char *shuffle_model_rx(const struct shuffle_policy_rx *rx)
{
	u64 outstanding = 0;
	u64 announced_len = 0;
	u64 rem = 0;
	u32 unannounced = 0;
	u32 active = 0;
	u32 i;

	for (i = 0; i < rx->n; i++) {
		const struct shuffle_rx_sched *m = &rx->msg[i];

		if (!m->announced) {
			unannounced++;
			if (rx->heap.node[i].at)
				return "rx: a message not heard of is in the heap";
			continue;
		}
		if (m->granted > m->len)
			return "rx: granted beyond the end";
		if (m->received > m->granted)
			return "rx: more received than granted";
		if (!m->stalled)
			outstanding += m->granted - m->received;
		announced_len += m->len;
		rem += m->len - m->received;
		active += m->active;
		if (m->granted == m->len && rx->heap.node[i].at)
			return "rx: all is granted, yet it is in the heap";
		if (m->granted == m->len && m->active)
			return "rx: all is granted, yet it is active";
		/* or nobody would ever grant it the rest */
		if (m->granted < m->len && !rx->heap.node[i].at &&
		    m->granted == m->received)
			return "rx: a message waits for nothing";
	}
	if (rx->outstanding != outstanding)
		return "rx: outstanding is not the sum";
	if (rx->rem != rem)
		return "rx: rem is not the sum";
	if (rx->announced_len != announced_len)
		return "rx: announced_len is not the sum";
	if (rx->unannounced != unannounced)
		return "rx: unannounced is not the count";
	if (rx->hadoop_active != active)
		return "rx: hadoop_active is not the count";
	if (rx->kind == SHUFFLE_POLICY_HADOOP && active > rx->hadoop_c)
		return "rx: more active than C";
	return shuffle_model_heap(&rx->heap, rx->n);
}

/**
 * shuffle_model_limit() - the part of the limit that may be used by now
 * @rx: schedule
 * @max_out: limit of the whole column
 *
 * Return: bytes: the share of the senders that were heard.
 */
u64 shuffle_model_limit(const struct shuffle_policy_rx *rx, u64 max_out)
{
	u64 each = shuffle_div64(max_out, rx->n);
	u64 rest = max_out - each * rx->n;
	u32 heard = 0;
	u32 i;

	for (i = 0; i < rx->n; i++)
		heard += rx->msg[i].announced;
	return each * heard + shuffle_div64(rest * heard, rx->n);
}

/* what the next grant of a message is */
static u64 amount_of(const struct shuffle_policy_rx *rx, u32 i, u64 before, u64 room)
{
	const struct shuffle_rx_sched *m = &rx->msg[i];
	u64 left = m->len - before, amount;
	u32 n = 1;

	if (rx->kind != SHUFFLE_POLICY_HADOOP && !rx->constant_window && !m->unit_only_left)
		while (n < rx->burst && (n + 1) * 8ULL * rx->unit <= m->len)
			n++;
	amount = shuffle_policy_amount(left, n * rx->unit);
	return amount <= room ? amount : shuffle_policy_amount(left, rx->unit);
}

/* greatest key of those that are in the heap and whose window has room, and the
 * most that one with this key would be granted: 0 if there is none
 */
static u64 best_key(const struct shuffle_policy_rx *rx, u64 limit, u64 rtt_bytes,
		    u64 room, u64 *most)
{
	u64 best = 0;
	u32 i;

	*most = 0;

	for (i = 0; i < rx->n; i++) {
		const struct shuffle_rx_sched *m = &rx->msg[i];
		u64 out = m->granted - m->received;
		u64 amount = amount_of(rx, i, m->granted, room);
		u64 window, key;

		if (!rx->heap.node[i].at)
			continue;
		if (rx->kind != SHUFFLE_POLICY_HADOOP)
			window = shuffle_policy_window(rx, i, limit);
		else
			window = rtt_bytes > rx->unit ? rtt_bytes : rx->unit;
		if (out && out + amount > window)
			continue;
		key = shuffle_heap_key(&rx->heap, i);
		if (*most && key < best)
			continue;
		if (key > best || amount > *most)
			*most = amount;
		best = key;
	}
	return best;
}

/**
 * shuffle_model_grant() - call shuffle_policy_rx_grant() and check its choice
 * @rx: schedule
 * @max_out: as there
 * @rtt_bytes: as there
 * @room: as there
 * @granted: result: what it returned
 *
 * Return: NULL, or what is wrong.
 */
const char *shuffle_model_grant(struct shuffle_policy_rx *rx, u64 max_out,
				u64 rtt_bytes, u64 room, u32 *granted)
{
	bool hadoop = rx->kind == SHUFFLE_POLICY_HADOOP;
	u64 limit = shuffle_model_limit(rx, max_out);
	u32 pulled = rx->hadoop_active;
	u64 before = rx->outstanding;
	u64 total = 0;
	struct shuffle_rx_sched *m;
	u64 out, window, amount, key, best, most;
	u32 i;

	best = best_key(rx, limit, rtt_bytes, room, &most);
	for (i = 0; i < rx->n; i++)
		total += rx->msg[i].granted;
	*granted = shuffle_policy_rx_grant(rx, max_out, rtt_bytes, room);
	i = *granted;
	if (i == SHUFFLE_NONE) {
		if (rx->outstanding != before)
			return "grant: none, yet outstanding has changed";
		if (most && most <= room &&
		    (hadoop ? best >> 32 || pulled < rx->hadoop_c :
			      !before || before + most <= limit))
			return "grant: none, though there is room";
		return shuffle_model_rx(rx);
	}
	if (i >= rx->n)
		return "grant: no such message";
	m = &rx->msg[i];
	for (amount = 0, i = 0; i < rx->n; i++)
		amount += rx->msg[i].granted;
	amount -= total;
	i = *granted;
	if (!amount || amount > m->granted || amount > room)
		return "grant: amount";
	if (amount != amount_of(rx, i, m->granted - amount, room))
		return "grant: neither its units nor the rest";
	if (rx->outstanding != before + (m->stalled ? 0 : amount))
		return "grant: outstanding has not grown by it";

	out = m->granted - m->received;
	if (hadoop) {
		window = rtt_bytes > rx->unit ? rtt_bytes : rx->unit;
	} else {
		window = shuffle_policy_window(rx, i, limit);
		if (before && before + amount > limit)
			return "grant: beyond the limit";
		key = shuffle_policy_prio(rx->kind, m->seed, m->len,
					  m->granted - amount, rx->unit);
		if (key != best)
			return "grant: another one comes first";
	}
	if (out > window && out > amount)
		return "grant: beyond the window";
	return shuffle_model_rx(rx);
}
