// SPDX-License-Identifier: GPL-2.0-or-later
/* Writers: they carry out their member's part of all operations. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "torture.h"
#include "../coll_ask.h"

#define PIECE	65536

ssize_t call_send(struct call *c, enum action a, int fd, const struct msghdr *msg, int flags,
		  unsigned int rank, unsigned int op)
{
	ssize_t rc;
	int err;

	call_begin(c, a, rank, op);
	rc = sendmsg(fd, msg, flags | MSG_NOSIGNAL);
	err = errno;
	call_end(c);
	if (rc > 0)
		progress();
	errno = err;
	return rc;
}

static ssize_t collective(struct call *c, int fd, unsigned int op, unsigned int rank)
{
	const struct op_spec *o = &slot->plan.op[op];
	const struct coll_ask ask = {
		.op_id = o->id, .deadline_ms = o->deadline_ms,
		.len = spec_len(&slot->plan, o, rank, rank), .kind = SHUFFLE_COLL_ALLREDUCE,
		.pattern = o->seed % 2 ? SHUFFLE_COLL_TREE : SHUFFLE_COLL_DOUBLING,
		.oper = SHUFFLE_COLL_SUM, .type = SHUFFLE_COLL_U64,
		.flags = o->flags & (SHUFFLE_ROW_DELAYED_ACK | SHUFFLE_ROW_ORDER),
	};
	/* steps, and what we put in */
	unsigned char data[sizeof(struct coll_table) + 256];
	struct coll_table t;
	struct ctl m;

	if (coll_ask_table(&t, &ask, rank, slot->plan.n))
		return -1;
	memcpy(data, t.step, t.bytes);
	spec_put(&slot->plan, o, rank, rank, data + t.bytes, ask.len, 0);
	ctl_begin(&m, data, t.bytes + ask.len);
	sht_add_cmsg(&m.msg, SHUFFLE_CMSG_COLLECTIVE, &t.c, sizeof(t.c));
	return call_send(c, ACT_send, fd, &m.msg, 0, rank, op);
}

/* All data of a row, in memory of its own; NULL if there is none. */
static unsigned char *row_data(const struct op_spec *o, unsigned int rank, size_t *len)
{
	unsigned char *buf;

	*len = row_size(&slot->plan, o, rank);
	if (!*len)
		return NULL;
	buf = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED)
		die("mmap");
	row_fill(&slot->plan, o, rank, buf);
	return buf;
}

/* A writer gives up: where nothing may fail that is what is wrong, not what others miss later. */
static void gives_up(unsigned int op, unsigned int rank, const char *doing)
{
	int err = errno;

	if (mix->calm && !slot->over)
		wrong("%s: member %u cannot %s operation %u: %s",
		      spec_kind_name(slot->plan.op[op].kind), rank, doing, op,
		      strerrorname_np(err));
	errno = err;
}

/* The rest of the data, behind what has been taken. */
static void go_on(struct call *c, int fd, unsigned int op, unsigned int rank, struct dice *d,
		  const unsigned char *data, size_t len)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	int flags = roll(d, 2) ? MSG_DONTWAIT : 0;
	struct ctl m;
	size_t n;
	ssize_t rc;

	while (len && !slot->over) {
		n = roll(d, 2) && len > PIECE ? 1 + roll(d, PIECE) : len;
		ctl_begin(&m, data, n);
		ctl_row(&m, &slot->plan.op[op], 0, 0, 0, NULL);
		rc = call_send(c, ACT_send_more, fd, &m.msg, flags, rank, op);
		if (rc < 0 && errno == EAGAIN) {
			call_begin(c, ACT_wait, rank, op);
			poll(&pfd, 1, 20);
			call_end(c);
			continue;
		}
		if (rc < 0 && (errno == EINTR || errno == ENOBUFS)) {
			nap_us(200);
			continue;
		}
		if (rc <= 0) {		/* its end comes as a record */
			gives_up(op, rank, "go on with");
			return;
		}
		data += rc;
		len -= rc;
	}
}

/* Announced rank by rank, or some at a time. */
static ssize_t pieces(struct call *c, int fd, unsigned int op, unsigned int rank, struct dice *d,
		      const uint64_t *lens, const unsigned char *data, size_t len)
{
	unsigned int first = 0, count, n = slot->plan.n;
	ssize_t rc = 0;
	struct ctl m;

	while (first < n) {
		count = 1 + roll(d, n - first);
		ctl_begin(&m, NULL, 0);
		ctl_row(&m, &slot->plan.op[op],
			slot->plan.op[op].flags | (first + count < n ? SHUFFLE_ROW_MORE : 0),
			first, count, lens + first);
		rc = call_send(c, ACT_send, fd, &m.msg, 0, rank, op);
		if (rc < 0 && first && (errno == EINTR || errno == EAGAIN)) {
			if (slot->over)
				return rc;
			continue;
		}
		if (rc < 0 && first)
			gives_up(op, rank, "announce more of");
		if (rc < 0)
			return first ? 0 : rc;
		slot->part[op][rank].started = 1;
		first += count;
	}
	go_on(c, fd, op, rank, d, data, len);
	return 0;
}

