// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What one user can take from another in the same namespace: places in front of data, room for
 * early packets, turns.
 *
 *	api_users [-v 4|6]
 *
 * API_CONFIG has an early-bytes of EARLY_KBYTES.
 */
#define _GNU_SOURCE

#include "api.h"

#define BIG_GROUP	4096
#define EARLY_KBYTES	64

/* SHUFFLE_CONTROL_MAX_AHEAD and SHUFFLE_CONTROL_RATE of net/shuffle/user.h, and its burst. */
#define AHEAD		8192
#define A_SECOND	1000
#define BURST		16

/* Rows of empty messages: an announcement to each member, and questions later. */
static int announce_much(void *arg)
{
	static struct sockaddr_shuffle m[BIG_GROUP];
	/* in two parts: Linux 6.1 takes 20 KB of control messages (net.core.optmem_max) */
	struct shuffle_row row = { .count = BIG_GROUP / 2 };
	static uint64_t lens[BIG_GROUP / 2];
	unsigned int i, rows = *(unsigned int *)arg;
	int fd;

	for (i = 0; i < BIG_GROUP; i++)
		my_addr(&m[i]);
	fd = sht_open(m, BIG_GROUP, 0, SOCK_NONBLOCK);
	if (fd < 0)
		return 1;
	for (i = 0; i < rows; i++) {
		row.op_id = next_op++;
		row.first_rank = 0;
		row.flags = SHUFFLE_ROW_MORE;
		if (sht_send(fd, &row, lens, NULL, 0, 0))
			return 2;
		row.first_rank = BIG_GROUP / 2;
		row.flags = 0;
		if (sht_send(fd, &row, lens, NULL, 0, 0))
			return 3;
	}
	/* and all members are told that it goes */
	close(fd);
	return 0;
}

static void test_control_band(void)
{
	unsigned int rows = 3;
	long out = sht_counter("CtrlPktsOut"), behind = sht_counter("CtrlBehind"), most;
	uint64_t began = sht_now_ms();

	next_port = 20000;
	WORKS_EQ(as_nobody(announce_much, &rows), 0, "control: nobody announces 12288 messages");
	out = sht_counter("CtrlPktsOut") - out;
	behind = sht_counter("CtrlBehind") - behind;
	most = AHEAD + BURST + (sht_now_ms() - began + 1) * A_SECOND / 1000;
	WORKED(EXPECT_GE(out, (long)rows * BIG_GROUP - (long)rows),
	       "control: each of them in a packet");
	WORKED(EXPECT_LE(out - behind, most), "control: no more in front of data than a user may");
	next_port = 7000;
}

struct pair {
	struct sockaddr_shuffle m[2];
	int fds[2];
};

/* 0 has a message for 1, who does not begin. */
static bool send_early(struct pair *p, size_t len)
{
	static char data[EARLY_KBYTES << 10];

	open_pair(p->fds, p->m, 0);
	return send_row(p->fds[0], next_op++, 0, len, data, len, MSG_DONTWAIT) >= 0;
}

/* Until packets to sockets of this namespace have arrived: nothing tells when that is. */
static void settle(void)
{
	usleep(100000);
}

static int fill_early(void *arg)
{
	struct pair p[6];
	unsigned int i;

	(void)arg;
	for (i = 0; i < 6; i++)
		if (!send_early(&p[i], 20000))
			return 1;
	settle();
	if (sht_counter("EarlyFull") <= 0)
		return 2;
	/* they stay while somebody else asks for room */
	kill(getpid(), SIGSTOP);
	return 0;
}

/* Six sockets of one user do not leave others without room. */
static void test_early_shares(void)
{
	struct pair p;
	int status;
	long kept;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(become_nobody() ? fill_early(NULL) : 99);
	next_port += 100;
	next_op += 100;
	if (pid < 0 || waitpid(pid, &status, WUNTRACED) != pid)
		tap_bail("no child: %s", strerror(errno));
	WORKED(EXPECT_EQ(WIFSTOPPED(status), 1), "early: six sockets of nobody have all that it may");
	kept = sht_counter("EarlyKept");
	WORKS(send_early(&p, 100), "early: a packet for another user's socket");
	settle();
	WORKED(EXPECT_EQ(sht_counter("EarlyKept"), kept + 1), "early: there is room for it");
	close_pair(p.fds);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

/* An order that the device does not have; 0, or 1: no group, 2: no row. */
static int ask_to_be_first(void *arg)
{
	struct shuffle_row row = { .op_id = next_op, .count = 2, .flags = SHUFFLE_ROW_SMALLEST };
	uint64_t lens[2] = { 0 };
	struct pair p;

	(void)arg;
	open_pair(p.fds, p.m, 0);
	return sht_send(p.fds[0], &row, lens, NULL, 0, MSG_DONTWAIT) ? 2 : 0;
}

static void test_order(void)
{
	struct pair p;

	open_pair(p.fds, p.m, 0);
	WORKS_EQ(as_nobody(ask_to_be_first, NULL), 0, "order: nobody asks to go first");
	WORKS_EQ(sht_counter("OrderDenied"), 1, "order: where others are that is denied");
	next_op++;
	WORKS(ask_to_be_first(NULL) == 0 && EXPECT_EQ(sht_counter("OrderDenied"), 1),
	      "order: who may administer the network goes first");
	close_pair(p.fds);
}

/* Of a namespace where there is nobody else. */
static void test_order_alone(void)
{
	if (sht_new_netns())
		tap_bail("no network namespace: %s", strerror(errno));
	WORKS_EQ(as_nobody(ask_to_be_first, NULL), 0, "order: a user that is alone");
	WORKS_EQ(sht_counter("OrderDenied"), 0, "order: goes first if it likes");
}

int main(int argc, char **argv)
{
	api_start(argc, argv);
	test_early_shares();
	test_order();
	test_control_band();
	test_order_alone();
	return api_finish();
}
