// SPDX-License-Identifier: GPL-2.0-or-later
/* What is to come: a binary heap, and queues of what comes after a constant time. */
#include <stdlib.h>

#include "sim.h"

static bool before(const struct sim_event *a, const struct sim_event *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

/**
 * sim_at() - let something happen
 * @s: the run
 * @e: what and when; its order is given here
 *
 * Return: the order, by which it can be recognised.
 */
u64 sim_at(struct sim *s, const struct sim_event *e)
{
	struct sim_heap *h = &s->heap;
	struct sim_event new = *e;
	u32 i = h->n++;

	if (h->n > h->cap) {
		h->cap = h->cap ? 2 * h->cap : 4096;
		h->v = memory_more(h->v, h->cap, sizeof(*h->v));
	}
	new.order = ++h->order;
	for (; i && before(&new, &h->v[(i - 1) / 2]); i = (i - 1) / 2)
		h->v[i] = h->v[(i - 1) / 2];
	h->v[i] = new;
	return new.order;
}

/**
 * sim_pop() - what happens next
 * @s: the run; there is something
 *
 * Return: the event, which is in the heap no more.
 */
struct sim_event sim_pop(struct sim *s)
{
	struct sim_heap *h = &s->heap;
	struct sim_event first = h->v[0], last = h->v[--h->n];
	u32 i = 0, j;

	for (j = 1; j < h->n; i = j, j = 2 * j + 1) {
		if (j + 1 < h->n && before(&h->v[j + 1], &h->v[j]))
			j++;
		if (!before(&h->v[j], &last))
			break;
		h->v[i] = h->v[j];
	}
	h->v[i] = last;
	return first;
}

/**
 * sim_fifo_push() - something comes after everything that is in the queue
 * @f: the queue
 * @e: what and when
 */
void sim_fifo_push(struct sim_fifo *f, const struct sim_event *e)
{
	if (f->tail - f->head == f->cap) {
		u64 cap = f->cap ? 2 * f->cap : 1024, i;
		struct sim_event *v = memory(cap, sizeof(*v));

		for (i = f->head; i != f->tail; i++)
			v[i & (cap - 1)] = f->v[i & (f->cap - 1)];
		free(f->v);
		f->v = v;
		f->cap = cap;
	}
	f->v[f->tail++ & (f->cap - 1)] = *e;
}
