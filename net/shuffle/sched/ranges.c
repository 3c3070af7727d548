// SPDX-License-Identifier: GPL-2.0-only
/* Which bytes of a message have arrived (portable: see portable.h). */
#include "ranges.h"

/**
 * shuffle_ranges_missing() - find the first gap in [@from, @to)
 * @r: ranges
 * @from: first byte to look at
 * @to: byte behind the last to look at
 * @gap: result: bytes that have not arrived, cut to [@from, @to)
 *
 * Return: false if all of [@from, @to) has arrived.
 */
bool shuffle_ranges_missing(const struct shuffle_ranges *r, u64 from, u64 to,
			    struct shuffle_range *gap)
{
	u32 i;

	if (from < r->prefix)
		from = r->prefix;
	for (i = 0; i < r->n && from < to; i++) {
		if (r->island[i].end <= from)
			continue;
		if (r->island[i].start > from)
			break;
		from = r->island[i].end;
	}
	if (from >= to)
		return false;
	gap->start = from;
	gap->end = to;
	if (i < r->n && r->island[i].start < to)
		gap->end = r->island[i].start;
	return true;
}

/**
 * shuffle_ranges_add() - note that bytes have arrived
 * @r: ranges; @r->island must not be NULL unless @start <= @r->prefix
 * @start: first byte
 * @end: byte behind the last; no byte of [@start, @end) may have arrived before
 *
 * Return: 0, or -ENOSPC if SHUFFLE_RANGES_MAX islands exist already and the bytes
 * would need another one; nothing has changed then.
 */
int shuffle_ranges_add(struct shuffle_ranges *r, u64 start, u64 end)
{
	u32 i;

	if (start >= end)
		return 0;
	if (start <= r->prefix) {
		r->bytes += end - start;
		r->prefix = end;
		if (r->n && r->island[0].start == end) {
			r->prefix = r->island[0].end;
			r->n--;
			memmove(r->island, r->island + 1, r->n * sizeof(*r->island));
		}
		return 0;
	}

	/* From the end: most data extends the last island or begins one behind it. */
	for (i = r->n; i > 0 && r->island[i - 1].start > start; i--)
		;
	if (i > 0 && r->island[i - 1].end == start) {
		r->bytes += end - start;
		r->island[i - 1].end = end;
		if (i < r->n && r->island[i].start == end) {
			r->island[i - 1].end = r->island[i].end;
			r->n--;
			memmove(r->island + i, r->island + i + 1,
				(r->n - i) * sizeof(*r->island));
		}
		return 0;
	}
	if (i < r->n && r->island[i].start == end) {
		r->bytes += end - start;
		r->island[i].start = start;
		return 0;
	}
	if (r->n >= SHUFFLE_RANGES_MAX)
		return -ENOSPC;
	memmove(r->island + i + 1, r->island + i, (r->n - i) * sizeof(*r->island));
	r->island[i].start = start;
	r->island[i].end = end;
	r->n++;
	r->bytes += end - start;
	return 0;
}
