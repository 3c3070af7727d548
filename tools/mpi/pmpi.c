// SPDX-License-Identifier: BSD-3-Clause
/*
 * libshuffle_pmpi.so: MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw over AF_SHUFFLE for
 * MPICH, which has no components: LD_PRELOAD it.  For Open MPI there is
 * mca_coll_shuffle.so, which does more: the non-blocking forms, receiving into place,
 * and programs that do not call these functions by their C names.
 *
 * SHUFFLE_PMPI_VERBOSE=1 in the environment: a line for each communicator.
 * SHUFFLE_PMPI_TIMEOUT=SECONDS: without progress, until a call fails (600).
 */
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "addr.h"

#define TICK_MS	1

/* What a rank tells the others; family 0: no socket. */
struct hello {
	struct sockaddr_shuffle addr;
	uint64_t op_base;
};

/* One communicator; fd -1: left to MPICH. */
struct group {
	int fd;
	int rank;
	int size;
	uint64_t next_id;
};

/* One side of a call. */
struct side {
	char *buf;
	int count;
	const int *counts;
	const int *disps;
	MPI_Datatype type;
	const MPI_Datatype *types;
};

/* One call under way. */
struct call {
	struct group *g;
	struct shuffle_tx tx;
	const void **bufs;
	uint64_t *lens;
	char *packed;
	char **in;		/* where messages go: malloc()ed, or the user's */
	uint64_t *room;
	uint64_t *have;
	int whole;
	int ended;
	int error;
	uint64_t missing_left;
	int truncated;
};

static pthread_mutex_t keyval_lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;

static int group_delete(MPI_Comm comm, int key, void *value, void *extra)
{
	struct group *g = value;

	(void)comm;
	(void)key;
	(void)extra;
	if (g->fd >= 0)
		close(g->fd);
	free(g);
	return MPI_SUCCESS;
}

static void open_socket(struct group *g, struct hello *hello)
{
	const char *seconds = getenv("SHUFFLE_PMPI_TIMEOUT");
	__u32 idle = (seconds ? atoi(seconds) : 600) * 1000;
	bool loopback;

	memset(hello, 0, sizeof(*hello));
	if (getrandom(&hello->op_base, sizeof(hello->op_base), 0) < 0)
		hello->op_base = (uint64_t)getpid() << 32;
	if (coll_shuffle_addr_pick(AF_INET, NULL, NULL, &hello->addr, &loopback) &&
	    coll_shuffle_addr_pick(AF_INET6, NULL, NULL, &hello->addr, &loopback))
		return;
	g->fd = shuffle_bind(&hello->addr, SOCK_CLOEXEC);
	if (g->fd < 0)
		hello->addr.shs_family = 0;
	else
		setsockopt(g->fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle, sizeof(idle));
}

/* The first call on a communicator.  All ranks see the same hellos, and decide alike. */
static int agree(MPI_Comm comm, struct group *g)
{
	struct hello mine, *all = calloc(g->size, sizeof(*all));
	struct sockaddr_shuffle *members = calloc(g->size, sizeof(*members));
	int i, rc = MPI_ERR_NO_MEM;

	if (!all || !members)
		goto out;
	open_socket(g, &mine);
	rc = PMPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, comm);
	if (rc)
		goto out;
	for (i = 0; i < g->size; i++) {
		if (!all[i].addr.shs_family ||
		    all[i].addr.shs_ip_family != all[0].addr.shs_ip_family)
			break;
		members[i] = all[i].addr;
	}
	if (getenv("SHUFFLE_PMPI_VERBOSE") && !g->rank)
		fprintf(stderr, i < g->size ? "libshuffle_pmpi: declined: rank %d has no socket\n" :
			"libshuffle_pmpi: %d ranks over AF_SHUFFLE\n", i);
	g->next_id = all[0].op_base;
	if (i < g->size) {
		if (g->fd >= 0)
			close(g->fd);
		g->fd = -1;
	} else if (shuffle_join(g->fd, members, g->size, g->rank)) {
		fprintf(stderr, "libshuffle_pmpi: rank %d: joining the group: %s\n", g->rank,
			strerror(errno));
		rc = MPI_ERR_OTHER;
	}
out:
	free(all);
	free(members);
	return rc;
}

/* The group of a communicator; NULL: not ours, or *rc. */
static struct group *group_of(MPI_Comm comm, int *rc)
{
	struct group *g;
	int found, inter;

	*rc = MPI_SUCCESS;
	pthread_mutex_lock(&keyval_lock);
	if (keyval == MPI_KEYVAL_INVALID)
		PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, group_delete, &keyval, NULL);
	pthread_mutex_unlock(&keyval_lock);

	PMPI_Comm_test_inter(comm, &inter);
	if (inter)
		return NULL;
	PMPI_Comm_get_attr(comm, keyval, &g, &found);
	if (!found) {
		g = calloc(1, sizeof(*g));
		if (!g) {
			*rc = MPI_ERR_NO_MEM;
			return NULL;
		}
		g->fd = -1;
		PMPI_Comm_rank(comm, &g->rank);
		PMPI_Comm_size(comm, &g->size);
		if (g->size > 1 && g->size <= SHUFFLE_MAX_MEMBERS)
			*rc = agree(comm, g);
		PMPI_Comm_set_attr(comm, keyval, g);
	}
	return g->fd >= 0 && !*rc ? g : NULL;
}

