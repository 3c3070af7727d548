// SPDX-License-Identifier: BSD-3-Clause
/* What applications need of shuffle-sabad, see saba_client.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <linux/shuffle.h>

#include "saba_client.h"

#define RECORD	8192
#define MOST	65536	/* connections */

struct conn {
	unsigned int	id;		/* of the daemon, 0 if the place is free */
	int		fd;
	char		to[INET6_ADDRSTRLEN];
};

struct saba {
	int		fd;		/* -1 while there is no daemon */
	int		level;
	int		dscp;
	char		path[108];
	char		app[64];
	char		why[256];	/* the last "error" */
	unsigned int	id;		/* the last conn= */
	struct conn	*conn;
	int		conns;
};

/**
 * saba_open() - connect to the daemon
 * @path: its socket; NULL for $SHUFFLE_SABA_SOCKET or SABA_SOCKET
 *
 * Return: a socket, or -errno.
 */
int saba_open(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = 10 };
	int fd, err;

	if (!path)
		path = getenv("SHUFFLE_SABA_SOCKET");
	if (!path)
		path = SABA_SOCKET;
	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	strcpy(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit))) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

/**
 * saba_request() - ask the daemon
 * @fd: of saba_open()
 * @text: the request
 * @line: called for each record of the answer, events too; the last one begins with
 *	"ok" or "error"
 * @arg: for @line
 *
 * Return: 0 for "ok", -EPROTO for "error", or another -errno: the daemon has gone.
 */
int saba_request(int fd, const char *text, int (*line)(char *text, void *arg), void *arg)
{
	char record[RECORD];
	bool ok, error;
	ssize_t n;

	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		return -errno;
	for (;;) {
		n = recv(fd, record, sizeof(record) - 1, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EPIPE;
		record[n] = '\0';
		/* first: whoever is called may take the record apart */
		ok = !strncmp(record, "ok", 2);
		error = !strncmp(record, "error ", 6);
		line(record, arg);
		if (ok || error)
			return ok ? 0 : -EPROTO;
	}
}

/**
 * saba_mark() - have a socket's packets carry a DSCP
 * @fd: an IPv4, IPv6 or AF_SHUFFLE socket
 * @dscp: 0 to 63
 *
 * Return: 0 or -errno.
 */
int saba_mark(int fd, int dscp)
{
	int tos = dscp << 2, family, idle_ms;
	socklen_t len = sizeof(family), idle_len = sizeof(idle_ms);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len))
		return -errno;
	/* level 0 means something else to other families */
	if (family != AF_INET && family != AF_INET6 &&
	    getsockopt(fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle_ms, &idle_len))
		return -EAFNOSUPPORT;
	/* an IPv6 socket may talk IPv4; the number of AF_SHUFFLE is not always the same */
	if (setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos)) && family != AF_INET6)
		return family == AF_INET ? -errno : -EAFNOSUPPORT;
	if (family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos)))
		return -errno;
	return 0;
}

static int on_line(char *text, void *arg)
{
	struct saba *s = arg;
	int level, dscp, i;

	sscanf(text, "ok conn=%u", &s->id);
	if (!strncmp(text, "error ", 6))
		snprintf(s->why, sizeof(s->why), "%s", text + 6);
	if (sscanf(text, "ok level=%d dscp=%d", &level, &dscp) != 2 &&
	    sscanf(text, "event level=%d dscp=%d", &level, &dscp) != 2)
		return 0;
	s->level = level;
	s->dscp = dscp;
	for (i = 0; i < s->conns; i++)
		if (s->conn[i].id && s->conn[i].fd >= 0)
			saba_mark(s->conn[i].fd, dscp);
	return 0;
}

static int announce(struct saba *s, struct conn *c)
{
	char text[80];
	int err;

	snprintf(text, sizeof(text), "connect %s", c->to);
	err = saba_request(s->fd, text, on_line, s);
	if (!err)
		c->id = s->id;
	return err;
}

/* Register, and say which connections there are: also to a daemon that came later. */
static int join(struct saba *s)
{
	char text[80];
	int err, i;

	s->fd = saba_open(s->path);
	if (s->fd < 0)
		return s->fd;
	snprintf(text, sizeof(text), "register %s", s->app);
	err = saba_request(s->fd, text, on_line, s);
	for (i = 0; i < s->conns && !err; i++)
		if (s->conn[i].id)
			err = announce(s, &s->conn[i]);
	if (err) {
		close(s->fd);
		s->fd = -1;
	}
	return err;
}

