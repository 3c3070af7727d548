// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records in the format of gensort (sortbenchmark.org): key, sequence number, filler.  The keys are
 * of a generator of our own.  Record i is the same whoever makes it, so hosts make their parts.
 */
#include <errno.h>
#include <stdlib.h>

#include "../workload/rng.h"
#include "config.h"
#include "util.h"

const char *const key_kind_names[KEY_KINDS] = {
	[KEYS_UNIFORM] = "uniform",
	[KEYS_SKEWED] = "skewed",
	[KEYS_CLUSTERED] = "clustered",
	[KEYS_EQUAL] = "equal",
	[KEYS_SORTED] = "sorted",
	[KEYS_REVERSED] = "reversed",
};

/* 2^32 values, value v as frequent as 1 / v: Zipf's law with exponent 1. */
static uint64_t skewed(struct wl_rng *r)
{
	return (uint64_t)wl_exp(wl_rng_unit(r) * 22.18) << 24;
}

/*
 * Records that were written together have similar keys: each stretch of records prefers other ones
 * of the 64 ranges of keys, the k-th about as much as 1 / k; over all stretches they are alike.
 */
#define STRETCH		8192
#define RANGE_BITS	6

static uint64_t clustered(struct wl_rng *r, uint64_t seed, uint64_t seq)
{
	uint64_t order = wl_rng_mix(seed, seq / STRETCH, 2);
	/* 1 to 64, exp(unit * log 65) rounded down */
	uint64_t rank = wl_exp(wl_rng_unit(r) * 4.1743872698956364);
	uint64_t range = rank * (order >> 32 | 1) + order;

	return range << (64 - RANGE_BITS) | wl_rng_next(r) >> RANGE_BITS;
}

static void make_key(unsigned char *key, size_t len, const struct generate *g, uint64_t i,
		     struct wl_rng *r)
{
	static const char hex[] = "0123456789abcdef";
	uint64_t v;
	size_t at;

	switch (g->kind) {
	case KEYS_SKEWED:
		v = skewed(r);
		break;
	case KEYS_CLUSTERED:
		v = clustered(r, g->seed, g->first + i);
		break;
	case KEYS_EQUAL:
		v = 0x2a2a2a2a2a2a2a2aULL;
		break;
	case KEYS_SORTED:
		v = g->first + i;
		break;
	case KEYS_REVERSED:
		v = g->all - 1 - (g->first + i);
		break;
	default:
		v = wl_rng_next(r);
	}
	for (at = 0; at < len; at++)
		key[at] = at < 8 ? v >> (56 - 8 * at) : g->kind == KEYS_UNIFORM ?
			  wl_rng_next(r) >> 56 : 0;
	/* printable, in the same order but for what is cut off */
	for (at = 0; g->ascii && at < len; at++) {
		if (g->kind == KEYS_UNIFORM)
			key[at] = ' ' + wl_rng_below(r, 95);
		else
			key[at] = hex[at < 16 ? v >> (60 - 4 * at) & 15 : 0];
	}
}

/**
 * generate_one() - make a record
 * @record: @f->record bytes
 * @f: its format
 * @g: what is made
 * @i: which one, from 0
 */
void generate_one(unsigned char *record, const struct format *f, const struct generate *g,
		  uint64_t i)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t at, klen = f->key, last = f->record;
	uint64_t seq = g->first + i;
	struct wl_rng r;

	wl_rng_init(&r, wl_rng_mix(g->seed, seq, 1));
	make_key(record, klen, g, i, &r);
	/* 2 bytes, 32 digits, filler of 4 bytes of a digit each; as long as records are */
	for (at = klen; at < last; at++) {
		size_t k = at - klen;

		if (k < 2)
			record[at] = g->ascii ? ' ' : k ? 0x11 : 0x00;
		else if (k < 34)
			record[at] = k < 18 ? '0' : hex[seq >> 4 * (33 - k) & 15];
		else if (g->ascii && k < 36)
			record[at] = ' ';
		else if (g->ascii)
			record[at] = hex[(seq + (k - 36) / 4) & 15];
		else if (k < 38)
			record[at] = 0x88 + 0x11 * (k - 34);
		else if (last - at <= 4)
			record[at] = 0xff - 0x11 * (last - at - 1);
		else
			record[at] = hex[(seq + (k - 38) / 4) & 15];
	}
	if (g->ascii && last >= klen + 2) {
		record[last - 2] = '\r';
		record[last - 1] = '\n';
	}
}

/**
 * generate_records() - make records, keys and values apart
 * @r: set
 * @f: their format, not text
 * @g: what is made
 */
void generate_records(struct records *r, const struct format *f, const struct generate *g)
{
	unsigned char *one = memory(1, f->record);
	uint64_t i;

	memset(r, 0, sizeof(*r));
	r->n = g->n;
	r->klen = f->key;
	r->vlen = f->record - f->key;
	r->key = memory(r->n, r->klen);
	r->value = memory(r->n, r->vlen ? r->vlen : 1);
	for (i = 0; i < g->n; i++) {
		generate_one(one, f, g, i);
		memcpy(r->key + i * r->klen, one, r->klen);
		memcpy(r->value + i * r->vlen, one + r->klen, r->vlen);
	}
	free(one);
}
