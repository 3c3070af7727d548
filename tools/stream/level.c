// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Levels of durations.  The source's median of ten intervals notices five intervals late that a
 * network has become slower; and that it is as fast again only by steps of the speed-up, because
 * inputs that keep a proposal do not show how much faster they could be.
 *
 * Here two intervals in a row are enough for another level, and what was possible before is
 * remembered: as soon as an interval keeps a proposal that is faster than the level, that is tried
 * again at once.  If it fails, the next proposal is of the level that was measured.
 *
 * All of it is a function of the last STREAM_MEMORY intervals, so replicas agree.
 */
#include "history.h"

/* The durations of @n intervals, the first of which is @from old. */
static s64 median_of(const struct stream_history *h, u32 from, u32 n)
{
	s64 v[STREAM_MAX_HISTORY];
	u32 i;

	for (i = 0; i < n; i++)
		v[i] = stream_history_at(h, from + i)->duration;
	return stream_median(v, n);
}

static s64 part(s64 v, u32 in_1000)
{
	return stream_div(v * (s64)in_1000, 1000);
}

static bool is_near(s64 duration, s64 level, u32 in_1000)
{
	s64 apart = part(level, in_1000);

	return duration >= level - apart && duration <= level + apart;
}

/* It took as long as was proposed: the network may be faster than that. */
static bool kept(const struct stream_config *cfg, const struct stream_unified *u)
{
	return u->proposed && u->duration <= u->proposed + part(u->proposed, cfg->speedup / 2);
}

/* The source's median, unless the last intervals are at another level. */
static s64 level_of(const struct stream_config *cfg, const struct stream_history *h)
{
	const struct stream_unified *last = stream_history_at(h, 0);
	s64 median = stream_history_median(h), now;
	u32 n = 1;

	while (n < h->n && n < h->span &&
	       is_near(stream_history_at(h, n)->duration, last->duration, cfg->change))
		n++;
	now = median_of(h, 0, n);
	/* half way between two levels the median is neither of them */
	if (n == h->n || n == h->span || is_near(now, median, cfg->change / 4))
		return median;
	/* one alone may be an accident, but not if it was asked for */
	return n > 1 || (now < median && kept(cfg, last)) ? now : median;
}

/* It kept a proposal that was faster than the level. */
static bool is_faster(const struct stream_config *cfg, const struct stream_unified *u, s64 level)
{
	return cfg->speedup && kept(cfg, u) &&
	       u->duration <= level - part(level, cfg->speedup / 2);
}

/* What was possible before the level rose. */
static void look_back(const struct stream_config *cfg, const struct stream_history *h,
		      struct stream_outlook *o)
{
	s64 low = o->level - part(o->level, cfg->change);
	u32 from = 0, n = 0;

	while (from < h->n && is_faster(cfg, stream_history_at(h, from), o->level))
		from++;
	if (!from)
		return;
	while (from < h->n && stream_history_at(h, from)->duration >= low)
		from++;
	while (from + n < h->n && n < h->span && stream_history_at(h, from + n)->duration < low)
		n++;
	/* older ones may be missing that others have */
	o->known = n == h->span || from + n < h->n || h->n == h->size || h->whole;
	if (n > 1)
		o->back = median_of(h, from, n);
}

/**
 * stream_look() - what is to be expected
 * @cfg: the stream
 * @h: the history: not empty
 * @o: to be filled in
 *
 * With @cfg->change 0 that is the source's median, and the deviation of all lags.
 */
void stream_look(const struct stream_config *cfg, const struct stream_history *h,
		 struct stream_outlook *o)
{
	s64 apart;

	*o = (struct stream_outlook){ .level = stream_history_median(h), .known = true };
	if (!cfg->change) {
		o->deviation = stream_history_deviation(h, 0, S64_MAX);
		return;
	}
	o->level = level_of(cfg, h);
	apart = part(o->level, cfg->change + cfg->speedup);
	o->deviation = stream_history_deviation(h, o->level - apart, o->level + apart);
	look_back(cfg, h, o);
}
