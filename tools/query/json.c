// SPDX-License-Identifier: GPL-2.0-or-later
/* Strings and rows as JSON (RFC 8259). */
#include <inttypes.h>

#include "../common/utf8.h"
#include "json.h"

/**
 * json_text - a string
 * @f: where to
 * @t: the string
 */
void json_text(FILE *f, struct text t)
{
	const unsigned char *s = (const unsigned char *)t.at;
	size_t i, n;

	putc('"', f);
	for (i = 0; i < t.len; i += n ? n : 1) {
		n = utf8_bytes(s + i, t.len - i);
		if (!n)
			fputs("\\ufffd", f);
		else if (s[i] == '"' || s[i] == '\\')
			fprintf(f, "\\%c", s[i]);
		else if (s[i] < 0x20)
			fprintf(f, "\\u%04x", s[i]);
		else
			fwrite(s + i, 1, n, f);
	}
	putc('"', f);
}

/**
 * json_rows - members "columns" and "rows" of an object
 * @f: where to
 * @b: the rows
 */
void json_rows(FILE *f, const struct batch *b)
{
	unsigned int i;
	size_t row;

	fputs("\"columns\": [", f);
	for (i = 0; i < b->cols; i++)
		fprintf(f, "%s\"%s\"", i ? ", " : "", b->col[i].name);
	fputs("], \"rows\": [", f);
	for (row = 0; row < b->rows; row++) {
		fputs(row ? ", [" : "[", f);
		for (i = 0; i < b->cols; i++) {
			if (i)
				fputs(", ", f);
			if (b->col[i].type == COLUMN_INT)
				fprintf(f, "%" PRId64, b->col[i].num[row]);
			else
				json_text(f, column_text(&b->col[i], row));
		}
		putc(']', f);
	}
	putc(']', f);
}
