// SPDX-License-Identifier: BSD-3-Clause
/*
 * Groups as applications of shuffle-sabad: their sockets are registered, with the hosts that they
 * send to, and marked with the level of the application.
 *
 * Once there is such a group, a thread looks after it: it hears of other levels, finds daemons
 * that come back, and notices sockets that have been closed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"
#include "saba_client.h"

#define APPS		8	/* of a process */
#define ADDRESSES	1024	/* of a group; one that has more is registered for all ports */
#define LOOK_MS		1000

struct app {
	struct saba	*saba;
	char		*name;
	char		*paths;		/* NULL for the default */
	int		level;		/* that sockets are marked with */
	unsigned int	members;	/* sockets */
};

/* A socket may be closed, and its number be another file's: @ino tells. */
struct member {
	int		fd;
	ino_t		ino;
	struct app	*app;
	int		*conn;
	unsigned int	conns;
	struct member	*next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct app apps[APPS];
static struct member *members;
static pthread_t thread;
static bool running, warned, ready;
static int wake = -1;

static bool same_socket(const struct member *m)
{
	struct stat st;

	return !fstat(m->fd, &st) && S_ISSOCK(st.st_mode) && st.st_ino == m->ino;
}

static void warn(const char *app, const char *why)
{
	if (!warned)
		fprintf(stderr, "AF_SHUFFLE: application %s is not registered with shuffle-sabad, "
			"and its packets are not marked: %s\n", app, why);
	warned = true;
}

static void leave_app(struct app *a)
{
	if (a->members)
		return;
	saba_app_deregister(a->saba);
	free(a->name);
	free(a->paths);
	memset(a, 0, sizeof(*a));
}

/* Take a member out of the list at @at. */
static void drop(struct member **at)
{
	struct member *m = *at;
	unsigned int i;

	*at = m->next;
	if (--m->app->members)
		for (i = 0; i < m->conns; i++)
			saba_conn_destroy(m->app->saba, m->conn[i]);
	else
		leave_app(m->app);
	free(m->conn);
	free(m);
}

static void drop_closed(void)
{
	struct member **at = &members;

	while (*at)
		if (same_socket(*at))
			at = &(*at)->next;
		else
			drop(at);
}

static void look_after(struct app *a)
{
	struct member *m;

	saba_poll(a->saba);
	if (a->level == saba_level(a->saba))
		return;
	a->level = saba_level(a->saba);
	for (m = members; m; m = m->next)
		if (m->app == a && same_socket(m))
			saba_mark(m->fd, saba_dscp(a->saba));
}

static void *keeper(void *arg)
{
	struct pollfd p[APPS + 1];
	unsigned int i, n;

	(void)arg;
	for (;;) {
		p[0] = (struct pollfd){ .fd = wake, .events = POLLIN };
		pthread_mutex_lock(&lock);
		drop_closed();
		for (i = 0, n = 1; i < APPS; i++) {
			if (!apps[i].saba)
				continue;
			look_after(&apps[i]);
			p[n++] = (struct pollfd){ .fd = saba_fd(apps[i].saba), .events = POLLIN };
		}
		pthread_mutex_unlock(&lock);
		if (poll(p, n, n > 1 ? LOOK_MS : -1) > 0 && p[0].revents) {
			uint64_t v;

			if (read(wake, &v, sizeof(v)) != sizeof(v))
				continue;
			if (v >= 1ULL << 32)
				return NULL;
		}
	}
}

/* The thread is the parent's, and so is what its daemon knows. */
static void in_child(void)
{
	struct member *m;
	unsigned int i;

	pthread_mutex_init(&lock, NULL);
	running = false;
	while ((m = members)) {
		members = m->next;
		free(m->conn);
		free(m);
	}
	for (i = 0; i < APPS; i++) {
		apps[i].members = 0;
		if (apps[i].saba)
			leave_app(&apps[i]);
	}
	if (wake >= 0)
		close(wake);
	wake = -1;
}

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

static int start_keeper(void)
{
	const uint64_t look = 1;
	sigset_t all, old;
	int err;

	if (!ready && pthread_atfork(before_fork, in_parent, in_child))
		return -ENOMEM;
	ready = true;
	if (running)
		return write(wake, &look, sizeof(look)) == sizeof(look) ? 0 : -errno;
	if (wake < 0)
		wake = eventfd(0, EFD_CLOEXEC);
	if (wake < 0)
		return -errno;
	/* signals are for the threads of the program */
	sigfillset(&all);
	err = pthread_sigmask(SIG_SETMASK, &all, &old);
	if (err)
		return -err;
	err = pthread_create(&thread, NULL, keeper, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	running = !err;
	return -err;
}

/* The library may be unloaded before the program ends, as a plugin's. */
__attribute__((destructor)) static void stop_keeper(void)
{
	const uint64_t end = 1ULL << 32;

	if (running && write(wake, &end, sizeof(end)) == sizeof(end))
		pthread_join(thread, NULL);
	running = false;
}

static bool same_paths(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static struct app *app_of(const char *name, const char *paths)
{
	struct app *unused = NULL, a = { 0 };
	unsigned int i;

	for (i = 0; i < APPS; i++) {
		if (!apps[i].saba)
			unused = unused ? unused : &apps[i];
		else if (!strcmp(apps[i].name, name) && same_paths(apps[i].paths, paths))
			return &apps[i];
	}
	if (!unused) {
		errno = E2BIG;
		return NULL;
	}
	a.name = strdup(name);
	a.paths = paths ? strdup(paths) : NULL;
	if (a.name && (!paths || a.paths))
		a.saba = saba_app_new(paths, name);
	if (!a.saba) {
		free(a.name);
		free(a.paths);
		return NULL;
	}
	*unused = a;
	return unused;
}

static struct shuffle_group *group_of(int fd)
{
	size_t size = sizeof(struct shuffle_group) +
		      SHUFFLE_MAX_MEMBERS * sizeof(struct shuffle_edge);
	struct shuffle_group *g = malloc(size);
	socklen_t len = size;

	if (!g || !getsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, g, &len))
		return g;
	free(g);
	return NULL;
}

static int by_address(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct in6_addr));
}

