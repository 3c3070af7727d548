// SPDX-License-Identifier: GPL-2.0-or-later
/* Workloads over AF_SHUFFLE: each all to all is one operation of the group of all hosts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "members.h"
#include "saba_job.h"

#define PORT	7101
#define PATIENCE_MS	100000

static int fd;
static const void **bufs;
static uint64_t *lens;

static void join_group(void)
{
	struct sockaddr_shuffle *members, own;

	if (!bench_opt.port)
		bench_opt.port = PORT;
	members = bench_members();
	own = members[bench_self];
	fd = shuffle_bind(&own, SOCK_CLOEXEC);
	if (fd < 0 || shuffle_join(fd, members, bench_hosts, bench_self))
		bench_die("host %u: socket: %s", bench_self, strerror(errno));
	free(members);
}

static void tell_controller(void)
{
	unsigned int i, marked = (bench_self + 1) % bench_hosts;

	for (i = 0; i < bench_hosts; i++)
		if (i != bench_self)
			job_connection(i, i == marked ? fd : -1);
}

/* For a whole row and column: the kernel doubles what it is told. */
static void make_room(uint64_t bytes)
{
	int room = bytes * bench_hosts + (1U << 19);
	unsigned int i;

	bufs = calloc(bench_hosts, sizeof(*bufs));
	lens = calloc(bench_hosts, sizeof(*lens));
	if (!bufs || !lens)
		bench_die("out of memory");
	for (i = 0; i < bench_hosts; i++) {
		bufs[i] = calloc(1, bytes);
		lens[i] = i == bench_self ? 0 : bytes;
		if (!bufs[i])
			bench_die("out of memory");
	}
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		bench_die("socket buffers: %s", strerror(errno));
}

static void exchange(unsigned int stage, uint64_t bytes)
{
	/* the number of an operation is never used again */
	uint64_t op = ((uint64_t)bench->start_ns << 16) + stage;
	struct shuffle_column *column = shuffle_column_new(op, bench_hosts);
	unsigned int i;

	if (!bufs)
		make_room(bytes);
	if (!column || shuffle_exchange(fd, op, bufs, lens, bench_hosts, PATIENCE_MS, column))
		bench_die("host %u: stage %u: %s", bench_self, stage, strerror(errno));
	for (i = 0; i < bench_hosts; i++)
		if (column->lens[i] != lens[i])
			bench_die("host %u: %llu bytes from host %u", bench_self,
				  (unsigned long long)column->lens[i], i);
	shuffle_column_free(column);
}

const struct job_transport job_shuffle = { join_group, tell_controller, exchange };
