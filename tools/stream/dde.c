// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* The deterministic engine of a builder: reports, unified intervals, proposals. */
#include "dde.h"

static struct stream_slot *slot_of(const struct stream_dde *d, u64 interval, u32 input)
{
	return &d->slot[(size_t)(interval % STREAM_WINDOW) * d->cfg.inputs + input];
}

static s64 *start_of(const struct stream_dde *d, u64 interval, u32 input)
{
	return &d->starts[(size_t)(interval % STREAM_WINDOW) * d->cfg.inputs + input];
}

/**
 * stream_dde_size() - memory of an engine
 * @cfg: the stream
 *
 * Return: bytes; 0 if stream_config_error() has an objection.
 */
size_t stream_dde_size(const struct stream_config *cfg)
{
	if (stream_config_error(cfg))
		return 0;
	return sizeof(struct stream_dde) + cfg->inputs * (sizeof(struct stream_peer) +
		STREAM_WINDOW * (sizeof(struct stream_slot) + sizeof(s64)) + sizeof(s64));
}

/**
 * stream_dde_init() - begin
 * @memory: stream_dde_size() bytes, aligned for 64-bit numbers; all that the engine ever uses
 * @cfg: the stream, which is copied
 * @restarted: other replicas may be at work: join at the first interval that all inputs report, and
 *	propose nothing until @cfg->history intervals are complete
 *
 * Source: section III.D.
 * Return: the engine, in @memory; NULL if stream_config_error() has an objection.
 */
struct stream_dde *stream_dde_init(void *memory, const struct stream_config *cfg, bool restarted)
{
	struct stream_dde *d = memory;
	size_t size = stream_dde_size(cfg);
	u32 i;

	if (!size)
		return NULL;
	memset(memory, 0, size);
	d->cfg = *cfg;
	d->wait = restarted ? cfg->history : 1;
	d->synced = !restarted;
	stream_history_init(&d->history, cfg, !restarted);
	d->peer = (struct stream_peer *)(d + 1);
	d->slot = (struct stream_slot *)(d->peer + cfg->inputs);
	d->starts = (s64 *)(d->slot + (size_t)STREAM_WINDOW * cfg->inputs);
	d->scratch = d->starts + (size_t)STREAM_WINDOW * cfg->inputs;
	for (i = 0; i < cfg->inputs; i++)
		d->peer[i].owes = STREAM_NEVER;
	return d;
}

static bool absurd(const struct stream_dde *d, const struct stream_report *r, s64 now)
{
	const struct stream_config *cfg = &d->cfg;

	if (r->input >= cfg->inputs || r->interval >= STREAM_MAX_INTERVAL)
		return true;
	if (now < 0 || now > STREAM_MAX_TIME || r->start < 0)
		return true;
	if (r->duration < cfg->min_duration || r->duration > cfg->max_duration)
		return true;
	if (r->start > STREAM_MAX_TIME - r->duration)
		return true;
	if (r->proposed && (r->proposed < cfg->min_duration || r->proposed > cfg->max_duration))
		return true;
	if (r->latency < 0 || r->latency > STREAM_MAX_LATENCY)
		return true;
	return r->request < r->interval + 2 || r->request > r->interval + STREAM_WINDOW;
}

static bool complete(const struct stream_dde *d, u64 interval)
{
	bool any = false;
	u32 i;

	for (i = 0; i < d->cfg.inputs; i++) {
		const struct stream_slot *s = slot_of(d, interval, i);

		if (s->used && s->report.interval == interval)
			any = true;
		else if (d->peer[i].from <= interval)
			return false;
	}
	return any;
}

/* After a restart: begin with this interval, of which all is there. */
static void join(struct stream_dde *d, u64 first)
{
	u32 w, i;

	d->next = first;
	d->synced = true;
	for (w = 0; w < STREAM_WINDOW; w++) {
		for (i = 0; i < d->cfg.inputs; i++) {
			struct stream_slot *s = slot_of(d, w, i);

			if (s->used && (s->report.interval < first ||
					s->report.interval >= first + STREAM_WINDOW))
				s->used = false;
		}
	}
}

static void propose(struct stream_dde *d, u64 interval)
{
	struct stream_plan *p = &d->plan[interval % STREAM_WINDOW];
	struct stream_outlook o;
	u32 i;

	stream_look(&d->cfg, &d->history, &o);
	p->interval = interval;
	p->start = stream_proposed_start(stream_history_latest(&d->history), o.level, interval);
	p->duration = o.back ? o.back : stream_proposed_duration(&d->cfg, o.deviation, o.level);
	p->used = o.known && p->start >= 0 && p->start <= STREAM_MAX_TIME;
	for (i = 0; i < d->cfg.inputs; i++) {
		const struct stream_clock *c = &d->peer[i].clock;
		s64 *start = start_of(d, interval, i);

		*start = p->used && c->known ? stream_clock_to_input(c, p->start) : S64_MIN;
		if (*start < 0 || *start > STREAM_MAX_TIME)
			*start = S64_MIN;
	}
}

/* The same with the first such interval, if there is one. */
static void join_any(struct stream_dde *d)
{
	u64 first = U64_MAX;
	u32 w, i;

	for (w = 0; w < STREAM_WINDOW; w++) {
		for (i = 0; i < d->cfg.inputs; i++) {
			const struct stream_slot *s = slot_of(d, w, i);

			if (!s->used || s->report.interval >= first)
				continue;
			if (complete(d, s->report.interval))
				first = s->report.interval;
		}
	}
	if (first != U64_MAX)
		join(d, first);
}

/* Reports that are refused do not come again.  If those of all inputs were, the next interval
 * will never be complete: begin anew, as after a restart.
 */
