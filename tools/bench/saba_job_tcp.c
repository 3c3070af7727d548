// SPDX-License-Identifier: GPL-2.0-or-later
/* Workloads over TCP: a connection for each ordered pair of hosts, all messages at once. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"
#include "saba_job.h"

#define PORT	5101
#define SCRATCH	(1U << 18)

struct conn {
	int fd;
	unsigned int peer;
	bool out;
	uint64_t left;
};

static struct conn *conns;
static unsigned int conn_count;
static int epfd, listener;
static char scratch[SCRATCH];

static struct sockaddr_in address(unsigned int host)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(bench_opt.port ? bench_opt.port : PORT),
		.sin_addr.s_addr = htonl(bench_addr(host)),
	};
}

static void add(int fd, unsigned int peer, bool out)
{
	struct conn *c = &conns[conn_count++];
	struct epoll_event ev = { .events = EPOLLET | (out ? EPOLLOUT : EPOLLIN), .data.ptr = c };
	int one = 1;

	*c = (struct conn){ .fd = fd, .peer = peer, .out = out };
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev))
		bench_die("epoll_ctl: %s", strerror(errno));
}

static void tcp_listen(void)
{
	struct sockaddr_in self = address(bench_self);
	int one = 1;

	conns = calloc(2 * bench_hosts, sizeof(*conns));
	epfd = epoll_create1(EPOLL_CLOEXEC);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!conns || epfd < 0 || bind(listener, (void *)&self, sizeof(self)) ||
	    listen(listener, 2 * bench_hosts))
		bench_die("host %u: listen: %s", bench_self, strerror(errno));
}

/* The kernel takes connections before accept(), so that nobody waits for somebody who waits. */
static void tcp_open(void)
{
	unsigned int i, peer;
	socklen_t len;
	int fd;

	for (i = 1; i < bench_hosts; i++) {
		struct sockaddr_in to;

		peer = (bench_self + i) % bench_hosts;
		to = address(peer);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		job_connection(peer, fd);
		if (fd < 0 || connect(fd, (void *)&to, sizeof(to)))
			bench_die("host %u: connect: %s", bench_self, strerror(errno));
		add(fd, peer, true);
	}
	for (i = 1; i < bench_hosts; i++) {
		struct sockaddr_in from;

		len = sizeof(from);
		fd = accept4(listener, (void *)&from, &len, SOCK_CLOEXEC);
		peer = fd < 0 ? bench_hosts : ntohl(from.sin_addr.s_addr) - bench_addr(0);
		if (peer >= bench_hosts)
			bench_die("host %u: accept: %s", bench_self, strerror(errno));
		/* acknowledgements wait in the queue of the application too */
		job_connection(peer, fd);
		add(fd, peer, false);
	}
}

/* Returns true when all of this connection is sent or received. */
static bool go_on(struct conn *c)
{
	ssize_t n;

	while (c->left) {
		size_t most = c->left < SCRATCH ? c->left : SCRATCH;

		n = c->out ? send(c->fd, scratch, most, MSG_NOSIGNAL | MSG_DONTWAIT) :
			     recv(c->fd, scratch, most, MSG_TRUNC | MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n <= 0)
			bench_die("host %u: %s host %u: %s", bench_self, c->out ? "to" : "from",
				  c->peer, n ? strerror(errno) : "it has closed");
		c->left -= n;
	}
	return true;
}

static void tcp_exchange(unsigned int stage, uint64_t bytes)
{
	struct epoll_event ev[128];
	unsigned int i, open = 0;
	int n;

	(void)stage;
	for (i = 0; i < conn_count; i++) {
		conns[i].left = bytes;
		open += !go_on(&conns[i]);
	}
	while (open) {
		n = epoll_wait(epfd, ev, 128, -1);
		for (i = 0; n > 0 && i < (unsigned int)n; i++) {
			struct conn *c = ev[i].data.ptr;

			if (c->left)
				open -= go_on(c);
		}
	}
}

const struct job_transport job_tcp = { tcp_listen, tcp_open, tcp_exchange };
