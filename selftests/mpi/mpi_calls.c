// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What mpi_random does not cover: rows larger than the send buffer, calls that must
 * not wait, threads, sleeping, errors.  Exit status 0 and "ok" from rank 0 when all
 * ranks found what they should.
 *
 * usage: mpi_calls all BYTES REPEATS	MPI_Alltoallv of BYTES for each pair
 *        mpi_calls order		non-blocking calls first, out of order
 *        mpi_calls again [early]	persistent calls, which start again and again
 *        mpi_calls threads		MPI_THREAD_MULTIPLE, a communicator each
 *        mpi_calls late		a rank is late: do the others sleep?
 *        mpi_calls silent		the last rank stops: an error class
 *        mpi_calls short		a message longer than its receiver expects
 *        mpi_calls kill		the last rank dies
 *        mpi_calls dies		likewise, in a call, and nobody ends the others
 *        mpi_calls zero		no data: nobody is waited for
 *        mpi_calls many N		N communicators at once
 *        mpi_calls outstanding N BYTES	N non-blocking calls at once, BYTES for each pair
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "persistent.h"

#define THREADS	3

static int rank, size;

static unsigned char byte_of(int from, int to, size_t k, int salt)
{
	return from * 37 + to * 11 + k * 7 + (k >> 8) + salt;
}

struct buffers {
	unsigned char *s;
	unsigned char *r;
	int *counts;
	int *disps;
	size_t each;
};

static void prepare(struct buffers *b, size_t each, int salt)
{
	size_t k;
	int i;

	b->each = each;
	b->s = malloc(each * size + 1);
	b->r = malloc(each * size + 1);
	b->counts = malloc(size * sizeof(int));
	b->disps = malloc(size * sizeof(int));
	memset(b->r, 0xee, each * size + 1);
	for (i = 0; i < size; i++) {
		b->counts[i] = each;
		b->disps[i] = i * each;
		for (k = 0; k < each; k++)
			b->s[i * each + k] = byte_of(rank, i, k, salt);
	}
}

static int wrong(struct buffers *b, int salt)
{
	size_t k;
	int i;

	for (i = 0; i < size; i++) {
		for (k = 0; k < b->each; k++) {
			if (b->r[i * b->each + k] == byte_of(i, rank, k, salt))
				continue;
			printf("rank %d: byte %zu of %zu from rank %d is wrong\n", rank, k,
			       b->each, i);
			return 1;
		}
	}
	return b->r[b->each * size] != 0xee;
}

static void release(struct buffers *b)
{
	free(b->s);
	free(b->r);
	free(b->counts);
	free(b->disps);
}

static int exchange(struct buffers *b, MPI_Comm comm)
{
	return MPI_Alltoallv(b->s, b->counts, b->disps, MPI_BYTE, b->r, b->counts, b->disps,
			     MPI_BYTE, comm);
}

static int all(size_t each, int repeats)
{
	struct buffers b;
	int i, bad = 0;

	for (i = 0; i < repeats && !bad; i++) {
		prepare(&b, each, i);
		exchange(&b, MPI_COMM_WORLD);
		bad = wrong(&b, i);
		release(&b);
	}
	return bad;
}

