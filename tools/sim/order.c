// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many shuffles at once: when each starts, how long it is, and which goes first.  "fair" and
 * "smallest" are the module's (net/shuffle/sched/op_order.c): each host decides by what is left
 * of its own row and column.  "omniscient" knows everything at once: the shuffle whose slowest
 * host has least left goes first at all hosts (smallest effective bottleneck first: Chowdhury,
 * Zhong, Stoica, "Efficient Coflow Scheduling with Varys").
 */
#include <stdlib.h>

#include "sim.h"

#define MAX_SCALE	64

/**
 * struct sim_order - shuffles and their order
 * @scale: lengths of the matrix are multiplied with it
 * @start_at: steps
 * @rank: omniscient: place of a shuffle, smaller is sooner
 * @rank_at: when it is determined again
 * @device: what the shuffles of each host have granted
 * @place: [op * n + host]: what each has counted there
 * @row: [op * n + host]: packets to be sent
 * @column: [op * n + host]: packets to come
 * @granted_at: [op * n + host]: last grant
 * @turn: of each host
 */
struct sim_order {
	double				scale[SIM_MAX_OPS];
	u32				start_at[SIM_MAX_OPS];
	u32				rank[SIM_MAX_OPS];
	u32				rank_at;
	struct shuffle_order		*device;
	struct shuffle_order_place	*place;
	u32				*row;
	u32				*column;
	u32				*granted_at;
	u32				*turn;
};

/**
 * sim_order_init() - draw lengths and starts
 * @s: simulation with hosts
 * @m: the matrix of a shuffle of mean length
 */
void sim_order_init(struct sim *s, const struct sim_matrix *m)
{
	struct rnd r = rnd_stream(s->cfg->seed, 5, 0);
	size_t ends = (size_t)s->cfg->ops * s->n, i;
	struct sim_order *o = sim_alloc(s, 1, sizeof(*o));
	double sigma = s->cfg->sigma, sum = 0, at = 0, all = 0;
	u32 op;

	s->order = o;
	for (op = 0; op < s->cfg->ops; op++) {
		o->scale[op] = sigma > 0 ? exp(sigma * rnd_normal(&r) - sigma * sigma / 2) : 1;
		if (o->scale[op] > MAX_SCALE)
			o->scale[op] = MAX_SCALE;
		sum += o->scale[op];
	}
	for (i = 0; i < (size_t)s->n * s->n; i++)
		if (s->cfg->local || i / s->n != i % s->n)
			all += m->len[i];
	for (op = 0; op < s->cfg->ops; op++) {
		o->start_at[op] = s->cfg->load > 0 ? (u32)at : op * s->cfg->stagger;
		at -= log(1 - rnd_unit(&r)) * all / s->n * sum / s->cfg->ops / s->cfg->load;
	}
	if (s->cfg->order == SIM_ORDER_NONE)
		return;
	o->device = sim_alloc(s, s->n, sizeof(*o->device));
	o->place = sim_alloc(s, ends, sizeof(*o->place));
	o->row = sim_alloc(s, ends, sizeof(*o->row));
	o->column = sim_alloc(s, ends, sizeof(*o->column));
	o->granted_at = sim_alloc(s, ends, sizeof(*o->granted_at));
	o->turn = sim_alloc(s, s->n, sizeof(*o->turn));
}

/**
 * sim_order_free() - the other end of sim_order_init()
 * @s: simulation
 */
void sim_order_free(struct sim *s)
{
	free(s->order->device);
	free(s->order->place);
	free(s->order->row);
	free(s->order->column);
	free(s->order->granted_at);
	free(s->order->turn);
	free(s->order);
}

/**
 * sim_order_length() - a message of a shuffle
 * @s: simulation
 * @op: shuffle
 * @len: its length in the matrix, packets
 *
 * Return: its length, packets.
 */
u32 sim_order_length(const struct sim *s, u32 op, u32 len)
{
	double scaled = ceil(len * s->order->scale[op]);

	return scaled < SIM_MAX_PACKETS - 1 ? (u32)scaled : SIM_MAX_PACKETS - 1;
}

/**
 * sim_order_message() - there is a message
 * @s: simulation
 * @op: shuffle
 * @from: host
 * @to: host
 * @len: packets
 */
void sim_order_message(struct sim *s, u32 op, u32 from, u32 to, u32 len)
{
	if (s->cfg->order == SIM_ORDER_NONE)
		return;
	s->order->row[op * s->n + from] += len;
	s->order->column[op * s->n + to] += len;
}

/**
 * sim_order_start() - when a shuffle starts
 * @s: simulation
 * @op: shuffle
 *
 * Return: step.
 */
u32 sim_order_start(const struct sim *s, u32 op)
{
	return s->order->start_at[op];
}

/**
 * sim_order_got() - a packet has arrived
 * @s: simulation
 * @op: shuffle
 * @host: receiver
 */
void sim_order_got(struct sim *s, u32 op, u32 host)
{
	if (s->cfg->order != SIM_ORDER_NONE)
		s->order->column[op * s->n + host]--;
}

