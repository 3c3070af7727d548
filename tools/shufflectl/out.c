// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text and JSON from the same calls.
 *
 * A record is an object of named values.  JSON: an array of objects, or one
 * object a line.  Text: a title, then "name value" pairs that flow over lines
 * of the terminal's width, indented below the title; objects inside a record
 * are indented once more.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "out.h"
#include "shufflectl.h"

#define MAX_DEPTH	16
#define TEXT_WIDTH	96

static struct {
	char		close[MAX_DEPTH];	/* JSON: what ends this level */
	bool		any[MAX_DEPTH];		/* JSON: a comma is due */
	unsigned int	depth;
	unsigned int	objects;		/* text: open ones */
	unsigned int	column;			/* text: 0 at the start of a line */
	bool		lines;
	bool		list;			/* text: in a list of plain values */
	bool		list_any;
} o;

/**
 * out_key() - a name as JSON ('_') or text ('-') has it
 * @name: with either
 * @sep: which one
 * @buf: result
 * @size: of @buf
 *
 * Return: @buf.
 */
char *out_key(const char *name, char sep, char *buf, unsigned int size)
{
	unsigned int i;

	for (i = 0; i + 1 < size && name[i]; i++)
		buf[i] = name[i] == '-' || name[i] == '_' ? sep : name[i];
	buf[i] = '\0';
	return buf;
}

static void json_break(void)
{
	unsigned int i;

	if (!ctl.pretty || o.lines)
		return;
	putchar('\n');
	for (i = 0; i < o.depth; i++)
		fputs("    ", stdout);
}

static void json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char c = *s;

		switch (c) {
		case '"':
		case '\\':
			printf("\\%c", c);
			break;
		case '\n':
			fputs("\\n", stdout);
			break;
		case '\t':
			fputs("\\t", stdout);
			break;
		default:
			if (c < 0x20)
				printf("\\u%04x", c);
			else
				putchar(c);
		}
	}
	putchar('"');
}

static void json_next(const char *key)
{
	char buf[64];

	if (o.depth) {
		if (o.any[o.depth - 1])
			putchar(',');
		o.any[o.depth - 1] = true;
		json_break();
	}
	if (key) {
		json_string(out_key(key, '_', buf, sizeof(buf)));
		fputs(ctl.pretty && !o.lines ? ": " : ":", stdout);
	}
}

static void json_push(const char *key, char open, char close)
{
	json_next(key);
	putchar(open);
	if (o.depth < MAX_DEPTH - 1) {
		o.close[o.depth] = close;
		o.any[o.depth] = false;
		o.depth++;
	}
}

static void json_pop(void)
{
	bool any;

	if (!o.depth)
		return;
	o.depth--;
	any = o.any[o.depth];
	if (any)
		json_break();
	putchar(o.close[o.depth]);
}

static void text_newline(void)
{
	if (o.column)
		putchar('\n');
	o.column = 0;
}

/* Room for a pair of that many columns: on this line or the next. */
static void text_room(unsigned int len)
{
	unsigned int indent = 4 * o.objects;

	if (o.column && o.column + 2 + len > TEXT_WIDTH)
		text_newline();
	if (!o.column) {
		printf("%*s", (int)indent, "");
		o.column = indent;
	} else if (o.column > indent) {
		fputs("  ", stdout);
		o.column += 2;
	}
}

static void text_pair(const char *key, const char *value)
{
	unsigned int len = strlen(value);
	char name[64] = "";

	if (o.list) {
		if (o.list_any)
			putchar(',');
		o.list_any = true;
		fputs(value, stdout);
		o.column += len + 1;
		return;
	}
	if (key) {
		out_key(key, '-', name, sizeof(name));
		len += strlen(name) + 1;
	}
	text_room(len);
	o.column += len;
	printf("%s%s%s", name, key ? " " : "", value);
}

/**
 * out_begin() - start the output of a command
 * @lines: JSON is one object a line, as for output that does not end
 */
