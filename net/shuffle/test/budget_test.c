// SPDX-License-Identifier: GPL-2.0-only
/*
 * One receiver, many senders, a network that delays at will: nothing is lost
 * from the books, no limit is passed, and it ends.
 */
#include "harness.h"
#include "model.h"

#define SENDERS	24U
#define UNIT	3000U		/* bytes of a grant */
#define MOST	(UNIT + UNIT / 2 - 1)	/* of the last one */
#define PACKET	1000U		/* payload of a packet */
#define FLYING	4096U		/* packets on their way, at most */

struct packet {
	u32	from;
	u32	len;
	u64	off;
};

struct sender {
	u64	len;
	u64	unsched;
	u64	limit;
	u64	sent;
	bool	known;		/* to the receiver */
};

struct column {
	struct shuffle_policy_rx	rx;
	struct shuffle_heap_node	node[SENDERS];
	struct shuffle_rx_sched		msg[SENDERS];
	struct sender			sender[SENDERS];
	struct packet			flying[FLYING];
	u32				n_flying;
	u64				claimed;	/* unasked and not arrived */
	u64				debt;	/* above the limit as stalled ones came back */
	struct shuffle_rnd		rnd;
};

struct budget_row {
	const char	*name;
	u8		kind;
	u32		n;
	u32		max_len;	/* lengths are random up to here */
	u64		max_out;
	u64		rtt;
	u32		unsched;	/* of each, random up to here */
	bool		whole;		/* senders round a grant up to a packet */
	bool		late;		/* senders start one after the other */
	bool		tight;		/* little memory at the receiver */
	bool		stalls;		/* senders seem not to deliver in time */
};

static const struct budget_row budget_rows[] = {
	{ "GRPF", SHUFFLE_POLICY_GRPF, 24, 60000, 30000, 6000, 5000 },
	{ "GRPF, one sender", SHUFFLE_POLICY_GRPF, 1, 200000, 30000, 6000, 5000 },
	{ "GRPF, no unscheduled", SHUFFLE_POLICY_GRPF, 24, 60000, 30000, 6000, 0 },
	{ "GRPF, all unscheduled", SHUFFLE_POLICY_GRPF, 24, 20000, 30000, 6000, 20000 },
	{ "GRPF, tiny messages", SHUFFLE_POLICY_GRPF, 24, 3, 30000, 6000, 2 },
	{ "GRPF, a limit below one unit", SHUFFLE_POLICY_GRPF, 24, 30000, 100, 100, 3000 },
	{ "GRPF, no limit", SHUFFLE_POLICY_GRPF, 24, 60000, U64_MAX, 6000, 3000 },
	{ "GRPF, whole packets", SHUFFLE_POLICY_GRPF, 24, 60000, 30000, 6000, 5000, true },
	{ "GRPF, late starters", SHUFFLE_POLICY_GRPF, 24, 60000, 30000, 6000, 5000, true, true },
	{ "GRPF, little memory", SHUFFLE_POLICY_GRPF, 24, 60000, 30000, 6000, 5000, false,
	  false, true },
	{ "GRPF, stalls", SHUFFLE_POLICY_GRPF, 24, 60000, 30000, 6000, 5000, .stalls = true },
	{ "GRPF, stalls and late starters", SHUFFLE_POLICY_GRPF, 24, 60000, 30000, 6000, 5000,
	  .late = true, .stalls = true },
	{ "GRPF, stalls, a limit below one unit", SHUFFLE_POLICY_GRPF, 24, 30000, 100, 100, 3000,
	  .stalls = true },
	{ "GRPF, stalls, whole packets", SHUFFLE_POLICY_GRPF, 24, 60000, 30000, 6000, 5000,
	  .whole = true, .stalls = true },
	{ "SRPT", SHUFFLE_POLICY_SRPT, 24, 60000, 30000, 6000, 5000 },
	{ "SRPT, late starters", SHUFFLE_POLICY_SRPT, 24, 60000, 30000, 6000, 5000, true, true },
	{ "GRPT", SHUFFLE_POLICY_GRPT, 24, 60000, 30000, 6000, 5000 },
	{ "GRPT, late starters", SHUFFLE_POLICY_GRPT, 24, 60000, 30000, 6000, 5000, true, true },
	{ "Hadoop", SHUFFLE_POLICY_HADOOP, 24, 60000, 0, 6000, 5000 },
	{ "Hadoop, late starters", SHUFFLE_POLICY_HADOOP, 24, 60000, 0, 6000, 5000, true, true },
	{ "Hadoop, stalls", SHUFFLE_POLICY_HADOOP, 24, 60000, 0, 6000, 5000, .stalls = true },
	{ "Hadoop, little memory", SHUFFLE_POLICY_HADOOP, 24, 60000, 0, 6000, 5000, false,
	  false, true },
};

