// SPDX-License-Identifier: BSD-3-Clause
/* Messages between neighbours of a tree: see tree.h. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "tree.h"

#define HELLO_BYTES	(TREE_HEAD + 8U)
#define FIRST_MS	300	/* to knock; then at another id */
#define STEPS		12	/* so often; then at the doors that all know */
#define KNOCK_MS	3000	/* to knock at one of these */
#define AGAIN_MS	20	/* after a refusal */
#define DOORS_MS	1000	/* to look for smaller ids */
#define MOST_SPARES	64
#define RECORDS		128
#define BUF_BYTES	(512U << 10)
/* messages of a session whose operations may not have ended */
#define UNSURE		64U

/* ---- messages ---- */

static uint32_t most_bytes(const struct shuffle_tree *t)
{
	return TREE_HEAD + TREE_FIRST_HEAD + 8 * t->words + TREE_CHUNK;
}

struct tree_msg *tree_msg_new(struct shuffle_tree *t, uint32_t size)
{
	struct tree_msg *m = t->spare;

	if (m) {
		t->spare = m->next;
		t->spares--;
	} else {
		m = malloc(sizeof(*m) + most_bytes(t));
		if (!m)
			return NULL;
	}
	memset(m, 0, sizeof(*m));
	m->size = size;
	tree_memory(t, most_bytes(t));
	return m;
}

void tree_msg_free(struct shuffle_tree *t, struct tree_msg *m)
{
	tree_memory(t, -(int64_t)most_bytes(t));
	if (t->spares >= MOST_SPARES) {
		free(m);
		return;
	}
	m->next = t->spare;
	t->spare = m;
	t->spares++;
}

void tree_head(struct tree_msg *m, int type, int flags, uint32_t number, uint64_t op)
{
	shuffle_put16(m->data, TREE_MAGIC);
	m->data[2] = type;
	m->data[3] = flags;
	shuffle_put32(m->data + 4, number);
	shuffle_put64(m->data + 8, op);
}

static int incoming(const struct tree_edge *e)
{
	return e->up;
}

static uint64_t session_id(const struct tree_edge *e, int direction, uint32_t number)
{
	return e->base | (uint64_t)direction << 31 | number;
}

static void set_bit(uint64_t *bits, uint32_t i, bool on)
{
	if (on)
		bits[i / 64] |= 1ULL << i % 64;
	else
		bits[i / 64] &= ~(1ULL << i % 64);
}

/* An operation in which one message comes, from this neighbour. */
static int expect(struct shuffle_tree *t, struct tree_edge *e, uint64_t id)
{
	struct shuffle_tx tx;
	int rc;

	shuffle_tx_init(&tx, id, t->bufs, t->lens, t->count, 0);
	shuffle_tx_absent(&tx, t->absent);
	set_bit(t->absent, e->rank, false);
	rc = shuffle_tx_step(t->fd, &tx);
	set_bit(t->absent, e->rank, true);
	return rc == 1 ? 0 : -1;
}

/* One more step of a message that leaves: as shuffle_tx_step().  It has the idle time to arrive:
 * kernels receive what stands by, whatever the program does meanwhile, so it says that no packet
 * comes through.
 */
static int push(struct shuffle_tree *t, struct tree_edge *e, struct tree_msg *m)
{
	int rc;

	if (!m->started) {
		shuffle_tx_init(&m->tx, m->id, t->bufs, t->lens, t->count, t->spec.idle_ms);
		shuffle_tx_absent(&m->tx, t->absent);
		m->started = true;
	}
	t->bufs[e->rank] = m->data;
	t->lens[e->rank] = m->size;
	rc = shuffle_tx_step(t->fd, &m->tx);
	t->bufs[e->rank] = NULL;
	t->lens[e->rank] = SHUFFLE_ABSENT;
	return rc;
}

static void enqueue(struct tree_edge *e, struct tree_msg *m)
{
	m->next = NULL;
	*e->out_end = m;
	e->out_end = &m->next;
}

/* Send a message in the session.  Without one it is lost, as the session is. */
void tree_send(struct shuffle_tree *t, struct tree_edge *e, struct tree_msg *m)
{
	if (e->state != TREE_OPEN) {
		tree_msg_free(t, m);
		return;
	}
	m->id = session_id(e, !e->up, e->sent++);
	t->counts.bytes_out += m->size;
	enqueue(e, m);
}

