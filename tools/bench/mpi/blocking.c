// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LD_PRELOAD for MPI libraries in virtual time, where a loop that polls lets no time
 * pass: whoever finds nothing to do, or gives the processor away, sleeps for a
 * microsecond, and longer when nothing has come for two milliseconds: programs that
 * start up would take for ever.  The same for every library and transport.  Timers get
 * no slack: the usual 50 us are many round trips here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>

static void __attribute__((constructor)) no_slack(void)
{
	prctl(PR_SET_TIMERSLACK, 1);
}

static unsigned int idle;	/* naps since something came */

static void nap(void)
{
	struct timespec ts = { .tv_nsec = idle++ < 2000 ? 1000 : 100000 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

int sched_yield(void)
{
	nap();
	return 0;
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	static int (*real)(int fd, struct epoll_event *events, int max, int timeout);
	int n;

	if (!real)
		real = dlsym(RTLD_NEXT, "epoll_wait");
	n = real(fd, events, max, timeout);
	if (n > 0)
		idle = 0;
	if (!n && !timeout)
		nap();
	return n;
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	static int (*real)(struct pollfd *fds, nfds_t count, int timeout);
	int n;

	if (!real)
		real = dlsym(RTLD_NEXT, "poll");
	n = real(fds, count, timeout);
	if (n > 0)
		idle = 0;
	if (!n && !timeout)
		nap();
	return n;
}
