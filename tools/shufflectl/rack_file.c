// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that say which hosts share a rack, as people have them:
 *
 *	slurm	topology.conf: SwitchName=s0 Nodes=node[01-40],login
 *	hadoop	net.topology.table.file.name: a host and its rack in each line
 *	csv	host,rack in each line, perhaps below a line with these names
 *
 * A host is a name, an address, or ADDRESS/BITS.  A name stands for all addresses that it
 * resolves to.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rack_file.h"
#include "shufflectl.h"
#include "topology_path.h"

/* Hosts that one list like node[0-99] may stand for. */
#define LIST_MAX	65536U

/* bytes of a line, with those that go on with it */
#define LINE_MAX_BYTES	(1U << 20)

#define BLANKS		" \t\r\n"

static int wrong(const struct rack_file *f, unsigned int line, const char *what, const char *word)
{
	return ctl_error("%s:%u: %s \"%s\"", f->path, line, what, word);
}

static int add_range(struct rack_file *f, unsigned int line, const char *rack, bool v6,
		     const void *addr, unsigned int len)
{
	struct rack_range *r;

	if (f->n == f->room) {
		f->room = f->room ? 2 * f->room : 64;
		r = realloc(f->range, f->room * sizeof(*r));
		if (!r)
			return ctl_error("out of memory");
		f->range = r;
	}
	r = &f->range[f->n++];
	memset(r, 0, sizeof(*r));
	r->v6 = v6;
	r->len = len;
	memcpy(r->addr, addr, v6 ? 16 : 4);
	snprintf(r->name, sizeof(r->name), "%s", rack);
	r->line = line;
	return CTL_OK;
}

static bool is_loopback(const struct sockaddr *sa)
{
	const struct sockaddr_in *in = (const void *)sa;
	const struct sockaddr_in6 *in6 = (const void *)sa;

	if (sa->sa_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

/* All addresses of a name.  Debian gives a host's own name an address that others cannot use. */
static int add_name(struct rack_file *f, unsigned int line, const char *rack, const char *name)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_DGRAM };
	struct addrinfo *all, *a;
	unsigned int before = f->n;
	int err;

	err = getaddrinfo(name, NULL, &hints, &all);
	if (err)
		return ctl_error("%s:%u: host \"%s\": %s", f->path, line, name, gai_strerror(err));
	for (a = all; a && !err; a = a->ai_next) {
		const struct sockaddr_in *in = (const void *)a->ai_addr;
		const struct sockaddr_in6 *in6 = (const void *)a->ai_addr;

		if (is_loopback(a->ai_addr))
			continue;
		if (a->ai_family == AF_INET)
			err = add_range(f, line, rack, false, &in->sin_addr, 32);
		else if (a->ai_family == AF_INET6)
			err = add_range(f, line, rack, true, &in6->sin6_addr, 128);
	}
	freeaddrinfo(all);
	if (!err && f->n == before)
		return ctl_error("%s:%u: host \"%s\" has loopback addresses only here; give its address",
				 f->path, line, name);
	return err;
}

static bool has_bits_behind(const uint8_t *addr, unsigned int all, unsigned int len)
{
	unsigned int i;

	for (i = len; i < all; i++)
		if (addr[i / 8] & 0x80 >> i % 8)
			return true;
	return false;
}

/* ADDRESS or ADDRESS/BITS.  -1 if it is none. */
static int add_address(struct rack_file *f, unsigned int line, const char *rack, const char *host)
{
	char buf[INET6_ADDRSTRLEN];
	const char *slash = strchr(host, '/');
	size_t n = slash ? (size_t)(slash - host) : strlen(host);
	unsigned long bits;
	uint8_t addr[16];
	bool v6;
	char *end;

	if (n >= sizeof(buf))
		return -1;
	memcpy(buf, host, n);
	buf[n] = '\0';
	v6 = strchr(buf, ':');
	if (inet_pton(v6 ? AF_INET6 : AF_INET, buf, addr) != 1)
		return -1;
	bits = v6 ? 128 : 32;
	if (slash) {
		unsigned long most = bits;

		errno = 0;
		bits = strtoul(slash + 1, &end, 10);
		if (errno || !isdigit((unsigned char)slash[1]) || *end || bits > most)
			return wrong(f, line, "no number of bits in", host);
	}
	if (has_bits_behind(addr, v6 ? 128 : 32, bits))
		return wrong(f, line, "bits behind the length are set in", host);
	return add_range(f, line, rack, v6, addr, bits);
}

static int add_host(struct rack_file *f, unsigned int line, const char *rack, const char *host)
{
	int err;

	if (!*rack)
		return wrong(f, line, "no rack for host", host);
	if (strlen(rack) >= RACK_NAME)
		return wrong(f, line, "name of more than 63 bytes:", rack);
	f->hosts++;
	err = add_address(f, line, rack, host);
	return err == -1 ? add_name(f, line, rack, host) : err;
}

static int add_list(struct rack_file *f, unsigned int line, const char *rack, const char *item);

