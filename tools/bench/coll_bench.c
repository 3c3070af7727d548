// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A collective of libshuffle on all hosts of a rack, from a common start to the end of the last.
 *
 * usage: coll_bench -C KIND:BYTES[:PATTERN[:RADIX]] [-E ENGINE] [-m] [-N NS]
 *                   [options of shuffle_bench] MATRIX
 *   KIND     barrier, bcast, scatter, gather, allgather, reduce, allreduce, alltoall
 *   BYTES    of each member, of the vector, or from each member to each other one
 *   PATTERN  of libshuffle (default auto)
 *   ENGINE   kernel, user or auto (default)
 *   -m       with a multicast address
 *   NS       measure nothing: another program has, print its result
 *   MATRIX   says how many hosts there are, nothing else
 *
 * The lower bound is that of the kind: no member sends or receives less, and each hears of all it
 * has to hear of.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/shuffle_coll.h"
#include "bench.h"
#include "members.h"

#define PORT	7018	/* unless -p */

static const char *const kinds[] = {
	"barrier", "bcast", "scatter", "gather", "allgather", "reduce", "allreduce",
	"alltoall",
};

enum { BARRIER, BCAST, SCATTER, GATHER, ALLGATHER, REDUCE, ALLREDUCE, ALLTOALL, KINDS };

static unsigned int kind, radix;
static size_t size;
static const char *pattern = "auto", *engine = "auto";
static bool multicast;
static uint64_t op_base;
static int64_t others_ns;
static struct shuffle_coll *coll;
static uint64_t *from, *to;

#define SUM	SHUFFLE_ITEMS(SHUFFLE_COLL_SUM, SHUFFLE_COLL_U64)

/* The first number of what a member gets. */
static uint64_t expected(unsigned int round)
{
	uint64_t n = bench_hosts, all = n * (n - 1) / 2 + n * round;

	switch (kind) {
	case BCAST:
	case GATHER:
	case ALLGATHER:
		return round;		/* rank 0's */
	case SCATTER:
	case ALLTOALL:
		return round + bench_self;
	default:
		return all;
	}
}

static bool has_result(void)
{
	return size && kind != BARRIER &&
	       (!bench_self || (kind != GATHER && kind != REDUCE));
}

/* The first number of what we have for a member, of the first round. */
static uint64_t first_for(unsigned int member)
{
	switch (kind) {
	case SCATTER:
		return member;
	case ALLTOALL:
		return bench_self * bench_hosts + member;
	default:
		return bench_self;
	}
}

static void prepare(unsigned int round)
{
	unsigned int i;

	for (i = 0; i < bench_hosts && size; i++)
		from[i * (size / sizeof(*from))] = round + first_for(i);
	memset(to, 0, size);
	if (kind == BCAST && size)
		to[0] = bench_self ? 0 : round;
}

static int call(void)
{
	switch (kind) {
	case BARRIER:
		return shuffle_barrier(coll);
	case BCAST:
		return shuffle_broadcast(coll, to, size, 0);
	case SCATTER:
		return shuffle_scatter(coll, from, to, size, 0);
	case GATHER:
		return shuffle_gather(coll, from, to, size, 0);
	case ALLGATHER:
		return shuffle_allgather(coll, from, to, size);
	case REDUCE:
		return shuffle_reduce(coll, from, to, size, 8, shuffle_combine_items, SUM, 0);
	case ALLTOALL:
		return shuffle_alltoall(coll, from, to, size);
	default:
		return shuffle_allreduce(coll, from, to, size, 8, shuffle_combine_items, SUM);
	}
}

static void run(unsigned int round)
{
	struct bench_host *h = &bench->host[bench_self];
	unsigned int i;

	if (call()) {
		h->error = errno;
		snprintf(h->why, sizeof(h->why), "%s: %s", kinds[kind], strerror(errno));
		return;
	}
	h->last_ns = bench_now();
	/* all that the report asks for has come */
	for (i = 0; i < bench_hosts; i++)
		h->rx_bytes += matrix_len(bench_matrix, i, bench_self);
	if (has_result() && to[0] != expected(round)) {
		h->error = EBADMSG;
		snprintf(h->why, sizeof(h->why), "%s: wrong result", kinds[kind]);
	}
}

static void finish(unsigned int round)
{
	(void)round;
}

static double bound(void)
{
	double rtt = bench_opt.rtt_ns, bytes = size * 8e9 / bench_opt.rate_bps;

	switch (kind) {
	case BARRIER:
		return rtt;
	case BCAST:
	case REDUCE:
		return size > 1500 ? bytes + rtt : rtt / 2;
	case SCATTER:
	case GATHER:
	case ALLGATHER:
	case ALLTOALL:
		return bytes * (bench_hosts - 1) + rtt;
	default:
		return size > 1500 ? 2 * bytes * (bench_hosts - 1) / bench_hosts + rtt : rtt;
	}
}

