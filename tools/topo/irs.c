// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * IRS: an aggregation tree from labels alone.  Stage j holds the servers j hops from the receiver;
 * from the last stage to the first, servers that differ in one digit send to one server of the next
 * (inter-stage), and those that would be alone send to a neighbour in their stage (intra-stage).
 *
 * Source: Guo et al., section 3.2.
 */
#include <stdlib.h>

#include "shuffle.h"

/**
 * struct irs - room for one tree
 * @at: servers of the stage: their index
 * @group: servers of the next stage: index in @count
 * @server: of the stage, ascending
 * @n: how many
 * @near: of each, dimensions in which it has neighbours in its stage that may be moved to
 * @of: of each, its group; NONE: stuck, the symbol does not bring it nearer
 * @moved: of each: it sends to a neighbour in its stage
 * @absorbed: of each: another one moved to it
 * @parent: of each
 * @best: the parents of the best symbol until now
 * @key: of each group, its server of the next stage
 * @count: of each group, members that have not moved
 * @first: of each group, members to begin with
 * @wanted: of each group, its server is a sender
 * @groups: how many
 * @next: servers of the next stage
 * @kept: those of the best symbol
 * @room: for all of these
 */
struct irs {
	struct map	at;
	struct map	group;
	u32		*server;
	u32		n;
	u32		*near;
	u32		*of;
	bool		*moved;
	bool		*absorbed;
	u32		*parent;
	u32		*best;
	u32		*key;
	u32		*count;
	u32		*first;
	bool		*wanted;
	u32		groups;
	u32		*next;
	u32		*kept;
	u32		room;
};

/* The stage that one attempt is about. */
struct stage {
	const struct bcube	*c;
	const u32		*sender;	/* of the next stage */
	u32			senders;
	u32			receiver;
	u32			symbol;
	enum irs_mode		mode;
};

static void grow(struct irs *w, u32 room)
{
	if (room <= w->room)
		return;
	w->room = room;
	w->server = memory(w->server, room, sizeof(u32));
	w->near = memory(w->near, room, sizeof(u32));
	w->of = memory(w->of, room, sizeof(u32));
	w->moved = memory(w->moved, room, sizeof(bool));
	w->absorbed = memory(w->absorbed, room, sizeof(bool));
	w->parent = memory(w->parent, room, sizeof(u32));
	w->best = memory(w->best, room, sizeof(u32));
	w->key = memory(w->key, room, sizeof(u32));
	w->count = memory(w->count, room, sizeof(u32));
	w->first = memory(w->first, room, sizeof(u32));
	w->wanted = memory(w->wanted, room, sizeof(bool));
	w->next = memory(w->next, room, sizeof(u32));
	w->kept = memory(w->kept, room, sizeof(u32));
}

/**
 * irs_free() - give its memory back
 * @w: room of irs_tree(), or NULL
 */
void irs_free(struct irs *w)
{
	if (!w)
		return;
	map_free(&w->at);
	map_free(&w->group);
	free(w->server);
	free(w->near);
	free(w->of);
	free(w->moved);
	free(w->absorbed);
	free(w->parent);
	free(w->best);
	free(w->key);
	free(w->count);
	free(w->first);
	free(w->wanted);
	free(w->next);
	free(w->kept);
	free(w);
}

/* The server with the receiver's digit. */
static u32 nearer(const struct stage *s, u32 server, u32 dim)
{
	return bcube_with(s->c, server, dim, bcube_digit(s->c, s->receiver, dim));
}

static u32 group_of(struct irs *w, u32 key, bool wanted)
{
	u32 g = *map_put(&w->group, key, w->groups);

	if (g == w->groups) {
		w->key[g] = key;
		w->count[g] = 0;
		w->wanted[g] = wanted;
		w->groups++;
	}
	return g;
}

