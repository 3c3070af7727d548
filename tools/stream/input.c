// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* The engine of an input: intervals, times, reports. */
#include "input.h"

/**
 * stream_input_size() - memory of an engine
 * @cfg: the stream
 *
 * Return: bytes; 0 if stream_config_error() has an objection.
 */
size_t stream_input_size(const struct stream_config *cfg)
{
	if (stream_config_error(cfg))
		return 0;
	return sizeof(struct stream_input) + 1 +
	       cfg->builders * (sizeof(struct stream_place) + sizeof(struct stream_target) +
				sizeof(u32) + 1);
}

/**
 * stream_input_init() - begin
 * @memory: stream_input_size() bytes, aligned for 64-bit numbers; all that the engine ever uses
 * @cfg: the stream, which is copied
 * @input: which input: less than @cfg->inputs
 * @interval: the first to be sent
 *
 * Return: the engine, in @memory; NULL if stream_config_error() has an objection, or there is no
 * such input or interval.
 */
struct stream_input *stream_input_init(void *memory, const struct stream_config *cfg, u32 input,
				       u64 interval)
{
	struct stream_input *e = memory;
	size_t size = stream_input_size(cfg);

	if (!size || input >= cfg->inputs || interval >= STREAM_MAX_INTERVAL)
		return NULL;
	memset(memory, 0, size);
	e->cfg = *cfg;
	e->input = input;
	e->total = stream_contributions(cfg);
	e->oldest = interval;
	e->next = interval;
	e->target = (struct stream_target *)(e + 1);
	e->place = (struct stream_place *)(e->target + cfg->builders);
	e->queue = (u32 *)(e->place + cfg->builders);
	e->failed = (u8 *)(e->queue + cfg->builders);
	return e;
}

static struct stream_open *open_of(struct stream_input *e, u64 interval)
{
	return &e->open[interval % STREAM_OPEN];
}

static struct stream_proposal *proposal_of(struct stream_input *e, u64 interval)
{
	struct stream_proposal *p = &e->proposal[interval % STREAM_WINDOW];

	return p->duration && p->interval == interval ? p : NULL;
}

/**
 * stream_input_proposal() - a builder proposes an interval
 * @e: the engine
 * @p: what it says, by the input's clock; from the network, so nothing of it is believed
 * @now: input's clock, ns
 *
 * The first answer for an interval counts, whoever gave it.  A start further ahead than four
 * intervals and @cfg.timeout would stop the input: it is refused.
 *
 * Source: section III.D.
 * Return: 0; -EALREADY if there is an answer or the interval has begun; -ERANGE if it is more than
 * STREAM_WINDOW intervals ahead; -EINVAL if a value is absurd.  Each is counted, and changes
 * nothing.
 */
int stream_input_proposal(struct stream_input *e, const struct stream_proposal *p, s64 now)
{
	const struct stream_config *cfg = &e->cfg;
	s64 longest;

	if (p->duration < cfg->min_duration || p->duration > cfg->max_duration)
		goto absurd;
	longest = e->duration ? e->duration : p->duration;
	if (now < 0 || now > STREAM_MAX_TIME || p->start < 0 || p->start > STREAM_MAX_TIME)
		goto absurd;
	if (p->start > now && p->start - now > 4 * longest + cfg->timeout)
		goto absurd;
	if (p->interval < e->next || proposal_of(e, p->interval)) {
		e->counters.again++;
		return -EALREADY;
	}
	if (p->interval >= e->next + STREAM_WINDOW) {
		e->counters.absurd++;
		return -ERANGE;
	}
	e->proposal[p->interval % STREAM_WINDOW] = *p;
	e->counters.proposals++;
	return 0;
absurd:
	e->counters.absurd++;
	return -EINVAL;
}

/* May the next interval begin?  Else the step says what for it waits. */
static bool may_begin(struct stream_input *e, s64 now, struct stream_step *step)
{
	struct stream_proposal *p = proposal_of(e, e->next);
	struct stream_open *o;
	s64 start;

	if (e->begun) {
		o = open_of(e, e->next - 1);
		if (e->next - e->oldest >= STREAM_OPEN || e->next >= STREAM_MAX_INTERVAL ||
		    (u64)o->acked * 1000 < (u64)e->total * e->cfg.theta) {
			step->kind = STREAM_BLOCKED;
			return false;
		}
	}
	if (p)
		start = p->start;
	else
		start = e->duration ? e->end : now;
	if (start > now) {
		step->kind = STREAM_UNTIL;
		step->time = start;
		return false;
	}
	return true;
}

/* Begin it: with its proposal, or as before. */
static void begin(struct stream_input *e, s64 now)
{
	struct stream_proposal *p = proposal_of(e, e->next);
	struct stream_open *o = open_of(e, e->next);
	u32 i;

	o->interval = e->next;
	o->start = now;
	o->planned = now;
	if (p) {
		o->planned = p->start;
		e->duration = p->duration;
	} else if (e->duration) {
		o->planned = e->end;
		e->counters.repeated++;
	} else {
		e->counters.unguided++;
	}
	o->duration = e->duration;
	o->last = now;
	o->sent = 0;
	o->acked = 0;
	o->samples = 0;
	e->end = o->planned + o->duration;
	e->head = 0;
	e->begun = true;
	e->next++;
	for (i = 0; i < e->cfg.builders; i++)
		e->place[i] = (struct stream_place){ 0 };
	e->queue_n = 0;
}

