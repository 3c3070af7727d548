// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whole shuffles between hosts made of the portable files only: rows, columns, and
 * records in between, on a network that steps in units of one packet's time.
 * A host sends and takes one packet a step; a port queues; a control packet
 * costs nothing (the simulator of the source, chapter 4, in miniature).
 */
#include "harness.h"
#include "model.h"

#define HOSTS		12U
#define PACKET		1432U		/* of IPv4 at MTU 1500 */
#define UNIT		(2 * PACKET)
#define DELAY		4U		/* steps, one way */
#define RTT_BYTES	(2 * DELAY * PACKET)
#define WIRE		8192U		/* records on the wire */

struct record {
	u8	bytes[SHUFFLE_WIRE_MAX_HDR];
	u32	due;		/* step */
	u32	from;
	u32	to;
	bool	control;
};

struct host {
	struct shuffle_policy_tx	tx;
	struct shuffle_policy_rx	rx;
	struct shuffle_heap_node	tx_node[HOSTS];
	u64				tx_served[HOSTS];
	struct shuffle_heap_node	rx_node[HOSTS];
	struct shuffle_tx_sched		out[HOSTS];
	struct shuffle_rx_sched		in[HOSTS];
	u64				unsched[HOSTS];
	u32				nonce;
	u32				queue;	/* packets at its port */
};

struct net {
	struct host	host[HOSTS];
	struct record	wire[WIRE];	/* a ring */
	u32		head;
	u32		tail;
	u32		step;
	u32		n;
	u32		max_queue;
	u64		max_out;
};

struct sim_row {
	const char	*name;
	u8		kind;
	u32		n;
	u32		lo;	/* lengths are random from here */
	u32		hi;	/* to here */
	bool		incast;	/* all to host 0 */
	u32		percent;	/* of the lower bound, at most; 0: it ends */
};

static const struct sim_row sim_rows[] = {
	{ "GRPF, uniform", SHUFFLE_POLICY_GRPF, 12, 100000, 100000, false, 110 },
	{ "GRPF, short and uniform", SHUFFLE_POLICY_GRPF, 12, 24000, 24000, false, 125 },
	{ "GRPF, random", SHUFFLE_POLICY_GRPF, 12, 0, 100000, false, 125 },
	{ "GRPF, tiny", SHUFFLE_POLICY_GRPF, 12, 0, 100, false, 0 },
	{ "GRPF, a few bytes more than a packet", SHUFFLE_POLICY_GRPF, 12, 1425, 1450, false, 0 },
	{ "GRPF, two hosts", SHUFFLE_POLICY_GRPF, 2, 1000000, 1000000, false, 105 },
	{ "GRPF, incast", SHUFFLE_POLICY_GRPF, 12, 100000, 100000, true, 105 },
	{ "SRPT, random", SHUFFLE_POLICY_SRPT, 12, 0, 100000, false, 0 },
	{ "GRPT, random", SHUFFLE_POLICY_GRPT, 12, 0, 100000, false, 0 },
	{ "Hadoop, random", SHUFFLE_POLICY_HADOOP, 12, 0, 100000, false, 0 },
	{ "Hadoop, incast", SHUFFLE_POLICY_HADOOP, 12, 100000, 100000, true, 0 },
};

static void sim_desc(const struct sim_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", t->name);
}

KUNIT_ARRAY_PARAM(sim, sim_rows, sim_desc);

static const char *put_record(struct net *net, u32 from, u32 to, const struct shuffle_wire *w)
{
	struct record *r = &net->wire[net->tail % WIRE];

	if (net->tail - net->head >= WIRE)
		return "sim: too many records on the wire";
	net->tail++;
	shuffle_wire_build(r->bytes, w);
	r->due = net->step + DELAY;
	r->from = from;
	r->to = to;
	r->control = w->type != SHUFFLE_DATA || !w->payload;
	return NULL;
}

