/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the library share: what recvmsg() returns, record by record, and
 * waiting.
 */
#ifndef SHUFFLE_INTERNAL_H
#define SHUFFLE_INTERNAL_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "shuffle.h"

/* Records per call: the control buffer lives on the stack. */
#define RX_RECORDS	128
/* Bytes of control messages with room for n records. */
#define RECORDS_SIZE(n)	(sizeof(struct shuffle_records) + (n) * sizeof(struct shuffle_record))

/* How many records the control message has; *size: how far they are apart. */
static inline unsigned int records_count(const struct cmsghdr *cmsg, size_t *size)
{
	size_t len = cmsg->cmsg_len - CMSG_LEN(0);
	struct shuffle_records head;

	if (cmsg->cmsg_level != SOL_SHUFFLE || cmsg->cmsg_type != SHUFFLE_CMSG_RECORDS ||
	    len < sizeof(head))
		return 0;
	memcpy(&head, CMSG_DATA(cmsg), sizeof(head));
	*size = head.size;
	if (!head.size || head.count > (len - sizeof(head)) / head.size)
		return 0;
	return head.count;
}

/* Record i of those.  What a kernel does not know yet is zero. */
static inline void records_read(const struct cmsghdr *cmsg, size_t size, unsigned int i,
				struct shuffle_record *rec)
{
	memset(rec, 0, sizeof(*rec));
	memcpy(rec, CMSG_DATA(cmsg) + sizeof(struct shuffle_records) + i * size,
	       size < sizeof(*rec) ? size : sizeof(*rec));
}

static inline int wait_for(int fd, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };

	for (;;) {
		if (poll(&pfd, 1, -1) >= 0)
			return 0;
		if (errno != EINTR)
			return -1;
	}
}

/* True if the last call found a non-blocking socket not ready. */
static inline int must_wait(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_NONBLOCK);
}

/* Give an operation up and leave nothing of it; errno stays. */
__attribute__((visibility("hidden"))) void shuffle_give_up(int fd, struct shuffle_column *col);

/* Give a new socket the key that $SHUFFLE_KEY_FILE has, if that is set. */
__attribute__((visibility("hidden"))) int shuffle_key_set(int fd);

/* What $SHUFFLE_SABA says about a socket that has joined its group; errno stays. */
__attribute__((visibility("hidden"))) void shuffle_saba_join(int fd);

#endif /* SHUFFLE_INTERNAL_H */
