/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups on the loopback, and rows with control messages beside them; behind api.h. */
#ifndef API_ROW_H
#define API_ROW_H

#define ROW_MEMBERS	8	/* of a group, at most */

static inline void open_group(int fds[], unsigned int count)
{
	struct sockaddr_shuffle a[ROW_MEMBERS];
	unsigned int i;

	for (i = 0; i < count; i++) {
		sht_addr(&a[i], SHT_LO, v6, 0, next_port++);
		fds[i] = new_socket(0);
		if (fds[i] < 0 || bind_to(fds[i], &a[i])) {
			printf("Bail out! no socket: %s\n", strerror(errno));
			exit(1);
		}
	}
	for (i = 0; i < count; i++)
		if (sht_set_group(fds[i], a, count, i)) {
			printf("Bail out! no group: %s\n", strerror(errno));
			exit(1);
		}
}

static inline void close_group(const int fds[], unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		close(fds[i]);
}

/**
 * struct row - what a test says of its row and column
 * @op: operation
 * @flags: of the row
 * @count: members
 * @lens: of the row
 * @absent: a bit for each member from which nothing comes
 * @type: of one more control message, 0 none
 * @more: that message
 * @size: its bytes
 */
struct row {
	uint64_t	op;
	unsigned int	flags;
	unsigned int	count;
	uint64_t	lens[ROW_MEMBERS];
	uint64_t	absent;
	int		type;
	const void	*more;
	size_t		size;
};

/* What sendmsg() returns. */
static inline ssize_t call_row_flags(int fd, const struct row *r, const void *data, size_t len,
				     int flags)
{
	struct {
		struct shuffle_row row;
		uint64_t lens[ROW_MEMBERS];
	} row = {
		{ .size = sizeof(row.row), .op_id = r->op, .count = r->count, .flags = r->flags },
		{ 0 }
	};
	struct {
		struct shuffle_absent head;
		uint64_t bits;
	} absent = { { .size = sizeof(absent.head), .words = 1 }, r->absent };
	struct iovec iov = { (void *)data, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union {
		struct cmsghdr align;
		char buf[256];
	} control = { 0 };

	memcpy(row.lens, r->lens, r->count * sizeof(row.lens[0]));
	msg.msg_control = control.buf;
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ROW, &row,
		     sizeof(row.row) + r->count * sizeof(row.lens[0]));
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ABSENT, &absent, sizeof(absent));
	if (r->type)
		sht_add_cmsg(&msg, r->type, r->more, r->size);
	return sendmsg(fd, &msg, flags | MSG_NOSIGNAL);
}

/* The same without waiting. */
static inline ssize_t call_row(int fd, const struct row *r, const void *data, size_t len)
{
	return call_row_flags(fd, r, data, len, MSG_DONTWAIT);
}

/* Read until the end of an operation: 0, or the errno of its failure.  @bytes: how many of
 * messages have come; those of the last one to be read are in @data, if they fit it.
 */
static inline int end_of(int fd, uint64_t op, void *data, size_t size, uint64_t *bytes)
{
	struct shuffle_record recs[8];
	unsigned int i, n;

	*bytes = 0;
	for (;;) {
		n = 8;
		if (sht_recv(fd, (char *)data + (*bytes < size ? *bytes : 0),
			     *bytes < size ? size - *bytes : size, recs, &n, 0) < 0)
			return errno;
		for (i = 0; i < n; i++) {
			*bytes += recs[i].type == SHUFFLE_RECORD_DATA ? recs[i].len : 0;
			if (recs[i].op_id == op && recs[i].type == SHUFFLE_RECORD_DONE)
				return 0;
			if (recs[i].op_id == op && recs[i].type == SHUFFLE_RECORD_FAILED)
				return recs[i].error;
		}
	}
}

#endif /* API_ROW_H */
