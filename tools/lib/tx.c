// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sending a row: announced and handed over in as many calls as it takes.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "internal.h"

/*
 * Lengths told per call.  Control messages are charged to net.core.optmem_max
 * (20 KB on many systems), so longer rows are announced in several calls.
 */
#define TX_LENS		1024
/* UIO_MAXIOV of the kernel */
#define TX_IOVS		1024
/* Bytes per call; the kernel cuts at 2 GiB - 4096 anyway */
#define TX_BYTES	(1UL << 30)

void shuffle_tx_init(struct shuffle_tx *tx, uint64_t op_id, const void *const *bufs,
		     const uint64_t *lens, unsigned int count, uint64_t deadline_ms)
{
	memset(tx, 0, sizeof(*tx));
	tx->op_id = op_id;
	tx->deadline_ms = deadline_ms;
	tx->bufs = bufs;
	tx->lens = lens;
	tx->count = count;
}

void shuffle_tx_delayed_ack(struct shuffle_tx *tx)
{
	tx->flags |= SHUFFLE_ROW_DELAYED_ACK;
}

void shuffle_tx_order(struct shuffle_tx *tx, unsigned int order)
{
	tx->flags = (tx->flags & ~SHUFFLE_ROW_ORDER) | (order & SHUFFLE_ROW_ORDER);
}

void shuffle_tx_digest(struct shuffle_tx *tx, uint64_t digest)
{
	tx->digest = digest;
}

void shuffle_tx_absent(struct shuffle_tx *tx, const uint64_t *absent)
{
	tx->absent = absent;
}

void shuffle_tx_same(struct shuffle_tx *tx)
{
	tx->flags |= SHUFFLE_ROW_SAME;
	while (tx->same + 1 < tx->count && tx->lens[tx->same] == SHUFFLE_ABSENT)
		tx->same++;
}

/* Bytes of a message; one that is absent has none, nor one whose bytes are another's. */
static uint64_t tx_len(const struct shuffle_tx *tx, unsigned int rank)
{
	if (tx->flags & SHUFFLE_ROW_SAME && rank != tx->same)
		return 0;
	return tx->lens[rank] == SHUFFLE_ABSENT ? 0 : tx->lens[rank];
}

static void tx_skip_empty(struct shuffle_tx *tx)
{
	while (tx->rank < tx->count && tx->done == tx_len(tx, tx->rank)) {
		tx->rank++;
		tx->done = 0;
	}
}

/* The row's data from where it goes on; returns the number of iovecs. */
static unsigned int tx_iov(const struct shuffle_tx *tx, struct iovec *iov)
{
	uint64_t done = tx->done, room = TX_BYTES;
	unsigned int rank, n = 0;

	for (rank = tx->rank; rank < tx->count && n < TX_IOVS && room; rank++) {
		uint64_t len = tx_len(tx, rank) - done;

		if (len > room)
			len = room;
		if (len) {
			iov[n].iov_base = (char *)tx->bufs[rank] + done;
			iov[n].iov_len = len;
			room -= len;
			n++;
		}
		done = 0;
	}
	return n;
}

/* Put a control message behind those that msg has: @head, and @n numbers.  There is room. */
static void add_control(struct msghdr *msg, int type, const void *head, size_t head_size,
			const uint64_t *numbers, size_t n)
{
	size_t size = head_size + n * sizeof(*numbers);
	struct cmsghdr *cmsg = (struct cmsghdr *)((char *)msg->msg_control + msg->msg_controllen);

	memset(cmsg, 0, sizeof(*cmsg));
	msg->msg_controllen += CMSG_SPACE(size);
	cmsg->cmsg_level = SOL_SHUFFLE;
	cmsg->cmsg_type = type;
	cmsg->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(cmsg), head, head_size);
	if (n)
		memcpy(CMSG_DATA(cmsg) + head_size, numbers, n * sizeof(*numbers));
}

/* The control message of a row, in @space, which has room for it; the rest of *msg is cleared. */
static void row_msg(struct msghdr *msg, void *space, const struct shuffle_row *row,
		    const uint64_t *lens)
{
	memset(msg, 0, sizeof(*msg));
	msg->msg_control = space;
	add_control(msg, SHUFFLE_CMSG_ROW, row, sizeof(*row), lens, row->count);
}

/*
 * One sendmsg().  Long rows are announced to the end before their data
 * starts: a schedule is only as good as what it knows.  Without @data nothing
 * but the announcement is sent, which never waits.
 */