/* A first call that waited for the others would never return here. */
static int order(void)
{
	struct buffers b[8];
	MPI_Request reqs[8];
	int i, token = 0, bad = 0, flag;
	MPI_Comm comm, later;
	MPI_Request dup;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	for (i = 0; i < 8; i++)
		prepare(&b[i], i == 5 ? 700000 : i * 1000, i);
	if (rank) {
		MPI_Recv(&token, 1, MPI_INT, rank - 1, 7, comm, MPI_STATUS_IGNORE);
		bad += token != rank - 1;
	}
	for (i = 0; i < 4; i++)
		MPI_Ialltoallv(b[i].s, b[i].counts, b[i].disps, MPI_BYTE, b[i].r, b[i].counts,
			       b[i].disps, MPI_BYTE, comm, &reqs[i]);
	if (rank < size - 1)
		MPI_Send(&rank, 1, MPI_INT, rank + 1, 7, comm);
	MPI_Comm_idup(comm, &later, &dup);
	for (i = 4; i < 8; i++)
		MPI_Ialltoallv(b[i].s, b[i].counts, b[i].disps, MPI_BYTE, b[i].r, b[i].counts,
			       b[i].disps, MPI_BYTE, comm, &reqs[i]);
	MPI_Wait(&dup, MPI_STATUS_IGNORE);
	MPI_Wait(&reqs[6], MPI_STATUS_IGNORE);
	bad += wrong(&b[6], 6);
	do
		MPI_Testall(4, reqs, &flag, MPI_STATUSES_IGNORE);
	while (!flag);
	MPI_Waitall(8, reqs, MPI_STATUSES_IGNORE);
	for (i = 0; i < 8; i++) {
		bad += wrong(&b[i], i);
		memset(b[i].r, 0xee, b[i].each * size);
	}
	/* a blocking call behind a background start, then free with all at rest */
	MPI_Ialltoallv(b[1].s, b[1].counts, b[1].disps, MPI_BYTE, b[1].r, b[1].counts, b[1].disps,
		       MPI_BYTE, later, &reqs[1]);
	exchange(&b[2], later);
	MPI_Wait(&reqs[1], MPI_STATUS_IGNORE);
	bad += wrong(&b[1], 1) + wrong(&b[2], 2);
	MPI_Comm_free(&later);
	MPI_Comm_free(&comm);
	for (i = 0; i < 8; i++)
		release(&b[i]);
	return bad;
}

#ifdef PERSISTENT
/* Three persistent calls.  @early: their communicator is freed before they start, which Open MPI's
 * own ones do not survive.
 */
static int again(int early)
{
	MPI_Datatype *types = malloc(size * sizeof(*types)), byte;
	MPI_Request reqs[3];
	struct buffers b[3];
	int i, k, bad = 0;
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Type_dup(MPI_BYTE, &byte);
	for (k = 0; k < size; k++)
		types[k] = byte;
	for (i = 0; i < 3; i++)
		prepare(&b[i], 1000 + 70000 * i, i);
	PERSISTENT(Alltoall)(b[0].s, b[0].each, MPI_BYTE, b[0].r, b[0].each, byte, comm,
			     MPI_INFO_NULL, &reqs[0]);
	PERSISTENT(Alltoallv)(b[1].s, b[1].counts, b[1].disps, byte, b[1].r, b[1].counts,
			      b[1].disps, MPI_BYTE, comm, MPI_INFO_NULL, &reqs[1]);
	PERSISTENT(Alltoallw)(b[2].s, b[2].counts, b[2].disps, types, b[2].r, b[2].counts,
			      b[2].disps, types, comm, MPI_INFO_NULL, &reqs[2]);
	MPI_Type_free(&byte);
	if (early)
		MPI_Comm_free(&comm);
	for (k = 0; k < 4; k++) {
		/* one by one, or all at once */
		for (i = 0; i < 3 && k % 2; i++)
			MPI_Start(&reqs[i]);
		if (k % 2 == 0)
			MPI_Startall(3, reqs);
		MPI_Waitall(3, reqs, MPI_STATUSES_IGNORE);
		for (i = 0; i < 3; i++) {
			bad += wrong(&b[i], i);
			memset(b[i].r, 0xee, b[i].each * size);
		}
	}
	for (i = 0; i < 3; i++) {
		MPI_Request_free(&reqs[i]);
		release(&b[i]);
	}
	if (!early)
		MPI_Comm_free(&comm);
	free(types);
	return bad;
}
#else
static int again(int early)
{
	return 1 + early;
}
#endif

static void *in_thread(void *arg)
{
	MPI_Comm comm = *(MPI_Comm *)arg;
	struct buffers b;
	MPI_Request req;
	long bad = 0;
	int i;

	for (i = 0; i < 40; i++) {
		prepare(&b, (i % 7) * 3001, i);
		if (i % 3) {
			exchange(&b, comm);
		} else {
			MPI_Ialltoallv(b.s, b.counts, b.disps, MPI_BYTE, b.r, b.counts, b.disps,
				       MPI_BYTE, comm, &req);
			MPI_Wait(&req, MPI_STATUS_IGNORE);
		}
		bad += wrong(&b, i);
		release(&b);
	}
	return (void *)bad;
}

