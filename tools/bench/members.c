// SPDX-License-Identifier: GPL-2.0-or-later
/* The group of all hosts. */
#include <stdlib.h>

#include "bench.h"
#include "members.h"

struct sockaddr_shuffle *bench_members(void)
{
	struct sockaddr_shuffle *members = calloc(bench_hosts, sizeof(*members));
	unsigned int i;
	char ip[32];

	if (!members)
		bench_die("out of memory");
	for (i = 0; i < bench_hosts; i++) {
		uint32_t a = bench_addr(i);

		snprintf(ip, sizeof(ip), "%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255,
			 a & 255);
		if (shuffle_addr(&members[i], ip, bench_opt.port))
			bench_die("%s", ip);
	}
	return members;
}
