// SPDX-License-Identifier: GPL-2.0-or-later
/* Strings and rows as JSON (RFC 8259). */
#include <inttypes.h>

#include "json.h"

/* Bytes of the UTF-8 sequence that begins here (RFC 3629), or 0. */
static size_t utf8(const unsigned char *s, size_t len)
{
	size_t n, i;

	if (*s < 0x80)
		return 1;
	n = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;
	if (*s < 0xc2 || *s > 0xf4 || n > len)
		return 0;
	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

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
		n = utf8(s + i, t.len - i);
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