static int threads(int provided)
{
	MPI_Comm comms[THREADS];
	pthread_t t[THREADS];
	void *result;
	long bad = 0;
	int i;

	if (provided < MPI_THREAD_MULTIPLE) {
		printf("no MPI_THREAD_MULTIPLE\n");
		return 1;
	}
	for (i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, in_thread, &comms[i]);
	for (i = 0; i < THREADS; i++) {
		pthread_join(t[i], &result);
		bad += (long)result;
		MPI_Comm_free(&comms[i]);
	}
	return bad;
}

static long switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

/* Who waits for three seconds must sleep.  Who asks all the time, and yields the
 * processor, is switched to thousands of times a second; processor time would depend
 * on what else the machine does.
 */
static int late(void)
{
	struct buffers b;
	double start, a_second;
	long before;
	int bad;

	prepare(&b, 1000, 1);
	exchange(&b, MPI_COMM_WORLD);
	if (!rank)
		sleep(3);
	before = switches();
	start = MPI_Wtime();
	exchange(&b, MPI_COMM_WORLD);
	a_second = (switches() - before) / (MPI_Wtime() - start);
	bad = wrong(&b, 1);
	printf("rank %d: %.0f switches a second\n", rank, a_second);
	bad += rank && a_second > 1500;
	release(&b);
	return bad;
}

static void silent(void)
{
	char text[MPI_MAX_ERROR_STRING];
	int rc, class, len;
	struct buffers b;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	prepare(&b, 100000, 1);
	exchange(&b, MPI_COMM_WORLD);
	if (rank == size - 1)
		pause();
	rc = exchange(&b, MPI_COMM_WORLD);
	MPI_Error_class(rc, &class);
	MPI_Error_string(rc, text, &len);
	printf("rank %d: class %d, %s\n", rank, class == MPI_ERR_OTHER, text);
	fflush(stdout);
	/* the one that stopped never comes here: nobody can finalize */
	sleep(1);
	if (!rank)
		MPI_Abort(MPI_COMM_WORLD, 3);
	pause();
}

static int too_long(void)
{
	struct buffers b;
	int rc, class, i;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	prepare(&b, 1000, 1);
	for (i = 0; i < size; i++)
		b.counts[i] = 1000;
	if (!rank) {
		int *less = malloc(size * sizeof(int));

		for (i = 0; i < size; i++)
			less[i] = i ? 900 : 1000;
		rc = MPI_Alltoallv(b.s, b.counts, b.disps, MPI_BYTE, b.r, less, b.disps, MPI_BYTE,
				   MPI_COMM_WORLD);
		free(less);
		MPI_Error_class(rc, &class);
		for (i = 1; i < size; i++)
			if (b.r[i * 1000 + 899] == 0xee || b.r[i * 1000 + 900] != 0xee)
				return 1;
		return class != MPI_ERR_TRUNCATE;
	}
	rc = exchange(&b, MPI_COMM_WORLD);
	return rc != MPI_SUCCESS || wrong(&b, 1);
}

