// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorted keys of many hosts become one list while they arrive, see merge.h. */
#include <stdlib.h>

#include "merge.h"

/**
 * merge_init() - begin
 * @m: set
 * @hosts: ranks are below
 * @klen: bytes of a key
 *
 * Return: 0, or -1 with ENOMEM.
 */
int merge_init(struct merge *m, unsigned int hosts, size_t klen)
{
	memset(m, 0, sizeof(*m));
	m->klen = klen;
	m->keys = calloc(hosts, sizeof(*m->keys));
	return m->keys ? 0 : -1;
}

/**
 * merge_free() - give the memory back
 * @m: what merge_init() has set
 */
void merge_free(struct merge *m)
{
	while (m->runs)
		free(m->run[--m->runs].e);
	free(m->keys);
	m->keys = NULL;
}

/* Equal keys: in order of ranks, then as they were sent. */
static int precedes(const struct merge *m, const struct entry *a, const struct entry *b)
{
	int d;

	if (a->prefix != b->prefix)
		return a->prefix < b->prefix;
	if (m->klen > 8) {
		d = memcmp(m->keys[a->rank] + a->index * m->klen + 8,
			   m->keys[b->rank] + b->index * m->klen + 8, m->klen - 8);
		if (d)
			return d < 0;
	}
	return a->rank != b->rank ? a->rank < b->rank : a->index < b->index;
}

/* The last two runs become one. */
static int merge_last(struct merge *m)
{
	struct merge_run *a = &m->run[m->runs - 2], *b = a + 1;
	const struct entry *x = a->e, *y = b->e;
	size_t nx = a->n, ny = b->n;
	struct entry *to, *at;

	to = malloc((nx + ny + 1) * sizeof(*to));
	if (!to)
		return -1;
	for (at = to; nx && ny; at++) {
		if (precedes(m, x, y)) {
			*at = *x++;
			nx--;
		} else {
			*at = *y++;
			ny--;
		}
	}
	memcpy(at, x, nx * sizeof(*at));
	memcpy(at + nx, y, ny * sizeof(*at));
	free(a->e);
	free(b->e);
	a->e = to;
	a->n += b->n;
	m->runs--;
	return 0;
}

/**
 * merge_add() - the keys of a host are here
 * @m: what they are merged with
 * @rank: of the host, once
 * @keys: in order; they stay until merge_free()
 * @n: their number
 *
 * Return: 0, or -1 with ENOMEM.
 */
int merge_add(struct merge *m, unsigned int rank, const unsigned char *keys, size_t n)
{
	struct merge_run *run = &m->run[m->runs];
	size_t i;

	if (!n)
		return 0;
	run->e = malloc(n * sizeof(*run->e));
	if (!run->e)
		return -1;
	m->keys[rank] = keys;
	for (i = 0; i < n; i++)
		run->e[i] = (struct entry){ .prefix = key_prefix(keys + i * m->klen, m->klen),
					    .rank = rank, .index = i };
	run->n = n;
	m->runs++;
	while (m->runs > 1 && m->run[m->runs - 2].n <= 2 * m->run[m->runs - 1].n)
		if (merge_last(m))
			return -1;
	return 0;
}

/**
 * merge_finish() - all keys are here
 * @m: what has been merged
 * @all: set: the entries of all keys; valid until merge_free()
 *
 * Return: 0, or -1 with ENOMEM.
 */
int merge_finish(struct merge *m, struct merge_run *all)
{
	while (m->runs > 1)
		if (merge_last(m))
			return -1;
	*all = m->runs ? m->run[0] : (struct merge_run){ 0 };
	return 0;
}
