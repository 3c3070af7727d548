/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans of collectives: what they cost, and pictures of them. */
#ifndef SIM_COLLECTIVE_H
#define SIM_COLLECTIVE_H

#include <stdbool.h>
#include <stdio.h>

/**
 * struct plan_net - a network that plans take time in
 * @packet: bytes of a packet
 * @burst: bytes that a link lets through at once
 * @core: rate of racks' links / that of their hosts'
 */
struct plan_net {
	unsigned int	packet;
	unsigned int	burst;
	double		core;
};

/**
 * struct collectives - which plans are printed
 * @kind: name of a kind, or "all"; NULL: none, a shuffle is simulated
 * @pattern: name of a pattern, or "all"
 * @hosts: members, one on each host
 * @racks: they are divided evenly among these
 * @root: place of the root
 * @radix: of k-nomial trees and Bruck's; segments of SHUFFLE_COLL_SPREAD and _TWO_TREE
 * @bytes: of data, to compute times with; 0: no times
 * @net: then, links
 * @table: file that has the one plan, or NULL
 * @write: file that the one plan is written to, or NULL
 * @json: file for JSON, "-" for standard output, or NULL
 * @svg: file for a picture of the one plan, or NULL
 * @quiet: no text
 */
struct collectives {
	const char	*kind;
	const char	*pattern;
	unsigned int	hosts;
	unsigned int	racks;
	unsigned int	root;
	unsigned int	radix;
	unsigned long	bytes;
	struct plan_net	net;
	const char	*table;
	const char	*write;
	const char	*json;
	const char	*svg;
	bool		quiet;
};

/* collective.c */
void collectives_print(const struct collectives *c);

/* plan_file.c */
struct shuffle_plan;
struct shuffle_plan_table;
const struct shuffle_plan_table *plan_file_read(const char *name);
void plan_file_write(struct shuffle_plan *plan, const char *name);

/* plan_svg.c */
void plan_svg(struct shuffle_plan *plan, unsigned int steps, FILE *f);

/* plan_time.c */
unsigned long long plan_time(const struct shuffle_plan *plan, unsigned int steps,
			     unsigned long long bytes, const struct plan_net *net);

#endif /* SIM_COLLECTIVE_H */