/* DATA from host i, of @payload bytes of its message to host k */
static const char *put_data(struct net *net, u32 i, u32 k, u32 payload)
{
	struct host *h = &net->host[i];
	struct shuffle_wire w = {
		.type = SHUFFLE_DATA, .src_rank = (u16)i, .dst_rank = (u16)k,
		.op_id = 1, .nonce = h->nonce, .unsched = (u32)h->unsched[k],
		.payload = (u16)payload, .data.len = h->out[k].len, .data.off = h->out[k].next,
	};

	return put_record(net, i, k, &w);
}

static u64 prepare(struct net *net, const struct sim_row *t)
{
	struct shuffle_rnd rnd = { 42 };
	u32 seed = (u32)shuffle_rnd64(&rnd);
	u64 col[HOSTS] = { 0 };
	u64 bound = 0;
	u32 i, k;

	net->n = t->n;
	net->max_out = 10 * RTT_BYTES;
	for (i = 0; i < t->n; i++) {
		struct host *h = &net->host[i];
		u64 row = 0;

		h->nonce = (u32)shuffle_rnd64(&rnd) | 1;
		h->tx.kind = t->kind;
		h->tx.seed = seed;
		h->tx.rank = i;
		h->tx.members = t->n;
		h->tx.unit = UNIT;
		h->tx.n = t->n;
		h->tx.msg = h->out;
		h->tx.heap.node = h->tx_node;
		h->tx.served = h->tx_served;
		h->rx.kind = t->kind;
		h->rx.hadoop_c = 5;
		h->rx.unit = UNIT;
		h->rx.n = t->n;
		h->rx.unannounced = t->n;
		h->rx.msg = h->in;
		h->rx.heap.node = h->rx_node;
		for (k = 0; k < t->n; k++) {
			if (!t->incast || !k)
				h->out[k].len = shuffle_rnd_in(&rnd, t->lo, t->hi);
			row += h->out[k].len;
			col[k] += h->out[k].len;
		}
		bound = row > bound ? row : bound;
	}
	for (k = 0; k < t->n; k++)
		bound = col[k] > bound ? col[k] : bound;
	return bound;
}

static const char *start(struct net *net, u32 i)
{
	struct host *h = &net->host[i];
	const char *why = NULL;
	u32 k;

	shuffle_policy_unscheduled(&h->tx, 0, net->n, RTT_BYTES + PACKET, PACKET,
				   SHUFFLE_UNSCHED_MAX);
	for (k = 0; k < net->n && !why; k++) {
		/* both ends must count the same bytes, and the wire has units */
		if (h->out[k].limit < h->out[k].len)
			h->out[k].limit -= (u32)h->out[k].limit % SHUFFLE_UNSCHED_UNIT;
		h->unsched[k] = h->out[k].limit;
		shuffle_policy_tx_update(&h->tx, k);
		if (!h->unsched[k])
			why = put_data(net, i, k, 0);
	}
	return why ? why : shuffle_model_tx(&h->tx);
}

/* one packet of the message that the schedule picks, whole if it begins below the
 * limit
 */
static const char *send_one(struct net *net, u32 i)
{
	struct host *h = &net->host[i];
	u32 k = shuffle_policy_tx_pick(&h->tx);
	const char *why;
	u64 len;

	if (k == SHUFFLE_NONE)
		return NULL;
	len = h->out[k].len - h->out[k].next;
	if (len > PACKET)
		len = PACKET;
	why = put_data(net, i, k, (u32)len);
	if (why)
		return why;
	h->out[k].next += len;
	shuffle_policy_tx_sent(&h->tx, k);
	return shuffle_model_tx(&h->tx);
}

static const char *grant_all(struct net *net, u32 k)
{
	struct host *h = &net->host[k];
	const char *why;
	u32 i;

	for (;;) {
		struct shuffle_wire w = {
			.type = SHUFFLE_GRANT, .src_rank = (u16)k, .op_id = 1,
		};

		why = shuffle_model_grant(&h->rx, net->max_out, RTT_BYTES, U64_MAX, &i);
		if (why || i == SHUFFLE_NONE)
			return why;
		w.dst_rank = (u16)i;
		w.nonce = net->host[i].nonce;
		w.grant.limit = h->in[i].granted;
		w.grant.acked = h->in[i].received;
		why = put_record(net, k, i, &w);
		if (why)
			return why;
	}
}

