// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs on all processors.  A job is a matrix, on which every curve is run; its result
 * depends on its number only, so that any number of threads gives the same.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "job.h"

struct pool {
	struct plan		*p;
	struct matrix		*file;
	struct wl_cdfs		*cdfs;
	atomic_uint		next;
	atomic_uint		done;	/* runs */
	atomic_bool		failed;
	pthread_mutex_t		lock;
	char			why[320];
};

/**
 * die() - say what is wrong and end
 * @fmt: as of printf
 */
void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "shuffle-sim: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	exit(2);
}

static void fail(struct pool *w, const char *why)
{
	pthread_mutex_lock(&w->lock);
	if (!w->failed)
		snprintf(w->why, sizeof(w->why), "%s", why);
	w->failed = true;
	pthread_mutex_unlock(&w->lock);
}

/* bytes of a file, or packets of a generator, which was asked for lengths in packets */
static bool to_packets(struct pool *w, const struct matrix *from, struct sim_matrix *m)
{
	u32 packet = w->file ? w->p->packet : 1;
	size_t cells = (size_t)from->n * from->n;
	size_t i;

	m->n = from->n;
	m->len = malloc(cells * sizeof(*m->len));
	if (!m->len) {
		fail(w, "out of memory");
		return false;
	}
	for (i = 0; i < cells; i++) {
		u64 len = from->len[i] / packet + (from->len[i] % packet > 0);

		if (len >= SIM_MAX_PACKETS) {
			fail(w, "a message has more than 16777215 packets");
			free(m->len);
			return false;
		}
		m->len[i] = (u32)len;
	}
	return true;
}

static struct matrix *make_matrix(struct pool *w, u32 point, u32 run, struct wl_error *err)
{
	struct plan *p = w->p;
	struct wl_spec spec = p->spec;

	spec.cdfs = w->cdfs;
	if (p->buckets)
		return wl_of_skewness(&spec, p->bucket[point], p->buckets, run, NULL, err);
	spec.seed += run;
	return wl_generate(&spec, NULL, err);
}

static void run_job(struct pool *w, u32 job)
{
	struct plan *p = w->p;
	u32 point = job / p->runs;
	u32 run = job % p->runs;
	struct wl_error err = { "" };
	struct matrix *made = w->file;
	struct sim_matrix m;
	const char *why;
	bool good;
	u32 i;

	if (!made) {
		made = make_matrix(w, point, run, &err);
		if (!made) {
			fail(w, err.text);
			return;
		}
	}
	p->skewness[job] = matrix_skewness(made);
	good = to_packets(w, made, &m);
	/* a tenth of what a run of thousands of hosts needs */
	if (made != w->file)
		matrix_free(made);
	if (good) {
		for (i = 0; i < p->curves && !w->failed; i++) {
			struct sim_config cfg = p->curve[i].cfg;

			why = sim_check(&cfg, m.n);
			if (why) {
				fail(w, why);
				break;
			}
			/* the same for all curves: they are compared */
			cfg.seed = rnd_stream(cfg.seed, point, run).state;
			if (p->bounds)
				sim_only_bound(&cfg, &m, &p->curve[i].res[job]);
			else
				sim_run(&cfg, &m, job ? NULL : p->curve[i].series,
					&p->curve[i].res[job]);
			w->done++;
		}
		free(m.len);
	}
}

static void *work(void *arg)
{
	struct pool *w = arg;
	u32 jobs = w->p->points * w->p->runs;

	for (;;) {
		u32 job = w->next++;

		if (job >= jobs || w->failed)
			return NULL;
		run_job(w, job);
	}
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void show(const struct pool *w, double begin)
{
	u32 all = w->p->points * w->p->runs * w->p->curves;
	double part = (double)w->done / all;
	double left = part > 0 ? (seconds() - begin) * (1 - part) / part : 0;
	u32 i, bar = (u32)(part * 30);
	char text[32];

	for (i = 0; i < 30; i++)
		text[i] = i < bar ? '#' : '.';
	text[30] = 0;
	if (part > 0)
		fprintf(stderr, "\r[%s] %u of %u runs, %.0f:%02u left  ", text, w->done, all,
			floor(left / 60), (u32)left % 60);
	else
		fprintf(stderr, "\r[%s] %u of %u runs  ", text, w->done, all);
}

/**
 * jobs_run() - do all that is planned
 * @p: plan; its curves get results
 */
void jobs_run(struct plan *p)
{
	struct pool w = { .p = p, .lock = PTHREAD_MUTEX_INITIALIZER };
	u32 jobs = p->points * p->runs;
	struct wl_error err = { "" };
	double begin = seconds();
	pthread_t thread[64];
	u32 i;

	p->skewness = calloc(jobs, sizeof(*p->skewness));
	for (i = 0; i < p->curves; i++)
		p->curve[i].res = calloc(jobs, sizeof(*p->curve[i].res));
	if (p->file) {
		w.file = matrix_read(p->file, &err);
		if (!w.file)
			die("%s", err.text);
	} else if (p->spec.kind == WL_GENERAL) {
		w.cdfs = wl_cdfs_new(p->spec.n, p->spec.seed, &err);
		if (!w.cdfs)
			die("%s", err.text);
	}
	for (i = 0; i < p->threads; i++)
		if (pthread_create(&thread[i], NULL, work, &w))
			die("cannot start a thread");
	while (p->progress && !w.failed && w.done < jobs * p->curves) {
		struct timespec nap = { .tv_nsec = 200000000 };

		show(&w, begin);
		nanosleep(&nap, NULL);
	}
	for (i = 0; i < p->threads; i++)
		pthread_join(thread[i], NULL);
	if (p->progress)
		fprintf(stderr, "\r%78s\r", "");
	matrix_free(w.file);
	wl_cdfs_free(w.cdfs);
	if (w.failed)
		die("%s", w.why);
}