void tree_tell(struct shuffle_tree *t, struct tree_edge *e, int type, uint32_t number,
	       uint64_t op, const struct shuffle_keys_fault *fault)
{
	uint32_t text = fault && fault->error ? strlen(fault->text) : 0;
	struct tree_msg *m;

	if (e->state != TREE_OPEN)
		return;
	m = tree_msg_new(t, TREE_HEAD);
	if (!m) {
		tree_edge_reset(t, e, ENOMEM);
		return;
	}
	tree_head(m, type, 0, number, op);
	if (fault && fault->error) {
		shuffle_put32(m->data + TREE_HEAD, fault->rank);
		memcpy(m->data + TREE_HEAD + 4, fault->text, text);
		m->size += 4 + text;
	}
	tree_send(t, e, m);
}

/* Give the kernel what it takes, up to *@left messages: -1 and the edge is reset. */
static int flush_edge(struct shuffle_tree *t, struct tree_edge *e, uint32_t *left)
{
	struct tree_msg *m;
	int rc;

	while (*left && (m = e->out)) {
		rc = push(t, e, m);
		if (!rc)
			return 1;
		if (rc < 0) {
			tree_edge_reset(t, e, errno);
			return -1;
		}
		e->out = m->next;
		if (!e->out)
			e->out_end = &e->out;
		e->under_way++;
		(*left)--;
		tree_msg_free(t, m);
	}
	return 0;
}

/* 1: there is more than the kernel has room for now.  No more messages are under way than the
 * socket has operations for; when one has arrived, its record wakes us.
 */
int tree_flush(struct shuffle_tree *t)
{
	uint32_t i, at, left = t->sending;
	int more = 0;

	for (i = 0; i < t->edges; i++)
		left -= t->edge[i].under_way < left ? t->edge[i].under_way : left;
	for (i = 0; i < t->edges && left; i++) {
		at = (t->flush_at + i) % t->edges;
		more |= flush_edge(t, &t->edge[at], &left) > 0;
		/* nobody waits for ever behind one that has much to say */
		if (!left)
			t->flush_at = (at + 1) % t->edges;
	}
	return more;
}

/* ---- sessions ---- */

static uint64_t draw(void)
{
	uint64_t n = 0;

	if (getrandom(&n, sizeof(n), 0) != sizeof(n))
		n = tree_now_ms() * 0x9e3779b97f4a7c15ULL ^ (uintptr_t)&n;
	return n;
}

/* Below all doors, above what programs count from; 32 zeros behind it. */
static uint64_t base_of(uint64_t child, uint64_t parent)
{
	uint64_t x = (child ^ (parent << 1 | parent >> 63)) * 0x9e3779b97f4a7c15ULL;

	x ^= x >> 29;
	return (x & 0x3fffffff00000000ULL) | 1ULL << 62;
}

/* Operations for what comes, from the first that has not come whole on. */
static int ask(struct shuffle_tree *t, struct tree_edge *e)
{
	for (; e->whole & 1; e->whole >>= 1)
		e->low++;
	for (; e->asked < e->low + t->columns; e->asked++)
		if (expect(t, e, session_id(e, incoming(e), e->asked)))
			return -1;
	return 0;
}

static int begin_life(struct shuffle_tree *t, struct tree_edge *e)
{
	struct shuffle_tx tx;
	int rc;

	shuffle_tx_init(&tx, e->base | TREE_LIFE, t->bufs, t->lens, t->count, 0);
	shuffle_tx_absent(&tx, t->absent);
	set_bit(t->absent, e->rank, false);
	t->lens[e->rank] = 1;
	rc = shuffle_tx_want(t->fd, &tx);
	t->lens[e->rank] = SHUFFLE_ABSENT;
	set_bit(t->absent, e->rank, true);
	return rc == 1 ? 0 : -1;
}

