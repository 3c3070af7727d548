// SPDX-License-Identifier: GPL-2.0-or-later
/* The control messages of an operation, and the data of its row. */
#define _GNU_SOURCE
#include <string.h>

#include "torture.h"

void ctl_begin(struct ctl *c, const void *data, size_t len)
{
	memset(c, 0, sizeof(*c));
	c->iov = (struct iovec){ (void *)data, len };
	c->msg.msg_iov = &c->iov;
	c->msg.msg_iovlen = 1;
	c->msg.msg_control = c->control.buf;
}

void ctl_row(struct ctl *c, const struct op_spec *op, uint32_t flags, unsigned int first,
	     unsigned int count, const uint64_t *lens)
{
	struct {
		struct shuffle_row row;
		uint64_t lens[MAX_MEMBERS];
	} r = { .row = { .size = sizeof(r.row), .flags = flags, .op_id = op->id,
			 .deadline_ms = op->deadline_ms, .first_rank = first, .count = count } };

	if (count)
		memcpy(r.lens, lens, count * sizeof(*lens));
	sht_add_cmsg(&c->msg, SHUFFLE_CMSG_ROW, &r, sizeof(r.row) + count * sizeof(*lens));
}

/* Who has no message for us: where that is so. */
static void ctl_absent(struct ctl *c, const struct plan *p, const struct op_spec *op,
		       unsigned int rank)
{
	struct {
		struct shuffle_absent head;
		uint64_t bits;
	} a = { .head = { .size = sizeof(a.head), .words = 1 } };
	unsigned int i;

	for (i = 0; i < p->n; i++)
		if (spec_len(p, op, i, rank) == SHUFFLE_ABSENT)
			a.bits |= 1ull << i;
	if (a.bits)
		sht_add_cmsg(&c->msg, SHUFFLE_CMSG_ABSENT, &a, sizeof(a));
}

void ctl_whole(struct ctl *c, const struct plan *p, const struct op_spec *op, unsigned int rank,
	       const void *data, size_t len)
{
	uint64_t lens[MAX_MEMBERS];
	uint32_t flags = op->flags;
	unsigned int i;

	for (i = 0; i < p->n; i++)
		lens[i] = spec_len(p, op, rank, i);
	if (op->kind == KIND_WANT)
		flags |= SHUFFLE_ROW_WANT;
	if (op->kind == KIND_SAME && !rank)
		flags |= SHUFFLE_ROW_SAME;
	ctl_begin(c, data, len);
	ctl_row(c, op, flags, 0, p->n, lens);
	ctl_absent(c, p, op, rank);
}

static bool in_row(const struct plan *p, const struct op_spec *o, unsigned int rank,
		   unsigned int dst, uint64_t *len)
{
	*len = spec_len(p, o, rank, dst);
	return *len != SHUFFLE_ABSENT && (o->kind != KIND_SAME || dst < 2);
}

size_t row_size(const struct plan *p, const struct op_spec *o, unsigned int rank)
{
	size_t size = 0;
	unsigned int i;
	uint64_t len;

	if (o->kind == KIND_WANT)
		return 0;
	for (i = 0; i < p->n; i++)
		if (in_row(p, o, rank, i, &len))
			size += len;
	return size;
}

void row_fill(const struct plan *p, const struct op_spec *o, unsigned int rank, unsigned char *buf)
{
	unsigned int i;
	uint64_t len;

	for (i = 0; i < p->n; i++) {
		if (!in_row(p, o, rank, i, &len))
			continue;
		spec_put(p, o, rank, i, buf, len, 0);
		buf += len;
	}
}
