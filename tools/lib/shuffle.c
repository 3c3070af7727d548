// SPDX-License-Identifier: BSD-3-Clause
/*
 * libshuffle: AF_SHUFFLE without control messages.
 *
 * No global state: everything lives in the kernel's socket or in structs of
 * the caller.  (saba.c has some.)
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/* Bytes per call of shuffle_recv_column() */
#define RX_BUFFER	(256U << 10)

int shuffle_family(void)
{
	int family = -1;
	FILE *f;

	f = fopen("/proc/net/shuffle/family", "re");
	if (f) {
		if (fscanf(f, "%d", &family) != 1)
			family = -1;
		fclose(f);
	} else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
		return -1;	/* that says nothing of the module */
	}
	if (family < 0)
		errno = EAFNOSUPPORT;
	return family;
}

const char *shuffle_family_str(void)
{
	if (shuffle_family() < 0)
		return errno == EAFNOSUPPORT ?
		       "this kernel has no AF_SHUFFLE: load the module shuffle" : strerror(errno);
	return "this process may not open AF_SHUFFLE sockets: RestrictAddressFamilies= of its "
	       "unit, a seccomp filter or a sandbox forbids it; or the address is IPv6, and the "
	       "kernel has none";
}

int shuffle_addr(struct sockaddr_shuffle *addr, const char *ip, uint16_t port)
{
	char host[INET6_ADDRSTRLEN + 1];
	const char *scope;
	size_t len;

	memset(addr, 0, sizeof(*addr));
	addr->shs_family = AF_SHUFFLE;
	addr->shs_port = htons(port);

	if (inet_pton(AF_INET, ip, addr->shs_addr) == 1) {
		addr->shs_ip_family = AF_INET;
		return 0;
	}

	scope = strchr(ip, '%');
	len = scope ? (size_t)(scope - ip) : strlen(ip);
	if (len >= sizeof(host))
		goto invalid;
	memcpy(host, ip, len);
	host[len] = '\0';
	if (inet_pton(AF_INET6, host, addr->shs_addr) != 1)
		goto invalid;
	addr->shs_ip_family = AF_INET6;
	if (scope) {
		unsigned long index;
		char *end;

		addr->shs_scope_id = if_nametoindex(scope + 1);
		if (addr->shs_scope_id)
			return 0;
		errno = 0;
		index = strtoul(scope + 1, &end, 10);
		if (errno || end == scope + 1 || *end || !index || index > UINT32_MAX)
			goto invalid;
		addr->shs_scope_id = index;
	}
	return 0;

invalid:
	errno = EINVAL;
	return -1;
}

const char *shuffle_addr_str(const struct sockaddr_shuffle *addr, char *buf, size_t size)
{
	char scope[IF_NAMESIZE + 1] = "";
	char host[INET6_ADDRSTRLEN];

	if (addr->shs_ip_family != AF_INET && addr->shs_ip_family != AF_INET6) {
		snprintf(buf, size, "?");
		return buf;
	}
	inet_ntop(addr->shs_ip_family, addr->shs_addr, host, sizeof(host));
	if (addr->shs_ip_family == AF_INET) {
		snprintf(buf, size, "%s:%u", host, ntohs(addr->shs_port));
		return buf;
	}
	if (addr->shs_scope_id) {
		scope[0] = '%';
		if (!if_indextoname(addr->shs_scope_id, scope + 1))
			snprintf(scope + 1, sizeof(scope) - 1, "%u", addr->shs_scope_id);
	}
	snprintf(buf, size, "[%s%s]:%u", host, scope, ntohs(addr->shs_port));
	return buf;
}

/*
 * A socket of the family in use.  When the module is not there yet, the
 * kernel loads it upon socket(AF_SHUFFLE), but it may come up with another
 * number than we asked for: look again.
 */
static int open_socket(int type_flags, int *family)
{
	int fd;

	*family = shuffle_family();
	if (*family >= 0)
		return socket(*family, SOCK_SEQPACKET | type_flags, 0);

	fd = socket(AF_SHUFFLE, SOCK_SEQPACKET | type_flags, 0);
	*family = shuffle_family();
	if (*family == AF_SHUFFLE && fd >= 0)
		return fd;
	if (fd >= 0)
		close(fd);
	if (*family < 0)
		return -1;
	return socket(*family, SOCK_SEQPACKET | type_flags, 0);
}

