// SPDX-License-Identifier: GPL-2.0-or-later
/* Clocks, memory, network namespaces. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rperf.h"

/**
 * die() - the command line or the system does not allow it
 * @fmt: what is wrong
 */
void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fputs("shuffle-rperf: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

uint64_t clock_ns(int clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* CLOCK_MONOTONIC; signals end it early. */
void sleep_until(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

void *memory(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("out of memory");
	return p;
}

/* From now on sockets of this thread are of the namespace; returns what leave_netns() wants. */
int enter_netns(const char *name)
{
	char path[NAME_MAX_LEN + 16];
	int own, fd;

	if (!*name)
		return -1;
	own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (own < 0 || fd < 0 || setns(fd, CLONE_NEWNET))
		die("network namespace %s: %s", name, strerror(errno));
	close(fd);
	return own;
}

void leave_netns(int own)
{
	if (own < 0)
		return;
	if (setns(own, CLONE_NEWNET))
		die("network namespace: %s", strerror(errno));
	close(own);
}