static void open_session(struct shuffle_tree *t, struct tree_edge *e, uint64_t theirs)
{
	int rc;

	e->base = e->up ? base_of(e->mine, theirs) : base_of(theirs, e->mine);
	e->sent = 0;
	e->asked = 0;
	e->low = 0;
	e->whole = 0;
	e->under_way = 0;
	e->state = TREE_OPEN;
	rc = begin_life(t, e);
	if (!rc)
		rc = ask(t, e);
	if (rc)
		tree_edge_reset(t, e, errno);
	else if (e->up)
		tree_ops_tell(t);
	t->dirty = true;
}

/* The session is over: what is on its way is of no use. */
void tree_edge_reset(struct shuffle_tree *t, struct tree_edge *e, int error)
{
	bool open = e->state == TREE_OPEN;
	struct tree_msg *m;
	uint32_t i;

	e->state = TREE_CLOSED;
	e->retry_ms = t->now_ms + AGAIN_MS;
	e->door = 0;
	e->known = 0;
	e->steps = 0;
	if (open) {
		shuffle_cancel(t->fd, e->base | TREE_LIFE);
		for (i = e->asked > UNSURE ? e->asked - UNSURE : 0; i < e->asked; i++)
			shuffle_cancel(t->fd, session_id(e, incoming(e), i));
		for (i = e->sent > UNSURE ? e->sent - UNSURE : 0; i < e->sent && e->under_way; i++)
			shuffle_cancel(t->fd, session_id(e, !incoming(e), i));
	}
	while ((m = e->out)) {
		e->out = m->next;
		tree_msg_free(t, m);
	}
	e->out_end = &e->out;
	e->under_way = 0;
	if (open)
		tree_ops_lost(t, e, error);
	for (i = 0; i < 2 * TREE_COLUMNS; i++) {
		m = e->in[i];
		e->in[i] = NULL;
		/* those in the queue of an input go with its operation */
		if (m && m->taken)
			m->size = m->have;
		else if (m)
			tree_msg_free(t, m);
	}
	e->slots = 0;
	e->base = 0;
	t->dirty = true;
}

static uint64_t hello_id(const struct shuffle_tree *t, const struct tree_edge *e, uint64_t kind,
			 uint32_t n)
{
	uint64_t child = e->up ? t->spec.rank : e->rank, up = e->up ? e->rank : t->spec.rank;

	return kind | child << 22 | up << 12 | n;
}

/* A message of the two that begin a session; it is tiny, and so taken at once or never.  A parent
 * says how many slots the child has.
 */
static int hello(struct shuffle_tree *t, struct tree_edge *e, uint64_t id)
{
	struct tree_msg *m = tree_msg_new(t, HELLO_BYTES);
	int rc = -1;

	if (m) {
		tree_head(m, 0, e->up ? 0 : t->slots, t->count, t->spec.tree);
		shuffle_put64(m->data + TREE_HEAD, e->mine);
		m->id = id;
		rc = push(t, e, m);
		if (!rc)
			shuffle_cancel(t->fd, id);
		if (rc == 1)
			t->counts.bytes_out += m->size;
		tree_msg_free(t, m);
	}
	return rc == 1 ? 0 : -1;
}

static const uint32_t known_door[TREE_DOORS - TREE_FIRST_DOORS] = { 16, 64, 256, 1024, 2048 };

/* Knock at this id: 0; -1: EEXIST, our own kernel has had it lately; or another error. */
static int knock_at(struct shuffle_tree *t, struct tree_edge *e, uint32_t n)
{
	e->mine = draw();
	e->door = n;
	if (expect(t, e, hello_id(t, e, TREE_REPLY, n)))
		return -1;
	if (!hello(t, e, hello_id(t, e, TREE_HELLO, n))) {
		e->state = TREE_KNOCKS;
		e->retry_ms = t->now_ms + (e->known ? KNOCK_MS : FIRST_MS);
		return 0;
	}
	shuffle_cancel(t->fd, hello_id(t, e, TREE_REPLY, n));
	return -1;
}

/* A child knocks at the first id, or the next one, that its own kernel has not had lately; when
 * nobody hears, at the doors that all know, in turn.
 */
