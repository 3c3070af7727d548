// SPDX-License-Identifier: BSD-3-Clause
/* Which collectives are asked for. */
#include <stdlib.h>
#include <string.h>

#include "carry.h"

#define ALL_BITS	(COLL_SHUFFLE_BIT(COLL_SHUFFLE_alltoall) - 1)

const char *const coll_shuffle_call_names[COLL_SHUFFLE_CALLS] = {
	"barrier", "bcast", "gather", "scatter", "allgather", "reduce",
	"allreduce", "reduce_scatter_block", "scan", "exscan",
	"gatherv", "scatterv", "allgatherv", "reduce_scatter", "alltoall",
	"neighbor",
};

/* The bit of a name, or 0. */
static uint32_t bit_of(const char *name)
{
	int i;

	for (i = 0; i < COLL_SHUFFLE_CALLS; i++) {
		if (!strcmp(name, coll_shuffle_call_names[i]))
			return COLL_SHUFFLE_BIT(i);
		if (i < COLL_SHUFFLE_alltoall && *name == 'i' &&
		    !strcmp(name + 1, coll_shuffle_call_names[i]))
			return COLL_SHUFFLE_LATER_BIT(i);
	}
	return 0;
}

bool coll_shuffle_names_parse(const char *text, uint32_t *bits)
{
	char *names = strdup(text ? text : "none"), *name, *at = names;
	bool ok = names;
	uint32_t bit;

	*bits = 0;
	while (ok && (name = strsep(&at, ","))) {
		bit = strcmp(name, "all") ? bit_of(name) : ALL_BITS | ALL_BITS << 16;
		*bits |= bit;
		if (!bit)
			ok = !*name || !strcmp(name, "none");
	}
	free(names);
	if (!ok)
		*bits = 0;
	return ok;
}
