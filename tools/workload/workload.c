// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Workloads by specification or by name, with the skewness that is asked for.
 */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "gen.h"

#define MAX_ATTEMPTS	8
#define TINY		(1.0 / (1ULL << 40))

static const char *const kind_names[WL_KINDS] = {
	[WL_UNIFORM] = "uniform",
	[WL_SORT] = "sort",
	[WL_GENERAL] = "general",
	[WL_LOGNORMAL] = "lognormal",
	[WL_NEIGHBOUR] = "neighbour",
	[WL_GRAPH] = "graph",
	[WL_MAPREDUCE] = "mapreduce",
	[WL_INCAST] = "incast",
	[WL_PERMUTATION] = "permutation",
};

/**
 * wl_kind_name - name of a shape
 * @kind: the shape
 *
 * Return: a word.
 */
const char *wl_kind_name(enum wl_kind kind)
{
	return kind_names[kind];
}

/**
 * wl_kind_parse - shape of a name
 * @name: a word
 * @kind: set if it is one
 *
 * Return: 0, or -1 if there is no such shape.
 */
int wl_kind_parse(const char *name, enum wl_kind *kind)
{
	unsigned int k;

	for (k = 0; k < WL_KINDS; k++) {
		if (!strcmp(name, kind_names[k])) {
			*kind = k;
			return 0;
		}
	}
	return -1;
}

/**
 * wl_spec_init - the usual values
 * @spec: set
 * @kind: shape
 * @n: hosts
 */
void wl_spec_init(struct wl_spec *spec, enum wl_kind kind, unsigned int n)
{
	memset(spec, 0, sizeof(*spec));
	spec->kind = kind;
	spec->n = n;
	spec->mean = 24000;	/* 16 packets of 1500 bytes, as in chapter 6 */
	spec->seed = 1;
	spec->self = true;
	spec->dims = 2;
	spec->exponent = 2.1;
	spec->edges = 8;
	spec->targets = kind == WL_INCAST;
}

/**
 * wl_size_parse - a number of bytes
 * @s: a number; with "k" thousands, or KiB if it is a power of two (24k is
 *	24000, 256k is 262144), with "m" MiB
 * @bytes: set
 *
 * Return: 0, or -1 if that is none or too much.
 */
int wl_size_parse(const char *s, uint64_t *bytes)
{
	uint64_t v = 0, unit = 1;

	if (*s < '0' || *s > '9')
		return -1;
	for (; *s >= '0' && *s <= '9'; s++) {
		v = v * 10 + (*s - '0');
		if (v > MATRIX_MAX_LEN)
			return -1;
	}
	if (*s == 'k')
		unit = v & (v - 1) ? 1000 : 1024;
	else if (*s == 'm')
		unit = 1 << 20;
	if (unit > 1)
		s++;
	if (*s || v > MATRIX_MAX_LEN / unit)
		return -1;
	*bytes = v * unit;
	return 0;
}

/* skewPP: log-normal with a skewness of 0.PP; generalPP: that of the general ones */
static bool skewed_kind(const char *word, enum wl_kind *kind, double *skewness)
{
	size_t name = strcspn(word, "0123456789");

	if (strspn(word + name, "0123456789") != 2 || word[name + 2])
		return false;
	*skewness = strtoul(word + name, NULL, 10) / 100.0;
	if (name == strlen("skew") && !strncmp(word, "skew", name))
		*kind = WL_LOGNORMAL;
	else if (name == strlen("general") && !strncmp(word, "general", name))
		*kind = WL_GENERAL;
	else
		return false;
	return true;
}

/**
 * wl_spec_parse - a workload by its short name
 * @spec: set
 * @name: KIND-SIZE, or skewPP-SIZE: log-normal with a skewness of 0.PP, or
 *	generalPP-SIZE: general with one; without messages to oneself
 * @n: hosts
 * @err: set on failure, may be NULL
 *
 * Return: 0, or -1 if there is no such workload.
 */
