// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans as tables: the writer, and a reader that believes nothing.  Format: shuffle-plan(1). */
#include <stdarg.h>
#include <stdlib.h>

#include "plan_table.h"

#define MAX_LINE	512U
#define MAX_WORDS	6U

/**
 * var plan_roles - as in tables and JSON, by enum plan_role
 */
const char *const plan_roles[PLAN_ROLES + 1] = {
	"root", "aggregate", "forward", "sender", NULL,
};

/**
 * plan_role_of() - what a server of a tree does
 * @t: the tree
 * @vertex: which
 *
 * Return: its role.
 */
enum plan_role plan_role_of(const struct tree *t, u32 vertex)
{
	if (!vertex)
		return PLAN_ROOT;
	if (!t->v[vertex].children)
		return PLAN_SENDER;
	return tree_value(&t->v[vertex]) > 1 ? PLAN_AGGREGATE : PLAN_FORWARD;
}

/**
 * plan_table_begin() - what stands before the trees
 * @topo: the topology
 * @f: where to
 */
void plan_table_begin(const struct topo *topo, FILE *f)
{
	char text[TOPO_MAX_TEXT];

	fprintf(f, "shuffle-plan 1\ntopology %s\n", topo_title(topo, text));
}

/**
 * plan_table_tree() - one tree
 * @topo: the topology
 * @t: the tree, measured
 * @f: where to
 */
void plan_table_tree(const struct topo *topo, const struct tree *t, FILE *f)
{
	char server[TOPO_MAX_TEXT], parent[TOPO_MAX_TEXT], link[TOPO_MAX_TEXT];
	u32 i, senders = 0;

	for (i = 0; i < t->n; i++)
		senders += t->v[i].sender;
	fprintf(f, "tree %s senders %u servers %u\n", topo_name(topo, t->v[0].server, server),
		senders, t->n);
	for (i = 0; i < t->n; i++) {
		const struct vertex *v = &t->v[t->order[i]];

		topo_name(topo, v->server, server);
		if (i)
			fprintf(f, "%s %s %s %u %s\n", server,
				topo_name(topo, t->v[v->parent].server, parent),
				topo_link_name(topo, v->server, v->link, link), tree_value(v),
				plan_roles[plan_role_of(t, t->order[i])]);
		else
			fprintf(f, "%s - - %u root\n", server, tree_value(v));
	}
}

/**
 * plan_table_ways() - by what each server sends: itself, switches, its parent
 * @topo: the topology
 * @t: the tree, measured
 * @f: where to; names with spaces between them, a server a line
 */
void plan_table_ways(struct topo *topo, const struct tree *t, FILE *f)
{
	const struct bcube *c = &topo->cube;
	char text[TOPO_MAX_TEXT];
	u32 i, at, parent, link;

	for (i = 1; i < t->n; i++) {
		const struct vertex *v = &t->v[t->order[i]];

		at = v->server;
		parent = t->v[v->parent].server;
		fputs(topo_name(topo, at, text), f);
		topo_hop(topo, at, parent, &link);
		if (topo->graph)
			while ((at = graph_before(topo->graph, at)) != parent)
				fprintf(f, " %s", topo->graph->name[at]);
		else
			fprintf(f, " %u:%u", link, bcube_index(c, bcube_with(c, at, link, 0)));
		fprintf(f, " %s\n", topo_name(topo, parent, text));
	}
}

/**
 * struct reader - of one file
 * @path: its name
 * @f: open
 * @no: of the line that was read last
 * @line: that line
 * @word: its words
 * @words: how many
 * @topo: the topology
 * @known: @topo was given
 * @row: of the tree that is being read
 * @up: of each row, server it says is its parent
 * @at: line of each row
 * @children: room for plan_check()
 * @index: server to row
 * @room: rows there is room for
 */
struct reader {
	const char	*path;
	FILE		*f;
	u32		no;
	char		line[MAX_LINE];
	char		*word[MAX_WORDS];
	u32		words;
	struct topo	*topo;
	bool		known;
	struct plan_row	*row;
	u32		*up;
	u32		*at;
	u32		*children;
	struct map	index;
	u32		room;
};

/* What is wrong with a line of the file ends the program with status 1. */
static void __attribute__((noreturn, format(printf, 3, 4)))
bad(const struct reader *r, u32 no, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%u: ", r->path, no);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(1);
}

