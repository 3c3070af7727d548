// SPDX-License-Identifier: BSD-3-Clause
/*
 * Keyed collectives: each member gets the records of its keys.  It is one operation, in which each
 * member has a message for each other one: a head as of a chunk (keys.h), and records, which are
 * merged while they come.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "keys.h"

/* A message that comes: what of it cannot be merged yet. */
struct part {
	uint64_t have;			/* bytes of the message */
	uint32_t kept;			/* of these, in @keep */
	int whole;
	unsigned char keep[KEYS_HEAD];	/* a head, or a record that is not whole */
};

enum { SAME_SIZE = 1 / (KEYS_HEAD == SHUFFLE_PAIR_BYTES) };

/* A call of this member. */
struct partition {
	struct coll_keys k;
	struct shuffle_keys_options o;
	struct shuffle_merge_table table;
	struct part *from;		/* by rank */
	unsigned int coming;
};

unsigned int shuffle_key_owner(uint64_t key, unsigned int count)
{
	uint64_t x = (key ^ key >> 33) * 0xff51afd7ed558ccdULL;

	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ULL;
	/* the upper half of the product of a fraction and @count */
	return (x >> 32) * count >> 32;
}

static void merge(struct partition *p, uint32_t rank, const unsigned char *data, uint32_t n)
{
	struct coll_keys *k = &p->k;

	if (!keys_table_add(&p->table, p->o.max_records, data, n))
		return;
	if (errno == EMSGSIZE)
		keys_fault(k, errno, k->c->rank, "member %u has more than %llu records", k->c->rank,
			   (unsigned long long)p->o.max_records);
	else
		keys_fault(k, errno, k->c->rank, "records of member %u: %s", rank, strerror(errno));
}

/* A unit of KEYS_HEAD bytes, the first of which is the head. */
static void take_units(struct partition *p, uint32_t rank, const unsigned char *data,
		       uint64_t units)
{
	struct part *from = &p->from[rank];

	if (units && !from->have) {
		if (keys_check_head(&p->k, data, rank))
			return;
		p->k.folded += shuffle_get32(data + 8);
		data += KEYS_HEAD;
		units--;
	}
	merge(p, rank, data, units);
}

static int data_came(struct coll_hook *hook, const struct shuffle_record *rec, const void *data)
{
	struct partition *p = (struct partition *)hook;
	const unsigned char *at = data;
	uint64_t left = rec->len, n;
	struct part *from;

	if (rec->rank >= p->k.c->count || rec->op_id != hook->first || rec->msg_len < KEYS_HEAD ||
	    rec->msg_len % SHUFFLE_PAIR_BYTES ||
	    rec->offset != p->from[rec->rank].have + p->from[rec->rank].kept) {
		keys_fault(&p->k, EPROTO, rec->rank, "member %u does not make the same call",
			   rec->rank);
		return 0;
	}
	from = &p->from[rec->rank];
	while (left && !p->k.fault->error) {
		if (from->kept || left < KEYS_HEAD) {
			n = KEYS_HEAD - from->kept < left ? KEYS_HEAD - from->kept : left;
			memcpy(from->keep + from->kept, at, n);
			from->kept += n;
			if (from->kept == KEYS_HEAD) {
				take_units(p, rec->rank, from->keep, 1);
				from->have += KEYS_HEAD;
				from->kept = 0;
			}
		} else {
			n = left - left % KEYS_HEAD;
			take_units(p, rec->rank, at, n / KEYS_HEAD);
			from->have += n;
		}
		at += n;
		left -= n;
	}
	if (rec->flags & SHUFFLE_RECORD_LAST && !from->whole) {
		from->whole = 1;
		p->coming--;
	}
	return 0;
}

static size_t no_place(struct coll_hook *hook, const struct shuffle_record *rec, void **data)
{
	(void)hook;
	(void)rec;
	(void)data;
	return 0;
}

