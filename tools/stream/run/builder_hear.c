// SPDX-License-Identifier: GPL-2.0-or-later
/* What a builder hears from inputs, and what it tells them. */
#include <stdlib.h>

#include "builder_run.h"

/* Status that does not come: an input that is alive is only late. */
#define SILENT	(4 * RUN_HEARTBEAT)

/* Where to begin: what no input knows to be released is built. */
static u64 first_round(const struct builder *b, u64 (*known)(const struct builder_peer *p))
{
	u64 round = 0, v;
	u32 i;

	for (i = 0; i < b->r->cfg.inputs; i++) {
		v = b->peer[i].gone ? 0 : known(&b->peer[i]);
		round = v > round ? v : round;
	}
	return round;
}

static u64 known_own(const struct builder_peer *p)
{
	return p->released;
}

static u64 known_taken(const struct builder_peer *p)
{
	return p->failed_round > p->taken_round ? p->failed_round : p->taken_round;
}

/* All that live have been heard of. */
static bool all_heard(const struct builder *b)
{
	u32 i;

	for (i = 0; i < b->r->cfg.inputs; i++)
		if (!b->peer[i].incarnation && !b->peer[i].gone)
			return false;
	return true;
}

static void begin(struct builder *b)
{
	const struct stream_config *cfg = &b->r->cfg;
	bool restarted = false;
	u32 i;

	for (i = 0; i < cfg->inputs; i++)
		restarted |= b->peer[i].reports || b->peer[i].released;
	b->dde = stream_dde_init(memory(1, stream_dde_size(cfg)), cfg, restarted);
	place_init(b, &b->own, b->r->rank, first_round(b, known_own), cfg->ring);
	place_open(b, &b->own);
	b->ready = true;
	b->news = true;
	b->now_since = run_monotonic();
	if (restarted)
		builder_log_event(b, "restarted", b->r->rank);
}

/* All inputs that live have stopped sending to it, so what they know does not change any more. */
static void look_for_share(struct builder *b)
{
	u32 i, lost = STATUS_NONE;

	if (!b->ready || b->lost != STATUS_NONE)
		return;
	for (i = 0; i < b->r->cfg.inputs; i++) {
		if (b->peer[i].gone)
			continue;
		if (b->peer[i].failed == STATUS_NONE)
			return;
		lost = b->peer[i].failed;
	}
	if (lost == STATUS_NONE)
		return;
	b->failed = memory(b->r->cfg.builders, 1);
	b->failed[lost] = 1;
	b->lost = lost;
	/* what inputs had sent to it needs no ticket */
	place_init(b, &b->taken, lost, first_round(b, known_taken), 2 * b->r->cfg.ring);
	place_open(b, &b->taken);
	b->news = true;
	builder_log_event(b, "builder-failed", lost);
}

static void hear_reports(struct builder *b, const struct status_input *s)
{
	u32 i;

	for (i = 0; i < s->reports && b->ready; i++) {
		if (stream_dde_report(b->dde, &s->report[i], run_now(&b->r->clock)) < 0)
			continue;
		b->news = true;
	}
}

/* The interval with which all can end is the last of what they say. */
static void look_for_end(struct builder *b)
{
	u64 end = 0;
	u32 i;

	if (b->end != RUN_NO_END)
		return;
	for (i = 0; i < b->r->cfg.inputs; i++) {
		if (b->peer[i].gone)
			continue;
		if (b->peer[i].end == RUN_NO_END || !b->peer[i].incarnation)
			return;
		end = b->peer[i].end > end ? b->peer[i].end : end;
	}
	b->end = end;
	b->news = true;
}

static void hear_input(struct builder *b, const struct status_input *s)
{
	struct builder_peer *p = &b->peer[s->head.from];

	if (p->gone)
		return;
	if (p->incarnation && p->incarnation != s->head.incarnation) {
		builder_input_failed(b, s->head.from);
		return;
	}
	if (p->incarnation && s->head.number <= p->number)
		return;
	p->incarnation = s->head.incarnation;
	p->number = s->head.number;
	p->heard = run_monotonic();
	p->released = s->released;
	p->end = s->end;
	p->done = s->done;
	p->failed = s->failed;
	p->failed_round = s->failed_round;
	p->taken_round = s->taken_round;
	p->reports += s->reports;
	if (s->failed == b->r->rank)
		die("inputs hold this builder for failed");
	if (s->failed != STATUS_NONE)
		b->news = true;
	hear_reports(b, s);
}

