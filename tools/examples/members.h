/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The members of a group from a command line: PROGRAM RANK ADDR:PORT ADDR:PORT ... */
#ifndef MEMBERS_H
#define MEMBERS_H

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "shuffle.h"

#define MEMBERS	64

/* Their number; the list is in the same order everywhere. */
static inline unsigned int members_read(struct sockaddr_shuffle *members, int argc, char **argv)
{
	char *port;
	int i;

	if (argc < 3 || argc - 2 > MEMBERS || atoi(argv[1]) < 0 || atoi(argv[1]) >= argc - 2)
		errx(2, "usage: %s RANK ADDR:PORT ADDR:PORT ...", argv[0]);
	for (i = 2; i < argc; i++) {
		port = strrchr(argv[i], ':');
		if (!port)
			errx(2, "%s: no port", argv[i]);
		*port++ = '\0';
		if (shuffle_addr(&members[i - 2], argv[i], atoi(port)))
			err(2, "%s", argv[i]);
	}
	return argc - 2;
}

#endif /* MEMBERS_H */
