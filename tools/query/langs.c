// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Another query of one's own, with two sums for each of a few keys:
 *
 *	SELECT lang, COUNT(*) AS repos, SUM(lang_bytes) AS bytes FROM languages
 *	GROUP BY lang ORDER BY lang
 *
 * As in Q1, the sums go up a tree of hosts, or of relays with --roles.
 */
#include "queries.h"

struct op *query_langs(struct query *q)
{
	struct op *langs;

	langs = op_scan(q, "languages", "lang lang_bytes:int");
	langs = op_aggregate(langs, "lang", "repos=count() bytes=sum(lang_bytes)");
	langs = op_gather_aggregate(langs, "lang", "repos=sum(repos) bytes=sum(bytes)");
	return op_top(langs, 0, "lang");
}
