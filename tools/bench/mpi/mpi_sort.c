// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle-sort over MPI: the same program, the same options, whose steps (tools/sort/net.h) are
 * messages of MPI (sort_net.c) instead of operations of AF_SHUFFLE.  What the two differ in is the
 * transport.
 *
 * usage: mpirun mpi_shuffle_sort [OPTION of shuffle-sort, without --group, --rank and --op]...
 *   MPI_SORT_DATA=alltoallv  records are sent by MPI_Alltoall, of their lengths, and MPI_Alltoallv;
 *                            =messages (default): by MPI_Isend, and received as they come
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define MEMBER	"127.0.0.1:65535,"	/* nobody looks at the addresses of the group */

int main(int argc, char **argv)
{
	int rank, size, i, n = 0, status;
	char **args, *list, number[12];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	list = memory(size, sizeof(MEMBER));
	for (i = 0; i < size; i++)
		strcat(list + i * strlen(MEMBER), MEMBER);
	snprintf(number, sizeof(number), "%d", rank);
	args = memory(argc + 7, sizeof(*args));
	args[n++] = argv[0];
	args[n++] = "--group";
	args[n++] = list;
	args[n++] = "--rank";
	args[n++] = number;
	args[n++] = "--op";
	args[n++] = "1";
	memcpy(args + n, argv + 1, (argc - 1) * sizeof(*args));
	/* the first one speaks for all */
	if (rank && !freopen("/dev/null", "w", stdout))
		die("/dev/null: cannot open");
	status = host_main(argc + 6, args);
	MPI_Finalize();
	return status;
}
