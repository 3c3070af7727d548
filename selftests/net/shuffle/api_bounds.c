// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What must not grow with what a user does: memory of small writes, the work of many
 * operations.  TAP; no times are compared.
 */
#define _GNU_SOURCE
#include <sys/wait.h>

#include "api.h"

#define MEMBERS		8
#define OPS		512
#define OPS_DEBUG	64	/* 512 ask 4096 times a second: more than that kernel can do */
#define SMALL_WRITES	10000
#define BIG_GROUP	4096	/* members */
#define MSGS		(1 << 20)	/* that a socket may have */

/* One socket, in a group whose other members do not exist. */
static int open_alone(unsigned int members)
{
	struct sockaddr_shuffle *m = calloc(members, sizeof(*m));
	unsigned int i;
	int fd;

	for (i = 0; i < members; i++)
		my_addr(&m[i]);
	fd = sht_open(m, members, 0, SOCK_NONBLOCK);
	if (fd < 0) {
		printf("Bail out! no socket: %s\n", strerror(errno));
		exit(1);
	}
	free(m);
	return fd;
}

/* What waits for the softirq, of all sockets of the namespace. */
static void udp_queue(void)
{
	static const char *const what = "packets: 32 MiB wait at most";
	int fd = open_alone(2);
	char out[4096];
	size_t n = 0;
	FILE *p;

	p = popen("ss -Huanm 'sport = :818'", "r");
	if (p) {
		n = fread(out, 1, sizeof(out) - 1, p);
		pclose(p);
	}
	out[n] = '\0';
	if (!strstr(out, "skmem"))
		result(true, what, "SKIP ss says nothing of memory");
	else
		result(strstr(out, "rb33554432,"), what, out);
	close(fd);
}

/* A message written byte by byte costs about its bytes: all of it fits a send buffer that
 * is thirteen times as large.
 */
static void small_writes(void)
{
	struct shuffle_row row = { .op_id = next_op++, .count = 2 };
	uint64_t lens[2] = { 0, SMALL_WRITES };
	int sndbuf = 1 << 16, fd = open_alone(2);
	char byte = 'x';
	ssize_t rc;
	int n = 0;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf));
	rc = sht_send(fd, &row, lens, &byte, 1, 0);
	row.first_rank = 2;
	row.count = 0;
	while (rc == 1 && ++n < SMALL_WRITES)
		rc = sht_send(fd, &row, NULL, &byte, 1, 0);
	WORKED(EXPECT_EQ(n, SMALL_WRITES), "send: 10 KB byte by byte fit a buffer of 128 KB");
	close(fd);
}

static bool debug_lane(void)
{
	const char *lane = getenv("SHUFFLE_LANE");

	return lane && strstr(lane, "debug");
}

/* Operations that wait for members that do not come: they have timers, and an end. */
static void many_operations(void)
{
	struct shuffle_row row = { .count = MEMBERS };
	static uint64_t lens[MEMBERS];
	int fd = open_alone(MEMBERS);
	int i, made = 0, ops = debug_lane() ? OPS_DEBUG : OPS;

	for (i = 0; i < MEMBERS; i++)
		lens[i] = 100;
	for (i = 0; i < ops; i++) {
		row.op_id = next_op++;
		made += sht_send(fd, &row, lens, NULL, 0, 0) == 0;
	}
	WORKED(EXPECT_EQ(made, ops), "send: hundreds of operations of 8 members");
	usleep(500000);	/* they ask again */
	WORKS_EQ(close(fd), 0, "close: while they wait");
}

static const char *too_much_for_lane(void)
{
	if (debug_lane())
		return "SKIP 2^20 messages take minutes in a debug kernel";
	if (sysconf(_SC_AVPHYS_PAGES) * (sysconf(_SC_PAGESIZE) >> 10) <= 1200L << 10)
		return "SKIP 2^20 messages need 1.2 GB";
	return NULL;
}

/* As many messages as a socket may have, and one operation more.  Those that are not announced
 * count, too, and send no packets.
 */
static void message_limit(void)
{
	struct shuffle_row row = { .count = 1 };
	int i, fd;
	const char *skip = too_much_for_lane();
	uint64_t lens[1] = { 100 };
	ssize_t rc = 0;

	if (skip) {
		result(true, "send: 2^20 messages of one socket", skip);
		return;
	}
	fd = open_alone(BIG_GROUP);
	for (i = 0; i < MSGS / BIG_GROUP && !rc; i++) {
		row.op_id = next_op++;
		rc = sht_send(fd, &row, lens, NULL, 0, 0);
	}
	WORKED(EXPECT_EQ(rc, 0), "send: 2^20 messages of one socket");
	row.op_id = next_op++;
	FAILS(sht_send(fd, &row, lens, NULL, 0, 0), "send: and not more", ENOBUFS);
	close(fd);
}

/* An operation that is started and cancelled at once. */
static int cancelled_op(int fd, uint64_t op)
{
	struct shuffle_row row = { .op_id = op, .count = 1 };
	uint64_t lens[1] = { 0 };

	return sht_send(fd, &row, lens, NULL, 0, 0) ? -1 : sht_cancel(fd, op);
}

/* Records of operations that have ended, of sockets that are closed: a user who makes many
 * loses its own.
 */
static void ended_operations_of_others(void)
{
	static const unsigned int many = 64;	/* with BIG_GROUP four times finished-max */
	const char *what = "send: an ended operation, after many of another user";
	struct shuffle_row row = { .op_id = next_op++, .count = 1 };
	struct sockaddr_shuffle m[2];
	uint64_t lens[1] = { 0 };
	int fd, status = -1;
	unsigned int i;
	pid_t pid;

	my_addr(&m[0]);
	my_addr(&m[1]);
	fd = sht_open(m, 2, 0, 0);
	WORKS(!cancelled_op(fd, row.op_id) && EXPECT_EQ(close(fd), 0),
	      "cancel: an operation of ours");
	fd = sht_open(m, 2, 0, 0);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (setresuid(65534, 65534, 65534))
			_exit(2);
		fd = open_alone(BIG_GROUP);
		for (i = 0; i < many && !cancelled_op(fd, next_op++); i++)
			;
		_exit(i < many);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		result(false, what, "the other user does not get that far");
	else
		FAILS(sht_send(fd, &row, lens, NULL, 0, 0), what, EEXIST);
	close(fd);
}

int main(int argc, char **argv)
{
	api_start(argc, argv);
	next_port = 20000;
	udp_queue();
	small_writes();
	many_operations();
	message_limit();
	ended_operations_of_others();
	return api_finish();
}