ssize_t submit_part(struct call *c, int fd, unsigned int op, unsigned int rank, struct dice *d)
{
	const struct plan *p = &slot->plan;
	const struct op_spec *o = &p->op[op];
	uint64_t lens[MAX_MEMBERS];
	unsigned char *data;
	struct ctl m;
	size_t len;
	ssize_t rc;
	unsigned int i;
	int err;

	if (o->kind == KIND_COLL)
		return collective(c, fd, op, rank);
	data = row_data(o, rank, &len);
	if (o->kind == KIND_PIECES) {
		for (i = 0; i < p->n; i++)
			lens[i] = spec_len(p, o, rank, i);
		rc = pieces(c, fd, op, rank, d, lens, data, len);
	} else {
		ctl_whole(&m, p, o, rank, data, len);
		/* a row that does not wait is taken in order, and stops at a member that is gone */
		rc = call_send(c, ACT_send, fd, &m.msg, mix->dead || roll(d, 2) ? 0 : MSG_DONTWAIT,
			       rank, op);
		err = errno;
		if (rc >= 0) {
			slot->part[op][rank].started = 1;
			go_on(c, fd, op, rank, d, data + rc, len - rc);
		}
		errno = err;
	}
	err = errno;
	if (data)
		munmap(data, len);
	errno = err;
	return rc;
}

void submit_answer(struct call *c, int fd, const struct op_spec *op, unsigned int rank,
		   const struct shuffle_record *rec)
{
	unsigned char *buf = malloc(rec->len ? rec->len : 1);
	unsigned int number = op - slot->plan.op;
	uint64_t done = 0;
	struct ctl m;
	ssize_t rc = 1;

	if (!buf)
		die("malloc");
	spec_put(&slot->plan, op, rank, rec->rank, buf, rec->len, rec->offset);
	while (done < rec->len && !slot->over) {
		ctl_begin(&m, buf + done, rec->len - done);
		ctl_row(&m, op, 0, rec->rank, 0, NULL);
		rc = call_send(c, ACT_answer, fd, &m.msg, 0, rank, number);
		if (rc < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOBUFS)) {
			nap_us(100);
			continue;
		}
		if (rc < 0 && errno == EMSGSIZE)
			wrong("an answer of %llu bytes to WANT is refused: EMSGSIZE",
			      (unsigned long long)rec->len);
		if (rc <= 0)
			break;
		done += rc;
	}
	free(buf);
}

/* Until the part has begun, or cannot any more. */
static void carry_out(struct call *c, unsigned int op, unsigned int rank, struct dice *d)
{
	struct part *part = &slot->part[op][rank];
	struct member *me = &slot->member[rank];
	ssize_t rc;

	while (!slot->over) {
		rc = submit_part(c, fds[rank], op, rank, d);
		if (rc >= 0) {
			part->started = 1;
			progress();
			return;
		}
		switch (errno) {
		case EINTR:
		case EAGAIN:
		case ENOBUFS:
		case ENOMEM:
		case EBUSY:	/* the group was set once more meanwhile: api.rst */
			nap_us(500);
			continue;
		case EPIPE:	/* the operation has ended, or so has all that it was for */
		case ECANCELED:
			gives_up(op, rank, "begin");
			return;
		case EINVAL:
		case EMSGSIZE:
		case EFAULT:
			if (!me->gone && !slot->disturbed)
				wrong("%s: member %u cannot begin operation %u: %s",
				      spec_kind_name(slot->plan.op[op].kind), rank, op,
				      strerrorname_np(errno));
			return;
		default:	/* closed: ENOTSOCK, EBADF; no device; EEXIST: begun before */
			gives_up(op, rank, "begin");
			return;
		}
	}
}

void *writer(void *arg)
{
	struct worker *w = arg;
	const struct plan *p = &slot->plan;
	struct call *c = call_new();
	/* Rows that wait, begun in different orders, may wait for one another: nobody promises
	 * that they do not, so where nothing may fail all members begin in one order.
	 */
	unsigned int i, op, start = mix->calm ? 0 : roll(&w->dice, p->ops);
	unsigned int pause = roll(&w->dice, 3) ? 0 : roll(&w->dice, 2000);

	for (i = 0; i < p->ops && w->rank != p->dead && !slot->over; i++) {
		op = (start + i) % p->ops;
		if (atomic_exchange(&slot->part[op][w->rank].claimed, 1))
			continue;
		if (pause)
			nap_us(roll(&w->dice, pause));
		carry_out(c, op, w->rank, &w->dice);
		slot->actions++;
	}
	slot->member[w->rank].writers--;
	return NULL;
}
