// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An all-reduce of records through relays: what all hosts have of a key becomes one record, which
 * all get.  From a common start until the last host has the last byte.
 *
 * usage: agg_allreduce [-M RECORDS] [-K RACKS] [-N PIECES] [options of shuffle_bench] MATRIX
 *   -M RECORDS  of each host (default 65536, which are 1 MiB)
 *   -K RACKS    machines of relays (default 4)
 *   -N PIECES   of a slice (default 8): operations one behind the other
 *   MATRIX      says how many hosts there are, nothing else: the last RACKS are the relays'
 *
 * Keys are cut into as many slices as there are racks, each with a tree of its own.  In slice s,
 * whose members are the H hosts, the K relays and one more:
 *
 *     hosts of a rack --> relay of the rack --> top --> all hosts
 *                         ranks H .. H+K-1      H+K
 *
 * Relays are what those of shuffle-relayd are; top, on the machine of relay s, is the receiver and
 * sends what it gets on, in an operation of its own on the tree's socket for each piece.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../lib/shuffle_tree.h"
#include "agg.h"

#define PORT		7100	/* of slice 0's hosts and relays, unless -p */
#define MOST_RACKS	8
#define MOST_PIECES	64
#define MOST_MEMBERS	64
#define CONNECT_MS	20000

static unsigned int racks = 4, pieces = 8, hosts, members;	/* hosts that send; of a group */

/* its rank in a slice's group, behind those of hosts and relays */
#define TOP	(hosts + racks)

static uint64_t records = 65536, piece, op_base;

/**
 * struct member - of a slice's tree
 * @t: the library's
 * @slice: which
 * @rank: ours
 * @children: of its tree
 */
struct member {
	struct shuffle_tree *t;
	unsigned int slice, rank, children;
};

/**
 * struct sending - what top sends on
 * @tx: its row
 * @result: the bytes
 * @lens: of the row
 * @bufs: likewise
 */
struct sending {
	struct shuffle_tx tx;
	struct shuffle_key_value *result;
	uint64_t lens[MOST_MEMBERS];
	const void *bufs[MOST_MEMBERS];
};

/* this host's */
static struct shuffle_key_value *own, *result;
static struct member member[MOST_RACKS + 1];
static unsigned int member_count, waits;	/* operations that have not ended */
static struct sending *sending;		/* of a top, by the piece */
static uint64_t sending_bits;
static const uint64_t *no_bits;
static int poller;

static bool is_relay(void)
{
	return bench_self >= hosts;
}

static uint64_t value_of(unsigned int host, uint64_t i, unsigned int round)
{
	return i * 3 + (uint64_t)host * 1000003 + round;
}

static void prepare(unsigned int round)
{
	uint64_t i;

	for (i = 0; i < records && !is_relay(); i++) {
		own[i].key = i << 40 | agg_mix(i) >> 24;
		own[i].value = value_of(bench_self, i, round);
	}
	memset(result, 0, records * sizeof(*result));
}

static uint64_t op_of(unsigned int round, unsigned int k)
{
	return op_base + (uint64_t)round * pieces + k;
}

/* Something of a result, at a host; at a top that it has arrived. */
static void record_came(void *arg, const struct shuffle_record *r, const void *data)
{
	const struct member *m = arg;
	unsigned int k = (r->op_id - op_base) % pieces;

	switch (r->type) {
	case SHUFFLE_RECORD_DATA:
		if (r->offset + r->len > piece * sizeof(*own)) {
			agg_fail(EMSGSIZE, "too much", r->rank);
			break;
		}
		memcpy((char *)(result + (m->slice * pieces + k) * piece) + r->offset, data,
		       r->len);
		if (r->flags & SHUFFLE_RECORD_LAST)
			bench->host[bench_self].last_ns = bench_now();
		break;
	case SHUFFLE_RECORD_FAILED:
		agg_fail(r->error, "failed", m->slice);
		break;
	case SHUFFLE_RECORD_DONE:
		waits--;
		break;
	}
}

/* A host waits for what top sends. */
static void expect(const struct member *m, uint64_t op)
{
	uint64_t bits = ~(1ULL << TOP), lens[MOST_MEMBERS];
	const void *bufs[MOST_MEMBERS] = { NULL };
	struct shuffle_tx tx;
	unsigned int i;

	if (members < 64)
		bits &= (1ULL << members) - 1;
	for (i = 0; i < members; i++)
		lens[i] = SHUFFLE_ABSENT;
	shuffle_tx_init(&tx, op, bufs, lens, members, 0);
	shuffle_tx_absent(&tx, &bits);
	if (shuffle_tx_step(shuffle_tree_socket(m->t), &tx) != 1)
		agg_fail(errno, "expect", m->slice);
}

