// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cheapest tree for delta 0, where every server sends one flow: a Steiner tree of the servers
 * and their one-hop neighbours, by the algorithm of Dreyfus and Wagner (1971).
 */
#include <stdlib.h>

#include "shuffle.h"

#define FAR	60000U		/* more than any tree */

/**
 * struct exact - the table
 * @servers: how many
 * @cost: [set of senders * servers + server], of the cheapest tree of the set and the server
 * @first: where in @to and @hop a server's neighbours begin
 * @to: neighbours
 * @hop: links to them
 */
struct exact {
	u32	servers;
	u16	*cost;
	u32	*first;
	u32	*to;
	u16	*hop;
};

static void find_neighbours(struct exact *e, struct topo *t)
{
	size_t n = 0, room = 0;
	u32 i, dim, digit, j;

	e->first = memory(NULL, e->servers + 1, sizeof(*e->first));
	for (i = 0; i < e->servers; i++) {
		e->first[i] = (u32)n;
		if (n + e->servers + t->cube.dims * t->cube.n > room) {
			room = 2 * room + e->servers + t->cube.dims * t->cube.n;
			e->to = memory(e->to, room, sizeof(*e->to));
			e->hop = memory(e->hop, room, sizeof(*e->hop));
		}
		if (t->graph) {
			graph_search(t->graph, i, true);
			for (j = 1; j < t->graph->found; j++) {
				if (t->graph->queue[j] >= e->servers)
					continue;
				e->to[n] = t->graph->queue[j];
				e->hop[n++] = (u16)t->graph->far[t->graph->queue[j]];
			}
			continue;
		}
		for (dim = 0; dim < t->cube.dims; dim++) {
			for (digit = 0; digit < t->cube.n; digit++) {
				u32 label = bcube_label(&t->cube, i);

				if (digit == bcube_digit(&t->cube, label, dim))
					continue;
				label = bcube_with(&t->cube, label, dim, digit);
				e->to[n] = bcube_index(&t->cube, label);
				e->hop[n++] = 2;
			}
		}
	}
	e->first[e->servers] = (u32)n;
}

/* Cheapest ways from servers that have a cost to all others: Bellman's, by a queue. */
static void spread(const struct exact *e, u16 *cost, u32 *queue, bool *waits)
{
	u32 head = 0, n = 0, i, at;

	for (i = 0; i < e->servers; i++) {
		waits[i] = cost[i] < FAR;
		if (waits[i])
			queue[n++] = i;
	}
	while (n) {
		at = queue[head];
		head = (head + 1) % e->servers;
		n--;
		waits[at] = false;
		for (i = e->first[at]; i < e->first[at + 1]; i++) {
			u32 to = e->to[i];

			if (cost[at] + e->hop[i] >= cost[to])
				continue;
			cost[to] = cost[at] + e->hop[i];
			if (waits[to])
				continue;
			waits[to] = true;
			queue[(head + n++) % e->servers] = to;
		}
	}
}

/* Two trees that meet at a server. */
static void join(const struct exact *e, u32 set)
{
	u16 *cost = e->cost + (size_t)set * e->servers;
	u32 part, i;

	for (part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set) {
		const u16 *a = e->cost + (size_t)part * e->servers;
		const u16 *b = e->cost + (size_t)(set ^ part) * e->servers;

		for (i = 0; i < e->servers; i++)
			if (a[i] + b[i] < cost[i])
				cost[i] = a[i] + b[i];
	}
}

/* Links of the tree that the table says is cheapest. */
static void trace(const struct exact *e, const struct topo *topo, u32 set, u32 at, struct tree *t)
{
	const u16 *cost = e->cost + (size_t)set * e->servers;
	u32 part, i;

	for (;;) {
		for (part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set) {
			const u16 *a = e->cost + (size_t)part * e->servers;
			const u16 *b = e->cost + (size_t)(set ^ part) * e->servers;

			if (a[at] + b[at] == cost[at]) {
				trace(e, topo, part, at, t);
				trace(e, topo, set ^ part, at, t);
				return;
			}
		}
		for (i = e->first[at]; i < e->first[at + 1]; i++)
			if (cost[e->to[i]] + e->hop[i] == cost[at])
				break;
		if (i == e->first[at + 1])
			return;
		tree_link(t, topo_server(topo, e->to[i]), topo_server(topo, at));
		at = e->to[i];
	}
}

/**
 * exact_tree() - the cheapest tree for delta 0
 * @s: the shuffle, within the limits that method_refused() knows
 * @receiver: root of the tree
 * @t: the tree, begun
 */
void exact_tree(const struct shuffle *s, u32 receiver, struct tree *t)
{
	struct exact e = { .servers = topo_servers(s->topo) };
	u32 member[EXACT_MAX_MEMBERS], members = 0, set, i, *queue;
	bool *waits;

	for (i = 0; i < s->senders; i++)
		if (s->sender[i] != receiver)
			member[members++] = topo_index(s->topo, s->sender[i]);
	if (!members)
		return;
	find_neighbours(&e, s->topo);
	e.cost = memory(NULL, (size_t)e.servers << members, sizeof(*e.cost));
	queue = memory(NULL, e.servers, sizeof(*queue));
	waits = memory(NULL, e.servers, sizeof(*waits));
	for (i = 0; i < e.servers << members; i++)
		e.cost[i] = FAR;
	for (set = 1; set < 1U << members; set++) {
		for (i = 0; i < members; i++)
			if (set == 1U << i)
				e.cost[(size_t)set * e.servers + member[i]] = 0;
		join(&e, set);
		spread(&e, e.cost + (size_t)set * e.servers, queue, waits);
	}
	trace(&e, s->topo, (1U << members) - 1, topo_index(s->topo, receiver), t);
	free(e.first);
	free(e.to);
	free(e.hop);
	free(e.cost);
	free(queue);
	free(waits);
}
