// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An all-reduce of records through relays: what all hosts have of a key becomes one record, which
 * all get.  From a common start until the last host has the last byte.
 *
 * usage: agg_allreduce [-M RECORDS] [-K RACKS] [options of shuffle_bench] MATRIX
 *   -M RECORDS  of each host (default 65536, which are 1 MiB)
 *   -K RACKS    relays (default 4)
 *   MATRIX      says how many hosts there are, nothing else: the last RACKS are the relays'
 *
 * Keys are cut into as many slices as there are racks, each with a group and an operation of its
 * own.  In slice s, whose members are the H hosts, the K relays and one more:
 *
 *     hosts of a rack --> relay of the rack --> top --> all hosts
 *                         ranks H .. H+K-1      H+K
 *
 * agg_relays.sh makes the relays, which are the kernel's; top is on the machine of relay s.
 */
#include <endian.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agg.h"

#define PORT		7100	/* of slice 0's hosts and relays, unless -p */
#define RECORDS		64
#define MOST_RACKS	8
#define MOST_MEMBERS	64
#define SCRATCH		(4 << 20)

static unsigned int racks = 4, hosts, members;	/* hosts that send, members of a group */

/* its rank in a slice's group, behind those of hosts and relays */
#define TOP	(hosts + racks)

static uint64_t records = 65536, slice, op_base;

/* this host's */
static struct agg_pair *own, *result;
static unsigned char *buf;
static int fds[MOST_RACKS];	/* a host's, of each slice; a relay's machine has none */
static unsigned int fd_count;

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
		own[i].key = htobe64(i << 40 | agg_mix(i) >> 24);
		own[i].value = htobe64(value_of(bench_self, i, round));
	}
	memset(result, 0, records * sizeof(*result));
}

struct row {
	struct shuffle_row row;
	uint64_t lens[MOST_MEMBERS];
};

struct absent {
	struct shuffle_absent head;
	uint64_t bits;
};

/* Our part of a slice goes to the relay of the rack, and what all have comes from the top. */
static void start_slice(unsigned int s, uint64_t op)
{
	const struct shuffle_merge merge = {
		.size = sizeof(merge), .oper = SHUFFLE_MERGE_SUM, .to = bench_self,
		.senders = hosts,
	};
	struct absent absent = { { .size = sizeof(absent.head), .words = 1 }, ~(1ULL << TOP) };
	size_t bytes = slice * sizeof(*own);
	struct iovec iov = { own + s * slice, bytes };
	char control[AGG_CONTROL] __attribute__((aligned(8))) = { 0 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control };
	struct row r = { .row = { .size = sizeof(r.row), .op_id = op, .count = members } };
	unsigned int i;
	ssize_t n;

	for (i = 0; i < members; i++)
		r.lens[i] = SHUFFLE_ABSENT;
	r.lens[hosts + bench_self * racks / hosts] = bytes;
	if (members < 64)
		absent.bits &= (1ULL << members) - 1;
	agg_add_cmsg(&msg, SHUFFLE_CMSG_ROW, &r, sizeof(r.row) + members * sizeof(r.lens[0]));
	agg_add_cmsg(&msg, SHUFFLE_CMSG_ABSENT, &absent, sizeof(absent));
	agg_add_cmsg(&msg, SHUFFLE_CMSG_MERGE, &merge, sizeof(merge));
	n = sendmsg(fds[s], &msg, MSG_NOSIGNAL);
	if (n != (ssize_t)bytes)
		agg_fail(n < 0 ? errno : EAGAIN, "sendmsg", s);
}

