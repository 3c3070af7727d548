// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which sizes of messages AF_SHUFFLE carries.  Where the network is the limit, all; where the
 * processors are, the component before may be faster for some.  Nobody can know that from the
 * addresses, so a few calls of MPI_Alltoall are timed both ways, once for each shape (number of
 * ranks and of hosts), at the fourth blocking call of its first communicator.  A program that
 * makes three calls pays nothing.  A non-blocking call must not wait for others, and does not find
 * out.
 *
 * MPI_Alltoall goes one way as a whole.  Of the other calls each message does: both of its ends
 * know its size, and the rank's other messages need not be known.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coll_shuffle.h"

#define ALL		((1U << COLL_SHUFFLE_CLASSES) - 1)
#define AT_CALL		4
#define ROUNDS		4		/* the first one does not count */
#define MOST_BYTES	(16UL << 20)	/* of a buffer */
#define BETTER		0.97		/* less is noise, and AF_SHUFFLE keeps the size */
#define SHAPES		16

static const struct {
	size_t timed;	/* bytes of a message */
	size_t most;	/* that it stands for */
	int calls;	/* in a round, one behind the other */
} classes[COLL_SHUFFLE_CLASSES] = {
	{ 64, 256, 12 },
	{ 1 << 10, 2 << 10, 12 },
	{ 4 << 10, 8 << 10, 8 },
	{ 16 << 10, 32 << 10, 4 },
	{ 64 << 10, 128 << 10, 2 },
	{ 256 << 10, 512 << 10, 2 },
	{ 1 << 20, SIZE_MAX, 1 },
};

/* Seconds of a call, by class: over AF_SHUFFLE, and by the component before. */
struct times {
	double of[COLL_SHUFFLE_CLASSES][2];
};

/* What this process has found, by shape. */
static struct shape {
	int ranks, hosts;
	struct coll_shuffle_sizes sizes;
} shapes[SHAPES];
static int nshapes;
static opal_mutex_t shapes_lock = OPAL_MUTEX_STATIC_INIT;

bool coll_shuffle_sizes_parse(const char *text, struct coll_shuffle_sizes *sizes)
{
	unsigned long long least, most = UINT64_MAX;
	char *end;

	*sizes = (struct coll_shuffle_sizes){ .most = UINT64_MAX };
	if (!text || !strcmp(text, "auto"))
		return true;
	if (strcmp(text, "all")) {
		least = strtoull(text, &end, 10);
		if (end == text || *end != '-')
			return false;
		text = end + 1;
		if (*text)
			most = strtoull(text, &end, 10);
		if (*text ? *end || end == text || most < least : end == text)
			return false;
		sizes->least = least;
		sizes->most = most;
	}
	sizes->known = ALL;
	return true;
}

static struct shape *find_shape(const coll_shuffle_module *m)
{
	int i;

	for (i = 0; i < nshapes; i++)
		if (shapes[i].ranks == m->size && shapes[i].hosts == m->hosts)
			return &shapes[i];
	return NULL;
}

struct coll_shuffle_sizes coll_shuffle_sizes_of(const coll_shuffle_module *m)
{
	struct coll_shuffle_sizes sizes = m->sizes;
	const struct shape *s;

	opal_mutex_lock(&shapes_lock);
	s = find_shape(m);
	if (s && !sizes.known)
		sizes = s->sizes;
	opal_mutex_unlock(&shapes_lock);
	return sizes;
}

static void remember(const coll_shuffle_module *m)
{
	struct shape *s;

	opal_mutex_lock(&shapes_lock);
	s = find_shape(m);
	if (!s && nshapes < SHAPES)
		s = &shapes[nshapes++];
	if (s)
		*s = (struct shape){ m->size, m->hosts, m->sizes };
	opal_mutex_unlock(&shapes_lock);
}