static void send(struct stream_input *e, struct stream_open *o, u32 place, u32 builder, s64 due,
		 struct stream_step *step)
{
	struct stream_place *p = &e->place[place];

	step->kind = STREAM_SEND;
	step->builder = builder;
	step->interval = o->interval;
	step->slice = stream_first_slice(&e->cfg, o->interval) +
		      (u64)p->sent * e->cfg.builders + place;
	step->time = due;
	p->sent++;
	o->sent++;
	e->target[builder].sent++;
}

/* Contributions that were due, and have a ticket now. */
static bool send_waiting(struct stream_input *e, struct stream_open *o, s64 now,
			 struct stream_step *step)
{
	while (e->queue_n) {
		u32 place = e->queue[e->queue_at], builder;

		e->queue_at = e->queue_at + 1 == e->cfg.builders ? 0 : e->queue_at + 1;
		e->queue_n--;
		e->place[place].queued = false;
		builder = stream_place_target(e, place);
		if (!stream_ticket(e, builder))
			continue;
		send(e, o, place, builder, now, step);
		stream_place_queue(e, place);
		return true;
	}
	return false;
}

/* When the next contribution is due; a late interval has no times. */
static s64 due(const struct stream_input *e, const struct stream_open *o)
{
	if (!o->duration)
		return o->start;
	return o->start + stream_div(o->duration * (s64)e->head, e->total);
}

/**
 * stream_input_next() - what to do next
 * @e: the engine
 * @now: input's clock, ns: 0 to STREAM_MAX_TIME, never less than before
 * @step: to be filled in
 *
 * To be called whenever something has happened, until it does not say STREAM_SEND.  In an interval
 * with a duration, contribution k of n is due at start + k * duration / n, which is the source's
 * start + round * durr + step * durr / builders, rounded once.
 *
 * Source: section III.C.
 */
void stream_input_next(struct stream_input *e, s64 now, struct stream_step *step)
{
	for (;;) {
		struct stream_open *o = open_of(e, e->next - 1);
		u32 place, builder;
		bool late;
		s64 at;

		if (!e->begun || o->sent == e->total) {
			if (!may_begin(e, now, step))
				return;
			begin(e, now);
			continue;
		}
		if (send_waiting(e, o, now, step))
			return;
		if (e->head == e->total) {
			step->kind = STREAM_BLOCKED;
			return;
		}
		at = due(e, o);
		late = o->duration && now > e->end;
		if (!late && at > now) {
			step->kind = STREAM_UNTIL;
			step->time = at > e->end ? e->end + 1 : at;
			return;
		}
		place = stream_stagger(&e->cfg, e->input, e->head % e->cfg.builders);
		e->head++;
		e->counters.late += late;
		e->place[place].passed++;
		builder = stream_place_target(e, place);
		if (e->place[place].passed - e->place[place].sent > 1 ||
		    !stream_ticket(e, builder)) {
			e->counters.blocked++;
			/* Who waits for whom is only kept of a builder's own place. */
			if (builder != place)
				stream_place_queue(e, place);
			continue;
		}
		send(e, o, place, builder, at, step);
		return;
	}
}

/**
 * stream_input_ack() - a builder has a piece
 * @e: the engine
 * @slice: of which time-slice; from the network
 * @latency: since it was sent, ns; one out of bounds is taken for the nearest that is not
 * @now: input's clock, ns; likewise if it is before the interval's start
 *
 * Who sends sees to it that no piece is acknowledged twice.  However late it comes it counts: an
 * interval of which one is missing would never be over.
 *
 * Return: 0; -EINVAL if no such piece can be on its way.  It is counted, and changes nothing.
 */
int stream_input_ack(struct stream_input *e, u64 slice, s64 latency, s64 now)
{
	u64 interval = shuffle_div64(slice, e->total);
	struct stream_open *o = open_of(e, interval);
	u32 every = 1 + (e->total - 1) / STREAM_SAMPLES;

	if (interval < e->oldest || interval >= e->next || o->acked == o->sent) {
		e->counters.absurd++;
		return -EINVAL;
	}
	latency = latency < 0 ? 0 : latency;
	latency = latency > STREAM_MAX_LATENCY ? STREAM_MAX_LATENCY : latency;
	if (!(o->acked % every))
		o->latency[o->samples++] = latency;
	o->acked++;
	o->last = now > o->start ? now : o->start;
	return 0;
}

/**
 * stream_input_report() - what to tell all builders
 * @e: the engine
 * @r: to be filled in
 *
 * To be called after stream_input_ack(), until there is nothing.
 *
 * Source: section III.C, the actual meta-data.
 * Return: 0: an interval is over; -EAGAIN: none is.
 */
int stream_input_report(struct stream_input *e, struct stream_report *r)
{
	struct stream_open *o = open_of(e, e->oldest);
	s64 duration;

	if (e->oldest == e->next || o->acked < e->total)
		return -EAGAIN;
	duration = o->last - o->start;
	if (duration < e->cfg.min_duration)
		duration = e->cfg.min_duration;
	if (duration > e->cfg.max_duration)
		duration = e->cfg.max_duration;
	*r = (struct stream_report){
		.interval = o->interval,
		.request = o->interval + 2,
		.start = o->start,
		.duration = duration,
		.proposed = o->duration,
		.latency = stream_median(o->latency, o->samples),
		.input = e->input,
	};
	e->oldest++;
	return 0;
}
