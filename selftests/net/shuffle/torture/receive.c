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

static unsigned int find_op(const struct shuffle_record *rec, unsigned int rank)
{
	const struct plan *p = &slot->plan;
	unsigned int i = rec->op_id & 0xff;

	if (i < p->ops && p->op[i].id == rec->op_id)
		return i;
	wrong("member %u reads a record of operation %llx, which this group does not have", rank,
	      (unsigned long long)rec->op_id);
	return NOBODY;
}

static void see_data(const struct shuffle_record *rec, unsigned int op, unsigned int rank,
		     const unsigned char *bytes, unsigned char *want)
{
	const struct plan *p = &slot->plan;
	const struct op_spec *o = &p->op[op];
	struct part *part = &slot->part[op][rank];
	uint64_t len, at = 0;

	if (rec->rank >= p->n || !spec_reads(p, o, rec->rank, rank, &len)) {
		wrong("%s: member %u reads a message from %u that there is not",
		      spec_kind_name(o->kind), rank, rec->rank);
		return;
	}
	if ((o->kind != KIND_MERGE && rec->msg_len != len) || rec->offset + rec->len > len) {
		wrong("%s: member %u reads %llu bytes at %llu of %llu from %u; want a message of %llu",
		      spec_kind_name(o->kind), rank, (unsigned long long)rec->len,
		      (unsigned long long)rec->offset, (unsigned long long)rec->msg_len, rec->rank,
		      (unsigned long long)len);
		return;
	}
	spec_get(p, o, rec->rank, rank, want, rec->len, rec->offset);
	if (memcmp(want, bytes, rec->len)) {
		while (want[at] == bytes[at])
			at++;
		wrong("%s: operation %u, message from %u to %u: byte %llu of %llu is %02x, want %02x",
		      spec_kind_name(o->kind), op, rec->rank, rank,
		      (unsigned long long)(rec->offset + at), (unsigned long long)len, bytes[at],
		      want[at]);
	}
	part->got[rec->rank] += rec->len;
	slot->bytes += rec->len;
	if (rec->flags & SHUFFLE_RECORD_LAST &&
	    atomic_fetch_or(&part->last, 1U << rec->rank) & 1U << rec->rank)
		wrong("%s: operation %u: the message from %u to %u ends twice",
		      spec_kind_name(o->kind), op, rec->rank, rank);
}

static void see_end(const struct shuffle_record *rec, unsigned int op, unsigned int rank)
{
	struct part *part = &slot->part[op][rank];

	part->error = rec->type == SHUFFLE_RECORD_FAILED ? (int)rec->error : 0;
	part->missing = rec->type == SHUFFLE_RECORD_FAILED ? rec->msg_len : 0;
	if (atomic_exchange(&part->ended, 1))
		wrong("%s: operation %u ends twice at member %u",
		      spec_kind_name(slot->plan.op[op].kind), op, rank);
	if (rec->type == SHUFFLE_RECORD_FAILED)
		slot->failed++;
	else
		slot->done++;
}

static void see_missing(const struct shuffle_record *rec, unsigned int op, unsigned int rank)
{
	struct part *part = &slot->part[op][rank];

	if (rec->rank >= slot->plan.n ||
	    !(rec->flags & (SHUFFLE_MISSING_RECV | SHUFFLE_MISSING_ACK | SHUFFLE_MISSING_LEFT))) {
		wrong("member %u reads MISSING of rank %u, flags %x", rank, rec->rank, rec->flags);
		return;
	}
	if (rec->flags & SHUFFLE_MISSING_RECV)
		part->miss_recv |= 1U << rec->rank;
	if (rec->flags & SHUFFLE_MISSING_ACK)
		part->miss_ack |= 1U << rec->rank;
	part->named++;
}

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
	if (epoll >= 0)
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
			wait_readable(c, fds[rank], slot->member[rank].gone ? -1 : epoll, rank);
	}
	if (epoll >= 0)
		close(epoll);
	free(buf);
	return NULL;
}
