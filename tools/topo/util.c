// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors that end the program, memory, and a hash table of 32-bit keys. */
#include <stdarg.h>
#include <stdlib.h>

#include "util.h"

/**
 * die() - say what is wrong, and end with status 2
 * @fmt: as for printf()
 */
void die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "shuffle-plan: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(2);
}

/**
 * memory() - realloc() that does not fail
 * @old: NULL, or what it returned
 * @n: elements
 * @size: bytes of one
 *
 * Return: the memory; without any the program ends.
 */
void *memory(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n ? n : 1, size);

	if (!p)
		die("out of memory: %zu elements of %zu bytes", n, size);
	return p;
}

/**
 * output_open() - open a file to write
 * @path: its name, or - for standard output
 *
 * Return: the stream; the program ends if there is none.
 */
FILE *output_open(const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "w") : stdout;

	if (!f)
		die("%s cannot be written: %s", path, strerror(errno));
	return f;
}

/**
 * output_close() - close it, and see that everything was written
 * @f: the stream
 * @path: its name
 */
void output_close(FILE *f, const char *path)
{
	bool bad = ferror(f);

	if ((f == stdout ? fflush(f) : fclose(f)) || bad)
		die("%s cannot be written", path);
}

/**
 * map_clear() - forget all keys
 * @m: the map, zeroed before its first use
 */
void map_clear(struct map *m)
{
	m->n = 0;
	if (!m->slots) {
		m->slots = 64;
		m->slot = memory(NULL, m->slots, sizeof(*m->slot));
		memset(m->slot, 0, m->slots * sizeof(*m->slot));
	}
	if (!++m->stamp) {
		memset(m->slot, 0, m->slots * sizeof(*m->slot));
		m->stamp = 1;
	}
}

/**
 * map_grow() - twice as many slots
 * @m: the map
 */
void map_grow(struct map *m)
{
	struct map old = *m;
	u32 i;

	if (!m->slots) {
		map_clear(m);
		return;
	}
	if (m->slots >= 1U << 30)
		die("out of memory: more than %u keys", m->n);
	m->slots *= 2;
	m->slot = memory(NULL, m->slots, sizeof(*m->slot));
	memset(m->slot, 0, m->slots * sizeof(*m->slot));
	for (i = 0; i < old.slots; i++)
		if (old.slot[i].stamp == m->stamp)
			*map_slot(m, old.slot[i].key) = old.slot[i];
	free(old.slot);
}

/**
 * map_free() - give its memory back
 * @m: the map, empty afterwards
 */
void map_free(struct map *m)
{
	free(m->slot);
	*m = (struct map){ 0 };
}
