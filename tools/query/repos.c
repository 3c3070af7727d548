// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A fourth query, as an example of one's own: the largest repositories in C by authors.
 *
 *	SELECT repo_name, MAX(lang_bytes) AS bytes, COUNT(*) AS authors
 *	FROM (SELECT * FROM languages WHERE lang = 'C' AND lang_bytes >= 1000)
 *	JOIN (SELECT DISTINCT repo_name, author FROM commits) USING (repo_name)
 *	GROUP BY repo_name ORDER BY authors DESC, bytes DESC, repo_name LIMIT 20
 */
#include "queries.h"

struct op *query_repos(struct query *q)
{
	const char *order = "-authors -bytes repo_name";
	struct op *langs, *authors, *repos;

	langs = op_scan(q, "languages", "repo_name lang lang_bytes:int");
	langs = op_filter(langs, "lang = C");
	langs = op_filter(langs, "lang_bytes >= 1000");
	authors = op_scan(q, "commits", "repo_name author");
	authors = op_aggregate(authors, "repo_name author", "");
	op_exchange_join(&langs, NULL, &authors, "repo_name author", "repo_name");
	authors = op_aggregate(authors, "repo_name author", "");

	repos = op_join(langs, authors, "repo_name");
	repos = op_aggregate(repos, "repo_name", "bytes=max(lang_bytes) authors=count()");
	repos = op_exchange(repos, "repo_name");
	repos = op_aggregate(repos, "repo_name", "bytes=max(bytes) authors=sum(authors)");
	repos = op_top(repos, 20, order);
	return op_gather_top(repos, 20, order);
}
