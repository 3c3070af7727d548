// SPDX-License-Identifier: GPL-2.0-or-later
/* The Prometheus endpoint of a member. */
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "metrics.h"

/**
 * metric_add() - a value of an answer
 * @m: the answer
 * @name: of the value, behind "shuffle_stream_"
 * @type: gauge or counter
 * @help: what it is
 * @value: it
 */
void metric_add(struct metrics *m, const char *name, const char *type, const char *help,
		double value)
{
	int n = snprintf(m->text + m->len, sizeof(m->text) - m->len,
			 "# HELP shuffle_stream_%s %s\n# TYPE shuffle_stream_%s %s\n"
			 "shuffle_stream_%s{%s} %.17g\n", name, help, name, type, name, m->labels,
			 value);

	if (n > 0 && (size_t)n < sizeof(m->text) - m->len)
		m->len += (size_t)n;
}

/**
 * metrics_listen() - open the endpoint
 * @where: ADDRESS:PORT; the program ends if that cannot be
 *
 * Return: a socket.
 */
int metrics_listen(const char *where)
{
	struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_STREAM }, *ai;
	char host[80], *port, *from = host;
	int fd, one = 1;

	snprintf(host, sizeof(host), "%s", where);
	port = strrchr(host, ':');
	if (!port)
		die("--metrics %s: ADDRESS:PORT is expected", where);
	*port++ = '\0';
	if (host[0] == '[' && port - host > 2 && port[-2] == ']') {
		port[-2] = '\0';
		from++;
	}
	if (getaddrinfo(from, port, &hints, &ai))
		die("--metrics %s: ADDRESS:PORT is expected", where);
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 8))
		die("--metrics %s: %s", where, strerror(errno));
	freeaddrinfo(ai);
	return fd;
}

/**
 * metrics_serve() - answer one connection
 * @fd: of metrics_listen(), readable
 * @m: the answer
 *
 * Whatever is asked, the answer is the same, and nothing is waited for: it fits the socket's
 * buffer.
 */
void metrics_serve(int fd, struct metrics *m)
{
	int c = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	char head[160], drop[1024];
	int n;

	if (c < 0)
		return;
	n = snprintf(head, sizeof(head), "HTTP/1.0 200 OK\r\nContent-Type: text/plain; "
		     "version=0.0.4\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", m->len);
	/* unread data would turn the end of the connection into a reset */
	(void)!read(c, drop, sizeof(drop));
	if (send(c, head, (size_t)n, MSG_NOSIGNAL) == n)
		send(c, m->text, m->len, MSG_NOSIGNAL);
	shutdown(c, SHUT_WR);
	(void)!read(c, drop, sizeof(drop));
	close(c);
}
