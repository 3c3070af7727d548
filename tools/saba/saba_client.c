// SPDX-License-Identifier: BSD-3-Clause
/* What applications need of shuffle-sabad, see saba_client.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <linux/shuffle.h>

#include "saba_client.h"

#define RECORD	8192
#define MOST	65536	/* connections */

/* A daemon: there are several if each has the ports of some switches. */
struct link {
	int		fd;		/* -1 while it is not there */
	char		path[108];
	int		level;		/* 0 before the first answer */
	int		dscp;
	unsigned int	id;		/* the last conn= */
};

struct conn {
	bool		used;
	int		fd;
	char		to[INET6_ADDRSTRLEN];
	unsigned int	id[SABA_DAEMONS];	/* 0 if that daemon does not know of it */
};

struct saba {
	struct link	link[SABA_DAEMONS];
	int		links;
	int		poller;		/* of all daemons' sockets */
	int		level;
	int		dscp;
	char		app[64];
	char		why[256];	/* the last "error" */
	struct conn	*conn;
	int		conns;
};

/* What a daemon says concerns it alone. */
struct heard {
	struct saba	*s;
	struct link	*from;
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

/* What packets carry is what the first daemon of the list says that has ever answered. */
static void take_level(struct saba *s)
{
	int i, former = s->dscp;

	for (i = 0; i < s->links && !s->link[i].level; i++)
		;
	if (i == s->links)
		return;
	s->level = s->link[i].level;
	s->dscp = s->link[i].dscp;
	for (i = 0; i < s->conns && s->dscp != former; i++)
		if (s->conn[i].used && s->conn[i].fd >= 0)
			saba_mark(s->conn[i].fd, s->dscp);
}

static int on_line(char *text, void *arg)
{
	struct heard *h = arg;
	int level, dscp;

	sscanf(text, "ok conn=%u", &h->from->id);
	if (!strncmp(text, "error ", 6))
		snprintf(h->s->why, sizeof(h->s->why), "%s", text + 6);
	if (sscanf(text, "ok level=%d dscp=%d", &level, &dscp) != 2 &&
	    sscanf(text, "event level=%d dscp=%d", &level, &dscp) != 2)
		return 0;
	h->from->level = level;
	h->from->dscp = dscp;
	take_level(h->s);
	return 0;
}

/* An answer that does not come would be taken for that of the next request. */
static int ask(struct saba *s, struct link *l, const char *text)
{
	struct heard h = { s, l };
	int err = saba_request(l->fd, text, on_line, &h);

	if (err && err != -EPROTO) {
		close(l->fd);
		l->fd = -1;
	}
	return err;
}

static int announce(struct saba *s, struct link *l, struct conn *c)
{
	char text[80];
	int err;

	snprintf(text, sizeof(text), "connect %s", c->to);
	err = ask(s, l, text);
	if (!err)
		c->id[l - s->link] = l->id;
	return err;
}

/* Register, and say which connections there are: also to a daemon that came later. */
static int join(struct saba *s, struct link *l)
{
	struct epoll_event e = { .events = EPOLLIN };
	char text[80];
	int err, i;

	l->fd = saba_open(l->path);
	if (l->fd < 0) {
		err = l->fd;
		l->fd = -1;
		return err;
	}
	snprintf(text, sizeof(text), "register %s", s->app);
	err = epoll_ctl(s->poller, EPOLL_CTL_ADD, l->fd, &e) ? -errno : ask(s, l, text);
	for (i = 0; i < s->conns; i++)
		s->conn[i].id[l - s->link] = 0;
	for (i = 0; i < s->conns && !err; i++)
		if (s->conn[i].used)
			err = announce(s, l, &s->conn[i]);
	if (err && l->fd >= 0) {
		close(l->fd);
		l->fd = -1;
	}
	return err;
}

static int read_paths(struct saba *s, const char *paths)
{
	size_t n;

	if (!paths)
		paths = getenv("SHUFFLE_SABA_SOCKET");
	if (!paths || !*paths)
		paths = SABA_SOCKET;
	for (; *paths; paths += n + (paths[n] == ',')) {
		n = strcspn(paths, ",");
		if (!n)
			continue;
		if (n >= sizeof(s->link->path))
			return -ENAMETOOLONG;
		if (s->links == SABA_DAEMONS)
			return -E2BIG;
		memcpy(s->link[s->links].path, paths, n);
		s->link[s->links++].fd = -1;
	}
	return s->links ? 0 : -EINVAL;
}

/**
 * saba_app_new() - an application that registers as soon as there is a daemon
 * @paths: sockets of the daemons, with commas between them; NULL for $SHUFFLE_SABA_SOCKET or
 *	SABA_SOCKET
 * @app: name of its profile
 *
 * saba_poll() registers it.
 *
 * Return: a handle, or NULL with errno set: ENAMETOOLONG, E2BIG for more than SABA_DAEMONS paths.
 */
struct saba *saba_app_new(const char *paths, const char *app)
{
	struct saba *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return NULL;
	s->poller = epoll_create1(EPOLL_CLOEXEC);
	err = s->poller < 0 ? -errno : read_paths(s, paths);
	if (!err && strlen(app) >= sizeof(s->app))
		err = -ENAMETOOLONG;
	if (!err) {
		strcpy(s->app, app);
		return s;
	}
	saba_app_deregister(s);
	errno = -err;
	return NULL;
}

/**
 * saba_app_register() - register the process as an application
 * @paths: sockets of the daemons, as for saba_app_new(); one of them has to be there
 * @app: name of its profile
 * @why: set to what is wrong, a sentence; or NULL
 * @size: of @why
 *
 * Return: a handle, or NULL with errno set: EPROTO if a daemon has refused.
 */
struct saba *saba_app_register(const char *paths, const char *app, char *why, size_t size)
{
	struct saba *s = saba_app_new(paths, app);
	int err;