/* Take what there is of slice k.  Returns true when its operation has ended. */
static bool receive(unsigned int k)
{
	struct bench_host *h = &bench->host[bench_self];
	struct shuffle_record rec[RECORDS];
	unsigned char *p = buf, *at = (unsigned char *)(result + k * slice);
	unsigned int count = RECORDS, i;
	bool ended = false;

	if (shuffle_recv(fds[k], buf, SCRATCH, rec, &count, MSG_DONTWAIT) < 0) {
		if (errno == EAGAIN)
			return false;
		agg_fail(errno, "recv", k);
		return true;
	}
	for (i = 0; i < count; i++) {
		const struct shuffle_record *r = &rec[i];

		switch (r->type) {
		case SHUFFLE_RECORD_DATA:
			if (r->offset + r->len > slice * sizeof(*own)) {
				agg_fail(EMSGSIZE, "too much", r->rank);
				return true;
			}
			memcpy(at + r->offset, p, r->len);
			p += r->len;
			if (r->flags & SHUFFLE_RECORD_LAST)
				h->last_ns = bench_now();
			break;
		case SHUFFLE_RECORD_FAILED:
			agg_fail(r->error, "failed", k);
			ended = true;
			break;
		case SHUFFLE_RECORD_DONE:
			ended = true;
			break;
		}
	}
	return ended;
}

static void run(unsigned int round)
{
	struct pollfd p[MOST_RACKS];
	unsigned int left = fd_count, k;

	for (k = 0; k < fd_count; k++)
		start_slice(k, op_base + round);
	for (k = 0; k < fd_count; k++)
		p[k] = (struct pollfd){ .fd = fds[k], .events = POLLIN };
	while (left && !bench->host[bench_self].error) {
		if (poll(p, fd_count, -1) < 0) {
			agg_fail(ETIMEDOUT, "the operation did not end", bench_self);
			break;
		}
		for (k = 0; k < fd_count; k++) {
			if (!p[k].revents || !receive(k))
				continue;
			p[k].fd = -1;
			left--;
		}
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
		if (result[i].key != own[i].key || be64toh(result[i].value) != sum) {
			agg_fail(EBADMSG, "wrong result", i * racks / records);
			return;
		}
	}
}

static void finish(unsigned int round)
{
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

static int open_member(unsigned int s)
{
	struct sockaddr_shuffle m[MOST_MEMBERS];
	unsigned int i;
	int fd;

	for (i = 0; i < hosts + racks; i++)
		address(&m[i], i, bench_opt.port + s);
	address(&m[TOP], hosts + s, bench_opt.port + MOST_RACKS);
	fd = shuffle_open(m, members, bench_self, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		bench_die("host %u: slice %u: %s", bench_self, s, strerror(errno));
	agg_buffers(fd);
	return fd;
}

static void host_main(void)
{
	static const struct bench_steps steps = { prepare, run, finish };
	unsigned int s;

	own = calloc(records, sizeof(*own));
	result = calloc(records, sizeof(*result));
	buf = malloc(SCRATCH);
	if (!own || !result || !buf)
		bench_die("out of memory");
	for (s = 0; s < racks && !is_relay(); s++)
		fds[fd_count++] = open_member(s);
	bench_wait();
	bench_host_rounds(&steps);
}

static void usage(void)
{
	fprintf(stderr, "usage: agg_allreduce [-M RECORDS] [-K RACKS] " BENCH_USAGE " MATRIX\n");
	exit(2);
}

int main(int argc, char **argv)
{
	int opt;

	bench_opt.transport = "shuffle";
	bench_opt.warmup = 1;
	while ((opt = getopt(argc, argv, BENCH_OPTIONS "K:M:")) != -1) {
		if (bench_option(opt, optarg))
			continue;
		switch (opt) {
		case 'K':
			racks = atoi(optarg);
			break;
		case 'M':
			records = strtoull(optarg, NULL, 10);
			break;
		default:
			usage();
		}
	}
	if (optind + 1 != argc || !racks || racks > MOST_RACKS || !records ||
	    records > 1 << 20 || records % racks)
		usage();
	if (!bench_opt.port)
		bench_opt.port = PORT;
	bench_init(bench_read_matrix(argv[optind]));
	hosts = bench_hosts - racks;
	members = bench_hosts + 1;
	if (bench_hosts <= racks || members > MOST_MEMBERS)
		bench_die("at most %d hosts and relays", MOST_MEMBERS - 1);
	slice = records / racks;
	/* each host sends all, and receives all */
	bench_opt.bound_ns = records * sizeof(*own) * 8e9 / bench_opt.rate_bps + bench_opt.rtt_ns;
	bench_queues_open(true);
	op_base = (uint64_t)bench_now() << 8;
	bench_fork(host_main);
	bench_wait();
	return bench_rounds(NULL);
}
