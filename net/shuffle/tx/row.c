// SPDX-License-Identifier: GPL-2.0-only
/* The control messages of sendmsg(): what they say about a row, checked. */
#include "../shuffle.h"

/* @len: bytes of the control message.  0, -EINVAL, or -E2BIG (fields that we do not know) */
static int check_row(const struct shuffle_row *row, size_t len)
{
	BUILD_BUG_ON(sizeof(*row) != SHUFFLE_ROW_SIZE_VER0);
	if (len < SHUFFLE_ROW_SIZE_VER0 || row->size < SHUFFLE_ROW_SIZE_VER0 || row->size > len ||
	    row->size % sizeof(u64))
		return -EINVAL;
	if (row->count > SHUFFLE_MAX_MEMBERS || len != row->size + row->count * sizeof(u64))
		return -EINVAL;
	if (memchr_inv(row + 1, 0, row->size - sizeof(*row)))
		return -E2BIG;
	/* it is the announcement that says how the data comes */
	if (row->flags & SHUFFLE_ROW_WANT && (row->flags & SHUFFLE_ROW_REFERENCE || !row->count))
		return -EINVAL;
	return row->flags & ~(SHUFFLE_ROW_MORE | SHUFFLE_ROW_REFERENCE | SHUFFLE_ROW_WANT) ?
		-EINVAL : 0;
}

/**
 * shuffle_row_find() - the row in the control messages of a sendmsg()
 * @msg: the call
 *
 * Context: any.
 * Return: the row, in the call's memory; ERR_PTR(-EINVAL): there is none, there is something
 * else, or it is malformed; ERR_PTR(-E2BIG): it has fields that we do not know.
 */
const struct shuffle_row *shuffle_row_find(struct msghdr *msg)
{
	const struct shuffle_row *row = NULL;
	struct cmsghdr *cmsg;
	int err;

	for_each_cmsghdr(cmsg, msg) {
		if (!CMSG_OK(msg, cmsg) || cmsg->cmsg_level != SOL_SHUFFLE ||
		    cmsg->cmsg_type != SHUFFLE_CMSG_ROW || row)
			return ERR_PTR(-EINVAL);
		row = CMSG_DATA(cmsg);
		err = check_row(row, cmsg->cmsg_len - CMSG_LEN(0));
		if (err)
			return ERR_PTR(err);
	}
	return row ?: ERR_PTR(-EINVAL);
}
