// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes that are connected, and what they ask for.
 *
 * A request is one record of text on a SOCK_SEQPACKET socket; the answer is records
 * with "NAME WORD=VALUE ..." and at last "ok WORD=VALUE ..." or "error SENTENCE".
 * Without a request comes "event level=L dscp=D": packets are to carry another DSCP.
 *
 *	register APP		for this process; it ends with the socket
 *	connect ADDRESS|any	a connection to there
 *	disconnect ID
 *	deregister
 *	show
 *	set APP PERCENT|auto	the rest is for CAP_NET_ADMIN
 *	reload
 *	stop
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sabad.h"

#define REQUEST	512
#define RECORD	8192

/* bytes of answers that wait for a client, with the kernel's own; twice that, socket(7) */
#define SEND_ROOM	16384
/* descriptors that are not clients': the listener, netlink, files for a moment */
#define SPARE_FILES	32
/* clients that only root can be: all others may be there, and it must still be able to act */
#define FOR_ROOT	8

static struct client *clients[SABAD_CLIENTS];
static unsigned int n_clients, most_clients;

/**
 * client_limit() - as many clients as there can be descriptors, and no more
 *
 * A daemon without descriptors could not even refuse a connection.
 */
void client_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r))
		r = (struct rlimit){ 1024, 1024 };
	if (r.rlim_cur < SABAD_CLIENTS + SPARE_FILES) {
		rlim_t before = r.rlim_cur;

		r.rlim_cur = SABAD_CLIENTS + SPARE_FILES;
		if (r.rlim_cur > r.rlim_max)
			r.rlim_cur = r.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &r))
			r.rlim_cur = before;
	}
	most_clients = SABAD_CLIENTS;
	if (r.rlim_cur < SABAD_CLIENTS + SPARE_FILES) {
		most_clients = r.rlim_cur > 2 * SPARE_FILES ?
			       r.rlim_cur - SPARE_FILES : SPARE_FILES;
		sabad_log("at most %u clients: RLIMIT_NOFILE", most_clients);
	}
}

/**
 * client_count() - how many there are
 *
 * Return: their number.
 */
unsigned int client_count(void)
{
	return n_clients;
}

/**
 * client_of() - by its socket
 * @fd: the socket
 *
 * Return: it, or NULL.
 */
struct client *client_of(int fd)
{
	unsigned int i;

	for (i = 0; i < n_clients; i++)
		if (clients[i]->fd == fd)
			return clients[i];
	return NULL;
}

static void forget_conns(struct client *c)
{
	unsigned int i;

	for (i = 0; i < c->conns; i++)
		apps_use(c->app, c->conn[i].ports, -1);
	free(c->conn);
	c->conn = NULL;
	c->conns = 0;
}

static void leave(struct client *c)
{
	if (c->app < 0)
		return;
	forget_conns(c);
	apps_leave(c->app);
	c->app = -1;
}

static void drop(struct client *c)
{
	unsigned int i;

	/* its level may be told to others, and not to it */
	for (i = 0; i < n_clients; i++)
		if (clients[i] == c)
			clients[i] = clients[--n_clients];
	close(c->fd);
	leave(c);
	free(c);
}

/* Whoever does not read what it asked for is not waited for. */
static bool send_text(struct client *c, const char *text, size_t n)
{
	return send(c->fd, text, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)n;
}

static bool answer(struct client *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool answer(struct client *c, const char *fmt, ...)
{
	char text[RECORD];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return send_text(c, text, n < RECORD ? n : RECORD - 1);
}

static bool same_namespace(pid_t pid)
{
	struct stat a, b;
	char file[64];

	snprintf(file, sizeof(file), "/proc/%d/ns/user", (int)pid);
	return !stat(file, &a) && !stat("/proc/self/ns/user", &b) && a.st_ino == b.st_ino &&
	       a.st_dev == b.st_dev;
}

/*
 * Root, with CAP_NET_ADMIN in the daemon's user namespace.  The process may have ended and its
 * number be another one's, or it may run another program by now: that one has to be root's, too.
 */
static bool is_admin(const struct client *c)
{
	unsigned long long caps = 0;
	unsigned int uid = ~0U;
	char file[64], line[256];
	FILE *f;

	snprintf(file, sizeof(file), "/proc/%d/status", (int)c->pid);
	f = fopen(file, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "CapEff: %llx", &caps);
		sscanf(line, "Uid: %*u %u", &uid);
	}
	fclose(f);
	return !c->uid && !uid && caps >> CAP_NET_ADMIN & 1 && same_namespace(c->pid);
}

