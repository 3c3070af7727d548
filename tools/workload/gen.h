/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the files of the generators; not for users of the library.
 */
#ifndef SHUFFLE_WORKLOAD_GEN_H
#define SHUFFLE_WORKLOAD_GEN_H

#include "rng.h"
#include "workload.h"

/**
 * struct wl_lay - bytes laid out against the receivers' intervals (5.2, step 3)
 * @m: the matrix that grows
 * @order: the receivers
 * @pos: which of them is being filled
 * @row: bytes for each of them
 * @room: what it still lacks
 */
struct wl_lay {
	struct matrix *m;
	const unsigned int *order;
	unsigned int pos;
	uint64_t row, room;
};

/* balance.c */
void wl_lay_init(struct wl_lay *l, struct matrix *m, const unsigned int *order, uint64_t row);
void wl_lay_add(struct wl_lay *l, unsigned int from, uint64_t bytes);
int wl_permute(struct matrix *m, struct wl_rng *r, struct wl_error *err);
void wl_clear_diagonal(struct matrix *m);
bool wl_nudge(struct matrix *m, double lo, double hi, struct wl_rng *r);
int wl_scale(double *x, struct matrix *m, uint64_t row, struct wl_error *err);

/* sort.c */
struct matrix *wl_make_sort(const struct wl_spec *spec, uint64_t row, struct wl_rng *r,
			    double aim, struct wl_made *made, struct wl_error *err);

/* cdf.c */
struct wl_cdf;

const struct wl_cdf *wl_cdfs_pick(const struct wl_cdfs *set, const struct wl_spec *spec,
				  struct wl_rng *r);
void wl_cdf_describe(const struct wl_cdf *c, char *text, size_t size);
uint64_t wl_cdf_sample(const struct wl_cdf *c, struct wl_rng *r, double unit);

/* general.c */
struct matrix *wl_make_general(const struct wl_spec *spec, const struct wl_cdfs *set,
			       uint64_t row, struct wl_rng *r, struct wl_made *made,
			       struct wl_error *err);
void wl_general_row(const struct wl_cdf *c, uint64_t *v, unsigned int n, uint64_t row,
		    struct wl_rng *r);
int wl_general_place(struct matrix *m, const uint64_t *prelim, uint64_t row, struct wl_rng *r,
		     struct wl_error *err);

/* shapes.c */
struct matrix *wl_make_lognormal(const struct wl_spec *spec, uint64_t row, struct wl_rng *r,
				 struct wl_made *made, struct wl_error *err);
struct matrix *wl_make_shape(const struct wl_spec *spec, struct wl_rng *r, struct wl_made *made,
			     struct wl_error *err);

#endif /* SHUFFLE_WORKLOAD_GEN_H */
