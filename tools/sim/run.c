// SPDX-License-Identifier: GPL-2.0-or-later
/* One run: state, the loop over steps (listing 4), results. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim.h"

#define HUGE_PAGE	(2UL << 20)
#define LINE_NODES	4U	/* of a heap, in one line of the cache */

/**
 * sim_defaults() - the protocol as chapter 6 runs it
 * @cfg: configuration
 */
void sim_defaults(struct sim_config *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->algo = SIM_GRPF;
	cfg->racks = 1;
	cfg->hop = 2;
	cfg->overcommit = 10;
	cfg->connections = 5;
	cfg->headroom = 1;
	cfg->grant_units = 1;
	cfg->window = SIM_WINDOW_PRO_RATA;
	cfg->unsched = SIM_UNSCHED_PRO_RATA;
	cfg->randomise = true;
	cfg->redirect = U32_MAX;
	cfg->prio = SIM_PRIO_EDGE;
	cfg->core = 1;
	cfg->spines = 1;
	cfg->power = 2;
	cfg->preempt_share = 0.5;
	cfg->vary_low = 0.5;
	cfg->slow_rate = 0.5;
	cfg->catchup = 3;
	cfg->timeout = 2083;
	cfg->ops = 1;
	cfg->barrier = SIM_NEVER;
	cfg->chunk = 27;
	cfg->seed = 1;
}

/**
 * sim_check() - can this be simulated?
 * @cfg: configuration
 * @hosts: of the matrix
 *
 * Return: NULL, or what is wrong.
 */
const char *sim_check(const struct sim_config *cfg, u32 hosts)
{
	if (hosts < 2 || hosts > SIM_MAX_HOSTS)
		return "there must be 2 to 16384 hosts";
	if (!cfg->racks || hosts % cfg->racks)
		return "the hosts must fill all racks evenly";
	if (cfg->hop > 1000)
		return "a hop has 0 to 1000 steps";
	if (!(cfg->overcommit >= 0.01 && cfg->overcommit <= 1e6))
		return "overcommit must be from 0.01 to 1000000";
	if (!cfg->headroom || cfg->headroom > 1000)
		return "headroom must be from 1 to 1000";
	if (!cfg->grant_units || cfg->grant_units > 1000)
		return "a grant is for 1 to 1000 packets";
	if (!cfg->connections)
		return "at least one connection";
	if (!(cfg->core > 0 && cfg->core <= 100))
		return "core bandwidth must be above 0 and at most 100 (10000%)";
	if (!cfg->spines || cfg->spines > 1024)
		return "there must be 1 to 1024 core switches";
	if (!(cfg->stale >= 0 && cfg->stale <= 1000))
		return "stale must be from 0 to 1000";
	if (!(cfg->power >= 0 && cfg->power <= 16))
		return "power must be from 0 to 16";
	if (!(cfg->preempt >= 0 && cfg->preempt <= 1e5) || !(cfg->vary >= 0 && cfg->vary <= 1e5))
		return "intervals must be from 0 to 100000 round trips";
	if (!(cfg->preempt_share > 0 && cfg->preempt_share < 1))
		return "the share of preemption must be between 0 and 1";
	if (!(cfg->vary_low > 0 && cfg->vary_low <= 1) ||
	    !(cfg->slow_rate > 0 && cfg->slow_rate <= 1))
		return "rates must be above 0 and at most 1";
	if (!(cfg->slow_share >= 0 && cfg->slow_share <= 1))
		return "the share of slow hosts must be from 0 to 1";
	if (!cfg->catchup)
		return "a host must take at least one packet a step";
	if (!(cfg->cost_packet >= 0 && cfg->cost_packet <= 1000) ||
	    !(cfg->cost_message >= 0 && cfg->cost_message <= 1000))
		return "costs must be from 0 to 1000 steps";
	if (!cfg->timeout)
		return "the timeout must be a step at least";
	if (!cfg->ops || cfg->ops > SIM_MAX_OPS)
		return "there must be 1 to 32 shuffles";
	if (!(cfg->load >= 0 && cfg->load <= 10))
		return "the load must be from 0 to 10";
	if (!(cfg->sigma >= 0 && cfg->sigma <= 4))
		return "sigma must be from 0 to 4";
	if ((cfg->load > 0 || cfg->order) && cfg->algo > SIM_GRPT)
		return "only grpf, srpt and grpt know loads and orders of shuffles";
	if (!cfg->chunk)
		return "a chunk must have a packet at least";
	if (cfg->redirect != U32_MAX && cfg->algo > SIM_GRPT)
		return "only grpf, srpt and grpt know a limit of redirection";
	return NULL;
}

