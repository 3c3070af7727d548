// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl overlay: servers that pass packets on by the filters that these carry. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objects.h"
#include "out.h"
#include "overlay_table.h"
#include "parse.h"
#include "shufflectl.h"
#include "../topo/bloom.h"

static const char usage[] =
	"usage: shufflectl overlay [show]\n"
	"       shufflectl overlay load FILE\n"
	"       shufflectl overlay clear\n"
	"\n"
	"  show   the overlay of this namespace, as \"load\" reads it, and what it has counted\n"
	"  load   replace it; FILE - is standard input\n"
	"  clear  no overlay any more\n"
	"\n"
	"FILE has one of these a line:\n"
	"  server N                      our own number in the topology\n"
	"  neighbour N ADDRESS LOCAL     a server to which packets can be passed on, and our\n"
	"                                address on the link to it\n"
	"  path ADDRESS hops N bits N hashes N salt N filter HEX\n"
	"                                packets to this member carry the filter\n"
	"\n"
	"Packets with a filter are taken from neighbours only, who are believed about the members\n"
	"that there are paths to.  Programs in the kernel (tc, BPF) do all that: loading them\n"
	"needs CAP_NET_ADMIN and CAP_BPF, finding them again CAP_SYS_ADMIN.\n"
	"shuffle-plan --overlay makes such files.\n";

/* Bytes of a line: a filter has 256 digits */
#define LINE_BYTES	512
#define WORDS		12

/**
 * overlay_text() - an address, to be read
 * @a: address
 *
 * Return: text that four more calls leave alone.
 */
const char *overlay_text(const struct overlay_addr *a)
{
	static char buf[4][INET6_ADDRSTRLEN];
	static unsigned int next;

	next = (next + 1) % 4;
	return inet_ntop(a->v6 ? AF_INET6 : AF_INET, a->byte, buf[next], sizeof(buf[next]));
}

/**
 * overlay_same() - are two addresses the same?
 * @a: one
 * @b: the other
 */
bool overlay_same(const struct overlay_addr *a, const struct overlay_addr *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static struct overlay_table *new_table(void)
{
	struct overlay_table *t = calloc(1, sizeof(*t));

	if (!t) {
		ctl_error("no memory");
		exit(CTL_ENV);
	}
	return t;
}

/* ---- show ---- */

static const char * const counter_name[] = {
	[OVERLAY_SENT] = "Sent",
	[OVERLAY_TAKEN] = "Taken",
	[OVERLAY_PASSED_ON] = "PassedOn",
	[OVERLAY_PATH_AMBIGUOUS] = "PathAmbiguous",
	[OVERLAY_DROP_NO_HOP] = "DropNoHop",
	[OVERLAY_DROP_HOPS] = "DropHops",
	[OVERLAY_DROP_NEIGHBOUR] = "DropNeighbour",
	[OVERLAY_DROP_MEMBER] = "DropMember",
	[OVERLAY_DROP_SOURCE] = "DropSource",
	[OVERLAY_DROP_MALFORMED] = "DropMalformed",
	[OVERLAY_DROP_ROOM] = "DropRoom",
};

/* The words of a filter, until the next call. */
static const char *filter_text(const struct overlay_way *w)
{
	static char text[2 * sizeof(w->filter) + 1];
	unsigned int i;

	text[0] = '\0';
	for (i = 0; i < shuffle_bloom_words(w->bits) * 8; i++)
		snprintf(text + 2 * i, 3, "%02x", w->filter[i]);
	return text;
}

static void show_text(const struct overlay_table *t)
{
	unsigned int i;

	out_line("server %u", t->settings.server);
	for (i = 0; i < t->settings.neighbours; i++)
		out_line("neighbour %u %s %s", t->neighbour[i].server,
			 overlay_text(&t->neighbour[i].addr), overlay_text(&t->neighbour[i].local));
	for (i = 0; i < t->paths; i++) {
		const struct overlay_way *w = &t->path[i].way;

		out_line("path %s hops %u bits %u hashes %u salt %u filter %s",
			 overlay_text(&t->path[i].to), w->hops, w->bits, w->hashes, w->salt,
			 filter_text(w));
	}
	for (i = 0; i < OVERLAY_N_COUNTERS; i++)
		out_line("# %s %llu", counter_name[i], t->counter[i]);
}

static void show_json(const struct overlay_table *t)
{
	unsigned int i;

	out_open(NULL);
	out_u64("server", t->settings.server, OUT_PLAIN);
	out_close();
	for (i = 0; i < t->settings.neighbours; i++) {
		out_open(NULL);
		out_u64("neighbour", t->neighbour[i].server, OUT_PLAIN);
		out_str("address", overlay_text(&t->neighbour[i].addr));
		out_str("local", overlay_text(&t->neighbour[i].local));
		out_close();
	}
	for (i = 0; i < t->paths; i++) {
		const struct overlay_way *w = &t->path[i].way;

		out_open(NULL);
		out_str("path", overlay_text(&t->path[i].to));
		out_u64("hops", w->hops, OUT_PLAIN);
		out_u64("bits", w->bits, OUT_PLAIN);
		out_u64("hashes", w->hashes, OUT_PLAIN);
		out_u64("salt", w->salt, OUT_PLAIN);
		out_str("filter", filter_text(w));
		out_close();
	}
	out_open(NULL);
	out_open("counters");
	for (i = 0; i < OVERLAY_N_COUNTERS; i++)
		out_u64(counter_name[i], t->counter[i], OUT_PLAIN);
	out_close();
	out_close();
}

static int by_address(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct overlay_addr));
}

