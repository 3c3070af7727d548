// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which sizes of messages AF_SHUFFLE carries: all, unless rank 0 names others.
 *
 * MPI_Alltoall goes one way as a whole.  Of the other calls each message does: both of its ends
 * know its size, and the rank's other messages need not be known.
 */
#include <stdlib.h>
#include <string.h>

#include "coll_shuffle.h"

bool coll_shuffle_sizes_parse(const char *text, struct coll_shuffle_sizes *sizes)
{
	unsigned long long least, most = UINT64_MAX;
	char *end;

	*sizes = (struct coll_shuffle_sizes){ .most = UINT64_MAX };
	if (!text || !strcmp(text, "all"))
		return true;
	least = strtoull(text, &end, 10);
	if (end == text || *end != '-')
		return false;
	text = end + 1;
	if (*text)
		most = strtoull(text, &end, 10);
	if (*text ? *end || end == text || most < least : end == text)
		return false;
	sizes->least = least;
	sizes->most = most;
	return true;
}

bool coll_shuffle_sizes_take(const coll_shuffle_module *m, size_t size)
{
	return size >= m->sizes.least && size <= m->sizes.most;
}