static bool do_register(struct client *c, const char *name)
{
	const char *why = "";

	if (c->app >= 0)
		return answer(c, "error this process is registered already");
	if (!name || !table_name_ok(name))
		return answer(c, "error register wants the name of a profile");
	c->app = apps_join(name, c->uid, &why);
	if (c->app < 0)
		return answer(c, "error %s: %s", name, why);
	c->told = apps[c->app]->level;
	return answer(c, "ok level=%u dscp=%u", c->told + 1, SABAD_DSCP(c->told));
}

static bool do_connect(struct client *c, const char *to)
{
	unsigned int i, ports = 0;
	struct prefix p;
	struct conn *k;
	uint64_t bits = 0;
	bool any;

	if (c->app < 0)
		return answer(c, "error register first");
	any = to && !strcmp(to, "any");
	if (!to || (!any && (!config_prefix(to, &p) || p.bits != 128)))
		return answer(c, "error connect wants an IP address or \"any\"");
	if (c->conns == SABAD_CONNS)
		return answer(c, "error too many connections of one process");
	for (i = 0; i < cfg.ports; i++)
		if (any || config_matches(&cfg.port[i], &p.addr)) {
			bits |= 1ULL << i;
			ports++;
		}
	/* in steps of powers of two */
	if (!(c->conns & (c->conns - 1))) {
		k = realloc(c->conn, (c->conns ? 2 * c->conns : 1) * sizeof(*k));
		if (!k)
			return answer(c, "error out of memory");
		c->conn = k;
	}
	c->conn[c->conns++] = (struct conn){ .id = ++c->next, .ports = bits };
	apps_use(c->app, bits, 1);
	return answer(c, "ok conn=%u ports=%u", c->next, ports);
}

static bool do_disconnect(struct client *c, const char *id)
{
	char *end = NULL;
	unsigned long n = id && *id >= '0' && *id <= '9' ? strtoul(id, &end, 10) : 0;
	unsigned int i;

	for (i = 0; end && !*end && i < c->conns; i++) {
		if (c->conn[i].id != n)
			continue;
		apps_use(c->app, c->conn[i].ports, -1);
		c->conn[i] = c->conn[--c->conns];
		return answer(c, "ok");
	}
	return answer(c, "error disconnect wants the number of a connection");
}

static bool show_port(struct client *c, const struct port *p)
{
	char text[RECORD];
	unsigned int l;
	int n;

	n = snprintf(text, sizeof(text), "port name=%s state=%s rate=%llu queues=%u capacity=%u "
		     "adopted=%u programmed=%llu predicted=%.4f", p->name,
		     port_state_name(p->state), (unsigned long long)p->rate, p->queues, p->capacity,
		     p->adopted, (unsigned long long)p->programmed, p->now.slowdown);
	for (l = 0; l < SABA_LEVELS; l++)
		if (p->now.queue[l] < p->queues)
			n += snprintf(text + n, sizeof(text) - n,
				      " level-%u-queue=%u level-%u-weight=%.6g", l + 1,
				      p->now.queue[l], l + 1, p->now.weight[p->now.queue[l]]);
	return send_text(c, text, n);
}

static bool show_app(struct client *c, const struct app *a)
{
	unsigned int on = 0, i;

	if (!a->clients)
		return true;
	for (i = 0; i < cfg.ports; i++)
		on += a->on[i];
	return answer(c,
		      "app name=%s uid=%u level=%u dscp=%u r2=%.4f clients=%u connections=%u set=%u",
		      a->name, (unsigned int)a->uid, a->level + 1, SABAD_DSCP(a->level),
		      a->model.r2, a->clients, on, a->fixed);
}

/* Tell a client its level, if that has changed.  False: it has no room, or is gone (errno). */
static bool tell_level(struct client *c)
{
	if (c->app < 0 || c->told == apps[c->app]->level)
		return true;
	if (!answer(c, "event level=%u dscp=%u", apps[c->app]->level + 1,
		    SABAD_DSCP(apps[c->app]->level)))
		return false;
	c->told = apps[c->app]->level;
	return true;
}

/* As much of a list as the socket takes; the rest when the client has read. */
static bool show_on(struct client *c)
{
	bool sent = true, waited = c->waits;

	while (c->show && sent) {
		unsigned int i = c->show - 1;

		if (i < cfg.ports)
			sent = show_port(c, &cfg.port[i]);
		else if (i - cfg.ports < n_apps)
			sent = show_app(c, apps[i - cfg.ports]);
		else
			sent = answer(c, "ok clients=%u grace=%u", n_clients, sabad_in_grace());
		if (sent)
			c->show = i < cfg.ports + n_apps ? c->show + 1 : 0;
	}
	/* what it could not be told meanwhile */
	if (sent)
		sent = tell_level(c);
	c->waits = !sent;
	if (c->waits != waited)
		sabad_watch_room(c->fd, c->waits);
	return sent || errno == EAGAIN;
}

