// SPDX-License-Identifier: BSD-3-Clause
/* Collectives in the kernel: SHUFFLE_CMSG_COLLECTIVE. */
#include <errno.h>
#include <string.h>

#include "coll.h"

/* What the kernel's engine can do: plans in which no member sends to another twice. */
int coll_kernel_can(int kind, int pattern, size_t all_bytes, uint32_t count)
{
	static const uint32_t once = 1U << SHUFFLE_COLL_FLAT | 1U << SHUFFLE_COLL_TREE |
				     1U << SHUFFLE_COLL_CHAIN | 1U << SHUFFLE_COLL_DOUBLING |
				     1U << SHUFFLE_COLL_GATHERED;

	/* doubling's exscan tells some members twice */
	if (kind == SHUFFLE_COLL_EXSCAN && pattern == SHUFFLE_COLL_DOUBLING)
		return 0;
	if (!(once & 1U << pattern))
		return 0;
	if (shuffle_coll_by_member(kind, SHUFFLE_COLL_FLAT))
		return all_bytes <= SHUFFLE_COLL_MAX_BYTES;
	return all_bytes <= SHUFFLE_COLL_MAX_BYTES &&
	       all_bytes <= (pattern == SHUFFLE_COLL_GATHERED ? SHUFFLE_COLL_MAX_BYTES :
								SHUFFLE_COLL_MAX_SUM) / count;
}

int shuffle_collective_choose(struct shuffle_collective *coll, unsigned int count)
{
	size_t all_bytes = coll->len;

	if (coll->kind >= SHUFFLE_COLL_KINDS || coll->len > SHUFFLE_COLL_MAX_BYTES) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (shuffle_coll_by_member(coll->kind, SHUFFLE_COLL_FLAT))
		all_bytes *= count;
	coll->pattern = coll_choose(coll->kind, all_bytes, count, &coll->radix);
	if (coll_kernel_can(coll->kind, coll->pattern, all_bytes, count))
		return 0;
	errno = EOPNOTSUPP;
	return -1;
}

int shuffle_collective_start(int fd, const struct shuffle_collective *coll, const void *data,
			     size_t len)
{
	char control[CMSG_SPACE(sizeof(*coll))] = { 0 };
	struct iovec iov = { (void *)data, len };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SHUFFLE;
	cmsg->cmsg_type = SHUFFLE_CMSG_COLLECTIVE;
	cmsg->cmsg_len = CMSG_LEN(sizeof(*coll));
	memcpy(CMSG_DATA(cmsg), coll, sizeof(*coll));
	return sendmsg(fd, &msg, MSG_NOSIGNAL) < 0 ? -1 : 0;
}
