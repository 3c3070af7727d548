// SPDX-License-Identifier: GPL-2.0-or-later
/* What members say of themselves: a line for an interval and for an event, a last one, metrics. */
#include <string.h>

#include "builder_run.h"
#include "input_run.h"
#include "metrics.h"

#define MS(ns)	((double)(ns) / 1e6)

/**
 * input_log_interval() - an interval is over
 * @in: the input
 * @r: what is told of it
 */
void input_log_interval(const struct input *in, const struct stream_report *r)
{
	const struct stream_input_counters *c = &in->engine->counters;
	FILE *f = in->r->log;

	if (!f)
		return;
	if (in->r->json)
		fprintf(f, "{\"input\": %u, \"interval\": %llu, \"start_ns\": %lld, "
			"\"actual_ns\": %lld, \"proposed_ns\": %lld, \"latency_ns\": %lld, "
			"\"late\": %llu, \"blocked\": %llu, \"bytes\": %llu}\n", in->r->rank,
			(unsigned long long)r->interval, (long long)r->start,
			(long long)r->duration, (long long)r->proposed, (long long)r->latency,
			(unsigned long long)c->late, (unsigned long long)c->blocked,
			(unsigned long long)in->bytes);
	else
		fprintf(f, "input %u: interval %llu: %.3f ms, proposed %.3f ms, latency %.3f ms, "
			"late %llu, blocked %llu\n", in->r->rank, (unsigned long long)r->interval,
			MS(r->duration), MS(r->proposed), MS(r->latency),
			(unsigned long long)c->late, (unsigned long long)c->blocked);
	fflush(f);
}

static void event(const struct run *r, const char *kind, const char *what, u32 who)
{
	if (r->log && r->json)
		fprintf(r->log, "{\"%s\": %u, \"event\": \"%s\", \"member\": %u}\n", kind, r->rank,
			what, who);
	if (r->log)
		fflush(r->log);
	fprintf(stderr, "%s %u: %s: %u\n", kind, r->rank, what, who);
}

/**
 * input_log_event() - something has happened
 * @in: the input
 * @what: what
 * @builder: to whom
 */
void input_log_event(const struct input *in, const char *what, u32 builder)
{
	event(in->r, "input", what, builder);
}

/**
 * builder_log_event() - something has happened
 * @b: the builder
 * @what: what
 * @who: to whom
 */
void builder_log_event(const struct builder *b, const char *what, u32 who)
{
	event(b->r, "builder", what, who);
}

static double gigabits(u64 bytes, s64 ns)
{
	return ns > 0 ? (double)bytes * 8 / (double)ns : 0;
}

/**
 * input_log_end() - all is sent and released
 * @in: the input
 */
void input_log_end(const struct input *in)
{
	const struct stream_input_counters *c = &in->engine->counters;
	s64 took = run_monotonic() - in->began;

	if (!in->r->json) {
		printf("input %u: %llu pieces, %llu sent again, %.3f Gb/s\n", in->r->rank,
		       (unsigned long long)in->acked, (unsigned long long)in->again,
		       gigabits(in->bytes, took));
		return;
	}
	printf("{\"input\": %u, \"end\": true, \"pieces\": %llu, \"bytes\": %llu, \"ns\": %lld, "
	       "\"gbit\": %.4f, \"again\": %llu, \"late\": %llu, \"blocked\": %llu, "
	       "\"unguided\": %llu, \"repeated\": %llu, \"proposals\": %llu, \"absurd\": %llu}\n",
	       in->r->rank, (unsigned long long)in->acked, (unsigned long long)in->bytes,
	       (long long)took, gigabits(in->bytes, took), (unsigned long long)in->again,
	       (unsigned long long)c->late, (unsigned long long)c->blocked,
	       (unsigned long long)c->unguided, (unsigned long long)c->repeated,
	       (unsigned long long)c->proposals, (unsigned long long)c->absurd);
}

/**
 * builder_log_interval() - all our time-slices of an interval are released
 * @b: the builder
 * @interval: which
 */
void builder_log_interval(struct builder *b, u64 interval)
{
	const struct stream_unified *u = b->dde->history.n ?
					 stream_history_latest(&b->dde->history) : NULL;
	s64 now = run_monotonic(), took = now - b->now_since;
	FILE *f = b->r->log;

	if (f && b->r->json)
		fprintf(f, "{\"builder\": %u, \"interval\": %llu, \"ns\": %lld, \"gbit\": %.4f, "
			"\"gap_p50_ns\": %.0f, \"gap_p95_ns\": %.0f, \"fill_p50\": %.3f, "
			"\"fill_p95\": %.3f, \"unified\": %lld, \"actual_ns\": %lld, "
			"\"proposed_ns\": %lld}\n", b->r->rank, (unsigned long long)interval,
			(long long)took, gigabits(b->now_bytes, took),
			histogram_part(&b->now_gap, 0.5), histogram_part(&b->now_gap, 0.95),
			histogram_part(&b->now_fill, 0.5) / 1000,
			histogram_part(&b->now_fill, 0.95) / 1000,
			u ? (long long)u->interval : -1LL, u ? (long long)u->duration : 0LL,
			u ? (long long)u->proposed : 0LL);
	else if (f)
		fprintf(f, "builder %u: interval %llu: %.3f Gb/s, gap %.3f ms (95 %%: %.3f), "
			"fill %.1f %% (95 %%: %.1f)\n", b->r->rank, (unsigned long long)interval,
			gigabits(b->now_bytes, took), MS(histogram_part(&b->now_gap, 0.5)),
			MS(histogram_part(&b->now_gap, 0.95)),
			histogram_part(&b->now_fill, 0.5) / 10,
			histogram_part(&b->now_fill, 0.95) / 10);
	if (f)
		fflush(f);
	memset(&b->now_gap, 0, sizeof(b->now_gap));
	memset(&b->now_fill, 0, sizeof(b->now_fill));
	b->now_bytes = 0;
	b->now_since = now;
}

