/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans of collectives: what they cost, and pictures of them. */
#ifndef SIM_COLLECTIVE_H
#define SIM_COLLECTIVE_H

#include <stdbool.h>
#include <stdio.h>

/**
 * struct collectives - which plans are printed
 * @kind: name of a kind, or "all"; NULL: none, a shuffle is simulated
 * @pattern: name of a pattern, or "all"
 * @hosts: members, one on each host
 * @racks: they are divided evenly among these
 * @root: place of the root
 * @radix: of k-nomial trees and Bruck's; segments of SHUFFLE_COLL_SPREAD
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
	const char	*json;
	const char	*svg;
	bool		quiet;
};

/* collective.c */
void collectives_print(const struct collectives *c);

/* plan_svg.c */
struct shuffle_plan;
void plan_svg(struct shuffle_plan *plan, FILE *f);

#endif /* SIM_COLLECTIVE_H */