static int overlay_show(int argc, char **argv)
{
	struct overlay_table *t;
	bool found;
	int err;

	if (argc)
		return ctl_usage("\"%s\" behind show means nothing", argv[0]);
	t = new_table();
	err = overlay_get(t, &found);
	if (!err) {
		qsort(t->path, t->paths, sizeof(t->path[0]), by_address);
		out_begin(false);
		if (found && ctl.json)
			show_json(t);
		else if (found)
			show_text(t);
		out_end();
	}
	free(t);
	return err;
}

/* ---- load ---- */

static int read_number(const char *word, uint64_t most, const char *what, uint64_t *v)
{
	if (parse_u64(word, v) || *v > most)
		return ctl_usage("%s: \"%s\" is no number up to %llu", what, word,
				 (unsigned long long)most);
	return CTL_OK;
}

/* False: it is none, or one that every host has, or may have. */
static bool read_address(const char *word, struct overlay_addr *a)
{
	const struct in6_addr *in6 = (const void *)a->byte;
	unsigned int first;

	memset(a, 0, sizeof(*a));
	a->v6 = !!strchr(word, ':');
	if (inet_pton(a->v6 ? AF_INET6 : AF_INET, word, a->byte) != 1)
		return false;
	if (a->v6)
		return !IN6_IS_ADDR_UNSPECIFIED(in6) && !IN6_IS_ADDR_LOOPBACK(in6) &&
		       !IN6_IS_ADDR_LINKLOCAL(in6) && !IN6_IS_ADDR_MULTICAST(in6) &&
		       !IN6_IS_ADDR_V4MAPPED(in6);
	first = a->byte[0];
	return first && first != 127 && first < 224;
}

