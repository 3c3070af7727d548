// SPDX-License-Identifier: BSD-3-Clause
/* Keyed collectives: records of all members, merged by key on the way to one of them or to all. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "keys.h"

#define DEFAULT_TABLE	(16UL << 20)
#define LEAST_TABLE	4096
#define DEFAULT_RECORDS	(1ULL << 26)
#define MOST_RECORDS	(1ULL << 30)

/* of a result that goes to all: so much in one broadcast */
#define PIECE_RECORDS	(1UL << 20)

/* The names of the interface are those of merge.h: a division by 0 if not. */
enum {
	SAME_OPERS = 1 / ((int)SHUFFLE_KEYS_SUMCOUNT == (int)SHUFFLE_MERGE_SUMCOUNT &&
			  (int)SHUFFLE_KEYS_AND == (int)SHUFFLE_MERGE_AND &&
			  (int)SHUFFLE_KEYS_OPERS == (int)SHUFFLE_MERGE_OPERS),
	SAME_RECORDS = 1 / (sizeof(struct shuffle_key_value) == sizeof(struct shuffle_pair)),
};

/* Options with their defaults: 0, or -1 with EINVAL. */
int keys_options(struct shuffle_keys_options *out, const struct shuffle_keys_options *o)
{
	size_t size = o->size < sizeof(*out) ? o->size : sizeof(*out);

	memset(out, 0, sizeof(*out));
	memcpy(out, o, size);
	errno = EINVAL;
	if (size < offsetof(struct shuffle_keys_options, table_bytes) || o->size > sizeof(*out) ||
	    out->reserved || out->oper >= SHUFFLE_KEYS_OPERS || out->flags & ~SHUFFLE_KEYS_SORTED ||
	    out->max_records > MOST_RECORDS ||
	    (out->table_bytes && out->table_bytes < LEAST_TABLE))
		return -1;
	out->table_bytes = out->table_bytes ? out->table_bytes : DEFAULT_TABLE;
	out->max_records = out->max_records ? out->max_records : DEFAULT_RECORDS;
	return 0;
}

/* ---- a table ---- */

static int new_table(struct shuffle_merge_table *t, uint8_t oper, uint32_t max)
{
	uint64_t bytes = shuffle_merge_table_bytes(max), seed = 0;
	void *memory = bytes <= SIZE_MAX ? malloc(bytes) : NULL;

	/* a table works without, if not against keys that were chosen to be slow */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed = 0;
	if (!memory || shuffle_merge_table_init(t, oper, seed, max, memory)) {
		free(memory);
		return -1;
	}
	return 0;
}

/* Records that fit so many bytes: a table takes 24 to 32 for each. */
static uint32_t table_records(uint64_t bytes)
{
	uint64_t n = bytes / 32;

	return n > MOST_RECORDS ? MOST_RECORDS : n;
}

int keys_table_init(struct shuffle_merge_table *t, const struct shuffle_keys_options *o)
{
	uint64_t n = table_records(o->table_bytes);

	return new_table(t, o->oper, n < o->max_records ? n : o->max_records);
}

/* Twice the room: -1 with EMSGSIZE or ENOMEM. */
static int grow(struct shuffle_merge_table *t, uint64_t max_records)
{
	unsigned char wire[64 * SHUFFLE_PAIR_BYTES];
	struct shuffle_merge_table more;
	uint32_t i, n;

	errno = EMSGSIZE;
	if (t->max >= max_records)
		return -1;
	errno = ENOMEM;
	if (new_table(&more, t->oper, 2ULL * t->max < max_records ? 2 * t->max : max_records))
		return -1;
	for (i = 0; i < t->n; i += n) {
		n = t->n - i < 64 ? t->n - i : 64;
		shuffle_merge_store(wire, t->pair + i, n);
		shuffle_merge_add(&more, wire, n);
	}
	free(t->pair);
	*t = more;
	return 0;
}

/* Merge into a table that grows. */
int keys_table_add(struct shuffle_merge_table *t, uint64_t max_records, const unsigned char *data,
		   uint32_t n)
{
	uint32_t done = 0;

	for (;;) {
		done += shuffle_merge_add(t, data + (size_t)done * SHUFFLE_PAIR_BYTES, n - done);
		if (done == n)
			return 0;
		if (grow(t, max_records))
			return -1;
	}
}

