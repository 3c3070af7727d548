/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that must fail or work, and a pair of sockets, for the tests of system calls.
 * Included once by each program; errno tables stand in the programs.
 */
#ifndef API_H
#define API_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../tools/common/tap.h"
#include "shtest.h"

#define WAIT_MS		20000

static int v6;
static uint16_t next_port = 7000;
static uint64_t next_op = 1;

/* Is this a 32-bit program on a 64-bit kernel? */
static inline bool is_compat(void)
{
	struct utsname u;

	return sizeof(long) == 4 && !uname(&u) && strstr(u.machine, "64");
}

/* A test whose outcome is told in words: of one that was skipped, "SKIP" and why. */
static inline void result(bool ok, const char *name, const char *detail)
{
	if (!strncmp(detail, "SKIP ", 5)) {
		tap_skip(name, detail + 5);
		return;
	}
	if (detail[0])
		printf("# %s: %s\n", name, detail);
	tap_line(ok, name);
}

/* The call must fail with this error: api.rst says of each call which one it is. */
#define FAILS(call, name, want)						\
	do {								\
		long rc_;						\
									\
		errno = 0;						\
		rc_ = (long)(call);					\
		tap_fails(TAP_AT, #call, rc_, errno, want);		\
		tap_done(name);						\
	} while (0)

/* What has not worked said so itself if it is an EXPECT_...(); and errno may say why. */
static inline void works_at(struct tap_at at, const char *what, bool ok, const char *name)
{
	int err = errno;

	if (!ok && !tap_state.bad)
		tap_true(at, what, ok, " ");
	if (!ok && err)
		printf("# errno is %s\n", strerrorname_np(err));
	tap_line(ok, name);
}

#define WORKS(cond, name)						\
	do {								\
		errno = 0;						\
		works_at(TAP_AT, #cond, cond, name);			\
	} while (0)

/* The same about a call that was made before. */
#define WORKED(cond, name)	works_at(TAP_AT, #cond, cond, name)

/* Of one comparison, and of one error. */
#define WORKS_EQ(got, want, name)					\
	WORKS(TAP_EXPECT(#got, got, "==", want), name)
#define WORKS_ERRNO(got, want, name)					\
	WORKS(tap_error(TAP_AT, #got, got, want, " "), name)

static inline int new_socket(int flags)
{
	return socket(sht_family(), SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
}

static inline void my_addr(struct sockaddr_shuffle *a)
{
	sht_addr(a, SHT_LO, v6, 0, next_port++);
}

static inline int bind_to(int fd, const struct sockaddr_shuffle *a)
{
	return bind(fd, (const struct sockaddr *)a, sizeof(*a));
}

/* A group of two sockets. */
static inline void open_pair(int fds[2], struct sockaddr_shuffle m[2], int flags)
{
	my_addr(&m[0]);
	my_addr(&m[1]);
	fds[0] = sht_open(m, 2, 0, flags);
	fds[1] = sht_open(m, 2, 1, flags);
	if (fds[0] < 0 || fds[1] < 0)
		tap_bail("no pair of sockets: %s", strerror(errno));
}

static inline void close_pair(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* sendmsg with a raw control message, and data in @n pieces. */
static inline ssize_t send_raw_vector(int fd, int level, int type, const void *payload,
				      size_t size, struct iovec *iov, int n, int flags)
{
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = n };
	union {
		struct cmsghdr align;
		char buf[1024];
	} control;
	struct cmsghdr *cmsg;

	memset(&control, 0, sizeof(control));
	msg.msg_control = control.buf;
	msg.msg_controllen = CMSG_SPACE(size);
	cmsg = CMSG_FIRSTHDR(&msg);
	cmsg->cmsg_level = level;
	cmsg->cmsg_type = type;
	cmsg->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(cmsg), payload, size);
	return sendmsg(fd, &msg, flags);
}

static inline ssize_t send_raw(int fd, int level, int type, const void *payload,
			size_t size, const void *bytes, size_t len, int flags)
{
	struct iovec iov = { .iov_base = (void *)bytes, .iov_len = len };

	return send_raw_vector(fd, level, type, payload, size, &iov, 1, flags);
}

struct row_buf {
	struct shuffle_row row;
	uint64_t lens[8];
};

#define ROW_SIZE(n)	(sizeof(struct shuffle_row) + (n) * sizeof(uint64_t))

static inline ssize_t send_row(int fd, uint64_t op, uint64_t len0, uint64_t len1,
			const void *data, size_t len, int flags)
{
	struct shuffle_row row = { .op_id = op, .count = 2 };
	uint64_t lens[2] = { len0, len1 };

	return sht_send(fd, &row, lens, data, len, flags);
}

/* Read until the operation ends; 0, its errno, or -1.  @from: bits of the ranks that have sent us
 * something, or NULL.
 */
static inline int read_end_from(int fd, uint64_t op, unsigned int *from)
{
	struct shuffle_record recs[8];
	uint64_t until = sht_now_ms() + WAIT_MS;
	static unsigned char buf[1 << 20];
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	unsigned int i, n;

	while (sht_now_ms() < until) {
		if (poll(&pfd, 1, 100) <= 0)
			continue;
		n = 8;
		if (sht_recv(fd, buf, sizeof(buf), recs, &n, MSG_DONTWAIT) < 0) {
			if (errno == EAGAIN)
				continue;
			return -1;
		}
		for (i = 0; i < n; i++) {
			if (recs[i].op_id != op)
				continue;
			if (recs[i].type == SHUFFLE_RECORD_DONE)
				return 0;
			if (recs[i].type == SHUFFLE_RECORD_FAILED)
				return recs[i].error;
			if (recs[i].type == SHUFFLE_RECORD_DATA && from)
				*from |= 1U << recs[i].rank;
		}
	}
	errno = ETIMEDOUT;
	return -1;
}

static inline int read_end(int fd, uint64_t op)
{
	return read_end_from(fd, op, NULL);
}

/* A pair still shuffles. */
static inline bool pair_works(int fds[2])
{
	uint64_t op = next_op++;
	static const char data[3000];

	return send_row(fds[0], op, 1000, 2000, data, 3000, 0) == 3000 &&
	       send_row(fds[1], op, 1, 0, data, 1, 0) == 1 &&
	       read_end(fds[0], op) == 0 && read_end(fds[1], op) == 0;
}

#define MOST_MEMBERS	64

/* What a member of a group does, in a process of its own: 0 if all is well. */
typedef int (*api_member)(const struct sockaddr_shuffle *m, unsigned int count, unsigned int rank,
			  const char *arg);

/* A process for each of @n members.  Did all return 0? */
static inline bool api_group(unsigned int n, api_member member, const char *arg)
{
	struct sockaddr_shuffle m[MOST_MEMBERS];
	pid_t pid[MOST_MEMBERS];
	bool ok = true;
	unsigned int i;
	int status;

	for (i = 0; i < n; i++)
		my_addr(&m[i]);
	fflush(stdout);
	for (i = 0; i < n; i++) {
		pid[i] = fork();
		if (!pid[i])
			_exit(member(m, n, i, arg));
	}
	for (i = 0; i < n; i++)
		ok &= pid[i] > 0 && waitpid(pid[i], &status, 0) == pid[i] && !status;
	return ok;
}

/* API_CONFIG has settings of the program's own namespace, as words for shufflectl. */
static inline void api_config(const char *program)
{
	const char *slash = strrchr(program, '/'), *settings = getenv("API_CONFIG");
	char cmd[512];

	if (!settings)
		return;
	snprintf(cmd, sizeof(cmd), "%.*s/shufflectl config set %s",
		 slash ? (int)(slash - program) : 1, slash ? program : ".", settings);
	if (system(cmd))
		tap_bail("'%s' has failed", cmd);
}

#define NOBODY		65534

/* As a user without privilege.  What it opened before stays root's. */
static inline bool become_nobody(void)
{
	return !setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY);
}

/* @part in a process of its own: what it returns. */
static inline int as_nobody(int (*part)(void *arg), void *arg)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(become_nobody() ? part(arg) : 99);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Own namespace; "-v 6" for IPv6. */
static inline void api_start(int argc, char **argv)
{
	alarm(600);
	v6 = argc > 2 && !strcmp(argv[1], "-v") && argv[2][0] == '6';
	if (sht_new_netns())
		tap_bail("no network namespace: %s", strerror(errno));
	api_config(argv[0]);
	signal(SIGPIPE, SIG_IGN);
}

static inline int api_finish(void)
{
	return tap_finish();
}

/* Of libshuffle's collectives: sums of 64-bit numbers, which may lie anywhere. */
static inline void combine_sum(void *arg, void *into, const void *in, size_t size, int in_first)
{
	uint64_t *x = into, y;
	size_t i;

	(void)arg;
	(void)in_first;
	for (i = 0; i < size / sizeof(*x); i++) {
		memcpy(&y, (const char *)in + i * sizeof(y), sizeof(y));
		x[i] += y;
	}
}

#endif /* API_H */