/**
 * saba_app_register() - register the process as an application
 * @path: socket of the daemon, NULL for $SHUFFLE_SABA_SOCKET or SABA_SOCKET
 * @app: name of its profile
 * @why: set to what is wrong, a sentence; or NULL
 * @size: of @why
 *
 * Return: a handle, or NULL with errno set: EPROTO if the daemon has refused.
 */
struct saba *saba_app_register(const char *path, const char *app, char *why, size_t size)
{
	struct saba *s = calloc(1, sizeof(*s));
	int err;

	if (!s) {
		errno = ENOMEM;
		return NULL;
	}
	if (!path)
		path = getenv("SHUFFLE_SABA_SOCKET");
	if (!path)
		path = SABA_SOCKET;
	if (strlen(path) >= sizeof(s->path) || strlen(app) >= sizeof(s->app)) {
		err = -ENAMETOOLONG;
	} else {
		strcpy(s->path, path);
		strcpy(s->app, app);
		err = join(s);
	}
	if (!err)
		return s;
	if (why)
		snprintf(why, size, "%s", err == -EPROTO ? s->why : strerror(-err));
	free(s);
	errno = -err;
	return NULL;
}

/**
 * saba_level() - priority level of the application
 * @s: handle
 *
 * Return: 1 to 15.
 */
int saba_level(const struct saba *s)
{
	return s->level;
}

/**
 * saba_dscp() - what its packets carry
 * @s: handle
 *
 * Return: 33 to 47.
 */
int saba_dscp(const struct saba *s)
{
	return s->dscp;
}

/**
 * saba_fd() - for poll(): readable when there is something for saba_poll()
 * @s: handle
 *
 * Return: a socket, -1 while there is no daemon.
 */
int saba_fd(const struct saba *s)
{
	return s->fd;
}

/**
 * saba_poll() - take note of another level, and find a daemon that has restarted
 * @s: handle
 *
 * Sockets of connections are marked again if the level has changed.  Does not wait.
 *
 * Return: 0, or -errno while there is no daemon: packets go on with the last mark.
 */
int saba_poll(struct saba *s)
{
	char record[RECORD];
	ssize_t n;

	while (s->fd >= 0) {
		n = recv(s->fd, record, sizeof(record) - 1, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			close(s->fd);
			s->fd = -1;
			break;
		}
		record[n] = '\0';
		on_line(record, s);
	}
	return join(s);
}

/**
 * saba_conn_create() - a new connection
 * @s: handle
 * @to: where it goes, NULL for anywhere
 * @fd: its socket, which is marked here and whenever the level changes; -1 for none.
 *	It must be open until saba_conn_destroy().
 *
 * Without a daemon the connection is told to the next one.
 *
 * Return: number of the connection, or -errno: -EAFNOSUPPORT if @to is no IP address,
 * -ENOSPC if there are too many, -EPROTO if the daemon has refused.
 */
int saba_conn_create(struct saba *s, const struct sockaddr *to, int fd)
{
	struct conn *c, *more;
	int i, err;

	for (i = 0; i < s->conns && s->conn[i].id; i++)
		;
	if (i == MOST)
		return -ENOSPC;
	if (i == s->conns) {
		more = realloc(s->conn, (i + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->conn = more;
		s->conn[s->conns++].id = 0;
	}
	c = &s->conn[i];
	c->fd = fd;
	strcpy(c->to, "any");
	if (to && to->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)to)->sin_addr, c->to,
			  sizeof(c->to));
	else if (to && to->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)to)->sin6_addr, c->to,
			  sizeof(c->to));
	else if (to)
		return -EAFNOSUPPORT;
	saba_poll(s);
	err = s->fd < 0 ? 0 : announce(s, c);
	if (err == -EPROTO)
		return err;
	if (!c->id)
		c->id = 1;	/* told to the next daemon */
	if (fd >= 0)
		err = saba_mark(fd, s->dscp);
	if (fd >= 0 && err) {
		saba_conn_destroy(s, i);
		return err;
	}
	return i;
}

/**
 * saba_conn_destroy() - a connection has ended
 * @s: handle
 * @conn: of saba_conn_create()
 *
 * Return: 0, or -EINVAL if there is no such connection.
 */
int saba_conn_destroy(struct saba *s, int conn)
{
	char text[40];

	if (conn < 0 || conn >= s->conns || !s->conn[conn].id)
		return -EINVAL;
	saba_poll(s);
	snprintf(text, sizeof(text), "disconnect %u", s->conn[conn].id);
	s->conn[conn].id = 0;
	if (s->fd >= 0)
		saba_request(s->fd, text, on_line, s);
	return 0;
}

/**
 * saba_app_deregister() - the application has no more to send
 * @s: handle, which is gone afterwards
 */
void saba_app_deregister(struct saba *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->conn);
	free(s);
}
