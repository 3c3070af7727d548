// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Links and switches (section 4.3): hosts - rack switches - core switches.  A
 * packet crosses a hop in a fixed time; a switch puts it behind those that wait
 * for the same output port.  Control packets cost no bandwidth; with priority
 * they wait for nobody.
 */
#include <stdlib.h>

#include "sim.h"

static void grow(void **p, u32 *cap, size_t size)
{
	u32 more = *cap ? *cap * 2 : 16;

	*p = realloc(*p, more * size);
	if (!*p) {
		fprintf(stderr, "shuffle-sim: out of memory\n");
		exit(1);
	}
	*cap = more;
}

/**
 * sim_ring_push() - append a packet
 * @r: queue
 * @p: packet
 */
void sim_ring_push(struct sim_ring *r, struct sim_pkt p)
{
	if (r->tail - r->head == r->cap) {
		u32 old = r->cap;
		u32 i;

		grow((void **)&r->p, &r->cap, sizeof(*r->p));
		/* positions wrap at the new size from now on */
		for (i = r->head; i != r->tail; i++)
			if ((i & (r->cap - 1)) != (i & (old - 1)))
				r->p[i & (r->cap - 1)] = r->p[i & (old - 1)];
	}
	r->p[r->tail++ & (r->cap - 1)] = p;
}

static void put(struct sim_vec *v, const struct sim_pkt *p)
{
	if (v->n == v->cap)
		grow((void **)&v->p, &v->cap, sizeof(*v->p));
	v->p[v->n++] = *p;
}

static struct sim_vec *slot(const struct sim *s, struct sim_vec *ring, u32 steps)
{
	return &ring[(s->now + steps) & (s->slots - 1)];
}

static struct sim_vec *rack_slot(const struct sim *s, u32 steps, enum sim_phase phase)
{
	return &s->to_tor[((s->now + steps) & (s->slots - 1)) * SIM_PHASES + phase];
}

/* which core switch a packet goes through */
static u32 spine(struct sim *s, const struct sim_pkt *p)
{
	u32 h;

	if (s->cfg->spines == 1)
		return 0;
	if (s->cfg->spray)
		return rnd_below(&s->rnd, s->cfg->spines);
	/* a flow is a pair of hosts and an operation, as a 5-tuple tells them apart */
	h = (p->src * 0x9e3779b1U) ^ (p->dst * 0x85ebca6bU) ^ (sim_op(p) * 0xc2b2ae35U) ^
	    (u32)s->cfg->seed;
	h ^= h >> 16;
	h *= 0x7feb352dU;
	h ^= h >> 15;
	h *= 0x846ca68bU;
	h ^= h >> 16;
	return (u32)(((u64)h * s->cfg->spines) >> 32);
}

/* a packet waits for a port; false: it was dropped */
static bool enqueue(struct sim *s, struct sim_port *port, u32 *sw, const struct sim_pkt *p)
{
	if (sim_type(p) == SIM_DATA) {
		if ((s->cfg->buffer && port->data >= s->cfg->buffer) ||
		    (s->cfg->switch_buffer && sw[port->sw] >= s->cfg->switch_buffer)) {
			s->res->dropped++;
			return false;
		}
		port->data++;
		sw[port->sw]++;
	}
	sim_ring_push(&port->q, *p);
	return true;
}

/* Everything that the port's rate allows in this step.  Control packets are free,
 * but do not overtake data here.
 */
static void forward(struct sim_port *port, u32 *sw, struct sim_vec *out)
{
	port->credit += port->rate;
	while (!sim_ring_empty(&port->q)) {
		const struct sim_pkt *p = &port->q.p[port->q.head & (port->q.cap - 1)];

		if (sim_type(p) == SIM_DATA) {
			if (port->credit < SIM_ONE)
				return;
			port->credit -= SIM_ONE;
			port->data--;
			sw[port->sw]--;
		}
		put(out, p);
		port->q.head++;
	}
	/* what an idle link could have sent is lost */
	port->credit &= SIM_ONE - 1;
}

static void to_host_port(struct sim *s, const struct sim_pkt *p)
{
	if (sim_type(p) != SIM_DATA && s->cfg->prio != SIM_PRIO_NONE)
		put(slot(s, s->to_host, s->cfg->hop), p);
	else
		enqueue(s, &s->down[p->dst], s->tor_data, p);
}

