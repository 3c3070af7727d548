// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The incumbent of time-slice building: what one would write over TCP.  A connection for each pair
 * of input and builder, sixteen tickets a pair; an input sends whenever there is a ticket and room
 * in the socket, a builder gives tickets back when a time-slice is whole.  Times to leave there are
 * none.
 *
 * In front of a piece is a descriptor of 20 bytes; a ticket is a number of 8 bytes: how many
 * time-slices the builder has released.  Logs are those of shuffle-stream --json.
 *
 * usage: stream_tcp input|builder MEMBERS RANK SLICES INTERVALS PIECE TICKETS LOG
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "builder_run.h"

#define DESCRIPTOR	20
#define SCRATCH		(1U << 20)
#define MOST		1000

/* One end of a pair; rounds are the time-slices of its builder. */
struct pair {
	int fd;
	u64 begun;		/* pieces */
	u64 released;		/* input: time-slices for which the tickets are back */
	u32 left;		/* bytes of the piece that is under way, with descriptor */
	u8 descriptor[DESCRIPTOR];	/* input: of that piece */
	u8 in[DESCRIPTOR];	/* descriptor, ticket: what there is of it */
	u32 have;
};

/* A time-slice that is being built */
struct slice {
	u32 pieces;
	s64 first, last;
};

static struct sockaddr_in input_addr[MOST], builder_addr[MOST];
static u32 inputs, builders, rank, piece, tickets;
static u64 rounds, in_interval;
static struct pair *pairs;
static FILE *log_file;
static char scratch[SCRATCH];
static int epfd;

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "stream_tcp: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(2);
}

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("out of memory");
	return p;
}

static void read_members(const char *name)
{
	FILE *f = fopen(name, "r");
	char kind[16], ip[32];
	unsigned int port;

	while (f && fscanf(f, "%15s %31[0-9.]:%u", kind, ip, &port) == 3) {
		struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };

		if (inet_pton(AF_INET, ip, &a.sin_addr) != 1 || inputs == MOST || builders == MOST)
			die("%s: %s", name, ip);
		if (*kind == 'i')
			input_addr[inputs++] = a;
		else
			builder_addr[builders++] = a;
	}
	if (!inputs || !builders)
		die("%s: no members", name);
}

static void watch(struct pair *p, u32 events)
{
	struct epoll_event ev = { .events = events | EPOLLET, .data.ptr = p };
	int one = 1;

	setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, p->fd, &ev))
		die("epoll_ctl: %s", strerror(errno));
}

/* Something small, perhaps only a part of it.  False: the rest has not come. */
static bool receive_small(struct pair *p, u32 len, int flags)
{
	ssize_t n;

	while (p->have < len) {
		n = recv(p->fd, p->in + p->have, len - p->have, flags);
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n <= 0)
			die("%u: connection: %s", rank, n ? strerror(errno) : "closed");
		p->have += (u32)n;
	}
	p->have = 0;
	return true;
}

/* ---- input ---- */

static u64 sent_pieces;

/* Whatever has a ticket, until the socket is full. */
static void send_pieces(struct pair *p)
{
	ssize_t n;

	while (p->left || (p->begun < p->released + tickets && p->begun < rounds)) {
		if (!p->left) {
			p->left = DESCRIPTOR + piece;
			memcpy(p->descriptor, &p->begun, sizeof(p->begun));
			p->begun++;
			sent_pieces++;
		}
		/* a descriptor fits, or a part of it is sent like the piece behind it */
		memcpy(scratch, p->descriptor, DESCRIPTOR);
		n = send(p->fd, scratch + DESCRIPTOR + piece - p->left, p->left,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			die("input %u: send: %s", rank, strerror(errno));
		p->left -= (u32)n;
	}
}

static bool all_released(void)
{
	u32 i;

	for (i = 0; i < builders; i++)
		if (pairs[i].released < rounds)
			return false;
	return true;
}

static void connect_all(void)
{
	u32 i;

	for (i = 0; i < builders; i++) {
		struct pair *p = &pairs[i];

		/* builders may be started later */
		for (;;) {
			p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
			if (p->fd < 0)
				die("socket: %s", strerror(errno));
			if (!connect(p->fd, (void *)&builder_addr[i], sizeof(builder_addr[i])))
				break;
			if (errno != ECONNREFUSED)
				die("builder %u: %s", i, strerror(errno));
			close(p->fd);
			usleep(10000);
		}
		if (send(p->fd, &rank, sizeof(rank), 0) != sizeof(rank))
			die("builder %u: %s", i, strerror(errno));
	}
}

/* How many time-slices a builder has released; the first time, that it is there. */
static bool hear_ticket(struct pair *p, int flags)
{
	/* a builder that has released all closes the connection */
	if (p->released == rounds || !receive_small(p, sizeof(p->released), flags))
		return false;
	memcpy(&p->released, p->in, sizeof(p->released));
	return true;
}

static void input_end(void)
{
	u64 retrans = 0;
	u32 i;

	for (i = 0; i < builders; i++) {
		struct tcp_info info = { 0 };
		socklen_t len = sizeof(info);

		getsockopt(pairs[i].fd, IPPROTO_TCP, TCP_INFO, &info, &len);
		retrans += info.tcpi_bytes_retrans;
	}
	printf("{\"input\": %u, \"end\": true, \"pieces\": %llu, \"retrans\": %llu}\n", rank,
	       (unsigned long long)sent_pieces, (unsigned long long)retrans);
}

static void input(void)
{
	struct epoll_event ev[128];
	int i, n;

	connect_all();
	for (i = 0; i < (int)builders; i++)
		hear_ticket(&pairs[i], 0);
	for (i = 0; i < (int)builders; i++) {
		watch(&pairs[i], EPOLLIN | EPOLLOUT);
		send_pieces(&pairs[i]);
	}
	while (!all_released()) {
		n = epoll_wait(epfd, ev, 128, -1);
		for (i = 0; i < n; i++) {
			while (hear_ticket(ev[i].data.ptr, MSG_DONTWAIT))
				;
			send_pieces(ev[i].data.ptr);
		}
	}
	input_end();
}

/* ---- builder ---- */

static struct slice *building;
static struct histogram gap, fill;
static u64 next_round, held, bytes;
static s64 since;

static void accept_all(void)
{
	int fd, one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	u32 who, i;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (listener < 0 ||
	    bind(listener, (void *)&builder_addr[rank], sizeof(builder_addr[rank])) ||
	    listen(listener, MOST))
		die("builder %u: listen: %s", rank, strerror(errno));
	for (i = 0; i < inputs; i++) {
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0 || recv(fd, &who, sizeof(who), MSG_WAITALL) != sizeof(who) ||
		    who >= inputs || pairs[who].fd)
			die("builder %u: accept: %s", rank, strerror(errno));
		pairs[who].fd = fd;
	}
	close(listener);
}

