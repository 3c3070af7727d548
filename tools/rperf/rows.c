// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of AF_SHUFFLE from member 0 to member 1, one operation behind the other. */
#include <errno.h>
#include <stdlib.h>

#include "rperf.h"
#include "shuffle.h"

/* until both are there, ms */
#define AGREE_MS	60000

/**
 * serve_rows() - take part in operations until one fails or the program is to end
 * @fd: socket of a group of two
 * @rank: 0 sends, 1 receives
 * @len: bytes of a row
 * @bytes: grows by what has been acknowledged
 *
 * Return: 0, or -1 with errno.
 */
int serve_rows(int fd, unsigned int rank, uint64_t len, uint64_t *bytes)
{
	uint64_t lens[2] = { 0 }, op = 0;
	char *row = rank ? NULL : memory(1, len);
	const void *bufs[2] = { NULL, row };
	struct shuffle_column *col;
	unsigned int missing;
	int err;

	if (!rank)
		lens[1] = len;
	/* ports come again, and kernels remember what the flow before has done there */
	err = shuffle_agree(fd, 2, AGREE_MS, &op, &missing);
	for (; !stopped && !err; op++) {
		col = shuffle_column_new(op, 2);
		err = col ? shuffle_exchange(fd, op, bufs, lens, 2, 0, col) : -1;
		if (!err)
			__atomic_add_fetch(bytes, len, __ATOMIC_RELAXED);
		if (col)
			shuffle_column_free(col);
	}
	free(row);
	return err;
}
