// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a run looks like over time.  The number of steps is not known in advance: when
 * all rows are full, two become one.
 */
#include <stdlib.h>

#include "sim.h"

#define ROWS	512U

/**
 * struct row - some steps
 * @sent: data packets sent
 * @recv: data packets received
 * @started: messages of which a packet has been sent, at the end of the row
 * @completed: messages complete, the same
 * @port: longest queue of a port to a host
 * @tor: most packets in the switches of racks together
 * @core: most in core switches
 * @grants: outstanding, the most
 * @in: messages being granted by a receiver: least, median, most
 * @out: messages being granted to a sender
 */
struct row {
	u64	sent;
	u64	recv;
	u64	started;
	u64	completed;
	u32	port;
	u32	tor;
	u32	core;
	u64	grants;
	u32	in[3];
	u32	out[3];
};

struct sim_series {
	struct row	row[ROWS];
	u32		n;		/* rows that are full */
	u32		width;		/* steps of a row */
	u32		fill;		/* steps in the last */
	u32		hosts;
	u64		messages;
	u32		steps;
};

/**
 * sim_series_new() - make room
 *
 * Return: an empty series; the program ends when there is no memory.
 */
struct sim_series *sim_series_new(void)
{
	struct sim_series *v = calloc(1, sizeof(*v));

	if (!v) {
		fprintf(stderr, "shuffle-sim: out of memory\n");
		exit(1);
	}
	v->width = 1;
	return v;
}

/**
 * sim_series_free() - give it back
 * @v: series
 */
void sim_series_free(struct sim_series *v)
{
	free(v);
}

static void max32(u32 *v, u32 x)
{
	*v = x > *v ? x : *v;
}

static int by_value(const void *a, const void *b)
{
	u32 x = *(const u32 *)a;
	u32 y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static void spread(u32 *v, u32 n, u32 *out)
{
	qsort(v, n, sizeof(*v), by_value);
	out[0] = v[0];
	out[1] = v[n / 2];
	out[2] = v[n - 1];
}

/* messages with grants that have not come back, by receiver and by sender */
static void count_granted(const struct sim *s, struct row *r)
{
	u32 *in = calloc(2 * s->n, sizeof(*in));
	u32 op, i, k;

	if (!in)
		return;
	for (op = 0; op < s->cfg->ops; op++) {
		for (i = 0; i < s->n; i++) {
			const struct shuffle_rx_sched *m = sim_end(s, op, i)->rx.msg;

			for (k = 0; k < s->n; k++) {
				if (m[k].granted <= m[k].received)
					continue;
				in[i]++;
				in[s->n + k]++;
			}
		}
	}
	spread(in, s->n, r->in);
	spread(in + s->n, s->n, r->out);
	free(in);
}

static void join(struct row *a, const struct row *b)
{
	u64 sent = a->sent + b->sent;
	u64 recv = a->recv + b->recv;
	struct row last = *b;

	max32(&last.port, a->port);
	max32(&last.tor, a->tor);
	max32(&last.core, a->core);
	last.grants = a->grants > b->grants ? a->grants : b->grants;
	last.sent = sent;
	last.recv = recv;
	*a = last;
}

/**
 * sim_series_step() - record a step
 * @s: simulation with a series
 */
void sim_series_step(struct sim *s)
{
	struct sim_series *v = s->series;
	struct row *r = &v->row[v->n];
	u32 tor = 0, core = 0, i;
	u64 grants = 0;

	v->hosts = s->n;
	v->messages = s->messages;
	v->steps = s->now + 1;
	r->sent += s->sent_now;
	r->recv += s->recv_now;
	r->started = s->started;
	r->completed = s->completed;
	for (i = 0; i < s->n; i++)
		max32(&r->port, s->down[i].data);
	for (i = 0; i < s->cfg->racks; i++)
		tor += s->tor_data[i];
	for (i = 0; i < s->cfg->spines; i++)
		core += s->core_data[i];
	max32(&r->tor, tor);
	max32(&r->core, core);
	for (i = 0; i < s->n * s->cfg->ops; i++)
		grants += s->end[i].rx.outstanding >> s->shift;
	r->grants = grants > r->grants ? grants : r->grants;
	if (++v->fill < v->width)
		return;
	count_granted(s, r);
	v->fill = 0;
	if (++v->n < ROWS)
		return;
	for (i = 0; i < ROWS / 2; i++) {
		v->row[i] = v->row[2 * i];
		join(&v->row[i], &v->row[2 * i + 1]);
	}
	for (; i < ROWS; i++)
		v->row[i] = (struct row){ 0 };
	v->n = ROWS / 2;
	v->width *= 2;
}

/**
 * sim_series_write() - as CSV, one row for each interval
 * @v: series
 * @f: file
 */
void sim_series_write(const struct sim_series *v, FILE *f)
{
	u32 rows = v->n + (v->fill > 0);
	u32 i;

	fprintf(f, "step,uplink,downlink,started,completed,port_queue,tor_packets,core_packets,grants,"
		"in_min,in_median,in_max,out_min,out_median,out_max\n");
	for (i = 0; i < rows; i++) {
		const struct row *r = &v->row[i];
		u32 steps = i < v->n ? v->width : v->fill;
		double links = (double)v->hosts * steps;
		double all = v->messages ? (double)v->messages : 1;

		fprintf(f, "%u,%.4f,%.4f,%.4f,%.4f,%u,%u,%u,%llu,%u,%u,%u,%u,%u,%u\n",
			i * v->width + steps, (double)r->sent / links, (double)r->recv / links,
			(double)r->started / all, (double)r->completed / all, r->port, r->tor,
			r->core, (unsigned long long)r->grants, r->in[0], r->in[1], r->in[2],
			r->out[0], r->out[1], r->out[2]);
	}
}
