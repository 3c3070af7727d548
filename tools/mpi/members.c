// SPDX-License-Identifier: BSD-3-Clause
/*
 * The group that carries a communicator's collectives.  libshuffle reads all that comes to its
 * socket, so all-to-all has another one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "carry.h"

/* FNV-1a */
uint64_t coll_shuffle_hash(const void *data, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325ULL;
	const uint8_t *p = data;

	for (; size--; p++)
		hash = (hash ^ *p) * 0x100000001b3ULL;
	return hash;
}

void coll_shuffle_members_init(struct coll_shuffle_members *g, int rank, int size)
{
	g->coll = NULL;
	g->fd = -1;
	g->rank = rank;
	g->size = size;
	g->racks = 0;
	g->multicast = NULL;
	g->tried = false;
	g->saba = NULL;
	g->key = NULL;
	g->error = 0;
}

void coll_shuffle_members_open(struct coll_shuffle_members *g, struct sockaddr_shuffle *addr)
{
	g->fd = shuffle_bind(addr, SOCK_CLOEXEC);
	if (g->fd < 0)
		addr->shs_family = 0;
}

/* Of the racks that libshuffle finds in the namespace's table; 0: one rack. */
static uint64_t hash_racks(const struct coll_shuffle_members *g)
{
	unsigned int *racks = malloc(g->size * sizeof(*racks));
	int n = racks ? shuffle_racks(g->fd, racks, g->size) : 0;
	uint64_t hash = 0;

	if (n > 0)
		hash = coll_shuffle_hash(racks, n * sizeof(*racks)) | 1;
	free(racks);
	return hash;
}

/* Each communicator has a port of its own there, which its operations' ids make. */
static void set_multicast(struct coll_shuffle_members *g, uint64_t first_op)
{
	uint16_t port = 1024 + coll_shuffle_hash(&first_op, sizeof(first_op)) % 64512;
	struct sockaddr_shuffle group;

	if (shuffle_addr(&group, g->multicast, port) || shuffle_multicast(g->fd, &group, 1))
		fprintf(stderr, "AF_SHUFFLE: multicast address %s: %s\n", g->multicast,
			strerror(errno));
}

int coll_shuffle_members_join(struct coll_shuffle_members *g,
			      const struct sockaddr_shuffle *members, uint64_t first_op,
			      shuffle_coll_waiter wait, void *arg)
{
	if (g->key && setsockopt(g->fd, SOL_SHUFFLE, SHUFFLE_KEY, g->key, SHUFFLE_KEY_BYTES))
		return -1;
	g->key = NULL;
	/* without it the trial says no, everywhere */
	if (g->multicast)
		set_multicast(g, first_op);
	if (shuffle_join(g->fd, members, g->size, g->rank))
		return -1;
	/* without it packets are not marked: the library has said why */
	if (g->saba)
		shuffle_saba(g->fd, g->saba, NULL);
	g->racks = hash_racks(g);
	g->coll = shuffle_coll_new(g->fd, g->rank, g->size, first_op);
	if (!g->coll)
		return -1;
	shuffle_coll_wait(g->coll, wait, arg);
	return 0;
}

void coll_shuffle_members_no_racks(struct coll_shuffle_members *g)
{
	/* if that fails so do all calls, and say why */
	if (g->coll)
		shuffle_coll_racks(g->coll, NULL, 0);
	g->racks = 0;
}

void coll_shuffle_members_close(struct coll_shuffle_members *g)
{
	shuffle_coll_free(g->coll);
	g->coll = NULL;
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
}

const char *coll_shuffle_missing_str(const struct shuffle_record *rec)
{
	/* who is silent has not left, whoever has noticed it first */
	if (rec->flags & SHUFFLE_MISSING_LEFT && rec->error != ETIMEDOUT)
		return shuffle_left_str(rec->error);
	return rec->flags & SHUFFLE_MISSING_RECV ? "has not sent its message" :
						   "has not acknowledged ours";
}