int wl_spec_parse(struct wl_spec *spec, const char *name, unsigned int n, struct wl_error *err)
{
	const char *size = strrchr(name, '-');
	enum wl_kind kind;
	double skewness;
	char word[32];

	if (!size || (size_t)(size - name) >= sizeof(word)) {
		wl_error_set(err, "'%s': a workload is called KIND-SIZE", name);
		return -1;
	}
	memcpy(word, name, size - name);
	word[size - name] = 0;
	if (skewed_kind(word, &kind, &skewness)) {
		wl_spec_init(spec, kind, n);
		spec->skew_lo = skewness - 0.0002;
		spec->skew_hi = spec->skew_lo + 0.0004;
		if (spec->skew_lo < 0)
			spec->skew_lo = 0;
	} else {
		if (wl_kind_parse(word, &kind)) {
			wl_error_set(err, "'%s': no such kind of workload", word);
			return -1;
		}
		wl_spec_init(spec, kind, n);
	}
	spec->self = false;
	if (wl_size_parse(size + 1, &spec->mean) || !spec->mean) {
		wl_error_set(err, "'%s': not a size in bytes", size + 1);
		return -1;
	}
	return 0;
}

static int spec_check(const struct wl_spec *s, struct wl_error *err)
{
	bool skewed = s->kind == WL_SORT || s->kind == WL_GENERAL || s->kind == WL_LOGNORMAL;
	/* Random lengths have at most a whole row. */
	uint64_t most = MATRIX_MAX_LEN / (s->n ? s->n : 1);

	if (s->kind >= WL_KINDS)
		wl_error_set(err, "no such kind of workload");
	else if (s->n < 2 || s->n > MATRIX_MAX_HOSTS)
		wl_error_set(err, "%u hosts: a matrix has 2 to %u", s->n, MATRIX_MAX_HOSTS);
	else if (!s->mean || s->mean > most)
		wl_error_set(err, "a mean message of %llu bytes: 1 to %llu with %u hosts",
			     (unsigned long long)s->mean, (unsigned long long)most, s->n);
	else if (!skewed && s->skew_hi > 0)
		wl_error_set(err, "%s: its skewness cannot be chosen", kind_names[s->kind]);
	else if (s->skew_hi > 0 && !(s->skew_lo >= 0 && s->skew_lo < s->skew_hi && s->skew_lo <= 1))
		wl_error_set(err, "skewness from %g to %g: an interval within 0 to 1 is needed",
			     s->skew_lo, s->skew_hi);
	else if (s->kind == WL_SORT && (s->key_values > 65536 || !(s->key_shape >= 0)))
		wl_error_set(err, "%u keys with shape %g: at most 65536, not negative",
			     s->key_values, s->key_shape);
	else if (s->kind == WL_NEIGHBOUR && (s->dims < 1 || s->dims > 3))
		wl_error_set(err, "%u dimensions: a torus has 1 to 3", s->dims);
	else if (s->kind == WL_GRAPH && !(s->exponent > 1 && s->exponent <= 10))
		wl_error_set(err, "exponent %g: more than 1, at most 10", s->exponent);
	else if (s->kind == WL_GRAPH && (!s->edges || s->edges > 1000))
		wl_error_set(err, "%u edges for each vertex: 1 to 1000", s->edges);
	else if (s->kind == WL_INCAST && (!s->targets || s->targets > s->n))
		wl_error_set(err, "%u receivers: 1 to %u", s->targets, s->n);
	else if (s->kind == WL_MAPREDUCE && s->targets >= s->n)
		wl_error_set(err, "%u reducers of %u hosts: one mapper is needed", s->targets,
			     s->n);
	else
		return 0;
	return -1;
}

/* One matrix, with a skewness that may or may not be what is wanted. */
static struct matrix *attempt(const struct wl_spec *spec, const struct wl_cdfs *cdfs, uint64_t row,
			      double aim, struct wl_rng *r, struct wl_made *made,
			      struct wl_error *err)
{
	struct matrix *m = NULL;

	if (spec->kind == WL_SORT)
		m = wl_make_sort(spec, row, r, aim, made, err);
	else if (spec->kind == WL_GENERAL)
		m = wl_make_general(spec, cdfs, row, r, made, err);
	else if (spec->kind == WL_LOGNORMAL)
		m = wl_make_lognormal(spec, row, r, made, err);
	else
		m = wl_make_shape(spec, r, made, err);
	if (m && !spec->self && (spec->kind == WL_SORT || spec->kind == WL_GENERAL))
		wl_clear_diagonal(m);
	return m;
}