static int tx_call(int fd, struct shuffle_tx *tx, int flags, unsigned int row_flags, int data)
{
	union {
		char space[CMSG_SPACE(sizeof(struct shuffle_row) + TX_LENS * sizeof(uint64_t)) +
			   CMSG_SPACE(sizeof(struct shuffle_absent) + SHUFFLE_MAX_MEMBERS / 8)];
		struct cmsghdr align;
	} control;
	struct shuffle_absent absent = { .size = sizeof(absent) };
	unsigned int count = tx->count - tx->announced;
	struct iovec iov[TX_IOVS];
	struct shuffle_row row;
	struct msghdr msg;
	ssize_t taken;

	if (tx->absent && tx->count > SHUFFLE_MAX_MEMBERS) {
		errno = EMSGSIZE;
		return -1;
	}
	memset(&row, 0, sizeof(row));
	row.size = sizeof(row);
	row.op_id = tx->op_id;
	row.deadline_ms = tx->deadline_ms;
	row.digest = tx->digest;
	row.first_rank = tx->announced;
	row.flags = row_flags | tx->flags;
	if (count > TX_LENS) {
		count = TX_LENS;
		row.flags |= SHUFFLE_ROW_MORE;
	}
	row.count = count;
	row_msg(&msg, control.space, &row, tx->lens + tx->announced);
	if (tx->absent && !tx->announced) {
		absent.words = (tx->count + 63) / 64;
		add_control(&msg, SHUFFLE_CMSG_ABSENT, &absent, sizeof(absent), tx->absent,
			    absent.words);
	}
	if (data && !(row.flags & SHUFFLE_ROW_MORE)) {
		msg.msg_iov = iov;
		msg.msg_iovlen = tx_iov(tx, iov);
	}

	taken = sendmsg(fd, &msg, flags | MSG_NOSIGNAL);
	if (taken < 0)
		return -1;

	tx->announced += count;
	while (taken > 0 && tx->rank < tx->count) {
		uint64_t left = tx_len(tx, tx->rank) - tx->done;

		if ((uint64_t)taken < left) {
			tx->done += taken;
			break;
		}
		taken -= left;
		tx->rank++;
		tx->done = 0;
	}
	tx_skip_empty(tx);
	return 0;
}

static int tx_step(int fd, struct shuffle_tx *tx, int flags)
{
	uint64_t done = tx->done;
	unsigned int announced;
	unsigned int rank;

	tx_skip_empty(tx);
	while (tx->rank < tx->count || tx->announced < tx->count) {
		announced = tx->announced;
		rank = tx->rank;
		done = tx->done;
		if (tx_call(fd, tx, flags, 0, 1))
			return errno == EAGAIN || errno == EINTR ? 0 : -1;
		if (announced == tx->announced && rank == tx->rank && done == tx->done) {
			errno = EAGAIN;
			return 0;
		}
	}
	return 1;
}

int shuffle_tx_step(int fd, struct shuffle_tx *tx)
{
	return tx_step(fd, tx, MSG_DONTWAIT);
}

static int tx_announce(int fd, struct shuffle_tx *tx, unsigned int row_flags)
{
	unsigned int announced;

	while (tx->announced < tx->count) {
		announced = tx->announced;
		if (tx_call(fd, tx, MSG_DONTWAIT, row_flags, 0))
			return errno == EAGAIN || errno == EINTR ? 0 : -1;
		if (announced == tx->announced) {
			errno = EAGAIN;
			return 0;
		}
	}
	return 1;
}

int shuffle_tx_announce(int fd, struct shuffle_tx *tx)
{
	return tx_announce(fd, tx, 0);
}

int shuffle_tx_want(int fd, struct shuffle_tx *tx)
{
	return tx_announce(fd, tx, SHUFFLE_ROW_WANT);
}

int shuffle_tx_answer(int fd, const struct shuffle_tx *tx, const struct shuffle_record *rec)
{
	struct shuffle_row row = {
		.size = sizeof(row), .op_id = tx->op_id, .first_rank = rec->rank };
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(row))];
	} control;
	struct msghdr msg;
	struct iovec iov;
	uint64_t done = 0;
	ssize_t taken;

	if (rec->type != SHUFFLE_RECORD_WANT || rec->op_id != tx->op_id ||
	    rec->rank >= tx->count || rec->offset > tx_len(tx, rec->rank) ||
	    rec->len > tx_len(tx, rec->rank) - rec->offset) {
		errno = EINVAL;
		return -1;
	}
	row_msg(&msg, control.space, &row, NULL);
	msg.msg_iov = &iov;
	msg.msg_iovlen = 1;
	while (done < rec->len) {
		iov.iov_base = (char *)tx->bufs[rec->rank] + rec->offset + done;
		iov.iov_len = rec->len - done;
		taken = sendmsg(fd, &msg, MSG_NOSIGNAL);
		if (taken > 0)
			done += taken;
		/* there is room; another thread may be writing */
		else if (taken < 0 && (errno == EAGAIN ? wait_for(fd, POLLOUT) : errno != EINTR))
			return -1;
	}
	return 0;
}

int shuffle_tx_finish(int fd, struct shuffle_tx *tx)
{
	int ret;

	for (;;) {
		ret = tx_step(fd, tx, 0);
		if (ret)
			return ret < 0 ? -1 : 0;
		if (errno == EINTR)
			continue;
		/* A blocking socket gives up when SO_SNDTIMEO says so. */
		if (!must_wait(fd)) {
			errno = EAGAIN;
			return -1;
		}
		if (wait_for(fd, POLLOUT))
			return -1;
	}
}

/* The kernel keeps some 400 bytes for each piece besides the data and headers. */
int shuffle_tx_fits(int fd, const struct shuffle_tx *tx)
{
	socklen_t size = sizeof(int);
	uint64_t sum = 0;
	unsigned int i;
	int sndbuf;

	if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, &size))
		return 0;
	for (i = 0; i < tx->count; i++)
		if (__builtin_add_overflow(sum, tx_len(tx, i) + (tx_len(tx, i) ? 512 : 0), &sum))
			return 0;
	return sum <= (uint64_t)sndbuf / 2;
}

int shuffle_send(int fd, uint64_t op_id, const void *const *bufs,
		 const uint64_t *lens, unsigned int count, uint64_t deadline_ms)
{
	struct shuffle_tx tx;

	if (!count) {
		errno = EINVAL;
		return -1;
	}
	shuffle_tx_init(&tx, op_id, bufs, lens, count, deadline_ms);
	return shuffle_tx_finish(fd, &tx);
}
