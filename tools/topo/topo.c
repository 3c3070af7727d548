// SPDX-License-Identifier: GPL-2.0-or-later
/* Topologies: names of servers, hops between them, the links that a tree uses. */
#include <stdlib.h>

#include "topo.h"

/* Two numbers with a character between them. */
static bool two_numbers(const char *text, char between, u32 *a, u32 *b)
{
	unsigned long v[2];
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	v[0] = strtoul(text, &end, 10);
	if (*end != between || end[1] < '0' || end[1] > '9')
		return false;
	v[1] = strtoul(end + 1, &end, 10);
	*a = (u32)v[0];
	*b = (u32)v[1];
	return !*end && v[0] <= 1U << 30 && v[1] <= 1U << 30;
}

/**
 * topo_bcube() - a BCube
 * @t: the topology, zeroed
 * @text: N,K
 *
 * Return: what is wrong with it, or NULL.
 */
const char *topo_bcube(struct topo *t, const char *text)
{
	u32 n, k;

	if (!two_numbers(text, ',', &n, &k))
		return "N,K is expected: ports of a switch, levels less one";
	if (!bcube_init(&t->cube, n, k))
		return "N is 2 to 256, K 0 to 15, and a label has at most 32 bits";
	return NULL;
}

/**
 * topo_racks() - racks of equal size
 * @t: the topology, zeroed
 * @text: RACKSxHOSTS
 *
 * Return: what is wrong with it, or NULL.
 */
const char *topo_racks(struct topo *t, const char *text)
{
	if (!two_numbers(text, 'x', &t->racks, &t->hosts))
		return "RACKSxHOSTS is expected";
	if (!t->racks || !t->hosts || (u64)t->racks * t->hosts > 65536 || t->racks > 16384)
		return "1 to 16384 racks, and at most 65536 hosts";
	t->graph = graph_racks(t->racks, t->hosts);
	return NULL;
}

/**
 * topo_file() - a graph from a file
 * @t: the topology, zeroed
 * @path: see graph_read()
 */
void topo_file(struct topo *t, const char *path)
{
	t->path = path;
	t->graph = graph_read(path);
}

/* The switch of a BCube to which a server's NIC of a dimension is connected, or NONE. */
static u32 cube_switch(const struct topo *t, u32 server, const char *dimension)
{
	char name[GRAPH_MAX_NAME + 1], *end;
	unsigned long dim = strtoul(dimension, &end, 10);
	u32 label;

	if (!t->cube.n || server >= t->graph->servers || *dimension < '0' || *dimension > '9' ||
	    *end || dim >= t->cube.dims)
		return NONE;
	label = bcube_with(&t->cube, bcube_label(&t->cube, server), (u32)dim, 0);
	snprintf(name, sizeof(name), "%lu:%u", dim, bcube_index(&t->cube, label));
	return graph_find(t->graph, name);
}

/* A link that is gone: NODE/NODE, or SERVER/DIMENSION of a BCube. */
static void cut_link(struct topo *t, const char *word)
{
	char name[2 * GRAPH_MAX_NAME + 2], *slash;
	u32 node, other = NONE;

	if ((size_t)snprintf(name, sizeof(name), "%s", word) >= sizeof(name))
		die("--without %s: there is no such link", word);
	slash = strrchr(name, '/');
	if (!slash)
		die("--without %s: there is no such server or switch", word);
	*slash++ = '\0';
	node = graph_find(t->graph, name);
	if (node != NONE)
		other = cube_switch(t, node, slash);
	if (other == NONE)
		other = graph_find(t->graph, slash);
	if (node == NONE || other == NONE || !graph_cut(t->graph, node, other))
		die("--without %s: there is no such link", word);
}

/* Those words of the list that are nodes, or those that are not. */
static void cut(struct topo *t, const char *list, bool nodes)
{
	char *copy = memory(NULL, strlen(list) + 1, 1), *word, *save;
	u32 node;

	strcpy(copy, list);
	for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		node = graph_find(t->graph, word);
		if (nodes && node != NONE)
			graph_cut(t->graph, node, NONE);
		if (!nodes && node == NONE)
			cut_link(t, word);
	}
	free(copy);
}

/**
 * topo_without() - what is left of a topology when some of it has failed
 * @t: the topology; a graph afterwards
 * @list: servers, switches and links, with commas between them
 *
 * What is wrong with the list ends the program.
 */
