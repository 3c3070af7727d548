// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-relayd: members of trees that have no records and merge what comes, for all trees. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "relayd.h"
#include "relayd_path.h"

#define TICK_MS		20
#define IDLE_TICK_MS	500	/* without relays */
#define CLIENTS		64
#define EVENTS		64

struct relay *relay[RELAYS];
unsigned int relays;

static int poller = -1, listener = -1;
static unsigned int clients[2];	/* of strangers, ours */
static bool ending, until_last;
static volatile sig_atomic_t signalled;
static char buf[RELAYD_BYTES], answer[RELAYD_BYTES];

/* In an event a descriptor is an odd number, a relay its address. */
static uint64_t tag(int fd)
{
	return (uint64_t)fd << 1 | 1;
}

static void on_signal(int sig)
{
	signalled = sig;
}

/**
 * relayd_watch() - what comes to a relay is to be looked at
 * @r: relay
 *
 * Return: 0, -1 and errno.
 */
int relayd_watch(struct relay *r)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = (uintptr_t)r };

	return epoll_ctl(poller, EPOLL_CTL_ADD, shuffle_tree_fd(r->t), &e);
}

static int complain(const char *what)
{
	fprintf(stderr, "shuffle-relayd: %s: %s\n", what, strerror(errno));
	return -1;
}

/* 1: there is a daemon already. */
static int listen_at(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd, other, bytes = 2 * RELAYD_BYTES;
	char folder[sizeof(a.sun_path)], *slash;
	struct stat st;

	if (strlen(path) >= sizeof(a.sun_path)) {
		errno = ENAMETOOLONG;
		return complain(path);
	}
	strcpy(a.sun_path, path);
	strcpy(folder, path);
	slash = strrchr(folder, '/');
	if (slash && slash != folder) {
		*slash = '\0';
		mkdir(folder, 0755);
	}
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	other = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || other < 0)
		return complain("socket");
	if (!connect(other, (struct sockaddr *)&a, sizeof(a))) {
		close(other);
		close(fd);
		return 1;
	}
	/* nobody listens: what a daemon that died has left */
	if (errno == ECONNREFUSED && !lstat(path, &st) && S_ISSOCK(st.st_mode))
		unlink(path);
	close(other);
	/* anyone may ask; what they may do is decided by who they are */
	umask(0);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, CLIENTS)) {
		close(fd);
		return complain(path);
	}
	umask(022);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	listener = fd;
	return 0;
}

/* May it change something, as well as ask? */
static bool is_ours(int fd)
{
	struct ucred who = { .uid = -1 };
	socklen_t len = sizeof(who);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) &&
	       (!who.uid || who.uid == geteuid());
}

/* Those of strangers take half of the places at most, however long they stay. */
static void welcome(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	bool ours;

	if (fd < 0)
		return;
	ours = is_ours(fd);
	e.data.u64 = tag(fd);
	if (clients[true] + clients[false] >= (ours ? CLIENTS : CLIENTS / 2) ||
	    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &e))
		close(fd);
	else
		clients[ours]++;
}

static void serve(int fd)
{
	ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
	unsigned int before = relays;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		clients[is_ours(fd)]--;
		close(fd);
		return;
	}
	n = control_answer(buf, n, is_ours(fd), answer, sizeof(answer), &ending);
	memset(buf, 0, sizeof(buf));
	if (send(fd, answer, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		complain("an answer");
	if (until_last && before && !relays)
		ending = true;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* What has come to one relay, which may be gone by now; NULL: all have their clocks looked at. */
static void step(const struct relay *which)
{
	struct shuffle_tree_end end;
	unsigned int i;

	for (i = 0; i < relays; i++)
		if (!which || relay[i] == which)
			shuffle_tree_wait(relay[i]->t, &end, 0);
}

static void loop(void)
{
	struct epoll_event e[EVENTS];
	int64_t ticked = now_ms();
	int i, n;

	while (!ending && !signalled) {
		n = epoll_wait(poller, e, EVENTS, relays ? TICK_MS : IDLE_TICK_MS);
		for (i = 0; i < n && !ending; i++) {
			if (e[i].data.u64 == tag(listener))
				welcome();
			else if (e[i].data.u64 & 1)
				serve(e[i].data.u64 >> 1);
			else
				step((const struct relay *)(uintptr_t)e[i].data.u64);
		}
		if (now_ms() - ticked >= TICK_MS) {
			step(NULL);
			ticked = now_ms();
		}
	}
}

/* 0: we go on, behind the caller's back. */
static int to_background(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid = fork();

	if (pid < 0)
		return complain("fork");
	if (pid)
		_exit(0);
	setsid();
	if (chdir("/"))
		return -1;
	if (null >= 0) {
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
	}
	return 0;
}

/* systemd, which may have started us (Type=notify), waits for this. */
static void tell_ready(void)
{
	static const char ready[] = "READY=1";
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;
	int fd;

	if (!len || len >= sizeof(a.sun_path))
		return;
	memcpy(a.sun_path, path, len);
	if (a.sun_path[0] == '@')	/* an abstract name */
		a.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (sendto(fd, ready, sizeof(ready) - 1, MSG_NOSIGNAL, (struct sockaddr *)&a,
		   offsetof(struct sockaddr_un, sun_path) + len) < 0)
		complain("NOTIFY_SOCKET");
	close(fd);
}

static int usage(FILE *to, int status)
{
	fprintf(to, "usage: shuffle-relayd [--start] [--socket PATH]\n\n"
		"Members of trees that have no records and merge what comes by key, for all trees of\n"
		"this network namespace; shufflectl relay says which.  See shuffle-relayd(8).\n\n"
		"  --start        in the background; if there is one already that is no error.  It ends\n"
		"                 with its last relay\n"
		"  --socket PATH  default /run/shuffle/relayd-INODE, of this network namespace\n");
	return status;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "socket",	required_argument,	NULL, 's' },
		{ "start",	no_argument,		NULL, 'b' },
		{ "help",	no_argument,		NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct sigaction sa = { .sa_handler = on_signal };
	struct epoll_event e = { .events = EPOLLIN };
	char path[108];
	bool start = false;
	int opt, rc;

	if (relayd_path(path, sizeof(path)))
		path[0] = '\0';
	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (opt) {
		case 's':
			snprintf(path, sizeof(path), "%s", optarg);
			break;
		case 'b':
			start = true;
			break;
		case 'h':
			return usage(stdout, 0);
		default:
			return usage(stderr, 2);
		}
	}
	if (optind < argc)
		return usage(stderr, 2);
	/* a lock or a pipe of who has started us, and does not know how long we stay */
	if (start)
		closefrom(3);
	rc = listen_at(path);
	if (rc > 0 && !start)
		fprintf(stderr, "shuffle-relayd: %s: another daemon is there\n", path);
	if (rc)
		return rc > 0 && start ? 0 : 1;
	if (start && to_background())
		return 1;
	until_last = start;
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	poller = epoll_create1(EPOLL_CLOEXEC);
	e.data.u64 = tag(listener);
	if (poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, listener, &e)) {
		complain("epoll");
		unlink(path);
		return 1;
	}
	tell_ready();
	loop();
	unlink(path);
	while (relays)
		shuffle_tree_close(relay[--relays]->t);
	return 0;
}
