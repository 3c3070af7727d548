// SPDX-License-Identifier: GPL-2.0-or-later
/* Results as text, JSON and CSV. */
#include <stdlib.h>
#include <string.h>

#include "job.h"

#define M(field, type, scale, text) \
	{ #field, text, offsetof(struct sim_result, field), type, scale }

#define ORACLE(name, i, text) \
	{ "oracle_" name, text, offsetof(struct sim_result, oracle[i]), 'u', 1 }

/**
 * var metrics - what is printed of a result
 */
const struct metric metrics[] = {
	M(throughput, 'd', 0, "throughput, Gb/s"),
	M(optimality, 'd', 1, "bound / time"),
	M(steps, 'u', 1, "time, steps"),
	M(bound, 'u', 1, "bound of the links, steps"),
	M(bound_core, 'u', 1, "bound of the core, steps"),
	ORACLE("send", 0, "oracle of senders, steps"),
	ORACLE("receive", 1, "oracle of receivers, steps"),
	ORACLE("message", 2, "oracle of messages, steps"),
	M(op_mean, 'd', 1, "mean time of a shuffle, steps"),
	M(op_p95, 'u', 1, "95th percentile of these, steps"),
	M(packets, 'l', 1, "data packets"),
	M(sent, 'l', 1, "data packets sent"),
	M(control, 'l', 1, "control packets sent"),
	M(dropped, 'l', 1, "packets dropped"),
	M(resends, 'l', 1, "RESEND packets"),
	M(port_max, 'u', 1, "longest queue to a host, packets"),
	M(port_mean, 'd', 1, "the same, mean over time"),
	M(tor_max, 'u', 1, "most packets in a rack's switch"),
	M(tor_mean, 'd', 1, "mean of racks and time"),
	M(tor_up_share, 'd', 1, "part of them for the core"),
	M(core_max, 'u', 1, "most packets in the core"),
	M(core_mean, 'd', 1, "mean over time"),
	M(spine_max, 'u', 1, "most packets in a core switch"),
	M(grants_max, 'l', 1, "most grants outstanding, packets"),
	M(grants_mean, 'd', 1, "mean over time"),
	M(slowest_preempted, 'u', 1, "slowest sender: preempted, steps"),
	M(slowest_idle, 'u', 1, "slowest sender: nothing granted"),
	M(slowest_sending, 'u', 1, "slowest sender: sending"),
	M(memory, 'l', 0.000001, "memory, MB"),
	{ NULL, NULL, 0, 0, 0 },
};

/**
 * output_open() - open a file for results
 * @path: its path, "-" for standard output
 *
 * Return: the file; the program ends with a message when there is none.
 */
FILE *output_open(const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "w") : stdout;

	if (!f)
		die("%s: cannot be written", path);
	return f;
}

/**
 * output_close() - close it, or end the program with a message
 * @f: of output_open(), or standard output, which stays open
 * @path: what it is called in the message
 */
void output_close(FILE *f, const char *path)
{
	if (fflush(f) || ferror(f) || (f != stdout && fclose(f)))
		die("%s: cannot be written", path);
}

/**
 * metric_of() - one number of a result
 * @m: which
 * @r: result
 * @rate: of a link
 *
 * Return: the number in the unit in which it is printed.
 */
double metric_of(const struct metric *m, const struct sim_result *r, double rate)
{
	const char *at = (const char *)r + m->offset;
	double v;

	if (m->type == 'u')
		v = *(const u32 *)at;
	else if (m->type == 'l')
		v = (double)*(const u64 *)at;
	else
		v = *(const double *)at;
	return v * (m->scale > 0 ? m->scale : rate);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* p10, p50, p90 of the runs of a point, between values as needed */
static void percentiles(const struct plan *p, u32 curve, u32 point, const struct metric *m,
			double *out)
{
	static const double at[] = { 0.1, 0.5, 0.9 };
	double *v = malloc(p->runs * sizeof(*v));
	u32 i;

	if (!v)
		die("out of memory");
	for (i = 0; i < p->runs; i++)
		v[i] = metric_of(m, &p->curve[curve].res[point * p->runs + i], p->rate);
	qsort(v, p->runs, sizeof(*v), by_value);
	for (i = 0; i < 3; i++) {
		double pos = at[i] * (p->runs - 1);
		u32 low = (u32)pos;
		double more = pos - low;

		out[i] = v[low];
		if (more > 0)
			out[i] += more * (v[low + 1] - v[low]);
	}
	free(v);
}

static bool ended(const struct plan *p, u32 curve, u32 point)
{
	u32 i;

	for (i = 0; i < p->runs; i++)
		if (!p->bounds && !p->curve[curve].res[point * p->runs + i].ended)
			return false;
	return true;
}

static double mean_skewness(const struct plan *p, u32 point)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < p->runs; i++)
		sum += p->skewness[point * p->runs + i];
	return sum / p->runs;
}