/* Our records merged, by their owners one behind the other: in *out; *at: where each begins. */
static int sort_out(struct partition *p, const struct shuffle_key_value *record, size_t records,
		    unsigned char **out, uint64_t *at)
{
	unsigned char wire[64 * SHUFFLE_PAIR_BYTES];
	struct coll_keys *k = &p->k;
	uint32_t count = k->c->count, i, owner;
	struct shuffle_merge_table t;
	uint64_t *next = malloc(count * sizeof(*next));
	size_t done, n;
	int rc = 0;

	*out = NULL;
	if (!next || keys_table_init(&t, &p->o)) {
		free(next);
		return -1;
	}
	for (done = 0; done < records && !rc; done += n) {
		n = records - done < 64 ? records - done : 64;
		keys_first(p->o.oper, wire, record + done, n);
		rc = keys_table_add(&t, p->o.max_records, wire, n);
	}
	memset(at, 0, (count + 1) * sizeof(*at));
	for (i = 0; i < t.n; i++)
		at[shuffle_key_owner(t.pair[i].key, count) + 1] += SHUFFLE_PAIR_BYTES;
	for (i = 0; i < count; i++) {
		next[i] = at[i] + KEYS_HEAD;
		at[i + 1] += next[i];
	}
	*out = rc ? NULL : malloc(at[count]);
	for (i = 0; *out && i < count; i++)
		keys_write_head(k, *out + at[i], KEYS_LAST);
	for (i = 0; *out && i < t.n; i++) {
		owner = shuffle_key_owner(t.pair[i].key, count);
		shuffle_merge_store(*out + next[owner], &t.pair[i], 1);
		next[owner] += SHUFFLE_PAIR_BYTES;
	}
	free(t.pair);
	free(next);
	return *out ? 0 : -1;
}

/* The operation: our row, and the column while it comes. */
static int exchange(struct partition *p, unsigned char *out, const uint64_t *at)
{
	struct shuffle_coll *c = p->k.c;
	uint32_t i;
	int rc;

	for (i = 0; i < c->count; i++) {
		c->bufs[i] = out + at[i];
		c->lens[i] = at[i + 1] - at[i];
	}
	memset(c->absent, 0, (c->count + 63) / 64 * sizeof(*c->absent));
	/* 0: the idle timeout holds, however long it takes */
	rc = keys_row(&p->k, p->k.hook.first, c->timeout_ms);
	while (!rc && p->coming)
		rc = keys_advance(&p->k, 0);
	memset(c->absent, 0xff, c->count / 64 * sizeof(*c->absent));
	if (c->count % 64)
		c->absent[c->count / 64] = (1ULL << c->count % 64) - 1;
	for (i = 0; i < c->count; i++) {
		c->bufs[i] = NULL;
		c->lens[i] = SHUFFLE_ABSENT;
	}
	return rc ? rc : keys_all_folded(&p->k);
}

static int partition(struct partition *p, struct shuffle_coll *c,
		     const struct shuffle_key_value *record, size_t records)
{
	uint64_t *at = malloc((c->count + 1) * sizeof(*at));
	struct coll_keys *k = &p->k;
	unsigned char *out = NULL;
	int rc;

	k->c = c;
	k->what = p->o.oper | KEYS_IS_PARTS;
	k->parent = SHUFFLE_KEYS_NOBODY;
	k->folded = 1;
	k->hook = (struct coll_hook){ c->next_op, KEYS_OPS, data_came, no_place, keys_op_end };
	c->next_op += KEYS_OPS;
	p->coming = c->count;
	p->from = calloc(c->count, sizeof(*p->from));
	rc = !at || !p->from || sort_out(p, record, records, &out, at) ||
	     keys_table_init(&p->table, &p->o);
	if (rc)
		keys_fault(k, errno, c->rank, "member %u: its records: %s", c->rank,
			   strerror(errno));
	/* each message folds in its sender: ours, too */
	k->folded = 0;
	c->hook = &k->hook;
	if (!rc)
		rc = exchange(p, out, at);
	rc = keys_end(k, rc);
	free(out);
	free(at);
	free(p->from);
	return rc;
}

int shuffle_partition_by_key(struct shuffle_coll *c, const struct shuffle_key_value *record,
			     size_t records, struct shuffle_key_value **result, size_t *results,
			     const struct shuffle_keys_options *o,
			     struct shuffle_keys_fault *fault)
{
	struct shuffle_keys_fault unread;
	struct partition p = { 0 };
	int rc;

	p.k.fault = fault ? fault : &unread;
	keys_fault_clear(p.k.fault);
	*result = NULL;
	*results = 0;
	if (keys_options(&p.o, o) || p.o.flags & SHUFFLE_KEYS_SORTED) {
		errno = EINVAL;
		return -1;
	}
	if (keys_begin(c))
		return -1;
	rc = partition(&p, c, record, records);
	keys_close(&p.k);
	if (rc) {
		free(p.table.pair);
		errno = p.k.fault->error;
		return coll_fail(c);
	}
	keys_table_result(&p.table, result, results);
	return 0;
}
