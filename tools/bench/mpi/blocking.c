// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LD_PRELOAD for MPI libraries, whose loops poll: whoever finds nothing to do gives the
 * processor away.  The same for every library and transport.
 *
 * In virtual time, where a loop that polls lets no time pass, it sleeps for a microsecond,
 * and longer when nothing has come for two milliseconds: programs that start up would
 * take for ever.  Timers get no slack: the usual 50 us are many round trips there.
 *
 * With MPI_IDLE=yield it yields instead: where ranks share a processor, a rank that polls
 * would keep the others waiting for as long as a time slice lasts.  (A sleep of a
 * microsecond may be over before the processor has been given away.)
 *
 * With MPI_IDLE=wait it waits for the file descriptors that it has polled, so that what comes is
 * seen at once; not for long, for threads may have something, too.
 *
 * Under MPICH it is a round of UCX's progress that finds nothing, whatever it has called:
 * a rank without connections calls nothing at all, and its connections are made by
 * another thread.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_WATCHED	256
/* of waits in vain the first ones are short: what no descriptor tells of comes soon or late */
#define SHORT_WAITS	50

static int yields, waits;
static struct pollfd watched[MOST_WATCHED];	/* polled last, or epoll's; with MPI_IDLE=wait */
static unsigned int nr_watched;
static int polled;	/* by poll(): wait when the library yields */
static unsigned int empty;	/* polls in vain since something came */
static unsigned int idle;	/* naps since something came */
static unsigned int yielded;	/* since a nap */
static __thread int in_progress;

static void __attribute__((constructor)) start(void)
{
	const char *how = getenv("MPI_IDLE");

	yields = how && !strcmp(how, "yield");
	waits = how && !strcmp(how, "wait");
	if (!yields)
		prctl(PR_SET_TIMERSLACK, 1);
}

static void watch(int fd)
{
	unsigned int i;

	for (i = 0; i < nr_watched && watched[i].fd != fd; i++)
		;
	if (i == nr_watched && i < MOST_WATCHED)
		watched[nr_watched++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

/* Until something comes. */
static void wait_for_watched(void)
{
	struct timespec ts = { .tv_nsec = idle++ < SHORT_WAITS ? 1000 : 100000 };

	syscall(SYS_ppoll, watched, nr_watched, &ts, NULL, 0);
}

static void nap(void)
{
	struct timespec ts = {};

	if (in_progress)
		return;
	yielded = 0;
	if (waits && nr_watched) {
		wait_for_watched();
		return;
	}
	ts.tv_nsec = idle++ < 2000 ? 1000 : 100000;
	if (yields)
		syscall(SYS_sched_yield);
	else
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

/* Who calls this has polled before, and slept if that found nothing: not twice. */
int sched_yield(void)
{
	if (polled) {
		polled = 0;
		wait_for_watched();
		return 0;
	}
	if (yields || ++yielded < 100)
		return syscall(SYS_sched_yield);
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
	if (!n && !timeout) {
		if (waits)
			watch(fd);
		nap();
	}
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
	if (!timeout && waits && !in_progress) {
		/* Open MPI polls again, and yields, before it looks at what has come: it waits
		 * when it has polled in vain twice
		 */
		empty = n ? 0 : empty + 1;
		nr_watched = count < MOST_WATCHED ? count : 0;
		memcpy(watched, fds, nr_watched * sizeof(*fds));
		polled = empty > 1 && nr_watched;
	} else if (!n && !timeout) {
		nap();
	}
	return n;
}

unsigned int ucp_worker_progress(void *worker)
{
	static unsigned int (*real)(void *worker);
	unsigned int n;

	if (!real)
		real = dlsym(RTLD_NEXT, "ucp_worker_progress");
	in_progress++;
	n = real(worker);
	in_progress--;
	if (n)
		idle = 0;
	else
		nap();
	return n;
}

/* MPICH 4.0's MPI_Finalize takes its connections down, which needs progress at the other
 * end too, and then waits for all ranks in a barrier that makes none: who is late hangs.
 * Every rank has what it waited for by then; its worker takes the connections with it.
 */
void *ucp_disconnect_nb(void *ep)
{
	(void)ep;
	return NULL;	/* at once */
}