/* IPv4 addresses are mapped ones here. */
static void address_of(const struct shuffle_group *g, unsigned int i, struct in6_addr *to)
{
	const struct sockaddr_shuffle *a =
		(const void *)((const char *)g->members + i * g->member_size);

	memset(to, 0, sizeof(*to));
	if (a->shs_ip_family != AF_INET) {
		memcpy(to, a->shs_addr, sizeof(*to));
		return;
	}
	memset(&to->s6_addr[10], 0xff, 2);
	memcpy(&to->s6_addr[12], a->shs_addr, 4);
}

/* Of other hosts, each once. */
static unsigned int addresses_of(const struct shuffle_group *g, struct in6_addr *to)
{
	unsigned int i, n = 0, kept = 0;
	struct in6_addr own;

	address_of(g, g->rank, &own);
	for (i = 0; i < g->count; i++) {
		address_of(g, i, &to[n]);
		n += !!by_address(&to[n], &own);
	}
	qsort(to, n, sizeof(*to), by_address);
	for (i = 0; i < n; i++)
		if (!i || by_address(&to[i], &to[kept - 1]))
			to[kept++] = to[i];
	return kept;
}

static int add_conn(struct member *m, const struct sockaddr *to)
{
	int conn = saba_conn_create(m->app->saba, to, -1);

	if (conn < 0)
		return conn;
	m->conn[m->conns++] = conn;
	return 0;
}

/* A connection for each host; those that the daemon has refused are not its. */
static int add_conns(struct member *m, const struct shuffle_group *g)
{
	struct in6_addr *to = malloc(g->count * sizeof(*to));
	struct sockaddr_in6 a = { .sin6_family = AF_INET6 };
	unsigned int i, n;
	int err = 0;

	m->conn = to ? malloc(g->count * sizeof(*m->conn)) : NULL;
	if (!m->conn) {
		free(to);
		return -ENOMEM;
	}
	n = addresses_of(g, to);
	if (n > ADDRESSES)
		err = add_conn(m, NULL);
	for (i = 0; i < n && n <= ADDRESSES && !err; i++) {
		a.sin6_addr = to[i];
		err = add_conn(m, (struct sockaddr *)&a);
	}
	free(to);
	return err;
}

static struct member *member_new(int fd, const char *name, const char *paths)
{
	struct member *m = calloc(1, sizeof(*m));
	struct stat st;

	if (!m || fstat(fd, &st)) {
		free(m);
		return NULL;
	}
	m->fd = fd;
	m->ino = st.st_ino;
	m->app = app_of(name, paths);
	if (!m->app) {
		free(m);
		return NULL;
	}
	m->app->members++;
	m->next = members;
	members = m;
	return m;
}

static int add(int fd, const char *name, const char *paths, const struct shuffle_group *g)
{
	struct member *m = member_new(fd, name, paths);
	int err, there;

	if (!m)
		return -errno;
	there = saba_poll(m->app->saba);
	err = there == -EPROTO ? there : add_conns(m, g);
	if (!err && saba_level(m->app->saba)) {
		m->app->level = saba_level(m->app->saba);
		err = saba_mark(fd, saba_dscp(m->app->saba));
	}
	if (err == -EPROTO)
		warn(name, saba_why(m->app->saba));
	else if (!err && !saba_level(m->app->saba))
		warn(name, strerror(-there));
	if (!err)
		err = start_keeper();
	if (err)
		drop(&members);
	return err;
}

static int take_out(int fd)
{
	struct member **at;

	for (at = &members; *at; at = &(*at)->next)
		if ((*at)->fd == fd) {
			if (same_socket(*at))
				saba_mark(fd, 0);
			drop(at);
			return 0;
		}
	return -ENOENT;
}

int shuffle_saba(int fd, const char *app, const char *sockets)
{
	struct shuffle_group *g = group_of(fd);
	int err;

	if (!g)
		return -1;
	pthread_mutex_lock(&lock);
	err = take_out(fd);
	if (app)
		err = add(fd, app, sockets, g);
	pthread_mutex_unlock(&lock);
	free(g);
	errno = -err;
	return err ? -1 : 0;
}

void shuffle_saba_join(int fd)
{
	const char *saba = secure_getenv("SHUFFLE_SABA"), *name;
	int err = errno;

	if (!saba || !*saba || !strcmp(saba, "0"))
		return;
	name = secure_getenv("SHUFFLE_SABA_NAME");
	if (!name || !*name)
		name = program_invocation_short_name;
	if (shuffle_saba(fd, name, strcmp(saba, "1") ? saba : NULL))
		warn(name, strerror(errno));
	errno = err;
}
