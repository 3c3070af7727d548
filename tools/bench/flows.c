// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Competition: one TCP flow from each host to the next, during the rounds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define PORT	5017
#define BLOCK	(1U << 16)

static char block[BLOCK];
static pid_t pids[2 * BENCH_MAX_HOSTS];

static struct sockaddr_in address(unsigned int host)
{
	return (struct sockaddr_in) {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(bench_addr(host)),
	};
}

static int sink_listen(unsigned int host)
{
	struct sockaddr_in sin = address(host);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (void *)&sin, sizeof(sin)) || listen(fd, 8))
		bench_die("flow: listen: %s", strerror(errno));
	return fd;
}

static void sink(unsigned int host, int listener)
{
	int fd = accept(listener, NULL, NULL);

	for (;;) {
		/* MSG_TRUNC: the data is of no interest. */
		ssize_t n = recv(fd, block, BLOCK, MSG_TRUNC);

		if (n <= 0)
			bench_die("flow: recv: %s", strerror(errno));
		bench->host[host].flow_bytes += n;
	}
}

static void source(unsigned int host)
{
	struct sockaddr_in sin = address((host + 1) % bench_hosts);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (void *)&sin, sizeof(sin)))
		bench_die("flow: connect: %s", strerror(errno));
	for (;;) {
		if (bench_now() >= bench->flow_until_ns)
			bench_sleep_until(bench_now() + NS_PER_MS);
		else if (send(fd, block, BLOCK, MSG_NOSIGNAL) < 0)
			bench_die("flow: send: %s", strerror(errno));
	}
}

static void start(unsigned int host, bool sends)
{
	pid_t pid = fork();

	if (pid < 0)
		bench_die("fork: %s", strerror(errno));
	if (!pid) {
		bench_enter(host);
		if (sends) {
			/* the sinks are there by then */
			bench_sleep_until(bench_now() + 10 * NS_PER_MS);
			source(host);
		}
		sink(host, sink_listen(host));
	}
	pids[2 * host + sends] = pid;
}

void bench_flows_start(void)
{
	unsigned int i;

	for (i = 0; i < bench_hosts; i++) {
		start(i, false);
		start(i, true);
	}
}

uint64_t bench_flows_bytes(void)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < bench_hosts; i++)
		sum += bench->host[i].flow_bytes;
	return sum;
}

void bench_flows_end(void)
{
	unsigned int i;

	for (i = 0; i < 2 * bench_hosts; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}