/* Tickets back to all inputs. */
static void tell(void)
{
	u32 i;

	for (i = 0; i < inputs; i++)
		if (send(pairs[i].fd, &next_round, sizeof(next_round),
			 MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(next_round))
			die("builder %u: ticket: %s", rank, strerror(errno));
}

static void log_interval(void)
{
	s64 now = run_monotonic();

	fprintf(log_file, "{\"builder\": %u, \"interval\": %llu, \"ns\": %lld, \"gbit\": %.4f, "
		"\"gap_p50_ns\": %.0f, \"gap_p95_ns\": %.0f, \"fill_p50\": %.3f, "
		"\"fill_p95\": %.3f}\n", rank, (unsigned long long)(next_round / in_interval - 1),
		(long long)(now - since), (double)bytes * 8 / (double)(now - since),
		histogram_part(&gap, 0.5), histogram_part(&gap, 0.95),
		histogram_part(&fill, 0.5) / 1000, histogram_part(&fill, 0.95) / 1000);
	memset(&gap, 0, sizeof(gap));
	memset(&fill, 0, sizeof(fill));
	bytes = 0;
	since = now;
}

static void release(void)
{
	struct slice *s = &building[next_round % tickets];

	histogram_add(&gap, (u64)(s->last - s->first));
	held -= inputs;
	*s = (struct slice){ 0 };
	next_round++;
	tell();
	if (!(next_round % in_interval))
		log_interval();
}

static void whole(struct pair *p)
{
	struct slice *s = &building[p->begun % tickets];

	s->last = run_monotonic();
	if (!s->pieces++)
		s->first = s->last;
	p->begun++;
	held++;
	bytes += piece;
	histogram_add(&fill, held * 1000 / ((u64)tickets * inputs));
	while (building[next_round % tickets].pieces == inputs)
		release();
}

static void receive_pieces(struct pair *p)
{
	u64 round;
	ssize_t n;

	while (p->begun < rounds) {
		if (!p->left) {
			if (!receive_small(p, DESCRIPTOR, MSG_DONTWAIT))
				return;
			memcpy(&round, p->in, sizeof(round));
			if (round != p->begun || round >= next_round + tickets)
				die("builder %u: time-slice %llu, %llu expected", rank,
				    (unsigned long long)round, (unsigned long long)p->begun);
			p->left = piece;
		}
		/* MSG_TRUNC: nobody looks at the data */
		n = recv(p->fd, scratch, p->left, MSG_TRUNC | MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			die("builder %u: recv: %s", rank, n ? strerror(errno) : "closed");
		p->left -= (u32)n;
		if (!p->left)
			whole(p);
	}
}

static void builder(void)
{
	struct epoll_event ev[128];
	int i, n;

	building = zeroed(tickets, sizeof(*building));
	accept_all();
	for (i = 0; i < (int)inputs; i++)
		watch(&pairs[i], EPOLLIN);
	since = run_monotonic();
	tell();
	while (next_round < rounds) {
		n = epoll_wait(epfd, ev, 128, -1);
		for (i = 0; i < n; i++)
			receive_pieces(ev[i].data.ptr);
	}
	printf("{\"builder\": %u, \"end\": true, \"slices\": %llu}\n", rank,
	       (unsigned long long)next_round);
}

int main(int argc, char **argv)
{
	if (argc != 9) {
		fprintf(stderr, "usage: stream_tcp input|builder MEMBERS RANK SLICES INTERVALS "
			"PIECE TICKETS LOG\n");
		return 2;
	}
	read_members(argv[2]);
	rank = (u32)atoi(argv[3]);
	in_interval = strtoull(argv[4], NULL, 10) / builders;
	rounds = in_interval * strtoull(argv[5], NULL, 10);
	piece = (u32)atoi(argv[6]);
	tickets = (u32)atoi(argv[7]);
	log_file = fopen(argv[8], "w");
	if (!in_interval || !rounds || !piece || piece > SCRATCH - DESCRIPTOR || !tickets ||
	    !log_file)
		die("wrong arguments");
	epfd = epoll_create1(EPOLL_CLOEXEC);
	if (*argv[1] == 'b') {
		pairs = zeroed(inputs, sizeof(*pairs));
		builder();
	} else {
		pairs = zeroed(builders, sizeof(*pairs));
		input();
	}
	return fclose(log_file) ? 1 : 0;
}
