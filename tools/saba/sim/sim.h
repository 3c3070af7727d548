/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flow-level simulator of applications that share a network: what its files share. */
#ifndef SABA_SIM_H
#define SABA_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric.h"
#include "kinds.h"
#include "rng.h"
#include "saba.h"

#define SIM_JOBS	32
#define SIM_QUEUES	32

/**
 * enum policy - who has how much
 * @POLICY_FLOWS: max-min by flow, one queue: the source's baseline
 * @POLICY_JOBS: a queue of equal weight for each application: its ideal max-min
 * @POLICY_SABA: weights and queues of the controller
 * @POLICY_HOMA: at each receiver the 8 flows with the least left, equal otherwise
 * @POLICY_SINCRONIA: stages by the order of BSSI, each one max-min in what is left
 * @POLICIES: their number
 */
enum policy {
	POLICY_FLOWS,
	POLICY_JOBS,
	POLICY_SABA,
	POLICY_HOMA,
	POLICY_SINCRONIA,
	POLICIES,
};

/**
 * enum weigh - what weights of Saba are for
 * @WEIGH_SUM: the least sum of slowdowns, as the controller has it
 * @WEIGH_PRODUCT: the least product
 * @WEIGH_LIGHT: to see what the opposite does: a weight is the inverse of what is sent
 */
enum weigh {
	WEIGH_SUM,
	WEIGH_PRODUCT,
	WEIGH_LIGHT,
};

/**
 * struct job - an application that runs
 * @kind: workload
 * @n: instances
 * @at: their servers
 * @size: data and computation against the profile's
 * @costs: its model on the grid
 * @level: priority level
 * @stage: number of the stage that runs, or all of them
 * @compute_end: when its computation ends
 * @send_at: when it begins to send
 * @sending: it does
 * @sent: and the controller knows that it has ended
 * @flows: that are under way
 * @end: when all was over
 */
struct job {
	const struct kind *kind;
	unsigned int	n;
	unsigned int	*at;
	double		size;
	struct saba_costs costs;
	uint8_t		level;
	unsigned int	stage;
	double		compute_end;
	double		send_at;
	bool		sending;
	bool		sent;
	unsigned int	flows;
	double		end;
};

/**
 * struct flow - bytes from one server to another, in seconds of a whole link
 * @port: output ports on the way
 * @hops: their number
 * @job: whose it is
 * @to: server
 * @left: what is left; 0 while it has nothing to send
 * @rate: part of a link
 */
struct flow {
	uint32_t	port[FABRIC_HOPS];
	uint8_t		hops;
	uint8_t		job;
	uint32_t	to;
	double		left;
	double		rate;
};

/**
 * struct sim - a run
 * @net: network
 * @job: applications
 * @jobs: their number
 * @flow: all flows of all stages
 * @flows: their number
 * @policy: who has how much
 * @queues: of a port, 0 for one for each application
 * @degree: of the models
 * @stages: applications make their connections for each stage, and the controller knows them
 * @exact: weigh by what slowdown really is, put levels together by the models
 * @weigh: what Saba's weights are for
 * @core: part of a server's link that a link between switches carries
 * @waste: part of a port that the baseline leaves unused where flows of several applications are
 * @queue: [port * jobs + job]
 * @weight: [port * SIM_QUEUES + queue]
 */
struct sim {
	struct fabric	net;
	struct job	*job;
	unsigned int	jobs;
	struct flow	*flow;
	unsigned int	flows;
	enum policy	policy;
	unsigned int	queues;
	unsigned int	degree;
	bool		stages;
	bool		exact;
	enum weigh	weigh;
	double		core;
	double		waste;
	uint8_t		*queue;
	double		*weight;
};

void *sim_memory(void *p);
void allocate_queues(struct sim *s);
void allocate_rates(struct sim *s);
void jobs_run(struct sim *s);

#endif /* SABA_SIM_H */
