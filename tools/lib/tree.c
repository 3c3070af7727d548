// SPDX-License-Identifier: BSD-3-Clause
/* A member of a tree in which records are merged by key: calls, and what happens when. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "tree.h"

#define DEFAULT_IDLE_MS	60000U
#define DEFAULT_TABLE	65536U
#define DEFAULT_BYTES	(64ULL << 20)
#define TICK_MS		20
#define CLOSE_MS	1000
/* of the socket, each way */
#define BUFFER		(4 << 20)
/* recvmsg() before what has come is merged */
#define ROUNDS		8
/* records of all inputs in a batch */
#define MOST_BATCH	(64U << 10)

uint64_t tree_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

void tree_memory(struct shuffle_tree *t, int64_t bytes)
{
	t->counts.memory += bytes;
	if (t->counts.memory > t->counts.memory_most)
		t->counts.memory_most = t->counts.memory;
}

/* ---- open, close ---- */

/* What each child has of the operations that stand by: with many children they begin, and go on,
 * more slowly.
 */
static void stand_by(struct shuffle_tree *t, uint32_t children)
{
	uint32_t each = TREE_STAND_BY / (children ? children : 1);

	t->columns = TREE_COLUMNS;
	t->first_doors = TREE_FIRST_DOORS;
	t->known_doors = TREE_DOORS - TREE_FIRST_DOORS;
	/* one is the session's life */
	if (each < TREE_COLUMNS + TREE_DOORS + 1) {
		t->first_doors = 1;
		t->known_doors = 1;
		t->columns = each - 3 < TREE_COLUMNS ? each - 3 : TREE_COLUMNS;
	}
	each = t->columns + t->first_doors + t->known_doors + 1;
	t->sending = TREE_SOCKET_OPS - children * each - TREE_STAND_BY_UP;
}

static int copy_spec(struct shuffle_tree *t, const struct shuffle_tree_spec *spec)
{
	size_t size = spec->size < sizeof(t->spec) ? spec->size : sizeof(t->spec);
	struct shuffle_tree_spec *s = &t->spec;
	uint64_t stream = TREE_CHUNK + 256;

	memcpy(s, spec, size);
	errno = EINVAL;
	if (size < offsetof(struct shuffle_tree_spec, idle_ms) || s->count < 2 ||
	    s->count > SHUFFLE_TREE_MEMBERS || s->rank >= s->count ||
	    s->children > SHUFFLE_TREE_CHILDREN || s->oper >= SHUFFLE_KEYS_OPERS ||
	    s->flags & ~(SHUFFLE_KEYS_SORTED | SHUFFLE_TREE_RELAY) || s->table_records > 1U << 30 ||
	    (s->parent == SHUFFLE_TREE_NOBODY && !s->children))
		return -1;
	t->relay = s->flags & SHUFFLE_TREE_RELAY;
	s->flags &= ~SHUFFLE_TREE_RELAY;
	if (t->relay && (!s->children || s->parent == SHUFFLE_TREE_NOBODY))
		return -1;
	s->idle_ms = s->idle_ms ? s->idle_ms : DEFAULT_IDLE_MS;
	s->table_records = s->table_records ? s->table_records : DEFAULT_TABLE;
	s->max_bytes = s->max_bytes ? s->max_bytes : DEFAULT_BYTES;
	t->count = s->count;
	t->words = (t->count + 63) / 64;
	/* half of the memory is for streams of an operation at most */
	t->window = s->max_bytes / 2 / (stream * (s->children + 1));
	t->window = t->window < 1 ? 1 : t->window > TREE_WINDOW ? TREE_WINDOW : t->window;
	/* and as much for those that have not begun */
	t->slots = s->max_bytes / 2 / (stream * (s->children + 1));
	t->slots = t->slots < 1 ? 1 : t->slots > TREE_SLOTS ? TREE_SLOTS : t->slots;
	stand_by(t, s->children);
	t->op_bytes = stream * (s->children * t->window + 2);
	if (!(s->flags & SHUFFLE_KEYS_SORTED))
		t->op_bytes += shuffle_merge_table_bytes(s->table_records);
	return 0;
}

static int allocate(struct shuffle_tree *t)
{
	uint32_t i, inputs = t->spec.children + 2;

	t->members = calloc(t->count, sizeof(*t->members));
	t->absent = calloc(t->words, sizeof(*t->absent));
	t->lens = calloc(t->count, sizeof(*t->lens));
	t->bufs = calloc(t->count, sizeof(*t->bufs));
	t->run = calloc(inputs, sizeof(*t->run));
	t->saved = calloc(inputs, sizeof(*t->saved));
	t->used = calloc(inputs, sizeof(*t->used));
	t->batch_records = MOST_BATCH / inputs < TREE_BATCH ? MOST_BATCH / inputs : TREE_BATCH;
	t->batch = calloc(2 * inputs * t->batch_records, sizeof(*t->batch));
	t->ended = calloc(TREE_ENDED, sizeof(*t->ended));
	if (!t->ended || !t->saved || !t->used || !t->members || !t->absent || !t->lens ||
	    !t->bufs || !t->run || !t->batch)
		return -1;
	memcpy(t->members, t->spec.members, t->count * sizeof(*t->members));
	for (i = 0; i < t->count; i++) {
		t->absent[i / 64] |= 1ULL << i % 64;
		t->lens[i] = SHUFFLE_ABSENT;
	}
	if (t->spec.senders) {
		t->senders = calloc(t->words, sizeof(*t->senders));
		if (!t->senders)
			return -1;
		memcpy(t->senders, t->spec.senders, t->words * sizeof(*t->senders));
	}
	return 0;
}

