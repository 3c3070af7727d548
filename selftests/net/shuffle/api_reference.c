// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows by reference: SHUFFLE_ROW_REFERENCE.  What is taken and refused, when memory is released,
 * and what happens when the program does things to it that it should not do.  MTU 1500.  TAP.
 *
 *	api_reference [-v 6]
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "api.h"

#define LONG	(6U << 20)	/* more than all buffers on its way hold */
#define PIECES	1000		/* IOV_MAX is 1024 */
#define NOBODY	65534

static unsigned char got[LONG];
static uint64_t seed = 1;

/**
 * struct seen - records that a socket has returned
 * @bytes: of its message, into got[]
 * @released: bytes of the row, by RELEASED records
 * @released_off: where the first of them began
 * @wrong: a record that should not have come so
 * @done: DONE has come
 * @error: of FAILED
 */
struct seen {
	size_t bytes;
	uint64_t released;
	uint64_t released_off;
	bool wrong;
	bool done;
	int error;
};

static unsigned int random_below(unsigned int n)
{
	seed = sht_mix(seed);
	return seed % n;
}

/* Memory of its own for @len bytes, filled. */
static unsigned char *memory(size_t len, int flags, int fd)
{
	unsigned char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED) {
		printf("Bail out! no memory: %s\n", strerror(errno));
		exit(1);
	}
	sht_fill(p, len, 1, 0);
	return p;
}

