// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-sabad: bandwidth of output ports by how much applications suffer. */
#include <errno.h>
#include <poll.h>
#include <getopt.h>
#include <linux/rtnetlink.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "program.h"
#include "saba_client.h"
#include "sabad.h"
#include "shufflectl.h"

#define RETRY_MS	2000
#define SETTLE_MS	5	/* changes that come together are programmed together */
#define NO_FILES_MS		50	/* the machine has no descriptors: wait for some */
#define MOST_MS		50	/* so long they may wait */

struct ctl_options ctl;		/* of out.c */
struct config cfg;
struct table table;

static struct nl_sock *route, *events;
static int poller = -1;
static bool stopping, ending;
static volatile sig_atomic_t signalled;
static int64_t started_ms;

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/**
 * sabad_log() - a line on standard error
 * @fmt: as printf(), without newline
 */
void sabad_log(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/**
 * ctl_error() - an error on standard error, see program.h
 * @fmt: as printf()
 *
 * Return: CTL_ENV.
 */
int ctl_error(const char *fmt, ...)
{
	va_list ap;

	fputs("Error: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return CTL_ENV;
}

/**
 * sabad_watch() - wait for something on a socket
 * @fd: socket
 */
void sabad_watch(int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &e))
		sabad_log("epoll: %s", strerror(errno));
}

/**
 * sabad_watch_room() - wait for room in a socket that is watched, or for something again
 * @fd: socket
 * @room: which of them
 */
void sabad_watch_room(int fd, bool room)
{
	struct epoll_event e = { .events = room ? EPOLLOUT : EPOLLIN, .data.fd = fd };

	if (epoll_ctl(poller, EPOLL_CTL_MOD, fd, &e))
		sabad_log("epoll: %s", strerror(errno));
}

/**
 * sabad_stop() - remove everything and end
 */
void sabad_stop(void)
{
	stopping = true;
	ending = true;
}

/**
 * sabad_in_grace() - applications of before the start may still come back
 *
 * Return: true if so.
 */
bool sabad_in_grace(void)
{
	return now_ms() - started_ms < cfg.grace_ms;
}

/**
 * sabad_reload() - read the table again, and take ports in hand again
 *
 * Return: 0, or -errno after a message.
 */
int sabad_reload(void)
{
	struct table fresh;
	unsigned int i;
	int err = table_read(cfg.table, true, &fresh);

	if (!err) {
		table_free(&table);
		table = fresh;
		apps_retable();
	}
	for (i = 0; i < cfg.ports; i++)
		port_open(route, &cfg.port[i], cfg.control, true);
	return err;
}

static void on_signal(int sig)
{
	signalled = sig;
}

static int listen_at(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct stat st;
	int fd, other;

	if (strlen(path) >= sizeof(a.sun_path))
		return ctl_error("%s: the name of the socket is too long", path), -1;
	strcpy(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	other = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || other < 0)
		return ctl_error("socket: %s", strerror(errno)), -1;
	if (!connect(other, (struct sockaddr *)&a, sizeof(a))) {
		close(other);
		close(fd);
		return ctl_error("%s: another daemon is there", path), -1;
	}
	/* nobody listens: what a daemon that died has left */
	if (errno == ECONNREFUSED && !lstat(path, &st) && S_ISSOCK(st.st_mode))
		unlink(path);
	close(other);
	umask(0);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 128)) {
		ctl_error("%s: %s", path, strerror(errno));
		close(fd);
		return -1;
	}
	umask(022);
	return fd;
}

static int listen_to_kernel(void)
{
	int err;

	route = nl_open(NETLINK_ROUTE);
	events = nl_open(NETLINK_ROUTE);
	if (!route || !events)
		return -1;
	err = nl_socket_add_memberships(events, RTNLGRP_LINK, RTNLGRP_TC, 0);
	if (err || nl_socket_set_nonblocking(events)) {
		ctl_error("netlink events: %s", nl_geterror(err));
		return -1;
	}
	return 0;
}

static void look_at(int ifindex)
{
	unsigned int i;

	for (i = 0; i < cfg.ports; i++)
		if (!ifindex || cfg.port[i].ifindex == ifindex ||
		    (cfg.port[i].state == PORT_GONE && ifindex))
			cfg.port[i].look = true;
}