/**
 * sim_alloc() - zeroed memory, counted
 * @s: simulation
 * @n: elements
 * @size: bytes of one
 *
 * Return: memory; the program ends when there is none.
 */
void *sim_alloc(struct sim *s, size_t n, size_t size)
{
	void *p = NULL;

	/* Every step touches all hosts, each at random places. */
	if (n * size < 2 * HUGE_PAGE) {
		p = calloc(n ? n : 1, size);
	} else if (!posix_memalign(&p, HUGE_PAGE, n * size)) {
		madvise(p, n * size, MADV_HUGEPAGE);
		memset(p, 0, n * size);
	}
	if (!p) {
		fprintf(stderr, "shuffle-sim: out of memory\n");
		exit(1);
	}
	s->memory += n * size;
	return p;
}

static const struct sim_algo *const algos[SIM_ALGOS] = {
	[SIM_GRPF] = &sim_algo_policy,
	[SIM_SRPT] = &sim_algo_policy,
	[SIM_GRPT] = &sim_algo_policy,
	[SIM_HADOOP] = &sim_algo_policy,
	[SIM_MADD] = &sim_algo_madd,
	[SIM_LOCKSTEP] = &sim_algo_lockstep,
	[SIM_HIGH_ENTROPY] = &sim_algo_high_entropy,
	[SIM_SEQUENTIAL] = &sim_algo_sequential,
	[SIM_ROUND_ROBIN] = &sim_algo_round_robin,
};

/* Each shuffle is the same matrix with its hosts in another order. */
static void load_matrix(struct sim *s, const struct sim_matrix *m)
{
	u32 *row = sim_alloc(s, s->n, sizeof(*row));
	u32 *col = sim_alloc(s, s->n, sizeof(*col));
	u32 op, i, k;

	for (i = 0; i < s->n; i++) {
		row[i] = i;
		col[i] = i;
	}
	for (op = 0; op < s->cfg->ops; op++) {
		struct rnd r = rnd_stream(s->cfg->seed, 3, op);

		if (op) {
			rnd_permute(&r, row, s->n);
			rnd_permute(&r, col, s->n);
		}
		for (i = 0; i < s->n; i++) {
			for (k = 0; k < s->n; k++) {
				size_t from = s->cfg->transpose ? col[k] : row[i];
				size_t to = s->cfg->transpose ? row[i] : col[k];
				u32 len = sim_order_length(s, op, m->len[from * s->n + to]);

				s->bytes += len;
				if (i == k && !s->cfg->local)
					continue;
				s->len[sim_row(s, op, i, k)] = len;
				s->host[i].left += len;
				s->left_op[op] += len;
				s->messages += len > 0;
				sim_order_message(s, op, i, k, len);
				sim_end(s, op, k)->total += len;
			}
		}
		s->left += s->left_op[op];
	}
	free(row);
	free(col);
}

/* From one heap to the next, with a node to spare: an odd number of lines, or the roots of all
 * heaps would compete for the same places of the cache.
 */
static size_t heap_stride(const struct sim *s)
{
	return ((s->n / LINE_NODES + 1) | 1) * LINE_NODES;
}

static void make_ends(struct sim *s)
{
	size_t messages = (size_t)s->cfg->ops * s->n * s->n;
	size_t stride = heap_stride(s);
	struct shuffle_tx_sched *out = sim_alloc(s, messages, sizeof(*out));
	struct shuffle_rx_sched *in = sim_alloc(s, messages, sizeof(*in));
	struct shuffle_heap_node *node;
	u64 *served = NULL;
	u32 *pool = NULL;
	u32 op, i, k;

	s->nodes = sim_alloc(s, 2 * stride * s->cfg->ops * s->n, sizeof(*s->nodes));
	/* kids are 2k + 1 and 2k + 2: so both are in one line */
	node = s->nodes + 1;
	if (s->algo != &sim_algo_policy)
		pool = sim_alloc(s, messages, sizeof(*pool));
	if (s->cfg->algo == SIM_HADOOP)
		served = sim_alloc(s, messages, sizeof(*served));
	for (op = 0; op < s->cfg->ops; op++) {
		for (i = 0; i < s->n; i++) {
			struct sim_end *e = sim_end(s, op, i);
			size_t at = sim_row(s, op, i, 0);

			e->tx.rank = i;
			e->tx.members = s->n;
			e->tx.n = s->n;
			e->tx.msg = out + at;
			e->tx.heap.node = node;
			e->tx.served = served ? served + at : NULL;
			e->rx.n = s->n;
			e->rx.msg = in + at;
			e->rx.heap.node = node + stride;
			node += 2 * stride;
			e->pool = pool ? pool + at : NULL;
			if (e->total > s->max_total)
				s->max_total = e->total;
			for (k = 0; k < s->n; k++)
				e->tx.msg[k].len = (u64)sim_len(s, op, i, k) << s->shift;
		}
	}
}

