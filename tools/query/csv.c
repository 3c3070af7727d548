// SPDX-License-Identifier: GPL-2.0-or-later
/* Comma-separated values as RFC 4180 has them: quoted fields, with quotes doubled; CR LF or LF. */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

#define FIELDS_MAX	256

struct csv {
	struct reader r;
	FILE *f;
	uint64_t line;		/* that the record begins with */
	uint64_t lines;		/* that have been read */
	struct bytes text;	/* of the record's fields */
	size_t end[FIELDS_MAX];
	unsigned int fields;
	unsigned int columns;	/* of the file */
	int want[FIELDS_MAX];	/* the column of r.rows that a field is for, or -1 */
};

static void add_char(struct csv *c, char ch)
{
	size_t begin = c->fields ? c->end[c->fields - 1] : 0;

	if (!ch)
		errx(1, "%s:%" PRIu64 ": a NUL byte", c->r.path, c->lines + 1);
	if (c->text.len - begin == TEXT_MAX)
		errx(1, "%s:%" PRIu64 ": a field of more than %u bytes", c->r.path, c->line,
		     TEXT_MAX);
	bytes_add(&c->text, &ch, 1);
}

static void end_field(struct csv *c)
{
	if (c->fields == FIELDS_MAX)
		errx(1, "%s:%" PRIu64 ": more than %d fields", c->r.path, c->line, FIELDS_MAX);
	c->end[c->fields++] = c->text.len;
}

/* The rest of a field after its first quote; returns what follows it. */
static int quoted(struct csv *c)
{
	int ch;

	for (;;) {
		ch = getc_unlocked(c->f);
		if (ch == EOF)
			errx(1, "%s:%" PRIu64 ": a quote is not closed", c->r.path, c->line);
		if (ch == '"') {
			ch = getc_unlocked(c->f);
			if (ch != '"')
				return ch;
		}
		add_char(c, ch);
		c->lines += ch == '\n';
	}
}

/* One record; false: the file has ended. */
static bool record(struct csv *c)
{
	int ch = getc_unlocked(c->f);

	c->fields = 0;
	c->text.len = 0;
	c->line = c->lines + 1;
	if (ch == EOF) {
		if (ferror(c->f))
			err(1, "%s", c->r.path);
		return false;
	}
	for (;;) {
		if (ch == '"') {
			ch = quoted(c);
		} else {
			for (; ch != EOF && ch != ',' && ch != '\n' && ch != '\r' && ch != '"';
			     ch = getc_unlocked(c->f))
				add_char(c, ch);
			if (ch == '"')
				errx(1, "%s:%" PRIu64 ": a quote inside a field without quotes",
				     c->r.path, c->lines + 1);
		}
		if (ch == '\r') {
			ch = getc_unlocked(c->f);
			if (ch != '\n')
				errx(1, "%s:%" PRIu64 ": CR without LF", c->r.path, c->lines + 1);
		}
		if (ch != EOF && ch != ',' && ch != '\n')
			errx(1, "%s:%" PRIu64 ": \"%c\" after a quote that ends a field",
			     c->r.path, c->lines + 1, ch);
		end_field(c);
		if (ch != ',')
			break;
		ch = getc_unlocked(c->f);
	}
	c->lines++;
	return true;
}

static struct text field(const struct csv *c, unsigned int i)
{
	size_t begin = i ? c->end[i - 1] : 0;

	return (struct text){ c->text.at + begin, c->end[i] - begin };
}

static void number(const struct csv *c, struct text t, struct field *to, size_t row)
{
	bool minus = t.len && *t.at == '-';
	size_t i = minus;
	int64_t v = 0;

	for (; i < t.len; i++) {
		unsigned int digit = (unsigned char)t.at[i] - '0';

		if (digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_sub_overflow(v, (int64_t)digit, &v))
			break;
	}
	/* v is negative: there is one more of these */
	if (i < t.len || t.len == minus || (!minus && v == INT64_MIN))
		errx(1, "%s:%" PRIu64 ": %s: \"%.*s\" is not a whole number of 64 bits", c->r.path,
		     c->line, to->name, t.len > 40 ? 40 : (int)t.len, t.at ? t.at : "");
	to->num[row] = minus ? v : -v;
}

