// SPDX-License-Identifier: GPL-2.0-or-later
/* Patterns: who asks whom, from a list of hosts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"
#include "rperf.h"

struct host {
	char	addr[NAME_MAX_LEN];
	char	netns[NAME_MAX_LEN];
};

/* A host a line: ADDRESS [NAMESPACE]; # begins a comment. */
static unsigned int read_hosts(const char *file, struct host *host)
{
	FILE *f = fopen(file, "re");
	char line[256], more[2];
	unsigned int n = 0, number = 0;
	int words;

	if (!f)
		die("%s: %s", file, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		number++;
		line[strcspn(line, "#\n")] = 0;
		if (!line[strspn(line, " \t")])
			continue;
		if (n == MAX_HOSTS)
			die("%s:%u: more than %u hosts", file, number, MAX_HOSTS);
		words = sscanf(line, "%63s %63s %1s", host[n].addr, host[n].netns, more);
		if (words > 2)
			die("%s:%u: \"%s\" is not ADDRESS [NAMESPACE]", file, number, line);
		n++;
	}
	fclose(f);
	if (n < 2)
		die("%s: %u hosts; a pattern has two at least", file, n);
	return n;
}

/* Questions per second of each pair, row by row. */
static uint64_t *rates(const char *pattern, unsigned int n, const struct instance *like)
{
	uint64_t *rate = memory((size_t)n * n, sizeof(*rate)), r = (uint64_t)like->rate;
	struct wl_error err;
	struct matrix *m;
	unsigned int i, j;

	if (!strncmp(pattern, "matrix:", 7)) {
		m = matrix_read(pattern + 7, &err);
		if (!m)
			die("%s: %s", pattern + 7, err.text);
		if (m->n != n)
			die("%s: a matrix of %u hosts, and there are %u", pattern + 7, m->n, n);
		memcpy(rate, m->len, (size_t)n * n * sizeof(*rate));
		matrix_free(m);
		return rate;
	}
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			if (i != j && (!strcmp(pattern, "all-to-all") ||
				       (!strcmp(pattern, "many-to-one") && !j) ||
				       (!strcmp(pattern, "one-to-one") && j == (i ^ 1))))
				rate[i * n + j] = r ? r : 1;
	return rate;
}

/**
 * hosts_instances() - the instances of a pattern
 * @job: gets them
 * @file: list of hosts
 * @pattern: one-to-one (0 and 1, 2 and 3, ...), many-to-one (all to the first), all-to-all, or
 *	matrix:FILE with questions per second
 * @rank: which of the hosts this one is; NULL: all, by their namespaces
 * @like: the rest
 */
void hosts_instances(struct job *job, const char *file, const char *pattern, const char *rank,
		     const struct instance *like)
{
	struct host *host = memory(MAX_HOSTS, sizeof(*host));
	unsigned int n = read_hosts(file, host), i, j, first = 0, last = n - 1;
	struct instance *inst, one = *like;
	uint64_t *rate;

	if (strncmp(pattern, "matrix:", 7) && strcmp(pattern, "all-to-all") &&
	    strcmp(pattern, "many-to-one") && strcmp(pattern, "one-to-one"))
		die("--pattern %s: there are one-to-one many-to-one all-to-all matrix:FILE",
		    pattern);
	rate = rates(pattern, n, like);
	if (rank) {
		first = option_whole("rank", rank, 0, n - 1);
		last = first;
	}
	for (i = first; i <= last; i++) {
		if (!rank && !*host[i].netns)
			die("%s: host %u has no namespace; --rank says which host this is", file,
			    i);
		for (j = 0; j < n; j++) {
			if (!rate[i * n + j] || i == j)
				continue;
			if (rate[i * n + j] > 1000000)
				die("%s: %u to %u: more than 1000000 questions per second", pattern,
				    i, j);
			one.rate = (double)rate[i * n + j];
			snprintf(one.to, sizeof(one.to), "%s", host[j].addr);
			snprintf(one.name, sizeof(one.name), "%u-%u", i, j);
			inst = job_instance(job, &one);
			if (!rank)
				snprintf(inst->from, sizeof(inst->from), "%s", host[i].netns);
		}
	}
	free(rate);
	free(host);
}
