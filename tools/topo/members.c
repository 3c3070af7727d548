// SPDX-License-Identifier: GPL-2.0-or-later
/* Who sends and who receives: lists, files, random ones. */
#include <math.h>
#include <stdlib.h>

#include "job.h"

#define MAX_LINE	256U
#define MAX_FLOW	1000000000000.0

static void add(struct shuffle *s, u32 server, bool receivers, double flow)
{
	u32 *n = receivers ? &s->receivers : &s->senders;

	if (*n == SHUFFLE_MAX_MEMBERS)
		die("at most %u %s", SHUFFLE_MAX_MEMBERS, receivers ? "receivers" : "senders");
	if (receivers) {
		if (!(*n & (*n - 1)))
			s->receiver = memory(s->receiver, *n ? 2 * *n : 1, sizeof(u32));
		s->receiver[s->receivers++] = server;
		return;
	}
	if (!(*n & (*n - 1))) {
		s->sender = memory(s->sender, *n ? 2 * *n : 1, sizeof(u32));
		s->flow = memory(s->flow, *n ? 2 * *n : 1, sizeof(double));
	}
	s->sender[s->senders] = server;
	s->flow[s->senders++] = flow;
}

/* One line for each: a server, and if it is a sender its flow. */
static void read_file(struct shuffle *s, const char *path, bool receivers, double flow)
{
	FILE *f = fopen(path, "r");
	char line[MAX_LINE], *word, *size, *save, *end;
	u32 no, server;

	if (!f)
		die("%s: %s", path, strerror(errno));
	for (no = 1; fgets(line, MAX_LINE, f); no++) {
		double v = flow;

		if (strlen(line) == MAX_LINE - 1)
			die("%s:%u: a line has at most %u characters", path, no, MAX_LINE - 2);
		word = strtok_r(line, " \t\r\n", &save);
		if (!word || *word == '#')
			continue;
		server = topo_parse(s->topo, word);
		if (server == NONE)
			die("%s:%u: %s: there is no such server", path, no, word);
		size = strtok_r(NULL, " \t\r\n", &save);
		if (size && *size != '#') {
			v = strtod(size, &end);
			if (receivers || *end || !(v > 0 && v <= MAX_FLOW))
				die("%s:%u: %s: %s", path, no, size, receivers ?
				    "a receiver has no flow" : "a flow is more than 0, up to 1e12");
			size = strtok_r(NULL, " \t\r\n", &save);
			if (size && *size != '#')
				die("%s:%u: %s: a line has a server and a flow", path, no, size);
		}
		add(s, server, receivers, v);
	}
	if (ferror(f))
		die("%s: %s", path, strerror(errno));
	fclose(f);
}

/* A server, or two indexes with - between them. */
static void add_word(struct shuffle *s, const char *word, bool receivers, double flow)
{
	const char *option = receivers ? "receivers" : "senders";
	u32 server = topo_parse(s->topo, word), from, to;
	char *end;

	if (server != NONE) {
		add(s, server, receivers, flow);
		return;
	}
	if (!s->topo->graph && *word >= '0' && *word <= '9') {
		unsigned long first = strtoul(word, &end, 10), last;

		if (*end == '-' && end[1] >= '0' && end[1] <= '9') {
			last = strtoul(end + 1, &end, 10);
			if (!*end && first <= last && last < topo_servers(s->topo)) {
				from = (u32)first;
				to = (u32)last;
				for (; from <= to; from++)
					add(s, topo_server(s->topo, from), receivers, flow);
				return;
			}
		}
	}
	die("--%s %s: there is no such server", option, word);
}

/**
 * members_list() - senders or receivers from the command line
 * @s: the shuffle, with its topology
 * @text: servers with commas between them, or @FILE
 * @receivers: which
 * @flow: of senders of which the file does not say it
 */
void members_list(struct shuffle *s, const char *text, bool receivers, double flow)
{
	char *copy, *word, *save;

	if (*text == '@') {
		read_file(s, text + 1, receivers, flow);
	} else {
		copy = memory(NULL, strlen(text) + 1, 1);
		strcpy(copy, text);
		for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save))
			add_word(s, word, receivers, flow);
		free(copy);
	}
	if (receivers ? !s->receivers : !s->senders)
		die("--%s %s: none", receivers ? "receivers" : "senders", text);
}

/**
 * members_random() - the members of a run: different servers
 * @j: the job
 * @run: which
 */
void members_random(struct job *j, u32 run)
{
	struct shuffle *s = &j->shuffle;
	struct map seen = { 0 };
	struct wl_rng rng;
	u32 i, servers = topo_servers(&j->topo), n = j->random_senders + j->random_receivers;

	s->senders = 0;
	s->receivers = 0;
	s->seed = wl_rng_mix(j->seed, 2, run);
	wl_rng_init(&rng, s->seed);
	map_clear(&seen);
	for (i = 0; i < n; i++) {
		u32 index, before;

		do {
			index = (u32)wl_rng_below(&rng, servers);
			before = seen.n;
			map_put(&seen, index, 0);
		} while (seen.n == before);
		add(s, topo_server(&j->topo, index), i >= j->random_senders, 1);
	}
	map_free(&seen);
	members_end(s);
}

struct member {
	u32	server;
	double	flow;
};

static int by_server(const void *a, const void *b)
{
	u32 x = ((const struct member *)a)->server, y = ((const struct member *)b)->server;

	return x < y ? -1 : x > y;
}

/**
 * members_end() - all members are known: senders in order, and nobody twice
 * @s: the shuffle
 */
void members_end(struct shuffle *s)
{
	struct member *m = memory(NULL, s->senders, sizeof(*m));
	struct map seen = { 0 };
	char text[TOPO_MAX_TEXT];
	u32 i;

	for (i = 0; i < s->senders; i++)
		m[i] = (struct member){ s->sender[i], s->flow[i] };
	qsort(m, s->senders, sizeof(*m), by_server);
	for (i = 0; i < s->senders; i++) {
		s->sender[i] = m[i].server;
		s->flow[i] = m[i].flow;
		if (i && s->sender[i] == s->sender[i - 1])
			die("sender %s is there twice", topo_name(s->topo, s->sender[i], text));
	}
	free(m);
	map_clear(&seen);
	for (i = 0; i < s->receivers; i++) {
		map_put(&seen, s->receiver[i], 0);
		if (seen.n != i + 1)
			die("receiver %s is there twice",
			    topo_name(s->topo, s->receiver[i], text));
		if (s->senders == 1 && s->sender[0] == s->receiver[i])
			die("server %s would be the only sender to itself",
			    topo_name(s->topo, s->receiver[i], text));
	}
	map_free(&seen);
}
