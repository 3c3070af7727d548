// SPDX-License-Identifier: GPL-2.0-or-later
/* Sockets of one group, without a kernel: see fake.h.  What tree*.c call is here. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fake.h"
#include "shuffle.h"

#define SOCKETS	256
#define NONE	UINT32_MAX
#define ENDED	65536
#define MOST_OPS	1024	/* of a socket, as the kernel's */

/* An operation of a socket. */
struct op {
	struct op *next;
	uint64_t id;
	uint32_t from, to;	/* ranks, or NONE */
	unsigned char *data;
	uint64_t len, moved, got;
	bool has_come, has_left, want;
};

struct item {
	struct item *next;
	struct shuffle_record rec;
	unsigned char data[];
};

static struct sock {
	int fd;
	uint32_t rank;
	bool joined;
	struct op *ops;
	struct item *first, **last;
	uint64_t *ended;
	unsigned int nr_ended;
} sock[SOCKETS];

static uint64_t state;

uint64_t fake_draw(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state >> 24;
}

static struct sock *by_fd(int fd)
{
	unsigned int i;

	for (i = 0; i < SOCKETS; i++)
		if (sock[i].ended && sock[i].fd == fd)
			return &sock[i];
	abort();
}

static struct sock *by_rank(uint32_t rank)
{
	unsigned int i;

	for (i = 0; i < SOCKETS; i++)
		if (sock[i].ended && sock[i].joined && sock[i].rank == rank)
			return &sock[i];
	return NULL;
}

/* What a host's kernel remembers, whatever socket it was. */
static struct sock memory[SOCKETS];

static bool has_ended(uint32_t rank, uint64_t id)
{
	const struct sock *m = &memory[rank];
	unsigned int i;

	for (i = 0; i < m->nr_ended; i++)
		if (m->ended[i] == id)
			return true;
	return false;
}

static void remember(uint32_t rank, uint64_t id)
{
	struct sock *m = &memory[rank];

	if (!m->ended)
		m->ended = malloc(ENDED * sizeof(*m->ended));
	if (m->nr_ended == ENDED)
		abort();
	m->ended[m->nr_ended++] = id;
}

static void push(struct sock *s, const struct shuffle_record *rec, const void *data)
{
	struct item *it = malloc(sizeof(*it) + rec->len);
	uint64_t one = 1;

	it->next = NULL;
	it->rec = *rec;
	if (rec->len)
		memcpy(it->data, data, rec->len);
	*s->last = it;
	s->last = &it->next;
	if (write(s->fd, &one, sizeof(one)) != sizeof(one))
		abort();
}

static struct op *find(struct sock *s, uint64_t id)
{
	struct op *op;

	for (op = s->ops; op && op->id != id; op = op->next)
		;
	return op;
}

static void end(struct sock *s, struct op *op, uint32_t error)
{
	struct shuffle_record rec = {
		.op_id = op->id, .error = error,
		.type = error ? SHUFFLE_RECORD_FAILED : SHUFFLE_RECORD_DONE,
	};
	struct op **at;

	for (at = &s->ops; *at != op; at = &(*at)->next)
		;
	*at = op->next;
	remember(s->rank, op->id);
	push(s, &rec, NULL);
	free(op->data);
	free(op);
}

static void end_at_peers(struct sock *s, uint64_t id, uint32_t from, uint32_t to)
{
	uint32_t rank[2] = { from, to };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct sock *p = rank[i] == NONE ? NULL : by_rank(rank[i]);
		struct op *op = p ? find(p, id) : NULL;

		if (op)
			end(p, op, ECONNRESET);
	}
	(void)s;
}

int shuffle_bind(struct sockaddr_shuffle *addr, int flags)
{
	unsigned int i;

	(void)flags;
	(void)addr;
	for (i = 0; i < SOCKETS; i++) {
		if (sock[i].ended)
			continue;
		memset(&sock[i], 0, sizeof(sock[i]));
		sock[i].fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		sock[i].ended = malloc(1);
		sock[i].last = &sock[i].first;
		return sock[i].fd;
	}
	abort();
}

int shuffle_join_edges(int fd, const struct shuffle_edge *edges, unsigned int count,
		       unsigned int rank)
{
	struct sock *s = by_fd(fd);

	(void)edges;
	(void)count;
	s->rank = rank;
	s->joined = true;
	return 0;
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t len)
{
	(void)fd;
	(void)level;
	(void)option;
	(void)value;
	(void)len;
	return 0;
}

void shuffle_tx_init(struct shuffle_tx *tx, uint64_t op_id, const void *const *bufs,
		     const uint64_t *lens, unsigned int count, uint64_t deadline_ms)
{
	memset(tx, 0, sizeof(*tx));
	tx->op_id = op_id;
	tx->bufs = bufs;
	tx->lens = lens;
	tx->count = count;
	tx->deadline_ms = deadline_ms;
}

void shuffle_tx_absent(struct shuffle_tx *tx, const uint64_t *absent)
{
	tx->absent = absent;
}