void topo_without(struct topo *t, const char *list)
{
	if (!t->graph)
		t->graph = graph_cube(&t->cube);
	if (!t->graph)
		die("--without: the BCube is too large for that");
	t->racks = 0;
	/* links first: those of a server that is gone, too, are no mistake */
	cut(t, list, false);
	cut(t, list, true);
}

/**
 * topo_servers() - how many servers it has
 * @t: the topology
 *
 * Return: their number.
 */
u32 topo_servers(const struct topo *t)
{
	return t->graph ? t->graph->servers : bcube_servers(&t->cube);
}

/**
 * topo_index() - the number of a server
 * @t: the topology
 * @server: which
 *
 * Return: below topo_servers().
 */
u32 topo_index(const struct topo *t, u32 server)
{
	return t->graph ? server : bcube_index(&t->cube, server);
}

/**
 * topo_server() - a server by its number
 * @t: the topology
 * @index: below topo_servers()
 *
 * Return: the server.
 */
u32 topo_server(const struct topo *t, u32 index)
{
	return t->graph ? index : bcube_label(&t->cube, index);
}

/* Digits with points between them, highest first. */
static u32 parse_label(const struct topo *t, const char *word)
{
	u32 label = 0, i;
	char *end;

	for (i = t->cube.dims; i-- > 0; word = end + 1) {
		unsigned long digit;

		if (*word < '0' || *word > '9')
			return NONE;
		digit = strtoul(word, &end, 10);
		if (digit >= t->cube.n || *end != (i ? '.' : '\0'))
			return NONE;
		label = bcube_with(&t->cube, label, i, (u32)digit);
	}
	return label;
}

/**
 * topo_parse() - a server by what people call it
 * @t: the topology
 * @word: a name; of a BCube, an index, or digits with points between them
 *
 * Return: the server, or NONE.
 */
u32 topo_parse(const struct topo *t, const char *word)
{
	unsigned long index;
	u32 node;
	char *end;

	if (t->graph) {
		node = graph_find(t->graph, word);
		return node < t->graph->servers ? node : NONE;
	}
	if (strchr(word, '.'))
		return parse_label(t, word);
	if (*word < '0' || *word > '9')
		return NONE;
	index = strtoul(word, &end, 10);
	return *end || index >= topo_servers(t) ? NONE : topo_server(t, (u32)index);
}

/**
 * topo_name() - what topo_parse() reads
 * @t: the topology
 * @server: which
 * @text: room for TOPO_MAX_TEXT
 *
 * Return: @text.
 */
const char *topo_name(const struct topo *t, u32 server, char *text)
{
	if (t->graph)
		snprintf(text, TOPO_MAX_TEXT, "%s", t->graph->name[server]);
	else
		snprintf(text, TOPO_MAX_TEXT, "%u", bcube_index(&t->cube, server));
	return text;
}

/**
 * topo_label() - the digits of a BCube's server, or its name
 * @t: the topology
 * @server: which
 * @text: room for TOPO_MAX_TEXT
 *
 * Return: @text.
 */
const char *topo_label(const struct topo *t, u32 server, char *text)
{
	const char *point = t->cube.n > 10 ? "." : "";
	u32 i, at = 0;

	if (t->graph)
		return topo_name(t, server, text);
	for (i = t->cube.dims; i-- > 0;)
		at += (u32)snprintf(text + at, TOPO_MAX_TEXT - at, "%u%s",
				    bcube_digit(&t->cube, server, i), i ? point : "");
	return text;
}

/**
 * topo_link_name() - of the link by which a server sends
 * @t: the topology
 * @server: which
 * @link: see topo_measure()
 * @text: room for TOPO_MAX_TEXT
 *
 * Return: @text: a dimension, or the name of the node at the other end.
 */
const char *topo_link_name(const struct topo *t, u32 server, u32 link, char *text)
{
	const struct graph *g = t->graph;

	if (g)
		snprintf(text, TOPO_MAX_TEXT, "%s",
			 g->name[g->end[link][0] == server ? g->end[link][1] : g->end[link][0]]);
	else
		snprintf(text, TOPO_MAX_TEXT, "%u", link);
	return text;
}

/**
 * topo_title() - for people and in files
 * @t: the topology
 * @text: room for TOPO_MAX_TEXT
 *
 * Return: @text.
 */
const char *topo_title(const struct topo *t, char *text)
{
	if (!t->graph)
		snprintf(text, TOPO_MAX_TEXT, "bcube %u,%u", t->cube.n, t->cube.dims - 1);
	else if (t->racks)
		snprintf(text, TOPO_MAX_TEXT, "racks %ux%u", t->racks, t->hosts);
	else
		snprintf(text, TOPO_MAX_TEXT, "graph");
	return text;
}

