// SPDX-License-Identifier: GPL-2.0-or-later
/* A member: its socket, what it writes, what it reads.  No call waits. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../coll_ask.h"
#include "soak.h"

#define RECORDS		64
#define BUFFER		(1 << 20)
#define RETRY_US	1000
#define READS		4	/* of a member, before others have their turn */

int epoll = -1;
int sockets[GROUPS][MAX_MEMBERS];

static void set_int(int fd, int level, int name, int value)
{
	setsockopt(fd, level, name, &value, sizeof(value));
}

int member_open(struct group *g, unsigned int rank)
{
	const struct plan *p = &g->s.plan;
	struct shuffle_multicast all = { .size = sizeof(all), .ip_family = AF_INET,
					 .port = p->port + 900, .addr = { 239, 1, 2, 3 } };
	int fd, err;

	*socket_of(g, rank) = -1;
	if (in_host_number(p->host[rank]))
		return -1;
	fd = socket(sht_family(), SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (p->sndbuf)
		set_int(fd, SOL_SOCKET, SO_SNDBUF, p->sndbuf);
	if (p->rcvbuf)
		set_int(fd, SOL_SOCKET, SO_RCVBUF, p->rcvbuf);
	set_int(fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, p->idle_ms);
	if (bind(fd, (const struct sockaddr *)&g->addr[rank], sizeof(*g->addr)) ||
	    (p->key && sht_set_key(fd, p->key)) ||
	    (!p->v6 && setsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &all, sizeof(all))) ||
	    sht_set_group(fd, g->addr, p->n, rank)) {
		err = errno;
		close(fd);
		errno = err;
		return -1;
	}
	*socket_of(g, rank) = fd;
	member_listen(g, rank, true);
	return 0;
}

void member_listen(struct group *g, unsigned int rank, bool on)
{
	struct epoll_event e = { .events = EPOLLIN };

	e.data.u32 = (g - soak->group) * MAX_MEMBERS + rank;
	epoll_ctl(epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, *socket_of(g, rank), &e);
}

void member_close(struct group *g, unsigned int rank)
{
	unsigned int op;

	if (*socket_of(g, rank) >= 0)
		close(*socket_of(g, rank));
	*socket_of(g, rank) = -1;
	for (op = 0; op < MAX_OPS; op++) {
		free(g->step[op][rank].data);
		g->step[op][rank].data = NULL;
		g->step[op][rank].over = true;
	}
	g->asked[rank].n = 0;
}

static void has_begun(struct group *g, unsigned int op, unsigned int rank)
{
	struct step *st = &g->step[op][rank];

	if (st->begun)
		return;
	st->begun = true;
	st->at = now_us();
	g->s.part[op][rank].started = 1;
	soak->batch.parts++;
}

/* A call has failed: it is tried again later, or there is nothing more to do. */
static uint64_t try_again(struct group *g, unsigned int op, unsigned int rank)
{
	struct step *st = &g->step[op][rank];

	if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR)
		return now_us() + RETRY_US;
	st->over = true;
	/* it has ended, at once perhaps: records say how */
	if (errno == EPIPE)
		has_begun(g, op, rank);
	else
		wrong("%s: member %u cannot %s operation %u: %s",
		      spec_kind_name(g->s.plan.op[op].kind), rank,
		      st->begun ? "go on with" : "begin", op, strerrorname_np(errno));
	return NEVER;
}

