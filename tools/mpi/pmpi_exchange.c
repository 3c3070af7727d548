// SPDX-License-Identifier: BSD-3-Clause
/* One all-to-all: a row, a column, their end. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmpi.h"
#include "types.h"

/* One call under way. */
struct call {
	struct pmpi_group *g;
	struct shuffle_tx tx;
	const void **bufs;
	uint64_t *lens;
	char *packed;
	char **in;		/* where messages go: malloc()ed, or the user's */
	uint64_t *room;
	uint64_t *have;
	int ended;
	int error;
	uint64_t missing_left;
	int truncated;
};

static char *part(const struct pmpi_side *s, int rank, int *count, MPI_Datatype *type)
{
	MPI_Aint extent;

	*type = s->types ? s->types[rank] : s->type;
	*count = s->counts ? s->counts[rank] : s->count;
	extent = coll_shuffle_type_extent(*type);
	if (s->types)
		return s->buf + s->disps[rank];
	return s->buf + (s->disps ? (MPI_Aint)s->disps[rank] : (MPI_Aint)rank * s->count) * extent;
}

static uint64_t bytes_of(int count, MPI_Datatype type)
{
	return (uint64_t)count * coll_shuffle_type_size(type);
}

static int make_row(struct call *c, const struct pmpi_side *s, int in_place)
{
	size_t room = 1, at = 0;
	MPI_Datatype type;
	int i, count, rc;
	char *buf;

	for (i = 0; i < c->g->size; i++) {
		part(s, i, &count, &type);
		room += bytes_of(count, type);
	}
	for (i = 0; i < c->g->size; i++) {
		buf = part(s, i, &count, &type);
		c->lens[i] = i == c->g->rank ? 0 : bytes_of(count, type);
		c->bufs[i] = in_place ? NULL : coll_shuffle_type_dense(buf, count, type);
		if (!c->lens[i] || c->bufs[i])
			continue;
		if (!c->packed)
			c->packed = malloc(room);
		if (!c->packed)
			return MPI_ERR_NO_MEM;
		rc = coll_shuffle_type_pack(buf, count, type, c->packed + at);
		if (rc)
			return rc;
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
			coll_shuffle_missing_str(rec));
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
static int run(struct call *c)
{
	int rc, threaded = 0;
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
		pmpi_group_wait(c->g, c->g->fd, POLLIN);
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

int pmpi_exchange(struct pmpi_group *g, const struct pmpi_side *from, const struct pmpi_side *to)
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
		c.in[i] = c.room[i] ? coll_shuffle_type_dense(buf, count, type) : buf;
		if (!c.in[i])
			c.in[i] = malloc(c.room[i]);
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
		rc = run(&c);
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
		PMPI_Comm_call_errhandler(g->comm, rc);
	return rc;
}

