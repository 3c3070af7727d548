// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * netwatch: byte counters of interfaces over time, as CSV on stdout, until
 * SIGTERM or SIGINT.
 *
 *	netwatch START MILLISECONDS INTERFACE ...
 *
 * START as in shuffle-cp --start-at; times are in ns from there.  Seen from a
 * switch: what it receives on a port, the host has sent.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../common.h"

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static int open_counter(const char *ifname, const char *counter)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/%s", ifname, counter);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static uint64_t read_counter(int fd)
{
	char text[32];
	ssize_t n;

	n = pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return strtoull(text, NULL, 10);
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct timespec pause;
	uint64_t start;
	int count, i;
	long ms;
	int *fds;

	if (argc < 4)
		errx(2, "usage: netwatch START MILLISECONDS INTERFACE ...");
	ms = arg_number("MILLISECONDS", argv[2], 100000);
	count = argc - 3;
	fds = calloc(2 * count, sizeof(*fds));
	if (!fds)
		err(1, "memory");
	for (i = 0; i < count; i++) {
		fds[2 * i] = open_counter(argv[3 + i], "rx_bytes");
		fds[2 * i + 1] = open_counter(argv[3 + i], "tx_bytes");
	}
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);

	start = start_wait(strtod(argv[1], NULL));
	pause.tv_sec = ms / 1000;
	pause.tv_nsec = ms % 1000 * 1000000;
	printf("t_ns,host,out_bytes,in_bytes\n");
	for (;;) {
		uint64_t t = now_ns() - start;

		for (i = 0; i < count; i++)
			printf("%" PRIu64 ",%d,%" PRIu64 ",%" PRIu64 "\n", t, i,
			       read_counter(fds[2 * i]), read_counter(fds[2 * i + 1]));
		if (stop)
			break;
		nanosleep(&pause, NULL);
	}
	return 0;
}
