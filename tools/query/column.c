// SPDX-License-Identifier: GPL-2.0-or-later
/* Batches of rows as columns, see column.h. */
#include <endian.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"

/**
 * xrealloc - memory for an array, or the end of the program
 * @p: the array so far, or NULL
 * @n: elements
 * @size: bytes of an element
 *
 * Return: the array.
 */
void *xrealloc(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		errx(1, "out of memory: %zu elements of %zu bytes", n, size);
	p = realloc(p, bytes ? bytes : 1);
	if (!p)
		err(1, "%zu bytes", bytes);
	return p;
}

/**
 * xcalloc - zeroed memory for an array, or the end of the program
 * @n: elements
 * @size: bytes of an element
 *
 * Return: the array.
 */
void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		err(1, "%zu elements of %zu bytes", n, size);
	return p;
}

/**
 * bytes_add - append
 * @b: what grows
 * @data: bytes; NULL: zeros
 * @len: their number
 */
void bytes_add(struct bytes *b, const void *data, size_t len)
{
	if (!len)
		return;
	if (b->room - b->len < len) {
		b->room = b->len + len > 2 * b->room ? b->len + len : 2 * b->room;
		b->at = xrealloc(b->at, b->room, 1);
	}
	if (data)
		memcpy(b->at + b->len, data, len);
	else
		memset(b->at + b->len, 0, len);
	b->len += len;
}

/**
 * batch_add_column - one more column of a batch that has no rows
 * @b: the batch
 * @name: of the column
 * @type: of the column
 *
 * Return: its index.
 */
int batch_add_column(struct batch *b, const char *name, enum column_type type)
{
	struct field *c = &b->col[b->cols];

	if (b->cols == COLUMNS_MAX)
		errx(2, "column \"%s\": there may be %d columns", name, COLUMNS_MAX);
	if (!*name || strlen(name) >= sizeof(c->name))
		errx(2, "column \"%s\": a name has 1 to %zu characters", name,
		     sizeof(c->name) - 1);
	if (batch_find(b, name) >= 0)
		errx(2, "column \"%s\" is there twice", name);
	memset(c, 0, sizeof(*c));
	strcpy(c->name, name);
	c->type = type;
	b->room = 0;
	return b->cols++;
}

/**
 * batch_like - an empty batch with another one's columns
 * @b: set
 * @as: the other one
 */
void batch_like(struct batch *b, const struct batch *as)
{
	unsigned int i;

	memset(b, 0, sizeof(*b));
	for (i = 0; i < as->cols; i++)
		batch_add_column(b, as->col[i].name, as->col[i].type);
}

/**
 * batch_same_columns - compare names and types
 * @a: a batch
 * @b: another one
 *
 * Return: whether they are the same, in the same order.
 */
bool batch_same_columns(const struct batch *a, const struct batch *b)
{
	unsigned int i;

	if (a->cols != b->cols)
		return false;
	for (i = 0; i < a->cols; i++)
		if (a->col[i].type != b->col[i].type || strcmp(a->col[i].name, b->col[i].name))
			return false;
	return true;
}

/**
 * batch_find - a column by its name
 * @b: the batch
 * @name: the name
 *
 * Return: its index, or -1.
 */
int batch_find(const struct batch *b, const char *name)
{
	unsigned int i;

	for (i = 0; i < b->cols; i++)
		if (!strcmp(b->col[i].name, name))
			return i;
	return -1;
}

/**
 * batch_reserve - make room for rows
 * @b: the batch
 * @rows: at least this many, all together
 */
void batch_reserve(struct batch *b, size_t rows)
{
	unsigned int i;

	if (rows <= b->room)
		return;
	if (rows < 2 * b->room)
		rows = 2 * b->room;
	for (i = 0; i < b->cols; i++) {
		struct field *c = &b->col[i];

		if (c->type == COLUMN_INT)
			c->num = xrealloc(c->num, rows, sizeof(*c->num));
		else
			c->end = xrealloc(c->end, rows, sizeof(*c->end));
	}
	b->room = rows;
}

/**
 * batch_free - give memory back
 * @b: the batch; its columns stay, without rows
 */
