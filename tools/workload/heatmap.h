/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures of matrices.
 */
#ifndef SHUFFLE_WORKLOAD_HEATMAP_H
#define SHUFFLE_WORKLOAD_HEATMAP_H

#include "matrix.h"

int heatmap_text(const struct matrix *m, unsigned int cells, FILE *f, struct wl_error *err);
int heatmap_svg(const struct matrix *m, const char *title, unsigned int cells, FILE *f,
		struct wl_error *err);

#endif /* SHUFFLE_WORKLOAD_HEATMAP_H */