/* A result goes to all hosts, as far as the kernel takes it now. */
static void push(const struct member *m, unsigned int k)
{
	struct sending *s = &sending[k];
	int rc = shuffle_tx_step(shuffle_tree_socket(m->t), &s->tx);

	if (!rc)
		return;
	if (rc < 0)
		agg_fail(errno, "send", m->slice);
	sending_bits &= ~(1ULL << k);
	free(s->result);
	s->result = NULL;
}

static void send_on(const struct member *m, const struct shuffle_tree_end *end)
{
	unsigned int k = (end->op_id - op_base) % pieces, i;
	struct sending *s = &sending[k];

	s->result = end->result;
	for (i = 0; i < members; i++) {
		s->lens[i] = i < hosts ? end->results * sizeof(*s->result) : SHUFFLE_ABSENT;
		s->bufs[i] = i < hosts ? s->result : NULL;
	}
	shuffle_tx_init(&s->tx, end->op_id, s->bufs, s->lens, members, 0);
	shuffle_tx_absent(&s->tx, no_bits);
	sending_bits |= 1ULL << k;
	push(m, k);
}

/* Whatever there is to do now. */
static void step(void)
{
	struct shuffle_tree_end end;
	unsigned int i, k;

	for (i = 0; i < member_count; i++) {
		const struct member *m = &member[i];

		while (shuffle_tree_wait(m->t, &end, 0) == 1) {
			waits--;
			if (end.fault.error)
				agg_fail(end.fault.error, "failed", end.fault.rank);
			else if (m->rank == TOP)
				send_on(m, &end);
		}
		for (k = 0; k < pieces && m->rank == TOP; k++)
			if (sending_bits >> k & 1)
				push(m, k);
	}
}

static void wait_for_any(void)
{
	struct epoll_event e;

	epoll_wait(poller, &e, 1, sending_bits ? 1 : 20);
}

static void run(unsigned int round)
{
	unsigned int i, k;

	for (k = 0; k < pieces; k++) {
		for (i = 0; i < member_count; i++) {
			const struct member *m = &member[i];
			bool host = m->rank < hosts;

			if (m->rank != TOP && !host)
				continue;
			if (host)
				expect(m, op_of(round, k));
			if (shuffle_tree_start(m->t, op_of(round, k),
					       host ? own + (m->slice * pieces + k) * piece : NULL,
					       host ? piece : 0))
				agg_fail(errno, "start", m->slice);
			/* that of the tree, and that of the result */
			waits += 2;
		}
	}
	while (waits && !bench->host[bench_self].error) {
		step();
		if (waits)
			wait_for_any();
	}
}

static void check(unsigned int round)
{
	uint64_t i, sum;
	unsigned int k;

	for (i = 0; i < records; i++) {
		sum = 0;
		for (k = 0; k < hosts; k++)
			sum += value_of(k, i, round);
		if (result[i].key != own[i].key || result[i].value != sum) {
			agg_fail(EBADMSG, "wrong result", i * racks / records);
			return;
		}
	}
}

static void finish(unsigned int round)
{
	step();
	if (!is_relay() && !bench->host[bench_self].error)
		check(round);
	agg_has_come();
}

static void address(struct sockaddr_shuffle *a, unsigned int host, unsigned int port)
{
	uint32_t ip = bench_addr(host);
	char text[32];

	snprintf(text, sizeof(text), "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255,
		 ip & 255);
	if (shuffle_addr(a, text, port))
		bench_die("%s", text);
}