/* The records of a table become the caller's memory. */
void keys_table_result(struct shuffle_merge_table *t, struct shuffle_key_value **result,
		       size_t *results)
{
	void *less = realloc(t->pair, (t->n + 1) * sizeof(*t->pair));

	*result = less ? less : (void *)t->pair;
	*results = t->n;
	t->pair = NULL;
}

/* Records of ours as the first to merge them has them on the wire. */
void keys_first(uint8_t oper, unsigned char *to, const struct shuffle_key_value *record, size_t n)
{
	struct shuffle_pair pair;
	size_t i;

	for (i = 0; i < n; i++, to += SHUFFLE_PAIR_BYTES) {
		pair.key = record[i].key;
		pair.value = shuffle_merge_first(oper, record[i].value);
		shuffle_merge_store(to, &pair, 1);
	}
}

/* ---- a reduction ---- */

/* What a member makes of the records. */
struct reduction {
	struct coll_keys k;
	struct shuffle_keys_options o;
	struct shuffle_merge_table table;
	const struct shuffle_key_value *record;
	size_t records, taken;
	unsigned char *own;		/* a chunk of these */
	struct shuffle_key_value *result;
	size_t results, room;
};

static int is_receiver(const struct reduction *r)
{
	return r->k.parent == SHUFFLE_KEYS_NOBODY;
}

/* All that is in the table goes to the parent. */
static int send_table(struct reduction *r, int last)
{
	struct shuffle_merge_table *t = &r->table;
	uint32_t i = 0, n;
	int end;

	do {
		n = t->n - i < KEYS_CHUNK_RECORDS ? t->n - i : KEYS_CHUNK_RECORDS;
		shuffle_merge_store(r->k.out + KEYS_HEAD, t->pair + i, n);
		i += n;
		end = last && i == t->n;
		if ((n || end) && keys_send(&r->k, n * SHUFFLE_PAIR_BYTES, end ? KEYS_LAST : 0))
			return -1;
	} while (i < t->n);
	shuffle_merge_table_empty(t);
	return 0;
}

static int too_much(struct reduction *r, int error)
{
	if (error == EMSGSIZE)
		return keys_fault(&r->k, error, r->k.c->rank,
				  "the result has more than %llu records",
				  (unsigned long long)r->o.max_records);
	return keys_fault(&r->k, error, r->k.c->rank, "member %u: %s", r->k.c->rank,
			  strerror(error));
}

static int add_records(struct reduction *r, const unsigned char *data, uint32_t n)
{
	uint32_t done = 0;

	if (is_receiver(r))
		return keys_table_add(&r->table, r->o.max_records, data, n) ?
		       too_much(r, errno) : 0;
	for (;;) {
		done += shuffle_merge_add(&r->table, data + (size_t)done * SHUFFLE_PAIR_BYTES,
					  n - done);
		if (done == n)
			return 0;
		if (send_table(r, 0))
			return -1;
	}
}

/* The next ones of our records, as on the wire. */
static uint32_t next_own(struct reduction *r)
{
	size_t n = r->records - r->taken;

	n = n < KEYS_CHUNK_RECORDS ? n : KEYS_CHUNK_RECORDS;
	keys_first(r->o.oper, r->own, r->record + r->taken, n);
	r->taken += n;
	return n;
}

static int reduce_hash(struct reduction *r)
{
	struct keys_edge *e;
	uint32_t n;

	if (keys_table_init(&r->table, &r->o))
		return too_much(r, ENOMEM);
	while ((n = next_own(r)))
		if (add_records(r, r->own, n))
			return -1;
	for (;;) {
		if (keys_next(&r->k, &e))
			return -1;
		if (!e)
			break;
		n = (e->size - KEYS_HEAD) / SHUFFLE_PAIR_BYTES;
		if (add_records(r, e->buf + KEYS_HEAD, n) || keys_taken(&r->k, e))
			return -1;
	}
	if (!is_receiver(r))
		return send_table(r, 1);
	if (keys_all_folded(&r->k))
		return -1;
	keys_table_result(&r->table, &r->result, &r->results);
	return 0;
}

/* ---- sorted ---- */

