/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For fault_nth.c: faults, on and off, and shuffles between sockets of one
 * process whose every byte is checked.
 */
#ifndef FAULTS_H
#define FAULTS_H

#include <fcntl.h>
#include <time.h>

#include "api.h"

#define MEMBERS		4
#define SEED		99
#define HANG_MS		60000
#define ROW_MAX		(1u << 20)
#define KNOBS		"/sys/kernel/debug/"

/* One member's side of an operation. */
struct side {
	int		fd;
	uint32_t	rank, n;
	uint64_t	op;
	uint64_t	lens[MEMBERS];		/* what it sends */
	uint64_t	want[MEMBERS];		/* what it is sent */
	uint64_t	got[MEMBERS];
	size_t		sent, total;
	bool		announced, ended;
	bool		lost;			/* records that could not be copied */
	uint32_t	error;
	unsigned char	*row;
};

static struct side side[MEMBERS];
static struct sockaddr_shuffle member[MEMBERS];
static uint32_t members = 2;
static unsigned char in_buf[ROW_MAX];
static struct shuffle_record recs[64];
static union {
	struct cmsghdr	h;
	char		buf[CMSG_SPACE(sizeof(struct shuffle_row) + 8 * MEMBERS)];
} row_cmsg;
static union {
	struct cmsghdr	h;
	char		buf[CMSG_SPACE(sizeof(struct shuffle_records) + sizeof(recs))];
} recs_cmsg;
static uint64_t deadline_ms;
static char why[160];
static int nth_fd = -1;
static bool dry;

/* The clock is a system call in some kernels, and its copy may fail. */
static uint64_t now_ms(void)
{
	struct timespec ts;

	while (clock_gettime(CLOCK_MONOTONIC, &ts))
		;
	return (uint64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static bool wrong(const char *what, long value)
{
	if (!why[0])
		snprintf(why, sizeof(why), "%s (%ld, errno %d)", what, value, errno);
	return false;
}

/* ---- what fails ---- */

static bool put(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, value, strlen(value)) > 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

static void knob(const char *kind, const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), KNOBS "%s/%s", kind, name);
	put(path, value);
}

static const char *const kinds[] = { "failslab", "fail_page_alloc", "fail_usercopy" };

/* Nothing fails by itself; @sleeping: allocations that may sleep can. */
static void quiet(const char *sleeping)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		knob(kinds[i], "probability", "0");
		knob(kinds[i], "verbose", "0");
		knob(kinds[i], "interval", "1");
		knob(kinds[i], "space", "0");
		knob(kinds[i], "times", "-1");
		knob(kinds[i], "task-filter", "N");
		knob(kinds[i], "ignore-gfp-wait", sleeping);
	}
	knob("fail_page_alloc", "min-order", "0");
	knob("fail_page_alloc", "ignore-gfp-highmem", "N");
}

static void no_faults(void)
{
	unsigned int i;

	/* while copies fail, switching them off may take several attempts */
	for (i = 0; i < 1000; i++)
		if (put("/proc/self/make-it-fail", "0"))
			break;
	for (i = 0; i < 3; i++)
		knob(kinds[i], "probability", "0");
}

static void arm(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (dry)
		return;
	if (pwrite(nth_fd, text, len, 0) != len) {
		printf("Bail out! fail-nth: %s\n", strerror(errno));
		exit(1);
	}
}

/* How many were left; 0: the fault has come. */
static unsigned int disarm(void)
{
	char text[16] = "";
	unsigned int left;

	if (dry)
		return 1;
	/* if its copy is what fails, the call had no fault */
	left = pread(nth_fd, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 1;
	while (pwrite(nth_fd, "0", 1, 0) != 1)
		;
	return left;
}

/* ---- shuffles whose bytes are checked ---- */

static void op_begin(const uint64_t *lens)
{
	uint64_t op = next_op++;
	uint32_t i, j;
	size_t at;

	for (i = 0; i < members; i++) {
		struct side *s = &side[i];

		s->rank = i;
		s->n = members;
		s->op = op;
		s->sent = 0;
		s->announced = false;
		s->ended = false;
		s->lost = false;
		s->error = 0;
		for (at = 0, j = 0; j < members; j++) {
			s->lens[j] = lens[i * members + j];
			s->want[j] = lens[j * members + i];
			s->got[j] = 0;
			sht_fill(s->row + at, s->lens[j], sht_key(SEED, op, i, j), 0);
			at += s->lens[j];
		}
		s->total = at;
	}
}

/* The next part of its row.  No allocation and no copy but the call's own. */
static ssize_t side_send(struct side *s, int flags)
{
	struct iovec iov = { .iov_base = s->row + s->sent, .iov_len = s->total - s->sent };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &row_cmsg };
	struct shuffle_row *row = (void *)CMSG_DATA(&row_cmsg.h);
	size_t len = sizeof(*row) + (s->announced ? 0 : 8 * s->n);

	memset(&row_cmsg, 0, sizeof(row_cmsg));
	row_cmsg.h.cmsg_level = SOL_SHUFFLE;
	row_cmsg.h.cmsg_type = SHUFFLE_CMSG_ROW;
	row_cmsg.h.cmsg_len = CMSG_LEN(len);
	msg.msg_controllen = CMSG_SPACE(len);
	row->size = sizeof(*row);
	row->op_id = s->op;
	row->deadline_ms = deadline_ms;
	row->count = s->announced ? 0 : s->n;
	if (row->count)
		memcpy(row->lens, s->lens, 8 * s->n);
	return sendmsg(s->fd, &msg, flags | MSG_NOSIGNAL);
}