static unsigned char *own_memory(size_t len)
{
	return memory(len, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

/* Part of a row of two messages: @iov follows what has been sent; count 0: announces nothing. */
static ssize_t send_part(int fd, uint64_t op, uint32_t flags, unsigned int count, size_t len0,
			 size_t len1, struct iovec *iov, int n)
{
	struct row_buf row = { .row = { .size = sizeof(row.row), .op_id = op, .flags = flags,
					.count = count },
			       .lens = { len0, len1 } };

	return send_raw_vector(fd, SOL_SHUFFLE, SHUFFLE_CMSG_ROW, &row, ROW_SIZE(count), iov, n,
			       MSG_DONTWAIT);
}

static ssize_t refer_vector(int fd, uint64_t op, size_t len0, size_t len1, struct iovec *iov, int n)
{
	return send_part(fd, op, SHUFFLE_ROW_REFERENCE, 2, len0, len1, iov, n);
}

/* A row of one message to rank 1. */
static ssize_t refer(int fd, uint64_t op, const void *data, size_t len)
{
	struct iovec iov = { (void *)data, len };

	return refer_vector(fd, op, 0, len, &iov, 1);
}

static void see(struct seen *seen, const struct shuffle_record *r, const unsigned char *bytes)
{
	switch (r->type) {
	case SHUFFLE_RECORD_DATA:
		if (r->offset + r->len <= LONG)
			memcpy(got + r->offset, bytes, r->len);
		seen->bytes += r->len;
		break;
	case SHUFFLE_RECORD_RELEASED:
		if (!seen->released)
			seen->released_off = r->offset;
		seen->released += r->msg_len;
		seen->wrong |= seen->done || r->len || r->flags || r->rank || r->error;
		break;
	case SHUFFLE_RECORD_DONE:
		seen->done = true;
		break;
	case SHUFFLE_RECORD_FAILED:
		seen->error = r->error;
		break;
	}
}

/* One recvmsg() that does not wait. */
static void read_once(int fd, struct seen *seen)
{
	static unsigned char scratch[1 << 18];
	struct shuffle_record recs[32];
	const unsigned char *p = scratch;
	unsigned int i, n = 32;

	if (sht_recv(fd, scratch, sizeof(scratch), recs, &n, MSG_DONTWAIT) < 0) {
		usleep(1000);
		return;
	}
	for (i = 0; i < n; i++) {
		see(seen, &recs[i], p);
		p += recs[i].type == SHUFFLE_RECORD_DATA ? recs[i].len : 0;
	}
}

/* Both sockets are read until both operations have ended: 6 MB through a small buffer take their
 * time in a debug kernel.
 */
static bool read_both(int fds[2], struct seen seen[2])
{
	uint64_t until = sht_now_ms() + 6 * WAIT_MS;
	int i;

	while (sht_now_ms() < until) {
		for (i = 0; i < 2; i++)
			if (!seen[i].done && !seen[i].error)
				read_once(fds[i], &seen[i]);
		if ((seen[0].done || seen[0].error) && (seen[1].done || seen[1].error))
			return true;
	}
	errno = ETIMEDOUT;
	return false;
}

/* The other side sends nothing; @len bytes arrive whole, and are released before the end. */
static bool arrives(int fds[2], uint64_t op, size_t len, uint64_t by_ref)
{
	struct seen seen[2] = {};
	int i;

	memset(got, 0, sizeof(got));
	if (send_row(fds[1], op, 0, 0, NULL, 0, 0) == 0 && read_both(fds, seen) &&
	    seen[0].done && seen[1].done && !seen[0].wrong && seen[0].released == by_ref &&
	    !seen[1].released && seen[1].bytes == len)
		return true;
	for (i = 0; i < 2; i++)
		printf("# socket %d: %llu bytes, released %llu%s%s, error %d\n", i,
		       (unsigned long long)seen[i].bytes, (unsigned long long)seen[i].released,
		       seen[i].wrong ? ", a wrong record" : "", seen[i].done ? ", done" : "",
		       seen[i].error);
	return false;
}

static bool arrives_right(int fds[2], uint64_t op, size_t len)
{
	size_t right;

	if (!arrives(fds, op, len, len))
		return false;
	right = sht_check(got, len, 1, 0);
	if (right != len)
		printf("# bytes differ from %zu of %zu\n", right, len);
	return right == len;
}

/* Cut @len bytes at @base into pieces, some of them empty; returns their number. */
static int cut(struct iovec *iov, unsigned char *base, size_t len)
{
	int n = 0;

	while (len) {
		size_t piece = random_below(4) ? random_below(9000) : random_below(3);

		if (piece > len || n == PIECES - 1)
			piece = len;
		iov[n++] = (struct iovec){ base, piece };
		base += piece;
		len -= piece;
	}
	return n;
}

static void test_pieces(int fds[2])
{
	static const size_t lens[] = { 1, 256, 257, 1432, 1433, 20000, 60145, 300000, LONG };
	unsigned char *data = own_memory(LONG);
	struct iovec iov[PIECES];
	char name[80];
	unsigned int i;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		uint64_t op = next_op++;
		bool ok;

		ok = refer_vector(fds[0], op, 0, lens[i], iov, cut(iov, data, lens[i])) ==
		     (ssize_t)lens[i] && arrives_right(fds, op, lens[i]);
		snprintf(name, sizeof(name), "%zu bytes in pieces", lens[i]);
		WORKS(ok, name);
	}
	munmap(data, LONG);
}

/* A row in four calls: by reference and by copy, cut within messages. */
static void test_mixed(int fds[2])
{
	unsigned char *data = own_memory(100000);
	struct iovec iov[4] = { { data, 1000 }, { data + 1000, 29000 }, { data + 30000, 100 },
				{ data + 30100, 69900 } };
	struct seen seen[2] = {};
	uint64_t op = next_op++;
	bool ok;

	/* 20000 bytes to ourselves, 80000 to the other one */
	ok = send_part(fds[0], op, 0, 2, 20000, 80000, &iov[0], 1) == 1000 &&
	     send_part(fds[0], op, SHUFFLE_ROW_REFERENCE, 0, 0, 0, &iov[1], 1) == 29000 &&
	     send_part(fds[0], op, 0, 0, 0, 0, &iov[2], 1) == 100 &&
	     send_part(fds[0], op, SHUFFLE_ROW_REFERENCE, 0, 0, 0, &iov[3], 1) == 69900;
	WORKS(ok, "a row by copy and by reference");
	ok = send_row(fds[1], op, 0, 0, NULL, 0, 0) == 0 && read_both(fds, seen) &&
	     seen[0].done && seen[1].done && seen[0].bytes == 20000 && seen[1].bytes == 80000;
	WORKS(ok, "it arrives");
	WORKS(seen[0].released == 98900 && seen[0].released_off == 1000 && !seen[0].wrong,
	      "two parts of it are released");
	munmap(data, 100000);
}

static void test_wait(void)
{
	unsigned char *data = own_memory(LONG);
	struct sockaddr_shuffle m[2];
	int fds[2], few = 100000;
	struct pollfd pfd = { .events = POLLOUT };
	uint64_t op = next_op++, until;
	struct seen seen[2] = {};

	open_pair(fds, m, 0);
	setsockopt(fds[1], SOL_SOCKET, SO_RCVBUF, &few, sizeof(few));
	pfd.fd = fds[0];
	WORKS(refer(fds[0], op, data, LONG) == LONG,
	      "more than the send buffer is taken without waiting");
	WORKS(poll(&pfd, 1, 0) == 1 && pfd.revents == POLLOUT, "the socket stays writable");
	send_row(fds[1], op, 0, 0, NULL, 0, 0);
	for (until = sht_now_ms() + 300; sht_now_ms() < until;)
		read_once(fds[0], &seen[0]);
	WORKS(!seen[0].released && !seen[0].done, "nothing is released that has not arrived");
	memset(got, 0, sizeof(got));
	WORKS(read_both(fds, seen) && seen[0].released == LONG && seen[1].bytes == LONG &&
	      sht_check(got, LONG, 1, 0) == LONG, "it is when it has");
	close_pair(fds);
	munmap(data, LONG);
}

/* More parts than one acknowledgment frees at once: all are released before the end. */
static void test_many_parts(int fds[2])
{
	unsigned char *data = own_memory(100 * PIECES);
	uint64_t op = next_op++;
	struct iovec iov;
	bool ok = true;
	unsigned int i;

	for (i = 0; i < PIECES && ok; i++) {
		iov = (struct iovec){ data + 100 * i, 100 };
		ok = send_part(fds[0], op, SHUFFLE_ROW_REFERENCE, i ? 0 : 2, 0, 100 * PIECES,
			       &iov, 1) == 100;
	}
	WORKS(ok && arrives_right(fds, op, 100 * PIECES), "many parts by reference");
	munmap(data, 100 * PIECES);
}

static void test_refused(int fds[2])
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned char *data = own_memory(LONG);
	unsigned char *bad = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec iov[3] = { { data, 50000 }, { bad, 1000 }, { data, 49000 } };
	uint64_t op = next_op++;

	FAILS(refer_vector(fds[0], op, 0, 100000, iov, 3), "a piece that is not there", EFAULT);
	FAILS(send_part(fds[0], op, 0, 0, 0, 0, iov, 1), "nothing is left of it", ENOENT);
	FAILS(refer_vector(fds[0], op, 0, 100, iov, 1), "more data than the row has", EMSGSIZE);
	FAILS(send_part(fds[0], op, 0, 0, 0, 0, iov, 1), "nothing is left of that", ENOENT);
	FAILS(send_part(fds[0], op, SHUFFLE_ROW_REFERENCE, 0, 0, 0, iov, 1),
	      "of an operation that does not exist", ENOENT);
	WORKS(refer(fds[0], op, NULL, 0) == 0 && arrives(fds, op, 0, 0), "no bytes");
	munmap(bad, page);
	munmap(data, LONG);
}

