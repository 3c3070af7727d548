// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Q1 of MilliQuery (Li, Listing 1):
 *
 *	SELECT language, SUM(views) FROM wiki GROUP BY language
 *
 * Each host sums up its own rows; few languages go up a tree, whose nodes add them up.
 */
#include "queries.h"

struct op *query_q1(struct query *q)
{
	struct op *views;

	views = op_scan(q, "wiki", "language views:int");
	views = op_aggregate(views, "language", "views=sum(views)");
	views = op_gather_aggregate(views, "language", "views=sum(views)");
	return op_top(views, 0, "language");
}
