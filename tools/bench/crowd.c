// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many operations of a large group of which two members exist: what the kernel does for
 * each member and for each operation, it does here most often.
 *
 * usage: crowd MEMBERS OPERATIONS MS
 *
 * Both members send 100 bytes to everyone, in all operations; the operations fail after MS
 * ms.  Prints one line of NAME=VALUE.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../lib/shuffle.h"

#define PORT		21000
#define LIVE		2
#define BYTES		100

static void die(const char *what)
{
	fprintf(stderr, "crowd: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_member(const struct sockaddr_shuffle *members, unsigned int n, unsigned int rank)
{
	static const int bytes = 1 << 30;
	int fd = shuffle_open(members, n, rank, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		die("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		die("buffers");
	return fd;
}

/* Until nothing has come for @ms.  Returns how many messages, whole or missing. */
static unsigned long receive(int fd, int ms)
{
	struct shuffle_record records[256];
	static char data[1 << 20];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	unsigned long n = 0;
	unsigned int count;

	while (poll(&p, 1, ms) > 0) {
		count = 256;
		if (shuffle_recv(fd, data, sizeof(data), records, &count, 0) < 0 && errno != EAGAIN)
			die("receive");
		n += count;
	}
	return n;
}

int main(int argc, char **argv)
{
	struct sockaddr_shuffle *members;
	unsigned int n, ops, ms, i, op;
	uint64_t base;
	static char data[BYTES];
	const void **bufs;
	uint64_t *lens;
	unsigned long got = 0;
	int fd[LIVE];

	if (argc != 4) {
		fputs("usage: crowd MEMBERS OPERATIONS MS\n", stderr);
		return 2;
	}
	n = atoi(argv[1]);
	ops = atoi(argv[2]);
	ms = atoi(argv[3]);
	members = calloc(n, sizeof(*members));
	bufs = calloc(n, sizeof(*bufs));
	lens = calloc(n, sizeof(*lens));
	if (!members || !bufs || !lens)
		die("calloc");
	for (i = 0; i < n; i++) {
		if (shuffle_addr(&members[i], "127.0.0.1", PORT + i))
			die("address");
		bufs[i] = data;
		lens[i] = BYTES;
	}
	for (i = 0; i < LIVE; i++)
		fd[i] = open_member(members, n, i);
	/* the last run's operations may not be forgotten yet */
	base = (uint64_t)time(NULL) << 20;
	for (op = 0; op < ops; op++)
		for (i = 0; i < LIVE; i++)
			if (shuffle_send(fd[i], base + op, bufs, lens, n, ms) < 0)
				die("send");
	for (i = 0; i < LIVE; i++)
		got += receive(fd[i], ms + 1000);
	for (i = 0; i < LIVE; i++)
		close(fd[i]);
	printf("members=%u operations=%u records=%lu\n", n, ops, got);
	return 0;
}
