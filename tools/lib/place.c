// SPDX-License-Identifier: BSD-3-Clause
/*
 * Receiving into place.  The socket does not say whose message comes next, so a call
 * for an unknown one has room for its head only.  What follows a head is most likely
 * the rest of that message: the next call puts it where it belongs, and what comes
 * behind it into the buffer.  When the guess was wrong, the bytes are passed on from
 * where they are, and are overwritten later by those that belong there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define RX_BUFFER	(64U << 10)

int shuffle_rx_init(struct shuffle_rx *rx,
		    int (*record)(void *arg, const struct shuffle_record *rec, const void *data),
		    size_t (*place)(void *arg, const struct shuffle_record *rec, void **data),
		    void *arg)
{
	memset(rx, 0, sizeof(*rx));
	rx->record = record;
	rx->place = place;
	rx->arg = arg;
	rx->head = RX_BUFFER;
	rx->buf = malloc(RX_BUFFER);
	return rx->buf ? 0 : -1;
}

void shuffle_rx_free(struct shuffle_rx *rx)
{
	free(rx->buf);
	rx->buf = NULL;
}

/* One record whose bytes begin at *pos of the two pieces of memory. */
static int pass_on(struct shuffle_rx *rx, struct shuffle_record *rec, const struct iovec *iov,
		   size_t *pos)
{
	size_t first = iov[0].iov_len, at = *pos;
	struct shuffle_record part = *rec;

	if (rec->type != SHUFFLE_RECORD_DATA)
		return rx->record(rx->arg, rec, NULL);

	*pos += rec->len;
	if (*pos <= first)
		return rx->record(rx->arg, rec, (char *)iov[0].iov_base + at);
	if (at >= first)
		return rx->record(rx->arg, rec, (char *)iov[1].iov_base + at - first);

	/* a wrong guess that crosses from one into the other */
	part.len = first - at;
	part.flags &= ~SHUFFLE_RECORD_LAST;
	if (rx->record(rx->arg, &part, (char *)iov[0].iov_base + at))
		return -1;
	part = *rec;
	part.offset += first - at;
	part.len -= first - at;
	return rx->record(rx->arg, &part, iov[1].iov_base);
}

int shuffle_rx_step(int fd, struct shuffle_rx *rx, int flags)
{
	union {
		char space[CMSG_SPACE(RECORDS_SIZE(RX_RECORDS))];
		struct cmsghdr align;
	} control;
	struct iovec iov[2] = { { NULL, 0 }, { rx->buf, RX_BUFFER } };
	struct shuffle_record rec;
	struct cmsghdr *cmsg;
	unsigned int n, i;
	struct msghdr msg;
	size_t pos = 0, apart;
	ssize_t len;

	if (rx->next.type)
		iov[0].iov_len = rx->place(rx->arg, &rx->next, &iov[0].iov_base);
	if (!iov[0].iov_len && rx->place && rx->head && rx->head < RX_BUFFER)
		iov[1].iov_len = rx->head;

	memset(&msg, 0, sizeof(msg));
	msg.msg_iov = iov;
	msg.msg_iovlen = 2;
	msg.msg_control = control.space;
	/* the kernel clears what it may need */
	n = rx->records && rx->records < RX_RECORDS ? rx->records : RX_RECORDS;
	msg.msg_controllen = CMSG_LEN(RECORDS_SIZE(n));
	len = recvmsg(fd, &msg, flags);
	if (len < 0)
		return -1;
	rx->next.type = 0;
	cmsg = CMSG_FIRSTHDR(&msg);
	n = cmsg ? records_count(cmsg, &apart) : 0;
	if (!n) {
		errno = EPROTO;
		return -1;
	}
	for (i = 0; i < n; i++) {
		records_read(cmsg, apart, i, &rec);
		if (rec.type == SHUFFLE_RECORD_DATA && rec.len > (size_t)len - pos) {
			errno = EPROTO;
			return -1;
		}
		if (pass_on(rx, &rec, iov, &pos))
			return -1;
	}
	if (rx->place && rec.type == SHUFFLE_RECORD_DATA && !(rec.flags & SHUFFLE_RECORD_LAST))
		rx->next = rec;
	return n;
}