static void prepare(struct sim *s, const struct sim_matrix *m)
{
	const struct sim_config *cfg = s->cfg;
	size_t messages = (size_t)cfg->ops * m->n * m->n;

	s->algo = algos[cfg->algo];
	s->n = m->n;
	s->rack_size = s->n / cfg->racks;
	s->rtt = cfg->rtt ? cfg->rtt : (cfg->racks > 1 ? 8 : 4) * cfg->hop;
	s->rtt = s->rtt ? s->rtt : 1;
	s->shift = cfg->randomise ? 10 : 0;
	s->rnd = rnd_stream(cfg->seed, 4, 0);
	s->lossy = cfg->buffer || cfg->switch_buffer;
	sim_host_init(s);
	s->len = sim_alloc(s, messages, sizeof(*s->len));
	s->end = sim_alloc(s, (size_t)cfg->ops * s->n, sizeof(*s->end));
	sim_order_init(s, m);
	load_matrix(s, m);
	make_ends(s);
	if (s->algo == &sim_algo_policy)
		s->unsched = sim_alloc(s, messages, sizeof(*s->unsched));
	if (cfg->global == SIM_GLOBAL_SCHED && cfg->stale > 0) {
		s->part = sim_alloc(s, (size_t)cfg->ops * s->n, sizeof(*s->part));
		s->part_next = sim_alloc(s, (size_t)cfg->ops * s->n, sizeof(*s->part));
	}
	if (cfg->global == SIM_GLOBAL_GOSSIP) {
		s->gossip = sim_alloc(s, (size_t)cfg->ops * s->n, sizeof(*s->gossip));
		s->gossip_next = sim_alloc(s, (size_t)cfg->ops * s->n, sizeof(*s->gossip));
	}
	if (s->lossy || cfg->stall)
		s->last = sim_alloc(s, messages, sizeof(*s->last));
	if (s->lossy)
		sim_loss_init(s);
	sim_net_init(s);
	sim_bound(s, s->res);
	s->res->packets = s->left;
	if (s->algo->init)
		s->algo->init(s);
}

static void finish(struct sim *s)
{
	u32 op, i;

	for (i = 0; i < s->n; i++) {
		struct sim_host *h = &s->host[i];

		s->memory += (h->data.cap + h->ctl.cap + h->resend.cap) * sizeof(*h->data.p);
		free(h->data.p);
		free(h->ctl.p);
		free(h->resend.p);
	}
	sim_net_free(s);
	sim_order_free(s);
	for (op = 0; op < s->cfg->ops; op++) {
		for (i = 0; i < s->n; i++) {
			struct sim_end *e = sim_end(s, op, i);

			free(e->place);
			free(e->order);
			free(e->from);
		}
	}
	s->res->memory = s->memory;
	free(s->end[0].tx.msg);
	free(s->nodes);
	free(s->end[0].tx.served);
	free(s->end[0].rx.msg);
	free(s->end[0].pool);
	free(s->end);
	free(s->host);
	free(s->len);
	free(s->unsched);
	free(s->part);
	free(s->part_next);
	free(s->gossip);
	free(s->gossip_next);
	free(s->last);
	free(s->bits_at);
	free(s->bits);
	free(s->priv);
}

/* Every packet of every message has come, once: anything else is a bug here. */
static void verify(const struct sim *s)
{
	u32 op, i, k;

	for (op = 0; op < s->cfg->ops; op++) {
		for (i = 0; i < s->n; i++) {
			for (k = 0; k < s->n; k++) {
				u64 got = sim_end(s, op, i)->rx.msg[k].received >> s->shift;

				if (got == sim_len(s, op, k, i))
					continue;
				fprintf(stderr, "shuffle-sim: bug: host %u got %llu of %u packets of host %u\n",
					i, (unsigned long long)got, sim_len(s, op, k, i), k);
				abort();
			}
		}
	}
	if (s->res->sent != s->res->packets + s->resent ||
	    (!s->lossy && s->res->sent != s->res->packets)) {
		fprintf(stderr, "shuffle-sim: bug: packets sent are not those of messages\n");
		abort();
	}
}

