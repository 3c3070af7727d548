/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The queries that shuffle-query knows; queries.c lists them. */
#ifndef QUERY_QUERIES_H
#define QUERY_QUERIES_H

#include "op.h"

/**
 * struct query_kind - a query
 * @name: its name
 * @plan: makes its operators; rows of the last one at member 0 are the result
 * @tables: that it reads
 * @sql: the same in SQL, with an order that leaves no choice
 */
struct query_kind {
	const char *name;
	struct op *(*plan)(struct query *q);
	const char *tables;
	const char *sql;
};

extern const struct query_kind queries[];
extern const unsigned int queries_count;

struct op *query_q1(struct query *q);
struct op *query_q2(struct query *q);
struct op *query_q3(struct query *q);
struct op *query_repos(struct query *q);
struct op *query_langs(struct query *q);

#endif /* QUERY_QUERIES_H */