static bool do_show(struct client *c)
{
	c->show = 1;
	return show_on(c);
}

static bool do_set(struct client *c, const char *name, const char *value)
{
	char *end = NULL;
	unsigned long v = 0;

	if (name && value && strcmp(value, "auto")) {
		v = *value >= '0' && *value <= '9' ? strtoul(value, &end, 10) : 0;
		if (!v || *end || v > 95)
			value = NULL;
	}
	if (!name || !table_name_ok(name) || !value)
		return answer(c, "error set wants an application and 1 to 95 percent or auto");
	if (!apps_fix(name, v))
		return answer(c, "error %.63s is not registered", name);
	return answer(c, "ok");
}

static bool request(struct client *c, char *text)
{
	char *save = NULL, *word = strtok_r(text, " \n", &save);
	char *arg = strtok_r(NULL, " \n", &save), *more = strtok_r(NULL, " \n", &save);

	if (!word)
		return answer(c, "error an empty request");
	if ((more && strcmp(word, "set")) || (more && strtok_r(NULL, " \n", &save)))
		return answer(c, "error more words than expected");
	if (!strcmp(word, "register"))
		return do_register(c, arg);
	if (!strcmp(word, "connect"))
		return do_connect(c, arg);
	if (!strcmp(word, "disconnect"))
		return do_disconnect(c, arg);
	if (!strcmp(word, "show") && !arg)
		return do_show(c);
	if (!strcmp(word, "deregister") && !arg) {
		if (c->app < 0)
			return answer(c, "error this process is not registered");
		leave(c);
		return answer(c, "ok");
	}
	if (strcmp(word, "set") && ((strcmp(word, "reload") && strcmp(word, "stop")) || arg))
		return answer(c, "error an unknown request");
	if (!is_admin(c))
		return answer(c, "error only a process with CAP_NET_ADMIN may do that");
	if (!strcmp(word, "set"))
		return do_set(c, arg, more);
	if (!strcmp(word, "reload"))
		return answer(c, sabad_reload() ? "error the table cannot be read, see the log" :
			      "ok");
	sabad_stop();
	return answer(c, "ok");
}

/**
 * client_hello() - a process has connected
 * @fd: its socket
 */
void client_hello(int fd)
{
	const int room = SEND_ROOM;
	unsigned int i, same = 0, per_user = most_clients / 4;
	struct ucred cred;
	socklen_t len = sizeof(cred);
	struct client *c;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) ||
	    n_clients >= most_clients - (cred.uid ? FOR_ROOT : 0) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room))) {
		close(fd);
		return;
	}
	if (per_user > SABAD_PER_USER)
		per_user = SABAD_PER_USER;
	for (i = 0; i < n_clients; i++)
		same += clients[i]->uid == cred.uid;
	c = cred.uid && same >= per_user ? NULL : calloc(1, sizeof(*c));
	if (!c) {
		close(fd);
		return;
	}
	*c = (struct client){ .fd = fd, .uid = cred.uid, .pid = cred.pid, .app = -1 };
	clients[n_clients++] = c;
	sabad_watch(fd);
}

/**
 * client_input() - go on with an answer, or read one request and answer it
 * @c: client; it is gone afterwards if its socket has ended
 */
void client_input(struct client *c)
{
	char text[REQUEST];
	bool going;
	ssize_t n;

	/* one answer at a time: whoever does not read is not read, either */
	if (c->show) {
		if (!show_on(c))
			drop(c);
		return;
	}
	if (c->waits) {
		if (tell_level(c)) {
			c->waits = false;
			sabad_watch_room(c->fd, false);
		} else if (errno != EAGAIN) {
			drop(c);
		}
		return;
	}
	n = recv(c->fd, text, sizeof(text) - 1, MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	if (n >= (ssize_t)sizeof(text)) {
		going = answer(c, "error a request of more than %d bytes", REQUEST - 1);
	} else if (memchr(text, '\0', n)) {
		going = answer(c, "error a request with a zero byte");
	} else {
		text[n] = '\0';
		going = request(c, text);
	}
	if (!going)
		drop(c);
}

/**
 * client_levels() - tell clients whose level has changed
 */
void client_levels(void)
{
	unsigned int i;

	for (i = 0; i < n_clients; i++) {
		struct client *c = clients[i];

		/* whoever does not read is told when there is room */
		if (!tell_level(c) && !c->waits) {
			c->waits = true;
			sabad_watch_room(c->fd, true);
		}
	}
}
