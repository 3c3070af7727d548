// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Q3 of MilliQuery (Li, Listing 1), with the arrays of its tables unnested:
 *
 *	WITH repo_authors AS (SELECT repo_name, author FROM commits GROUP BY repo_name, author)
 *	SELECT lang, author, SUM(lang_bytes) AS total_bytes
 *	FROM languages JOIN repo_authors USING (repo_name)
 *	GROUP BY lang, author ORDER BY total_bytes DESC, lang, author LIMIT 100
 *
 * Two shuffles bring the rows of a repository together, a third one those of a language and an
 * author.  Repositories with many rows are split.
 */
#include "queries.h"

struct op *query_q3(struct query *q)
{
	struct op *langs, *authors, *pairs;

	authors = op_scan(q, "commits", "repo_name author");
	authors = op_aggregate(authors, "repo_name author", "");
	langs = op_scan(q, "languages", "repo_name lang lang_bytes:int");
	op_exchange_join(&langs, NULL, &authors, "repo_name author", "repo_name");
	authors = op_aggregate(authors, "repo_name author", "");

	pairs = op_join(langs, authors, "repo_name");
	pairs = op_aggregate(pairs, "lang author", "total_bytes=sum(lang_bytes)");
	pairs = op_exchange(pairs, "lang author");
	pairs = op_aggregate(pairs, "lang author", "total_bytes=sum(total_bytes)");
	pairs = op_top(pairs, 100, "-total_bytes lang author");
	return op_gather_top(pairs, 100, "-total_bytes lang author");
}