static char *part(const struct side *s, int rank, int *count, MPI_Datatype *type)
{
	MPI_Aint lb, extent;

	*type = s->types ? s->types[rank] : s->type;
	*count = s->counts ? s->counts[rank] : s->count;
	PMPI_Type_get_extent(*type, &lb, &extent);
	if (s->types)
		return s->buf + s->disps[rank];
	return s->buf + (s->disps ? (MPI_Aint)s->disps[rank] : (MPI_Aint)rank * s->count) * extent;
}

/* No gaps, known without a look inside. */
static int dense(MPI_Datatype type)
{
	int ints, addresses, types, combiner, size;
	MPI_Aint lb, extent;

	PMPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
	PMPI_Type_get_extent(type, &lb, &extent);
	PMPI_Type_size(type, &size);
	return combiner == MPI_COMBINER_NAMED && !lb && extent == size;
}

static uint64_t bytes_of(int count, MPI_Datatype type)
{
	int size;

	PMPI_Type_size(type, &size);
	return (uint64_t)count * size;
}

static int make_row(struct call *c, const struct side *s, int in_place)
{
	size_t room = 1, at = 0;
	int i, count, pos;
	MPI_Datatype type;
	char *buf;

	for (i = 0; i < c->g->size; i++) {
		part(s, i, &count, &type);
		room += bytes_of(count, type);
	}
	for (i = 0; i < c->g->size; i++) {
		buf = part(s, i, &count, &type);
		c->lens[i] = i == c->g->rank ? 0 : bytes_of(count, type);
		c->bufs[i] = buf;
		if (!c->lens[i] || (dense(type) && !in_place))
			continue;
		if (!c->packed)
			c->packed = malloc(room);
		if (!c->packed)
			return MPI_ERR_NO_MEM;
		pos = 0;
		PMPI_Pack(buf, count, type, c->packed + at, c->lens[i], &pos, MPI_COMM_SELF);
		c->bufs[i] = c->packed + at;
		at += c->lens[i];
	}
	return MPI_SUCCESS;
}

static int record(void *arg, const struct shuffle_record *rec, const void *data)
{
	struct call *c = arg;
	uint64_t len = rec->len;

	if (rec->op_id != c->tx.op_id || (int)rec->rank >= c->g->size) {
		errno = EPROTO;
		return -1;
	}
	switch (rec->type) {
	case SHUFFLE_RECORD_DATA:
		if (rec->offset + len > c->room[rec->rank]) {
			c->truncated = 1;
			len = c->room[rec->rank];
			len = rec->offset < len ? len - rec->offset : 0;
		}
		if (len && c->in[rec->rank] + rec->offset != data)
			memcpy(c->in[rec->rank] + rec->offset, data, len);
		c->have[rec->rank] = rec->offset + len;
		break;
	case SHUFFLE_RECORD_DONE:
		c->ended = 1;
		break;
	case SHUFFLE_RECORD_FAILED:
		c->error = rec->error;
		c->missing_left = rec->msg_len;
		c->ended = !c->missing_left;
		break;
	case SHUFFLE_RECORD_MISSING:
		fprintf(stderr, "libshuffle_pmpi: rank %d: rank %u %s\n", c->g->rank, rec->rank,
			rec->flags & SHUFFLE_MISSING_RECV ? "has not sent its message" :
							    "has not acknowledged ours");
		c->ended = !--c->missing_left;
		break;
	}
	return 0;
}

static size_t place(void *arg, const struct shuffle_record *rec, void **data)
{
	struct call *c = arg;
	uint64_t at = rec->offset + rec->len;

	if (at >= c->room[rec->rank])
		return 0;
	*data = c->in[rec->rank] + at;
	return c->room[rec->rank] - at;
}

static void *sender(void *arg)
{
	struct call *c = arg;

	if (shuffle_tx_finish(c->g->fd, &c->tx))
		shuffle_cancel(c->g->fd, c->tx.op_id);
	return NULL;
}