static int read_neighbour(struct overlay_table *t, char **word, int n)
{
	struct overlay_neighbour *to = &t->neighbour[t->settings.neighbours];
	uint64_t server;
	unsigned int i;
	int err;

	if (n != 4)
		return ctl_usage("neighbour N ADDRESS LOCAL is expected");
	if (t->settings.neighbours == OVERLAY_NEIGHBOURS)
		return ctl_usage("more neighbours than %u", OVERLAY_NEIGHBOURS);
	err = read_number(word[1], UINT32_MAX, "neighbour", &server);
	if (err)
		return err;
	if (!read_address(word[2], &to->addr) || !read_address(word[3], &to->local) ||
	    to->addr.v6 != to->local.v6)
		return ctl_usage("neighbour: server and the addresses of both ends are needed");
	to->server = server;
	for (i = 0; i < t->settings.neighbours; i++)
		if (t->neighbour[i].server == to->server ||
		    overlay_same(&t->neighbour[i].addr, &to->addr))
			return ctl_usage("neighbour: its number or address is another's");
	t->settings.neighbours++;
	return CTL_OK;
}

/* Digits of the filter; their number is compared with its bits later. */
static int read_filter(const char *word, struct overlay_way *w, size_t *bytes)
{
	size_t n = strlen(word), i;

	if (!n || n % 16 || n > 2 * sizeof(w->filter) ||
	    strspn(word, "0123456789abcdefABCDEF") != n)
		return ctl_usage("filter: 16 hexadecimal digits for each 64 bits, up to %u",
				 OVERLAY_BITS);
	*bytes = n / 2;
	for (i = 0; i < n / 2; i++)
		sscanf(word + 2 * i, "%2hhx", &w->filter[i]);
	return CTL_OK;
}

static int read_path(struct overlay_table *t, char **word, int n)
{
	static const struct {
		const char	*name;
		uint64_t	most;
	} fields[] = {
		{ "hops", OVERLAY_HOPS }, { "bits", OVERLAY_BITS }, { "hashes", OVERLAY_HASHES },
		{ "salt", 255 },
	};
	struct overlay_path *p = &t->path[t->paths];
	uint64_t v[ARRAY_SIZE(fields)] = { 0 };
	size_t bytes = 0;
	unsigned int k;
	int err = 0, i;

	if (n < 2 || n % 2)
		return ctl_usage("path ADDRESS hops N bits N hashes N salt N filter HEX is expected");
	if (t->paths == OVERLAY_WAYS)
		return ctl_usage("more paths than %u", OVERLAY_WAYS);
	if (!read_address(word[1], &p->to))
		return ctl_usage("path: \"%s\" is no address of a member", word[1]);
	for (i = 2; !err && i < n; i += 2) {
		for (k = 0; k < ARRAY_SIZE(fields) && strcmp(word[i], fields[k].name); k++)
			;
		if (k < ARRAY_SIZE(fields))
			err = read_number(word[i + 1], fields[k].most, word[i], &v[k]);
		else if (!strcmp(word[i], "filter"))
			err = read_filter(word[i + 1], &p->way, &bytes);
		else
			err = ctl_usage("\"%s\" is none of hops, bits, hashes, salt, filter",
					word[i]);
	}
	if (err)
		return err;
	if (!v[0])
		return ctl_usage("path: hops are needed");
	if (!v[1] || !v[2] || shuffle_bloom_words(v[1]) * 8 != bytes)
		return ctl_usage("path: bits, hashes and filter are needed, of one length");
	p->way.hops = v[0];
	p->way.bits = v[1];
	p->way.hashes = v[2];
	p->way.salt = v[3];
	t->paths++;
	return CTL_OK;
}

static int read_words(struct overlay_table *t, char **word, int n, bool *server)
{
	uint64_t v;
	int err;

	if (!strcmp(word[0], "server") && n == 2) {
		err = read_number(word[1], UINT32_MAX, "server", &v);
		t->settings.server = v;
		*server = true;
		return err;
	}
	if (!strcmp(word[0], "copies"))
		return ctl_usage("copies: a packet goes to one neighbour only");
	if (!strcmp(word[0], "neighbour"))
		return read_neighbour(t, word, n);
	if (!strcmp(word[0], "path"))
		return read_path(t, word, n);
	return ctl_usage("\"%s\": server N, neighbour or path are expected", word[0]);
}