/**
 * builder_log_end() - all is released
 * @b: the builder
 */
void builder_log_end(const struct builder *b)
{
	/* the time that inputs have taken to say that they are done is no time of the stream */
	s64 took = b->now_since - b->began;

	if (!b->r->json) {
		printf("builder %u: %llu time-slices, %.3f Gb/s, gap %.3f ms (95 %%: %.3f), "
		       "fill %.1f %% (95 %%: %.1f), %llu bytes wrong\n", b->r->rank,
		       (unsigned long long)b->slices, gigabits(b->bytes, took),
		       MS(histogram_part(&b->gap, 0.5)), MS(histogram_part(&b->gap, 0.95)),
		       histogram_part(&b->fill, 0.5) / 10, histogram_part(&b->fill, 0.95) / 10,
		       (unsigned long long)b->wrong);
		return;
	}
	printf("{\"builder\": %u, \"end\": true, \"slices\": %llu, \"bytes\": %llu, \"ns\": %lld, "
	       "\"gbit\": %.4f, \"gap_p50_ns\": %.0f, \"gap_p95_ns\": %.0f, \"fill_p50\": %.3f, "
	       "\"fill_p95\": %.3f, \"wrong\": %llu, \"inputs\": %u}\n", b->r->rank,
	       (unsigned long long)b->slices, (unsigned long long)b->bytes, (long long)took,
	       gigabits(b->bytes, took), histogram_part(&b->gap, 0.5),
	       histogram_part(&b->gap, 0.95), histogram_part(&b->fill, 0.5) / 1000,
	       histogram_part(&b->fill, 0.95) / 1000, (unsigned long long)b->wrong, b->live);
}

/**
 * input_metrics() - answer who asks
 * @in: the input
 */
void input_metrics(const struct input *in)
{
	const struct stream_input_counters *c = &in->engine->counters;
	u64 n = in->reports;
	struct metrics m = { .len = 0 };

	snprintf(m.labels, sizeof(m.labels), "input=\"%u\"", in->r->rank);
	metric_add(&m, "bytes_total", "counter", "Bytes of pieces that builders have",
		   (double)in->bytes);
	metric_add(&m, "pieces_total", "counter", "Pieces that builders have", (double)in->acked);
	metric_add(&m, "again_total", "counter", "Pieces that were sent again", (double)in->again);
	metric_add(&m, "late_total", "counter", "Pieces sent behind their interval's end",
		   (double)c->late);
	metric_add(&m, "blocked_total", "counter", "Pieces that waited for a ticket",
		   (double)c->blocked);
	metric_add(&m, "pieces_held", "gauge", "Pieces that are not released",
		   in->pieces.used);
	metric_add(&m, "interval", "gauge", "Intervals that were reported", (double)n);
	if (n) {
		const struct stream_report *r = &in->report[(n - 1) % STATUS_REPORTS];

		metric_add(&m, "interval_seconds", "gauge", "Duration of the last interval",
			   (double)r->duration / 1e9);
		metric_add(&m, "interval_proposed_seconds", "gauge", "Duration that was proposed",
			   (double)r->proposed / 1e9);
		metric_add(&m, "latency_seconds", "gauge", "Median time until acknowledgments",
			   (double)r->latency / 1e9);
	}
	metrics_serve(in->r->metrics, &m);
}

/**
 * builder_metrics() - answer who asks
 * @b: the builder
 */
void builder_metrics(const struct builder *b)
{
	struct metrics m = { .len = 0 };

	snprintf(m.labels, sizeof(m.labels), "builder=\"%u\"", b->r->rank);
	metric_add(&m, "bytes_total", "counter", "Bytes of pieces that have arrived",
		   (double)b->bytes);
	metric_add(&m, "slices_total", "counter", "Time-slices that were released",
		   (double)b->slices);
	metric_add(&m, "wrong_bytes_total", "counter", "Bytes that verification objects to",
		   (double)b->wrong);
	metric_add(&m, "inputs", "gauge", "Inputs that have not failed", b->live);
	metric_add(&m, "pieces_held", "gauge", "Pieces that are not released", (double)b->held);
	metric_add(&m, "gap_seconds", "gauge", "Median time between a slice's first and last piece",
		   histogram_part(&b->gap, 0.5) / 1e9);
	metric_add(&m, "fill", "gauge", "95th percentile of the tickets in use, 0 to 1",
		   histogram_part(&b->fill, 0.95) / 1000);
	metrics_serve(b->r->metrics, &m);
}