bool coll_shuffle_sizes_take(const coll_shuffle_module *m, size_t size)
{
	int i = 0;

	if (size < m->sizes.least || size > m->sizes.most)
		return false;
	/* Before a blocking call has shown that all have heard of it, some ranks know what rank 0
	 * has found and others do not: a non-blocking call may be made at any time.
	 */
	if (!m->settled)
		return true;
	while (size > classes[i].most)
		i++;
	return !(m->sizes.before & 1U << i);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static int one_call(coll_shuffle_module *m, bool before, char *row, char *column, int size)
{
	struct coll_shuffle_side from = { .buf = row, .count = size, .type = MPI_BYTE };
	struct coll_shuffle_side to = { .buf = column, .count = size, .type = MPI_BYTE };

	if (before)
		return COLL_SHUFFLE_BEFORE_BLOCKING(m, alltoall, row, size, MPI_BYTE, column, size,
						    MPI_BYTE, m->comm);
	return coll_shuffle_exchange(m, "timed call", &from, &to, NULL);
}

/* All begin together: who comes early would count the lateness of others. */
static int gather(coll_shuffle_module *m, const void *mine, size_t size, void *all)
{
	return COLL_SHUFFLE_BEFORE_BLOCKING(m, allgather, mine, size, MPI_BYTE, all, size, MPI_BYTE,
					    m->comm);
}

/* Both ways in turns: the least time of each. */
static int time_class(coll_shuffle_module *m, int class, char *row, char *column, double best[2])
{
	int round, way, call, rc;
	double start, took;

	for (round = 0; round < ROUNDS; round++) {
		for (way = 0; way < 2; way++) {
			/* the column has room for a byte of each */
			rc = gather(m, row, 1, column);
			if (rc)
				return rc;
			start = seconds();
			for (call = 0; call < classes[class].calls; call++) {
				rc = one_call(m, way, row, column, classes[class].timed);
				if (rc)
					return rc;
			}
			took = (seconds() - start) / classes[class].calls;
			if (round && (round == 1 || took < best[way]))
				best[way] = took;
		}
	}
	return OMPI_SUCCESS;
}

/* The slowest rank's times, the same on all ranks. */
static int slowest(coll_shuffle_module *m, struct times *t)
{
	struct times *all = malloc(m->size * sizeof(*all));
	int i, k, way, rc;

	if (!all)
		return OMPI_ERR_OUT_OF_RESOURCE;
	rc = gather(m, t, sizeof(*t), all);
	for (i = 0; !rc && i < m->size; i++)
		for (k = 0; k < COLL_SHUFFLE_CLASSES; k++)
			for (way = 0; way < 2; way++)
				if (all[i].of[k][way] > t->of[k][way])
					t->of[k][way] = all[i].of[k][way];
	free(all);
	return rc;
}

/* What is too large to be timed is like the class below. */
static void decide(coll_shuffle_module *m, int timed, const struct times *t)
{
	uint32_t bit;
	int i;

	for (i = 0; i < COLL_SHUFFLE_CLASSES; i++) {
		bit = 1U << i;
		if (i < timed ? t->of[i][1] < BETTER * t->of[i][0] :
				m->sizes.before & (bit >> 1))
			m->sizes.before |= bit;
	}
	m->sizes.known = ALL;
	remember(m);
}

static void say(const coll_shuffle_module *m, int timed, const struct times *t)
{
	char line[80 * COLL_SHUFFLE_CLASSES];
	size_t at = 0;
	int i;

	for (i = 0; i < timed; i++)
		at += snprintf(line + at, sizeof(line) - at, "%s %zu bytes %.0f/%.0f%s",
			       i ? "," : "", classes[i].timed, t->of[i][0] * 1e6,
			       t->of[i][1] * 1e6, m->sizes.before & 1U << i ? " (before)" : "");
	coll_shuffle_say("%s: us over AF_SHUFFLE/by the component before:%s",
			 coll_shuffle_comm_name(m->comm), line);
}

/* Has every rank the memory?  Nobody waits for one that has not. */
static int all_have_memory(coll_shuffle_module *m, bool mine, bool *all)
{
	char have = mine, *have_all = malloc(m->size);
	int i, rc = OMPI_ERR_OUT_OF_RESOURCE;

	if (have_all)
		rc = gather(m, &have, 1, have_all);
	*all = !rc;
	for (i = 0; !rc && i < m->size; i++)
		*all &= have_all[i];
	free(have_all);
	return rc;
}

int coll_shuffle_sizes_find(coll_shuffle_module *m)
{
	size_t room = MOST_BYTES / m->size;
	struct times t = { 0 };
	char *row, *column;
	int i, timed = 0, rc;
	bool memory;

	if (m->sizes.known == ALL || m->state != COLL_SHUFFLE_READY || ++m->blocking != AT_CALL)
		return OMPI_SUCCESS;
	while (timed < COLL_SHUFFLE_CLASSES && classes[timed].timed <= room)
		timed++;
	room = m->size * classes[timed - 1].timed;
	row = calloc(1, room);
	column = calloc(1, room);
	rc = all_have_memory(m, row && column, &memory);
	if (!rc && !memory) {
		free(row);
		free(column);
		m->sizes.known = ALL;
		return OMPI_SUCCESS;
	}
	for (i = 0; !rc && i < timed; i++)
		rc = time_class(m, i, row, column, t.of[i]);
	free(row);
	free(column);
	if (!rc)
		rc = slowest(m, &t);
	if (rc)
		return rc;
	decide(m, timed, &t);
	if (!m->rank)
		say(m, timed, &t);
	return OMPI_SUCCESS;
}