static void kernel_says(void)
{
	char buf[32768] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *h;
	ssize_t n;

	while ((n = recv(nl_socket_get_fd(events), buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		unsigned int left = n;

		for (h = (void *)buf; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
			if (h->nlmsg_type == RTM_NEWLINK || h->nlmsg_type == RTM_DELLINK)
				look_at(((struct ifinfomsg *)NLMSG_DATA(h))->ifi_index);
			else
				look_at(((struct tcmsg *)NLMSG_DATA(h))->tcm_ifindex);
		}
	}
	/* something was lost: look at all there is */
	if (n < 0 && errno == ENOBUFS)
		look_at(0);
}

static void look_and_retry(bool retry)
{
	unsigned int i;

	for (i = 0; i < cfg.ports; i++) {
		struct port *p = &cfg.port[i];
		bool come = p->look && p->state == PORT_GONE;

		if (p->look)
			port_look(route, p);
		if (come || (retry && (p->state == PORT_GONE || p->state == PORT_FAILED)))
			port_open(route, p, cfg.control, false);
		if (come)
			p->look = false;
	}
}

static void program(void)
{
	struct saba_allocation a;
	unsigned int i;

	for (i = 0; i < cfg.ports; i++) {
		struct port *p = &cfg.port[i];

		if (!p->dirty || p->state != PORT_OURS || (p->adopted && sabad_in_grace()))
			continue;
		apps_allocate(i, &a);
		p->dirty = !port_program(route, p, &a);
	}
}

static bool any_dirty(void)
{
	unsigned int i;

	for (i = 0; i < cfg.ports; i++)
		if (cfg.port[i].dirty && cfg.port[i].state == PORT_OURS &&
		    !(cfg.port[i].adopted && sabad_in_grace()))
			return true;
	return false;
}

static void loop(int listener)
{
	int64_t retry = now_ms() + RETRY_MS, since = 0;
	struct epoll_event e[64];
	int i, n, fd;

	while (!ending) {
		n = epoll_wait(poller, e, 64, any_dirty() ? SETTLE_MS : 500);
		if (signalled)
			ending = true;
		for (i = 0; i < n; i++) {
			struct client *c;

			if (e[i].data.fd == nl_socket_get_fd(events)) {
				kernel_says();
			} else if (e[i].data.fd == listener) {
				fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
				if (fd >= 0)
					client_hello(fd);
				else if (errno == EMFILE || errno == ENFILE)
					/* it goes on being ready: not in a busy loop */
					poll(NULL, 0, NO_FILES_MS);
			} else {
				/* it may be gone since */
				c = client_of(e[i].data.fd);
				if (c)
					client_input(c);
			}
		}
		look_and_retry(now_ms() >= retry);
		if (now_ms() >= retry)
			retry = now_ms() + RETRY_MS;
		/* changes go on: programmed now and then all the same */
		if (!any_dirty())
			since = 0;
		else if (!since)
			since = now_ms();
		if (since && (n <= 0 || now_ms() - since >= MOST_MS)) {
			program();
			since = 0;
		}
	}
}

static int usage(FILE *to, int status)
{
	fprintf(to, "usage: shuffle-sabad [--config FILE] [--socket PATH]\n"
		"       shuffle-sabad --config FILE --check\n\n"
		"Shares the bandwidth of output ports by how much applications suffer from having\n"
		"less.  Needs CAP_NET_ADMIN; see shuffle-sabad(8).\n\n"
		"  --config FILE   default /etc/shuffle/saba.conf\n"
		"  --socket PATH   default " SABA_SOCKET "\n"
		"  --check         read the files, say what is wrong, and end\n");
	return status;
}

static int start(const char *path, bool check, const char *file)
{
	struct sigaction sa = { .sa_handler = on_signal };
	unsigned int i;
	int listener;

	if (config_read(file, &cfg) || table_read(cfg.table, true, &table))
		return CTL_ENV;
	if (check)
		return CTL_OK;
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	started_ms = now_ms();
	client_limit();
	poller = epoll_create1(EPOLL_CLOEXEC);
	if (poller < 0 || listen_to_kernel())
		return CTL_ENV;
	listener = listen_at(path);
	if (listener < 0)
		return CTL_ENV;
	sabad_watch(listener);
	sabad_watch(nl_socket_get_fd(events));
	for (i = 0; i < cfg.ports; i++)
		port_open(route, &cfg.port[i], cfg.control, false);
	loop(listener);
	unlink(path);
	/* death leaves weights in place; stop removes them */
	for (i = 0; stopping && i < cfg.ports; i++)
		if (cfg.port[i].state != PORT_FOREIGN && !port_close(route, &cfg.port[i]))
			sabad_log("port %s: something may be left", cfg.port[i].name);
	nl_socket_free(route);
	nl_socket_free(events);
	table_free(&table);
	return CTL_OK;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "config",	required_argument,	NULL, 'c' },
		{ "socket",	required_argument,	NULL, 's' },
		{ "check",	no_argument,		NULL, 'k' },
		{ "help",	no_argument,		NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *file = "/etc/shuffle/saba.conf", *path = SABA_SOCKET;
	bool check = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (opt) {
		case 'c':
			file = optarg;
			break;
		case 's':
			path = optarg;
			break;
		case 'k':
			check = true;
			break;
		case 'h':
			return usage(stdout, CTL_OK);
		default:
			return usage(stderr, CTL_USAGE);
		}
	}
	if (optind < argc)
		return usage(stderr, CTL_USAGE);
	return start(path, check, file);
}