/* The next line that has words; false: the end of the file. */
static bool next_line(struct reader *r)
{
	char *save, *word;

	do {
		if (!fgets(r->line, MAX_LINE, r->f)) {
			if (ferror(r->f))
				die("%s: %s", r->path, strerror(errno));
			return false;
		}
		r->no++;
		if (strlen(r->line) == MAX_LINE - 1)
			bad(r, r->no, "a line has at most %u characters", MAX_LINE - 2);
		r->words = 0;
		for (word = strtok_r(r->line, " \t\r\n", &save); word && *word != '#';
		     word = strtok_r(NULL, " \t\r\n", &save)) {
			if (r->words == MAX_WORDS)
				bad(r, r->no, "%.80s: more than %u words", word, MAX_WORDS);
			r->word[r->words++] = word;
		}
	} while (!r->words);
	return true;
}

static u32 number(const struct reader *r, const char *word, u32 most, const char *what)
{
	char *end;
	unsigned long v = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end || v > most)
		bad(r, r->no, "%.80s: %s is a number up to %u", word, what, most);
	return (u32)v;
}

static void read_head(struct reader *r)
{
	char text[TOPO_MAX_TEXT], said[TOPO_MAX_TEXT];
	const char *why = NULL;

	if (!next_line(r) || r->words != 2 || strcmp(r->word[0], "shuffle-plan") ||
	    strcmp(r->word[1], "1"))
		bad(r, r->no ? r->no : 1, "a table begins with: shuffle-plan 1");
	if (!next_line(r) || r->words < 2 || strcmp(r->word[0], "topology"))
		bad(r, r->no, "topology is missing");
	if (!strcmp(r->word[1], "graph") && r->words == 2) {
		if (!r->known || !r->topo->graph || r->topo->racks)
			bad(r, r->no, "its topology is no regular one: say which, with --graph, or --without");
		return;
	}
	if (r->words != 3 || (strcmp(r->word[1], "bcube") && strcmp(r->word[1], "racks")))
		bad(r, r->no, "%.80s: topologies are bcube N,K, racks RxH, graph", r->word[1]);
	snprintf(said, sizeof(said), "%s %.60s", r->word[1], r->word[2]);
	if (!r->known)
		why = *r->word[1] == 'b' ? topo_bcube(r->topo, r->word[2]) :
		      topo_racks(r->topo, r->word[2]);
	if (why)
		bad(r, r->no, "%.80s: %s", r->word[2], why);
	if (strcmp(topo_title(r->topo, text), said))
		bad(r, r->no, "%s: not the topology %s", said, text);
}

static u32 read_server(const struct reader *r, const char *word)
{
	u32 server = topo_parse(r->topo, word);

	if (server == NONE)
		bad(r, r->no, "%.80s: there is no such server", word);
	return server;
}

static void read_row(struct reader *r, u32 i)
{
	struct plan_row *row = &r->row[i];
	char link[TOPO_MAX_TEXT];
	u32 by = 0;

	if (!next_line(r) || !strcmp(r->word[0], "tree"))
		bad(r, r->no, "the tree ends after %u servers", i);
	if (r->words != 5)
		bad(r, r->no, "a line has five words: server, parent, link, value, role");
	*row = (struct plan_row){ .server = read_server(r, r->word[0]) };
	r->at[i] = r->no;
	if (map_get(&r->index, row->server))
		bad(r, r->no, "%s: this server is in the tree already", r->word[0]);
	map_put(&r->index, row->server, i);
	row->value = number(r, r->word[3], PLAN_MAX_SERVERS, "the value");
	for (row->role = 0; row->role < PLAN_ROLES; row->role++)
		if (!strcmp(r->word[4], plan_roles[row->role]))
			break;
	if (row->role == PLAN_ROLES)
		bad(r, r->no, "%.80s: roles are root, aggregate, forward, sender", r->word[4]);
	r->up[i] = row->server;
	if (!strcmp(r->word[1], "-") && !strcmp(r->word[2], "-") && row->role == PLAN_ROOT)
		return;
	if (row->role == PLAN_ROOT)
		bad(r, r->no, "the root has no parent and no link: -");
	r->up[i] = read_server(r, r->word[1]);
	if (r->up[i] == row->server)
		bad(r, r->no, "%s", plan_fault_text(PLAN_PARENT_SELF));
	if (!topo_hop(r->topo, row->server, r->up[i], &by))
		bad(r, r->no, "server %s is not one hop from server %s", r->word[0], r->word[1]);
	if (strcmp(topo_link_name(r->topo, row->server, by, link), r->word[2]))
		bad(r, r->no, "link %.80s does not lead from server %s to server %s, %s does",
		    r->word[2], r->word[0], r->word[1], link);
	row->link = by;
}

