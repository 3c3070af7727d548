// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Readers: several of each member read what comes, check its bytes and write down what ended.
 * Another reader may have the record of the end before this one has counted its bytes, so sums
 * are looked at when all readers have ended: check_round() in end.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "torture.h"

#define RECORDS	16
#define BUFFER	(256 << 10)

/* Of members with rows that are asked for: answers are given in the order of the questions. */
static pthread_mutex_t in_turn[MAX_MEMBERS] = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
};

static void see(struct call *c, int fd, const struct shuffle_record *rec, unsigned int rank,
		const unsigned char *bytes, unsigned char *want)
{
	unsigned int op = find_op(rec, rank);

	if (op == NOBODY)
		return;
	switch (rec->type) {
	case SHUFFLE_RECORD_DATA:
		see_data(rec, op, rank, bytes, want);
		break;
	case SHUFFLE_RECORD_DONE:
	case SHUFFLE_RECORD_FAILED:
		see_end(rec, op, rank);
		break;
	case SHUFFLE_RECORD_MISSING:
		see_missing(rec, op, rank);
		break;
	case SHUFFLE_RECORD_WANT:
		submit_answer(c, fd, &slot->plan.op[op], rank, rec);
		break;
	}
}

/* One recvmsg() and what follows from it; false: nothing came. */
static bool read_some(struct call *c, int fd, unsigned int rank, unsigned int room, size_t size,
		      unsigned char *buf, int flags)
{
	struct shuffle_record recs[RECORDS];
	unsigned int i, n = room;
	size_t at = 0;
	ssize_t rc;

	call_begin(c, ACT_receive, rank, NOBODY);
	rc = sht_recv(fd, buf, size, recs, &n, flags);
	call_end(c);
	if (rc < 0 || !n)
		return false;
	/* WANT, RELEASED and MISSING move nothing */
	for (i = 0; i < n; i++) {
		if (recs[i].type == SHUFFLE_RECORD_DATA || recs[i].type == SHUFFLE_RECORD_DONE ||
		    recs[i].type == SHUFFLE_RECORD_FAILED)
			progress();
		see(c, fd, &recs[i], rank, buf + at, buf + BUFFER);
		if (recs[i].type == SHUFFLE_RECORD_DATA)
			at += recs[i].len;
	}
	if (at != (size_t)rc)
		wrong("recvmsg() returns %zd, and records of %zu bytes", rc, at);
	return true;
}

static void wait_readable(struct call *c, int fd, int epoll, unsigned int rank)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	struct epoll_event event;

	call_begin(c, ACT_wait, rank, NOBODY);
	/* in the place of a socket that was closed is a file that is always ready: where time is
	 * virtual it would stand still
	 */
	if (slot->member[rank].gone)
		nap_us(20000);
	else if (epoll >= 0)
		epoll_wait(epoll, &event, 1, 20);
	else
		poll(&pfd, 1, 20);
	call_end(c);
}

void *reader(void *arg)
{
	struct worker *w = arg;
	struct epoll_event event = { .events = EPOLLIN };
	struct call *c = call_new();
	unsigned int rank = w->rank;
	unsigned int room = 1 + roll(&w->dice, RECORDS);
	size_t size = roll(&w->dice, 2) ? BUFFER : 4096 << roll(&w->dice, 7);
	int how = roll(&w->dice, 3), epoll = -1;
	unsigned char *buf = malloc(2 * BUFFER);
	bool turn = slot->plan.wants;
	bool some;

	if (!buf)
		die("malloc");
	if (how == 0) {
		epoll = epoll_create1(EPOLL_CLOEXEC);
		epoll_ctl(epoll, EPOLL_CTL_ADD, fds[rank], &event);
	}
	while (!slot->over) {
		if (turn)
			pthread_mutex_lock(&in_turn[rank]);
		/* the last kind waits in recvmsg(): SO_RCVTIMEO is 50 ms */
		some = read_some(c, fds[rank], rank, room, size, buf,
				 how == 2 && !turn ? 0 : MSG_DONTWAIT);
		if (turn)
			pthread_mutex_unlock(&in_turn[rank]);
		if (!some && (how != 2 || turn || slot->member[rank].gone))
			wait_readable(c, fds[rank], epoll, rank);
	}
	if (epoll >= 0)
		close(epoll);
	free(buf);
	return NULL;
}
