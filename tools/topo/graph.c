// SPDX-License-Identifier: GPL-2.0-or-later
/* Topologies without labels: from a file, racks; searches in them. */
#include <stdlib.h>

#include "graph.h"

#define MAX_LINE	65536U

static u32 name_hash(const char *name)
{
	u32 h = 2166136261U;

	for (; *name; name++)
		h = (h ^ (u8)*name) * 16777619U;
	return h ^ h >> 15;
}

static u32 *name_slot(const struct graph *g, const char *name)
{
	u32 at = name_hash(name) & (g->name_slots - 1);

	while (g->named[at] && strcmp(g->name[g->named[at] - 1], name))
		at = (at + 1) & (g->name_slots - 1);
	return &g->named[at];
}

/**
 * graph_find() - a node by its name
 * @g: the graph
 * @name: the name
 *
 * Return: the node, or NONE.
 */
u32 graph_find(const struct graph *g, const char *name)
{
	return *name_slot(g, name) - 1;
}

static struct graph *graph_new(void)
{
	struct graph *g = memory(NULL, 1, sizeof(*g));

	*g = (struct graph){ .name_slots = 2 * GRAPH_MAX_NODES };
	g->named = memory(NULL, g->name_slots, sizeof(*g->named));
	memset(g->named, 0, g->name_slots * sizeof(*g->named));
	g->name = memory(NULL, GRAPH_MAX_NODES, sizeof(*g->name));
	g->end = memory(NULL, GRAPH_MAX_LINKS, sizeof(*g->end));
	return g;
}

/* Name a node; returns why not. */
static const char *add_node(struct graph *g, const char *name)
{
	u32 *slot;

	if (!strcmp(name, "-") || !strcmp(name, "tree") || strlen(name) > GRAPH_MAX_NAME ||
	    strpbrk(name, ",\"\\<>&@"))
		return "a name has at most 63 characters, no , \" \\ < > & @, and is not - or tree";
	slot = name_slot(g, name);
	if (*slot)
		return "this name was there before";
	if (g->nodes == GRAPH_MAX_NODES)
		return "at most 131072 servers and switches";
	strcpy(g->name[g->nodes], name);
	*slot = ++g->nodes;
	return NULL;
}

static const char *add_link(struct graph *g, u32 a, u32 b)
{
	if (a == b)
		return "a link has two ends";
	if (g->links == GRAPH_MAX_LINKS)
		return "at most 1048576 links";
	g->end[g->links][0] = a;
	g->end[g->links++][1] = b;
	return NULL;
}

/* Which links does each node have? */
static void index_links(struct graph *g)
{
	u32 i, side, at;

	memset(g->first, 0, (g->nodes + 1) * sizeof(*g->first));
	for (i = 0; i < g->links; i++)
		for (side = 0; side < 2; side++)
			g->first[g->end[i][side]]++;
	for (i = 1; i <= g->nodes; i++)
		g->first[i] += g->first[i - 1];
	for (i = g->links; i-- > 0;) {
		for (side = 0; side < 2; side++) {
			at = --g->first[g->end[i][side]];
			g->to[at] = g->end[i][!side];
			g->by[at] = i;
		}
	}
}

/* All nodes and links are known. */
static void graph_end(struct graph *g)
{
	g->first = memory(NULL, g->nodes + 1, sizeof(*g->first));
	g->to = memory(NULL, 2 * (size_t)g->links, sizeof(*g->to));
	g->by = memory(NULL, 2 * (size_t)g->links, sizeof(*g->by));
	g->far = memory(NULL, g->nodes, sizeof(*g->far));
	g->from = memory(NULL, g->nodes, sizeof(*g->from));
	g->queue = memory(NULL, g->nodes, sizeof(*g->queue));
	g->found = 0;
	memset(g->far, 0xff, g->nodes * sizeof(*g->far));
	index_links(g);
}

/**
 * graph_cut() - take links away
 * @g: the graph
 * @node: an end of the link
 * @other: the other end; NONE: all links of @node
 *
 * Return: how many were taken away.
 */
u32 graph_cut(struct graph *g, u32 node, u32 other)
{
	u32 i, n = 0, links = g->links;

	for (i = 0; i < links; i++) {
		u32 a = g->end[i][0], b = g->end[i][1];

		if ((a == node && (other == NONE || b == other)) ||
		    (b == node && (other == NONE || a == other)))
			continue;
		g->end[n][0] = a;
		g->end[n++][1] = b;
	}
	g->links = n;
	index_links(g);
	/* what the last search found may be cut off */
	graph_search(g, node, false);
	return links - n;
}

/**
 * graph_search() - distances from a node, breadth first
 * @g: the graph; @far, @from and @queue have the result
 * @from: the node
 * @hop: not beyond other servers: what is found is one server hop away, or a switch
 */
void graph_search(struct graph *g, u32 from, bool hop)
{
	u32 i, j, at, to;

	for (i = 0; i < g->found; i++)
		g->far[g->queue[i]] = NONE;
	g->hop = hop;
	g->far[from] = 0;
	g->queue[0] = from;
	g->found = 1;
	for (i = 0; i < g->found; i++) {
		at = g->queue[i];
		if (hop && i && at < g->servers)
			continue;
		for (j = g->first[at]; j < g->first[at + 1]; j++) {
			to = g->to[j];
			if (g->far[to] != NONE)
				continue;
			g->far[to] = g->far[at] + 1;
			g->from[to] = j;
			g->queue[g->found++] = to;
		}
	}
}

