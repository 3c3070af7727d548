// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long a plan takes on links: packets queue at each link in order of arrival, and a member goes
 * on when all that a step brings is there.  Hosts take no time, nothing is lost or granted, and
 * what a multicast could carry goes as a copy to each, as the module sends it.
 */
#include <stdlib.h>

#include "collective.h"
#include "job.h"
#include "../lib/plan/plan_table.h"

#define PS_OF_BYTE	320U		/* 25 Gb/s */
#define PS_OF_LINK	1000000U	/* 1 us: a round trip is 4 us in a rack, 8 between racks */

/* A packet that arrives at a link, or at the end of its way. */
struct event {
	u64	ps;
	u64	order;		/* of those of the same time */
	u32	from;
	u32	to;
	u32	step;
	u32	bytes;
	u8	hop;
	bool	last;		/* of its message */
};

/* struct member - @plan: messages; @at: the next one; @left: of each step, still to come */
struct member {
	struct shuffle_plan	plan;
	u32			at;
	u32			step;
	u32			*left;
};

/* A run.  Links: hosts' up and down, racks' up and down. */
struct run {
	const struct shuffle_topology	*topo;
	u64				bytes;
	const struct plan_net		*net;
	u32				steps;
	u64				ps_of_trunk;	/* a byte on a rack's link: all are alike */
	struct member			*member;
	u64				*free[4];
	struct event			*heap;
	u32				events;
	u32				room;
	u64				order;
	u64				end;
};

enum { UP, DOWN, RACK_UP, RACK_DOWN };

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n + !n, size);

	if (!p)
		die("out of memory");
	return p;
}

static bool before(const struct event *a, const struct event *b)
{
	return a->ps < b->ps || (a->ps == b->ps && a->order < b->order);
}

static void push(struct run *r, struct event e)
{
	u32 i = r->events++;

	if (r->events > r->room) {
		r->room = 2 * r->events;
		r->heap = realloc(r->heap, r->room * sizeof(*r->heap));
		if (!r->heap)
			die("out of memory");
	}
	e.order = r->order++;
	for (; i && before(&e, &r->heap[(i - 1) / 2]); i = (i - 1) / 2)
		r->heap[i] = r->heap[(i - 1) / 2];
	r->heap[i] = e;
}

static struct event pop(struct run *r)
{
	struct event top = r->heap[0], e = r->heap[--r->events];
	u32 i = 0, child;

	for (; (child = 2 * i + 1) < r->events; i = child) {
		if (child + 1 < r->events && before(&r->heap[child + 1], &r->heap[child]))
			child++;
		if (!before(&r->heap[child], &e))
			break;
		r->heap[i] = r->heap[child];
	}
	r->heap[i] = e;
	return top;
}

/* Blocks are equal; what has none, a barrier's, is a byte. */
static u64 message_bytes(const struct run *r, const struct shuffle_plan *plan,
			 const struct shuffle_plan_msg *m)
{
	u64 len = 0;

	if (plan->blocks)
		len = m->blocks * ((r->bytes + plan->blocks - 1) / plan->blocks);
	return len ? len : 1;
}

static void send_message(struct run *r, u32 self, const struct shuffle_plan_msg *m, u64 ps)
{
	u64 left = message_bytes(r, &r->member[self].plan, m);

	while (left) {
		struct event e = {
			.ps = ps, .from = self, .to = m->peer, .step = m->step,
			.bytes = left < r->net->packet ? left : r->net->packet,
			.last = left <= r->net->packet,
		};

		push(r, e);
		left -= e.bytes;
	}
}

/* Begin steps, as long as nothing is missing of those before. */
static void go_on(struct run *r, u32 self, u64 ps)
{
	struct member *m = &r->member[self];

	for (; m->step < r->steps; m->step++) {
		for (; m->at < m->plan.n && m->plan.msg[m->at].step == m->step; m->at++)
			if (m->plan.msg[m->at].out)
				send_message(r, self, &m->plan.msg[m->at], ps);
		if (m->left[m->step])
			return;
	}
}

/* A link of a rate, or a token bucket: what it has saved goes at once. */
static void cross(struct run *r, struct event e, u64 *free, u64 ps_of_byte)
{
	u64 saved = r->net->burst * ps_of_byte;

	*free = (e.ps > *free ? e.ps : *free) + e.bytes * ps_of_byte;
	if (*free > e.ps + saved)
		e.ps = *free - saved;
	e.ps += PS_OF_LINK;
	e.hop++;
	push(r, e);
}

/* Where a packet is that has crossed some links. */
static void arrive(struct run *r, struct event e)
{
	u32 from = shuffle_topology_rack(r->topo, e.from);
	u32 to = shuffle_topology_rack(r->topo, e.to);
	struct member *m = &r->member[e.to];
	u8 hop = e.hop;

	if (hop && from == to)
		hop += 2;
	switch (hop) {
	case 0:
		cross(r, e, &r->free[UP][e.from], PS_OF_BYTE);
		return;
	case 1:
		cross(r, e, &r->free[RACK_UP][from], r->ps_of_trunk);
		return;
	case 2:
		cross(r, e, &r->free[RACK_DOWN][to], r->ps_of_trunk);
		return;
	case 3:
		cross(r, e, &r->free[DOWN][e.to], PS_OF_BYTE);
		return;
	}
	r->end = e.ps;
	if (e.last && !--m->left[e.step] && m->step == e.step) {
		m->step++;
		go_on(r, e.to, e.ps);
	}
}

static void member_init(struct run *r, const struct shuffle_plan *plan, u32 self)
{
	struct member *m = &r->member[self];
	u32 i;

	m->plan = *plan;
	m->plan.self = self;
	m->plan.msg = zeroed(plan->max, sizeof(*plan->msg));
	m->left = zeroed(r->steps, sizeof(*m->left));
	shuffle_plan_of(&m->plan);
	for (i = 0; i < m->plan.n; i++)
		m->left[m->plan.msg[i].step] += !m->plan.msg[i].out;
}

/**
 * plan_time() - how long a plan takes
 * @plan: plan, with room for the messages of any member
 * @steps: of all members
 * @bytes: of the data of all members together, or of a vector
 * @net: links and packets
 *
 * Return: picoseconds, until all that is sent has arrived.
 */
unsigned long long plan_time(const struct shuffle_plan *plan, unsigned int steps,
			     unsigned long long bytes, const struct plan_net *net)
{
	const struct shuffle_topology *t = plan->topo;
	struct run r = { .topo = t, .bytes = bytes, .net = net, .steps = steps };
	u32 i, smallest, largest;

	shuffle_topology_sizes(t, &smallest, &largest);
	r.ps_of_trunk = PS_OF_BYTE / (net->core * largest) + 0.5;
	r.member = zeroed(t->n, sizeof(*r.member));
	for (i = 0; i < 4; i++)
		r.free[i] = zeroed(i < RACK_UP ? t->n : t->racks, sizeof(*r.free[i]));
	for (i = 0; i < t->n; i++)
		member_init(&r, plan, i);
	for (i = 0; i < t->n; i++)
		go_on(&r, i, 0);
	while (r.events)
		arrive(&r, pop(&r));
	for (i = 0; i < t->n; i++) {
		if (r.member[i].step != steps)
			die("member %u waits for ever", i);
		free(r.member[i].plan.msg);
		free(r.member[i].left);
	}
	for (i = 0; i < 4; i++)
		free(r.free[i]);
	free(r.member);
	free(r.heap);
	return r.end;
}
