// SPDX-License-Identifier: GPL-2.0-or-later
/* Pieces of an input that their builders have not released. */
#include <stdlib.h>
#include <string.h>

#include "pieces.h"

/**
 * pieces_init() - room for pieces
 * @p: to be filled in
 * @n: how many at most
 * @builders: of the stream
 * @piece: bytes of one
 */
void pieces_init(struct pieces *p, u32 n, u32 builders, u32 piece)
{
	u8 *data = memory(n, piece);
	u32 i;

	memset(p, 0, sizeof(*p));
	p->n = n;
	p->all = memory(n, sizeof(*p->all));
	for (i = n; i--;) {
		p->all[i].data = data + (size_t)i * piece;
		p->all[i].hash = p->free;
		p->free = &p->all[i];
	}
	for (p->buckets = 64; p->buckets < 2 * n;)
		p->buckets *= 2;
	p->bucket = memory(p->buckets, sizeof(*p->bucket));
	p->of = memory(builders, sizeof(*p->of));
}

/**
 * pieces_free() - give the memory back
 * @p: the pieces
 */
void pieces_free(struct pieces *p)
{
	free(p->all[0].data);
	free(p->all);
	free(p->bucket);
	free(p->of);
}

static struct piece **bucket_of(const struct pieces *p, u64 slice)
{
	return &p->bucket[slice & (p->buckets - 1)];
}

static void append(struct pieces *p, struct piece *q, u32 builder)
{
	struct piece_list *l = &p->of[builder];

	q->builder = builder;
	q->next = NULL;
	q->prev = l->last;
	if (l->last)
		l->last->next = q;
	else
		l->first = q;
	l->last = q;
}

static void unlink_piece(struct pieces *p, struct piece *q)
{
	struct piece_list *l = &p->of[q->builder];

	if (q->prev)
		q->prev->next = q->next;
	else
		l->first = q->next;
	if (q->next)
		q->next->prev = q->prev;
	else
		l->last = q->prev;
}

/**
 * pieces_add() - a piece is to be sent
 * @p: the pieces
 * @slice: of which time-slice; there is none of it
 * @builder: to whom
 *
 * Return: the piece without data; NULL: there is no room.
 */
struct piece *pieces_add(struct pieces *p, u64 slice, u32 builder)
{
	struct piece *q = p->free;
	u8 *data;

	if (!q)
		return NULL;
	p->free = q->hash;
	p->used++;
	data = q->data;
	memset(q, 0, sizeof(*q));
	q->data = data;
	q->slice = slice;
	q->hash = *bucket_of(p, slice);
	*bucket_of(p, slice) = q;
	append(p, q, builder);
	return q;
}

/**
 * pieces_find() - the piece of a time-slice
 * @p: the pieces
 * @slice: which
 *
 * Return: the piece, or NULL.
 */
struct piece *pieces_find(const struct pieces *p, u64 slice)
{
	struct piece *q = *bucket_of(p, slice);

	while (q && q->slice != slice)
		q = q->hash;
	return q;
}

/**
 * pieces_move() - another builder gets it
 * @p: the pieces
 * @q: one of them
 * @builder: who
 */
void pieces_move(struct pieces *p, struct piece *q, u32 builder)
{
	unlink_piece(p, q);
	append(p, q, builder);
}

/**
 * pieces_drop() - it is released
 * @p: the pieces
 * @q: one of them
 */
void pieces_drop(struct pieces *p, struct piece *q)
{
	struct piece **at = bucket_of(p, q->slice);

	while (*at != q)
		at = &(*at)->hash;
	*at = q->hash;
	unlink_piece(p, q);
	q->hash = p->free;
	p->free = q;
	p->used--;
}