/* prefix[RANGES]rest: every number of one range FIRST-LAST, with the zeros that FIRST has. */
static int add_numbers(struct rack_file *f, unsigned int line, const char *rack, const char *item,
		       const char *open, const char *close, const char *range)
{
	unsigned long first, last;
	char *end, *host;
	int width, err = CTL_OK;

	first = strtoul(range, &end, 10);
	width = end - range;
	last = first;
	if (width && *end == '-') {
		const char *to = end + 1;

		last = strtoul(to, &end, 10);
		if (end == to)
			width = 0;
	}
	if (!width || !isdigit((unsigned char)*range) || *end || last < first ||
	    last - first >= LIST_MAX)
		return wrong(f, line, "no range of numbers:", range);
	for (; first <= last && !err; first++) {
		if (asprintf(&host, "%.*s%0*lu%s", (int)(open - item), item, width, first,
			     close + 1) < 0)
			return ctl_error("out of memory");
		err = f->hosts > LIST_MAX ? ctl_error("%s:%u: too many hosts", f->path, line) :
					    add_list(f, line, rack, host);
		free(host);
	}
	return err;
}

/* A host, or several of them: node[1-3,7]. */
static int add_list(struct rack_file *f, unsigned int line, const char *rack, const char *item)
{
	const char *open = strchr(item, '['), *close = open ? strchr(open, ']') : NULL;
	char *ranges, *at, *range;
	int err = CTL_OK;

	if (!open)
		return add_host(f, line, rack, item);
	if (!close)
		return wrong(f, line, "no ] in", item);
	ranges = strndup(open + 1, close - open - 1);
	if (!ranges)
		return ctl_error("out of memory");
	at = ranges;
	while (!err && (range = strsep(&at, ",")))
		err = add_numbers(f, line, rack, item, open, close, range);
	free(ranges);
	return err;
}

/* Items of a list end at commas that are not in brackets. */
static char *next_item(char **at)
{
	char *item = *at, *p;
	int depth = 0;

	if (!item || !*item)
		return NULL;
	for (p = item; *p && (*p != ',' || depth); p++)
		depth += (*p == '[') - (*p == ']');
	*at = *p ? p + 1 : p;
	*p = '\0';
	return item;
}

/* Words KEY=VALUE of a line of topology.conf: a leaf switch has nodes. */
static int slurm_line(struct rack_file *f, unsigned int line, char *text)
{
	char *word, *value, *rack = NULL, *nodes = NULL, *item;
	int err = CTL_OK;

	while ((word = strsep(&text, BLANKS))) {
		if (!*word)
			continue;
		value = strchr(word, '=');
		if (!value)
			return wrong(f, line, "no KEY=VALUE:", word);
		*value++ = '\0';
		if (!strcasecmp(word, "SwitchName") || !strcasecmp(word, "BlockName"))
			rack = value;
		else if (!strcasecmp(word, "Nodes"))
			nodes = value;
	}
	if (nodes && !rack)
		return wrong(f, line, "no SwitchName for", nodes);
	while (nodes && !err && (item = next_item(&nodes)))
		err = add_list(f, line, rack, item);
	return err;
}

static int hadoop_line(struct rack_file *f, unsigned int line, char *text)
{
	char *save, *host = strtok_r(text, BLANKS, &save), *rack = strtok_r(NULL, BLANKS, &save);
	char *more = strtok_r(NULL, BLANKS, &save);

	if (!rack)
		return wrong(f, line, "no rack for host", host);
	if (more)
		return wrong(f, line, "a host and its rack are two words:", more);
	return add_host(f, line, rack, host);
}

static char *strip(char *text)
{
	char *end;

	text += strspn(text, BLANKS "\"");
	end = text + strlen(text);
	while (end > text && strchr(BLANKS "\"", end[-1]))
		end--;
	*end = '\0';
	return text;
}

static int csv_line(struct rack_file *f, unsigned int line, char *text)
{
	char *rack = text, *host = strip(strsep(&rack, ","));

	if (!rack)
		return wrong(f, line, "no comma behind", host);
	rack = strip(rack);
	if (strchr(rack, ','))
		return wrong(f, line, "a host and its rack are two columns:", rack);
	if (!f->hosts && !strcasecmp(rack, "rack"))
		return CTL_OK;	/* names of the columns */
	return add_host(f, line, rack, host);
}

struct format {
	const char *name;
	int (*line)(struct rack_file *f, unsigned int line, char *text);
};

static const struct format formats[] = {
	{ "slurm", slurm_line }, { "hadoop", hadoop_line }, { "csv", csv_line }, { NULL, NULL },
};

/* The format of a file, by its first line that says anything. */
static const struct format *guess(const char *text)
{
	if (strcasestr(text, "SwitchName=") || strcasestr(text, "BlockName="))
		return &formats[0];
	return strchr(text, ',') ? &formats[2] : &formats[1];
}

static int by_address(const void *a, const void *b)
{
	const struct rack_range *x = a, *y = b;

	if (x->v6 != y->v6)
		return x->v6 - y->v6;
	return memcmp(x->addr, y->addr, 16) ?: x->len - y->len;
}

