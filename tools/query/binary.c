// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables in a columnar form.  All numbers are little-endian:
 *
 *	8 bytes "SHFLTBL1", u32 version (1), u32 columns, u64 rows
 *	of each column: u32 type (0: integers, 1: strings), 32 bytes of name, padded with zeros
 *	blocks of rows, see encode.c, until all rows have been
 */
#include <ctype.h>
#include <endian.h>
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "table.h"

#define VERSION		1
#define BLOCK_HEAD	16
#define BLOCK_MAX	(1ULL << 30)

struct head {
	char magic[8];
	uint32_t version, columns;
	uint64_t rows;
};

struct head_column {
	uint32_t type;
	char name[NAME_SIZE];
};

struct binary {
	struct reader r;
	FILE *f;
	struct batch block;	/* all columns of the file */
	struct columns from;	/* those that are wanted */
	uint64_t rows;		/* still to come */
	uint64_t at, size;	/* bytes */
	struct bytes buf;
};

static void get(struct binary *b, void *to, size_t len)
{
	if (fread(to, 1, len, b->f) != len) {
		if (ferror(b->f))
			err(1, "%s", b->r.path);
		errx(1, "%s: byte %" PRIu64 ": it is cut off", b->r.path, b->at);
	}
	b->at += len;
}

static bool binary_next(struct reader *r)
{
	struct binary *b = (struct binary *)r;
	uint64_t begin = b->at, len;
	const char *wrong;
	size_t row, used;
	unsigned int i;

	if (!b->rows) {
		if (b->at != b->size)
			errx(1, "%s: byte %" PRIu64 ": bytes after the last row", r->path, b->at);
		return false;
	}
	b->buf.len = 0;
	bytes_add(&b->buf, NULL, BLOCK_HEAD);
	get(b, b->buf.at, BLOCK_HEAD);
	memcpy(&len, b->buf.at + 8, sizeof(len));
	len = le64toh(len);
	if (len > BLOCK_MAX || len > b->size - b->at)
		errx(1, "%s: byte %" PRIu64 ": a block of %" PRIu64 " bytes, the file has %" PRIu64
		     " more", r->path, begin, len, b->size - b->at);
	bytes_add(&b->buf, NULL, len);
	get(b, b->buf.at + BLOCK_HEAD, len);
	wrong = batch_decode(&b->block, b->buf.at, b->buf.len, &used);
	if (!wrong && !b->block.rows)
		wrong = "a block without rows";
	if (!wrong && b->block.rows > b->rows)
		wrong = "more rows than the head of the file says";
	if (wrong)
		errx(1, "%s: block at byte %" PRIu64 ": %s", r->path, begin, wrong);
	b->rows -= b->block.rows;
	batch_reserve(&r->rows, b->block.rows);
	for (i = 0; i < b->from.n; i++)
		for (row = 0; row < b->block.rows; row++)
			column_copy(&r->rows.col[i], row, &b->block.col[b->from.at[i]], row);
	r->rows.rows = b->block.rows;
	return true;
}

static void binary_close(struct reader *r)
{
	struct binary *b = (struct binary *)r;

	fclose(b->f);
	batch_free(&b->block);
	free(b->buf.at);
}

static void get_column(struct binary *b, unsigned int i)
{
	struct head_column c;
	const char *p;

	get(b, &c, sizeof(c));
	if (le32toh(c.type) > COLUMN_TEXT)
		errx(1, "%s: column %u: there is no type %u", b->r.path, i, le32toh(c.type));
	if (!memchr(c.name, '\0', sizeof(c.name)) || !*c.name)
		errx(1, "%s: column %u: its name has no end or is empty", b->r.path, i);
	for (p = c.name; *p; p++)
		if (!isgraph((unsigned char)*p))
			errx(1, "%s: column %u: its name has the byte %u", b->r.path, i,
			     (unsigned char)*p);
	if (batch_find(&b->block, c.name) >= 0)
		errx(1, "%s: column \"%s\" is there twice", b->r.path, c.name);
	batch_add_column(&b->block, c.name, le32toh(c.type));
}

/**
 * binary_open - read a file in the columnar form
 * @path: its name
 * @f: the file, at its begin
 * @want: columns that are wanted
 *
 * Return: the reader.
 */
struct reader *binary_open(const char *path, FILE *f, const struct batch *want)
{
	struct binary *b = xcalloc(1, sizeof(*b));
	struct head h;
	struct stat st;
	unsigned int i;
	int at;

	b->r.path = strdup(path);
	if (!b->r.path || fstat(fileno(f), &st))
		err(1, "%s", path);
	b->r.next = binary_next;
	b->r.close = binary_close;
	b->f = f;
	b->size = st.st_size;
	get(b, &h, sizeof(h));
	if (le32toh(h.version) != VERSION)
		errx(1, "%s: version %u, this program knows %d", path, le32toh(h.version), VERSION);
	h.columns = le32toh(h.columns);
	if (!h.columns || h.columns > COLUMNS_MAX)
		errx(1, "%s: %u columns, there may be 1 to %d", path, h.columns, COLUMNS_MAX);
	b->rows = le64toh(h.rows);
	for (i = 0; i < h.columns; i++)
		get_column(b, i);
	batch_like(&b->r.rows, want);
	for (i = 0; i < want->cols; i++) {
		at = batch_find(&b->block, want->col[i].name);
		if (at < 0)
			errx(1, "%s: there is no column \"%s\"", path, want->col[i].name);
		if (b->block.col[at].type != want->col[i].type)
			errx(1, "%s: column \"%s\" has %s, not %s", path, want->col[i].name,
			     b->block.col[at].type == COLUMN_INT ? "numbers" : "strings",
			     want->col[i].type == COLUMN_INT ? "numbers" : "strings");
		b->from.at[b->from.n++] = at;
	}
	return &b->r;
}

/**
 * binary_write_head - what comes before the rows
 * @f: the file
 * @as: has the columns
 * @rows: their number
 */
void binary_write_head(FILE *f, const struct batch *as, uint64_t rows)
{
	struct head h = { TABLE_MAGIC, htole32(VERSION), htole32(as->cols), htole64(rows) };
	struct head_column c;
	unsigned int i;

	fwrite(&h, sizeof(h), 1, f);
	for (i = 0; i < as->cols; i++) {
		memset(&c, 0, sizeof(c));
		c.type = htole32(as->col[i].type);
		strcpy(c.name, as->col[i].name);
		fwrite(&c, sizeof(c), 1, f);
	}
}

/**
 * binary_write - a block of rows
 * @f: the file
 * @b: the rows
 */
void binary_write(FILE *f, const struct batch *b)
{
	struct bytes bytes = { 0 };

	batch_encode(&bytes, b);
	fwrite(bytes.at, 1, bytes.len, f);
	free(bytes.at);
}
