/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors that end the program, memory, and a hash table of 32-bit keys. */
#ifndef TOPO_UTIL_H
#define TOPO_UTIL_H

#include <stdio.h>

#include "portable.h"

#define NONE	U32_MAX

void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void *memory(void *old, size_t n, size_t size);
FILE *output_open(const char *path);
void output_close(FILE *f, const char *path);

/**
 * struct map - 32-bit keys, each with a 32-bit value; emptied in no time
 * @slot: open addressing; in use if @stamp is the map's
 * @slots: a power of two
 * @n: keys
 * @stamp: of this filling
 */
struct map {
	struct map_slot {
		u32	key;
		u32	value;
		u32	stamp;
	}	*slot;
	u32	slots;
	u32	n;
	u32	stamp;
};

void map_clear(struct map *m);
void map_grow(struct map *m);
void map_free(struct map *m);

static inline struct map_slot *map_slot(const struct map *m, u32 key)
{
	u32 mask = m->slots - 1, at = (key * 0x9e3779b1U) >> 7;

	for (at &= mask; m->slot[at].stamp == m->stamp && m->slot[at].key != key;
	     at = (at + 1) & mask)
		;
	return &m->slot[at];
}

/* The value, or NULL. */
static inline u32 *map_get(const struct map *m, u32 key)
{
	struct map_slot *s;

	if (!m->n)
		return NULL;
	s = map_slot(m, key);
	return s->stamp == m->stamp ? &s->value : NULL;
}

/* The value, which is @fresh if the key is new; valid until the next. */
static inline u32 *map_put(struct map *m, u32 key, u32 fresh)
{
	struct map_slot *s;

	if (m->n >= m->slots / 2)
		map_grow(m);
	s = map_slot(m, key);
	if (s->stamp != m->stamp) {
		*s = (struct map_slot){ .key = key, .value = fresh, .stamp = m->stamp };
		m->n++;
	}
	return &s->value;
}

#endif /* TOPO_UTIL_H */
