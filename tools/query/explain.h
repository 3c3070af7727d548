/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a query has cost, operator by operator, of all hosts together. */
#ifndef QUERY_EXPLAIN_H
#define QUERY_EXPLAIN_H

#include <stdio.h>

#include "op.h"

/* One operator on all hosts.  Times in ns. */
struct phase {
	const char *name;
	uint64_t mean_ns, most_ns;
	uint64_t rows_in, rows_out;
	uint64_t bytes;		/* sent to other hosts */
	double skew;		/* rows handed on by the host with most, by the mean */
};

/* All hosts call this; member 0 gets an array of q->ops, to be freed, others NULL. */
struct phase *explain_gather(struct query *q);

void explain_text(FILE *f, const struct query *q, const struct phase *phase, uint64_t took_ns);
void explain_json(FILE *f, const struct query *q, const struct phase *phase);

#endif /* QUERY_EXPLAIN_H */