static void budget_desc(const struct budget_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", t->name);
}

KUNIT_ARRAY_PARAM(budget, budget_rows, budget_desc);

static void prepare(struct column *c, const struct budget_row *t, u64 seed)
{
	u32 i;

	memset(c, 0, sizeof(*c));
	c->rnd.x = seed;
	c->rx.kind = t->kind;
	c->rx.hadoop_c = 3;
	c->rx.unit = UNIT;
	c->rx.n = t->n;
	c->rx.unannounced = t->n;
	c->rx.msg = c->msg;
	c->rx.heap.node = c->node;
	for (i = 0; i < t->n; i++) {
		struct sender *s = &c->sender[i];

		/* one in eight is empty */
		if (shuffle_rnd_below(&c->rnd, 8))
			s->len = shuffle_rnd_in(&c->rnd, 1, t->max_len);
		s->unsched = shuffle_rnd_below(&c->rnd, t->unsched + 1);
		if (s->unsched > s->len)
			s->unsched = s->len;
		s->limit = s->unsched;
	}
}

/* all that sender i may send leaves; it makes itself known at least */
static void transmit(struct column *c, u32 i, bool whole)
{
	struct sender *s = &c->sender[i];

	if (!s->sent && !s->known && !s->limit)
		c->flying[c->n_flying++] = (struct packet){ .from = i };
	while (s->sent < s->limit && c->n_flying < FLYING) {
		u64 left = (whole ? s->len : s->limit) - s->sent;
		u32 len = left < PACKET ? (u32)left : PACKET;

		c->flying[c->n_flying++] = (struct packet){ i, len, s->sent };
		s->sent += len;
	}
}

/* one of the packets on their way, any, arrives */
static const char *deliver(struct column *c)
{
	u32 k = shuffle_rnd_below(&c->rnd, c->n_flying);
	struct packet p = c->flying[k];
	struct sender *s = &c->sender[p.from];
	struct shuffle_policy_rx *rx = &c->rx;
	u64 claimed, rem, out;
	bool stalled;

	c->flying[k] = c->flying[--c->n_flying];
	if (!s->known) {
		s->known = true;
		out = rx->outstanding;
		rem = rx->rem;
		shuffle_policy_rx_announced(rx, p.from, s->len, s->unsched, p.from * 77);
		if (rx->outstanding != out + s->unsched || rx->rem != rem + s->len)
			return "heard: not what was announced";
		c->claimed += s->unsched;
	}
	if (!p.len)
		return NULL;
	rem = rx->rem;
	out = rx->outstanding;
	claimed = c->claimed;
	stalled = rx->msg[p.from].stalled;
	shuffle_policy_rx_arrived(rx, p.from, p.len, p.off + p.len);
	if (rx->rem != rem - p.len)
		return "arrived: not what was delivered";
	if (rx->msg[p.from].stalled)
		return "arrived: still stalled";
	if (p.off < s->unsched)
		c->claimed -= p.off + p.len < s->unsched ? p.len : s->unsched - p.off;
	/* the others have used its share: all that it owes comes on top */
	if (stalled && rx->outstanding + claimed > out + c->claimed)
		c->debt += rx->outstanding + claimed - out - c->claimed;
	return NULL;
}

/* any of those that were heard of seems to have stalled */
static const char *stall(struct column *c)
{
	u32 i = shuffle_rnd_below(&c->rnd, c->rx.n);
	const struct shuffle_rx_sched *m = &c->msg[i];
	u64 out = c->rx.outstanding;

	if (!m->announced)
		return NULL;
	if (!m->stalled)
		out -= m->granted - m->received;
	shuffle_policy_rx_stalled(&c->rx, i);
	if (!m->stalled || c->rx.outstanding != out)
		return "stalled: it still counts, or others do not";
	return shuffle_model_rx(&c->rx);
}

/* Above the limit only by what senders took unasked, and by what came back from
 * stalled ones; of the latter, what is paid is paid.
 */
static const char *check_limit(struct column *c, const struct budget_row *t)
{
	u64 most = t->max_out + c->claimed;

	if (t->kind == SHUFFLE_POLICY_HADOOP || t->max_out == U64_MAX)
		return NULL;
	/* if nothing is outstanding, one grant is always given */
	if (t->max_out < MOST)
		most += MOST - t->max_out;
	if (t->whole)
		most += t->n * PACKET;
	if (c->rx.outstanding > most && c->rx.outstanding - most > c->debt)
		return "above the limit";
	c->debt = c->rx.outstanding > most ? c->rx.outstanding - most : 0;
	return NULL;
}

