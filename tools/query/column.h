/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows as columns: what the operators of shuffle-query work on, in batches, and how batches are
 * written into messages and files.  Functions that fail end the program with a message.
 */
#ifndef QUERY_COLUMN_H
#define QUERY_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLUMNS_MAX	16
#define NAME_SIZE	32
#define BATCH_ROWS	4096		/* rows that operators hand on at a time */
#define TEXT_MAX	(1U << 20)	/* bytes of one string */

enum column_type { COLUMN_INT, COLUMN_TEXT };

/**
 * struct field - values of one name and type
 * @name: its name
 * @type: 64-bit integers, or strings of bytes
 * @num: COLUMN_INT: the values
 * @end: COLUMN_TEXT: where the string of a row ends in @text; it begins where the one before ends
 * @text: COLUMN_TEXT: the bytes of all strings
 * @text_room: bytes that @text has room for
 */
struct field {
	char name[NAME_SIZE];
	enum column_type type;
	int64_t *num;
	uint64_t *end;
	char *text;
	size_t text_room;
};

/**
 * struct batch - rows of a few columns
 * @cols: number of columns
 * @rows: number of rows
 * @room: rows that the columns have room for
 * @col: the columns
 */
struct batch {
	unsigned int cols;
	size_t rows, room;
	struct field col[COLUMNS_MAX];
};

/* A string inside a column. */
struct text {
	const char *at;
	size_t len;
};

static inline struct text column_text(const struct field *c, size_t row)
{
	uint64_t begin = row ? c->end[row - 1] : 0;

	return (struct text){ c->text + begin, c->end[row] - begin };
}

/* Some columns of a batch, in an order. */
struct columns {
	unsigned int n;
	unsigned int at[COLUMNS_MAX];
};

/* Bytes that grow. */
struct bytes {
	char *at;
	size_t len, room;
};

void *xrealloc(void *p, size_t n, size_t size);
void *xcalloc(size_t n, size_t size);
void bytes_add(struct bytes *b, const void *data, size_t len);

int batch_add_column(struct batch *b, const char *name, enum column_type type);
void batch_like(struct batch *b, const struct batch *as);
bool batch_same_columns(const struct batch *a, const struct batch *b);
int batch_find(const struct batch *b, const char *name);
void batch_reserve(struct batch *b, size_t rows);
void batch_free(struct batch *b);
void column_put_text(struct field *c, size_t row, const char *text, size_t len);
void column_copy(struct field *to, size_t row, const struct field *from, size_t from_row);
void batch_copy_row(struct batch *to, const struct batch *from, size_t row);
size_t batch_bytes(const struct batch *b);

uint64_t row_hash(const struct batch *b, const struct columns *keys, size_t row);
bool rows_equal(const struct batch *a, const struct columns *ka, size_t ra,
		const struct batch *b, const struct columns *kb, size_t rb);
int column_compare(const struct field *a, size_t ra, const struct field *b, size_t rb);

void batch_encode(struct bytes *out, const struct batch *b);
const char *batch_decode(struct batch *b, const char *data, size_t len, size_t *used);

#endif /* QUERY_COLUMN_H */
