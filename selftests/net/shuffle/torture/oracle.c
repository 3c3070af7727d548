// SPDX-License-Identifier: GPL-2.0-or-later
/* The oracle of records: whoever reads one looks at it here, and writes down what it says. */
#define _GNU_SOURCE
#include <string.h>

#include "torture.h"

unsigned int find_op(const struct shuffle_record *rec, unsigned int rank)
{
	const struct plan *p = &slot->plan;
	unsigned int i = rec->op_id & 0xff;

	if (i < p->ops && p->op[i].id == rec->op_id)
		return i;
	wrong("member %u reads a record of operation %llx, which this group does not have", rank,
	      (unsigned long long)rec->op_id);
	return NOBODY;
}

void see_data(const struct shuffle_record *rec, unsigned int op, unsigned int rank,
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
	if (rec->msg_len != len || rec->offset + rec->len > len) {
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

void see_end(const struct shuffle_record *rec, unsigned int op, unsigned int rank)
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

void see_missing(const struct shuffle_record *rec, unsigned int op, unsigned int rank)
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
	if (rec->flags & SHUFFLE_MISSING_LEFT) {
		part->miss_left |= 1U << rec->rank;
		part->why[rec->rank] = rec->error;
	}
	part->named++;
}

void check_done(unsigned int op, unsigned int rank)
{
	const struct plan *p = &slot->plan;
	const struct op_spec *o = &p->op[op];
	const struct part *part = &slot->part[op][rank];
	unsigned int src;
	uint64_t len;

	for (src = 0; src < p->n; src++) {
		if (!spec_reads(p, o, src, rank, &len))
			continue;
		if (part->got[src] != len || !(part->last & 1U << src))
			wrong("%s: operation %u is DONE at member %u: got %llu bytes of %u%s, want %llu",
			      spec_kind_name(o->kind), op, rank,
			      (unsigned long long)part->got[src], src,
			      part->last & 1U << src ? "" : " without an end",
			      (unsigned long long)len);
	}
}

void check_names(unsigned int op, unsigned int rank)
{
	const struct plan *p = &slot->plan;
	const struct op_spec *o = &p->op[op];
	const struct part *part = &slot->part[op][rank];
	unsigned int r;

	if (part->named != part->missing)
		wrong("%s: operation %u at member %u: got %u MISSING records, FAILED says %u",
		      spec_kind_name(o->kind), op, rank, part->named, part->missing);
	for (r = 0; r < p->n; r++) {
		const struct part *other = &slot->part[op][r];

		/* who is DONE has been told that all of its row has come */
		if (part->miss_recv & 1U << r && r != rank && other->ended && !other->error &&
		    o->kind != KIND_COLL)
			wrong("%s: operation %u: member %u misses the message of %u, which is DONE",
			      spec_kind_name(o->kind), op, rank, r);
	}
}