static void emit(struct sim *s, const struct sim_pkt *p)
{
	bool same = s->host[p->src].rack == s->host[p->dst].rack;

	/* one that waits nowhere needs no stops on its way */
	if (sim_type(p) != SIM_DATA && same && s->cfg->prio != SIM_PRIO_NONE)
		put(slot(s, s->to_host, 2 * s->cfg->hop), p);
	else if (sim_type(p) != SIM_DATA && s->cfg->prio == SIM_PRIO_CORE)
		put(slot(s, s->to_host, 4 * s->cfg->hop), p);
	else
		put(rack_slot(s, s->cfg->hop, s->phase), p);
}

/**
 * sim_data() - a host sends a data packet
 * @s: simulation
 * @op: shuffle
 * @from: the host
 * @to: receiver
 * @seq: number of the packet in its message
 */
void sim_data(struct sim *s, u32 op, u32 from, u32 to, u32 seq)
{
	struct sim_pkt p = { (u16)from, (u16)to, sim_info(SIM_DATA, op, seq) };
	struct sim_host *h = &s->host[from];

	emit(s, &p);
	s->res->sent++;
	s->sent_now++;
	h->last_sent = s->now;
	h->cpu -= (int)(s->cfg->cost_packet * SIM_ONE);
	if (!seq)
		h->cpu -= (int)(s->cfg->cost_message * SIM_ONE);
}

/**
 * sim_control() - a host sends a control packet
 * @s: simulation
 * @type: its type
 * @op: shuffle
 * @from: the host
 * @to: receiver
 * @value: number of a packet
 */
void sim_control(struct sim *s, enum sim_packet type, u32 op, u32 from, u32 to, u32 value)
{
	struct sim_pkt p = { (u16)from, (u16)to, sim_info(type, op, value) };

	emit(s, &p);
	s->res->control++;
}

static void step_racks_in(struct sim *s, struct sim_vec *in)
{
	u32 i;

	for (i = 0; i < in->n; i++) {
		const struct sim_pkt *p = &in->p[i];
		u32 rack = s->host[p->src].rack;
		u32 k;

		if (rack == s->host[p->dst].rack) {
			to_host_port(s, p);
			continue;
		}
		k = spine(s, p);
		if (enqueue(s, &s->up[rack * s->cfg->spines + k], s->tor_data, p) &&
		    sim_type(p) == SIM_DATA)
			s->tor_up[rack]++;
	}
	in->n = 0;
}

static void step_core(struct sim *s)
{
	u32 ports = s->cfg->racks * s->cfg->spines;
	u32 spines = s->cfg->spines;
	struct sim_vec *v;
	u32 i, k;

	for (i = 0; i < ports; i++) {
		struct sim_port *port = &s->up[i];
		u32 before = port->data;

		/* the link tells the core switch which one it is */
		v = &s->to_core[((s->now + s->cfg->hop) & (s->slots - 1)) * spines + i % spines];
		forward(port, s->tor_data, v);
		s->tor_up[port->sw] -= before - port->data;
	}
	for (k = 0; k < spines; k++) {
		v = &s->to_core[(s->now & (s->slots - 1)) * spines + k];
		for (i = 0; i < v->n; i++) {
			u32 rack = s->host[v->p[i].dst].rack;

			enqueue(s, &s->core[k * s->cfg->racks + rack], s->core_data, &v->p[i]);
		}
		v->n = 0;
	}
	v = slot(s, s->from_core, s->cfg->hop);
	for (i = 0; i < ports; i++)
		forward(&s->core[i], s->core_data, v);
	v = slot(s, s->from_core, 0);
	for (i = 0; i < v->n; i++)
		to_host_port(s, &v->p[i]);
	v->n = 0;
}

