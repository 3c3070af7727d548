// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What disturbs a host (sections 4.1 and 6.2): it is preempted, or the rate of its
 * link changes.  Both depend on nothing but the seed, so that the oracles see the
 * same as the run.
 */
#include "sim.h"

/* normal, standard deviation a quarter of the mean, a step at least */
static u32 interval(struct rnd *r, double mean)
{
	double v = mean * (1 + rnd_normal(r) / 4);

	return v < 1 ? 1 : v > 1e9 ? 1000000000 : (u32)(v + 0.5);
}

static double mean_run(const struct sim_config *cfg, u32 rtt)
{
	return cfg->preempt * rtt * (1 - cfg->preempt_share) / cfg->preempt_share;
}

/* Is the next interval one that the host runs in?  By chance, or by turns. */
static bool next_up(const struct sim_config *cfg, struct sim_host *h)
{
	return cfg->alternate ? !h->up : rnd_unit(&h->rnd) >= cfg->preempt_share;
}

static u32 next_interval(const struct sim_config *cfg, u32 rtt, struct sim_host *h)
{
	return interval(&h->rnd, cfg->alternate && h->up ? mean_run(cfg, rtt) :
			cfg->preempt * rtt);
}

static u32 some_rate(const struct sim_config *cfg, struct sim_host *h)
{
	double r = cfg->vary_low + (1 - cfg->vary_low) * rnd_unit(&h->rnd_link);
	u32 v = (u32)(r * h->base + 0.5);

	return v ? v : 1;
}

/**
 * sim_interfere_init() - a host as it is at the first step
 * @cfg: what disturbs
 * @rtt: round trip, in steps
 * @h: host, whose @base is set
 * @host: its index
 */
void sim_interfere_init(const struct sim_config *cfg, u32 rtt, struct sim_host *h, u32 host)
{
	h->rnd = rnd_stream(cfg->seed, 1000, host);
	h->rnd_link = rnd_stream(cfg->seed, 1001, host);
	h->up = true;
	h->toggle = SIM_NEVER;
	h->vary_at = SIM_NEVER;
	h->rate = h->base;
	if (cfg->preempt > 0) {
		/* somewhere in the middle of an interval */
		h->up = rnd_unit(&h->rnd) >= cfg->preempt_share;
		h->toggle = next_interval(cfg, rtt, h);
		h->toggle = (u32)(h->toggle * rnd_unit(&h->rnd));
	}
	if (cfg->vary > 0) {
		h->rate = some_rate(cfg, h);
		h->vary_at = interval(&h->rnd_link, cfg->vary * rtt);
	}
}

/**
 * sim_interfere_step() - a step begins
 * @cfg: what disturbs
 * @rtt: round trip, in steps
 * @h: host
 * @now: step; every step must be told
 */
void sim_interfere_step(const struct sim_config *cfg, u32 rtt, struct sim_host *h, u32 now)
{
	while (now >= h->toggle) {
		h->up = next_up(cfg, h);
		h->toggle += next_interval(cfg, rtt, h);
	}
	while (now >= h->vary_at) {
		h->rate = some_rate(cfg, h);
		h->vary_at += interval(&h->rnd_link, cfg->vary * rtt);
	}
}