void batch_free(struct batch *b)
{
	unsigned int i;

	for (i = 0; i < b->cols; i++) {
		struct field *c = &b->col[i];

		free(c->num);
		free(c->end);
		free(c->text);
		c->num = NULL;
		c->end = NULL;
		c->text = NULL;
		c->text_room = 0;
	}
	b->rows = 0;
	b->room = 0;
}

/**
 * column_put_text - the string of a row, after those of the rows before
 * @c: the column
 * @row: the row, for which there is room
 * @text: the string
 * @len: its length
 */
void column_put_text(struct field *c, size_t row, const char *text, size_t len)
{
	uint64_t begin = row ? c->end[row - 1] : 0;

	if (c->text_room - begin < len) {
		c->text_room = begin + len > 2 * c->text_room ? begin + len : 2 * c->text_room;
		c->text = xrealloc(c->text, c->text_room, 1);
	}
	if (len)
		memcpy(c->text + begin, text, len);
	c->end[row] = begin + len;
}

/**
 * column_copy - a value of a column of the same type
 * @to: the column
 * @row: its row, for which there is room, after those that have values
 * @from: the other column
 * @from_row: its row
 */
void column_copy(struct field *to, size_t row, const struct field *from, size_t from_row)
{
	if (to->type == COLUMN_INT) {
		to->num[row] = from->num[from_row];
	} else {
		struct text t = column_text(from, from_row);

		column_put_text(to, row, t.at, t.len);
	}
}

/**
 * batch_copy_row - append a row
 * @to: the batch
 * @from: one with the same columns
 * @row: of @from
 */
void batch_copy_row(struct batch *to, const struct batch *from, size_t row)
{
	unsigned int i;

	batch_reserve(to, to->rows + 1);
	for (i = 0; i < to->cols; i++)
		column_copy(&to->col[i], to->rows, &from->col[i], row);
	to->rows++;
}

/* Finalizer of MurmurHash3 (Appleby, public domain). */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

/**
 * row_hash - of some columns of a row; the same on all hosts
 * @b: the batch
 * @keys: the columns
 * @row: the row
 *
 * Return: 64 bits.
 */
uint64_t row_hash(const struct batch *b, const struct columns *keys, size_t row)
{
	uint64_t hash = 0x9e3779b97f4a7c15ULL;
	unsigned int i;

	for (i = 0; i < keys->n; i++) {
		const struct field *c = &b->col[keys->at[i]];

		if (c->type == COLUMN_INT) {
			hash = mix(hash ^ (uint64_t)c->num[row]);
		} else {
			struct text t = column_text(c, row);
			uint64_t word;

			hash = mix(hash ^ t.len);
			for (; t.len >= sizeof(word); t.len -= sizeof(word)) {
				memcpy(&word, t.at, sizeof(word));
				hash = mix(hash ^ le64toh(word));
				t.at += sizeof(word);
			}
			word = 0;
			if (t.len)
				memcpy(&word, t.at, t.len);
			hash = mix(hash ^ le64toh(word));
		}
	}
	return hash;
}

/**
 * column_compare - two values: integers by value, strings byte by byte
 * @a: a column
 * @ra: its row
 * @b: another one of that type
 * @rb: its row
 *
 * Return: negative, 0 or positive.
 */
int column_compare(const struct field *a, size_t ra, const struct field *b, size_t rb)
{
	struct text s, t;
	int d;

	if (a->type == COLUMN_INT)
		return (a->num[ra] > b->num[rb]) - (a->num[ra] < b->num[rb]);
	s = column_text(a, ra);
	t = column_text(b, rb);
	d = s.len && t.len ? memcmp(s.at, t.at, s.len < t.len ? s.len : t.len) : 0;
	return d ? d : (s.len > t.len) - (s.len < t.len);
}

/**
 * rows_equal - compare some columns
 * @a: a batch
 * @ka: columns of @a
 * @ra: its row
 * @b: another one
 * @kb: as many columns of @b, of the same types
 * @rb: its row
 *
 * Return: whether they are equal.
 */
bool rows_equal(const struct batch *a, const struct columns *ka, size_t ra,
		const struct batch *b, const struct columns *kb, size_t rb)
{
	unsigned int i;

	for (i = 0; i < ka->n; i++)
		if (column_compare(&a->col[ka->at[i]], ra, &b->col[kb->at[i]], rb))
			return false;
	return true;
}
