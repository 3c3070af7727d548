// SPDX-License-Identifier: GPL-2.0-only
/* The control messages of sendmsg(): what they say about a row, checked. */
#include "../op.h"
#include "row.h"

/* @len: bytes of the control message.  0, -EINVAL, or -E2BIG (fields that we do not know) */
static int check_row(const struct shuffle_row *row, size_t len)
{
	BUILD_BUG_ON(offsetof(struct shuffle_row, digest) != SHUFFLE_ROW_SIZE_VER0 ||
		     sizeof(*row) != SHUFFLE_ROW_SIZE_VER1);
	if (len < SHUFFLE_ROW_SIZE_VER0 || row->size < SHUFFLE_ROW_SIZE_VER0 || row->size > len ||
	    row->size % sizeof(u64))
		return -EINVAL;
	if (row->count > SHUFFLE_MAX_MEMBERS || len != row->size + row->count * sizeof(u64))
		return -EINVAL;
	if (row->size > sizeof(*row) && memchr_inv(row + 1, 0, row->size - sizeof(*row)))
		return -E2BIG;
	/* it is the announcement that says how the data comes */
	if (row->flags & SHUFFLE_ROW_WANT && !row->count)
		return -EINVAL;
	return row->flags & ~(SHUFFLE_ROW_MORE | SHUFFLE_ROW_WANT | SHUFFLE_ROW_SAME |
			      SHUFFLE_ROW_FIRST_CALL) ? -EINVAL : 0;
}

static u64 digest_of(const struct shuffle_row *row)
{
	return shuffle_row_digest(row->size < SHUFFLE_ROW_SIZE_VER1 ? 0 : row->digest);
}

/* The same for the ranks that have no message. */
static int check_absent(const struct shuffle_absent *absent, size_t len)
{
	BUILD_BUG_ON(sizeof(*absent) != SHUFFLE_ABSENT_SIZE_VER0);
	if (len < SHUFFLE_ABSENT_SIZE_VER0 || absent->size < SHUFFLE_ABSENT_SIZE_VER0 ||
	    absent->size > len || absent->size % sizeof(u64))
		return -EINVAL;
	if (absent->words > SHUFFLE_MAX_MEMBERS / 64 ||
	    len != absent->size + absent->words * sizeof(u64))
		return -EINVAL;
	return memchr_inv(absent + 1, 0, absent->size - sizeof(*absent)) ? -E2BIG : 0;
}

/* It is the first call that says what comes. */
static bool fits_column(const struct shuffle_row *row, const struct shuffle_column *column)
{
	return !column->absent || (!row->first_rank && row->count);
}

/**
 * shuffle_row_find() - the row in the control messages of a sendmsg()
 * @msg: the call
 * @column: becomes what they say of the messages that come
 *
 * Context: any.
 * Return: the row, in the call's memory like what is in @column; ERR_PTR(-EINVAL): there is none,
 * there is something else, or one is malformed; ERR_PTR(-E2BIG): it has fields that we do not know.
 */
const struct shuffle_row *shuffle_row_find(struct msghdr *msg, struct shuffle_column *column)
{
	const struct shuffle_row *row = NULL;
	struct cmsghdr *cmsg;
	int err = -EINVAL;

	*column = (struct shuffle_column) {};
	for_each_cmsghdr(cmsg, msg) {
		if (!CMSG_OK(msg, cmsg) || cmsg->cmsg_level != SOL_SHUFFLE)
			return ERR_PTR(-EINVAL);
		if (cmsg->cmsg_type == SHUFFLE_CMSG_ROW && !row) {
			row = CMSG_DATA(cmsg);
			err = check_row(row, cmsg->cmsg_len - CMSG_LEN(0));
		} else if (cmsg->cmsg_type == SHUFFLE_CMSG_ABSENT && !column->absent) {
			column->absent = CMSG_DATA(cmsg);
			err = check_absent(column->absent, cmsg->cmsg_len - CMSG_LEN(0));
		} else {
			err = -EINVAL;
		}
		if (err)
			return ERR_PTR(err);
	}
	if (!row || !fits_column(row, column))
		return ERR_PTR(-EINVAL);
	column->row = row;
	column->digest = digest_of(row);
	column->flags = row->flags;
	return row;
}
