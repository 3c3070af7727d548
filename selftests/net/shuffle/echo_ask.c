// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Questions for echoes that are not as they should be, and what comes back.
 *
 *	echo_ask to=10.77.0.1 [what=plain] [count=100] [size=64] [sport=800] [gap_us=0]
 *
 * what: plain; short (a short answer is asked for); two (questions in one datagram); behind (bytes
 * follow the question); reply (an answer nobody has asked for); rank, port, time (fields that must
 * be zero); nonce (none); flips (up to four bits of the datagram are wrong).
 *
 * One line: "sent N BYTES answers N BYTES bad N"; bad answers are larger than the question, have
 * another nonce or number, times that go backwards, or padding that is not zero.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "shtest.h"
#include "wire.h"

#define UDP_PORT	818
#define NONCE		0x567890abcdefULL
#define MOST		65507U

static const char *to = "10.77.0.1", *what = "plain";
static unsigned int count = 100, size = 64, sport = 800, gap_us;
static unsigned long sent, sent_bytes, answers, answer_bytes, bad;
static u8 buf[MOST + 1];

static bool is(const char *name)
{
	return !strcmp(what, name);
}

static size_t build(u64 seq)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_ECHO, .op_id = seq, .nonce = is("nonce") ? 0 : NONCE,
		.payload = (u16)(size - SHUFFLE_WIRE_ECHO_HDR),
		.flags = is("short") ? SHUFFLE_FLAG_SHORT : is("reply") ? SHUFFLE_FLAG_REPLY : 0,
		.src_rank = is("rank"), .dst_port = is("port"), .echo.tx_ns = is("time"),
	};
	unsigned int i;

	memset(buf, 0x77, sizeof(buf));
	shuffle_wire_build(buf, &w);
	if (is("two")) {
		w.op_id++;
		memmove(buf + size, buf, size);
		shuffle_wire_build(buf + size, &w);
		return 2UL * size;
	}
	if (is("flips"))
		for (i = (unsigned int)rand() % 5; i; i--)
			buf[(unsigned int)rand() % size] ^= (u8)(1 << rand() % 8);
	return size + (is("behind") ? 1 : 0);
}

static void check(size_t len)
{
	struct shuffle_wire w;
	int hdr = shuffle_wire_parse(buf, len < SHUFFLE_WIRE_MAX_HDR ? len : SHUFFLE_WIRE_MAX_HDR,
				     len, &w);
	bool fine = hdr > 0 && w.type == SHUFFLE_ECHO && w.flags & SHUFFLE_FLAG_REPLY &&
		    len == (size_t)hdr + w.payload && len <= size && w.echo.tx_ns >= w.echo.rx_ns;
	size_t i;

	answers++;
	answer_bytes += len;
	if (fine && !is("flips"))
		fine = w.nonce == NONCE && w.op_id < count;
	for (i = SHUFFLE_WIRE_ECHO_HDR; fine && i < len; i++)
		fine = !buf[i];
	bad += !fine;
}

static void receive(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	while (poll(&p, 1, ms) > 0) {
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n >= 0)
			check((size_t)n);
	}
}

static int open_socket(void)
{
	union {
		struct sockaddr_in	v4;
		struct sockaddr_in6	v6;
	} a = { 0 };
	int family = strchr(to, ':') ? AF_INET6 : AF_INET, fd, room = 8 << 20;
	socklen_t len = family == AF_INET ? sizeof(a.v4) : sizeof(a.v6);

	fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	a.v4.sin_family = family;
	a.v4.sin_port = htons(sport);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len))
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	a.v4.sin_port = htons(UDP_PORT);
	if (inet_pton(family, to, family == AF_INET ? (void *)&a.v4.sin_addr :
						      (void *)&a.v6.sin6_addr) != 1)
		return -1;
	return connect(fd, (struct sockaddr *)&a, len) ? -1 : fd;
}

int main(int argc, char **argv)
{
	unsigned int i;
	size_t len;
	int fd;

	for (i = 1; i < (unsigned int)argc; i++) {
		if (!strncmp(argv[i], "to=", 3)) {
			to = argv[i] + 3;
		} else if (!strncmp(argv[i], "what=", 5)) {
			what = argv[i] + 5;
		} else if (sscanf(argv[i], "count=%u", &count) != 1 &&
			 sscanf(argv[i], "size=%u", &size) != 1 &&
			 sscanf(argv[i], "sport=%u", &sport) != 1 &&
			 sscanf(argv[i], "gap_us=%u", &gap_us) != 1) {
			fprintf(stderr, "echo_ask: %s?\n", argv[i]);
			return 2;
		}
	}
	if (size < SHUFFLE_WIRE_ECHO_HDR || size > MOST / 2) {
		fprintf(stderr, "echo_ask: size=%u\n", size);
		return 2;
	}
	fd = open_socket();
	if (fd < 0) {
		perror("echo_ask");
		return 1;
	}
	srand(1);
	for (i = 0; i < count; i++) {
		len = build(i);
		if (send(fd, buf, len, 0) == (ssize_t)len) {
			sent++;
			sent_bytes += len;
		}
		receive(fd, 0);
		if (gap_us)
			usleep(gap_us);
	}
	receive(fd, 300);
	printf("sent %lu %lu answers %lu %lu bad %lu\n", sent, sent_bytes, answers, answer_bytes,
	       bad);
	return 0;
}
