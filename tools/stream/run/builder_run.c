// SPDX-License-Identifier: GPL-2.0-or-later
/* A builder: its loop, and what arrives. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "builder_run.h"

/* How long a builder waits for inputs to say that they are done */
#define LINGER	STREAM_SECOND

static void init(struct builder *b, struct run *r)
{
	u32 i, n = r->cfg.inputs + r->cfg.builders;

	memset(b, 0, sizeof(*b));
	b->r = r;
	b->lost = STATUS_NONE;
	b->live = r->cfg.inputs;
	b->peer = memory(r->cfg.inputs, sizeof(*b->peer));
	for (i = 0; i < r->cfg.inputs; i++) {
		b->peer[i].end = RUN_NO_END;
		b->peer[i].failed = STATUS_NONE;
	}
	b->incarnation = run_incarnation();
	b->end = RUN_NO_END;
	b->sink = sink_open(r);
	b->storing = b->sink;
	b->news = true;
	b->now_since = run_monotonic();
	b->lens = memory(n, sizeof(*b->lens));
	b->bufs = memory(n, sizeof(*b->bufs));
	b->absent = memory(n / 64 + 1, sizeof(*b->absent));
	for (i = 0; i < n; i++) {
		b->lens[i] = SHUFFLE_ABSENT;
		if (i >= r->cfg.inputs)
			b->absent[i / 64] |= 1ULL << i % 64;
	}
}

static void release_all(struct builder *b)
{
	if (b->ready)
		place_free(b, &b->own);
	if (b->lost != STATUS_NONE)
		place_free(b, &b->taken);
	sink_close(b->sink);
	free(b->dde);
	free(b->failed);
	free(b->peer);
	free(b->lens);
	free(b->bufs);
	free(b->absent);
}

static void whole(struct builder *b, struct slot *s, struct contribution *c)
{
	u64 tickets = (u64)b->r->cfg.ring * b->live;
	u64 part;

	c->whole = true;
	s->left--;
	s->last = run_monotonic();
	if (!s->first)
		s->first = s->last;
	if (!b->began)
		b->began = s->first;
	b->held++;
	b->bytes += c->len;
	b->now_bytes += c->len;
	part = b->held * 1000 / tickets;
	histogram_add(&b->fill, part);
	histogram_add(&b->now_fill, part);
}

/* Bytes of a piece have come. */
static int piece_record(void *arg, const struct shuffle_record *rec, const void *data)
{
	struct builder *b = arg;
	struct slot *s = builder_find(b, rec->op_id);
	struct contribution *c;
	u64 slice;

	if (rec->type != SHUFFLE_RECORD_DATA || !s || rec->rank >= b->r->cfg.inputs)
		return 0;
	c = &s->piece[rec->rank];
	/* one that was given up, or is longer than all agreed on */
	if (b->peer[rec->rank].gone || c->whole)
		return 0;
	if (rec->msg_len > b->r->piece)
		die("input %u: a piece of %llu bytes, more than --piece", rec->rank,
		    (unsigned long long)rec->msg_len);
	slice = rec->op_id & ((1ULL << 40) - 1);
	if (b->r->verify && !piece_is_generated(rec->rank, slice, (u32)rec->offset, data,
						(u32)rec->len))
		b->wrong += rec->len;
	if (b->storing && rec->len) {
		if (!c->data)
			c->data = memory(1, rec->msg_len);
		if (c->data + rec->offset != data)
			memcpy(c->data + rec->offset, data, rec->len);
	}
	c->len = (u32)rec->msg_len;
	c->have += (u32)rec->len;
	if (rec->flags & SHUFFLE_RECORD_LAST) {
		if (c->have != c->len)
			b->wrong += c->len;
		whole(b, s, c);
	}
	return 0;
}

static void hear_kernel(struct builder *b, struct shuffle_rx *rx)
{
	for (;;) {
		if (shuffle_rx_step(b->r->data, rx, MSG_DONTWAIT) >= 0)
			continue;
		if (errno == EAGAIN || errno == EINTR)
			return;
		die("recvmsg: %s", strerror(errno));
	}
}

static bool is_over(const struct builder *b)
{
	u64 rounds = builder_rounds(b);

	return b->ready && b->own.next >= rounds &&
	       (b->lost == STATUS_NONE || b->taken.next >= rounds);
}

/* Inputs need to hear what is released: a status that says so may be lost. */
static bool inputs_done(const struct builder *b)
{
	s64 now = run_monotonic();
	u32 i;

	for (i = 0; i < b->r->cfg.inputs; i++)
		if (!b->peer[i].gone && !b->peer[i].done && now - b->peer[i].heard < LINGER)
			return false;
	return true;
}

static void wait(struct builder *b, s64 until, bool full)
{
	struct pollfd p[4] = {
		{ .fd = b->r->data, .events = POLLIN },
		{ .fd = b->r->control, .events = POLLIN },
		{ .fd = full ? sink_fd(b->sink) : -1, .events = POLLOUT },
		{ .fd = b->r->metrics, .events = POLLIN },
	};

	if (until > b->told + RUN_HEARTBEAT)
		until = b->told + RUN_HEARTBEAT;
	run_wait(p, 4, until);
	if (p[1].revents)
		builder_hear_inputs(b);
	if (p[3].revents)
		builder_metrics(b);
}

static bool inputs_are_there(const struct builder *b)
{
	u32 i;

	for (i = 0; i < b->r->cfg.inputs; i++)
		if (b->peer[i].incarnation)
			return true;
	return false;
}

/**
 * run_builder() - be a builder
 * @r: what the command line says
 *
 * Return: status of the program.
 */
int run_builder(struct run *r)
{
	struct shuffle_rx rx;
	struct builder b;
	bool full = false;
	s64 until, said;

	run_open(r);
	init(&b, r);
	if (shuffle_rx_init(&rx, piece_record, NULL, &b))
		die("out of memory");
	said = run_monotonic();
	while (!is_over(&b) || !inputs_done(&b)) {
		if (run_stopped)
			die("stopped before the end");
		until = STREAM_NEVER;
		hear_kernel(&b, &rx);
		if (b.ready)
			full = builder_release(&b, &until);
		builder_look_for_failed(&b);
		if (b.news || run_monotonic() >= b.told + RUN_HEARTBEAT)
			builder_tell(&b);
		wait(&b, until, full);
		if (!b.ready && !r->quiet && run_monotonic() - said > 2 * STREAM_SECOND) {
			fprintf(stderr, "builder %u: waiting for %sinputs\n", r->rank,
				inputs_are_there(&b) ? "more " : "");
			said = run_monotonic();
		}
	}
	builder_tell(&b);
	builder_log_end(&b);
	shuffle_rx_free(&rx);
	release_all(&b);
	return b.wrong ? 1 : 0;
}
