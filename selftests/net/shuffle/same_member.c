// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows whose messages have the same bytes (SHUFFLE_ROW_SAME), between members on hosts of their
 * own: every byte is looked at.
 *
 *	same_member [OPTION...] PREFIX MEMBERS OPERATIONS LENGTH
 *
 *	-6		IPv6
 *	-a		each member sends in each operation; otherwise they take turns
 *	-k		with a group key
 *	-p		members have ports of their own
 *	-o NUMBER	of the first operation (1)
 *	-s RANK		this member reads nothing for a second, once, and has a small buffer
 *	-w BYTES	the sender's data comes in calls of so many bytes
 *
 * Member h is in the namespace PREFIXh<h>.  At the end one line for each member: its rank, and the
 * number of members to which it sends alone, and most bytes that its buffers held when it looked.
 * Exit status 1 when anything has failed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/sock_diag.h>
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shtest.h"

#define MOST_MEMBERS	64
#define PORT		7000
#define SECONDS		400
#define PIECE		(256 << 10)

static unsigned int members, ops;
static uint64_t length, first = 1;
static bool v6, all_send, keyed, own_ports;
static int sleeper = -1;
static size_t write_size;

static bool sends(unsigned int rank, uint64_t op)
{
	return all_send || op % members == rank;
}

static bool sends_to(unsigned int from, unsigned int to, uint64_t op)
{
	return from != to && sends(from, op);
}

static void join(int fd)
{
	struct shuffle_multicast m = {
		.size = sizeof(m), .ip_family = v6 ? AF_INET6 : AF_INET,
		.port = own_ports ? PORT - 1 : 0,
	};

	if (inet_pton(m.ip_family, v6 ? "ff02::4242" : "239.77.0.1", m.addr) != 1 ||
	    setsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &m, sizeof(m)))
		err(1, "SHUFFLE_MULTICAST");
}

static int open_member(unsigned int rank)
{
	struct sockaddr_shuffle m[MOST_MEMBERS];
	unsigned int i;
	int fd, small = 65536;

	for (i = 0; i < members; i++)
		sht_addr(&m[i], SHT_RACK, v6, i, own_ports ? PORT + i : PORT);
	fd = socket(sht_family(), SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&m[rank], sizeof(m[0])) ||
	    (keyed && sht_set_key(fd, 4711)))
		err(1, "member %u: no socket", rank);
	if ((int)rank == sleeper &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)))
		err(1, "member %u: SO_RCVBUF", rank);
	join(fd);
	if (sht_set_group(fd, m, members, rank))
		err(1, "member %u: no group", rank);
	return fd;
}

/* Announce the row, and who sends; all data of the row, or as much as -w says. */
static ssize_t start(int fd, unsigned int rank, uint64_t op, const void *data, size_t len)
{
	struct {
		struct shuffle_row row;
		uint64_t lens[MOST_MEMBERS];
	} row = { { .size = sizeof(row.row), .op_id = op, .count = members }, { 0 } };
	struct {
		struct shuffle_absent head;
		uint64_t bits;
	} absent = { { .size = sizeof(absent.head), .words = 1 }, 0 };
	struct iovec iov = { (void *)data, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union {
		struct cmsghdr align;
		char buf[1024];
	} control = { 0 };
	unsigned int i;

	for (i = 0; i < members; i++) {
		row.lens[i] = sends_to(rank, i, op) ? length : SHUFFLE_ABSENT;
		if (!sends_to(i, rank, op))
			absent.bits |= 1ULL << i;
	}
	if (sends(rank, op))
		row.row.flags = SHUFFLE_ROW_SAME;
	msg.msg_control = control.buf;
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ROW, &row, sizeof(row.row) + members * sizeof(uint64_t));
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ABSENT, &absent, sizeof(absent));
	return sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static ssize_t go_on(int fd, uint64_t op, const void *data, size_t len)
{
	struct shuffle_row row = { .size = sizeof(row), .op_id = op };

	return sht_send(fd, &row, NULL, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void check(const struct shuffle_record *rec, unsigned int rank, uint64_t op,
		  const uint8_t *buf, uint64_t *got)
{
	if (rec->op_id != op)
		errx(1, "member %u: a record of operation %llu, not %llu", rank,
		     (unsigned long long)rec->op_id, (unsigned long long)op);
	if (rec->rank >= members || rec->msg_len != length ||
	    rec->offset != got[rec->rank])
		errx(1, "member %u, operation %llu: bytes %llu to %llu of %llu from %u", rank,
		     (unsigned long long)op, (unsigned long long)rec->offset,
		     (unsigned long long)(rec->offset + rec->len),
		     (unsigned long long)rec->msg_len, rec->rank);
	if (sht_check(buf, rec->len, sht_key(1, op, all_send ? rec->rank : op % members, 0),
		      rec->offset) != rec->len)
		errx(1, "member %u, operation %llu: wrong bytes from %u", rank,
		     (unsigned long long)op, rec->rank);
	got[rec->rank] += rec->len;
}

static uint32_t buffered;

static void look_at_buffers(int fd)
{
	uint32_t mem[SK_MEMINFO_VARS], sum;
	socklen_t len = sizeof(mem);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, mem, &len))
		err(1, "SO_MEMINFO");
	sum = mem[SK_MEMINFO_RMEM_ALLOC] + mem[SK_MEMINFO_WMEM_QUEUED];
	if (sum > buffered)
		buffered = sum;
}

