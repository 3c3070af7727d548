// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* The last intervals, and what is proposed because of them. */
#include "history.h"

/**
 * stream_history_init() - nothing is known yet
 * @h: to be filled in
 * @cfg: the stream
 * @whole: because nothing has been yet
 */
void stream_history_init(struct stream_history *h, const struct stream_config *cfg, bool whole)
{
	h->span = cfg->history;
	h->size = cfg->history;
	if (cfg->change && h->size < STREAM_MEMORY)
		h->size = STREAM_MEMORY;
	h->whole = whole;
	h->n = 0;
	h->at = 0;
}

/**
 * stream_history_at() - one of them
 * @h: the history
 * @age: 0 for the last one, less than @h->n
 *
 * Return: the interval.
 */
const struct stream_unified *stream_history_at(const struct stream_history *h, u32 age)
{
	return &h->last[h->at > age ? h->at - 1 - age : h->at + h->size - 1 - age];
}

/**
 * stream_history_add() - an interval is complete
 * @h: the history
 * @u: the interval
 */
void stream_history_add(struct stream_history *h, const struct stream_unified *u)
{
	h->last[h->at] = *u;
	h->at = h->at + 1 == h->size ? 0 : h->at + 1;
	if (h->n < h->size)
		h->n++;
}

/**
 * stream_history_latest() - the last one
 * @h: the history
 *
 * Return: the interval that was added last, or NULL.
 */
const struct stream_unified *stream_history_latest(const struct stream_history *h)
{
	return h->n ? stream_history_at(h, 0) : NULL;
}

/**
 * stream_history_median() - the source's med_durm_hist
 * @h: the history
 *
 * Return: median of the durations, ns; 0 without any.
 */
s64 stream_history_median(const struct stream_history *h)
{
	s64 v[STREAM_MAX_HISTORY];
	u32 i;

	for (i = 0; i < h->n && i < h->span; i++)
		v[i] = stream_history_at(h, i)->duration;
	return stream_median(v, i);
}

/**
 * stream_history_deviation() - how much the lags differ
 * @h: the history
 * @low: proposals below, ns, were for another level of durations
 * @high: and those above, likewise
 *
 * A lag is the distance between what was measured and what was proposed.  An interval without
 * proposal has none: it counts as 0.  One whose proposal was for another level says nothing of this
 * one: it does not count.
 *
 * Source: section III.B.2: the root of VAR; there all lags count.
 * Return: their standard deviation, ns.
 */
s64 stream_history_deviation(const struct stream_history *h, s64 low, s64 high)
{
	s64 v[STREAM_MAX_HISTORY];
	u32 i, n = 0;

	for (i = 0; i < h->n && i < h->span; i++) {
		const struct stream_unified *u = stream_history_at(h, i);

		if (!u->proposed)
			v[n++] = 0;
		else if (u->proposed >= low && u->proposed <= high)
			v[n++] = u->duration > u->proposed ? u->duration - u->proposed :
							     u->proposed - u->duration;
	}
	return stream_deviation(v, n);
}

/**
 * stream_gate() - may proposals get faster?
 * @cfg: the stream
 * @deviation: of the lags, ns
 * @median: of the durations, ns
 *
 * Source: equation 1, with the root of VAR as a part of the duration.
 * Return: whether the lags are steady enough.
 */
bool stream_gate(const struct stream_config *cfg, s64 deviation, s64 median)
{
	return (u64)deviation * 1000 <= (u64)median * cfg->gate;
}

/**
 * stream_proposed_start() - the source's tp
 * @w: the last complete interval
 * @median: of the durations, ns
 * @interval: after @w, by at most STREAM_WINDOW
 *
 * Source: section III.B.2.
 * Return: when @interval is to begin, builder's clock.
 */
s64 stream_proposed_start(const struct stream_unified *w, s64 median, u64 interval)
{
	return w->start + w->duration + (s64)(interval - w->interval - 1) * median;
}

/**
 * stream_proposed_duration() - the source's durp
 * @cfg: the stream
 * @deviation: of the lags, ns
 * @median: of the durations, ns
 *
 * Source: equation 1.
 * Return: the median, less the speed-up if the gate is open; within the bounds of @cfg; ns.
 */
s64 stream_proposed_duration(const struct stream_config *cfg, s64 deviation, s64 median)
{
	s64 d = median;

	if (stream_gate(cfg, deviation, median))
		d = stream_div(median * (s64)(1000 - cfg->speedup), 1000);
	if (d < cfg->min_duration)
		return cfg->min_duration;
	return d > cfg->max_duration ? cfg->max_duration : d;
}