/* rack.sh: each rack has a part of the hosts, in order. */
static int set_racks(void)
{
	unsigned int *rack, i, racks = bench_opt.racks;
	int rc;

	if (racks <= 1)
		return 0;
	rack = malloc(racks * sizeof(*rack));
	for (i = 0; rack && i < racks; i++)
		rack[i] = (i + 1) * bench_hosts / racks - i * bench_hosts / racks;
	rc = rack ? shuffle_coll_racks(coll, rack, racks) : -1;
	free(rack);
	return rc;
}

static int open_host(struct sockaddr_shuffle *members)
{
	struct sockaddr_shuffle group;
	int fd;

	if (!multicast)
		return shuffle_open(members, bench_hosts, bench_self, SOCK_CLOEXEC);
	fd = shuffle_bind(&members[bench_self], SOCK_CLOEXEC);
	if (fd < 0 || shuffle_addr(&group, "239.18.0.1", PORT) ||
	    shuffle_multicast(fd, &group, 1) ||
	    shuffle_join(fd, members, bench_hosts, bench_self))
		return -1;
	return fd;
}

static void host_main(void)
{
	static const struct bench_steps steps = { prepare, run, finish };
	struct sockaddr_shuffle *members = bench_members();
	int fd;

	from = calloc(bench_hosts, size + sizeof(*from));
	to = calloc(bench_hosts, size + sizeof(*to));
	if (!from || !to)
		bench_die("out of memory");
	fd = open_host(members);
	coll = fd < 0 ? NULL : shuffle_coll_new(fd, bench_self, bench_hosts, op_base);
	if (!coll || shuffle_coll_pattern(coll, pattern, radix) ||
	    shuffle_coll_engine(coll, engine) || set_racks())
		bench_die("host %u: %s", bench_self, strerror(errno));
	shuffle_coll_timeout(coll, (BENCH_ROUND_S - 5) * 1000);
	bench_wait();
	if (multicast && shuffle_coll_multicast(coll) != 1)
		bench_die("host %u: no multicast", bench_self);
	bench_host_rounds(&steps);
	shuffle_coll_free(coll);
	close(fd);
}

/* KIND:BYTES[:PATTERN[:RADIX]] */
static bool parse(char *text)
{
	char *bytes = strchr(text, ':'), *name, *r;

	if (!bytes)
		return false;
	*bytes++ = '\0';
	name = strchr(bytes, ':');
	if (name)
		*name++ = '\0';
	r = name ? strchr(name, ':') : NULL;
	if (r)
		*r++ = '\0';
	while (kind < KINDS && strcmp(kinds[kind], text))
		kind++;
	size = strtoul(bytes, NULL, 10);
	pattern = name ? name : pattern;
	radix = r ? atoi(r) : 0;
	return kind < KINDS && size % sizeof(*from) == 0;
}

int main(int argc, char **argv)
{
	bool chosen = false;
	int opt;

	bench_opt.transport = "shuffle";
	bench_opt.warmup = 1;
	while ((opt = getopt(argc, argv, BENCH_OPTIONS "C:E:mN:")) != -1) {
		if (bench_option(opt, optarg))
			continue;
		if (opt == 'm') {
			multicast = true;
			continue;
		}
		if (opt == 'E') {
			engine = optarg;
			continue;
		}
		if (opt == 'N') {
			others_ns = atoll(optarg);
			continue;
		}
		chosen = opt == 'C' && parse(optarg);
		if (!chosen)
			break;
	}
	if (!chosen || optind + 1 != argc) {
		fprintf(stderr, "usage: coll_bench -C KIND:BYTES[:PATTERN[:K]] [-E ENGINE] [-m] [-N NS] "
			BENCH_USAGE " MATRIX\n");
		return 2;
	}
	if (!bench_opt.port)
		bench_opt.port = PORT;
	bench_init(bench_read_matrix(argv[optind]));
	bench_opt.bound_ns = bound();
	if (others_ns) {
		printf("BENCH case=%s hosts=%u transport=%s run=%u ok=1 ", bench_case, bench_hosts,
		       bench_opt.transport, bench_opt.run);
		printf("completion_ns=%lld bound_ns=%.0f slowdown=%.4f\n", (long long)others_ns,
		       bench_opt.bound_ns, others_ns / bench_opt.bound_ns);
		return 0;
	}
	bench_queues_open(true);
	op_base = (uint64_t)bench_now() << 8;
	bench_fork(host_main);
	bench_wait();
	return bench_rounds(NULL);
}