/* Rank 0 ends its call before the others have begun theirs: it has nothing to wait for. */
static int zero(void)
{
	MPI_Request req;
	struct buffers b;
	int bad, token = 0;

	bad = all(10, 1);	/* they agree */
	prepare(&b, 0, 1);
	if (rank)
		MPI_Recv(&token, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Ialltoallv(b.s, b.counts, b.disps, MPI_BYTE, b.r, b.counts, b.disps, MPI_BYTE,
		       MPI_COMM_WORLD, &req);
	MPI_Wait(&req, MPI_STATUS_IGNORE);
	if (rank < size - 1)
		MPI_Send(&rank, 1, MPI_INT, rank + 1, 7, MPI_COMM_WORLD);
	release(&b);
	return bad + all(1000, 2);
}

/* Every second one begins with a call that must not wait. */
static int many(int n)
{
	struct buffers *b = calloc(n, sizeof(*b));
	MPI_Request *req = calloc(n, sizeof(*req));
	MPI_Comm *comm = calloc(n, sizeof(*comm));
	int i, bad = 0;

	for (i = 0; i < n; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
		prepare(&b[i], 1000, i);
		req[i] = MPI_REQUEST_NULL;
		if (i % 2)
			exchange(&b[i], comm[i]);
		else
			MPI_Ialltoallv(b[i].s, b[i].counts, b[i].disps, MPI_BYTE, b[i].r,
				       b[i].counts, b[i].disps, MPI_BYTE, comm[i], &req[i]);
	}
	MPI_Waitall(n, req, MPI_STATUSES_IGNORE);
	for (i = 0; i < n; i++) {
		bad += wrong(&b[i], i);
		release(&b[i]);
		MPI_Comm_free(&comm[i]);
	}
	free(comm);
	free(req);
	free(b);
	return bad;
}

static int outstanding(int n, size_t each)
{
	struct buffers *b = malloc(n * sizeof(*b));
	MPI_Request *reqs = malloc(n * sizeof(MPI_Request));
	int i, bad = 0;

	for (i = 0; i < n; i++) {
		prepare(&b[i], each, i);
		MPI_Ialltoallv(b[i].s, b[i].counts, b[i].disps, MPI_BYTE, b[i].r, b[i].counts,
			       b[i].disps, MPI_BYTE, MPI_COMM_WORLD, &reqs[i]);
	}
	MPI_Waitall(n, reqs, MPI_STATUSES_IGNORE);
	for (i = 0; i < n; i++) {
		bad += wrong(&b[i], i);
		release(&b[i]);
	}
	free(reqs);
	free(b);
	return bad;
}

static void die(void)
{
	struct buffers b;

	prepare(&b, 100000, 1);
	exchange(&b, MPI_COMM_WORLD);
	if (rank == size - 1)
		raise(SIGKILL);
	exchange(&b, MPI_COMM_WORLD);
}

/* The last rank dies in its call: the first ones are in theirs, or come later. */
static void outlive(void)
{
	int rc, class, i;
	MPI_Request req;
	struct buffers b;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	prepare(&b, 100000, 1);
	exchange(&b, MPI_COMM_WORLD);
	if (rank == size - 1) {
		MPI_Ialltoallv(b.s, b.counts, b.disps, MPI_BYTE, b.r, b.counts, b.disps, MPI_BYTE,
			       MPI_COMM_WORLD, &req);
		sleep(1);
		raise(SIGKILL);
	}
	if (rank)
		sleep(2);
	for (i = 0; i < 3; i++) {
		rc = exchange(&b, MPI_COMM_WORLD);
		MPI_Error_class(rc, &class);
		printf("rank %d: call %d: class %d\n", rank, i, class == MPI_ERR_OTHER);
		fflush(stdout);
	}
	sleep(2);
	if (!rank)
		MPI_Abort(MPI_COMM_WORLD, 3);
	pause();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int bad = 0, total, provided;

	MPI_Init_thread(&argc, &argv,
			strcmp(what, "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE,
			&provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!strcmp(what, "all") && argc == 4)
		bad = all(strtoull(argv[2], NULL, 0), atoi(argv[3]));
	else if (!strcmp(what, "order"))
		bad = order();
	else if (!strcmp(what, "again"))
		bad = again(argc > 2);
	else if (!strcmp(what, "threads"))
		bad = threads(provided);
	else if (!strcmp(what, "late"))
		bad = late();
	else if (!strcmp(what, "silent"))
		silent();
	else if (!strcmp(what, "short"))
		bad = too_long();
	else if (!strcmp(what, "zero"))
		bad = zero();
	else if (!strcmp(what, "many") && argc == 3)
		bad = many(atoi(argv[2]));
	else if (!strcmp(what, "outstanding") && argc == 4)
		bad = outstanding(atoi(argv[2]), strtoull(argv[3], NULL, 0));
	else if (!strcmp(what, "kill"))
		die();
	else if (!strcmp(what, "dies"))
		outlive();
	else
		bad = 1;
	MPI_Reduce(&bad, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("%s\n", total ? "FAILED" : "ok");
	MPI_Finalize();
	return bad != 0;
}