/* As a user without privilege, in a process of its own. */
static int as_nobody(int (*run)(void))
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (setrlimit(RLIMIT_MEMLOCK, &limit) || setresuid(NOBODY, NOBODY, NOBODY))
			_exit(100);
		_exit(run());
	}
	next_port += 100;	/* those were its */
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

static int limited(void)
{
	unsigned char *data = own_memory(LONG);
	struct sockaddr_shuffle m[2];
	int fds[2], i;

	open_pair(fds, m, 0);
	errno = 0;
	if (refer(fds[0], next_op++, data, LONG) != -1 || errno != ENOBUFS)
		return 1;
	/* half of the limit, and twice: nobody takes it, then the sockets are closed */
	for (i = 0; i < 10; i++) {
		if (refer(fds[0], next_op++, data, 500000) != 500000)
			return 2;
		if (refer(fds[0], next_op++, data, 600000) != -1 || errno != ENOBUFS)
			return 3;
		close_pair(fds);
		open_pair(fds, m, 0);
	}
	/* and what has arrived counts no more */
	for (i = 0; i < 10; i++) {
		uint64_t op = next_op++;

		if (refer(fds[0], op, data, 900000) != 900000 || !arrives_right(fds, op, 900000))
			return 4;
	}
	close_pair(fds);
	return 0;
}