static void measure(struct sim *s, u32 longest)
{
	struct sim_result *r = s->res;
	u32 core = 0, tor = 0, up = 0;
	u32 i;

	if (longest > r->port_max)
		r->port_max = longest;
	s->sum_port += longest;
	for (i = 0; i < s->cfg->racks; i++) {
		tor += s->tor_data[i];
		up += s->tor_up[i];
		if (s->tor_data[i] > r->tor_max)
			r->tor_max = s->tor_data[i];
	}
	s->sum_tor += tor;
	s->sum_up += up;
	if (s->cfg->racks == 1)
		return;
	for (i = 0; i < s->cfg->spines; i++) {
		core += s->core_data[i];
		if (s->core_data[i] > r->spine_max)
			r->spine_max = s->core_data[i];
	}
	s->sum_core += core;
	if (core > r->core_max)
		r->core_max = core;
}

/**
 * sim_net_step() - all switches, for one step
 * @s: simulation
 */
void sim_net_step(struct sim *s)
{
	struct sim_vec *out = slot(s, s->to_host, s->cfg->hop);
	u32 longest = 0;
	u32 i;

	for (i = 0; i < SIM_PHASES; i++)
		step_racks_in(s, rack_slot(s, 0, i));
	if (s->cfg->racks > 1)
		step_core(s);
	for (i = 0; i < s->n; i++) {
		struct sim_port *port = &s->down[i];

		if (sim_ring_empty(&port->q))
			continue;
		if (s->varying)
			port->rate = s->host[i].rate;
		forward(port, s->tor_data, out);
		if (port->data > longest)
			longest = port->data;
	}
	measure(s, longest);
}

/**
 * sim_net_init() - build the network
 * @s: simulation, whose hosts know their racks
 */
void sim_net_init(struct sim *s)
{
	const struct sim_config *cfg = s->cfg;
	u32 ports = cfg->racks * cfg->spines;
	u32 rate, i;

	/* packets of two windows and the longest way */
	for (s->slots = 1; s->slots <= 6 * cfg->hop; s->slots *= 2)
		;
	s->down = sim_alloc(s, s->n, sizeof(*s->down));
	s->up = sim_alloc(s, ports, sizeof(*s->up));
	s->core = sim_alloc(s, ports, sizeof(*s->core));
	s->tor_data = sim_alloc(s, cfg->racks, sizeof(*s->tor_data));
	s->tor_up = sim_alloc(s, cfg->racks, sizeof(*s->tor_up));
	s->core_data = sim_alloc(s, cfg->spines, sizeof(*s->core_data));
	s->to_tor = sim_alloc(s, s->slots * SIM_PHASES, sizeof(*s->to_tor));
	s->to_core = sim_alloc(s, s->slots * cfg->spines, sizeof(*s->to_core));
	s->from_core = sim_alloc(s, s->slots, sizeof(*s->from_core));
	s->to_host = sim_alloc(s, s->slots, sizeof(*s->to_host));
	for (i = 0; i < s->n; i++) {
		s->down[i].rate = s->host[i].rate;
		s->down[i].sw = s->host[i].rack;
	}
	rate = (u32)(cfg->core * s->rack_size / cfg->spines * SIM_ONE + 0.5);
	for (i = 0; i < ports; i++) {
		s->up[i].rate = rate;
		s->up[i].sw = i / cfg->spines;
		s->core[i].rate = rate;
		s->core[i].sw = i / cfg->racks;
	}
}

static void free_vecs(struct sim *s, struct sim_vec *v, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		s->memory += v[i].cap * sizeof(*v[i].p);
		free(v[i].p);
	}
	free(v);
}

static void free_ports(struct sim *s, struct sim_port *port, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		s->memory += port[i].q.cap * sizeof(*port[i].q.p);
		free(port[i].q.p);
	}
	free(port);
}

/**
 * sim_net_free() - take the network down, counting what it had grown to
 * @s: simulation
 */
void sim_net_free(struct sim *s)
{
	u32 ports = s->cfg->racks * s->cfg->spines;

	free_ports(s, s->down, s->n);
	free_ports(s, s->up, ports);
	free_ports(s, s->core, ports);
	free_vecs(s, s->to_tor, s->slots * SIM_PHASES);
	free_vecs(s, s->to_core, s->slots * s->cfg->spines);
	free_vecs(s, s->from_core, s->slots);
	free_vecs(s, s->to_host, s->slots);
	free(s->tor_data);
	free(s->tor_up);
	free(s->core_data);
}
