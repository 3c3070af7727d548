/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computation charged to virtual time.
 *
 * Where processors are infinitely fast (lane uml-time) a program takes no time but that of the
 * network.  It may then sleep for as long as a model says that its computation would have taken:
 * data are still moved and sorted.  Outside virtual time there is no use for that.
 */
#ifndef SHUFFLE_COMMON_CHARGE_H
#define SHUFFLE_COMMON_CHARGE_H

#include <stdint.h>

enum charge_kind {
	CHARGE_SORT,	/* a record of a local sort, times the binary logarithm of their number */
	CHARGE_PLACE,	/* a record that is merged and put in its place */
	CHARGE_PIVOT,	/* a pivot that is merged */
	CHARGE_MESSAGE,	/* a message sent or received */
	CHARGE_ROW,	/* a row of a table that is scanned */
	CHARGE_KINDS
};

/**
 * struct charge - a model of computation
 * @ns: of each kind; all 0: nothing is charged
 * @sum: ns charged so far
 */
struct charge {
	double ns[CHARGE_KINDS];
	double sum;
};

extern const char charge_help[];

const char *charge_parse(struct charge *c, const char *text);
void charge_spend(struct charge *c, enum charge_kind kind, double units);

#endif /* SHUFFLE_COMMON_CHARGE_H */