/**
 * builder_hear_inputs() - status
 * @b: the builder
 */
void builder_hear_inputs(struct builder *b)
{
	struct status_input s;
	u8 data[STATUS_MAX];
	ssize_t len;
	u32 member;

	while ((len = status_receive(b->r, data, sizeof(data), &member)) >= 0)
		if (!status_get_input(b->r, data, (size_t)len, &s) && member == s.head.from)
			hear_input(b, &s);
	if (!b->ready && all_heard(b))
		begin(b);
	look_for_share(b);
	look_for_end(b);
}

/* Of the oldest time-slice a piece is missing, or a report, and its input says nothing. */
static void note_owing(struct builder *b)
{
	const struct slot *s = b->own.n ? &b->own.slot[b->own.at] : NULL;
	s64 now = run_monotonic(), offset = run_now(&b->r->clock) - now;
	u32 i;

	for (i = 0; i < b->r->cfg.inputs; i++) {
		const struct builder_peer *p = &b->peer[i];
		bool owes = s && !s->piece[i].whole && now - p->heard > SILENT;

		if (!p->gone)
			stream_dde_owes(b->dde, i, owes ? p->heard + offset : STREAM_NEVER);
	}
}

/* Others have been at work before we begin, so who is not heard of has failed. */
static void look_for_absent(struct builder *b)
{
	bool at_work = false;
	u32 i;

	if (run_monotonic() - b->now_since < b->r->cfg.timeout)
		return;
	for (i = 0; i < b->r->cfg.inputs; i++)
		at_work |= b->peer[i].reports || b->peer[i].released;
	for (i = 0; i < b->r->cfg.inputs && at_work; i++)
		if (!b->peer[i].incarnation && !b->peer[i].gone)
			builder_input_failed(b, i);
	if (at_work && all_heard(b))
		begin(b);
}

/**
 * builder_look_for_failed() - inputs that owe something for too long
 * @b: the builder
 *
 * An input that has something to wait for goes on with its status, and one that has nothing to
 * send, too.
 */
void builder_look_for_failed(struct builder *b)
{
	s64 now = run_monotonic();
	u32 input;
	int n;

	if (!b->ready) {
		look_for_absent(b);
		return;
	}
	note_owing(b);
	while ((n = stream_dde_expire(b->dde, run_now(&b->r->clock), &input)) != -EAGAIN) {
		if (n)
			b->news = true;
		if (b->peer[input].gone)
			continue;
		/* alive: a report was lost on its way to an engine that was away */
		if (now - b->peer[input].heard < SILENT)
			continue;
		builder_input_failed(b, input);
		look_for_share(b);
		look_for_end(b);
	}
}

static void add_proposals(const struct builder *b, u32 input, struct status_builder *s)
{
	u64 j = b->dde->next ? b->dde->next - 1 : 0;

	s->proposals = 0;
	if (b->r->schedule != RUN_DFS || !b->dde->synced)
		return;
	for (; j <= b->dde->next + 1 && s->proposals < STATUS_PROPOSALS; j++)
		if (!stream_dde_proposal(b->dde, input, j, &s->proposal[s->proposals]))
			s->proposals++;
}

/**
 * builder_tell() - status to all inputs
 * @b: the builder
 */
void builder_tell(struct builder *b)
{
	struct status_builder s = {
		.head = {
			.builder = true,
			.from = b->r->rank,
			.stream = b->r->id,
			.incarnation = b->incarnation,
			.number = ++b->number,
		},
		.ready = b->ready,
		.released = b->own.next,
		.end = b->end,
		.taken = b->lost,
		.taken_round = b->lost == STATUS_NONE ? 0 : b->taken.next,
	};
	u8 data[STATUS_MAX];
	u32 i;

	/* an input that has not found it out hears it from us */
	for (i = 0; i < b->r->cfg.inputs && s.taken == STATUS_NONE; i++)
		if (!b->peer[i].gone && b->peer[i].failed != STATUS_NONE)
			s.taken = b->peer[i].failed;
	for (i = 0; i < b->r->cfg.inputs; i++) {
		if (b->peer[i].gone)
			continue;
		if (b->ready)
			add_proposals(b, i, &s);
		status_send(b->r, i, data, status_put_builder(data, &s));
	}
	b->news = false;
	b->told = run_monotonic();
}
