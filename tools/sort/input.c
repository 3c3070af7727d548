// SPDX-License-Identifier: GPL-2.0-or-later
/* Records from files and standard input. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "config.h"
#include "util.h"

#define CHUNK	(1U << 20)

/**
 * format_check() - end the program if a format makes no sense
 * @f: the format
 */
void format_check(const struct format *f)
{
	if (!f->text && f->key > f->record)
		usage_die("--key-length %zu: a record has %zu bytes", f->key, f->record);
	if (f->text && f->last_field && f->last_field < f->first_field)
		usage_die("--field %u,%u: ends before it begins", f->first_field, f->last_field);
}

/**
 * records_free() - give the memory of records back
 * @r: the records; none afterwards
 */
void records_free(struct records *r)
{
	free(r->key);
	free(r->value);
	free(r->off);
	memset(r, 0, sizeof(*r));
}

/* Twice as much memory, when it is full. */
static void *grow(void *p, size_t *room, size_t least, size_t size)
{
	while (*room < least)
		*room = *room ? 2 * *room : 65536;
	p = reallocarray(p, *room, size);
	if (!p)
		die("out of memory: %zu times %zu bytes", *room, size);
	return p;
}

struct reader {
	struct records *r;
	const struct format *f;
	const char *path;
	size_t key_room, value_room, off_room;
	size_t bytes;		/* of values of lines */
	const struct chunks *chunks;
};

static void begin(struct reader *rd)
{
	struct records *r = rd->r;

	memset(r, 0, sizeof(*r));
	r->text = rd->f->text;
	r->klen = rd->f->key;
	r->vlen = rd->f->text ? 0 : rd->f->record - rd->f->key;
	r->off = memory(1, sizeof(*r->off));
	rd->off_room = 1;
	rd->key_room = 0;
	rd->value_room = 0;
	rd->bytes = 0;
}

/* Is it so much that it is passed on? */
static void pass_on(struct reader *rd)
{
	const struct chunks *c = rd->chunks;

	if (!c || rd->bytes + rd->r->n * (rd->r->klen + rd->r->vlen) < c->bytes)
		return;
	c->full(c->arg, rd->r);
	records_free(rd->r);
	begin(rd);
}

static void count_record(struct reader *rd)
{
	if (rd->r->n == SORT_MAX_RECORDS)
		die("%s: more than %u records for one host", rd->path, SORT_MAX_RECORDS);
	rd->r->n++;
}

static void add_record(struct reader *rd, const unsigned char *p)
{
	size_t klen = rd->f->key, vlen = rd->f->record - klen;
	struct records *r = rd->r;

	if (r->n == rd->key_room) {
		r->key = grow(r->key, &rd->key_room, r->n + 1, klen);
		rd->value_room = rd->key_room;
		r->value = reallocarray(r->value, rd->value_room, vlen ? vlen : 1);
		if (!r->value)
			die("out of memory: %zu records", rd->value_room);
	}
	memcpy(r->key + r->n * klen, p, klen);
	memcpy(r->value + r->n * vlen, p + klen, vlen);
	count_record(rd);
}

static void add_line(struct reader *rd, const unsigned char *p, size_t len)
{
	struct records *r = rd->r;

	if (rd->bytes + len > rd->value_room || !r->value)
		r->value = grow(r->value, &rd->value_room, rd->bytes + len, 1);
	if (r->n + 2 > rd->off_room)
		r->off = grow(r->off, &rd->off_room, r->n + 2, sizeof(*r->off));
	memcpy(r->value + rd->bytes, p, len);
	r->off[r->n] = rd->bytes;
	rd->bytes += len;
	r->off[r->n + 1] = rd->bytes;
	count_record(rd);
}

/* What of @buf is whole records; the rest is moved to its beginning.  Returns the bytes of it. */
static size_t take(struct reader *rd, unsigned char *buf, size_t len, uint64_t *line)
{
	size_t at = 0;

	if (rd->f->text) {
		unsigned char *end;

		while ((end = memchr(buf + at, '\n', len - at))) {
			++*line;
			if (end - (buf + at) > (ptrdiff_t)SORT_MAX_RECORD)
				die("%s:%llu: a line of more than %u bytes", rd->path,
				    (unsigned long long)*line, SORT_MAX_RECORD);
			add_line(rd, buf + at, end - (buf + at));
			at = end - buf + 1;
		}
		if (len - at > SORT_MAX_RECORD)
			die("%s:%llu: a line of more than %u bytes", rd->path,
			    (unsigned long long)*line + 1, SORT_MAX_RECORD);
	} else {
		for (; len - at >= rd->f->record; at += rd->f->record)
			add_record(rd, buf + at);
	}
	memmove(buf, buf + at, len - at);
	return len - at;
}

