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
 * own.  In slice s, whose members are the H hosts, the K relays, one more, a reader and a fan:
 *
 *     hosts of a rack --> relay of the rack --> top --> reader --> fan --> all hosts
 *                         ranks H .. H+K-1      H+K     H+K+1      H+K+2
 *
 * agg_relays.sh makes the relays, which are the kernel's.  Top, reader and fan are on the machine
 * of relay s, and reader and fan two sockets of one process: the reader hands over what it reads,
 * and the fan's kernel forwards it (SHUFFLE_CMSG_FORWARD) while it comes.  A merged message has no
 * length that is known before its end, and forwarded ones need one: the keys are dense, so the
 * reader knows how many there are.
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
/* Of the reader's receive buffer: parts of 64 KiB are read, and what fits comes whole. */
#define READER_BYTES	32768
#define SCRATCH		(4 << 20)

static unsigned int racks = 4, hosts, members;	/* hosts that send, members of a group */

/* ranks in a slice's group, behind those of hosts and relays */
#define TOP	(hosts + racks)
#define READER	(TOP + 1)
#define FAN	(TOP + 2)

static uint64_t records = 65536, slice, op_base;

/* this host's */
static struct agg_pair *own, *result;
static unsigned char *buf;
static int fds[MOST_RACKS];	/* a host: of each slice; a relay's machine: reader, fan */
static unsigned int fd_count;

static bool is_relay(void)
{
	return bench_self >= hosts;
}

