// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-wordcount: words and their counts as text and as JSON. */
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/utf8.h"
#include "wordcount.h"

static int by_name(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	int rc = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);

	return rc ? rc : (x->len > y->len) - (x->len < y->len);
}

static int by_count(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return by_name(a, b);
}

static int is_utf8(const char *s, size_t len)
{
	size_t i, n;

	for (i = 0; i < len; i += n) {
		n = utf8_bytes((const unsigned char *)s + i, len - i);
		if (!n)
			return 0;
	}
	return 1;
}

/* Words of other members may have any bytes, if these members run another program. */
static int is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

static void print_json_string(const char *s, size_t len)
{
	int utf8 = is_utf8(s, len);
	size_t i;

	putchar('"');
	for (i = 0; i < len; i++) {
		if (is_control(s[i]) || s[i] == '"' || s[i] == '\\' || (!utf8 && s[i] & 0x80))
			printf("\\u%04x", (unsigned char)s[i]);
		else
			putchar(s[i]);
	}
	putchar('"');
}

/* Those of Latin 1, too, which some terminals obey: alone, or as U+0080 to U+009F. */
static int is_upper_control(const char *s, size_t i, int utf8)
{
	unsigned char c = s[i];

	return c >= 0x80 && c < 0xa0 && (!utf8 || (i && (unsigned char)s[i - 1] == 0xc2));
}

static void print_text(const char *s, size_t len)
{
	int utf8 = is_utf8(s, len), tty = isatty(STDOUT_FILENO);
	size_t i;

	for (i = 0; i < len; i++)
		putchar(is_control(s[i]) || (tty && is_upper_control(s, i, utf8)) ? '?' : s[i]);
	putchar('\n');
}

void print_words(const struct count *wc, struct word *word, size_t n, const char *more)
{
	size_t i, shown = wc->top && wc->top < n ? wc->top : n;
	uint64_t all = 0;

	for (i = 0; i < n; i++)
		all += word[i].count;
	if (n)
		qsort(word, n, sizeof(*word), wc->top ? by_count : by_name);
	if (wc->json)
		printf("{\"members\": %u, \"words\": %" PRIu64 ", \"distinct\": %zu, %s"
		       "\"counts\": [", wc->group.count, all, n, more);
	for (i = 0; i < shown; i++) {
		if (!wc->json) {
			printf("%7" PRIu64 " ", word[i].count);
			print_text(word[i].name, word[i].len);
			continue;
		}
		printf("%s\n{\"word\": ", i ? "," : "");
		print_json_string(word[i].name, word[i].len);
		printf(", \"count\": %" PRIu64 "}", word[i].count);
	}
	if (wc->json)
		printf("]}\n");
	if (fflush(stdout) || ferror(stdout))
		err(1, "cannot write the result");
}
