/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers: splitmix64, the same on every machine, one stream per user. */
#ifndef SIM_RND_H
#define SIM_RND_H

#include <math.h>

#include "portable.h"

struct rnd {
	u64	state;
};

static inline u64 rnd64(struct rnd *r)
{
	u64 z = (r->state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* a stream of its own for each (seed, a, b) */
static inline struct rnd rnd_stream(u64 seed, u64 a, u64 b)
{
	struct rnd r = { seed };

	r.state = rnd64(&r) ^ (a * 0xd1342543de82ef95ULL);
	r.state = rnd64(&r) ^ (b * 0xaf251af3b0f025b5ULL);
	return r;
}

/* below n, n > 0 */
static inline u32 rnd_below(struct rnd *r, u32 n)
{
	return (u32)(((rnd64(r) >> 32) * n) >> 32);
}

/* in (0, 1) */
static inline double rnd_unit(struct rnd *r)
{
	return ((double)(rnd64(r) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double rnd_normal(struct rnd *r)
{
	double a = sqrt(-2 * log(rnd_unit(r)));

	return a * cos(2 * M_PI * rnd_unit(r));
}

/* a random order of n numbers */
static inline void rnd_permute(struct rnd *r, u32 *v, u32 n)
{
	u32 i;

	for (i = n; i > 1; i--) {
		u32 j = rnd_below(r, i);
		u32 t = v[i - 1];

		v[i - 1] = v[j];
		v[j] = t;
	}
}

#endif /* SIM_RND_H */
