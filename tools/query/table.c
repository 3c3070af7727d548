// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of tables, whatever their form, see table.h. */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "table.h"

/**
 * columns_declare - columns by their names and types
 * @b: set: has these columns and no rows
 * @list: words NAME, of strings, or NAME:int
 */
void columns_declare(struct batch *b, const char *list)
{
	char *copy = strdup(list), *word, *save, *type;

	if (!copy)
		err(1, "columns");
	memset(b, 0, sizeof(*b));
	for (word = strtok_r(copy, " ,", &save); word; word = strtok_r(NULL, " ,", &save)) {
		type = strchr(word, ':');
		if (type)
			*type++ = '\0';
		if (type && strcmp(type, "int") && strcmp(type, "text"))
			errx(2, "column \"%s\": no type \"%s\": there are int and text", word,
			     type);
		batch_add_column(b, word, type && !strcmp(type, "int") ? COLUMN_INT :
				 COLUMN_TEXT);
	}
	free(copy);
	if (!b->cols)
		errx(2, "columns \"%s\": there are none", list);
}

/**
 * reader_open - read a file whose first bytes say what it is
 * @path: its name
 * @want: columns that are wanted
 *
 * Return: the reader.
 */
struct reader *reader_open(const char *path, const struct batch *want)
{
	char magic[sizeof(TABLE_MAGIC) - 1];
	struct stat st;
	FILE *f;

	f = fopen(path, "re");
	if (!f || fstat(fileno(f), &st))
		err(1, "%s", path);
	if (!S_ISREG(st.st_mode))
		errx(1, "%s: not a regular file", path);
	if (fread(magic, 1, sizeof(magic), f) == sizeof(magic) &&
	    !memcmp(magic, TABLE_MAGIC, sizeof(magic))) {
		rewind(f);
		return binary_open(path, f, want);
	}
	rewind(f);
	return csv_open(path, f, want);
}

/**
 * reader_close - give back a reader
 * @r: the reader
 */
void reader_close(struct reader *r)
{
	r->close(r);
	batch_free(&r->rows);
	free(r->path);
	free(r);
}

struct writer {
	char *path;
	FILE *f;
	bool binary;
	struct batch rows;	/* of the block that grows */
	size_t text;		/* bytes of strings there */
	uint64_t count;
};

/* of strings in a block, about: far below what a reader takes */
#define BLOCK_TEXT	(16U << 20)

/**
 * writer_open - write a file
 * @path: its name: if it ends with ".shq" it has the columnar form
 * @as: has the columns
 *
 * Return: the writer.
 */
struct writer *writer_open(const char *path, const struct batch *as)
{
	struct writer *w = xcalloc(1, sizeof(*w));
	size_t len = strlen(path);

	w->path = strdup(path);
	w->f = w->path ? fopen(path, "we") : NULL;
	if (!w->f)
		err(1, "cannot create %s", path);
	w->binary = len > 4 && !strcmp(path + len - 4, ".shq");
	batch_like(&w->rows, as);
	if (w->binary)
		binary_write_head(w->f, as, 0);
	else
		csv_write_names(w->f, as);
	return w;
}

static void flush(struct writer *w)
{
	if (w->binary && w->rows.rows)
		binary_write(w->f, &w->rows);
	else
		csv_write(w->f, &w->rows);
	w->count += w->rows.rows;
	w->rows.rows = 0;
	w->text = 0;
	if (ferror(w->f))
		err(1, "cannot write %s", w->path);
}

/**
 * writer_add - more rows
 * @w: the writer
 * @b: the rows
 */
void writer_add(struct writer *w, const struct batch *b)
{
	unsigned int i;
	size_t row;

	for (row = 0; row < b->rows; row++) {
		batch_copy_row(&w->rows, b, row);
		for (i = 0; i < b->cols; i++)
			if (b->col[i].type == COLUMN_TEXT)
				w->text += column_text(&b->col[i], row).len;
		if (w->rows.rows == BATCH_ROWS || w->text >= BLOCK_TEXT)
			flush(w);
	}
}

/**
 * writer_close - all has been written, or the program ends
 * @w: the writer
 */
void writer_close(struct writer *w)
{
	flush(w);
	if (w->binary) {
		rewind(w->f);
		binary_write_head(w->f, &w->rows, w->count);
	}
	if (fclose(w->f))
		err(1, "cannot write %s", w->path);
	batch_free(&w->rows);
	free(w->path);
	free(w);
}
