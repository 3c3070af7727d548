// SPDX-License-Identifier: GPL-2.0-only
/* From one piece of a user's buffers to the next. */
#include "user_run.h"

/* Linux 6.1 has only the fields. */
#ifndef iter_iov_addr
static const struct iovec *iter_iov(const struct iov_iter *i)
{
	return i->iov;
}
#endif

/* Look up what lies in one piece: the iterator has caught up, and stands in one that has bytes.
 * run->left becomes 0 if that is not a user's memory.
 */
static void find(struct shuffle_user_run *run)
{
	struct iov_iter *i = run->iter;

	run->left = 0;
	if (iter_is_ubuf(i)) {
		run->at = i->ubuf + i->iov_offset;
		run->left = iov_iter_count(i);
	} else if (iter_is_iovec(i) && iov_iter_count(i)) {
		run->at = iter_iov(i)->iov_base + i->iov_offset;
		run->left = min(iter_iov(i)->iov_len - i->iov_offset, iov_iter_count(i));
	}
	if (!access_ok(run->at, run->left))
		run->left = 0;
}

/**
 * shuffle_user_run_from_slow() - shuffle_user_run_from() across the end of a piece
 * @run: position, moved on
 * @to: kernel memory
 * @len: bytes
 *
 * Context: process, may fault.
 * Return: false on a fault.
 */
bool shuffle_user_run_from_slow(struct shuffle_user_run *run, void *to, size_t len)
{
	shuffle_user_run_end(run);
	if (_copy_from_iter(to, len, run->iter) != len)
		return false;
	find(run);
	return true;
}

/**
 * shuffle_user_run_to_slow() - shuffle_user_run_to() across the end of a piece
 * @run: position, moved on
 * @from: kernel memory
 * @len: bytes
 *
 * Context: process, may fault.
 * Return: false on a fault.
 */
bool shuffle_user_run_to_slow(struct shuffle_user_run *run, const void *from, size_t len)
{
	shuffle_user_run_end(run);
	if (_copy_to_iter(from, len, run->iter) != len)
		return false;
	find(run);
	return true;
}