int shuffle_bind(struct sockaddr_shuffle *addr, int type_flags)
{
	socklen_t len = sizeof(*addr);
	int family, err, fd;

	if (type_flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) {
		errno = EINVAL;
		return -1;
	}
	fd = open_socket(type_flags, &family);
	if (fd < 0)
		return -1;
	addr->shs_family = family;
	if (!shuffle_key_set(fd) &&
	    !bind(fd, (struct sockaddr *)addr, sizeof(*addr)) &&
	    !getsockname(fd, (struct sockaddr *)addr, &len))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/* @members: @count of @bytes each, a struct sockaddr_shuffle in front */
static int join(int fd, const void *members, size_t bytes, unsigned int count, unsigned int rank)
{
	struct shuffle_group *group;
	int family, err, ret;
	socklen_t len = sizeof(family);
	unsigned int i;
	size_t size;

	if (!count || count > SHUFFLE_MAX_MEMBERS || rank >= count) {
		errno = EINVAL;
		return -1;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len))
		return -1;
	size = sizeof(*group) + count * bytes;
	group = calloc(1, size);
	if (!group)
		return -1;
	group->size = sizeof(*group);
	group->member_size = bytes;
	group->rank = rank;
	group->count = count;
	memcpy(group->members, members, count * bytes);
	for (i = 0; i < count; i++) {
		char *member = (char *)group->members + i * bytes;

		((struct sockaddr_shuffle *)member)->shs_family = family;
	}
	ret = setsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, group, size);
	err = errno;
	free(group);
	if (!ret)
		shuffle_saba_join(fd);
	errno = err;
	return ret;
}

int shuffle_join(int fd, const struct sockaddr_shuffle *members, unsigned int count,
		 unsigned int rank)
{
	return join(fd, members, sizeof(*members), count, rank);
}

int shuffle_join_edges(int fd, const struct shuffle_edge *edges, unsigned int count,
		       unsigned int rank)
{
	return join(fd, edges, sizeof(*edges), count, rank);
}

int shuffle_multicast(int fd, const struct sockaddr_shuffle *group, unsigned int hops)
{
	struct shuffle_multicast m = {
		.size = sizeof(m),
		.ip_family = group->shs_ip_family,
		.hops = hops,
		.scope_id = group->shs_scope_id,
		.port = ntohs(group->shs_port),
	};

	if (hops > UINT8_MAX) {
		errno = EINVAL;
		return -1;
	}
	memcpy(m.addr, group->shs_addr, sizeof(m.addr));
	return setsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &m, sizeof(m));
}