/**
 * graph_racks() - racks of equal size, each with a switch, and one in the middle
 * @racks: how many
 * @hosts: of a rack
 *
 * Servers are r0h0, r0h1, ..., switches rack0, ... and core.
 *
 * Return: the graph.
 */
struct graph *graph_racks(u32 racks, u32 hosts)
{
	struct graph *g = graph_new();
	char name[GRAPH_MAX_NAME + 1];
	u32 i, j;

	for (i = 0; i < racks; i++) {
		for (j = 0; j < hosts; j++) {
			snprintf(name, sizeof(name), "r%uh%u", i, j);
			add_node(g, name);
		}
	}
	g->servers = g->nodes;
	for (i = 0; i < racks; i++) {
		snprintf(name, sizeof(name), "rack%u", i);
		add_node(g, name);
		for (j = 0; j < hosts; j++)
			add_link(g, i * hosts + j, g->servers + i);
	}
	if (racks > 1) {
		add_node(g, "core");
		for (i = 0; i < racks; i++)
			add_link(g, g->servers + i, g->servers + racks);
	}
	graph_end(g);
	return g;
}

/**
 * graph_cube() - a BCube, for methods and failures that labels know nothing of
 * @c: the BCube
 *
 * Servers are named by their index; the switch of dimension d to which server s is connected is
 * d:i, with i the index of the server with the same label but for digit 0 in dimension d.
 *
 * Return: the graph, or NULL if it is too large for one.
 */
struct graph *graph_cube(const struct bcube *c)
{
	u32 servers = bcube_servers(c), dim, i, node, base;
	char name[GRAPH_MAX_NAME + 1];
	struct graph *g;

	if ((u64)servers / c->n * c->dims + servers > GRAPH_MAX_NODES ||
	    (u64)servers * c->dims > GRAPH_MAX_LINKS)
		return NULL;
	g = graph_new();
	for (i = 0; i < servers; i++) {
		snprintf(name, sizeof(name), "%u", i);
		add_node(g, name);
	}
	g->servers = g->nodes;
	for (dim = 0; dim < c->dims; dim++) {
		for (i = 0; i < servers; i++) {
			base = bcube_index(c, bcube_with(c, bcube_label(c, i), dim, 0));
			snprintf(name, sizeof(name), "%u:%u", dim, base);
			node = graph_find(g, name);
			if (node == NONE) {
				add_node(g, name);
				node = g->nodes - 1;
			}
			add_link(g, i, node);
		}
	}
	graph_end(g);
	return g;
}

enum { PASS_SERVERS, PASS_SWITCHES, PASS_LINKS, PASSES };

static const char *const words[PASSES] = { "server", "switch", "link" };

/* One line; returns what is wrong with it, and at which word. */
static const char *parse_line(struct graph *g, char *line, u32 pass, const char **what)
{
	char *save, *word = strtok_r(line, " \t\r\n", &save);
	const char *why = NULL;
	u32 kind, n = 0, node[2];

	if (!word || *word == '#')
		return NULL;
	for (kind = 0; kind < PASSES && strcmp(word, words[kind]); kind++)
		;
	*what = word;
	if (kind == PASSES)
		return "a line begins with server, switch, link or #";
	if (kind != pass)
		return NULL;
	while ((word = strtok_r(NULL, " \t\r\n", &save))) {
		*what = word;
		if (kind != PASS_LINKS) {
			why = add_node(g, word);
			if (why)
				return why;
		} else {
			if (n == 2)
				return "a link has two ends";
			node[n] = graph_find(g, word);
			if (node[n] == NONE)
				return "there is no such server or switch";
		}
		n++;
	}
	if (kind != PASS_LINKS)
		return n ? NULL : "a name is missing";
	return n == 2 ? add_link(g, node[0], node[1]) : "a link has two ends";
}

/**
 * graph_read() - a topology from a file
 * @path: its name; lines of "server NAME...", "switch NAME...", "link NAME NAME"
 *
 * Return: the graph.  A mistake in the file ends the program with its line.
 */
struct graph *graph_read(const char *path)
{
	struct graph *g = graph_new();
	FILE *f = fopen(path, "r");
	const char *why, *what;
	char *line;
	u32 pass, no, i;

	if (!f)
		die("%s: %s", path, strerror(errno));
	line = memory(NULL, MAX_LINE, 1);
	for (pass = 0; pass < PASSES; pass++) {
		rewind(f);
		for (no = 1; fgets(line, MAX_LINE, f); no++) {
			if (strlen(line) == MAX_LINE - 1)
				die("%s:%u: a line has at most %u characters", path, no,
				    MAX_LINE - 2);
			why = parse_line(g, line, pass, &what);
			if (why)
				die("%s:%u: %.80s: %s", path, no, what, why);
		}
		if (ferror(f))
			die("%s: %s", path, strerror(errno));
		if (pass == PASS_SERVERS)
			g->servers = g->nodes;
	}
	fclose(f);
	free(line);
	if (!g->servers)
		die("%s: no server", path);
	graph_end(g);
	graph_search(g, 0, false);
	for (i = 0; i < g->servers; i++)
		if (g->far[i] == NONE)
			die("%s: no links lead from server %s to server %s", path, g->name[0],
			    g->name[i]);
	return g;
}

/**
 * graph_free() - give its memory back
 * @g: the graph, or NULL
 */
void graph_free(struct graph *g)
{
	if (!g)
		return;
	free(g->name);
	free(g->named);
	free(g->end);
	free(g->first);
	free(g->to);
	free(g->by);
	free(g->far);
	free(g->from);
	free(g->queue);
	free(g);
}
