// SPDX-License-Identifier: GPL-2.0-or-later
/* What an input hears: acknowledgments from the kernel, status from builders; and what it tells. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "input_run.h"

static void interval_is_over(struct input *in, const struct stream_report *r)
{
	in->report[in->reports++ % STATUS_REPORTS] = *r;
	in->latency = r->latency;
	in->news = true;
	if (r->interval < in->r->slow_from)
		in->base = r->duration;
	input_log_interval(in, r);
}

/* The builder has it, and perhaps has released it. */
static void acked(struct input *in, struct piece *q)
{
	struct stream_report r;

	if (q->acked)
		return;
	q->acked = true;
	in->bytes += q->len;
	in->acked++;
	stream_input_ack(in->engine, q->slice, run_monotonic() - q->at, run_now(&in->r->clock));
	while (!stream_input_report(in->engine, &r))
		interval_is_over(in, &r);
}

static void op_ended(struct input *in, const struct shuffle_record *rec)
{
	struct piece *q = pieces_find(&in->pieces, rec->op_id & ((1ULL << 40) - 1));

	/* of an operation that was given up */
	if (!q || q->op != rec->op_id)
		return;
	q->runs = false;
	q->waits = false;
	if (rec->type == SHUFFLE_RECORD_DONE)
		acked(in, q);
}

/**
 * input_hear_kernel() - which pieces have arrived
 * @in: the input
 */
void input_hear_kernel(struct input *in)
{
	struct shuffle_record rec[128];
	unsigned int n, i;
	char buf[64];

	for (;;) {
		n = 128;
		if (shuffle_recv(in->r->data, buf, sizeof(buf), rec, &n, MSG_DONTWAIT) < 0) {
			if (errno == EAGAIN || errno == EINTR)
				return;
			die("recvmsg: %s", strerror(errno));
		}
		for (i = 0; i < n; i++)
			if (rec[i].type == SHUFFLE_RECORD_DONE ||
			    rec[i].type == SHUFFLE_RECORD_FAILED)
				op_ended(in, &rec[i]);
	}
}

/* All pieces for a builder that are of a place's rounds below @round are released. */
static void release(struct input *in, u32 builder, u32 place, u64 round)
{
	struct piece *q = in->pieces.of[builder].first, *next;
	u64 n = 0, builders = in->r->cfg.builders;

	for (; q; q = next) {
		next = q->next;
		if (q->slice % builders != place || q->slice / builders >= round)
			continue;
		if (q->runs)
			shuffle_cancel(in->r->data, q->op);
		/* what is released has arrived */
		acked(in, q);
		n += !q->ticketless;
		pieces_drop(&in->pieces, q);
	}
	if (n)
		stream_input_released(in->engine, builder,
				      in->engine->target[builder].released + n);
}

/* It was started again, and has nothing. */
static void builder_is_new(struct input *in, u32 builder, const struct status_builder *s)
{
	struct input_peer *p = &in->peer[builder];
	bool known = p->incarnation;
	struct piece *q;

	p->incarnation = s->head.incarnation;
	p->ready = false;
	if (!known)
		return;
	input_log_event(in, "builder-restarted", builder);
	for (q = in->pieces.of[builder].first; q; q = q->next)
		input_send_again(in, q);
}

/* Its share goes to the others: what was not released at once. */
static void builder_failed(struct input *in, u32 builder)
{
	struct piece *q, *next;

	if (in->failed == builder)
		return;
	if (in->failed != STATUS_NONE || in->r->cfg.builders == 1)
		die("builder %u has failed, and nobody can take its share", builder);
	in->failed = builder;
	in->failed_round = in->peer[builder].released;
	in->news = true;
	input_log_event(in, "builder-failed", builder);
	stream_input_builder_failed(in->engine, builder);
	for (q = in->pieces.of[builder].first; q; q = next) {
		u32 to = stream_builder(&in->r->cfg, q->slice, in->engine->failed);

		next = q->next;
		if (q->runs)
			shuffle_cancel(in->r->data, q->op);
		q->runs = false;
		q->ticketless = true;
		pieces_move(&in->pieces, q, to);
		input_send_again(in, q);
	}
}

static void hear_proposals(struct input *in, const struct status_builder *s)
{
	u32 i;

	if (in->r->schedule != RUN_DFS)
		return;
	for (i = 0; i < s->proposals; i++)
		stream_input_proposal(in->engine, &s->proposal[i], run_now(&in->r->clock));
}

static void hear_builder(struct input *in, const struct status_builder *s)
{
	struct input_peer *p = &in->peer[s->head.from];
	u64 end;

	if (s->head.from == in->failed)
		return;
	if (p->incarnation != s->head.incarnation)
		builder_is_new(in, s->head.from, s);
	else if (s->head.number <= p->number)
		return;
	p->number = s->head.number;
	p->heard = run_monotonic();
	if (!s->ready)
		return;
	p->ready = true;
	if (s->released > p->released)
		p->released = s->released;
	release(in, s->head.from, s->head.from, p->released);
	if (s->taken == in->failed && in->failed != STATUS_NONE) {
		if (s->taken_round > p->taken)
			p->taken = s->taken_round;
		release(in, s->head.from, s->taken, p->taken);
	}
	end = s->end;
	if (end != RUN_NO_END && (in->end == RUN_NO_END || end > in->end))
		in->end = end;
	hear_proposals(in, s);
	/* another input has found it out */
	if (s->taken != STATUS_NONE && in->failed == STATUS_NONE)
		builder_failed(in, s->taken);
}

/**
 * input_hear_builders() - status
 * @in: the input
 */
void input_hear_builders(struct input *in)
{
	struct status_builder s;
	u8 data[STATUS_MAX];
	ssize_t len;
	u32 member;

	while ((len = status_receive(in->r, data, sizeof(data), &member)) >= 0)
		if (!status_get_builder(in->r, data, (size_t)len, &s) &&
		    member == in->r->cfg.inputs + s.head.from)
			hear_builder(in, &s);
}

/**
 * input_look_for_failed() - builders that have not been heard of for too long
 * @in: the input
 */
void input_look_for_failed(struct input *in)
{
	s64 now = run_monotonic();
	u32 i;

	for (i = 0; i < in->r->cfg.builders; i++)
		if (in->peer[i].incarnation && i != in->failed &&
		    now - in->peer[i].heard > in->r->cfg.timeout)
			builder_failed(in, i);
}

/**
 * input_tell() - status to all builders
 * @in: the input
 */
void input_tell(struct input *in)
{
	struct status_input s = {
		.head = {
			.from = in->r->rank,
			.stream = in->r->id,
			.incarnation = in->incarnation,
			.number = ++in->number,
		},
		.end = in->own_end,
		.done = input_is_over(in) && !in->pieces.used,
		.failed = in->failed,
		.failed_round = in->failed_round,
	};
	u64 from = in->reports > STATUS_REPORTS ? in->reports - STATUS_REPORTS : 0;
	u8 data[STATUS_MAX];
	u32 i;

	for (; from < in->reports; from++)
		s.report[s.reports++] = in->report[from % STATUS_REPORTS];
	for (i = 0; i < in->r->cfg.builders; i++) {
		s.released = in->peer[i].released;
		s.taken_round = in->peer[i].taken;
		status_send(in->r, in->r->cfg.inputs + i, data, status_put_input(data, &s));
	}
	in->news = false;
	in->told = run_monotonic();
}
