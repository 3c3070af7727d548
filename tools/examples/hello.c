// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every member sends a line to every other.  Start one per member:
 *
 *	hello 0 192.0.2.1:7000 192.0.2.2:7000
 *	hello 1 192.0.2.1:7000 192.0.2.2:7000
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shuffle.h"

#define MEMBERS	16
#define WAIT_MS	300000	/* for others, which somebody starts by hand */

int main(int argc, char **argv)
{
	struct sockaddr_shuffle members[MEMBERS];
	char lines[MEMBERS][64], *port;
	const void *bufs[MEMBERS];
	uint64_t lens[MEMBERS];
	struct shuffle_column *col;
	unsigned int rank, n, i, missing;
	uint64_t op;
	int fd;

	if (argc < 3 || argc - 2 > MEMBERS)
		errx(2, "usage: hello RANK ADDR:PORT ADDR:PORT ...");
	rank = atoi(argv[1]);
	n = argc - 2;

	/* The group: all members, in the same order everywhere. */
	for (i = 0; i < n; i++) {
		port = strrchr(argv[i + 2], ':');
		if (!port)
			errx(2, "%s: no port", argv[i + 2]);
		*port++ = '\0';
		if (shuffle_addr(&members[i], argv[i + 2], atoi(port)))
			err(2, "%s", argv[i + 2]);
	}
	fd = shuffle_open(members, n, rank, 0);
	if (fd < 0)
		err(1, "cannot join the group");

	/* A number that this group has not had before, also when it is started again. */
	if (shuffle_agree(fd, n, WAIT_MS, &op, &missing))
		err(1, "the members do not agree");

	/* The row: one message for every member.  Others may start later. */
	for (i = 0; i < n; i++) {
		lens[i] = snprintf(lines[i], sizeof(lines[i]),
				   "hello %u, this is %u", i, rank);
		bufs[i] = lines[i];
	}

	/* The column: one message from every member. */
	col = shuffle_column_new(op, n);
	if (!col || shuffle_exchange(fd, op, bufs, lens, n, WAIT_MS, col))
		err(1, "the shuffle has failed");
	for (i = 0; i < n; i++)
		printf("from %u: %.*s\n", i, (int)col->lens[i], (char *)col->bufs[i]);

	shuffle_column_free(col);
	close(fd);
	return 0;
}
