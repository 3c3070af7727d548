// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers with units, as people type them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "parse.h"
#include "shufflectl.h"

struct suffix {
	const char	*name;
	double		factor;
};

static const struct suffix bytes[] = {
	{ "", 1 }, { "b", 1 },
	{ "k", 1024 }, { "kb", 1024 }, { "kib", 1024 },
	{ "m", 1048576 }, { "mb", 1048576 }, { "mib", 1048576 },
	{ "g", 1073741824 }, { "gb", 1073741824 }, { "gib", 1073741824 },
	{ "t", 1099511627776 }, { "tb", 1099511627776 }, { "tib", 1099511627776 },
	{ NULL, 0 }
};

static const struct suffix bits[] = {
	{ "", 1 }, { "bit", 1 }, { "bit/s", 1 },
	{ "k", 1e3 }, { "kbit", 1e3 }, { "kbit/s", 1e3 },
	{ "m", 1e6 }, { "mbit", 1e6 }, { "mbit/s", 1e6 },
	{ "g", 1e9 }, { "gbit", 1e9 }, { "gbit/s", 1e9 },
	{ "t", 1e12 }, { "tbit", 1e12 }, { "tbit/s", 1e12 },
	{ NULL, 0 }
};

static const struct suffix times[] = {
	{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 },
	{ "d", 86400e9 },
	{ NULL, 0 }
};

/**
 * parse_u64() - a whole number, decimal or 0x...
 * @word: the word
 * @value: result
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int parse_u64(const char *word, uint64_t *value)
{
	char *end;

	/* strtoull() takes a sign, and a number of 0 digits */
	if (*word < '0' || *word > '9')
		return -EINVAL;
	errno = 0;
	*value = strtoull(word, &end, word[0] == '0' && (word[1] | 32) == 'x' ? 16 : 10);
	if (errno == ERANGE)
		return -ERANGE;
	return *end ? -EINVAL : 0;
}

/**
 * parse_unit() - a number with a unit, 64k or 2.5gbit
 * @word: the word
 * @unit: what it is to be; without a suffix a number of that
 * @value: result
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int parse_unit(const char *word, enum out_unit unit, uint64_t *value)
{
	const struct suffix *s;
	double v, divide = 1;
	char *end;

	switch (unit) {
	case OUT_BYTES:
		s = bytes;
		break;
	case OUT_BPS:
		s = bits;
		break;
	case OUT_MBPS:
		s = bits;
		divide = 1e6;
		break;
	case OUT_NS:
		s = times;
		break;
	case OUT_US:
		s = times;
		divide = 1e3;
		break;
	case OUT_MS:
		s = times;
		divide = 1e6;
		break;
	case OUT_S:
		s = times;
		divide = 1e9;
		break;
	default:
		return parse_u64(word, value);
	}
	/* exact where a double is not */
	if (!parse_u64(word, value))
		return 0;
	if ((*word < '0' || *word > '9') && *word != '.')
		return -EINVAL;
	v = strtod(word, &end);
	if (end == word)
		return -EINVAL;
	for (; s->name && strcasecmp(s->name, end); s++)
		;
	if (!s->name)
		return -EINVAL;
	v = v * s->factor / divide;
	if (!(v < 18446744073709549568.0))
		return -ERANGE;
	*value = llround(v);
	return 0;
}

/**
 * parse_example() - what such a number looks like, for messages
 * @unit: of it
 *
 * Return: words.
 */
const char *parse_example(enum out_unit unit)
{
	switch (unit) {
	case OUT_BYTES:
		return "a number of bytes such as 65536 or 64k";
	case OUT_BPS:
	case OUT_MBPS:
		return "a rate such as 25gbit or 100mbit";
	case OUT_NS:
	case OUT_US:
	case OUT_MS:
	case OUT_S:
		return "a time such as 4us or 10ms";
	default:
		return "a whole number";
	}
}