/* Until the operation has ended; MPICH goes on with its own work meanwhile. */
static int run(struct call *c, MPI_Comm comm)
{
	struct pollfd pfd = { .fd = c->g->fd, .events = POLLIN };
	int rc, flag, threaded = 0;
	struct shuffle_rx rx;
	pthread_t thread;

	if (shuffle_rx_init(&rx, record, place, c))
		return MPI_ERR_NO_MEM;
	do
		rc = shuffle_tx_announce(c->g->fd, &c->tx);
	while (!rc);
	if (rc > 0 && shuffle_tx_fits(c->g->fd, &c->tx))
		rc = shuffle_tx_step(c->g->fd, &c->tx);
	if (rc >= 0 && c->tx.rank < c->tx.count) {
		threaded = !pthread_create(&thread, NULL, sender, c);
		if (!threaded)
			shuffle_cancel(c->g->fd, c->tx.op_id);
	}
	while (rc >= 0 && !c->ended) {
		if (poll(&pfd, 1, TICK_MS) <= 0) {
			PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
			continue;
		}
		if (shuffle_rx_step(c->g->fd, &rx, MSG_DONTWAIT) < 0 && errno != EAGAIN &&
		    errno != EINTR)
			rc = -1;
	}
	if (rc < 0) {
		c->error = errno;
		shuffle_cancel(c->g->fd, c->tx.op_id);
	}
	if (threaded)
		pthread_join(thread, NULL);
	shuffle_rx_free(&rx);
	if (c->error)
		fprintf(stderr, "libshuffle_pmpi: rank %d: %s\n", c->g->rank, strerror(c->error));
	return c->error ? MPI_ERR_OTHER : c->truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

static int exchange(struct group *g, const struct side *from, const struct side *to, MPI_Comm comm)
{
	int in_place = from->buf == MPI_IN_PLACE, i, n = g->size, count, pos, rc = MPI_ERR_NO_MEM;
	struct call c = { .g = g };
	MPI_Datatype type, stype;
	char *buf;

	c.bufs = calloc(n, sizeof(*c.bufs));
	c.lens = calloc(n, sizeof(*c.lens));
	c.in = calloc(n, sizeof(*c.in));
	c.room = calloc(n, sizeof(*c.room));
	c.have = calloc(n, sizeof(*c.have));
	if (!c.bufs || !c.lens || !c.in || !c.room || !c.have)
		goto out;
	rc = make_row(&c, in_place ? to : from, in_place);
	for (i = 0; i < n && !rc; i++) {
		buf = part(to, i, &count, &type);
		c.room[i] = i == g->rank ? 0 : bytes_of(count, type);
		c.in[i] = dense(type) || !c.room[i] ? buf : malloc(c.room[i]);
		if (c.room[i] && !c.in[i])
			rc = MPI_ERR_NO_MEM;
	}
	if (!rc && !in_place) {
		int scount;
		char *sbuf = part(from, g->rank, &scount, &stype);

		buf = part(to, g->rank, &count, &type);
		rc = PMPI_Sendrecv(sbuf, scount, stype, 0, 0, buf, count, type, 0, 0,
				   MPI_COMM_SELF, MPI_STATUS_IGNORE);
	}
	if (!rc) {
		shuffle_tx_init(&c.tx, g->next_id++, c.bufs, c.lens, n, 0);
		rc = run(&c, comm);
	}
	for (i = 0; i < n; i++) {
		buf = part(to, i, &count, &type);
		if (c.in[i] == buf || !c.room[i])
			continue;
		pos = 0;
		if (!rc && c.have[i])
			PMPI_Unpack(c.in[i], c.have[i], &pos, buf, count, type, MPI_COMM_SELF);
		free(c.in[i]);
	}
out:
	free(c.bufs);
	free(c.lens);
	free(c.in);
	free(c.room);
	free(c.have);
	free(c.packed);
	if (rc)
		PMPI_Comm_call_errhandler(comm, rc);
	return rc;
}

int MPI_Alltoall(const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount,
		 MPI_Datatype rtype, MPI_Comm comm)
{
	struct side from = { .buf = (char *)sbuf, .count = scount, .type = stype };
	struct side to = { .buf = rbuf, .count = rcount, .type = rtype };
	struct group *g;
	int rc;

	g = group_of(comm, &rc);
	if (!g)
		return rc ? rc : PMPI_Alltoall(sbuf, scount, stype, rbuf, rcount, rtype, comm);
	return exchange(g, &from, &to, comm);
}

int MPI_Alltoallv(const void *sbuf, const int *scounts, const int *sdisps, MPI_Datatype stype,
		  void *rbuf, const int *rcounts, const int *rdisps, MPI_Datatype rtype,
		  MPI_Comm comm)
{
	struct side from = { (char *)sbuf, 0, scounts, sdisps, stype, NULL };
	struct side to = { rbuf, 0, rcounts, rdisps, rtype, NULL };
	struct group *g;
	int rc;

	g = group_of(comm, &rc);
	if (!g)
		return rc ? rc : PMPI_Alltoallv(sbuf, scounts, sdisps, stype, rbuf, rcounts,
						rdisps, rtype, comm);
	return exchange(g, &from, &to, comm);
}

int MPI_Alltoallw(const void *sbuf, const int *scounts, const int *sdisps,
		  const MPI_Datatype *stypes, void *rbuf, const int *rcounts, const int *rdisps,
		  const MPI_Datatype *rtypes, MPI_Comm comm)
{
	struct side from = { (char *)sbuf, 0, scounts, sdisps, MPI_DATATYPE_NULL, stypes };
	struct side to = { rbuf, 0, rcounts, rdisps, MPI_DATATYPE_NULL, rtypes };
	struct group *g;
	int rc;

	g = group_of(comm, &rc);
	if (!g)
		return rc ? rc : PMPI_Alltoallw(sbuf, scounts, sdisps, stypes, rbuf, rcounts,
						rdisps, rtypes, comm);
	return exchange(g, &from, &to, comm);
}