/* Records that are merged go on, or are part of the result. */
static int put_sorted(struct reduction *r, uint32_t n, int last)
{
	struct shuffle_key_value *more;

	if (!is_receiver(r))
		return keys_send(&r->k, n * SHUFFLE_PAIR_BYTES, last ? KEYS_LAST : 0);
	if (r->results + n > r->o.max_records)
		return too_much(r, EMSGSIZE);
	if (r->results + n > r->room) {
		r->room = 2 * r->room + n;
		more = reallocarray(r->result, r->room, sizeof(*more));
		if (!more)
			return too_much(r, ENOMEM);
		r->result = more;
	}
	shuffle_merge_load((struct shuffle_pair *)r->result + r->results, r->k.out + KEYS_HEAD, n);
	r->results += n;
	return 0;
}

/* Stream 0 is ours, the others are those of the children. */
static int feed(struct reduction *r, struct shuffle_merge_stream *stream, uint32_t which)
{
	struct keys_edge *e = which ? &r->k.edge[which - 1] : NULL;

	stream->at = 0;
	if (!e) {
		stream->data = r->own;
		stream->n = next_own(r);
		stream->end = r->taken == r->records;
		return 0;
	}
	/* the first chunk may have come already */
	if (stream->data && keys_taken(&r->k, e))
		return -1;
	if (keys_wait_for(&r->k, e))
		return -1;
	stream->data = e->buf + KEYS_HEAD;
	stream->n = (e->size - KEYS_HEAD) / SHUFFLE_PAIR_BYTES;
	stream->end = e->last;
	return 0;
}

static int not_sorted(struct reduction *r, uint32_t which)
{
	uint32_t rank = which ? r->k.edge[which - 1].rank : r->k.c->rank;

	return keys_fault(&r->k, EINVAL, rank, "member %u: its records are not sorted by key",
			  rank);
}

static int merge_sorted(struct reduction *r, struct shuffle_merge_sorted *s)
{
	uint32_t n = 0;
	int rc;

	for (;;) {
		rc = shuffle_merge_streams(s, r->k.out + KEYS_HEAD, KEYS_CHUNK_RECORDS, &n);
		switch (rc) {
		case SHUFFLE_MERGE_STARVED:
			if (feed(r, &s->stream[s->which], s->which))
				return -1;
			break;
		case SHUFFLE_MERGE_FULL:
			if (put_sorted(r, n, 0))
				return -1;
			n = 0;
			break;
		case SHUFFLE_MERGE_UNSORTED:
			return not_sorted(r, s->which);
		default:
			if (is_receiver(r) && keys_all_folded(&r->k))
				return -1;
			return put_sorted(r, n, 1);
		}
	}
}

static int reduce_sorted(struct reduction *r)
{
	uint32_t streams = r->k.edges + 1;
	struct shuffle_merge_stream *stream = calloc(streams, sizeof(*stream));
	struct shuffle_merge_node *node = calloc(streams, sizeof(*node));
	struct shuffle_merge_sorted s;
	int rc;

	if (stream && node) {
		shuffle_merge_sorted_init(&s, r->o.oper, stream, node, streams);
		rc = merge_sorted(r, &s);
	} else {
		rc = too_much(r, ENOMEM);
	}
	free(stream);
	free(node);
	return rc;
}

/* ---- the result to all ---- */

/* What the receiver tells the others before the result, or instead of it: numbers big-endian. */
struct verdict {
	unsigned char results[8];
	unsigned char error[4];
	unsigned char rank[4];
	char text[sizeof(((struct shuffle_keys_fault *)NULL)->text)];
};

/* To all at once: a member that is gone stands between nobody and the root. */
static int broadcast_verdict(struct coll_keys *k, struct verdict *v)
{
	struct shuffle_coll *c = k->c;
	unsigned int before = c->open_ops;
	uint64_t timeout_ms = c->timeout_ms;
	int pattern = c->pattern, rc;

	c->pattern = SHUFFLE_COLL_FLAT;
	c->timeout_ms = k->step_ms * (k->steps + 3);
	rc = shuffle_broadcast(c, v, sizeof(*v), k->root);
	c->pattern = pattern;
	c->timeout_ms = timeout_ms;
	/* The group ends with a fault, perhaps before all have heard of it. */
	while (!rc && k->fault->error && c->rank == k->root && c->open_ops > before)
		if (coll_advance(c, 0))
			break;
	return rc;
}