static void knock(struct shuffle_tree *t, struct tree_edge *e)
{
	const uint32_t doors = TREE_DOORS - TREE_FIRST_DOORS;
	uint32_t n;

	e->state = TREE_CLOSED;
	for (; e->known && e->known <= doors; e->known++)
		if (!knock_at(t, e, known_door[e->known - 1]) || errno != EEXIST)
			goto done;
	if (e->known) {
		e->door = 0;
		e->steps = 0;
	}
	e->known = 0;
	for (n = e->door; n < TREE_IDS; n++)
		if (!knock_at(t, e, n) || errno != EEXIST)
			break;
	if (n == TREE_IDS)
		e->door = 0;
done:
	if (e->state == TREE_CLOSED)
		e->retry_ms = t->now_ms + 100;
}

static void knock_elsewhere(struct shuffle_tree *t, struct tree_edge *e, bool silence)
{
	shuffle_cancel(t->fd, hello_id(t, e, TREE_REPLY, e->door));
	if (silence)
		shuffle_cancel(t->fd, hello_id(t, e, TREE_HELLO, e->door));
	/* a parent that has been there before hears at ids behind those that it has had */
	if (e->known || (silence && ++e->steps > STEPS))
		e->known++;
	else
		e->door++;
	knock(t, e);
}

static int door_of(const struct tree_edge *e, uint64_t id)
{
	uint32_t i;

	for (i = 0; i < TREE_DOORS; i++)
		if (e->doors[i] == id)
			return i;
	return -1;
}

/* A parent hears at the first ids that its kernel has not had lately, and where all know. */
static void open_doors(struct shuffle_tree *t, struct tree_edge *e)
{
	uint32_t i, n = 0;
	uint64_t id;

	for (i = 0; i < t->first_doors; i++) {
		for (; !e->doors[i] && n < TREE_IDS; n++) {
			id = hello_id(t, e, TREE_HELLO, n);
			if (door_of(e, id) >= 0)
				continue;
			if (!expect(t, e, id))
				e->doors[i] = id;
			else if (errno != EEXIST)
				return;
		}
	}
	/* any of them that our kernel has not had lately */
	for (i = TREE_FIRST_DOORS; i < TREE_FIRST_DOORS + t->known_doors; i++) {
		for (n = 0; !e->doors[i] && n < TREE_DOORS - TREE_FIRST_DOORS; n++) {
			id = hello_id(t, e, TREE_HELLO, known_door[n]);
			if (door_of(e, id) < 0 && !expect(t, e, id))
				e->doors[i] = id;
		}
	}
}

/* Ids are forgotten after a while, and a child begins with the first. */
static void move_doors(struct shuffle_tree *t, struct tree_edge *e)
{
	uint64_t least = UINT64_MAX, id;
	uint32_t i, most = 0;

	for (i = 0; i < t->first_doors; i++) {
		if (!e->doors[i])
			return;
		least = e->doors[i] < least ? e->doors[i] : least;
		most = e->doors[i] > e->doors[most] ? i : most;
	}
	for (id = hello_id(t, e, TREE_HELLO, 0); id < least; id++) {
		if (expect(t, e, id))
			continue;
		shuffle_cancel(t->fd, e->doors[most]);
		e->doors[most] = id;
		return;
	}
}

/* A child is there, or there again. */
static void welcome(struct shuffle_tree *t, struct tree_edge *e, int door)
{
	uint32_t n = e->doors[door] & (TREE_IDS - 1);
	uint64_t theirs = shuffle_get64(e->hello_data + TREE_HEAD);

	e->doors[door] = 0;
	if (e->state == TREE_OPEN)
		tree_edge_reset(t, e, ECONNRESET);
	e->mine = draw();
	if (!hello(t, e, hello_id(t, e, TREE_REPLY, n)))
		open_session(t, e, theirs);
	open_doors(t, e);
}

void tree_edges_tick(struct shuffle_tree *t)
{
	bool doors = t->now_ms / DOORS_MS != t->tick_ms / DOORS_MS;
	struct tree_edge *e;

	for (e = t->edge; e < t->edge + t->edges; e++) {
		if (!e->up && doors) {
			open_doors(t, e);
			move_doors(t, e);
		}
		if (!e->up || t->now_ms < e->retry_ms)
			continue;
		if (e->state == TREE_CLOSED)
			knock(t, e);
		else if (e->state == TREE_KNOCKS)
			knock_elsewhere(t, e, true);
	}
	t->tick_ms = t->now_ms;
}

/* ---- what comes ---- */