static int start(int fd, struct shuffle_tx *tx, bool want)
{
	struct sock *s = by_fd(fd);
	unsigned int n = 0;
	struct op *op;
	uint32_t i;

	for (op = s->ops; op; op = op->next)
		n++;
	if (n >= MOST_OPS) {
		errno = ENOBUFS;
		return -1;
	}
	if (find(s, tx->op_id) || has_ended(s->rank, tx->op_id)) {
		errno = EEXIST;
		return -1;
	}
	op = calloc(1, sizeof(*op));
	op->id = tx->op_id;
	op->from = NONE;
	op->to = NONE;
	op->want = want;
	for (i = 0; i < tx->count; i++) {
		if (!(tx->absent[i / 64] >> i % 64 & 1))
			op->from = i;
		if (tx->lens[i] != SHUFFLE_ABSENT)
			op->to = i;
	}
	op->has_come = op->from == NONE;
	op->has_left = op->to == NONE;
	if (op->to != NONE) {
		op->len = tx->lens[op->to];
		op->data = calloc(1, op->len + 1);
		if (!want)
			memcpy(op->data, tx->bufs[op->to], op->len);
	}
	op->next = s->ops;
	s->ops = op;
	return 1;
}

int shuffle_tx_step(int fd, struct shuffle_tx *tx)
{
	uint32_t i;

	/* only what has data waits */
	for (i = 0; i < tx->count && tx->lens[i] == SHUFFLE_ABSENT; i++)
		;
	if (i < tx->count && tx->lens[i] > 100 && fake_draw() % 8 == 0) {
		errno = EAGAIN;
		return 0;
	}
	return start(fd, tx, false);
}

int shuffle_tx_want(int fd, struct shuffle_tx *tx)
{
	return start(fd, tx, true);
}

int shuffle_cancel(int fd, uint64_t op_id)
{
	struct sock *s = by_fd(fd);
	struct op *op = find(s, op_id);
	uint32_t from, to;

	if (!op) {
		errno = ENOENT;
		return -1;
	}
	from = op->from;
	to = op->to;
	end(s, op, ECANCELED);
	end_at_peers(s, op_id, from, to);
	return 0;
}

ssize_t shuffle_recv(int fd, void *buf, size_t size, struct shuffle_record *records,
		     unsigned int *count, int flags)
{
	struct sock *s = by_fd(fd);
	unsigned int n = 0;
	size_t at = 0;
	struct item *it;
	uint64_t value;

	(void)flags;
	while (n < *count && (it = s->first) && it->rec.len <= size - at) {
		memcpy((char *)buf + at, it->data, it->rec.len);
		at += it->rec.len;
		records[n++] = it->rec;
		s->first = it->next;
		if (!s->first) {
			s->last = &s->first;
			if (read(fd, &value, sizeof(value)) != sizeof(value))
				abort();
		}
		free(it);
	}
	*count = n;
	if (n)
		return at;
	errno = EAGAIN;
	return -1;
}

static void move(struct sock *s, struct op *op)
{
	struct sock *to = op->to == NONE ? NULL : by_rank(op->to);
	struct shuffle_record rec = { .op_id = op->id, .msg_len = op->len, .offset = op->moved,
				      .rank = s->rank, .type = SHUFFLE_RECORD_DATA };
	struct op *other;

	if (!to || op->want || op->has_left)
		return;
	other = find(to, op->id);
	if (!other) {
		if (has_ended(to->rank, op->id))
			end(s, op, ECONNRESET);
		return;
	}
	if (other->from != s->rank)
		abort();
	rec.len = op->len - op->moved;
	if (fake_draw() % 2 && rec.len > 100)
		rec.len = 1 + fake_draw() % rec.len;
	op->moved += rec.len;
	if (op->moved == op->len)
		rec.flags = SHUFFLE_RECORD_LAST;
	push(to, &rec, op->data + rec.offset);
	if (op->moved < op->len)
		return;
	op->has_left = true;
	other->has_come = true;
	if (other->has_left)
		end(to, other, 0);
	if (op->has_come)
		end(s, op, 0);
}

void fake_deliver(void)
{
	unsigned int i;

	for (i = 0; i < SOCKETS; i++) {
		struct op *op, *next;

		if (!sock[i].ended)
			continue;
		for (op = sock[i].ops; op; op = next) {
			next = op->next;
			if (fake_draw() % 4)
				move(&sock[i], op);
		}
	}
}

int fake_close(int fd)
{
	struct sock *s = NULL;
	unsigned int i;
	struct item *it;
	struct op *op;

	for (i = 0; i < SOCKETS; i++)
		if (sock[i].ended && sock[i].fd == fd)
			s = &sock[i];
	if (!s)
		return close(fd);
	s->joined = false;
	while ((op = s->ops)) {
		uint32_t from = op->from, to = op->to;
		uint64_t id = op->id;

		end(s, op, ECANCELED);
		end_at_peers(s, id, from, to);
	}
	while ((it = s->first)) {
		s->first = it->next;
		free(it);
	}
	free(s->ended);
	s->ended = NULL;
	return close(fd);
}

void fake_reset(uint64_t seed)
{
	unsigned int i;

	for (i = 0; i < SOCKETS; i++) {
		free(memory[i].ended);
		memset(&memory[i], 0, sizeof(memory[i]));
	}
	state = seed;
}
