// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bandwidth-intensive flows beside the questions.  "shuffle-rperf serve" on the other host takes
 * what they send.
 *
 * A flow begins with a line over TCP: "tcp", and all that follows is data; or "rows LENGTH PORT",
 * which the other side answers with the port of its socket, and then the two are a group.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/tcp.h>

#include "rperf.h"
#include "shuffle.h"

static int fail(struct flow *f, const char *what)
{
	snprintf(f->error, sizeof(f->error), "%s: %s", what, strerror(errno));
	return -1;
}

static int dial(struct flow *f)
{
	struct addrinfo want = { .ai_socktype = SOCK_STREAM }, *list;
	char service[12];
	int tos = f->dscp << 2, err;

	snprintf(service, sizeof(service), "%u", f->port);
	err = getaddrinfo(f->to, service, &want, &list);
	if (err) {
		snprintf(f->error, sizeof(f->error), "%s: %s", f->to, gai_strerror(err));
		return -1;
	}
	f->fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (f->fd < 0 || (list->ai_family == AF_INET ?
	    setsockopt(f->fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos)) :
	    setsockopt(f->fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos))))
		err = fail(f, "socket");
	else if (connect(f->fd, list->ai_addr, list->ai_addrlen))
		err = fail(f, "no \"shuffle-rperf serve\" there");
	freeaddrinfo(list);
	return err;
}

static int own_member(int fd, bool peer, struct sockaddr_shuffle *m)
{
	struct sockaddr_storage a;
	socklen_t len = sizeof(a);
	char ip[INET6_ADDRSTRLEN];

	if (peer ? getpeername(fd, (struct sockaddr *)&a, &len) :
		   getsockname(fd, (struct sockaddr *)&a, &len))
		return -1;
	if (getnameinfo((struct sockaddr *)&a, len, ip, sizeof(ip), NULL, 0, NI_NUMERICHOST))
		return -1;
	return shuffle_addr(m, ip, 0);
}

/* The socket and the group; the other side does the same. */
static int open_rows(struct flow *f)
{
	struct sockaddr_shuffle m[2];
	char line[64];
	unsigned int port;
	ssize_t n;

	if (own_member(f->fd, false, &m[0]) || own_member(f->fd, true, &m[1]))
		return fail(f, "addresses");
	f->sock = shuffle_bind(&m[0], SOCK_CLOEXEC);
	if (f->sock < 0)
		return fail(f, "AF_SHUFFLE socket");
	n = snprintf(line, sizeof(line), "rows %u %u\n", f->size, ntohs(m[0].shs_port));
	if (write(f->fd, line, n) != n)
		return fail(f, "control connection");
	n = read(f->fd, line, sizeof(line) - 1);
	if (n <= 0)
		return fail(f, "control connection");
	line[n] = 0;
	if (sscanf(line, "%u", &port) != 1 || port > 65535) {
		errno = EPROTO;
		return fail(f, "control connection");
	}
	m[1].shs_port = htons(port);
	if (shuffle_join(f->sock, m, 2, 0))
		return fail(f, "group");
	return 0;
}

static void run_tcp(struct flow *f)
{
	char *buf = memory(1, f->size);
	struct tcp_info info;
	socklen_t len = sizeof(info);
	int bad = write(f->fd, "tcp\n", 4) != 4;

	while (!bad && !stopped)
		bad = write(f->fd, buf, f->size) < 0;
	if (bad && !stopped)
		fail(f, "TCP");
	if (!getsockopt(f->fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		f->bytes = info.tcpi_bytes_acked;
	free(buf);
}

static void *run(void *arg)
{
	struct flow *f = arg;
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);

	if (!f->shuffle)
		run_tcp(f);
	else if (serve_rows(f->sock, 0, f->size, &f->bytes) && !stopped)
		fail(f, "rows");
	f->took_ns = clock_ns(CLOCK_MONOTONIC) - begin;
	return NULL;
}

/**
 * flows_start() - begin to send
 * @job: the command line
 */
void flows_start(struct job *job)
{
	unsigned int k;
	int ns, err;

	for (k = 0; k < job->flows; k++) {
		struct flow *f = &job->flow[k];

		f->sock = -1;
		ns = enter_netns(f->from);
		err = dial(f);
		if (!err && f->shuffle)
			err = open_rows(f);
		leave_netns(ns);
		if (err)
			die("flow to %s: %s", f->to, f->error);
		if (pthread_create(&f->thread, NULL, run, f))
			die("cannot start a thread");
	}
}

/**
 * flows_stop() - stop sending, and find out what has arrived
 * @job: the command line
 */
void flows_stop(struct job *job)
{
	unsigned int k;

	stopped = 1;
	for (k = 0; k < job->flows; k++) {
		/* who waits in a system call is woken up */
		if (!job->flow[k].shuffle)
			shutdown(job->flow[k].fd, SHUT_RD);
		pthread_join(job->flow[k].thread, NULL);
		close(job->flow[k].fd);
		if (job->flow[k].sock >= 0)
			close(job->flow[k].sock);
	}
}