static void hello_came(struct shuffle_tree *t, struct tree_edge *e,
		       const struct shuffle_record *rec, const void *data)
{
	int door = e->up ? -1 : door_of(e, rec->op_id);

	if (e->up ? e->state != TREE_KNOCKS ||
	    rec->op_id != hello_id(t, e, TREE_REPLY, e->door) : door < 0)
		return;
	if (rec->offset || rec->msg_len != HELLO_BYTES || rec->len != HELLO_BYTES)
		return;
	memcpy(e->hello_data, data, HELLO_BYTES);
	if (shuffle_get16(e->hello_data) != TREE_MAGIC)
		return;
	if (door >= 0) {
		welcome(t, e, door);
		return;
	}
	e->most_slots = e->hello_data[3];
	if (!e->most_slots || e->most_slots > TREE_SLOTS)
		e->most_slots = TREE_SLOTS;
	open_session(t, e, shuffle_get64(e->hello_data + TREE_HEAD));
}

static void parse(struct shuffle_tree *t, struct tree_edge *e, struct tree_msg *m)
{
	uint32_t begin = TREE_HEAD;

	if (m->begin || m->have < TREE_HEAD)
		return;
	if (m->data[3] & TREE_FIRST)
		begin += TREE_FIRST_HEAD + 8 * t->words;
	/* the set of another group may have another length: its own operator says so first */
	if (m->have < begin && m->have < m->size)
		return;
	m->begin = begin;
	if (m->data[2] != TREE_DATA)
		return;
	m->chunk = shuffle_get32(m->data + 4);
	m->last = m->data[3] & TREE_LAST;
	tree_op_data(t, e, m);
}

static void message_came(struct shuffle_tree *t, struct tree_edge *e,
			 const struct shuffle_record *rec, const void *data)
{
	uint32_t number = rec->op_id & 0x7fffffff;
	struct tree_msg **slot = &e->in[number % (2 * TREE_COLUMNS)], *m = *slot;
	uint64_t base = e->base;

	if (rec->op_id == (e->base | TREE_LIFE))
		return;
	if (number - e->low >= t->columns) {
		tree_edge_reset(t, e, EPROTO);
		return;
	}
	if (!m) {
		if (rec->msg_len > most_bytes(t) || rec->msg_len < TREE_HEAD || rec->offset) {
			tree_edge_reset(t, e, EPROTO);
			return;
		}
		m = tree_msg_new(t, rec->msg_len);
		if (!m) {
			tree_edge_reset(t, e, ENOMEM);
			return;
		}
		m->id = rec->op_id;
		*slot = m;
	}
	if (m->id != rec->op_id || m->size != rec->msg_len || m->have != rec->offset ||
	    rec->len > m->size - m->have) {
		tree_edge_reset(t, e, EPROTO);
		return;
	}
	memcpy(m->data + m->have, data, rec->len);
	m->have += rec->len;
	t->dirty = true;
	if (m->have == m->size) {
		*slot = NULL;
		e->whole |= 1U << (number - e->low);
	}
	parse(t, e, m);
	if (m->have < m->size || base != e->base)
		return;
	if (shuffle_get16(m->data) != TREE_MAGIC) {
		if (!m->taken)
			tree_msg_free(t, m);
		tree_edge_reset(t, e, EPROTO);
		return;
	}
	if (!m->taken) {
		if (m->data[2] != TREE_DATA)
			tree_op_control(t, e, m);
		tree_msg_free(t, m);
	}
	if (e->base == base && ask(t, e))
		tree_edge_reset(t, e, errno);
}

static struct tree_edge *edge_of_op(struct shuffle_tree *t, uint64_t id)
{
	uint32_t i;

	for (i = 0; i < t->edges; i++)
		if (t->edge[i].state == TREE_OPEN && id >> 32 == t->edge[i].base >> 32)
			return &t->edge[i];
	return NULL;
}

static void door_ended(struct shuffle_tree *t, const struct shuffle_record *rec)
{
	struct tree_edge *e = t->parent;
	uint32_t i;
	int door;

	if (e && e->state == TREE_KNOCKS && rec->op_id == hello_id(t, e, TREE_HELLO, e->door) &&
	    rec->type == SHUFFLE_RECORD_FAILED && rec->error != ECANCELED) {
		knock_elsewhere(t, e, false);
		return;
	}
	for (i = 0; i < t->edges && rec->type == SHUFFLE_RECORD_FAILED; i++) {
		door = t->edge[i].up ? -1 : door_of(&t->edge[i], rec->op_id);
		if (door >= 0)
			t->edge[i].doors[door] = 0;
	}
}