/* What a call returned.  False: it must not. */
static bool side_sent(struct side *s, ssize_t rc, int err)
{
	if (rc >= 0) {
		s->announced = true;
		s->sent += rc;
		return true;
	}
	switch (err) {
	case EAGAIN:
	case ENOMEM:
	case ENOBUFS:
	case EFAULT:
		return true;
	case EEXIST:	/* a failed call has announced it, and cancelled it */
	case EPIPE:
		s->announced = true;
		s->sent = s->total;
		return true;
	}
	return wrong("sendmsg", rc);
}

static ssize_t side_recv(struct side *s)
{
	struct iovec iov = { .iov_base = in_buf, .iov_len = sizeof(in_buf) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &recs_cmsg,
			      .msg_controllen = sizeof(recs_cmsg) };
	ssize_t rc;
	int err;

	recs_cmsg.h.cmsg_len = 0;
	rc = recvmsg(s->fd, &msg, MSG_DONTWAIT);
	err = errno;
	/* The copy of the records themselves has failed: after their header. */
	s->lost |= rc < 0 && err == EFAULT && recs_cmsg.h.cmsg_len;
	if (rc < 0 || !msg.msg_controllen)
		recs_cmsg.h.cmsg_len = 0;
	errno = err;
	return rc;
}

/* What side_recv() has delivered. */
static bool side_take(struct side *s, ssize_t rc, int err)
{
	const struct shuffle_records *all = (void *)CMSG_DATA(&recs_cmsg.h);
	unsigned char *p = in_buf;
	unsigned int i, n;
	uint64_t key;

	if (s->lost) {
		/* as with any protocol: nobody can go on */
		sht_cancel(s->fd, s->op);
		s->ended = true;
		s->error = EFAULT;
		return true;
	}
	if (rc < 0)
		return err == EAGAIN || err == ENOMEM || err == ENOBUFS || err == EFAULT ||
		       wrong("recvmsg", rc);
	if (!recs_cmsg.h.cmsg_len)
		return wrong("no records", rc);
	n = all->count;
	memcpy(recs, all->rec, n * sizeof(recs[0]));
	for (i = 0; i < n; i++) {
		struct shuffle_record *r = &recs[i];

		/* the end of one whose records were lost */
		if (r->op_id < s->op) {
			p += r->type == SHUFFLE_RECORD_DATA ? r->len : 0;
			continue;
		}
		if (r->op_id != s->op)
			return wrong("record of another operation", r->op_id);
		switch (r->type) {
		case SHUFFLE_RECORD_DATA:
			if (r->rank >= s->n || r->offset != s->got[r->rank] ||
			    r->msg_len != s->want[r->rank] || r->offset + r->len > r->msg_len)
				return wrong("wrong place", r->offset);
			key = sht_key(SEED, s->op, r->rank, s->rank);
			if (sht_check(p, r->len, key, r->offset) != r->len)
				return wrong("wrong bytes", r->offset);
			s->got[r->rank] += r->len;
			p += r->len;
			break;
		case SHUFFLE_RECORD_DONE:
			s->ended = true;
			if (memcmp(s->got, s->want, 8 * s->n))
				return wrong("DONE, and bytes are missing", s->rank);
			break;
		case SHUFFLE_RECORD_FAILED:
			s->ended = true;
			s->error = r->error;
			break;
		}
	}
	return p == in_buf + rc || wrong("bytes without a record", rc);
}

/* Until all have ended; whoever has begun is cancelled when another has failed. */
static bool op_end(bool may_fail)
{
	uint64_t until = now_ms() + HANG_MS;
	struct pollfd pfd[MEMBERS];
	bool failed = false, left = true;
	uint32_t i;
	ssize_t rc;

	while (left) {
		left = false;
		for (i = 0; i < members; i++) {
			struct side *s = &side[i];

			if (!s->ended && failed && !s->announced)
				s->ended = true;	/* it need not begin */
			if (!s->ended && (!s->announced || s->sent < s->total)) {
				rc = side_send(s, MSG_DONTWAIT);
				if (!side_sent(s, rc, errno))
					return false;
			}
			if (!s->ended) {
				rc = side_recv(s);
				if (!side_take(s, rc, errno))
					return false;
			}
			if (s->ended && s->error && !may_fail)
				return wrong("FAILED", s->error);
			failed |= s->ended && s->error;
			if (failed && !s->ended)
				sht_cancel(s->fd, s->op);
			left |= !s->ended;
			pfd[i].fd = s->fd;
			pfd[i].events = POLLIN;
		}
		if (left && now_ms() > until)
			return wrong("an operation does not end", (long)side[0].op);
		if (left)
			poll(pfd, members, 20);
	}
	return true;
}

static bool shuffle(const uint64_t *lens, bool may_fail)
{
	op_begin(lens);
	return op_end(may_fail);
}

static const uint64_t small_lens[4] = { 10, 1000, 700, 0 };
static const uint64_t large_lens[4] = { 0, 90000, 30000, 20 };

#endif /* FAULTS_H */
