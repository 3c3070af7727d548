// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Batches as bytes, in messages and in files.  All numbers are little-endian:
 *
 *	u32 rows, u32 columns, u64 length of what follows
 *	of each column:
 *		integers: i64 of each row
 *		strings: u32 length of each row, then their bytes
 */
#include <endian.h>
#include <string.h>

#include "column.h"

struct head {
	uint32_t rows, cols;
	uint64_t len;
};

/**
 * batch_bytes - what a batch is in bytes
 * @b: the batch
 *
 * Return: how much batch_encode() adds.
 */
size_t batch_bytes(const struct batch *b)
{
	size_t len = sizeof(struct head);
	unsigned int i;

	for (i = 0; i < b->cols; i++) {
		const struct field *c = &b->col[i];

		if (c->type == COLUMN_INT)
			len += 8 * b->rows;
		else
			len += 4 * b->rows + (b->rows ? c->end[b->rows - 1] : 0);
	}
	return len;
}

/**
 * batch_encode - append a batch to bytes
 * @out: the bytes
 * @b: the batch, of less than 2^32 rows
 */
void batch_encode(struct bytes *out, const struct batch *b)
{
	struct head h = { htole32(b->rows), htole32(b->cols),
			  htole64(batch_bytes(b) - sizeof(h)) };
	unsigned int i;
	size_t row;

	bytes_add(out, &h, sizeof(h));
	for (i = 0; i < b->cols; i++) {
		const struct field *c = &b->col[i];
		size_t at = out->len;

		if (c->type == COLUMN_INT) {
			bytes_add(out, NULL, 8 * b->rows);
			for (row = 0; row < b->rows; row++) {
				uint64_t v = htole64(c->num[row]);

				memcpy(out->at + at + 8 * row, &v, sizeof(v));
			}
			continue;
		}
		bytes_add(out, NULL, 4 * b->rows);
		for (row = 0; row < b->rows; row++) {
			uint32_t v = htole32(column_text(c, row).len);

			memcpy(out->at + at + 4 * row, &v, sizeof(v));
		}
		if (b->rows)
			bytes_add(out, c->text, c->end[b->rows - 1]);
	}
}

/* Strings of a column; NULL, or what is wrong. */
static const char *decode_text(struct field *c, size_t rows, const char **data, size_t *left)
{
	const char *lens = *data;
	uint64_t total = 0;
	uint32_t len;
	size_t row;

	if (*left / 4 < rows)
		return "the lengths of strings are cut off";
	*data += 4 * rows;
	*left -= 4 * rows;
	for (row = 0; row < rows; row++) {
		memcpy(&len, lens + 4 * row, sizeof(len));
		len = le32toh(len);
		if (len > TEXT_MAX)
			return "a string is too long";
		if (*left - total < len)
			return "the bytes of strings are cut off";
		total += len;
		c->end[row] = total;
	}
	if (c->text_room < total) {
		c->text = xrealloc(c->text, total, 1);
		c->text_room = total;
	}
	if (total)
		memcpy(c->text, *data, total);
	*data += total;
	*left -= total;
	return NULL;
}

/**
 * batch_decode - read a batch from bytes
 * @b: has the columns that are expected; its rows are replaced
 * @data: the bytes
 * @len: their number
 * @used: set: how many of them the batch takes
 *
 * Return: NULL, or what is wrong with the bytes.
 */
const char *batch_decode(struct batch *b, const char *data, size_t len, size_t *used)
{
	const char *wrong;
	struct head h;
	unsigned int i;
	size_t row, left;

	b->rows = 0;
	if (len < sizeof(h))
		return "the head of a block is cut off";
	memcpy(&h, data, sizeof(h));
	h.rows = le32toh(h.rows);
	h.cols = le32toh(h.cols);
	h.len = le64toh(h.len);
	if (h.cols != b->cols)
		return "a block has another number of columns";
	if (h.len > len - sizeof(h))
		return "a block is cut off";
	/* a row has four bytes at least: no room for rows that are not there */
	if (!h.cols || h.rows > h.len / 4)
		return "a block has more rows than bytes";
	*used = sizeof(h) + h.len;
	data += sizeof(h);
	left = h.len;
	batch_reserve(b, h.rows);
	for (i = 0; i < b->cols; i++) {
		struct field *c = &b->col[i];

		if (c->type == COLUMN_TEXT) {
			wrong = decode_text(c, h.rows, &data, &left);
			if (wrong)
				return wrong;
			continue;
		}
		if (left / 8 < h.rows)
			return "the numbers of a column are cut off";
		for (row = 0; row < h.rows; row++) {
			uint64_t v;

			memcpy(&v, data + 8 * row, sizeof(v));
			c->num[row] = le64toh(v);
		}
		data += 8 * (size_t)h.rows;
		left -= 8 * (size_t)h.rows;
	}
	if (left)
		return "a block has bytes after its columns";
	b->rows = h.rows;
	return NULL;
}