static void test_limit(void)
{
	WORKS(as_nobody(limited) == 0, "RLIMIT_MEMLOCK bounds it, and is given back");
}

static void *scribble(void *arg)
{
	unsigned char *data = arg;
	size_t i;

	for (i = 0; i < 40ULL * LONG; i += 61)
		data[i % LONG] = i;
	return NULL;
}

static void test_mischief(int fds[2])
{
	unsigned char *data = own_memory(LONG);
	uint64_t op = next_op++;
	pthread_t thread;
	int status, fd;
	pid_t pid;

	WORKS(refer(fds[0], op, data, LONG) == LONG && !munmap(data, LONG) &&
	      arrives_right(fds, op, LONG), "memory is unmapped: it arrives as it was");

	data = own_memory(LONG);
	op = next_op++;
	refer(fds[0], op, data, LONG);
	pid = fork();
	if (!pid) {
		memset(data, 7, LONG);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	WORKS(arrives_right(fds, op, LONG), "a child changes its copy: it arrives as it was");

	op = next_op++;
	pthread_create(&thread, NULL, scribble, data);
	WORKS(refer(fds[0], op, data, LONG) == LONG && arrives(fds, op, LONG, LONG),
	      "memory is written to meanwhile: it arrives");
	pthread_join(thread, NULL);
	munmap(data, LONG);

	fd = memfd_create("row", MFD_CLOEXEC);
	if (ftruncate(fd, LONG))
		errno = 0;
	data = memory(LONG, MAP_SHARED, fd);
	op = next_op++;
	WORKS(refer(fds[0], op, data, LONG) == LONG && !ftruncate(fd, 0) &&
	      arrives(fds, op, LONG, LONG), "a file is truncated meanwhile: it arrives");
	close(fd);
	munmap(data, LONG);
}

static void test_ends(int fds[2])
{
	unsigned char *data = own_memory(LONG);
	struct sockaddr_shuffle m[2];
	uint64_t op = next_op++;
	int more[2], status;
	pid_t pid;

	refer(fds[0], op, data, LONG);
	sht_cancel(fds[0], op);
	WORKS(read_end(fds[0], op) == ECANCELED, "cancelled in the middle");
	WORKS(pair_works(fds), "the pair still shuffles");

	open_pair(more, m, 0);
	refer(more[0], next_op, data, LONG);
	send_row(more[1], next_op++, 0, 0, NULL, 0, 0);
	usleep(50000);
	close_pair(more);
	WORKS(!munmap(data, LONG), "closed in the middle");

	pid = fork();
	if (!pid) {
		open_pair(more, m, 0);
		data = own_memory(LONG);
		refer(more[0], next_op, data, LONG);
		send_row(more[1], next_op, 0, 0, NULL, 0, 0);
		usleep(50000);
		raise(SIGKILL);
	}
	waitpid(pid, &status, 0);
	WORKS(WIFSIGNALED(status), "killed in the middle");
}

static void test_key(void)
{
	static const struct sht_before before = { .device = "", .key = 5 };
	unsigned char *data = own_memory(300000);
	struct sockaddr_shuffle m[2];
	uint64_t op = next_op++;
	int fds[2];

	my_addr(&m[0]);
	my_addr(&m[1]);
	fds[0] = sht_open_with(&before, m, 2, 0, 0);
	fds[1] = sht_open_with(&before, m, 2, 1, 0);
	WORKS(refer(fds[0], op, data, 300000) == 300000 && arrives_right(fds, op, 300000),
	      "with a group key");
	close_pair(fds);
	munmap(data, 300000);
}

static bool small_packets(void)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_mtu = 1500 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = ioctl(fd, SIOCSIFMTU, &req);

	close(fd);
	return !rc;
}

int main(int argc, char **argv)
{
	struct sockaddr_shuffle m[2];
	int fds[2];

	api_start(argc, argv);
	WORKS(small_packets(), "the loopback has MTU 1500");
	open_pair(fds, m, 0);
	test_pieces(fds);
	test_mixed(fds);
	test_many_parts(fds);
	test_wait();
	test_refused(fds);
	test_mischief(fds);
	test_ends(fds);
	close_pair(fds);
	test_limit();
	test_key();
	return api_finish();
}
