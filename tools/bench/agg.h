/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs share that measure records merged by key. */
#ifndef AGG_H
#define AGG_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "bench.h"
#include "members.h"

static inline uint64_t agg_mix(uint64_t z)
{
	z += 0x9e3779b97f4a7c15ULL;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* The first mistake of the round. */
static inline void agg_fail(int error, const char *what, unsigned int peer)
{
	struct bench_host *h = &bench->host[bench_self];

	if (h->error)
		return;
	h->error = error ? error : EPROTO;
	snprintf(h->why, sizeof(h->why), "%s (peer %u)", what, peer);
}

/* All that the report asks for has come. */
static inline void agg_has_come(void)
{
	unsigned int i;

	for (i = 0; i < bench_hosts; i++)
		bench->host[bench_self].rx_bytes += matrix_len(bench_matrix, i, bench_self);
}

/* Room for all that is under way. */
static inline void agg_buffers(int fd)
{
	int bytes = 1 << 29;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		bench_die("buffers: %s", strerror(errno));
}

#endif /* AGG_H */