void out_begin(bool lines)
{
	memset(&o, 0, sizeof(o));
	o.lines = lines;
	if (ctl.json && !lines)
		json_push(NULL, '[', ']');
}

/** out_end() - end it */
void out_end(void)
{
	if (ctl.json) {
		if (!o.lines) {
			json_pop();
			putchar('\n');
		}
	} else {
		text_newline();
	}
	fflush(stdout);
}

/**
 * out_open() - start an object
 * @key: its name inside another object, NULL for a record or in a list
 */
void out_open(const char *key)
{
	char buf[64];

	if (ctl.json) {
		json_push(key, '{', '}');
		return;
	}
	text_newline();
	if (key) {
		printf("%*s%s", (int)(4 * o.objects), "", out_key(key, '-', buf, sizeof(buf)));
		/* a name may be shorter than the indentation of what follows */
		o.column = 4 * (o.objects + 1) + 1;
	}
	o.objects++;
}

/** out_close() - end an object */
void out_close(void)
{
	if (ctl.json) {
		json_pop();
		if (!o.depth) {
			putchar('\n');
			fflush(stdout);
		}
		return;
	}
	o.objects--;
	text_newline();
	if (!o.objects)
		fflush(stdout);
}

/**
 * out_list() - start a list
 * @key: its name
 */
void out_list(const char *key)
{
	if (ctl.json) {
		json_push(key, '[', ']');
		return;
	}
	text_pair(key, "");
	o.list = true;
	o.list_any = false;
}

/** out_list_end() - end a list */
void out_list_end(void)
{
	if (ctl.json) {
		json_pop();
		return;
	}
	if (!o.list_any)
		putchar('-');
	o.list = false;
}

/**
 * out_title() - what the record is about; text shows it at the margin
 * @key: name in JSON
 * @fmt: text, with a %s
 * @value: its value
 */
void out_title(const char *key, const char *fmt, const char *value)
{
	if (ctl.json) {
		out_str(key, value);
		return;
	}
	text_newline();
	if (o.objects > 1)
		printf("%*s", (int)(4 * (o.objects - 1)), "");
	/* a title may be shorter than the indentation of what follows */
	o.column = 4 * o.objects + 1 + printf(fmt, value);
}

/**
 * out_title_u64() - likewise for a number
 * @key: name in JSON
 * @fmt: text, with a %s
 * @value: its value
 */
void out_title_u64(const char *key, const char *fmt, uint64_t value)
{
	char buf[24];

	if (ctl.json) {
		out_u64(key, value, OUT_PLAIN);
		return;
	}
	snprintf(buf, sizeof(buf), "%" PRIu64, value);
	out_title(key, fmt, buf);
}

/**
 * out_str() - a string
 * @key: its name
 * @value: the string
 */
void out_str(const char *key, const char *value)
{
	if (ctl.json) {
		json_next(o.close[o.depth ? o.depth - 1 : 0] == ']' ? NULL : key);
		json_string(value);
		return;
	}
	text_pair(key, value);
}

