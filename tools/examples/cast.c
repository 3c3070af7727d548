// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Member 0 reads standard input, and all others write it to standard output.  Start one per member;
 * with an IP multicast address in CAST_GROUP, the same everywhere, the data leaves member 0 once:
 *
 *	CAST_GROUP=239.1.2.3 cast 0 192.0.2.1:7000 192.0.2.2:7000 192.0.2.3:7000 <file
 *	CAST_GROUP=239.1.2.3 cast 1 192.0.2.1:7000 192.0.2.2:7000 192.0.2.3:7000 >file
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "members.h"
#include "shuffle_coll.h"

#define PIECE	(1 << 20)
#define PORT	7399	/* of the multicast address */

int main(int argc, char **argv)
{
	static struct { uint64_t len; char bytes[PIECE]; } piece;
	struct sockaddr_shuffle members[MEMBERS], group;
	unsigned int n = members_read(members, argc, argv), rank = atoi(argv[1]);
	const char *address = getenv("CAST_GROUP");
	struct shuffle_coll *coll;
	int fd;

	fd = shuffle_bind(&members[rank], 0);
	if (fd < 0)
		err(1, "no socket");
	if (address && (shuffle_addr(&group, address, PORT) || shuffle_multicast(fd, &group, 1)))
		err(1, "%s", address);
	if (shuffle_join(fd, members, n, rank))
		err(1, "cannot join the group");
	coll = shuffle_coll_new(fd, rank, n, SHUFFLE_COLL_AGREE);
	if (!coll)
		err(1, "no collectives");
	/* 0: the address does not reach all, so the data takes other ways */
	if (address && shuffle_coll_multicast(coll) < 0)
		err(1, "the multicast address was not tried");
	do {
		if (!rank)
			piece.len = fread(piece.bytes, 1, PIECE, stdin);
		if (shuffle_broadcast(coll, &piece.len, sizeof(piece.len), 0) ||
		    shuffle_broadcast(coll, piece.bytes, piece.len, 0))
			err(1, "the broadcast has failed");
		if (rank && fwrite(piece.bytes, 1, piece.len, stdout) != piece.len)
			err(1, "standard output");
	} while (piece.len);
	if (shuffle_coll_free(coll) || fflush(stdout))
		err(1, "not all has arrived");
	close(fd);
	return 0;
}
