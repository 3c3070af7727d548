// SPDX-License-Identifier: GPL-2.0-or-later
/* An input: its loop. */
#include <stdlib.h>
#include <string.h>

#include "input_run.h"

static void init(struct input *in, struct run *r)
{
	struct stream_config cfg = r->cfg;
	u32 i, n = cfg.inputs + cfg.builders;

	memset(in, 0, sizeof(*in));
	in->r = r;
	/* without a schedule nothing is waited for but tickets */
	if (r->schedule != RUN_DFS)
		cfg.theta = 0;
	in->engine = stream_input_init(memory(1, stream_input_size(&cfg)), &cfg, r->rank, 0);
	in->source = source_open(r);
	/* twice: those of a builder that has failed need no ticket when they are sent again */
	pieces_init(&in->pieces, 2 * cfg.ring * cfg.builders, cfg.builders, r->piece);
	in->peer = memory(cfg.builders, sizeof(*in->peer));
	in->failed = STATUS_NONE;
	in->end = RUN_NO_END;
	in->own_end = r->intervals ? r->intervals : RUN_NO_END;
	in->incarnation = run_incarnation();
	in->news = true;
	in->lens = memory(n, sizeof(*in->lens));
	in->bufs = memory(n, sizeof(*in->bufs));
	in->absent = memory(n / 64 + 1, sizeof(*in->absent));
	for (i = 0; i < n; i++) {
		in->lens[i] = SHUFFLE_ABSENT;
		in->absent[i / 64] |= 1ULL << i % 64;
	}
}

static void release_all(struct input *in)
{
	source_close(in->source);
	pieces_free(&in->pieces);
	free(in->engine);
	free(in->peer);
	free(in->lens);
	free(in->bufs);
	free(in->absent);
}

static bool all_ready(const struct input *in)
{
	u32 i;

	for (i = 0; i < in->r->cfg.builders; i++)
		if (!in->peer[i].ready && i != in->failed)
			return false;
	return true;
}

/* Wait for something, or for a time; and take what there is. */
static void wait(struct input *in, s64 until)
{
	struct pollfd p[4] = {
		{ .fd = in->r->data, .events = POLLIN | (in->full ? POLLOUT : 0) },
		{ .fd = in->r->control, .events = POLLIN },
		{ .fd = in->starved ? source_fd(in->source) : -1, .events = POLLIN },
		{ .fd = in->r->metrics, .events = POLLIN },
	};

	if (until > in->told + RUN_HEARTBEAT)
		until = in->told + RUN_HEARTBEAT;
	run_wait(p, 4, until);
	if (p[0].revents & ~POLLOUT)
		input_hear_kernel(in);
	if (p[1].revents)
		input_hear_builders(in);
	if (p[3].revents)
		input_metrics(in);
	input_look_for_failed(in);
	if (in->news || run_monotonic() >= in->told + RUN_HEARTBEAT)
		input_tell(in);
}

/* Builders may be started later; those that were there and are gone come back, or fail. */
static void meet(struct input *in)
{
	s64 said = run_monotonic();

	while (!all_ready(in) && !run_stopped) {
		wait(in, STREAM_NEVER);
		if (!in->r->quiet && run_monotonic() - said > 2 * STREAM_SECOND) {
			fprintf(stderr, "input %u: waiting for builders\n", in->r->rank);
			said = run_monotonic();
		}
	}
}

/**
 * run_input() - be an input
 * @r: what the command line says
 *
 * Return: status of the program.
 */
int run_input(struct run *r)
{
	struct input in;
	s64 until;
	int i;

	run_open(r);
	init(&in, r);
	meet(&in);
	if (run_stopped)
		die("stopped before all builders were there");
	in.began = run_monotonic();
	while (!input_is_over(&in) || in.pieces.used || in.end == RUN_NO_END) {
		input_send(&in, &until);
		if (in.engine->next >= r->slow_from && !in.hold)
			in.hold = run_monotonic();
		wait(&in, until);
		input_hand_over_waiting(&in);
	}
	/* the last word may be lost: it is said until nobody is likely to miss it */
	for (i = 0; i < 3; i++)
		input_tell(&in);
	input_log_end(&in);
	release_all(&in);
	return 0;
}