static void op_ended(struct shuffle_tree *t, const struct shuffle_record *rec)
{
	struct tree_edge *e;

	if (rec->op_id >= TREE_HELLO) {
		door_ended(t, rec);
		return;
	}
	e = edge_of_op(t, rec->op_id);
	if (!e)
		return;
	if (rec->type == SHUFFLE_RECORD_FAILED)
		tree_edge_reset(t, e, rec->error ? rec->error : EIO);
	else if ((rec->op_id >> 31 & 1) != (uint64_t)incoming(e) && e->under_way)
		e->under_way--;
}

static void data_came(struct shuffle_tree *t, const struct shuffle_record *rec, const void *data)
{
	struct tree_edge *e;

	if (rec->rank >= t->count || !t->edge_of[rec->rank])
		return;
	e = &t->edge[t->edge_of[rec->rank] - 1];
	if (rec->op_id >= TREE_HELLO)
		hello_came(t, e, rec, data);
	else if (e->state == TREE_OPEN && rec->op_id >> 32 == e->base >> 32)
		message_came(t, e, rec, data);
}

/* What is there: 1 if there was something, -1. */
int tree_receive(struct shuffle_tree *t)
{
	struct shuffle_record rec[RECORDS];
	unsigned int count = RECORDS, i;
	const unsigned char *at = t->buf;

	if (shuffle_recv(t->fd, t->buf, BUF_BYTES, rec, &count, MSG_DONTWAIT) < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	for (i = 0; i < count; i++) {
		if (rec[i].op_id < SHUFFLE_TREE_IDS) {
			if (t->spec.record)
				t->spec.record(t->spec.arg, &rec[i], at);
			at += rec[i].type == SHUFFLE_RECORD_DATA ? rec[i].len : 0;
			continue;
		}
		switch (rec[i].type) {
		case SHUFFLE_RECORD_DATA:
			data_came(t, &rec[i], at);
			at += rec[i].len;
			break;
		case SHUFFLE_RECORD_DONE:
		case SHUFFLE_RECORD_FAILED:
			op_ended(t, &rec[i]);
			break;
		}
	}
	return count > 0;
}

int tree_edges_init(struct shuffle_tree *t)
{
	struct tree_edge *e;
	uint32_t i;

	t->edges = t->spec.children + (t->spec.parent != SHUFFLE_TREE_NOBODY);
	t->edge = calloc(t->edges + 1, sizeof(*t->edge));
	t->edge_of = calloc(t->count, sizeof(*t->edge_of));
	t->buf = malloc(BUF_BYTES);
	if (!t->edge || !t->edge_of || !t->buf)
		return -1;
	for (i = 0; i < t->edges; i++) {
		e = &t->edge[i];
		e->up = i == t->spec.children;
		e->rank = e->up ? t->spec.parent : t->spec.child[i];
		e->out_end = &e->out;
		if (e->rank >= t->count || e->rank == t->spec.rank || t->edge_of[e->rank]) {
			errno = EINVAL;
			return -1;
		}
		t->edge_of[e->rank] = i + 1;
		if (e->up)
			t->parent = e;
	}
	for (i = 0; i < t->spec.children; i++) {
		open_doors(t, &t->edge[i]);
		if (!t->edge[i].doors[0])
			return -1;
	}
	return 0;
}

void tree_edges_free(struct shuffle_tree *t)
{
	struct tree_msg *m;
	uint32_t i, k;

	for (i = 0; t->edge && i < t->edges; i++) {
		while ((m = t->edge[i].out)) {
			t->edge[i].out = m->next;
			free(m);
		}
		for (k = 0; k < 2 * TREE_COLUMNS; k++)
			free(t->edge[i].in[k]);
	}
	while ((m = t->spare)) {
		t->spare = m->next;
		free(m);
	}
	free(t->edge);
	free(t->edge_of);
	free(t->buf);
}