static int by_value(const void *va, const void *vb)
{
	const u32 *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

static void summarise(struct sim *s)
{
	u32 took[SIM_MAX_OPS];
	const struct sim_host *slow = &s->host[0];
	struct sim_result *r = s->res;
	double steps = s->now ? s->now : 1;
	u32 limit, i;

	for (i = 0; i < s->n; i++)
		if (s->host[i].last_sent > slow->last_sent)
			slow = &s->host[i];
	r->slowest_preempted = slow->preempted;
	r->slowest_idle = slow->idle;
	r->slowest_sending = slow->sending;
	r->tor_mean = s->sum_tor / steps / s->cfg->racks;
	r->tor_up_share = s->sum_tor > 0 ? s->sum_up / s->sum_tor : 0;
	r->core_mean = s->sum_core / steps;
	r->port_mean = s->sum_port / steps;
	r->grants_mean = s->sum_grants / steps;
	if (s->left)
		return;
	verify(s);
	r->ended = true;
	r->steps = s->now;
	for (i = 0; i < s->cfg->ops; i++) {
		took[i] = s->done_at[i] - sim_order_start(s, i);
		r->op_mean += (double)took[i] / s->cfg->ops;
	}
	qsort(took, s->cfg->ops, sizeof(*took), by_value);
	r->op_p95 = took[(s->cfg->ops * 95 + 99) / 100 - 1];
	if (s->cfg->preempt > 0 && s->cfg->ops == 1)
		sim_oracles(s, r);
	limit = r->bound;
	for (i = 0; i < 3; i++)
		limit = r->oracle[i] > limit ? r->oracle[i] : limit;
	if (r->steps) {
		r->throughput = (double)s->bytes / s->n / r->steps;
		r->optimality = (double)limit / r->steps;
	}
}

/**
 * sim_count_grants() - what is outstanding at the end of a step
 * @s: simulation
 * @sum: of all receivers, in the policy's bytes
 */
void sim_count_grants(struct sim *s, u64 sum)
{
	sum >>= s->shift;
	s->sum_grants += (double)sum;
	if (sum > s->res->grants_max)
		s->res->grants_max = sum;
}

/* what a host looks at first when it sends */
static void fetch_heap(const struct sim *s, u32 host)
{
	const struct shuffle_heap *heap = &s->end[host].tx.heap;

	shuffle_prefetch(&heap->node[0]);
	shuffle_prefetch(&heap->node[4]);
}

static void step(struct sim *s)
{
	u64 sum = 0;
	u32 i;

	s->sent_now = 0;
	s->recv_now = 0;
	sim_order_step(s);
	sim_host_times(s);
	if (s->algo->tick)
		s->algo->tick(s);
	if (s->lossy)
		sim_loss_scan(s);
	for (i = 0; i < s->n; i++) {
		fetch_heap(s, i + 2 < s->n ? i + 2 : i);
		sim_host_send(s, i);
	}
	if (s->algo->grant) {
		for (i = 0; i < s->n * s->cfg->ops; i++) {
			u32 host = s->cfg->ops > 1 ? i % s->n : i;

			if (!s->end[i].dirty || !s->host[host].up)
				continue;
			s->end[i].dirty = false;
			s->algo->grant(s, i / s->n, host);
		}
	}
	sim_net_step(s);
	sim_host_receive(s);
	for (i = 0; i < s->n * s->cfg->ops; i++)
		sum += s->end[i].rx.outstanding;
	sim_count_grants(s, sum);
	if (s->series)
		sim_series_step(s);
	s->now++;
}

/**
 * sim_only_bound() - bounds without a simulation
 * @cfg: configuration that sim_check() has found right
 * @m: matrix
 * @res: result, of which only the bounds and what follows from them are set
 */
void sim_only_bound(const struct sim_config *cfg, const struct sim_matrix *m,
		    struct sim_result *res)
{
	struct sim s = { .cfg = cfg, .res = res };

	memset(res, 0, sizeof(*res));
	prepare(&s, m);
	if (res->bound)
		res->throughput = (double)s.bytes / s.n / res->bound;
	finish(&s);
}

/**
 * sim_run() - one simulation
 * @cfg: configuration that sim_check() has found right
 * @m: matrix
 * @series: what to record over time in, or NULL
 * @res: result
 */
void sim_run(const struct sim_config *cfg, const struct sim_matrix *m,
	     struct sim_series *series, struct sim_result *res)
{
	struct sim_config c = *cfg;
	struct sim s = { .cfg = &c, .series = series, .res = res };
	u64 limit;

	memset(res, 0, sizeof(*res));
	prepare(&s, m);
	if (c.barrier == SIM_NEVER) {
		/* as long as the best all-reduce in software */
		for (c.barrier = 0; 1U << c.barrier < s.n; c.barrier++)
			;
		c.barrier = (c.barrier * s.rtt + 1) / 2;
	}
	limit = c.max_steps ? c.max_steps : 1000ULL * res->bound + 1000000;
	if (limit >= SIM_NEVER)
		limit = SIM_NEVER - 1;
	if (sim_window_fits(&s))
		sim_window_run(&s, (u32)limit);
	while (s.left && s.now < limit)
		step(&s);
	summarise(&s);
	finish(&s);
}