/* A host may be there twice, but not in two racks. */
static int unite(struct rack_file *f)
{
	unsigned int i, n = 0;
	char buf[64];

	if (f->n)
		qsort(f->range, f->n, sizeof(*f->range), by_address);
	for (i = 0; i < f->n; i++) {
		const struct rack_range *r = &f->range[i];

		if (n && !by_address(&f->range[n - 1], r)) {
			if (!strcmp(f->range[n - 1].name, r->name))
				continue;
			return ctl_error("%s:%u: %s is in rack \"%s\", and in rack \"%s\" in line %u",
					 f->path, r->line, rack_range_text(r, buf, sizeof(buf)),
					 r->name, f->range[n - 1].name, f->range[n - 1].line);
		}
		f->range[n++] = *r;
	}
	f->n = n;
	return CTL_OK;
}

/* Append to @all what a line says.  Returns true if the line goes on: a backslash ends it. */
static bool append(char *all, size_t size, char *text)
{
	size_t n;
	bool more;

	text[strcspn(text, "#")] = '\0';
	text = strip(text);
	n = strlen(text);
	more = n && text[n - 1] == '\\';
	if (more)
		text[n - 1] = ' ';
	n = strlen(all);
	snprintf(all + n, size - n, "%s", text);
	return more;
}

static int read_lines(struct rack_file *f, FILE *in, const struct format *format)
{
	char *text = NULL, *all = calloc(1, LINE_MAX_BYTES);
	unsigned int line = 0;
	size_t room = 0;
	int err = all ? CTL_OK : ctl_error("out of memory");

	while (!err && getline(&text, &room, in) > 0) {
		line++;
		if (strlen(all) + strlen(text) >= LINE_MAX_BYTES) {
			err = ctl_error("%s:%u: a line of more than %u bytes", f->path, line,
					LINE_MAX_BYTES);
			break;
		}
		if (append(all, LINE_MAX_BYTES, text) || !*all)
			continue;
		if (!format)
			format = guess(all);
		err = format->line(f, line, all);
		*all = '\0';
	}
	/* the last line ends with a backslash */
	if (!err && all && *all)
		err = (format ? format : guess(all))->line(f, line, all);
	if (!err && ferror(in))
		err = ctl_error("%s: %s", f->path, strerror(errno));
	free(text);
	free(all);
	return err;
}

/**
 * rack_file_read() - read a file
 * @f: result, to be freed by rack_file_free()
 * @path: its name, "-" for standard input
 * @format: "slurm", "hadoop", "csv", or NULL: find out
 *
 * Return: CTL_OK, CTL_USAGE or CTL_ENV; the user has been told why.
 */
int rack_file_read(struct rack_file *f, const char *path, const char *format)
{
	const struct format *as = NULL;
	FILE *in = stdin;
	int err;

	memset(f, 0, sizeof(*f));
	f->path = strcmp(path, "-") ? path : "standard input";
	if (format) {
		for (as = formats; as->name && strcmp(as->name, format); as++)
			;
		if (!as->name)
			return ctl_usage("\"%s\" is no format: slurm, hadoop or csv", format);
	}
	if (strcmp(path, "-")) {
		in = fopen(path, "re");
		if (!in)
			return ctl_error("%s: %s", path, strerror(errno));
	}
	err = read_lines(f, in, as);
	if (in != stdin)
		fclose(in);
	if (!err)
		err = unite(f);
	if (!err && f->n > TOPOLOGY_RANGES)
		err = ctl_error("%s: more ranges of addresses than %u", f->path, TOPOLOGY_RANGES);
	if (!err && !f->n)
		err = ctl_error("%s: there is no host in it", f->path);
	if (err)
		rack_file_free(f);
	return err;
}

/**
 * rack_file_words() - hosts of the command line, of which there is no file
 * @f: zero, or what words before have made of it
 * @words: a host, or several with commas between them: node[1-3],login
 *
 * Return: CTL_OK or CTL_ENV; the user has been told why.
 */
int rack_file_words(struct rack_file *f, const char *words)
{
	char *text = strdup(words), *at = text, *item;
	int err = text ? CTL_OK : ctl_error("out of memory");

	f->path = "members";
	while (!err && (item = next_item(&at)))
		err = add_list(f, 1, "-", item);
	free(text);
	return err;
}

/**
 * rack_file_free() - free what rack_file_read() has made
 * @f: the file
 */
void rack_file_free(struct rack_file *f)
{
	free(f->range);
	f->range = NULL;
	f->n = 0;
}

/**
 * rack_range_text() - ADDRESS, or ADDRESS/BITS
 * @r: range
 * @buf: room for the text
 * @size: of @buf
 *
 * Return: @buf.
 */
const char *rack_range_text(const struct rack_range *r, char *buf, unsigned int size)
{
	char addr[INET6_ADDRSTRLEN];

	inet_ntop(r->v6 ? AF_INET6 : AF_INET, r->addr, addr, sizeof(addr));
	if (r->len == (r->v6 ? 128 : 32))
		snprintf(buf, size, "%s", addr);
	else
		snprintf(buf, size, "%s/%u", addr, r->len);
	return buf;
}