static bool all_lost(struct stream_dde *d)
{
	u32 i;

	for (i = 0; i < d->cfg.inputs; i++)
		if (!d->peer[i].lost && !stream_dde_failed(d, i))
			return false;
	return true;
}

static void begin_anew(struct stream_dde *d)
{
	u32 i;

	for (i = 0; i < STREAM_WINDOW * d->cfg.inputs; i++)
		d->slot[i].used = false;
	for (i = 0; i < d->cfg.inputs; i++)
		d->peer[i].lost = false;
	stream_history_init(&d->history, &d->cfg, false);
	d->wait = d->cfg.history;
	d->synced = false;
	d->counters.joined++;
}

/* All reports of the next interval are there: in the order of inputs, whatever order they had. */
static void unify(struct stream_dde *d)
{
	struct stream_unified u = { .interval = d->next };
	struct stream_slot *s = slot_of(d, d->next, 0);
	u32 i, n;

	for (i = 0; i < d->cfg.inputs; i++) {
		const struct stream_report *r = &s[i].report;
		struct stream_clock *c = &d->peer[i].clock;

		if (!s[i].used)
			continue;
		stream_clock_update(c, d->cfg.history, r->start + r->duration, r->latency,
				    s[i].received);
		d->scratch[u.inputs++] = stream_clock_to_builder(c, r->start);
	}
	u.start = stream_mean(d->scratch, u.inputs);
	for (i = 0, n = 0; i < d->cfg.inputs; i++)
		if (s[i].used)
			d->scratch[n++] = s[i].report.duration;
	u.duration = stream_median(d->scratch, n);
	for (i = 0, n = 0; i < d->cfg.inputs; i++) {
		if (s[i].used && s[i].report.proposed)
			d->scratch[n++] = s[i].report.proposed;
		s[i].used = false;
	}
	u.proposed = stream_median(d->scratch, n);
	stream_history_add(&d->history, &u);
	d->next++;
	if (d->history.n >= d->wait)
		propose(d, u.interval + 2);
}

static int unify_all(struct stream_dde *d)
{
	int n;

	for (n = 0; d->synced && complete(d, d->next); n++)
		unify(d);
	return n;
}

/**
 * stream_dde_advance() - complete what can be
 * @d: the engine
 *
 * Return: intervals that are complete now and were not before.
 */
int stream_dde_advance(struct stream_dde *d)
{
	if (!d->synced)
		join_any(d);
	return unify_all(d);
}

/**
 * stream_dde_report() - an input has reported an interval
 * @d: the engine
 * @r: what it says; from the network, so nothing of it is believed
 * @now: when it came, builder's clock, ns
 *
 * After each interval that this completes there is a proposal for the next but one, to be sent to
 * all inputs: stream_dde_proposal().
 *
 * Return: how many intervals it completes; -EINVAL if a value is absurd, -ERANGE if it is too far
 * ahead, -EALREADY if the input has reported the interval or the interval is complete.  Each is
 * counted, and changes nothing, but for one thing: if the last reports of all inputs were too far
 * ahead, the engine begins anew with what comes.
 */
int stream_dde_report(struct stream_dde *d, const struct stream_report *r, s64 now)
{
	struct stream_slot *s;

	if (absurd(d, r, now)) {
		d->counters.absurd++;
		return -EINVAL;
	}
	s = slot_of(d, r->interval, r->input);
	if (d->synced && r->interval >= d->next + STREAM_WINDOW) {
		d->peer[r->input].lost = true;
		if (!all_lost(d)) {
			d->counters.ahead++;
			return -ERANGE;
		}
		begin_anew(d);
	}
	if ((d->synced && r->interval < d->next) ||
	    (s->used && s->report.interval == r->interval)) {
		d->counters.again++;
		return -EALREADY;
	}
	if (stream_dde_failed(d, r->input)) {
		d->peer[r->input].from = r->interval;
		d->peer[r->input].owes = STREAM_NEVER;
		d->counters.returned++;
	}
	d->counters.accepted++;
	d->peer[r->input].lost = false;
	*s = (struct stream_slot){ .report = *r, .received = now, .used = true };
	/* no other interval can be complete because of it */
	if (!d->synced && complete(d, r->interval))
		join(d, r->interval);
	return unify_all(d);
}

/**
 * stream_dde_plan() - what was proposed, by the builder's clock
 * @d: the engine
 * @interval: which
 *
 * Return: the proposal, or NULL: not yet, or not any more.
 */
const struct stream_plan *stream_dde_plan(const struct stream_dde *d, u64 interval)
{
	const struct stream_plan *p = &d->plan[interval % STREAM_WINDOW];

	return p->used && p->interval == interval ? p : NULL;
}

/**
 * stream_dde_proposal() - what an input is to do
 * @d: the engine
 * @input: who asks
 * @interval: which
 * @p: to be filled in, by the clock of the input
 *
 * Asking again gives the same answer.
 *
 * Return: 0; -ENOENT if there is no proposal, or not any more; -EINVAL without such an input.
 */
int stream_dde_proposal(const struct stream_dde *d, u32 input, u64 interval,
			struct stream_proposal *p)
{
	const struct stream_plan *plan;
	s64 start;

	if (input >= d->cfg.inputs)
		return -EINVAL;
	plan = stream_dde_plan(d, interval);
	if (!plan)
		return -ENOENT;
	start = *start_of(d, interval, input);
	if (start == S64_MIN)
		return -ENOENT;
	*p = (struct stream_proposal){
		.interval = interval, .start = start, .duration = plan->duration,
	};
	return 0;
}
