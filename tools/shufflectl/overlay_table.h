/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of "shufflectl overlay" share. */
#ifndef SHUFFLECTL_OVERLAY_TABLE_H
#define SHUFFLECTL_OVERLAY_TABLE_H

#include <stdbool.h>

#include "../overlay/overlay.h"

/**
 * struct overlay_path - a way to a member
 * @to: its address
 * @way: the way
 */
struct overlay_path {
	struct overlay_addr	to;
	struct overlay_way	way;
};

/**
 * struct overlay_table - an overlay, as a file or the kernel has it
 * @settings: our number, and the number of neighbours
 * @neighbour: they
 * @path: ways to members
 * @paths: their number
 * @counter: enum overlay_counter
 */
struct overlay_table {
	struct overlay_settings		settings;
	struct overlay_neighbour	neighbour[OVERLAY_NEIGHBOURS];
	struct overlay_path		path[OVERLAY_WAYS];
	unsigned int			paths;
	unsigned long long		counter[OVERLAY_N_COUNTERS];
};

const char *overlay_text(const struct overlay_addr *a);
bool overlay_same(const struct overlay_addr *a, const struct overlay_addr *b);

/* overlay_kernel.c */
int overlay_get(struct overlay_table *t, bool *found);
int overlay_put(struct overlay_table *t);
int overlay_remove(void);

/* overlay_route.c */
int overlay_routes_check(const struct overlay_table *t);
int overlay_routes_put(const struct overlay_table *t);
int overlay_routes_clear(void);

#endif
