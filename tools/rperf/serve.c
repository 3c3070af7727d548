// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle-rperf serve: the other side of measurements on hosts that have no group in common.
 *
 * It is a member of a group with the hosts that may ask, so the kernel answers their echoes; the
 * program has no part in that.  And it takes what flows send.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rperf.h"
#include "shuffle.h"

#define MAX_PEERS	1024
#define MAX_ROW		(1U << 30)	/* bytes */

static const char usage[] =
	"usage: shuffle-rperf serve [--port PORT] HOST...\n"
	"\n"
	"Let HOSTs measure the way to this host: until it is stopped, the kernel answers their\n"
	"echoes, and their flows find somebody who takes what they send.\n"
	"\n"
	"  --port PORT  TCP port for flows (8180)\n"
	"  --help       this text\n";

static struct sockaddr_shuffle peer[MAX_PEERS + 1];
static unsigned int peers = 1;		/* the first is this host */

static void member_of(struct sockaddr_shuffle *m, const struct sockaddr *a, socklen_t len)
{
	char ip[INET6_ADDRSTRLEN];

	if (getnameinfo(a, len, ip, sizeof(ip), NULL, 0, NI_NUMERICHOST) ||
	    shuffle_addr(m, ip, 0))
		die("an address that no member can have");
}

/* The host, and the address of this one that its packets go to. */
static void add_peer(const char *name)
{
	struct addrinfo want = { .ai_socktype = SOCK_DGRAM }, *list;
	struct sockaddr_storage own;
	socklen_t len = sizeof(own);
	struct sockaddr_shuffle self;
	int err, fd;

	if (peers > MAX_PEERS)
		die("more than %d hosts", MAX_PEERS);
	err = getaddrinfo(name, "9", &want, &list);
	if (err)
		die("%s: %s", name, gai_strerror(err));
	fd = socket(list->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, list->ai_addr, list->ai_addrlen) ||
	    getsockname(fd, (struct sockaddr *)&own, &len))
		die("%s: %s", name, strerror(errno));
	close(fd);
	member_of(&self, (struct sockaddr *)&own, len);
	member_of(&peer[peers], list->ai_addr, list->ai_addrlen);
	freeaddrinfo(list);
	if (peers > 1 && (self.shs_ip_family != peer[0].shs_ip_family ||
			  memcmp(self.shs_addr, peer[0].shs_addr, sizeof(self.shs_addr))))
		die("%s is reached from another address of this host than the first host; start "
		    "one more \"serve\" for it", name);
	peer[0] = self;
	/* nobody is there: the group is for its addresses only */
	peer[peers++].shs_port = htons(1);
}

static bool allowed(const struct sockaddr_shuffle *m)
{
	unsigned int i;

	for (i = 0; i < peers; i++)
		if (m->shs_ip_family == peer[i].shs_ip_family &&
		    !memcmp(m->shs_addr, peer[i].shs_addr, sizeof(m->shs_addr)))
			return true;
	return false;
}

static void sink(int fd)
{
	char buf[1 << 16];

	while (read(fd, buf, sizeof(buf)) > 0)
		;
}

/* The rows end with the connection. */
static void *until_closed(void *arg)
{
	sink(*(int *)arg);
	_exit(0);
}

static void rows(int fd, struct sockaddr_shuffle *m, unsigned int len, unsigned int port)
{
	uint64_t bytes = 0;
	pthread_t thread;
	char line[16];
	int sock, n;

	m[0].shs_port = htons(port);
	sock = shuffle_bind(&m[1], SOCK_CLOEXEC);
	if (sock < 0 || shuffle_join(sock, m, 2, 1))
		return;
	n = snprintf(line, sizeof(line), "%u\n", ntohs(m[1].shs_port));
	if (write(fd, line, n) != n || pthread_create(&thread, NULL, until_closed, &fd))
		return;
	serve_rows(sock, 1, len, &bytes);
}

static void serve_one(int fd, const struct sockaddr_storage *from, socklen_t len)
{
	struct sockaddr_shuffle m[2];
	struct sockaddr_storage own;
	socklen_t own_len = sizeof(own);
	unsigned int size, port;
	char line[64];
	size_t n = 0;

	member_of(&m[0], (const struct sockaddr *)from, len);
	if (!allowed(&m[0]) || getsockname(fd, (struct sockaddr *)&own, &own_len))
		return;
	member_of(&m[1], (struct sockaddr *)&own, own_len);
	while (n < sizeof(line) - 1 && read(fd, line + n, 1) == 1 && line[n] != '\n')
		n++;
	line[n] = 0;
	if (!strcmp(line, "tcp"))
		sink(fd);
	else if (sscanf(line, "rows %u %u", &size, &port) == 2 && size && size <= MAX_ROW &&
		 port <= 65535)
		rows(fd, m, size, port);
}

static int listen_on(int family, unsigned int port)
{
	union {
		struct sockaddr_in	v4;
		struct sockaddr_in6	v6;
	} a = { 0 };
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	/* the port is at the same place in both families */
	a.v4.sin_family = family;
	a.v4.sin_port = htons(port);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&a, family == AF_INET ? sizeof(a.v4) : sizeof(a.v6)) ||
	    listen(fd, 128))
		die("TCP port %u: %s", port, strerror(errno));
	return fd;
}

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

/**
 * serve() - the command "serve"
 * @argc: words behind it
 * @argv: likewise
 *
 * Return: exit status.
 */
int serve(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = stop };
	unsigned int port = CONTROL_PORT;
	struct sockaddr_storage from;
	socklen_t len;
	int fd, sock, conn, i;

	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--help")) {
			fputs(usage, stdout);
			return 0;
		}
		if (!strcmp(argv[i], "--port") && i + 1 < argc)
			port = option_whole("port", argv[++i], 1, 65535);
		else if (argv[i][0] == '-')
			die("serve: %s means nothing; --help tells more", argv[i]);
		else
			add_peer(argv[i]);
	}
	if (peers == 1)
		die("serve: who may ask?  --help tells more");
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	signal(SIGCHLD, SIG_IGN);
	sock = shuffle_bind(&peer[0], SOCK_CLOEXEC);
	if (sock < 0 || shuffle_join(sock, peer, peers, 0))
		die("AF_SHUFFLE socket: %s", strerror(errno));
	fd = listen_on(peer[0].shs_ip_family, port);
	printf("serving %u hosts\n", peers - 1);
	fflush(stdout);
	while (!stopped) {
		len = sizeof(from);
		conn = accept(fd, (struct sockaddr *)&from, &len);
		if (conn < 0)
			continue;
		if (!fork()) {
			signal(SIGTERM, SIG_DFL);
			signal(SIGINT, SIG_DFL);
			close(fd);
			serve_one(conn, &from, len);
			_exit(0);
		}
		close(conn);
	}
	return 0;
}