/* The slice that this relay's machine gives to all. */
static unsigned int own_slice(void)
{
	return bench_self - hosts;
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

static void row_begin(struct row *r, struct absent *a, uint64_t op, unsigned int from)
{
	unsigned int i;

	memset(r, 0, sizeof(*r));
	r->row.size = sizeof(r->row);
	r->row.op_id = op;
	r->row.count = members;
	for (i = 0; i < members; i++)
		r->lens[i] = SHUFFLE_ABSENT;
	memset(a, 0, sizeof(*a));
	a->head.size = sizeof(a->head);
	a->head.words = 1;
	a->bits = ~(1ULL << from);
	if (members < 64)
		a->bits &= (1ULL << members) - 1;
}

/* The row's announcement, with what it has of data. */
static void row_send(int fd, const struct row *r, const struct absent *a, int type,
		     const void *more, size_t len, void *data, size_t bytes)
{
	struct iovec iov = { data, bytes };
	char control[AGG_CONTROL] __attribute__((aligned(8))) = { 0 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control };
	ssize_t n;

	agg_add_cmsg(&msg, SHUFFLE_CMSG_ROW, r, sizeof(r->row) + members * sizeof(r->lens[0]));
	agg_add_cmsg(&msg, SHUFFLE_CMSG_ABSENT, a, sizeof(*a));
	if (more)
		agg_add_cmsg(&msg, type, more, len);
	n = sendmsg(fd, &msg, MSG_NOSIGNAL);
	if (n != (ssize_t)bytes)
		agg_fail(n < 0 ? errno : EAGAIN, "sendmsg", r->row.op_id - op_base);
}

/* More data of the reader's row. */
static void more(int fd, uint64_t op, void *data, size_t bytes)
{
	struct shuffle_row row = { .size = sizeof(row), .op_id = op };
	struct iovec iov = { data, bytes };
	char control[AGG_CONTROL] __attribute__((aligned(8))) = { 0 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control };
	ssize_t n;

	agg_add_cmsg(&msg, SHUFFLE_CMSG_ROW, &row, sizeof(row));
	n = sendmsg(fd, &msg, MSG_NOSIGNAL);
	if (n != (ssize_t)bytes)
		agg_fail(n < 0 ? errno : EAGAIN, "sendmsg", 0);
}

static void start_host(uint64_t op)
{
	unsigned int s, rack = bench_self * racks / hosts;
	struct absent absent;
	struct row row;

	for (s = 0; s < racks; s++) {
		row_begin(&row, &absent, op, FAN);
		row.lens[hosts + rack] = slice * sizeof(*own);
		row_send(fds[s], &row, &absent, 0, NULL, 0, own + s * slice,
			 slice * sizeof(*own));
	}
}

static void start_fan(uint64_t op)
{
	const struct shuffle_merge merge = {
		.size = sizeof(merge), .oper = SHUFFLE_MERGE_SUM, .to = READER,
		.senders = hosts,
	};
	const struct shuffle_forward forward = {
		.size = sizeof(forward), .from = READER,
	};
	struct absent absent;
	struct row row;
	unsigned int i;

	row_begin(&row, &absent, op, READER);
	for (i = 0; i < hosts; i++)
		row.lens[i] = slice * sizeof(*own);
	row_send(fds[1], &row, &absent, SHUFFLE_CMSG_FORWARD, &forward, sizeof(forward), NULL, 0);
	row_begin(&row, &absent, op, TOP);
	row.lens[FAN] = slice * sizeof(*own);
	row_send(fds[0], &row, &absent, SHUFFLE_CMSG_MERGE, &merge, sizeof(merge), NULL, 0);
}

/* Take what there is of socket k.  Returns true when its operation has ended. */
static bool receive(unsigned int k, uint64_t op)
{
	struct bench_host *h = &bench->host[bench_self];
	struct shuffle_record rec[RECORDS];
	unsigned int count = RECORDS, i, s = is_relay() ? own_slice() : k;
	unsigned char *p = buf, *at = (unsigned char *)(result + s * slice);
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
			if (is_relay() && !k)
				more(fds[0], op, p, r->len);
			else
				memcpy(at + r->offset, p, r->len);
			p += r->len;
			if (r->flags & SHUFFLE_RECORD_LAST && !is_relay())
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
	uint64_t op = op_base + round;
	unsigned int left = fd_count, k;

	if (is_relay())
		start_fan(op);
	else
		start_host(op);
	for (k = 0; k < fd_count; k++)
		p[k] = (struct pollfd){ .fd = fds[k], .events = POLLIN };
	while (left && !bench->host[bench_self].error) {
		if (poll(p, fd_count, -1) < 0) {
			agg_fail(ETIMEDOUT, "the operation did not end", bench_self);
			break;
		}
		for (k = 0; k < fd_count; k++) {
			if (!p[k].revents || !receive(k, op))
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

static int open_member(unsigned int s, unsigned int rank)
{
	struct sockaddr_shuffle m[MOST_MEMBERS];
	int fd, small = READER_BYTES;
	unsigned int i;

	for (i = 0; i < hosts + racks; i++)
		address(&m[i], i, bench_opt.port + s);
	for (i = 0; i < 3; i++)
		address(&m[TOP + i], hosts + s, bench_opt.port + MOST_RACKS + i);
	fd = shuffle_open(m, members, rank, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		bench_die("host %u: slice %u: %s", bench_self, s, strerror(errno));
	agg_buffers(fd);
	/* what fits comes whole */
	if (rank == READER && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)))
		bench_die("SO_RCVBUF: %s", strerror(errno));
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
	if (is_relay()) {
		fds[fd_count++] = open_member(own_slice(), READER);
		fds[fd_count++] = open_member(own_slice(), FAN);
	} else {
		for (s = 0; s < racks; s++)
			fds[fd_count++] = open_member(s, bench_self);
	}
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
	members = bench_hosts + 3;
	if (bench_hosts <= racks || members > MOST_MEMBERS)
		bench_die("at most %d hosts and relays", MOST_MEMBERS - 3);
	slice = records / racks;
	/* each host sends all, and receives all */
	bench_opt.bound_ns = records * sizeof(*own) * 8e9 / bench_opt.rate_bps + bench_opt.rtt_ns;
	bench_queues_open(true);
	op_base = (uint64_t)bench_now() << 8;
	bench_fork(host_main);
	bench_wait();
	return bench_rounds(NULL);
}
