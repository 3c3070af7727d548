// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A member of a group of two that shuffles until it is told to end, or the other one has left: what
 * shuffle-sabad hears of it, and what its packets carry, is for others to look at.
 *
 *	saba_member RANK ADDRESS ADDRESS [APP]
 *
 * With APP it registers by shuffle_saba(), otherwise $SHUFFLE_SABA has the library do it.
 * SIGUSR1: the socket is closed, and the process stays; SIGTERM: it ends.  Either prints the number
 * of shuffles.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shuffle.h"

#define PORT	7000
#define LENGTH	20000
#define PAUSE_US 20000

static volatile sig_atomic_t told;

static void on_signal(int sig)
{
	told = sig;
}

/* Returns false if the other member has closed its socket. */
static bool one_shuffle(int fd, uint64_t op)
{
	static char data[LENGTH];
	const void *bufs[2] = { data, data };
	const uint64_t lens[2] = { LENGTH, LENGTH };
	struct shuffle_column *col = shuffle_column_new(op, 2);
	bool done = col && !shuffle_exchange(fd, op, bufs, lens, 2, 0, col);

	if (!done && errno != ECONNRESET)
		err(1, "shuffle %llu", (unsigned long long)op);
	shuffle_column_free(col);
	return done;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct sockaddr_shuffle members[2];
	uint64_t op = 0;
	int fd;

	if (argc < 4 || argc > 5 || shuffle_addr(&members[0], argv[2], PORT) ||
	    shuffle_addr(&members[1], argv[3], PORT))
		errx(2, "usage: saba_member RANK ADDRESS ADDRESS [APP]");
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	fd = shuffle_open(members, 2, atoi(argv[1]), 0);
	if (fd < 0)
		err(1, "cannot join the group");
	if (argc > 4 && shuffle_saba(fd, argv[4], NULL))
		err(3, "shuffle_saba");
	while (!told && one_shuffle(fd, ++op))
		usleep(PAUSE_US);
	/* alone: its socket is looked at */
	while (!told)
		usleep(PAUSE_US);
	printf("%llu\n", (unsigned long long)op);
	fflush(stdout);
	close(fd);
	while (told != SIGTERM)
		usleep(PAUSE_US);
	return 0;
}
