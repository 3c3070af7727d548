/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copying between a user's buffers and the records of a super-packet: 41 pieces of 64 KB.
 * copy_from_iter() and copy_to_iter() take some 100 instructions for each call beside the copy,
 * as much as copying half of a packet does.  Here the part of the buffer that lies in one piece
 * is looked up and checked once; the rest is what lib/iov_iter.c does for each piece.
 *
 * But for check_object_size() (CONFIG_HARDENED_USERCOPY).  It took some 250 instructions, even when
 * asked once for each page or part of a packet: 1.1 % of 64 x 64 x 64 bytes, 1.7 % of 32 x 32 x 8
 * KiB.  What keeps a copy inside the kernel's memory is one comparison for each, or for each run of
 * full packets: with the room of the page that was just opened (tx/copy.c, page.room), with the
 * size of the packet's part (shuffle_frags_here()).
 */
#ifndef _SHUFFLE_USER_RUN_H
#define _SHUFFLE_USER_RUN_H

#include <linux/fault-inject-usercopy.h>
#include <linux/instrumented.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

/**
 * struct shuffle_user_run - position in an iov_iter
 * @iter: where it stood when the run was looked up
 * @at: the next byte; of the user
 * @left: bytes from there on that lie in one piece, 0: unknown, or no user's memory
 * @used: bytes by which @iter lags behind
 */
struct shuffle_user_run {
	struct iov_iter	*iter;
	void __user	*at;
	size_t		left;
	size_t		used;
};

static inline void shuffle_user_run_init(struct shuffle_user_run *run, struct iov_iter *iter)
{
	*run = (struct shuffle_user_run) { .iter = iter };
}

/**
 * shuffle_user_run_end() - the iterator catches up
 * @run: not used any more, or only after shuffle_user_run_init()
 */
static inline void shuffle_user_run_end(struct shuffle_user_run *run)
{
	iov_iter_advance(run->iter, run->used);
	run->used = 0;
	run->left = 0;
}

static inline void shuffle_user_run_advance(struct shuffle_user_run *run, size_t len)
{
	run->at += len;
	run->left -= len;
	run->used += len;
}

/**
 * shuffle_user_run_piece_from() - copy bytes from the user, of those that lie in one piece
 * @run: position, not moved on
 * @at: offset of the bytes from there; they end within @run->left
 * @to: kernel memory, @len bytes of which are known to be ours
 * @len: bytes
 *
 * Context: process, may fault.
 * Return: false on a fault.
 */
static inline bool shuffle_user_run_piece_from(const struct shuffle_user_run *run, size_t at,
					       void *to, size_t len)
{
	const void __user *from = run->at + at;
	unsigned long missed;

	if (should_fail_usercopy())
		return false;
	instrument_copy_from_user_before(to, from, len);
	missed = raw_copy_from_user(to, from, len);
	instrument_copy_from_user_after(to, from, len, missed);
	return !missed;
}

/**
 * shuffle_user_run_piece_to() - copy bytes to the user, all to one piece
 * @run: position, not moved on
 * @at: offset of the bytes from there; they end within @run->left
 * @from: kernel memory that may be shown
 * @len: bytes
 *
 * Context: process, may fault.
 * Return: false on a fault.
 */
static inline bool shuffle_user_run_piece_to(const struct shuffle_user_run *run, size_t at,
					     const void *from, size_t len)
{
	void __user *to = run->at + at;

	if (should_fail_usercopy())
		return false;
	instrument_copy_to_user(to, from, len);
	return !raw_copy_to_user(to, from, len);
}

bool shuffle_user_run_from_slow(struct shuffle_user_run *run, void *to, size_t len);
bool shuffle_user_run_to_slow(struct shuffle_user_run *run, const void *from, size_t len);

/**
 * shuffle_user_run_from() - copy the next bytes from the user
 * @run: position, moved on
 * @to: kernel memory, @len bytes of which are known to be ours
 * @len: bytes, no more than the iterator has
 *
 * Context: process, may fault.
 * Return: false on a fault.
 */
static inline bool shuffle_user_run_from(struct shuffle_user_run *run, void *to, size_t len)
{
	if (unlikely(len > run->left))
		return shuffle_user_run_from_slow(run, to, len);
	if (!shuffle_user_run_piece_from(run, 0, to, len))
		return false;
	shuffle_user_run_advance(run, len);
	return true;
}

/**
 * shuffle_user_run_to() - copy bytes to the user
 * @run: position, moved on
 * @from: kernel memory that may be shown
 * @len: bytes, no more than the iterator has room for
 *
 * Context: process, may fault.
 * Return: false on a fault.
 */
static inline bool shuffle_user_run_to(struct shuffle_user_run *run, const void *from, size_t len)
{
	if (unlikely(len > run->left))
		return shuffle_user_run_to_slow(run, from, len);
	if (!shuffle_user_run_piece_to(run, 0, from, len))
		return false;
	shuffle_user_run_advance(run, len);
	return true;
}

#endif /* _SHUFFLE_USER_RUN_H */
