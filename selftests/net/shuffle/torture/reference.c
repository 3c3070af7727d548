// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SHUFFLE_ROW_REFERENCE: the only file that knows of it; torture.h declares the action, and the
 * mix "reference" in main.c is nothing else.
 *
 * Threads hand over more and more bytes of one row by reference, while another one cancels the
 * operation and reads its end; then the next operation.  A call that has found the operation
 * adds to what the reader takes down (review K1).  So that this takes it about as long as the
 * other one's two calls, its bytes are messages to as many members; they are to leave in a
 * minute, so nobody hears of them, and nothing comes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

#ifdef SHUFFLE_ROW_REFERENCE
#define MOST_ADDERS	3
#define OPERATIONS	2000
#define MEMBERS		256
#define BYTES		16
#define AHEAD_NS	50000000000ull

struct race {
	int fd;
	_Atomic uint64_t op;		/* 0: end */
	_Atomic uint64_t added;
};

static const unsigned char zeroes[BYTES];

/* A row of a byte to each member but ourselves, all at a later time. */
static ssize_t begin(int fd, uint64_t id)
{
	struct {
		struct shuffle_row row;
		uint64_t lens[MEMBERS];
	} row = { .row = { .size = sizeof(row.row), .op_id = id, .count = MEMBERS } };
	struct {
		struct shuffle_absent head;
		uint64_t bits[MEMBERS / 64];
	} absent = { .head = { sizeof(absent.head), MEMBERS / 64 } };
	struct {
		struct shuffle_times head;
		uint64_t at[MEMBERS];
	} times = { .head = { sizeof(times.head), MEMBERS } };
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(row)) + CMSG_SPACE(sizeof(absent)) +
			 CMSG_SPACE(sizeof(times))];
	} control;
	struct msghdr msg = { .msg_control = control.buf };
	struct timespec now;
	unsigned int i;

	clock_gettime(CLOCK_MONOTONIC, &now);
	for (i = 0; i < MEMBERS; i++) {
		row.lens[i] = i ? 1 : SHUFFLE_ABSENT;
		absent.bits[i / 64] = ~0ull;
		times.at[i] = now.tv_sec * 1000000000ull + now.tv_nsec + AHEAD_NS;
	}
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ROW, &row, sizeof(row));
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ABSENT, &absent, sizeof(absent));
	sht_add_cmsg(&msg, SHUFFLE_CMSG_TIMES, &times, sizeof(times));
	return sendmsg(fd, &msg, MSG_NOSIGNAL);
}

static ssize_t refer(int fd, uint64_t id)
{
	const struct op_spec op = { .id = id };
	struct ctl m;

	ctl_begin(&m, zeroes, BYTES);
	ctl_row(&m, &op, SHUFFLE_ROW_REFERENCE, 0, 0, NULL);
	return sendmsg(fd, &m.msg, MSG_NOSIGNAL);
}

static void *adder(void *arg)
{
	struct race *race = arg;
	uint64_t op;

	while ((op = race->op)) {
		if (refer(race->fd, op) > 0) {
			race->added++;
			continue;
		}
		/* ended: the next one, at once */
		while (race->op == op)
			sched_yield();
	}
	return NULL;
}

/* Read until the operation has failed; one call has room for all that are missing. */
static void read_failed(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	uint64_t until = sht_now_ms() + tmo_ms(5);
	struct shuffle_record recs[2 * MEMBERS];
	unsigned char buf[64];
	unsigned int i, n;

	while (sht_now_ms() < until || sht_now_ms() < shared->still + tmo_ms(5)) {
		n = 2 * MEMBERS;
		if (sht_recv(fd, buf, sizeof(buf), recs, &n, MSG_DONTWAIT) < 0) {
			poll(&pfd, 1, 10);
			continue;
		}
		for (i = 0; i < n; i++)
			if (recs[i].type == SHUFFLE_RECORD_FAILED)
				return;
	}
	wrong("an operation by reference that was cancelled does not end");
}

void reference_race(struct dice *d)
{
	struct sockaddr_shuffle m[MEMBERS];
	pthread_t thread[MOST_ADDERS];
	struct race race = { .op = ~0ull };
	unsigned int i, adders = 1 + roll(d, 2) * roll(d, MOST_ADDERS);
	volatile unsigned int pause;
	uint64_t id;
	int fd;

	for (i = 0; i < MEMBERS; i++)
		sht_addr(&m[i], SHT_LO, 0, 0, slot->plan.port + 1000 + i);
	fd = sht_open(m, MEMBERS, 0, 0);
	if (fd < 0)
		return;
	race.fd = fd;
	for (i = 0; i < adders; i++)
		if (pthread_create(&thread[i], NULL, adder, &race))
			die("pthread_create");
	for (i = 0; i < OPERATIONS && !shared->failed; i++) {
		roll(d, 0);
		id = d->state | 1;
		if (begin(fd, id) < 0) {
			wrong("an operation cannot begin: %s", strerrorname_np(errno));
			break;
		}
		race.op = id;
		slot->actions++;
		/* as long as a call takes, or some of them: no timer is so fine */
		for (pause = roll(d, 1U << (8 + roll(d, 9))); pause; pause--)
			;
		if (!sht_cancel(fd, id))
			read_failed(fd);
		progress();
	}
	race.op = 0;
	for (i = 0; i < adders; i++)
		pthread_join(thread[i], NULL);
	close(fd);
}

#else
void reference_race(struct dice *d)
{
	(void)d;
}
#endif
