// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Q2 of MilliQuery (Li, Listing 1):
 *
 *	SELECT contributor_ip AS ip, COUNT(*) AS count FROM edits
 *	GROUP BY ip ORDER BY count DESC, ip LIMIT 10
 *
 * There are many addresses: the counts of each meet at a host before the ten largest go up a tree.
 */
#include "queries.h"

struct op *query_q2(struct query *q)
{
	struct op *edits;

	edits = op_scan(q, "edits", "contributor_ip");
	edits = op_project(edits, "ip=contributor_ip");
	edits = op_aggregate(edits, "ip", "count=count()");
	edits = op_exchange(edits, "ip");
	edits = op_aggregate(edits, "ip", "count=sum(count)");
	edits = op_top(edits, 10, "-count ip");
	return op_gather_top(edits, 10, "-count ip");
}