/* All records of an operation until its end. */
static void run_op(int fd, unsigned int rank, uint64_t op, uint8_t *mine, uint8_t *buf)
{
	bool sending = sends(rank, op), slept = (int)rank != sleeper || op != first + 1;
	uint64_t got[MOST_MEMBERS] = { 0 }, sent, want = sending ? length : 0;
	size_t most = write_size ? write_size : length;
	struct shuffle_record recs[64];
	unsigned int i, n;
	ssize_t rc;

	if (sending)
		sht_fill(mine, length, sht_key(1, op, rank, 0), 0);
	rc = start(fd, rank, op, mine, sending ? (want < most ? want : most) : 0);
	if (rc < 0)
		err(1, "member %u, operation %llu: no row", rank, (unsigned long long)op);
	sent = rc;
	for (;;) {
		struct pollfd pfd = { fd, POLLIN | (sent < want ? POLLOUT : 0), 0 };
		const uint8_t *at = buf;

		if (poll(&pfd, 1, SECONDS * 1000) != 1)
			errx(1, "member %u: nothing comes", rank);
		look_at_buffers(fd);
		if (sent < want && pfd.revents & POLLOUT) {
			rc = go_on(fd, op, mine + sent, want - sent < most ? want - sent : most);
			if (rc < 0 && errno != EAGAIN)
				err(1, "member %u: no data", rank);
			sent += rc > 0 ? rc : 0;
		}
		if (!(pfd.revents & POLLIN))
			continue;
		if (!slept) {
			slept = true;
			sleep(1);
			look_at_buffers(fd);
		}
		n = 64;
		if (sht_recv(fd, buf, PIECE, recs, &n, MSG_DONTWAIT) < 0) {
			if (errno == EAGAIN)
				continue;
			err(1, "member %u", rank);
		}
		for (i = 0; i < n; i++) {
			if (recs[i].type == SHUFFLE_RECORD_FAILED)
				errx(1, "member %u, operation %llu: %s", rank,
				     (unsigned long long)op, sht_errno_name(recs[i].error));
			if (recs[i].type == SHUFFLE_RECORD_DONE) {
				uint32_t j;

				for (j = 0; j < members; j++)
					if (sends_to(j, rank, op) && got[j] != length)
						errx(1, "member %u: too little from %u", rank, j);
				return;
			}
			check(&recs[i], rank, op, at, got);
			at += recs[i].len;
		}
	}
}

/* Until all members have sockets: what comes before would be lost. */
static int ready[2], go[2];

static void wait_for_all(void)
{
	char byte;

	close(go[1]);
	if (write(ready[1], "", 1) != 1 || read(go[0], &byte, 1))
		err(1, "pipe");
}

static void let_go(void)
{
	unsigned int i;
	char byte;

	close(ready[1]);
	for (i = 0; i < members; i++)
		if (read(ready[0], &byte, 1) != 1)
			errx(1, "a member has ended");
	close(go[1]);
}

static void member(const char *prefix, unsigned int rank)
{
	struct shuffle_multicast m = { 0 };
	socklen_t size = sizeof(m);
	uint8_t *mine, *buf;
	char name[64];
	uint64_t op;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(name, sizeof(name), "%sh%u", prefix, rank);
	if (sht_enter_netns(name))
		err(1, "namespace %s", name);
	mine = malloc(length + 1);
	buf = malloc(PIECE);
	if (!mine || !buf)
		err(1, "memory");
	fd = open_member(rank);
	wait_for_all();
	for (op = first; op < first + ops; op++)
		run_op(fd, rank, op, mine, buf);
	if (getsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &m, &size) || size != sizeof(m))
		err(1, "member %u: SHUFFLE_MULTICAST", rank);
	printf("%u %u %u\n", rank, m.unicast, buffered);
	exit(0);
}

int main(int argc, char **argv)
{
	unsigned int i;
	int opt, status, failed = 0;

	while ((opt = getopt(argc, argv, "6ako:ps:w:")) != -1) {
		switch (opt) {
		case '6':
			v6 = true;
			break;
		case 'a':
			all_send = true;
			break;
		case 'k':
			keyed = true;
			break;
		case 'o':
			first = strtoull(optarg, NULL, 0);
			break;
		case 'p':
			own_ports = true;
			break;
		case 's':
			sleeper = atoi(optarg);
			break;
		case 'w':
			write_size = strtoull(optarg, NULL, 0);
			break;
		default:
			errx(2, "see the top of same_member.c");
		}
	}
	if (argc - optind != 4)
		errx(2, "usage: same_member [OPTION...] PREFIX MEMBERS OPERATIONS LENGTH");
	members = atoi(argv[optind + 1]);
	ops = atoi(argv[optind + 2]);
	length = strtoull(argv[optind + 3], NULL, 0);
	if (!members || members > MOST_MEMBERS)
		errx(2, "up to %u members", MOST_MEMBERS);
	alarm(SECONDS);
	if (pipe(ready) || pipe(go))
		err(1, "pipe");
	for (i = 0; i < members; i++) {
		fflush(stdout);
		switch (fork()) {
		case -1:
			err(1, "fork");
		case 0:
			member(argv[optind], i);
		}
	}
	let_go();
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}
