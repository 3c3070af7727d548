// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every member has a number; all get their mean, and hear which member has the largest.  Start one
 * per member, then type a number for each:
 *
 *	average 0 192.0.2.1:7000 192.0.2.2:7000
 *	average 1 192.0.2.1:7000 192.0.2.2:7000
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "members.h"
#include "shuffle_coll.h"

/* What is combined may be anything: here a sum, and who has the largest number. */
struct sample {
	double sum, most;
	unsigned int who;
};

static void combine(void *arg, void *into, const void *in, size_t size, int in_first)
{
	const struct sample *b = in;
	struct sample *a = into;

	(void)arg;
	(void)size;	/* of one item */
	(void)in_first;	/* it commutes */
	a->sum += b->sum;
	if (b->most > a->most || (b->most == a->most && b->who < a->who)) {
		a->most = b->most;
		a->who = b->who;
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_shuffle members[MEMBERS];
	unsigned int n = members_read(members, argc, argv), rank = atoi(argv[1]);
	struct sample mine, all;
	struct shuffle_coll *coll;
	int fd;

	fd = shuffle_open(members, n, rank, 0);
	if (fd < 0)
		err(1, "cannot join the group");
	coll = shuffle_coll_new(fd, rank, n, SHUFFLE_COLL_AGREE);
	if (!coll)
		err(1, "no collectives");
	while (scanf("%lf", &mine.sum) == 1) {
		mine.most = mine.sum;
		mine.who = rank;
		if (shuffle_allreduce(coll, &mine, &all, sizeof(mine), sizeof(mine), combine, NULL))
			err(1, "the all-reduce has failed");
		printf("mean %g, largest %g of member %u\n", all.sum / n, all.most, all.who);
	}
	if (shuffle_coll_free(coll))
		err(1, "not all has arrived");
	close(fd);
	return 0;
}
