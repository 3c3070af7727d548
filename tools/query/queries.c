// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of queries. */
#include "queries.h"

const struct query_kind queries[] = {
	{ "q1", query_q1, "wiki",
	  "SELECT language, SUM(views) AS views FROM wiki GROUP BY language ORDER BY language" },
	{ "q2", query_q2, "edits",
	  "SELECT contributor_ip AS ip, COUNT(*) AS count FROM edits "
	  "GROUP BY ip ORDER BY count DESC, ip LIMIT 10" },
	{ "q3", query_q3, "languages commits",
	  "WITH repo_authors AS (SELECT repo_name, author FROM commits "
	  "GROUP BY repo_name, author) "
	  "SELECT lang, author, SUM(lang_bytes) AS total_bytes "
	  "FROM languages JOIN repo_authors USING (repo_name) "
	  "GROUP BY lang, author ORDER BY total_bytes DESC, lang, author LIMIT 100" },
	{ "repos", query_repos, "languages commits",
	  "SELECT repo_name, MAX(lang_bytes) AS bytes, COUNT(*) AS authors "
	  "FROM (SELECT * FROM languages WHERE lang = 'C' AND lang_bytes >= 1000) "
	  "JOIN (SELECT DISTINCT repo_name, author FROM commits) USING (repo_name) "
	  "GROUP BY repo_name ORDER BY authors DESC, bytes DESC, repo_name LIMIT 20" },
	{ "langs", query_langs, "languages",
	  "SELECT lang, COUNT(*) AS repos, SUM(lang_bytes) AS bytes FROM languages "
	  "GROUP BY lang ORDER BY lang" },
};

const unsigned int queries_count = sizeof(queries) / sizeof(*queries);