static void measure_cube(const struct topo *t, struct tree *tree, struct links *links)
{
	u32 i;

	for (i = 1; i < tree->n; i++) {
		struct vertex *v = &tree->v[i];
		u32 parent = tree->v[v->parent].server;

		v->link = bcube_hop(&t->cube, v->server, parent);
		if (v->link == t->cube.dims)
			die("servers %u and %u are not one hop apart",
			    topo_index(t, v->server), topo_index(t, parent));
		v->hop = 2;
		if (links) {
			links_add(links, topo_cube_link(t, v->server, v->link));
			links_add(links, topo_cube_link(t, parent, v->link));
		}
	}
}

/* Links of a hop that graph_search() found from the parent. */
static void measure_hop(const struct graph *g, struct vertex *v, u32 parent, struct links *links)
{
	u32 at = v->server;

	if (g->far[at] == NONE)
		die("servers %s and %s are not one hop apart", g->name[at], g->name[parent]);
	v->hop = g->far[at];
	v->link = g->by[g->from[at]];
	for (; at != parent; at = graph_before(g, at))
		if (links)
			links_add(links, g->by[g->from[at]]);
}

/**
 * topo_measure() - links of each hop of a tree, and by which a server leaves
 * @t: the topology
 * @tree: a finished tree; @hop and @link of its vertices are set: @link is the dimension, or the
 *	graph's link
 * @links: those it uses are added, if not NULL
 */
void topo_measure(struct topo *t, struct tree *tree, struct links *links)
{
	u32 *first, *list, i, j;

	if (!t->graph) {
		measure_cube(t, tree, links);
		return;
	}
	first = memory(NULL, tree->n + 1, sizeof(*first));
	list = memory(NULL, tree->n, sizeof(*list));
	first[0] = 0;
	for (i = 0; i < tree->n; i++)
		first[i + 1] = first[i] + tree->v[i].children;
	for (i = tree->n; i-- > 1;)
		list[--first[tree->v[i].parent + 1]] = i;
	for (i = 0; i < tree->n; i++) {
		if (!tree->v[i].children)
			continue;
		graph_search(t->graph, tree->v[i].server, true);
		for (j = 0; j < tree->v[i].children; j++)
			measure_hop(t->graph, &tree->v[list[first[i + 1] + j]], tree->v[i].server,
				    links);
	}
	free(first);
	free(list);
}

/**
 * topo_hop() - how far are two servers apart, with none between them?
 * @t: the topology
 * @server: one
 * @parent: another
 * @link: by which the first leaves
 *
 * Return: links, or 0 if the way leads through other servers.
 */
u32 topo_hop(struct topo *t, u32 server, u32 parent, u32 *link)
{
	if (!t->graph) {
		*link = bcube_hop(&t->cube, server, parent);
		return *link == t->cube.dims ? 0 : 2;
	}
	if (!t->graph->found || t->graph->queue[0] != parent || !t->graph->hop)
		graph_search(t->graph, parent, true);
	if (server == parent || t->graph->far[server] == NONE)
		return 0;
	*link = t->graph->by[t->graph->from[server]];
	return t->graph->far[server];
}

/**
 * topo_free() - give its memory back
 * @t: the topology
 */
void topo_free(struct topo *t)
{
	graph_free(t->graph);
	*t = (struct topo){ 0 };
}

/**
 * links_clear() - no links
 * @l: the set, zeroed before its first use
 */
void links_clear(struct links *l)
{
	map_clear(&l->page);
	l->pages = 0;
	l->n = 0;
}

/**
 * links_add() - one more, if it is new
 * @l: the set
 * @link: below 2^42
 */
void links_add(struct links *l, u64 link)
{
	u32 *page = map_put(&l->page, (u32)(link >> 10), l->pages);
	u64 *word, bit = 1ULL << (link & 63);

	if (*page == l->pages) {
		if (l->pages == l->room) {
			l->room = l->room ? l->room * 2 : 16;
			l->bit = memory(l->bit, l->room, sizeof(*l->bit));
		}
		memset(l->bit[l->pages++], 0, sizeof(*l->bit));
	}
	word = &l->bit[*page][link >> 6 & 15];
	l->n += !(*word & bit);
	*word |= bit;
}

/**
 * links_free() - give its memory back
 * @l: the set
 */
void links_free(struct links *l)
{
	map_free(&l->page);
	free(l->bit);
	*l = (struct links){ 0 };
}
