// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input drives a row and a column through every call of the policy, and the
 * heap inside them; the model checks after each.
 */
#include "../sched/policy.h"
#include "fuzz.h"
#include "model.h"

#define MSGS	12U

struct column {
	struct shuffle_policy_rx	rx;
	struct shuffle_heap_node	node[MSGS];
	struct shuffle_rx_sched		msg[MSGS];
};

struct row {
	struct shuffle_policy_tx	tx;
	struct shuffle_heap_node	node[MSGS];
	u64				served[MSGS];
	struct shuffle_tx_sched		msg[MSGS];
};

static void arrive(struct column *c, struct fuzz_in *in, u32 i)
{
	struct shuffle_rx_sched *m = &c->msg[i];
	u64 bytes = fuzz_u64(in, 50);
	u64 end;

	if (!m->announced || m->received == m->len)
		return;
	/* a part of what is outstanding, or a sender that rounds up */
	if (bytes > m->len - m->received)
		bytes = m->len - m->received;
	if (!bytes)
		return;
	end = m->received + bytes;
	if (fuzz_u8(in) & 1) {
		end += fuzz_u64(in, 50);
		if (end > m->len)
			end = m->len;
	}
	shuffle_policy_rx_arrived(&c->rx, i, bytes, end);
}

static void column_op(struct column *c, struct fuzz_in *in)
{
	u32 op = fuzz_u8(in);
	u32 i = fuzz_u8(in) % c->rx.n;
	u32 granted;

	switch (op % 5) {
	case 0:
		if (!c->msg[i].announced) {
			u64 len = fuzz_u64(in, 50);

			shuffle_policy_rx_announced(&c->rx, i, len, fuzz_u64(in, 50), fuzz_u16(in));
		}
		break;
	case 1:
		arrive(c, in, i);
		break;
	case 2:
		if (c->msg[i].announced)
			shuffle_policy_rx_stalled(&c->rx, i);
		break;
	default:
		fuzz_check(shuffle_model_grant(&c->rx, fuzz_u64(in, 50), fuzz_u64(in, 32),
					       op & 8 ? U64_MAX : fuzz_u64(in, 50), &granted));
		break;
	}
	fuzz_check(shuffle_model_rx(&c->rx));
}

static void unscheduled(struct row *r, struct fuzz_in *in)
{
	u32 packet = fuzz_u16(in) + 1;
	u64 budget = fuzz_u16(in);
	u64 used, sum = 0;
	u32 i;

	/* before anything is sent, the heap is empty */
	for (i = 0; i < r->tx.n; i++)
		r->msg[i].len = fuzz_u64(in, 50);
	used = shuffle_policy_unscheduled(&r->tx, 0, r->tx.n, budget, packet, U64_MAX);
	for (i = 0; i < r->tx.n; i++) {
		const struct shuffle_tx_sched *m = &r->msg[i];

		if (m->limit > m->len || (m->limit < m->len && m->limit % packet))
			fuzz_check("unasked: not whole packets");
		sum += m->limit;
	}
	if (sum != used || used >= budget + packet)
		fuzz_check("unasked: not the budget");
	if (r->tx.heap.n)
		fuzz_check("unasked: the heap is not empty");
	for (i = 0; i < r->tx.n; i++)
		shuffle_policy_tx_update(&r->tx, i);
	fuzz_check(shuffle_model_tx(&r->tx));
}

static u64 prio(const struct shuffle_policy_tx *tx, u32 i)
{
	u32 seed = shuffle_policy_seed(tx->seed, tx->rank, i, tx->members);

	if (tx->kind == SHUFFLE_POLICY_HADOOP)
		return U64_MAX - tx->served[i];
	return shuffle_policy_prio(tx->kind, seed, tx->msg[i].len, tx->msg[i].next, tx->unit);
}

static void row_op(struct row *r, struct fuzz_in *in)
{
	u32 i = fuzz_u8(in) % (r->tx.n + 1);
	struct shuffle_tx_sched *m;
	u64 best = 0;
	u32 k;

	if (i < r->tx.n) {
		/* a grant */
		m = &r->msg[i];
		m->limit += fuzz_u64(in, 50);
		if (m->limit > m->len)
			m->limit = m->len;
		shuffle_policy_tx_update(&r->tx, i);
		fuzz_check(shuffle_model_tx(&r->tx));
		return;
	}
	i = shuffle_policy_tx_pick(&r->tx);
	if (i == SHUFFLE_NONE) {
		for (i = 0; i < r->tx.n; i++)
			if (r->msg[i].next < r->msg[i].limit)
				fuzz_check("pick: none, though one may send");
		return;
	}
	m = &r->msg[i];
	for (k = 0; k < r->tx.n; k++) {
		const struct shuffle_tx_sched *o = &r->msg[k];
		u64 p;

		if (o->next >= o->limit)
			continue;
		p = prio(&r->tx, k);
		best = p > best ? p : best;
	}
	if (prio(&r->tx, i) != best)
		fuzz_check("pick: another one comes first");
	m->next += shuffle_policy_amount(m->limit - m->next, r->tx.unit);
	shuffle_policy_tx_sent(&r->tx, i);
	fuzz_check(shuffle_model_tx(&r->tx));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_in in = { data, size };
	struct column c;
	struct row r;
	u32 step;

	memset(&c, 0, sizeof(c));
	memset(&r, 0, sizeof(r));
	c.rx.kind = fuzz_u8(&in) % SHUFFLE_POLICY_KINDS;
	c.rx.n = fuzz_u8(&in) % MSGS + 1;
	c.rx.unannounced = c.rx.n;
	c.rx.unit = fuzz_u16(&in) + 1;
	c.rx.burst = fuzz_u8(&in) % 12;
	c.rx.hadoop_c = fuzz_u8(&in) % 8;
	c.rx.msg = c.msg;
	c.rx.heap.node = c.node;
	r.tx.kind = c.rx.kind;
	r.tx.n = c.rx.n;
	r.tx.unit = c.rx.unit;
	r.tx.seed = fuzz_u16(&in);
	r.tx.members = c.rx.n;
	r.tx.rank = fuzz_u8(&in) % r.tx.members;
	r.tx.msg = r.msg;
	r.tx.heap.node = r.node;
	r.tx.served = r.served;
	unscheduled(&r, &in);
	for (step = 0; in.left && step < 500; step++) {
		if (fuzz_u8(&in) & 1)
			column_op(&c, &in);
		else
			row_op(&r, &in);
	}
	return 0;
}