static void grow_buffers(int fd)
{
	int bytes = BUFFER;

	/* more than the limit of the machine, where we may */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

/* One group of all, whose operations wait as long as it takes: the tree has its own clocks. */
static int open_socket(struct shuffle_tree *t)
{
	struct sockaddr_shuffle self = t->members[t->spec.rank].member;
	struct epoll_event event = { .events = EPOLLIN };
	uint32_t never = 0;

	t->fd = shuffle_bind(&self, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (t->fd < 0)
		return -1;
	grow_buffers(t->fd);
	if (t->spec.key && setsockopt(t->fd, SOL_SHUFFLE, SHUFFLE_KEY, t->spec.key,
				      SHUFFLE_KEY_BYTES))
		return -1;
	if (setsockopt(t->fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &never, sizeof(never)))
		return -1;
	if (shuffle_join_edges(t->fd, t->members, t->count, t->spec.rank))
		return -1;
	t->poll = epoll_create1(EPOLL_CLOEXEC);
	return t->poll < 0 ? -1 : epoll_ctl(t->poll, EPOLL_CTL_ADD, t->fd, &event);
}

static void tree_free(struct shuffle_tree *t)
{
	struct tree_end_list *end;
	int error = errno;

	while (t->ops)
		tree_op_free(t, t->ops);
	if (t->poll >= 0)
		close(t->poll);
	if (t->fd >= 0)
		close(t->fd);
	tree_edges_free(t);
	while ((end = t->end)) {
		t->end = end->next;
		free(end->end.result);
		free(end);
	}
	free(t->members);
	free(t->senders);
	free(t->absent);
	free(t->lens);
	free(t->bufs);
	free(t->run);
	free(t->saved);
	free(t->used);
	free(t->batch);
	free(t->ended);
	free(t);
	errno = error;
}

struct shuffle_tree *shuffle_tree_open(const struct shuffle_tree_spec *spec)
{
	struct shuffle_tree *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->fd = -1;
	t->poll = -1;
	t->end_last = &t->end;
	t->now_ms = tree_now_ms();
	t->tick_ms = t->now_ms;
	if (copy_spec(t, spec) || allocate(t) || open_socket(t) || tree_edges_init(t)) {
		tree_free(t);
		return NULL;
	}
	tree_edges_tick(t);
	return t;
}

/* ---- the loop ---- */

/* An operation has ended: the program hears of it. */
void tree_report(struct shuffle_tree *t, struct tree_op *op)
{
	struct tree_end_list *end;

	if (t->relay)
		return;
	end = calloc(1, sizeof(*end));
	if (!end)
		return;
	end->end.op_id = op->id;
	end->end.fault = op->fault;
	if (!op->fault.error && !t->parent) {
		end->end.result = op->result;
		end->end.results = op->results;
		op->result = NULL;
	}
	*t->end_last = end;
	t->end_last = &end->next;
}

/* Those that have memory begin in order of their ids, and the first one whatever it takes. */
static void admit(struct shuffle_tree *t)
{
	struct tree_op *op;
	bool lowest = true;

	for (op = t->ops; op; op = op->next) {
		if (op->ended || op->out_done)
			continue;
		if (!op->begun && t->relay)
			tree_op_begin(t, op, NULL, 0);
		if (op->begun && !op->admitted &&
		    (lowest || (t->admitted + 1) * t->op_bytes <= t->spec.max_bytes))
			tree_op_admit(t, op);
		if (lowest)
			tree_op_want(t, op);
		lowest = false;
	}
}

static void sweep(struct shuffle_tree *t)
{
	struct tree_op *op, *next;

	for (op = t->ops; op; op = next) {
		next = op->next;
		if (!op->ended)
			continue;
		tree_op_free(t, op);
		/* others may have waited for what it had */
		t->dirty = true;
	}
}

/* Clocks: members that have not been heard, and a sign of life to those that wait for us. */
static void tick(struct shuffle_tree *t)
{
	struct tree_op *op;
	uint32_t i;

	tree_edges_tick(t);
	for (op = t->ops; op; op = op->next) {
		for (i = 0; i < t->spec.children; i++) {
			struct tree_input *in = &op->input[i];

			if (op->ended || !in->started ||
			    t->now_ms - in->told_ms < t->spec.idle_ms / 3)
				continue;
			in->told_ms = t->now_ms;
			tree_tell(t, in->edge, TREE_GO, op->admitted ? in->granted : 0, op->id,
				  NULL);
		}
		if (!op->ended && (op->admitted || op->out_done || !op->begun) &&
		    t->now_ms - op->moved_ms >= t->spec.idle_ms)
			tree_op_idle(t, op);
	}
}

static void wait_for_room(struct shuffle_tree *t, bool room)
{
	struct epoll_event event = { .events = EPOLLIN | (room ? EPOLLOUT : 0) };

	if (room == t->room)
		return;
	t->room = room;
	epoll_ctl(t->poll, EPOLL_CTL_MOD, t->fd, &event);
}

/* Whatever can be done without waiting. */
static int step(struct shuffle_tree *t)
{
	struct tree_op *op;
	int rounds, rc;

	t->now_ms = tree_now_ms();
	if (t->now_ms - t->tick_ms >= TICK_MS)
		tick(t);
	do {
		for (rounds = 0, rc = 1; rounds < ROUNDS && rc > 0; rounds++)
			rc = tree_receive(t);
		if (rc < 0)
			return -1;
		while (t->dirty) {
			t->dirty = false;
			admit(t);
			for (op = t->ops; op; op = op->next)
				tree_op_run(t, op);
			sweep(t);
		}
		wait_for_room(t, tree_flush(t));
	} while (rc > 0 || t->dirty);
	return 0;
}

int shuffle_tree_start(struct shuffle_tree *t, uint64_t op_id,
		       const struct shuffle_key_value *record, size_t records)
{
	struct tree_op *op = tree_op_find(t, op_id);
	const struct shuffle_keys_fault *ended = op ? NULL : tree_op_ended(t, op_id);

	t->now_ms = tree_now_ms();
	errno = EINVAL;
	if ((!t->parent && record) || (!record && !t->spec.children) || (!record && records))
		return -1;
	errno = EEXIST;
	if (op && op->begun)
		return -1;
	if (ended) {
		/* another member has given it up already */
		if (!ended->error)
			return -1;
		op = tree_op_new(t, op_id);
		if (op) {
			op->ended = true;
			op->fault = *ended;
			tree_report(t, op);
			tree_op_free(t, op);
		}
		return op ? 0 : -1;
	}
	op = op ? op : tree_op_new(t, op_id);
	if (!op)
		return -1;
	t->dirty = true;
	return tree_op_begin(t, op, record, records);
}

int shuffle_tree_cancel(struct shuffle_tree *t, uint64_t op_id)
{
	struct tree_op *op = tree_op_find(t, op_id);

	if (!op || op->ended) {
		errno = ENOENT;
		return -1;
	}
	tree_op_fail(t, op, ECANCELED, t->spec.rank, "member %u has given it up", t->spec.rank);
	wait_for_room(t, tree_flush(t));
	return 0;
}

int shuffle_tree_wait(struct shuffle_tree *t, struct shuffle_tree_end *end, int timeout_ms)
{
	uint64_t until = tree_now_ms() + (timeout_ms < 0 ? 0 : timeout_ms);
	struct tree_end_list *first;
	struct epoll_event event;
	int ms;

	for (;;) {
		if (step(t))
			return -1;
		first = t->end;
		if (first) {
			t->end = first->next;
			if (!t->end)
				t->end_last = &t->end;
			*end = first->end;
			free(first);
			return 1;
		}
		if (timeout_ms >= 0 && t->now_ms >= until)
			return 0;
		ms = TICK_MS;
		if (timeout_ms >= 0 && until - t->now_ms < TICK_MS)
			ms = until - t->now_ms;
		if (epoll_wait(t->poll, &event, 1, ms) < 0 && errno != EINTR)
			return -1;
	}
}

int shuffle_tree_fd(const struct shuffle_tree *t)
{
	return t->poll;
}

int shuffle_tree_socket(const struct shuffle_tree *t)
{
	return t->fd;
}

static bool sending(const struct shuffle_tree *t)
{
	uint32_t i;

	for (i = 0; i < t->edges; i++)
		if (t->edge[i].state == TREE_OPEN && (t->edge[i].out || t->edge[i].under_way))
			return true;
	return false;
}

void shuffle_tree_close(struct shuffle_tree *t)
{
	uint64_t until = tree_now_ms() + CLOSE_MS;
	struct epoll_event event;

	while (sending(t) && tree_now_ms() < until)
		if (step(t) || epoll_wait(t->poll, &event, 1, TICK_MS) < 0)
			break;
	tree_free(t);
}

void shuffle_tree_count(const struct shuffle_tree *t, struct shuffle_tree_counts *counts)
{
	const struct tree_op *op;
	uint32_t i;

	*counts = t->counts;
	for (op = t->ops; op; op = op->next) {
		counts->running++;
		counts->waiting += !op->admitted && !op->out_done;
	}
	counts->up = t->parent && t->parent->state == TREE_OPEN;
	for (i = 0; i < t->spec.children; i++)
		counts->children_up += t->edge[i].state == TREE_OPEN;
}
