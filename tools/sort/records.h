/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records, keys and values apart, and their order. */
#ifndef SHUFFLE_SORT_RECORDS_H
#define SHUFFLE_SORT_RECORDS_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SORT_MAX_RECORD	(1U << 16)	/* bytes of a record or line */
#define SORT_MAX_KEY	4096U
/* what --memory may say: some of the longest records */
#define MEMORY_MIN	1000000U
#define SORT_MAX_THREADS	1024
#define SORT_MAX_RECORDS	UINT32_MAX	/* of a host */

/**
 * struct records - the records of a host, keys and values in separate arrays
 * @n: their number
 * @klen: bytes of a key; shorter keys of lines are filled up with zeroes
 * @vlen: bytes of a value; 0: lines, value i is from @off[i] to @off[i + 1]
 * @text: lines: the value is the whole line without its end
 * @key: @n keys
 * @value: @n values
 * @off: see @vlen
 */
struct records {
	size_t n;
	size_t klen;
	size_t vlen;
	int text;
	unsigned char *key;
	unsigned char *value;
	uint64_t *off;
};

/**
 * struct entry - a key in a list that is sorted
 * @prefix: its first 8 bytes as a number, filled up with zeroes
 * @rank: of the host that has sent it
 * @index: in that host's message
 */
struct entry {
	uint64_t prefix;
	uint32_t rank;
	uint32_t index;
};

static inline uint64_t key_prefix(const unsigned char *key, size_t klen)
{
	unsigned char first[8] = { 0 };
	uint64_t v;

	memcpy(first, key, klen < 8 ? klen : 8);
	memcpy(&v, first, 8);
	return be64toh(v);
}

static inline const unsigned char *record_value(const struct records *r, size_t i, size_t *len)
{
	*len = r->text ? r->off[i + 1] - r->off[i] : r->vlen;
	return r->value + (r->text ? r->off[i] : i * r->vlen);
}

void records_free(struct records *r);

/* local.c */
struct entry *local_sort(const unsigned char *key, size_t n, size_t klen, unsigned int threads);

#endif /* SHUFFLE_SORT_RECORDS_H */