static const char *human_bytes(double v, char *buf, unsigned int size)
{
	static const char * const unit[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	unsigned int i = 0;

	/* short ones as they are: 1500 is an MTU, 1.5KiB is not */
	if (v < 10240) {
		snprintf(buf, size, "%.0fB", v);
		return buf;
	}
	while (v >= 1024 && i < ARRAY_SIZE(unit) - 1) {
		v /= 1024;
		i++;
	}
	snprintf(buf, size, v < 100 && i && v != (int)v ? "%.1f%s" : "%.0f%s", v, unit[i]);
	return buf;
}

static const char *human_1000(double v, const char * const *unit, unsigned int n,
			      char *buf, unsigned int size)
{
	unsigned int i = 0;

	while (v >= 1000 && i < n - 1) {
		v /= 1000;
		i++;
	}
	snprintf(buf, size, "%.4g%s", v, unit[i]);
	return buf;
}

static const char *human_time(uint64_t ns, char *buf, unsigned int size)
{
	static const char * const unit[] = { "ns", "us", "ms", "s" };
	uint64_t s = ns / 1000000000;

	if (s >= 86400)
		snprintf(buf, size, "%" PRIu64 "d%" PRIu64 "h", s / 86400, s / 3600 % 24);
	else if (s >= 3600)
		snprintf(buf, size, "%" PRIu64 "h%" PRIu64 "m", s / 3600, s / 60 % 60);
	else if (s >= 60)
		snprintf(buf, size, "%" PRIu64 "m%" PRIu64 "s", s / 60, s % 60);
	else
		human_1000(ns, unit, ARRAY_SIZE(unit), buf, size);
	return buf;
}

/**
 * out_human() - a number as text shows it
 * @value: the number
 * @unit: of it
 * @buf: result
 * @size: of @buf
 *
 * Return: @buf.
 */
const char *out_human(uint64_t value, enum out_unit unit, char *buf, unsigned int size)
{
	static const char * const bits[] = { "bit/s", "Kbit/s", "Mbit/s", "Gbit/s", "Tbit/s" };
	static const char * const rate[] = { "/s", "K/s", "M/s", "G/s" };

	switch (unit) {
	case OUT_BYTES:
		return human_bytes(value, buf, size);
	case OUT_BYTES_PER_S:
		human_bytes(value, buf, size - 2);
		return strcat(buf, "/s");
	case OUT_MBPS:
		return human_1000(value * 1e6, bits, ARRAY_SIZE(bits), buf, size);
	case OUT_BPS:
		return human_1000(value, bits, ARRAY_SIZE(bits), buf, size);
	case OUT_PER_S:
		return human_1000(value, rate, ARRAY_SIZE(rate), buf, size);
	case OUT_NS:
		return human_time(value, buf, size);
	case OUT_US:
		return human_time(value * 1000, buf, size);
	case OUT_MS:
		return human_time(value * 1000000, buf, size);
	case OUT_S:
		return human_time(value * 1000000000, buf, size);
	case OUT_MILLI:
		snprintf(buf, size, "%" PRIu64 ".%03u", value / 1000, (unsigned int)(value % 1000));
		return buf;
	case OUT_HEX:
		snprintf(buf, size, "0x%" PRIx64, value);
		return buf;
	default:
		snprintf(buf, size, "%" PRIu64, value);
		return buf;
	}
}

/**
 * out_u64() - a number
 * @key: its name
 * @value: the number
 * @unit: what text makes of it
 */
void out_u64(const char *key, uint64_t value, enum out_unit unit)
{
	char buf[32];

	if (ctl.json) {
		json_next(o.close[o.depth ? o.depth - 1 : 0] == ']' ? NULL : key);
		printf("%" PRIu64, value);
		return;
	}
	text_pair(key, out_human(value, unit, buf, sizeof(buf)));
}

/**
 * out_s64() - a number that may be negative
 * @key: its name
 * @value: the number
 */
void out_s64(const char *key, int64_t value)
{
	char buf[32];

	if (ctl.json) {
		json_next(key);
		printf("%" PRId64, value);
		return;
	}
	snprintf(buf, sizeof(buf), "%" PRId64, value);
	text_pair(key, buf);
}

/**
 * out_bool() - yes or no
 * @key: its name
 * @value: which
 */
void out_bool(const char *key, bool value)
{
	if (ctl.json) {
		json_next(key);
		fputs(value ? "true" : "false", stdout);
		return;
	}
	text_pair(key, value ? "yes" : "no");
}

/**
 * out_null() - a value that there is none of
 * @key: its name
 * @text: what text shows
 */
void out_null(const char *key, const char *text)
{
	if (ctl.json) {
		json_next(key);
		fputs("null", stdout);
		return;
	}
	text_pair(key, text);
}

/**
 * out_line() - a line that only text has
 * @fmt: as printf()
 */
void out_line(const char *fmt, ...)
{
	va_list ap;

	if (ctl.json)
		return;
	text_newline();
	printf("%*s", (int)(4 * o.objects), "");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}