static bool csv_next(struct reader *r)
{
	struct csv *c = (struct csv *)r;
	struct batch *b = &r->rows;
	unsigned int i;

	b->rows = 0;
	batch_reserve(b, BATCH_ROWS);
	while (b->rows < BATCH_ROWS && record(c)) {
		if (c->fields != c->columns)
			errx(1, "%s:%" PRIu64 ": %u fields, the first line has %u", r->path,
			     c->line, c->fields, c->columns);
		for (i = 0; i < c->columns; i++) {
			struct text t = field(c, i);
			struct field *to;

			if (c->want[i] < 0)
				continue;
			to = &b->col[c->want[i]];
			if (to->type == COLUMN_INT)
				number(c, t, to, b->rows);
			else
				column_put_text(to, b->rows, t.at, t.len);
		}
		b->rows++;
	}
	return b->rows;
}

static void csv_close(struct reader *r)
{
	struct csv *c = (struct csv *)r;

	fclose(c->f);
	free(c->text.at);
}

/**
 * csv_open - read a CSV file, whose first line has names
 * @path: its name
 * @f: the file, at its begin
 * @want: columns that are wanted
 *
 * Return: the reader.
 */
struct reader *csv_open(const char *path, FILE *f, const struct batch *want)
{
	struct csv *c = xcalloc(1, sizeof(*c));
	bool seen[COLUMNS_MAX] = { false };
	char name[NAME_SIZE];
	unsigned int i;

	c->r.path = strdup(path);
	if (!c->r.path)
		err(1, "%s", path);
	c->r.next = csv_next;
	c->r.close = csv_close;
	c->f = f;
	batch_like(&c->r.rows, want);
	if (!record(c))
		errx(1, "%s: it is empty: a line with the columns' names is missing", path);
	c->columns = c->fields;
	for (i = 0; i < c->columns; i++) {
		struct text t = field(c, i);

		c->want[i] = -1;
		if (t.len >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)t.len, t.len ? t.at : "");
		c->want[i] = batch_find(want, name);
		if (c->want[i] < 0)
			continue;
		if (seen[c->want[i]])
			errx(1, "%s:1: column \"%s\" is there twice", path, name);
		seen[c->want[i]] = true;
	}
	for (i = 0; i < want->cols; i++)
		if (!seen[i])
			errx(1, "%s:1: there is no column \"%s\"", path, want->col[i].name);
	return &c->r;
}

static void write_text(FILE *f, struct text t, bool alone)
{
	size_t i;

	/* which no line of a CSV file may have */
	if (t.len && memchr(t.at, '\0', t.len))
		errx(1, "a string has a byte 0: it cannot be written as CSV");
	for (i = 0; i < t.len; i++)
		if (strchr(",\"\r\n", t.at[i]))
			break;
	if (i == t.len && !(alone && !t.len)) {
		if (t.len)
			fwrite(t.at, 1, t.len, f);
		return;
	}
	putc('"', f);
	for (i = 0; i < t.len; i++) {
		if (t.at[i] == '"')
			putc('"', f);
		putc(t.at[i], f);
	}
	putc('"', f);
}

/**
 * csv_write_names - the first line
 * @f: the file
 * @b: has the columns
 */
void csv_write_names(FILE *f, const struct batch *b)
{
	unsigned int i;

	for (i = 0; i < b->cols; i++)
		fprintf(f, "%s%s", i ? "," : "", b->col[i].name);
	putc('\n', f);
}

/**
 * csv_write - a line for each row
 * @f: the file
 * @b: the rows
 */
void csv_write(FILE *f, const struct batch *b)
{
	unsigned int i;
	size_t row;

	for (row = 0; row < b->rows; row++) {
		for (i = 0; i < b->cols; i++) {
			const struct field *c = &b->col[i];

			if (i)
				putc(',', f);
			if (c->type == COLUMN_INT)
				fprintf(f, "%" PRId64, c->num[row]);
			else
				write_text(f, column_text(c, row), b->cols == 1);
		}
		putc('\n', f);
	}
}
