/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saba's decisions: sensitivity models, weights, priority levels, queues.
 *
 * Portable C: no locks, no files, no memory of its own.  The controller, the
 * simulator and the tests compile the same files.
 *
 * Source: M. R. S. Katebzadeh, P. Costa, B. Grot, "Saba: Rethinking Datacenter
 * Network Allocation from Application's Perspective", EuroSys 2023, and chapter 4
 * of Katebzadeh's thesis; sections are the thesis'.
 */
#ifndef SHUFFLE_SABA_H
#define SHUFFLE_SABA_H

#include <stdbool.h>
#include <stdint.h>

#define SABA_DEGREE	3	/* of a polynomial, the greatest */
#define SABA_DEFAULT	0	/* degree, where none is asked for */
#define SABA_VALUES	20	/* of a model, the most: slowdowns at 5, 10 ... 100 % */
#define SABA_POINTS	32	/* samples of a profile, the most */
#define SABA_LEVELS	16	/* priority levels, the most */
#define SABA_QUEUES	16	/* queues of a port, the most */
#define SABA_APPS	4096	/* applications, the most */
#define SABA_GRID	100	/* steps of the weights: 1 % */
#define SABA_SINGLE	25	/* applications of a port that have a weight each */
#define SABA_QUANTUM	300	/* bytes a round for 1 %: 5 %, the usual least, is a packet */
#define SABA_REST	1	/* percent that everything else has at least */

/**
 * struct saba_model - how an application suffers from having less bandwidth
 * @degree: of the polynomial, 1 to SABA_DEGREE; 0: lines between measured slowdowns
 * @c: its coefficients: slowdown(b) = c[0] + c[1] b + ..., b a fraction of the
 *	link rate; those above @degree are 0 (4.2.1).  For degree 0, slowdowns at
 *	steps of 1 / SABA_VALUES
 * @r2: coefficient of determination of the fit, 1 is exact
 */
struct saba_model {
	unsigned int	degree;
	double		c[SABA_VALUES];
	double		r2;
};

/**
 * struct saba_costs - a model on the grid
 * @at: slowdown with a share of 0, 1, ... SABA_GRID percent
 */
struct saba_costs {
	double		at[SABA_GRID + 1];
};

/**
 * struct saba_levels - applications by priority level, levels by closeness (4.3.3)
 * @n: number of levels
 * @model: of each level, the mean of its applications' coefficients
 * @steps: number of clusterings; the first has a cluster for each level, each
 *	other one cluster less than that before
 * @cluster: [step][level], number of the cluster, below @n - step
 */
struct saba_levels {
	unsigned int	n;
	struct saba_model model[SABA_LEVELS];
	unsigned int	steps;
	uint8_t		cluster[SABA_LEVELS][SABA_LEVELS];
};

/**
 * struct saba_present - an application that sends through a port
 * @costs: its model on the grid
 * @level: its priority level
 */
struct saba_present {
	const struct saba_costs	*costs;
	unsigned int		level;
};

#define SABA_NO_QUEUE	0xff

/**
 * struct saba_allocation - what a port is to do
 * @queues: number of queues in use
 * @queue: of each level, SABA_NO_QUEUE if no application of it is present
 * @weight: of each queue in percent of the link; they sum up to the capacity
 * @level: share of each level in percent
 * @slowdown: sum over the applications as the models predict it
 */
struct saba_allocation {
	unsigned int	queues;
	uint8_t		queue[SABA_LEVELS];
	double		weight[SABA_QUEUES];
	double		level[SABA_LEVELS];
	double		slowdown;
};

/* fit.c */
int saba_fit(const double *b, const double *slowdown, unsigned int n, unsigned int degree,
	     struct saba_model *m);
double saba_slowdown(const struct saba_model *m, double b);
void saba_costs(const struct saba_model *m, struct saba_costs *costs);

/* samples.c */
int saba_join(const double *b, const double *slowdown, unsigned int n, struct saba_model *m);
double saba_between(const struct saba_model *m, double b);

/* solve.c */
double saba_solve(const struct saba_costs *const *costs, unsigned int n, unsigned int capacity,
		  uint8_t *weight);
double saba_solve_levels(const struct saba_levels *lv, const unsigned int *count,
			 unsigned int capacity, double *weight);

/* descent.c */
double saba_descend(const struct saba_model *const *m, unsigned int n, double capacity,
		    double floor, double *weight);

/* cluster.c */
double saba_apart(const struct saba_model *a, const struct saba_model *b);
unsigned int saba_cluster(const struct saba_model *m, unsigned int n, unsigned int most,
			  uint8_t *level);
void saba_levels_make(const struct saba_model *m, unsigned int n, unsigned int most,
		      unsigned int least_queues, const uint8_t *former, uint8_t *level,
		      struct saba_levels *lv);

/* port.c */
void saba_allocate(const struct saba_levels *lv, const struct saba_present *app, unsigned int n,
		   unsigned int capacity, unsigned int queues, struct saba_allocation *a);
void saba_quanta(const struct saba_allocation *a, unsigned int capacity, unsigned int queues,
		 uint32_t *quantum);
void saba_keep_queues(const struct saba_allocation *former, unsigned int queues,
		      struct saba_allocation *a);

#endif /* SHUFFLE_SABA_H */