/* In which dimensions has each server a neighbour that is as far from the receiver? */
static void find_near(struct irs *w, const struct stage *s)
{
	u32 dim, i;

	memset(w->near, 0, w->n * sizeof(*w->near));
	for (dim = 0; dim < s->c->dims; dim++) {
		map_clear(&w->group);
		for (i = 0; i < w->n; i++)
			if (nearer(s, w->server[i], dim) != w->server[i])
				++*map_put(&w->group, nearer(s, w->server[i], dim), 0);
		for (i = 0; i < w->n; i++) {
			u32 to = nearer(s, w->server[i], dim);

			if (to != w->server[i] && *map_put(&w->group, to, 0) > 1)
				w->near[i] |= 1U << dim;
		}
	}
}

static bool alone(const struct irs *w, u32 i)
{
	return w->of[i] != NONE && w->first[w->of[i]] == 1 && !w->wanted[w->of[i]];
}

/* A neighbour to move to: rather one that others send to anyway; NONE: there is none. */
static u32 find_target(const struct irs *w, const struct stage *s, u32 i)
{
	u32 dim, digit, second = NONE, server = w->server[i];

	for (dim = 0; dim < s->c->dims; dim++) {
		if (dim == s->symbol || !(w->near[i] & 1U << dim))
			continue;
		for (digit = 0; digit < s->c->n; digit++) {
			u32 *at;

			if (digit == bcube_digit(s->c, server, dim) ||
			    digit == bcube_digit(s->c, s->receiver, dim))
				continue;
			at = map_get(&w->at, bcube_with(s->c, server, dim, digit));
			if (!at || w->moved[*at])
				continue;
			if (w->of[*at] != NONE && !alone(w, *at))
				return *at;
			if (second == NONE)
				second = *at;
		}
	}
	return second;
}

/* Of a server that the symbol does not bring nearer: is the next one there anyway? */
static u32 find_next(struct irs *w, const struct stage *s, u32 i, bool kept)
{
	u32 dim, to, *g;

	for (dim = 0; dim < s->c->dims; dim++) {
		to = nearer(s, w->server[i], dim);
		if (to == w->server[i])
			continue;
		g = map_get(&w->group, to);
		if (g && (!kept || w->count[*g] || w->wanted[*g]))
			return to;
	}
	return NONE;
}

static void move_one(struct irs *w, const struct stage *s, u32 i)
{
	u32 to;

	if (w->absorbed[i])
		return;
	if (w->of[i] == NONE && find_next(w, s, i, false) != NONE)
		return;
	to = find_target(w, s, i);
	if (to == NONE)
		return;
	w->parent[i] = w->server[to];
	w->moved[i] = true;
	w->absorbed[to] = true;
	if (w->of[i] != NONE)
		w->count[w->of[i]]--;
}

/* Intra-stage moves: first the stuck, then the lone ones. */
static void move(struct irs *w, const struct stage *s)
{
	u32 i;

	for (i = 0; i < w->n; i++)
		if (w->of[i] == NONE)
			move_one(w, s, i);
	for (i = 0; i < w->n; i++)
		if (alone(w, i))
			move_one(w, s, i);
}

/* Try one routing symbol; returns servers of the next stage, and what to compare in *key. */
static u32 attempt(struct irs *w, const struct stage *s, u32 *key)
{
	u32 i, dim, n = 0, stuck = 0;

	map_clear(&w->group);
	w->groups = 0;
	for (i = 0; i < s->senders; i++)
		group_of(w, s->sender[i], true);
	for (i = 0; i < w->n; i++) {
		w->moved[i] = false;
		w->absorbed[i] = false;
		w->parent[i] = nearer(s, w->server[i], s->symbol);
		w->of[i] = NONE;
		if (w->parent[i] == w->server[i]) {
			stuck++;
			continue;
		}
		w->of[i] = group_of(w, w->parent[i], false);
		w->count[w->of[i]]++;
	}
	memcpy(w->first, w->count, w->groups * sizeof(*w->first));
	*key = w->groups + stuck;
	if (s->mode != IRS_INTER)
		move(w, s);
	for (i = 0; stuck && i < w->n; i++) {
		u32 to;

		if (w->of[i] != NONE || w->moved[i])
			continue;
		to = find_next(w, s, i, true);
		for (dim = 0; to == NONE; dim++)
			if (nearer(s, w->server[i], dim) != w->server[i])
				to = nearer(s, w->server[i], dim);
		w->parent[i] = to;
		w->count[group_of(w, to, false)]++;
	}
	for (i = 0; i < w->groups; i++)
		if (w->wanted[i] || w->count[i])
			w->next[n++] = w->key[i];
	if (s->mode != IRS_PRE)
		*key = n;
	return n;
}

