// SPDX-License-Identifier: GPL-2.0-or-later
/* What happens to packets on their way to each host of the rack (rack() in ../lib.sh). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "soak.h"

int weather_begin(const struct batch *b)
{
	char command[100];
	unsigned int h;
	FILE *f;

	snprintf(command, sizeof(command), "tc -n %.31sbr -batch -", prefix);
	f = popen(command, "w");
	if (!f)
		return -1;
	for (h = 0; h < hosts; h++) {
		/* a netem that replaces another one keeps what it does not name */
		fprintf(f, "qdisc replace dev p%u root pfifo\n", h);
		fprintf(f, "qdisc replace dev p%u root netem limit 100000 delay %uus %uus", h,
			b->delay, b->jitter);
		if (b->loss)
			fprintf(f, " loss %u.%u%%", b->loss / 10, b->loss % 10);
		if (b->duplicate)
			fprintf(f, " duplicate %u.%u%%", b->duplicate / 10, b->duplicate % 10);
		if (b->reorder)
			fprintf(f, " reorder %u%% 50%%", b->reorder);
		fprintf(f, "\n");
	}
	return pclose(f) ? -1 : 0;
}

int in_host_number(unsigned int host)
{
	static int ns[MAX_HOSTS] = { [0 ... MAX_HOSTS - 1] = -1 };
	char path[100];

	if (ns[host] < 0) {
		snprintf(path, sizeof(path), "/run/netns/%.31sh%u", prefix, host);
		ns[host] = open(path, O_RDONLY | O_CLOEXEC);
	}
	return ns[host] < 0 ? -1 : setns(ns[host], CLONE_NEWNET);
}