/* Who has how much left at its slowest host, row or column. */
static void determine_ranks(struct sim *s)
{
	struct sim_order *o = s->order;
	u32 most[SIM_MAX_OPS];
	u32 op, other, i;

	for (op = 0; op < s->cfg->ops; op++) {
		const u32 *row = &o->row[op * s->n], *column = &o->column[op * s->n];

		most[op] = 0;
		for (i = 0; i < s->n; i++) {
			most[op] = row[i] > most[op] ? row[i] : most[op];
			most[op] = column[i] > most[op] ? column[i] : most[op];
		}
	}
	for (op = 0; op < s->cfg->ops; op++) {
		o->rank[op] = 0;
		for (other = 0; other < s->cfg->ops; other++)
			o->rank[op] += most[other] < most[op] ||
				(most[other] == most[op] && other < op);
	}
	o->rank_at = s->now + s->rtt;
}

/**
 * sim_order_step() - a step begins
 * @s: simulation
 */
void sim_order_step(struct sim *s)
{
	if (s->cfg->order == SIM_ORDER_OMNISCIENT && s->now >= s->order->rank_at)
		determine_ranks(s);
}

/* of the classes of sched/op_order.c, a packet as 1 KiB */
static u32 class_of(const struct sim *s, u32 op, u32 left)
{
	if (s->cfg->order == SIM_ORDER_OMNISCIENT)
		return s->order->rank[op];
	if (s->cfg->order == SIM_ORDER_SMALLEST)
		return shuffle_order_class((u64)left << 10);
	return SHUFFLE_ORDER_FIRST;
}

static bool send(struct sim *s, u32 op, u32 host)
{
	if (!s->algo->send(s, op, host))
		return false;
	s->order->row[op * s->n + host]--;
	s->host[host].left--;
	return true;
}

/* by turns */
static bool send_oldest(struct sim *s, struct sim_host *h, u32 host)
{
	u32 k, op;

	for (k = 0; k < h->ops; k++) {
		op = (h->next_op + k) % h->ops;
		if (!send(s, op, host))
			continue;
		h->next_op = op + 1;
		return true;
	}
	return false;
}

/**
 * sim_order_send() - one data packet of the shuffle whose turn it is
 * @s: simulation
 * @h: the host
 * @host: its index
 *
 * Return: false if nothing may be sent.
 */
bool sim_order_send(struct sim *s, struct sim_host *h, u32 host)
{
	bool tried[SIM_MAX_OPS] = { false };
	u32 k, op, best, class, least;

	if (s->cfg->order == SIM_ORDER_FAIR ||
	    (s->cfg->order == SIM_ORDER_SMALLEST && shuffle_order_oldest(s->order->turn[host]++)))
		return send_oldest(s, h, host);
	for (k = 0; k < h->ops; k++) {
		best = 0;
		least = U32_MAX;
		for (op = 0; op < h->ops; op++) {
			class = class_of(s, op, s->order->row[op * s->n + host]);
			if (!tried[op] && class < least) {
				least = class;
				best = op;
			}
		}
		if (send(s, best, host))
			return true;
		tried[best] = true;
	}
	return false;
}

/* Operations that share a receiver's link. */
static u32 even(const struct shuffle_order *o, const struct shuffle_order_place *p)
{
	u32 i, n = !p->counted;

	for (i = 0; i < SHUFFLE_ORDER_CLASSES; i++)
		n += shuffle_counter_read(&o->ops[i]);
	return n;
}

/**
 * sim_order_limit() - most that a receiver of a shuffle may have outstanding
 * @s: simulation
 * @op: shuffle
 * @host: the receiver
 * @most: of all shuffles together, in the policy's bytes
 *
 * Return: the same for this one.
 */
u64 sim_order_limit(struct sim *s, u32 op, u32 host, u64 most)
{
	struct sim_order *o = s->order;
	u32 at = op * s->n + host, class = class_of(s, op, o->column[at]);
	u64 before = 0, unit = 1ULL << s->shift, share = 0;
	u32 i;

	sim_order_count(s, op, host);
	if (s->cfg->order == SIM_ORDER_OMNISCIENT) {
		for (i = 0; i < s->cfg->ops; i++)
			if (o->rank[i] < o->rank[op])
				before += sim_end(s, i, host)->rx.outstanding;
		return most > before + unit ? most - before : unit;
	}
	if (s->now > o->granted_at[at] &&
	    s->now - o->granted_at[at] > SHUFFLE_ORDER_PATIENCE * s->rtt)
		share = most / even(&o->device[host], &o->place[at]);
	/* the units of the classes are too coarse for a byte a packet */
	most = shuffle_order_limit(&o->device[host], &o->place[at], (u8)class,
				   most >> s->shift << 10);
	most = most >> 10 << s->shift;
	most = most > share ? most : share;
	return most > unit ? most : unit;
}

/**
 * sim_order_count() - a receiver has granted, or got, something
 * @s: simulation
 * @op: shuffle
 * @host: the receiver
 */
void sim_order_count(struct sim *s, u32 op, u32 host)
{
	u64 out = sim_end(s, op, host)->rx.outstanding >> s->shift;
	u32 at = op * s->n + host;

	if (s->cfg->order == SIM_ORDER_OMNISCIENT)
		return;
	shuffle_order_count(&s->order->device[host], &s->order->place[at], out,
			    (u8)class_of(s, op, s->order->column[at]), out << 10);
}

/**
 * sim_order_granted() - a receiver has granted something
 * @s: simulation
 * @op: shuffle
 * @host: the receiver
 */
void sim_order_granted(struct sim *s, u32 op, u32 host)
{
	s->order->granted_at[op * s->n + host] = s->now;
}