static void print_full(const struct plan *p, FILE *f)
{
	const struct metric *m;

	for (m = metrics; m->name; m++) {
		double v[3];

		percentiles(p, 0, 0, m, v);
		fprintf(f, "%-34s %14.6g", m->text, v[1]);
		if (p->runs > 1)
			fprintf(f, "  (p10 %.6g, p90 %.6g)", v[0], v[2]);
		fprintf(f, "\n");
	}
}

/**
 * output_text() - for people
 * @p: plan with results
 * @f: file
 *
 * One configuration at one skewness: all numbers; otherwise a table of throughput.
 */
void output_text(const struct plan *p, FILE *f)
{
	u32 c, k;

	if (p->curves == 1 && p->points == 1) {
		fprintf(f, "skewness %.3f, %u run%s\n", mean_skewness(p, 0), p->runs,
			p->runs > 1 ? "s: medians" : "");
		print_full(p, f);
	} else {
		fprintf(f, "throughput in Gb/s: p50 (p10 p90), bound / time: p50; %u runs\n",
			p->runs);
		for (c = 0; c < p->curves; c++) {
			for (k = 0; k < p->points; k++) {
				double t[3], o[3];

				percentiles(p, c, k, &metrics[0], t);
				percentiles(p, c, k, &metrics[1], o);
				fprintf(f, "%-24s skewness %.3f  %7.3f (%7.3f %7.3f)  %6.4f\n",
					p->curve[c].label, mean_skewness(p, k), t[1], t[0], t[2],
					o[1]);
			}
		}
	}
	for (c = 0; c < p->curves; c++)
		for (k = 0; k < p->points; k++)
			if (!ended(p, c, k))
				fprintf(f, "%s: some runs did not end in time (--max-steps)\n",
					p->curve[c].label);
}

static void json_string(const char *s, FILE *f)
{
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if ((unsigned char)*s < ' ')
			fprintf(f, "\\u%04x", *s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}

/**
 * output_json() - for programs
 * @p: plan with results
 * @all: every run, too
 * @f: file
 */
void output_json(const struct plan *p, bool all, FILE *f)
{
	const struct metric *m;
	u32 c, k, i;

	fprintf(f, "[\n");
	for (c = 0; c < p->curves; c++) {
		for (k = 0; k < p->points; k++) {
			fprintf(f, "{\"curve\": ");
			json_string(p->curve[c].label, f);
			fprintf(f, ", \"algo\": \"%s\", \"skewness\": %.4f",
				sim_algo_names[p->curve[c].cfg.algo], mean_skewness(p, k));
			fprintf(f, ", \"runs\": %u, \"ended\": %s", p->runs,
				ended(p, c, k) ? "true" : "false");
			for (m = metrics; m->name; m++) {
				double v[3];

				percentiles(p, c, k, m, v);
				fprintf(f, ",\n \"%s\": {\"p10\": %.9g, \"p50\": %.9g, \"p90\": %.9g",
					m->name, v[0], v[1], v[2]);
				for (i = 0; all && i < p->runs; i++)
					fprintf(f, "%s%.9g", i ? ", " : ", \"all\": [",
						metric_of(m, &p->curve[c].res[k * p->runs + i],
							  p->rate));
				fprintf(f, all ? "]}" : "}");
			}
			fprintf(f, "}%s\n", c + 1 < p->curves || k + 1 < p->points ? "," : "");
		}
	}
	fprintf(f, "]\n");
}

/**
 * output_csv() - a line for each run
 * @p: plan with results
 * @f: file
 */
void output_csv(const struct plan *p, FILE *f)
{
	const struct metric *m;
	u32 c, k, i;

	fprintf(f, "curve,point,run,skewness");
	for (m = metrics; m->name; m++)
		fprintf(f, ",%s", m->name);
	fprintf(f, "\n");
	for (c = 0; c < p->curves; c++) {
		for (k = 0; k < p->points; k++) {
			for (i = 0; i < p->runs; i++) {
				u32 at = k * p->runs + i;

				fprintf(f, "%s,%g,%u,%.4f", p->curve[c].label, p->point[k], i,
					p->skewness[at]);
				for (m = metrics; m->name; m++)
					fprintf(f, ",%.9g", metric_of(m, &p->curve[c].res[at],
								      p->rate));
				fprintf(f, "\n");
			}
		}
	}
}

/**
 * output_series() - the first run of each curve over time
 * @p: plan with results
 * @f: file
 */
void output_series(const struct plan *p, FILE *f)
{
	u32 c;

	for (c = 0; c < p->curves; c++) {
		fprintf(f, "# %s, %u steps, bound %u\n", p->curve[c].label,
			p->curve[c].res[0].steps, p->curve[c].res[0].bound);
		sim_series_write(p->curve[c].series, f);
	}
}
