// SPDX-License-Identifier: BSD-3-Clause
/*
 * What calls combine.  A few operators the kernel has, too, for the predefined types where its
 * result is exactly MPI's; all others are the MPI library's own functions, or the program's, called
 * by libshuffle at the members.
 *
 * Ranks may name a type differently (MPI_INT here, a duplicate of it there), and must come to the
 * same decision: of the program's operators it depends on the type map alone.  MPI has no other
 * operators for types that are not predefined.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "types.h"

/* Of items that are combined at once in rank order, about. */
#define SPARE_BYTES	4096

/* into = in op into */
static void reduce(struct coll_shuffle_items *t, const char *in, char *into, size_t count)
{
	int n, rc;

	for (; count; count -= n, in += n * t->size, into += n * t->size) {
		n = count < INT_MAX ? count : INT_MAX;
		rc = coll_shuffle_op_reduce(t->op, in, into, n, t->type);
		t->error = t->error ? t->error : rc;
	}
}

static void combine_by_op(void *arg, void *into, const void *in, size_t size, int in_first)
{
	struct coll_shuffle_items *t = arg;
	size_t at, n;

	if (in_first || !t->in_order) {
		reduce(t, in, into, size / t->size);
		return;
	}
	/* an operator puts the result into its second operand, which is the other one here */
	for (at = 0; at < size; at += n) {
		n = size - at < t->spare_size ? size - at : t->spare_size;
		memcpy(t->spare, (const char *)in + at, n);
		reduce(t, (char *)into + at, t->spare, n / t->size);
		memcpy((char *)into + at, t->spare, n);
	}
}

/* What items an operator of the kernel is for. */
enum { INTEGERS = 1, IEEE = 2, PAIRS = 4 };

static const struct {
	MPI_Op op;
	enum shuffle_coll_oper oper;
	int of;
} opers[] = {
	{ MPI_SUM, SHUFFLE_COLL_SUM, INTEGERS },
	{ MPI_MIN, SHUFFLE_COLL_MIN, INTEGERS | IEEE },
	{ MPI_MAX, SHUFFLE_COLL_MAX, INTEGERS | IEEE },
	{ MPI_BAND, SHUFFLE_COLL_AND, INTEGERS },
	{ MPI_BOR, SHUFFLE_COLL_OR, INTEGERS },
	{ MPI_BXOR, SHUFFLE_COLL_XOR, INTEGERS },
	{ MPI_MINLOC, SHUFFLE_COLL_MINLOC, PAIRS },
	{ MPI_MAXLOC, SHUFFLE_COLL_MAXLOC, PAIRS },
};

/* Items of a predefined type that the kernel knows, or -1. */
static int item_type(MPI_Datatype type, size_t size)
{
	static const MPI_Datatype with_sign[] = {
		MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG_INT, MPI_INT8_T,
		MPI_INT16_T, MPI_INT32_T, MPI_INT64_T,
	};
	static const MPI_Datatype without[] = {
		MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
		MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T,
	};
	size_t i;

	for (i = 0; i < sizeof(with_sign) / sizeof(with_sign[0]); i++)
		if (type == with_sign[i])
			return size == 1 ? SHUFFLE_COLL_S8 : size == 2 ? SHUFFLE_COLL_S16 :
			       size == 4 ? SHUFFLE_COLL_S32 : SHUFFLE_COLL_S64;
	for (i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		if (type == without[i])
			return size == 1 ? SHUFFLE_COLL_U8 : size == 2 ? SHUFFLE_COLL_U16 :
			       size == 4 ? SHUFFLE_COLL_U32 : SHUFFLE_COLL_U64;
	if (type == MPI_FLOAT)
		return SHUFFLE_COLL_F32;
	if (type == MPI_DOUBLE)
		return SHUFFLE_COLL_F64;
	return type == MPI_2INT ? SHUFFLE_COLL_PAIR32 : -1;
}

static int kind_of(int type)
{
	if (type == SHUFFLE_COLL_F32 || type == SHUFFLE_COLL_F64)
		return IEEE;
	return type == SHUFFLE_COLL_PAIR32 ? PAIRS : INTEGERS;
}

/* Does all of an item lie between its address and the next one's?  libshuffle sends items so. */
static bool apart(MPI_Datatype type, ptrdiff_t extent)
{
	ptrdiff_t begin, end;

	coll_shuffle_type_span(type, &begin, &end);
	return extent > 0 && begin >= 0 && end <= extent;
}

bool coll_shuffle_items_init(struct coll_shuffle_items *t, MPI_Op op, MPI_Datatype type)
{
	ptrdiff_t extent = coll_shuffle_type_extent(type);
	int known;
	size_t i;

	if (!apart(type, extent))
		return false;
	t->op = op;
	t->type = type;
	t->size = extent;
	t->gaps = coll_shuffle_type_size(type) < t->size;
	t->error = MPI_SUCCESS;
	t->in_order = !coll_shuffle_op_commutes(op);
	t->combine = combine_by_op;
	t->arg = t;
	known = item_type(type, t->size);
	for (i = 0; i < sizeof(opers) / sizeof(opers[0]) && known >= 0; i++) {
		if (opers[i].op != op || !(opers[i].of & kind_of(known)))
			continue;
		/* the kernel has these */
		t->combine = shuffle_combine_items;
		t->arg = SHUFFLE_ITEMS(opers[i].oper, known);
	}
	return true;
}

static int copy_items(const struct coll_shuffle_items *t, const char *from, char *to, size_t count)
{
	int n, rc = MPI_SUCCESS;

	for (; count && !rc; count -= n, from += n * t->size, to += n * t->size) {
		n = count < INT_MAX ? count : INT_MAX;
		rc = coll_shuffle_type_copy(from, to, n, t->type);
	}
	return rc;
}

static void items_free(struct coll_shuffle_items *t)
{
	free(t->own_from);
	free(t->own);
	free(t->spare);
}

int coll_shuffle_items_begin(struct coll_shuffle_items *t, const void *sbuf, size_t in, void *rbuf,
			     size_t out, bool own)
{
	int rc = MPI_SUCCESS;

	own |= t->gaps;
	t->spare_size = (1 + SPARE_BYTES / t->size) * t->size;
	t->spare = t->in_order ? malloc(t->spare_size) : NULL;
	/* gaps are sent, too: as zeroes */
	t->own_from = t->gaps ? calloc(in + 1, t->size) : NULL;
	t->own = own ? calloc(out + 1, t->size) : NULL;
	t->from = t->gaps ? t->own_from : sbuf;
	t->to = own ? t->own : rbuf;
	if ((t->in_order && !t->spare) || (t->gaps && !t->own_from) || (own && !t->own))
		rc = MPI_ERR_NO_MEM;
	else if (t->gaps)
		rc = copy_items(t, sbuf, t->own_from, in);
	if (rc)
		items_free(t);
	return rc;
}

int coll_shuffle_items_end(struct coll_shuffle_items *t, void *rbuf, size_t count, bool there,
			   int rc)
{
	rc = rc ? rc : t->error;
	if (!rc && there && t->own)
		rc = copy_items(t, t->own, rbuf, count);
	items_free(t);
	return rc;
}
