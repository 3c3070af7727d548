/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Generators of shuffle workloads (chapter 5 and more).  Everything is a pure
 * function of the specification: no global state, any number of threads.
 */
#ifndef SHUFFLE_WORKLOAD_H
#define SHUFFLE_WORKLOAD_H

#include "matrix.h"

/**
 * enum wl_kind - shapes of workloads
 * @WL_UNIFORM: all messages have the same length
 * @WL_SORT: a distributed bucket sort (5.1)
 * @WL_GENERAL: lengths from a random distribution, greedy placement (5.2)
 * @WL_LOGNORMAL: log-normal lengths, rows and columns scaled by turns
 * @WL_NEIGHBOUR: halo exchange on a torus
 * @WL_GRAPH: a power-law graph partitioned among the hosts
 * @WL_MAPREDUCE: some hosts send to the others
 * @WL_INCAST: all others send to a few
 * @WL_PERMUTATION: every host sends all it has to one other
 */
enum wl_kind {
	WL_UNIFORM,
	WL_SORT,
	WL_GENERAL,
	WL_LOGNORMAL,
	WL_NEIGHBOUR,
	WL_GRAPH,
	WL_MAPREDUCE,
	WL_INCAST,
	WL_PERMUTATION,
	WL_KINDS,
};

/**
 * enum wl_keys - how the keys of WL_SORT are distributed
 * @WL_KEYS_ANY: at random one of the others
 * @WL_KEYS_UNIFORM: all of @keys values equally likely
 * @WL_KEYS_ZIPF: value k with a probability proportional to k^-shape
 * @WL_KEYS_NORMAL: discrete normal distribution, shape is the standard deviation
 * @WL_KEYS_MIXTURE: two or three of the above, each with a share
 */
enum wl_keys {
	WL_KEYS_ANY,
	WL_KEYS_UNIFORM,
	WL_KEYS_ZIPF,
	WL_KEYS_NORMAL,
	WL_KEYS_MIXTURE,
};

struct wl_cdfs;

/**
 * struct wl_spec - what to generate; start with wl_spec_init()
 * @kind: shape
 * @n: hosts
 * @mean: mean length of a message in bytes: the sum of a row is @mean times
 *	the number of receivers, @n or, without messages to oneself, @n - 1.
 *	WL_INCAST and WL_NEIGHBOUR: the length of each message; WL_MAPREDUCE and
 *	WL_GRAPH: the mean of what is sent
 * @seed: of the random numbers
 * @self: keep messages to oneself, as the source does; without, the diagonal
 *	is empty and the sums of rows and columns are equal all the same
 * @skew_lo: wanted skewness, at least
 * @skew_hi: wanted skewness, less than; 0: any.  WL_SORT, WL_GENERAL,
 *	WL_LOGNORMAL
 * @keys: WL_SORT: distribution of keys, when no skewness is wanted
 * @key_values: WL_SORT: number of different keys, 0: any
 * @key_shape: WL_SORT: see &enum wl_keys
 * @cdfs: WL_GENERAL: distributions to choose from, NULL: own ones
 * @mean_lo: WL_GENERAL without skewness: mean of the distribution, in units of
 *	the mean message, at least
 * @mean_hi: below; 0: any
 * @dev_lo: the same for its standard deviation
 * @dev_hi: below; 0: any
 * @dims: WL_NEIGHBOUR: dimensions of the torus, 1 to 3
 * @exponent: WL_GRAPH: of the power law
 * @edges: WL_GRAPH: edges for each vertex
 * @targets: WL_INCAST: receivers; WL_MAPREDUCE: reducers, 0: half of the hosts
 */
struct wl_spec {
	enum wl_kind kind;
	unsigned int n;
	uint64_t mean;
	uint64_t seed;
	bool self;
	double skew_lo, skew_hi;
	enum wl_keys keys;
	unsigned int key_values;
	double key_shape;
	const struct wl_cdfs *cdfs;
	double mean_lo, mean_hi;
	double dev_lo, dev_hi;
	unsigned int dims;
	double exponent;
	unsigned int edges;
	unsigned int targets;
};

/**
 * struct wl_made - how a matrix came about
 * @skewness: of the matrix
 * @attempts: matrices made until one had the wanted skewness
 * @nudged: the last one had not, and bytes were moved until it had
 * @how: the distribution in words, such as "zipf 812 keys, exponent 1.204"
 */
struct wl_made {
	double skewness;
	unsigned int attempts;
	bool nudged;
	char how[96];
};

/* workload.c */
void wl_spec_init(struct wl_spec *spec, enum wl_kind kind, unsigned int n);
int wl_spec_parse(struct wl_spec *spec, const char *name, unsigned int n, struct wl_error *err);
int wl_size_parse(const char *s, uint64_t *bytes);
const char *wl_kind_name(enum wl_kind kind);
int wl_kind_parse(const char *name, enum wl_kind *kind);
struct matrix *wl_generate(const struct wl_spec *spec, struct wl_made *made, struct wl_error *err);
struct matrix *wl_of_skewness(const struct wl_spec *like, unsigned int bucket, unsigned int buckets,
			      unsigned int index, struct wl_made *made, struct wl_error *err);

/* cdf.c */
struct wl_cdfs *wl_cdfs_new(unsigned int n, uint64_t seed, struct wl_error *err);
void wl_cdfs_free(struct wl_cdfs *set);
void wl_cdfs_print(const struct wl_cdfs *set, bool json, FILE *f);

#endif /* SHUFFLE_WORKLOAD_H */