static void read_stream(struct reader *rd, FILE *in, unsigned char *buf)
{
	uint64_t line = 0, bytes = 0;
	size_t have = 0, n;

	while ((n = fread(buf + have, 1, CHUNK, in)) > 0) {
		signal_check();
		bytes += n;
		have = take(rd, buf, have + n, &line);
		pass_on(rd);
	}
	signal_check();
	if (ferror(in))
		die("%s: %s", rd->path, strerror(errno));
	if (!have)
		return;
	if (!rd->f->text)
		die("%s: %llu bytes are no whole number of records of %zu bytes", rd->path,
		    (unsigned long long)bytes, rd->f->record);
	add_line(rd, buf, have);
}

/**
 * read_files() - read records; the program ends if that is not possible
 * @r: set; of lines without keys, see text_keys()
 * @f: what a record is
 * @path: names of files, - for standard input
 * @files: how many
 * @chunks: who takes records before all are read, or NULL; @r has the last ones
 */
void read_files(struct records *r, const struct format *f, char *const *path, int files,
		const struct chunks *chunks)
{
	unsigned char *buf = memory(CHUNK + SORT_MAX_RECORD + 1, 1);
	struct reader rd = { .r = r, .f = f, .chunks = chunks };
	int i;

	begin(&rd);
	for (i = 0; i < files; i++) {
		int std = !strcmp(path[i], "-");
		FILE *in = std ? stdin : fopen(path[i], "re");

		rd.path = std ? "standard input" : path[i];
		if (!in)
			die("%s: %s", path[i], strerror(errno));
		read_stream(&rd, in, buf);
		if (!std)
			fclose(in);
	}
	free(buf);
}

/* The end of field @field, from 1, as sort(1) counts: where blanks separate, they are at the
 * beginning of the field behind them.
 */
static size_t field_end(const struct format *f, const unsigned char *line, size_t len,
			unsigned int field)
{
	size_t at = 0;

	for (; field && at < len; field--) {
		if (f->separator) {
			while (at < len && line[at] != (unsigned char)f->separator)
				at++;
			at += at < len && field > 1;
		} else {
			while (at < len && (line[at] == ' ' || line[at] == '\t'))
				at++;
			while (at < len && line[at] != ' ' && line[at] != '\t')
				at++;
		}
	}
	return at;
}

/**
 * text_key() - the key of a line
 * @f: which fields
 * @line: the line
 * @len: its bytes
 * @at: set: where the key begins
 *
 * Return: bytes of the key.
 */
size_t text_key(const struct format *f, const unsigned char *line, size_t len, size_t *at)
{
	size_t end = f->last_field ? field_end(f, line, len, f->last_field) : len;

	*at = f->first_field > 1 ? field_end(f, line, len, f->first_field - 1) : 0;
	if (f->first_field > 1 && f->separator && *at < len)
		++*at;
	return end > *at ? end - *at : 0;
}

/**
 * text_keys() - the keys of lines
 * @r: the lines; @key is set
 * @f: which fields are the key
 * @klen: bytes of each key, 0: as many as the longest one has
 * @path: for messages: where they are from
 */
void text_keys(struct records *r, const struct format *f, size_t klen, char *const *path)
{
	size_t i, len, at, longest = 1;

	for (i = 0; i < r->n; i++) {
		len = text_key(f, r->value + r->off[i], r->off[i + 1] - r->off[i], &at);
		if (len > SORT_MAX_KEY)
			die("%s: line %zu: a key of %zu bytes, more than %u; name fields",
			    path[0] ? path[0] : "input", i + 1, len, SORT_MAX_KEY);
		if (memchr(r->value + r->off[i] + at, 0, len))
			die("%s: line %zu: the key has a byte 0", path[0] ? path[0] : "input",
			    i + 1);
		longest = len > longest ? len : longest;
	}
	r->klen = klen ? klen : longest;
	if (!klen)
		return;
	r->key = memory(r->n, klen);
	for (i = 0; i < r->n; i++) {
		len = text_key(f, r->value + r->off[i], r->off[i + 1] - r->off[i], &at);
		memcpy(r->key + i * klen, r->value + r->off[i] + at, len);
	}
}