/**
 * wl_generate - make a matrix
 * @spec: what is wanted
 * @made: how it came about, may be NULL
 * @err: set on failure, may be NULL
 *
 * The same specification makes the same matrix on every machine.  When a
 * skewness is wanted, matrices are made until one has it; after MAX_ATTEMPTS
 * the nearest is changed until it has.
 *
 * Return: the matrix, for matrix_free(), or NULL.
 */
struct matrix *wl_generate(const struct wl_spec *spec, struct wl_made *made, struct wl_error *err)
{
	const struct wl_cdfs *cdfs = spec->cdfs;
	struct matrix *m = NULL, *best = NULL;
	struct wl_cdfs *own = NULL;
	double off, best_off = 0, aim, width = spec->skew_hi - spec->skew_lo;
	struct wl_made how = { 0 }, best_how = { 0 };
	struct wl_rng r;
	uint64_t row;

	if (spec_check(spec, err))
		return NULL;
	row = spec->mean * (spec->self ? spec->n : spec->n - 1);
	if (spec->kind == WL_GENERAL && !cdfs) {
		own = wl_cdfs_new(spec->n, spec->seed, err);
		if (!own)
			return NULL;
		cdfs = own;
	}
	wl_rng_init(&r, wl_rng_mix(spec->seed, spec->n, spec->kind));
	aim = spec->skew_lo + width * (0.2 + 0.6 * wl_rng_unit(&r));
	for (how.attempts = 1; how.attempts <= MAX_ATTEMPTS; how.attempts++) {
		m = attempt(spec, cdfs, row, aim, &r, &how, err);
		if (!m)
			goto out;
		how.skewness = matrix_skewness(m);
		off = how.skewness < spec->skew_lo ? spec->skew_lo - how.skewness :
		      how.skewness >= spec->skew_hi ? how.skewness - spec->skew_hi + TINY : 0;
		if (!(spec->skew_hi > 0) || off == 0) {
			matrix_free(best);
			best = m;
			best_how = how;
			goto out;
		}
		if (!best || off < best_off) {
			matrix_free(best);
			best = m;
			best_off = off;
			best_how = how;
		} else {
			matrix_free(m);
		}
		/* A log-normal one has been searched for already. */
		if (spec->kind == WL_LOGNORMAL)
			break;
	}
	m = best;
	best_how.attempts = how.attempts < MAX_ATTEMPTS ? how.attempts : MAX_ATTEMPTS;
	best_how.nudged = true;
	if (!wl_nudge(m, spec->skew_lo, spec->skew_hi, &r)) {
		wl_error_set(err, "%u hosts, mean length %llu: a skewness of %.4f to %.4f cannot be reached",
			     spec->n, (unsigned long long)spec->mean, spec->skew_lo, spec->skew_hi);
		m = NULL;
		goto out;
	}
	best_how.skewness = matrix_skewness(m);
out:
	if (!m) {
		matrix_free(best);
		best = NULL;
	} else if (made) {
		*made = best_how;
	}
	wl_cdfs_free(own);
	return best;
}

/**
 * wl_of_skewness - one of many matrices with a skewness in an interval
 * @like: shape (WL_SORT, WL_GENERAL or WL_LOGNORMAL) and everything else
 * @bucket: which interval
 * @buckets: how many the range from 0 to 1 is divided into, 20 in chapter 6
 * @index: which matrix of the interval, any number
 * @made: how it came about, may be NULL
 * @err: set on failure, may be NULL
 *
 * The last interval includes 1.  For WL_GENERAL give @like->cdfs: they take
 * longer than a matrix.
 *
 * Return: the matrix or NULL.
 */
struct matrix *wl_of_skewness(const struct wl_spec *like, unsigned int bucket, unsigned int buckets,
			      unsigned int index, struct wl_made *made, struct wl_error *err)
{
	struct wl_spec spec = *like;

	if (!buckets || bucket >= buckets) {
		wl_error_set(err, "interval %u of %u", bucket, buckets);
		return NULL;
	}
	spec.seed = wl_rng_mix(like->seed, ((uint64_t)buckets << 32) | bucket, index);
	spec.skew_lo = (double)bucket / buckets;
	spec.skew_hi = bucket + 1 < buckets ? (bucket + 1.0) / buckets : 1.000001;
	return wl_generate(&spec, made, err);
}
