// SPDX-License-Identifier: GPL-2.0-or-later
/* Results as text and as JSON. */
#include <string.h>

#include "rperf.h"

static const char *const mode_names[] = { "tstamp", "loopback", "pingpong" };

static const double quantiles[] = { 0.5, 0.9, 0.99, 0.999, 0.9999 };

static const char *hint(const struct instance *i)
{
	if (*i->error)
		return i->error;
	if (i->total.answered && !times_n(&i->total.rtt))
		return i->mode == MODE_LOOPBACK ? "no answers to the twins" : "no time stamps";
	if (i->total.answered)
		return NULL;
	if (i->total.refused)
		return "nobody listens there: no socket of AF_SHUFFLE has been bound";
	return "no answer: this host is no member of a group there, the setting echo is off, or "
	       "packets are lost";
}

/**
 * report_text() - a line for each instance and flow
 * @job: after the run
 */
void report_text(const struct job *job)
{
	unsigned int k, q;

	if (!job->n)
		return;
	printf("%-24s %10s %6s %6s %10s", "round trip [us]", "answers", "lost", "neg.", "min");
	printf(" %10s %10s %10s %10s %10s\n", "p50", "p99", "p99.9", "max", "mean");
	for (k = 0; k < job->n; k++) {
		const struct instance *i = &job->inst[k];
		const struct times *t = &i->total.rtt;
		uint64_t n = times_n(t);

		printf("%-24s %10llu %6llu %6llu", i->name, (unsigned long long)i->total.answered,
		       (unsigned long long)i->total.lost, (unsigned long long)t->down.n);
		printf(" %10.3f", n ? t->min / 1e3 : 0);
		for (q = 0; q < 4; q++)
			if (q != 1)
				printf(" %10.3f", times_quantile(t, quantiles[q]) / 1e3);
		printf(" %10.3f %10.3f\n", n ? t->max / 1e3 : 0, n ? t->sum / n / 1e3 : 0);
		if (hint(i))
			printf("  %s: %s\n", i->name, hint(i));
		if (i->total.missed)
			printf("  %s: %llu questions were not sent in time\n", i->name,
			       (unsigned long long)i->total.missed);
		if (i->total.unstamped && n)
			printf("  %s: %llu answers without a time stamp are not in it\n", i->name,
			       (unsigned long long)i->total.unstamped);
	}
	for (k = 0; k < job->flows; k++) {
		const struct flow *f = &job->flow[k];

		printf("flow %-8s %-24s %10.3f Gb/s%s%s\n", f->shuffle ? "shuffle" : "tcp", f->to,
		       f->took_ns ? 8.0 * f->bytes / f->took_ns : 0, *f->error ? "  " : "",
		       f->error);
	}
}

/* Names come from the command line: anything may be in them. */
static void string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', f);
		if ((unsigned char)*s < ' ')
			fprintf(f, "\\u%04x", (unsigned char)*s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}

static void number(FILE *f, const char *name, uint64_t v)
{
	fprintf(f, ", \"%s\": %llu", name, (unsigned long long)v);
}

static void instance_json(FILE *f, const struct instance *i)
{
	const struct times *t = &i->total.rtt;
	uint64_t n = times_n(t);
	char name[24];
	unsigned int q;

	fputs("{\"name\": ", f);
	string(f, i->name);
	fputs(", \"host\": ", f);
	string(f, i->to);
	if (*i->from) {
		fputs(", \"netns\": ", f);
		string(f, i->from);
	}
	fprintf(f, ", \"mode\": \"%s\", \"stamps\": \"%s\"", mode_names[i->mode],
		i->mode == MODE_TSTAMP ? (i->opt.hardware ? "hardware" : "software") : "none");
	fprintf(f, ", \"rate\": %.6g", i->rate);
	number(f, "size", i->size);
	number(f, "dscp", i->opt.dscp);
	if (i->opt.priority >= 0)
		number(f, "priority", (uint64_t)i->opt.priority);
	number(f, "sent", i->total.sent);
	number(f, "answered", i->total.answered);
	number(f, "lost", i->total.lost);
	number(f, "negative", t->down.n);
	number(f, "unstamped", i->total.unstamped);
	number(f, "refused", i->total.refused);
	number(f, "missed", i->total.missed);
	number(f, "other", i->total.other);
	if (n) {
		fprintf(f, ", \"min_ns\": %lld, \"mean_ns\": %.1f", (long long)t->min,
			t->sum / (double)n);
		for (q = 0; q < sizeof(quantiles) / sizeof(*quantiles); q++) {
			snprintf(name, sizeof(name), "p%g_ns", quantiles[q] * 100);
			fprintf(f, ", \"%s\": %lld", name,
				(long long)times_quantile(t, quantiles[q]));
		}
		fprintf(f, ", \"max_ns\": %lld", (long long)t->max);
	}
	if (hint(i)) {
		fputs(", \"error\": ", f);
		string(f, hint(i));
	}
	fputc('}', f);
}

/**
 * report_json() - all results
 * @job: after the run
 * @f: file
 */
void report_json(const struct job *job, FILE *f)
{
	unsigned int k;

	fprintf(f, "{\"duration_s\": %.6g, \"warmup_s\": %.6g, \"instances\": [", job->duration,
		job->warmup);
	for (k = 0; k < job->n; k++) {
		fputs(k ? ",\n  " : "\n  ", f);
		instance_json(f, &job->inst[k]);
	}
	fputs("], \"flows\": [", f);
	for (k = 0; k < job->flows; k++) {
		const struct flow *fl = &job->flow[k];

		fprintf(f, "%s\n  {\"kind\": \"%s\", \"host\": ", k ? "," : "",
			fl->shuffle ? "shuffle" : "tcp");
		string(f, fl->to);
		number(f, "bytes", fl->bytes);
		fprintf(f, ", \"bit_s\": %.6g", fl->took_ns ? 8e9 * fl->bytes / fl->took_ns : 0);
		if (*fl->error) {
			fputs(", \"error\": ", f);
			string(f, fl->error);
		}
		fputc('}', f);
	}
	fputs("]}\n", f);
}