/* give out all grants that there are; each obeys the rules of the model */
static const char *grant_all(struct column *c, const struct budget_row *t)
{
	struct shuffle_policy_rx *rx = &c->rx;
	const char *why;
	u64 room;
	u32 i;

	for (;;) {
		u64 before = rx->outstanding;

		/* memory that lasts for a unit now and then */
		room = U64_MAX;
		if (t->tight)
			room = before < 2 * UNIT ? 2 * UNIT - before : 0;
		why = shuffle_model_grant(rx, t->max_out, t->rtt, room, &i);
		if (why || i == SHUFFLE_NONE)
			return why;
		if (t->tight && rx->outstanding > 2 * UNIT)
			return "grant: beyond the memory";
		c->sender[i].limit = rx->msg[i].granted;
		transmit(c, i, t->whole);
	}
}

static void check_end(struct kunit *test, const struct column *c, const struct budget_row *t)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < t->n; i++) {
		KUNIT_EXPECT_EQ(test, c->msg[i].received, c->sender[i].len);
		KUNIT_EXPECT_EQ(test, c->msg[i].granted, c->sender[i].len);
		KUNIT_EXPECT_EQ(test, c->sender[i].sent, c->sender[i].len);
		sum += c->sender[i].len;
	}
	KUNIT_EXPECT_EQ(test, c->rx.announced_len, sum);
	KUNIT_EXPECT_EQ(test, c->rx.rem, 0ULL);
	KUNIT_EXPECT_EQ(test, c->rx.outstanding, 0ULL);
	KUNIT_EXPECT_EQ(test, c->rx.unannounced, 0U);
	KUNIT_EXPECT_EQ(test, c->rx.hadoop_active, 0U);
	KUNIT_EXPECT_EQ(test, c->rx.heap.n, 0U);
	KUNIT_EXPECT_EQ(test, c->claimed, 0ULL);
}

static void budget__column(struct kunit *test)
{
	const struct budget_row *t = test->param_value;
	struct column *c = kunit_kcalloc(test, 1, sizeof(*c), GFP_KERNEL);
	u32 seed;

	KUNIT_ASSERT_NOT_NULL(test, c);
	for (seed = 0; seed < 20; seed++) {
		u32 started = 0;

		prepare(c, t, seed);
		while (started < t->n || c->n_flying) {
			if (started < t->n && (!t->late || !c->n_flying ||
					       !shuffle_rnd_below(&c->rnd, 30)))
				transmit(c, started++, t->whole);
			if (!c->n_flying)
				continue;
			SHUFFLE_ASSERT_OK(test, deliver(c));
			SHUFFLE_ASSERT_OK(test, shuffle_model_rx(&c->rx));
			if (t->stalls && !shuffle_rnd_below(&c->rnd, 4))
				SHUFFLE_ASSERT_OK(test, stall(c));
			SHUFFLE_ASSERT_OK(test, grant_all(c, t));
			SHUFFLE_ASSERT_OK(test, check_limit(c, t));
			if (!t->stalls)
				KUNIT_ASSERT_EQ(test, c->debt, 0ULL);
		}
		/* nothing flies, so either all has arrived or it has stalled */
		check_end(test, c, t);
	}
}

/* no unscheduled data, no rounding: then the limit is a limit */
static void budget__never_above_the_limit(struct kunit *test)
{
	struct column *c = kunit_kcalloc(test, 1, sizeof(*c), GFP_KERNEL);
	struct budget_row t = {
		.n = SENDERS, .max_len = 100000, .max_out = 20000, .rtt = 6000,
	};
	u64 limit, peak;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, c);
	for (t.kind = 0; t.kind < SHUFFLE_POLICY_HADOOP; t.kind++) {
		prepare(c, &t, 1234 + t.kind);
		for (i = 0; i < t.n; i++)
			transmit(c, i, false);
		peak = 0;
		while (c->n_flying) {
			SHUFFLE_ASSERT_OK(test, deliver(c));
			SHUFFLE_ASSERT_OK(test, grant_all(c, &t));
			/* of which those not heard of keep their share */
			limit = shuffle_model_limit(&c->rx, t.max_out);
			KUNIT_ASSERT_LE(test, limit, t.max_out);
			KUNIT_ASSERT_LE(test, c->rx.outstanding, limit > MOST ? limit : MOST);
			if (c->rx.outstanding > peak)
				peak = c->rx.outstanding;
		}
		check_end(test, c, &t);
		/* and it is used */
		KUNIT_EXPECT_GT(test, peak + UNIT, t.max_out);
	}
}

static struct kunit_case budget_cases[] = {
	KUNIT_CASE_PARAM(budget__column, budget_gen_params),
	KUNIT_CASE(budget__never_above_the_limit),
	{}
};

struct kunit_suite shuffle_budget_suite = {
	.name = "shuffle_budget",
	.test_cases = budget_cases,
};
