// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bounds of the completion time: the load of links (sections 3.1.1 and 6.3), and the
 * three oracles that know when hosts are preempted (section 6.2.1).  None counts
 * latency.
 */
#include <stdlib.h>

#include "sim.h"

#define SMALL	0.000000001	/* what rounding may have added */

static void most(u32 *v, double x)
{
	if (x > *v)
		*v = (u32)ceil(x - SMALL);
}

/**
 * sim_bound() - the least time that the load of each link allows
 * @s: simulation with its hosts
 * @res: gets bound and bound_core
 */
void sim_bound(struct sim *s, struct sim_result *res)
{
	double link = s->cfg->core * s->rack_size;
	u64 *out = sim_alloc(s, s->n, sizeof(*out));
	u64 *in = sim_alloc(s, s->n, sizeof(*in));
	u64 *up = sim_alloc(s, s->cfg->racks, sizeof(*up));
	u64 *down = sim_alloc(s, s->cfg->racks, sizeof(*down));
	u32 op, i, k;

	for (op = 0; op < s->cfg->ops; op++) {
		for (i = 0; i < s->n; i++) {
			for (k = 0; k < s->n; k++) {
				u32 len = sim_len(s, op, i, k);

				out[i] += len;
				in[k] += len;
				if (s->host[i].rack == s->host[k].rack)
					continue;
				up[s->host[i].rack] += len;
				down[s->host[k].rack] += len;
			}
		}
	}
	for (i = 0; i < s->n; i++) {
		double rate = (double)s->host[i].base / SIM_ONE;

		most(&res->bound, (double)out[i] / rate);
		most(&res->bound, (double)in[i] / rate);
	}
	for (i = 0; i < s->cfg->racks; i++) {
		most(&res->bound_core, (double)up[i] / link);
		most(&res->bound_core, (double)down[i] / link);
	}
	if (res->bound_core > res->bound)
		res->bound = res->bound_core;
	free(out);
	free(in);
	free(up);
	free(down);
}

struct replay {
	u8	*up;		/* [host * steps + step] */
	u32	steps;
	u32	catchup;
};

static bool up(const struct replay *r, u32 host, u32 step)
{
	return r->up[(size_t)host * r->steps + step];
}

/* senders, with as many grants as they like */
static u32 oracle_sender(const struct sim *s, const struct replay *r, u32 host)
{
	u64 left = 0;
	u32 t, k;

	for (k = 0; k < s->n; k++)
		left += sim_len(s, 0, host, k);
	for (t = 0; left && t < r->steps; t++)
		left -= up(r, host, t);
	return t;
}

/* The messages [first, last) of a receiver as if there were no others: senders send
 * whenever they run, the network brings a packet a step, the host takes packets
 * whenever it runs.
 */
static u32 oracle_receiver(const struct sim *s, const struct replay *r, u32 host,
			   u32 first, u32 last, u32 *from, u32 *left)
{
	u64 network = 0, waiting = 0, todo = 0;
	u32 n = 0, t, k;

	for (k = first; k < last; k++) {
		left[n] = sim_len(s, 0, k, host);
		from[n] = k;
		todo += left[n];
		n += left[n] > 0;
	}
	for (t = 0; todo && t < r->steps; t++) {
		for (k = 0; k < n; k++) {
			if (!up(r, from[k], t))
				continue;
			network++;
			if (!--left[k]) {
				from[k] = from[--n];
				left[k] = left[n];
				k--;
			}
		}
		if (network) {
			network--;
			waiting++;
		}
		if (up(r, host, t)) {
			u64 take = waiting < r->catchup ? waiting : r->catchup;

			waiting -= take;
			todo -= take;
		}
	}
	return t;
}

/**
 * sim_oracles() - least times by the schedules of preemption
 * @s: simulation that has ended, of one shuffle
 * @res: gets the oracles
 */
void sim_oracles(struct sim *s, struct sim_result *res)
{
	struct replay r = { .steps = s->now, .catchup = s->cfg->catchup };
	u32 *from = sim_alloc(s, s->n, sizeof(*from));
	u32 *left = sim_alloc(s, s->n, sizeof(*left));
	u32 i, k, t;

	r.up = sim_alloc(s, (size_t)s->n * r.steps, 1);
	for (i = 0; i < s->n; i++) {
		struct sim_host h = { .base = SIM_ONE };

		sim_interfere_init(s->cfg, s->rtt, &h, i);
		for (t = 0; t < r.steps; t++) {
			sim_interfere_step(s->cfg, s->rtt, &h, t);
			r.up[(size_t)i * r.steps + t] = h.up;
		}
	}
	for (i = 0; i < s->n; i++) {
		most(&res->oracle[0], oracle_sender(s, &r, i));
		most(&res->oracle[1], oracle_receiver(s, &r, i, 0, s->n, from, left));
		for (k = 0; k < s->n; k++)
			if (sim_len(s, 0, k, i))
				most(&res->oracle[2],
				     oracle_receiver(s, &r, i, k, k + 1, from, left));
	}
	free(r.up);
	free(from);
	free(left);
}