static const char *take(struct net *net, const struct record *r)
{
	struct host *h = &net->host[r->to];
	struct shuffle_wire w;
	u32 i;

	if (shuffle_wire_parse(r->bytes, sizeof(r->bytes), 65535, &w) < 0)
		return "sim: a record does not parse";
	i = w.src_rank;
	if (i != r->from || w.dst_rank != r->to)
		return "sim: a record at the wrong host";
	if (w.type == SHUFFLE_GRANT) {
		if (w.nonce != h->nonce)
			return "sim: wrong nonce";
		if (w.grant.limit > h->out[i].limit)
			h->out[i].limit = w.grant.limit;
		shuffle_policy_tx_update(&h->tx, i);
		return shuffle_model_tx(&h->tx);
	}
	if (!h->in[i].announced)
		shuffle_policy_rx_announced(&h->rx, i, w.data.len, w.unsched,
					    shuffle_policy_seed(h->tx.seed, i, r->to, net->n));
	if (w.payload)
		shuffle_policy_rx_arrived(&h->rx, i, w.payload, w.data.off + w.payload);
	return grant_all(net, r->to);
}

static const char *step(struct net *net)
{
	const char *why = NULL;
	u32 taken = 0;		/* bit for each host */
	u32 end = net->tail;
	u32 i, at;

	for (i = 0; i < net->n && !why; i++)
		why = send_one(net, i);
	/* what waits at a port goes back to the ring, in order */
	for (at = net->head; at != end && !why; at++) {
		struct record r = net->wire[at % WIRE];

		net->head = at + 1;
		if (r.due > net->step || (!r.control && (taken & 1U << r.to))) {
			if (r.due <= net->step) {
				net->host[r.to].queue++;
				if (net->host[r.to].queue > net->max_queue)
					net->max_queue = net->host[r.to].queue;
			}
			net->wire[net->tail++ % WIRE] = r;
			continue;
		}
		if (!r.control)
			taken |= 1U << r.to;
		why = take(net, &r);
	}
	for (i = 0; i < net->n; i++)
		net->host[i].queue = 0;
	net->step++;
	return why;
}

static u64 missing(const struct net *net)
{
	u64 sum = 0;
	u32 k;

	for (k = 0; k < net->n; k++)
		sum += net->host[k].rx.rem + net->host[k].rx.unannounced;
	return sum;
}

static void sim__shuffle_ends(struct kunit *test)
{
	struct net *net = kunit_kcalloc(test, 1, sizeof(*net), GFP_KERNEL);
	const struct sim_row *t = test->param_value;
	u64 bound, steps;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, net);
	bound = prepare(net, t);
	steps = shuffle_div64(bound, PACKET) + 2 * DELAY;
	for (i = 0; i < net->n; i++)
		SHUFFLE_ASSERT_OK(test, start(net, i));
	while (missing(net) && net->step < 4 * steps + 100) {
		SHUFFLE_ASSERT_OK(test, step(net));
		/* nobody can send, nothing is on the wire: it has stalled */
		for (i = 0; i < net->n && !net->host[i].tx.heap.n; i++)
			;
		if (i == net->n && net->head == net->tail)
			break;
	}
	KUNIT_EXPECT_EQ(test, missing(net), 0ULL);
	for (i = 0; i < net->n; i++)
		KUNIT_EXPECT_EQ(test, net->host[i].rx.outstanding, 0ULL);
	if (t->percent)
		KUNIT_EXPECT_LE(test, 100ULL * net->step, t->percent * steps);
	/* figure 6.18: the queue at a port is bounded by the overcommitment */
	if (t->kind != SHUFFLE_POLICY_HADOOP)
		KUNIT_EXPECT_LE(test, net->max_queue * (u64)PACKET,
				net->max_out + net->n * (RTT_BYTES + 2ULL * PACKET));
}

static struct kunit_case sim_cases[] = {
	KUNIT_CASE_PARAM(sim__shuffle_ends, sim_gen_params),
	{}
};

struct kunit_suite shuffle_sim_suite = {
	.name = "shuffle_sim",
	.test_cases = sim_cases,
};