	if (!s) {
		err = errno;
		if (why)
			snprintf(why, size, "%s", strerror(err));
		errno = err;
		return NULL;
	}
	err = saba_poll(s);
	if (s->level && err != -EPROTO)
		return s;
	if (why)
		snprintf(why, size, "%s", err == -EPROTO ? s->why : strerror(-err));
	saba_app_deregister(s);
	errno = -err;
	return NULL;
}

/**
 * saba_why() - what a daemon has refused last
 * @s: handle
 *
 * Return: a sentence, or an empty string.
 */
const char *saba_why(const struct saba *s)
{
	return s->why;
}

/**
 * saba_agree() - do all daemons that have answered say the same DSCP
 * @s: handle
 *
 * They do if their tables and levels are the same and they cluster the table, see
 * shuffle-sabad(8).
 *
 * Return: true if so.
 */
bool saba_agree(const struct saba *s)
{
	int i;

	for (i = 0; i < s->links; i++)
		if (s->link[i].level && s->link[i].dscp != s->dscp)
			return false;
	return true;
}

/**
 * saba_level() - priority level of the application
 * @s: handle
 *
 * Return: 1 to 15; 0 before any daemon has answered.
 */
int saba_level(const struct saba *s)
{
	return s->level;
}

/**
 * saba_dscp() - what its packets carry
 * @s: handle
 *
 * Return: 33 to 47; 0 before any daemon has answered.
 */
int saba_dscp(const struct saba *s)
{
	return s->dscp;
}

/**
 * saba_fd() - for poll(): readable when there is something for saba_poll()
 * @s: handle
 *
 * Return: a descriptor.
 */
int saba_fd(const struct saba *s)
{
	return s->poller;
}

/* Events; a daemon that has ended is looked for at once. */
static int poll_link(struct saba *s, struct link *l)
{
	struct heard h = { s, l };
	char record[RECORD];
	ssize_t n;

	while (l->fd >= 0) {
		n = recv(l->fd, record, sizeof(record) - 1, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			close(l->fd);
			l->fd = -1;
			break;
		}
		record[n] = '\0';
		on_line(record, &h);
	}
	return join(s, l);
}

/**
 * saba_poll() - take note of another level, and find daemons that have restarted
 * @s: handle
 *
 * Sockets of connections are marked again if the level has changed.  Waits for nothing but the
 * answers of a daemon that has come.
 *
 * Return: 0, or -errno while there is a daemon missing: packets go on with the last mark.
 * -EPROTO if one has refused, whatever others say.
 */
int saba_poll(struct saba *s)
{
	int i, err = 0, e;

	for (i = 0; i < s->links; i++) {
		e = poll_link(s, &s->link[i]);
		if (e && err != -EPROTO)
			err = e;
	}
	return err;
}

/**
 * saba_conn_create() - a new connection
 * @s: handle
 * @to: where it goes, NULL for anywhere
 * @fd: its socket, which is marked here and whenever the level changes; -1 for none.
 *	It must be open until saba_conn_destroy().
 *
 * A daemon that is not there is told when it comes.
 *
 * Return: number of the connection, or -errno: -EAFNOSUPPORT if @to is no IP address,
 * -ENOSPC if there are too many, -EPROTO if a daemon has refused.
 */
int saba_conn_create(struct saba *s, const struct sockaddr *to, int fd)
{
	struct conn *c, *more;
	int i, k, err = 0;

	for (i = 0; i < s->conns && s->conn[i].used; i++)
		;
	if (i == MOST)
		return -ENOSPC;
	if (i == s->conns) {
		more = realloc(s->conn, (i + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->conn = more;
		s->conns++;
	}
	c = &s->conn[i];
	memset(c, 0, sizeof(*c));
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
	c->used = true;
	for (k = 0; k < s->links && err != -EPROTO; k++)
		if (s->link[k].fd >= 0)
			err = announce(s, &s->link[k], c);
	if (err != -EPROTO)
		err = fd >= 0 && s->dscp ? saba_mark(fd, s->dscp) : 0;
	if (err) {
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
	int k;

	if (conn < 0 || conn >= s->conns || !s->conn[conn].used)
		return -EINVAL;
	s->conn[conn].used = false;
	saba_poll(s);
	for (k = 0; k < s->links; k++) {
		if (s->link[k].fd < 0 || !s->conn[conn].id[k])
			continue;
		snprintf(text, sizeof(text), "disconnect %u", s->conn[conn].id[k]);
		ask(s, &s->link[k], text);
	}
	return 0;
}

/**
 * saba_app_deregister() - the application has no more to send
 * @s: handle, which is gone afterwards
 */
void saba_app_deregister(struct saba *s)
{
	int k;

	for (k = 0; k < s->links; k++)
		if (s->link[k].fd >= 0)
			close(s->link[k].fd);
	if (s->poller >= 0)
		close(s->poller);
	free(s->conn);
	free(s);
}