static ssize_t collective(const struct plan *p, const struct op_spec *o, int fd, unsigned int rank)
{
	const struct coll_ask ask = {
		.op_id = o->id, .deadline_ms = o->deadline_ms,
		.len = spec_len(p, o, rank, rank), .kind = SHUFFLE_COLL_ALLREDUCE,
		.pattern = o->seed % 2 ? SHUFFLE_COLL_TREE : SHUFFLE_COLL_DOUBLING,
		.oper = SHUFFLE_COLL_SUM, .type = SHUFFLE_COLL_U64,
		.flags = o->flags & SHUFFLE_ROW_DELAYED_ACK,
	};
	unsigned char data[256];
	struct coll_table t;

	if (coll_ask_table(&t, &ask, rank, p->n))
		return -1;
	spec_put(p, o, rank, rank, data, ask.len, 0);
	return coll_table_send(fd, &t, data, ask.len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The whole row in one call. */
static ssize_t whole_row(const struct plan *p, const struct op_spec *o, int fd, unsigned int rank,
			 const unsigned char *data, size_t len)
{
	struct ctl m;

	ctl_whole(&m, p, o, rank, data, len);
	return sendmsg(fd, &m.msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Some ranks more of a row in pieces.  Which follows from the operation's seed. */
static ssize_t announce(const struct plan *p, const struct op_spec *o, int fd, unsigned int rank,
			struct step *st)
{
	unsigned int left = p->n - st->first, i;
	unsigned int count = 1 + sht_key(o->seed, 5, rank, st->first) % left;
	uint64_t lens[MAX_MEMBERS];
	struct ctl m;
	ssize_t rc;

	for (i = 0; i < count; i++)
		lens[i] = spec_len(p, o, rank, st->first + i);
	ctl_begin(&m, NULL, 0);
	ctl_row(&m, o, o->flags | (count < left ? SHUFFLE_ROW_MORE : 0), st->first, count, lens);
	rc = sendmsg(fd, &m.msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (rc >= 0)
		st->first += count;
	return rc;
}

/* Keep what has not been taken. */
static void keep(struct step *st, const unsigned char *data, size_t len)
{
	st->len = len;
	st->taken = 0;
	st->data = len ? malloc(len) : NULL;
	if (len && !st->data)
		die("malloc");
	if (len)
		memcpy(st->data, data, len);
}

static uint64_t begin(struct group *g, unsigned int op, unsigned int rank)
{
	static unsigned char row[MOST_BYTES];
	const struct plan *p = &g->s.plan;
	const struct op_spec *o = &p->op[op];
	struct step *st = &g->step[op][rank];
	size_t len = 0;
	ssize_t rc;

	if (o->kind == KIND_COLL) {
		rc = collective(p, o, *socket_of(g, rank), rank);
		len = rc > 0 ? rc : 0;
	} else if (o->kind == KIND_PIECES) {
		while ((rc = announce(p, o, *socket_of(g, rank), rank, st)) >= 0) {
			has_begun(g, op, rank);
			if (st->first == p->n)
				break;
		}
		if (rc < 0)
			return try_again(g, op, rank);
		len = row_size(p, o, rank);
		row_fill(p, o, rank, row);
	} else {
		len = row_size(p, o, rank);
		row_fill(p, o, rank, row);
		rc = whole_row(p, o, *socket_of(g, rank), rank, row, len);
	}
	if (rc < 0)
		return try_again(g, op, rank);
	has_begun(g, op, rank);
	keep(st, row + rc, len - rc);
	st->over = !st->len;
	return st->over ? NEVER : now_us();
}

static uint64_t go_on(struct group *g, unsigned int op, unsigned int rank)
{
	struct step *st = &g->step[op][rank];
	struct ctl m;
	ssize_t rc;

	while (st->taken < st->len) {
		ctl_begin(&m, st->data + st->taken, st->len - st->taken);
		ctl_row(&m, &g->s.plan.op[op], 0, 0, 0, NULL);
		rc = sendmsg(*socket_of(g, rank), &m.msg, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (rc < 0)
			return try_again(g, op, rank);
		st->taken += rc;
	}
	free(st->data);
	st->data = NULL;
	st->over = true;
	return NEVER;
}

static uint64_t answer(struct group *g, unsigned int rank)
{
	static unsigned char buf[BUFFER];
	struct questions *q = &g->asked[rank];
	const struct shuffle_record *rec;
	const struct op_spec *o;
	struct ctl m;
	uint64_t len;
	ssize_t rc;

	while (q->n) {
		rec = &q->rec[q->first];
		o = &g->s.plan.op[rec->op_id & 0xff];
		len = rec->len - q->answered;
		len = len < BUFFER ? len : BUFFER;
		spec_put(&g->s.plan, o, rank, rec->rank, buf, len, rec->offset + q->answered);
		ctl_begin(&m, buf, len);
		ctl_row(&m, o, 0, rec->rank, 0, NULL);
		rc = sendmsg(*socket_of(g, rank), &m.msg, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (rc < 0 && (errno == EAGAIN || errno == ENOBUFS))
			return now_us() + RETRY_US;
		if (rc < 0 && errno != EPIPE && errno != ENOENT)
			wrong("want: member %u cannot answer %llu bytes of operation %u: %s", rank,
			      (unsigned long long)len, (unsigned int)rec->op_id & 0xff,
			      strerrorname_np(errno));
		if (rc >= 0)
			q->answered += rc;
		if (rc < 0 || q->answered == rec->len) {
			q->first = (q->first + 1) % QUESTIONS;
			q->n--;
			q->answered = 0;
		}
	}
	return NEVER;
}

uint64_t member_write(struct group *g, unsigned int rank)
{
	uint64_t next = answer(g, rank), then, now = now_us();
	unsigned int op;

	for (op = 0; op < g->s.plan.ops; op++) {
		struct step *st = &g->step[op][rank];

		if (st->over)
			continue;
		then = st->due;
		if (st->due <= now)
			then = st->data ? go_on(g, op, rank) : begin(g, op, rank);
		next = then < next ? then : next;
	}
	return next;
}

static void see(struct group *g, unsigned int rank, const struct shuffle_record *rec,
		const unsigned char *bytes, unsigned char *want)
{
	unsigned int op = find_op(rec, rank);
	struct questions *q = &g->asked[rank];

	if (op == NOBODY)
		return;
	g->s.progress = now_us() / 1000;
	switch (rec->type) {
	case SHUFFLE_RECORD_DATA:
		see_data(rec, op, rank, bytes, want);
		break;
	case SHUFFLE_RECORD_DONE:
	case SHUFFLE_RECORD_FAILED:
		g->ended[op][rank] = now_us();
		see_end(rec, op, rank);
		break;
	case SHUFFLE_RECORD_MISSING:
		see_missing(rec, op, rank);
		break;
	case SHUFFLE_RECORD_WANT:
		/* member_read() has left room */
		q->rec[(q->first + q->n++) % QUESTIONS] = *rec;
		g->retry = 0;
		break;
	}
}

void member_read(struct group *g, unsigned int rank)
{
	static unsigned char buf[2 * BUFFER];
	struct shuffle_record recs[RECORDS];
	unsigned int i, n, room, reads;
	size_t at;
	ssize_t rc;

	slot = &g->s;
	for (reads = 0; reads < READS && *socket_of(g, rank) >= 0; reads++) {
		if (g->asked[rank].n)
			answer(g, rank);
		room = QUESTIONS - g->asked[rank].n;
		if (room > RECORDS)
			room = RECORDS;
		n = room;
		if (!room) {
			/* nothing else may let time pass where it is virtual */
			nanosleep(&(struct timespec){ .tv_nsec = RETRY_US * 1000 }, NULL);
			return;
		}
		rc = sht_recv(*socket_of(g, rank), buf, BUFFER, recs, &n, MSG_DONTWAIT);
		if (rc < 0 && errno != EAGAIN)
			wrong("member %u cannot read: %s", rank, strerrorname_np(errno));
		if (rc < 0)
			return;
		for (i = 0, at = 0; i < n; i++) {
			see(g, rank, &recs[i], buf + at, buf + BUFFER);
			if (recs[i].type == SHUFFLE_RECORD_DATA)
				at += recs[i].len;
		}
		if (at != (size_t)rc)
			wrong("recvmsg() returns %zd, and records of %zu bytes", rc, at);
		if (n < room && (size_t)rc < BUFFER / 2)
			return;
	}
}

void members_wait(uint64_t until)
{
	struct epoll_event ready[GROUPS * MAX_MEMBERS];
	uint64_t now = now_us(), us = until > now ? until - now : 0;
	struct timespec ts = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };
	int i, n;

	n = epoll_pwait2(epoll, ready, GROUPS * MAX_MEMBERS, &ts, NULL);
	for (i = 0; i < n && !shared->failed; i++)
		member_read(&soak->group[ready[i].data.u32 / MAX_MEMBERS],
			    ready[i].data.u32 % MAX_MEMBERS);
}