/* All learn how it has ended: 0, or -1 with the receiver's fault.  @most: results at most */
int keys_verdict(struct coll_keys *k, uint64_t *results, uint64_t most)
{
	struct verdict v;
	int error;

	shuffle_put64(v.results, *results);
	shuffle_put32(v.error, k->fault->error);
	shuffle_put32(v.rank, k->fault->rank);
	memcpy(v.text, k->fault->text, sizeof(v.text));
	if (k->c->error || !k->out || broadcast_verdict(k, &v))
		return keys_fault(k, errno, SHUFFLE_KEYS_NOBODY, "no result has come: %s",
				  strerror(errno));
	*results = shuffle_get64(v.results);
	error = shuffle_get32(v.error);
	if (error)
		return keys_fault(k, error, keys_rank(k, shuffle_get32(v.rank)), "%.*s",
				  (int)sizeof(v.text), v.text);
	if (*results > most)
		return keys_fault(k, EPROTO, k->root, "member %u has a result larger than may be",
				  k->root);
	errno = k->fault->error;
	return k->fault->error ? -1 : 0;
}

static int result_to_all(struct reduction *r)
{
	uint64_t n = r->results, i, piece = 0;
	struct shuffle_pair *result;
	unsigned char *wire;
	int rc = 0;

	if (keys_verdict(&r->k, &n, r->o.max_records))
		return -1;
	wire = reallocarray(NULL, (n < PIECE_RECORDS ? n : PIECE_RECORDS) + 1, SHUFFLE_PAIR_BYTES);
	if (!is_receiver(r)) {
		r->result = reallocarray(NULL, n + 1, sizeof(*r->result));
		r->results = n;
	}
	result = (struct shuffle_pair *)r->result;
	if (!wire || (n && !result))
		rc = too_much(r, ENOMEM);
	for (i = 0; i < n && !rc; i += piece) {
		piece = n - i < PIECE_RECORDS ? n - i : PIECE_RECORDS;
		shuffle_merge_store(wire, result + i, is_receiver(r) ? piece : 0);
		rc = shuffle_broadcast(r->k.c, wire, piece * SHUFFLE_PAIR_BYTES, r->k.root);
		if (rc)
			keys_fault(&r->k, errno, SHUFFLE_KEYS_NOBODY, "the result did not come: %s",
				   strerror(errno));
		else if (!is_receiver(r))
			shuffle_merge_load(result + i, wire, piece);
	}
	free(wire);
	return rc;
}

static int reduce(struct reduction *r, struct shuffle_coll *c, unsigned int root,
		  struct shuffle_keys_fault *fault)
{
	int sorted = r->o.flags & SHUFFLE_KEYS_SORTED;
	int what = r->o.oper | (sorted ? KEYS_IS_SORTED : 0), rc;

	rc = keys_open(&r->k, c, root, what, fault);
	if (!rc)
		rc = sorted ? reduce_sorted(r) : reduce_hash(r);
	rc = keys_end(&r->k, rc);
	if (root == SHUFFLE_KEYS_ALL && r->k.out)
		rc = result_to_all(r);
	return rc;
}

int shuffle_reduce_by_key(struct shuffle_coll *c, const struct shuffle_key_value *record,
			  size_t records, struct shuffle_key_value **result, size_t *results,
			  const struct shuffle_keys_options *o, unsigned int root,
			  struct shuffle_keys_fault *fault)
{
	struct reduction r = { .record = record, .records = records };
	struct shuffle_keys_fault unread;
	int rc;

	fault = fault ? fault : &unread;
	keys_fault_clear(fault);
	*result = NULL;
	*results = 0;
	if (keys_options(&r.o, o) || (root >= c->count && root != SHUFFLE_KEYS_ALL)) {
		errno = EINVAL;
		return -1;
	}
	if (keys_begin(c))
		return -1;
	r.own = malloc(KEYS_CHUNK);
	if (!r.own)
		return coll_fail(c);
	rc = reduce(&r, c, root, fault);
	free(r.own);
	free(r.table.pair);
	keys_close(&r.k);
	if (rc) {
		free(r.result);
		errno = fault->error;
		return coll_fail(c);
	}
	*result = r.result;
	*results = r.results;
	return 0;
}