static int by_label(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static void swap(u32 **a, u32 **b)
{
	u32 *c = *a;

	*a = *b;
	*b = c;
}

/* Symbols that bring any server of the stage nearer. */
static u32 useful(const struct irs *w, const struct stage *s)
{
	u32 i, dim, mask = 0;

	for (i = 0; i < w->n; i++)
		for (dim = 0; dim < s->c->dims; dim++)
			if (nearer(s, w->server[i], dim) != w->server[i])
				mask |= 1U << dim;
	return mask;
}

/* From one stage to the next: the best symbol; returns servers of the next stage. */
static u32 advance(struct irs *w, struct stage *s, u32 *available, struct tree *t)
{
	u32 able = useful(w, s), best = NONE, symbol = 0, n = 0, i;

	map_clear(&w->at);
	for (i = 0; i < w->n; i++)
		map_put(&w->at, w->server[i], i);
	if (s->mode != IRS_INTER)
		find_near(w, s);
	if (able & *available)
		able &= *available;
	for (s->symbol = s->c->dims; s->symbol-- > 0;) {
		u32 key, m;

		if (!(able & 1U << s->symbol))
			continue;
		m = attempt(w, s, &key);
		if (key >= best)
			continue;
		best = key;
		symbol = s->symbol;
		n = m;
		swap(&w->parent, &w->best);
		swap(&w->next, &w->kept);
	}
	*available &= ~(1U << symbol);
	for (i = 0; i < w->n; i++)
		tree_link(t, w->server[i], w->best[i]);
	swap(&w->server, &w->kept);
	qsort(w->server, n, sizeof(*w->server), by_label);
	return n;
}

/**
 * irs_tree() - the aggregation tree of one receiver
 * @p: the planner, with a shuffle in a BCube
 * @receiver: which
 * @t: the tree, begun
 *
 * The tree has no senders yet.  Of symbols that are equal the highest is taken.
 */
void irs_tree(struct planner *p, u32 receiver, struct tree *t)
{
	const struct shuffle *s = p->s;
	const struct bcube *c = &s->topo->cube;
	struct stage stage = { .c = c, .receiver = receiver, .mode = s->irs };
	u32 available = (1U << c->dims) - 1, far, i, first[BCUBE_MAX_DIMS + 2] = { 0 }, *by;
	struct irs *w = p->irs;

	if (!w) {
		w = memory(NULL, 1, sizeof(*w));
		*w = (struct irs){ 0 };
		p->irs = w;
	}
	grow(w, 2 * s->senders);
	/* Senders by their distance, each stage in order. */
	by = memory(NULL, s->senders, sizeof(*by));
	for (i = 0; i < s->senders; i++)
		first[bcube_distance(c, s->sender[i], receiver) + 1]++;
	for (i = 1; i <= c->dims + 1; i++)
		first[i] += first[i - 1];
	for (i = 0; i < s->senders; i++)
		by[first[bcube_distance(c, s->sender[i], receiver)]++] = s->sender[i];
	/* first[j] is now where stage j + 1 begins */
	w->n = 0;
	for (far = c->dims; far >= 1; far--) {
		stage.sender = by + first[far - 1];
		stage.senders = first[far] - first[far - 1];
		if (!w->n) {
			w->n = stage.senders;
			memcpy(w->server, stage.sender, w->n * sizeof(u32));
		}
		if (!w->n)
			continue;
		if (far == 1)
			break;
		/* Senders of the next stage */
		stage.sender = by + (far > 1 ? first[far - 2] : 0);
		stage.senders = first[far - 1] - first[far - 2];
		w->n = advance(w, &stage, &available, t);
	}
	for (i = 0; i < w->n; i++)
		tree_link(t, w->server[i], receiver);
	free(by);
}