static void grow(struct reader *r, u32 n)
{
	if (n <= r->room)
		return;
	r->room = n;
	r->row = memory(r->row, n, sizeof(*r->row));
	r->up = memory(r->up, n, sizeof(*r->up));
	r->at = memory(r->at, n, sizeof(*r->at));
	r->children = memory(r->children, n, sizeof(*r->children));
}

/* The line "tree ..." has been read: read what follows, and make a tree of it. */
static void read_tree(struct reader *r, struct tree *t)
{
	u32 head = r->no, receiver, senders, n, i, at;
	enum plan_fault fault;

	if (r->words != 6 || strcmp(r->word[0], "tree") || strcmp(r->word[2], "senders") ||
	    strcmp(r->word[4], "servers"))
		bad(r, r->no, "%.80s: tree RECEIVER senders N servers N is expected", r->word[0]);
	receiver = read_server(r, r->word[1]);
	senders = number(r, r->word[3], PLAN_MAX_SERVERS, "senders");
	n = number(r, r->word[5], PLAN_MAX_SERVERS, "servers");
	if (!n)
		bad(r, head, "a tree has a root");
	map_clear(&r->index);
	for (i = 0; i < n; i++) {
		/* As many rows as are there, not as are promised. */
		grow(r, i < r->room ? r->room : i < n / 2 ? 2 * i + 64 : n);
		read_row(r, i);
	}
	for (i = 0; i < n; i++) {
		u32 *up = map_get(&r->index, r->up[i]);

		r->row[i].parent = up ? *up : NONE;
	}
	if (r->row[0].role == PLAN_ROOT && r->row[0].server != receiver)
		bad(r, r->at[0], "the root is not the receiver of line %u", head);
	fault = plan_check(r->row, n, senders, r->children, &at);
	if (fault)
		bad(r, fault == PLAN_SENDERS ? head : r->at[at], "%s", plan_fault_text(fault));
	tree_begin(t, receiver);
	for (i = 1; i < n; i++)
		tree_link(t, r->row[i].server, r->up[i]);
	for (i = 0; i < n; i++)
		if (r->row[i].value > r->children[i])
			tree_sender(t, r->row[i].server, 1);
	tree_end(t);
}

/**
 * plan_table_read() - read a file, and check everything
 * @path: its name
 * @topo: the topology, or zeroed: the file has it
 * @each: called with every tree; each sender's flow is 1
 * @arg: for @each
 *
 * The first mistake ends the program, with its line and status 1.
 *
 * Return: how many trees.
 */
u32 plan_table_read(const char *path, struct topo *topo,
		    void (*each)(void *arg, struct tree *t), void *arg)
{
	struct reader r = { .path = path, .topo = topo, .f = fopen(path, "r") };
	struct tree t = { 0 };
	struct map seen = { 0 };
	u32 trees = 0;

	if (!r.f)
		die("%s: %s", path, strerror(errno));
	r.known = topo->graph || topo->cube.n;
	read_head(&r);
	map_clear(&seen);
	while (next_line(&r)) {
		u32 head = r.no;

		if (trees++ == PLAN_MAX_TREES)
			bad(&r, r.no, "at most %u trees", PLAN_MAX_TREES);
		read_tree(&r, &t);
		if (*map_put(&seen, t.v[0].server, head) != head)
			bad(&r, head, "this receiver has a tree already");
		each(arg, &t);
	}
	if (!trees)
		bad(&r, r.no, "no tree");
	fclose(r.f);
	tree_free(&t);
	map_free(&seen);
	map_free(&r.index);
	free(r.row);
	free(r.up);
	free(r.at);
	free(r.children);
	return trees;
}