/* The first neighbour of a way. */
static int find_via(struct overlay_table *t, struct overlay_path *p)
{
	struct shuffle_bloom f = {
		.bits = p->way.bits, .hashes = p->way.hashes, .salt = p->way.salt,
	};
	const char *to = overlay_text(&p->to);
	unsigned int i, k, n = 0;

	for (i = 0; i < shuffle_bloom_words(f.bits); i++)
		for (k = 0; k < 8; k++)
			f.word[i] = f.word[i] << 8 | p->way.filter[8 * i + k];
	for (i = 0; i < t->settings.neighbours; i++)
		if (shuffle_bloom_has(&f, t->settings.server, t->neighbour[i].server)) {
			p->way.via = i;
			n++;
		}
	if (!n)
		return ctl_usage("path to %s: its filter has no neighbour of ours", to);
	if (n > 1)
		return ctl_usage("path to %s: its filter has several neighbours", to);
	if (t->neighbour[p->way.via].addr.v6 != p->to.v6)
		return ctl_usage("path to %s: members, neighbours: one family", to);
	return CTL_OK;
}

/* What lines cannot say alone. */
static int check_table(struct overlay_table *t)
{
	unsigned int i;
	int err;

	if (!t->settings.neighbours)
		return ctl_usage("server, and a neighbour, are needed");
	for (i = 0; i < t->settings.neighbours; i++)
		if (t->neighbour[i].server == t->settings.server)
			return ctl_usage("neighbour: its number or address is another's, or ours");
	for (i = 0; i < t->paths; i++) {
		err = find_via(t, &t->path[i]);
		if (err)
			return err;
	}
	qsort(t->path, t->paths, sizeof(t->path[0]), by_address);
	for (i = 1; i < t->paths; i++)
		if (overlay_same(&t->path[i - 1].to, &t->path[i].to))
			return ctl_usage("path: there are two to %s", overlay_text(&t->path[i].to));
	return CTL_OK;
}

/* Empty lines and those that begin with # say nothing. */
static int read_file(struct overlay_table *t, const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char line[LINE_BYTES], *word[WORDS + 1], *save;
	unsigned int no = 0;
	int err = CTL_OK, n;
	bool server = false;

	if (!f)
		return ctl_error("%s: %s", path, strerror(errno));
	while (!err && fgets(line, sizeof(line), f)) {
		no++;
		n = 0;
		for (word[0] = strtok_r(line, " \t\r\n", &save); n < WORDS && word[n];
		     word[n] = strtok_r(NULL, " \t\r\n", &save))
			n++;
		if (!n || word[0][0] == '#')
			continue;
		err = read_words(t, word, n, &server);
		if (err)
			ctl_warn("%s, line %u", path, no);
	}
	if (f != stdin)
		fclose(f);
	/* a file that somebody has failed to write does not clear */
	if (!err && !server)
		err = ctl_error("%s: no line \"server N\"", path);
	return err ? err : check_table(t);
}

static int overlay_load(int argc, char **argv)
{
	struct overlay_table *t;
	int err;

	if (argc != 1)
		return ctl_usage(argc ? "\"%s\" behind FILE means nothing" : "a FILE is needed",
				 argc ? argv[1] : "");
	t = new_table();
	err = read_file(t, argv[0]);
	if (!err)
		err = overlay_put(t);
	free(t);
	return err;
}

static int overlay_clear(int argc, char **argv)
{
	return argc ? ctl_usage("\"%s\" behind clear means nothing", argv[0]) : overlay_remove();
}

int overlay_object(int argc, char **argv)
{
	static const struct ctl_command cmds[] = {
		{ "show", overlay_show },
		{ "load", overlay_load },
		{ "clear", overlay_clear },
		{ NULL, NULL },
	};

	return ctl_dispatch("overlay", usage, cmds, argc, argv);
}