static void open_member(unsigned int slice, unsigned int rank)
{
	struct member *m = &member[member_count++];
	struct shuffle_edge edge[MOST_MEMBERS] = { 0 };
	struct epoll_event e = { .events = EPOLLIN };
	uint32_t child[MOST_MEMBERS];
	uint64_t senders = (1ULL << hosts) - 1;
	struct shuffle_tree_spec spec = {
		.size = sizeof(spec), .rank = rank, .members = edge, .count = members,
		.child = child, .oper = SHUFFLE_KEYS_SUM, .flags = SHUFFLE_KEYS_SORTED,
		.record = record_came, .arg = m,
	};
	unsigned int i;

	for (i = 0; i < hosts + racks; i++)
		address(&edge[i].member, i, bench_opt.port + slice);
	address(&edge[TOP].member, hosts + slice, bench_opt.port + MOST_RACKS);
	if (rank == TOP) {
		spec.parent = SHUFFLE_TREE_NOBODY;
		spec.senders = &senders;
		for (i = 0; i < racks; i++)
			child[spec.children++] = hosts + i;
	} else if (rank >= hosts) {
		spec.parent = TOP;
		spec.flags |= SHUFFLE_TREE_RELAY;
		for (i = 0; i < hosts; i++)
			if (i * racks / hosts == rank - hosts)
				child[spec.children++] = i;
	} else {
		spec.parent = hosts + rank * racks / hosts;
	}
	*m = (struct member){ shuffle_tree_open(&spec), slice, rank, spec.children };
	if (!m->t || epoll_ctl(poller, EPOLL_CTL_ADD, shuffle_tree_fd(m->t), &e))
		bench_die("host %u: slice %u: %s", bench_self, slice, strerror(errno));
	agg_buffers(shuffle_tree_socket(m->t));
}

static bool connected(void)
{
	struct shuffle_tree_counts c;
	unsigned int i;

	for (i = 0; i < member_count; i++) {
		shuffle_tree_count(member[i].t, &c);
		if (c.children_up < member[i].children || c.up == (member[i].rank == TOP))
			return false;
	}
	return true;
}

static void host_main(void)
{
	static const struct bench_steps steps = { prepare, run, finish };
	int64_t until = bench_now() + CONNECT_MS * NS_PER_MS;
	uint64_t bits = (members < 64 ? 1ULL << members : 0) - 1;
	unsigned int s;

	no_bits = &bits;
	own = calloc(records, sizeof(*own));
	result = calloc(records, sizeof(*result));
	sending = calloc(pieces, sizeof(*sending));
	poller = epoll_create1(EPOLL_CLOEXEC);
	if (!own || !result || !sending || poller < 0)
		bench_die("out of memory");
	for (s = 0; s < racks; s++) {
		open_member(s, bench_self);
		if (bench_self == hosts + s)
			open_member(s, TOP);
	}
	while (!connected()) {
		if (bench_now() > until)
			bench_die("host %u: neighbours are missing", bench_self);
		step();
		wait_for_any();
	}
	bench_wait();
	bench_host_rounds(&steps);
	for (s = 0; s < member_count; s++)
		shuffle_tree_close(member[s].t);
}

static void usage(void)
{
	fprintf(stderr,
		"usage: agg_allreduce [-M RECORDS] [-K RACKS] [-N PIECES] " BENCH_USAGE " MATRIX\n");
	exit(2);
}

int main(int argc, char **argv)
{
	int opt;

	bench_opt.transport = "shuffle";
	bench_opt.warmup = 1;
	while ((opt = getopt(argc, argv, BENCH_OPTIONS "K:M:N:")) != -1) {
		if (bench_option(opt, optarg))
			continue;
		switch (opt) {
		case 'K':
			racks = atoi(optarg);
			break;
		case 'M':
			records = strtoull(optarg, NULL, 10);
			break;
		case 'N':
			pieces = atoi(optarg);
			break;
		default:
			usage();
		}
	}
	if (optind + 1 != argc || !racks || racks > MOST_RACKS || !records || !pieces ||
	    pieces > MOST_PIECES || records > 1 << 20 || records % (racks * pieces))
		usage();
	if (!bench_opt.port)
		bench_opt.port = PORT;
	bench_init(bench_read_matrix(argv[optind]));
	hosts = bench_hosts - racks;
	members = bench_hosts + 1;
	if (bench_hosts <= racks || members > MOST_MEMBERS)
		bench_die("at most %d hosts and relays", MOST_MEMBERS - 1);
	piece = records / racks / pieces;
	/* each host sends all, and receives all */
	bench_opt.bound_ns = records * sizeof(*own) * 8e9 / bench_opt.rate_bps + bench_opt.rtt_ns;
	bench_queues_open(true);
	op_base = (uint64_t)bench_now() >> 8 << 6;
	op_base -= op_base % pieces;
	bench_fork(host_main);
	bench_wait();
	return bench_rounds(NULL);
}