int shuffle_open(const struct sockaddr_shuffle *members, unsigned int count,
		 unsigned int rank, int type_flags)
{
	struct sockaddr_shuffle addr;
	int err, fd;

	if (!count || count > SHUFFLE_MAX_MEMBERS || rank >= count) {
		errno = EINVAL;
		return -1;
	}
	addr = members[rank];
	fd = shuffle_bind(&addr, type_flags);
	if (fd < 0 || !shuffle_join(fd, members, count, rank))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

ssize_t shuffle_recv(int fd, void *buf, size_t size, struct shuffle_record *records,
		     unsigned int *count, int flags)
{
	union {
		char space[CMSG_SPACE(RECORDS_SIZE(RX_RECORDS))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = buf, .iov_len = size };
	unsigned int room = *count;
	unsigned int i, n;
	struct cmsghdr *cmsg;
	struct msghdr msg;
	size_t apart;
	ssize_t len;

	*count = 0;
	if (!room || (flags & ~MSG_DONTWAIT)) {
		errno = EINVAL;
		return -1;
	}
	if (room > RX_RECORDS)
		room = RX_RECORDS;

	memset(&msg, 0, sizeof(msg));
	msg.msg_iov = &iov;
	msg.msg_iovlen = 1;
	msg.msg_control = control.space;
	msg.msg_controllen = CMSG_LEN(RECORDS_SIZE(room));

	len = recvmsg(fd, &msg, flags);
	if (len < 0)
		return -1;

	for (cmsg = CMSG_FIRSTHDR(&msg); cmsg; cmsg = CMSG_NXTHDR(&msg, cmsg)) {
		n = records_count(cmsg, &apart);
		for (i = 0; i < n && *count < room; i++)
			records_read(cmsg, apart, i, &records[(*count)++]);
	}
	return len;
}

/* What a column can have at most: more than the machine has cannot be received. */
static uint64_t memory_size(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages * size : SIZE_MAX / 2;
}

struct shuffle_column *shuffle_column_new(uint64_t op_id, unsigned int count)
{
	struct shuffle_column *col;

	if (!count || count > SHUFFLE_MAX_MEMBERS) {
		errno = EINVAL;
		return NULL;
	}
	col = calloc(1, sizeof(*col));
	if (!col)
		return NULL;
	col->op_id = op_id;
	col->count = count;
	col->max_bytes = memory_size();
	col->bufs = calloc(count, sizeof(*col->bufs));
	col->lens = calloc(count, sizeof(*col->lens));
	col->have = calloc(count, sizeof(*col->have));
	col->missing = calloc(count, sizeof(*col->missing));
	if (!col->bufs || !col->lens || !col->have || !col->missing) {
		shuffle_column_free(col);
		errno = ENOMEM;
		return NULL;
	}
	return col;
}

void shuffle_column_free(struct shuffle_column *col)
{
	unsigned int i;

	if (!col)
		return;
	for (i = 0; col->bufs && i < col->count; i++)
		free(col->bufs[i]);
	free(col->bufs);
	free(col->lens);
	free(col->have);
	free(col->missing);
	free(col);
}

/* A piece of a message.  Pieces of one message come in order. */
static int column_data(struct shuffle_column *col, const struct shuffle_record *rec,
		       const void *buf)
{
	unsigned int rank = rec->rank;

	if (rank >= col->count || rec->len > rec->msg_len ||
	    rec->offset > rec->msg_len - rec->len)
		goto proto;

	if (!col->bufs[rank]) {
		/* the other member says how long it is */
		if (rec->msg_len > SIZE_MAX - 1 || col->bytes > col->max_bytes ||
		    rec->msg_len > col->max_bytes - col->bytes) {
			errno = EMSGSIZE;
			return -1;
		}
		col->bufs[rank] = malloc(rec->msg_len + 1);
		if (!col->bufs[rank])
			return -1;
		col->lens[rank] = rec->msg_len;
		col->bytes += rec->msg_len;
	} else if (rec->msg_len != col->lens[rank] || col->have[rank] == col->lens[rank]) {
		goto proto;
	}
	if (rec->offset != col->have[rank])
		goto proto;

	memcpy((char *)col->bufs[rank] + rec->offset, buf, rec->len);
	col->have[rank] += rec->len;
	if (rec->flags & SHUFFLE_RECORD_LAST) {
		if (col->have[rank] != col->lens[rank])
			goto proto;
		col->whole++;
	}
	return 0;

proto:
	errno = EPROTO;
	return -1;
}

int shuffle_column_add(struct shuffle_column *col, const struct shuffle_record *rec,
		       const void *buf)
{
	if (rec->op_id != col->op_id)
		goto proto;

	switch (rec->type) {
	case SHUFFLE_RECORD_DATA:
		if (col->done)
			goto proto;
		return column_data(col, rec, buf);
	case SHUFFLE_RECORD_DONE:
		col->done = 1;
		return 1;
	case SHUFFLE_RECORD_FAILED:
		col->done = 1;
		col->error = rec->error ? (int)rec->error : EIO;
		col->missing_left = rec->msg_len;
		return 1;
	case SHUFFLE_RECORD_MISSING:
		if (!col->done || rec->rank >= col->count)
			goto proto;
		if (col->missing_left)
			col->missing_left--;
		if (col->missing_count < col->count)
			col->missing[col->missing_count++] = rec->rank;
		return 1;
	}

proto:
	errno = EPROTO;
	return -1;
}

const char *shuffle_left_str(unsigned int error)
{
	switch (error) {
	case ECANCELED:
		return "has cancelled the operation";
	case EPIPE:
		return "has closed its socket, or its process is gone";
	case ENOMEM:
		return "has left: no memory";
	case EPROTO:
		return "takes part in another operation than the others";
	case ETIMEDOUT:
		return "has not been heard of for too long, another member says";
	case ENOENT:
		return "knows nothing of the operation: it was started again";
	}
	return "has left";
}

int shuffle_recv_column(int fd, struct shuffle_column *col)
{
	struct shuffle_record records[RX_RECORDS];
	unsigned int count, i;
	ssize_t len;
	char *buf;
	int err;

	buf = malloc(RX_BUFFER);
	if (!buf)
		return -1;

	/* a failure says how many MISSING records come with it */
	while (!col->done || col->missing_left) {
		size_t pos = 0;

		count = RX_RECORDS;
		len = shuffle_recv(fd, buf, RX_BUFFER, records, &count, 0);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && errno == EAGAIN && must_wait(fd)) {
			if (wait_for(fd, POLLIN))
				goto fail;
			continue;
		}
		if (len < 0)
			goto fail;
		for (i = 0; i < count; i++) {
			uint64_t piece = 0;

			if (records[i].type == SHUFFLE_RECORD_DATA)
				piece = records[i].len;
			if (piece > (size_t)len - pos) {
				errno = EPROTO;
				goto fail;
			}
			if (shuffle_column_add(col, &records[i], buf + pos) < 0)
				goto fail;
			pos += piece;
		}
	}
	free(buf);
	if (col->error) {
		errno = col->error;
		return -1;
	}
	return 0;

fail:
	err = errno;
	free(buf);
	errno = err;
	return -1;
}

struct sender {
	struct shuffle_tx tx;
	int fd;
	int error;
};

static void *sender_main(void *arg)
{
	struct sender *s = arg;

	if (shuffle_tx_finish(s->fd, &s->tx)) {
		s->error = errno;
		/* so that the reader hears of an end */
		shuffle_cancel(s->fd, s->tx.op_id);
	}
	return NULL;
}

/* Signals are for the threads of the caller. */
static int start_sender(pthread_t *thread, struct sender *s)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	err = pthread_sigmask(SIG_SETMASK, &all, &old);
	if (err)
		return err;
	err = pthread_create(thread, NULL, sender_main, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

/*
 * Read what is left of an operation that has ended, so that the next one does not find
 * it.  The end of a cancelled operation is there when the cancellation returns: never
 * waits.
 */
static void drain(int fd, struct shuffle_column *col)
{
	struct shuffle_record records[RX_RECORDS];
	unsigned int count, i;
	char *buf;

	buf = malloc(RX_BUFFER);
	while (buf && (!col->done || col->missing_left)) {
		count = RX_RECORDS;
		if (shuffle_recv(fd, buf, RX_BUFFER, records, &count, MSG_DONTWAIT) < 0) {
			if (errno == EINTR)
				continue;
			break;
		}
		for (i = 0; i < count; i++)
			if (records[i].op_id == col->op_id &&
			    records[i].type != SHUFFLE_RECORD_DATA)
				shuffle_column_add(col, &records[i], NULL);
	}
	free(buf);
}

void shuffle_give_up(int fd, struct shuffle_column *col)
{
	int err = errno;

	if (!col->done)
		shuffle_cancel(fd, col->op_id);
	drain(fd, col);
	errno = err;
}

int shuffle_exchange(int fd, uint64_t op_id, const void *const *bufs, const uint64_t *lens,
		     unsigned int count, uint64_t deadline_ms, struct shuffle_column *col)
{
	struct sender s = { .fd = fd };
	pthread_t thread;
	int err, ret, fits;

	if (!count || col->op_id != op_id || col->count != count) {
		errno = EINVAL;
		return -1;
	}
	shuffle_tx_init(&s.tx, op_id, bufs, lens, count, deadline_ms);
	/* first the announcement: then there is an operation that will end */
	fits = shuffle_tx_fits(fd, &s.tx);
	if (fits)
		ret = shuffle_tx_finish(fd, &s.tx);
	else
		while (!(ret = shuffle_tx_announce(fd, &s.tx)))
			;
	if (ret < 0 && errno != EPIPE)
		goto fail;
	/* all is sent, or the operation has ended meanwhile: the column says why */
	if (ret < 0 || fits) {
		ret = shuffle_recv_column(fd, col);
		if (ret)
			shuffle_give_up(fd, col);
		return ret;
	}
	err = start_sender(&thread, &s);
	if (err) {
		errno = err;
		goto fail;
	}
	ret = shuffle_recv_column(fd, col);
	err = errno;
	/* a reader that gave up must not leave the writer waiting */
	if (ret && !col->done)
		shuffle_cancel(fd, op_id);
	pthread_join(thread, NULL);
	if (ret) {
		errno = s.error && s.error != EPIPE ? s.error : err;
		shuffle_give_up(fd, col);
	}
	return ret;

fail:
	/* One that is not ours (EEXIST) is left alone; a first call that could not read
	 * the data has begun one and ended it.
	 */
	if (s.tx.announced || errno == EFAULT)
		shuffle_give_up(fd, col);
	return -1;
}

int shuffle_cancel(int fd, uint64_t op_id)
{
	return setsockopt(fd, SOL_SHUFFLE, SHUFFLE_CANCEL, &op_id, sizeof(op_id));
}
