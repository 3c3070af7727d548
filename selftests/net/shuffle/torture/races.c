// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writers that go on with an operation while another thread cancels it and reads its end: then the
 * next operation, as fast as can be.
 *
 * Several writers wait for the row's mutex.  Each has found the operation before it ended, so each
 * adds to it behind the others although it has been cancelled meanwhile, and while the reader takes
 * it down.  The calls announce nothing (SHUFFLE_ROW_MORE without ranks): otherwise the first look
 * at the row would send them away.
 *
 * With -f the calls have more flags: those of modules that had others (review K1: rows by
 * reference were put into a list here that the reader spliced without the lock).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "torture.h"

#define MOST_WRITERS	16
#define OPERATIONS	200
#define MEMBERS		4
#define BYTES		16
#define PAUSE_US	6000

uint32_t race_flags;

struct race {
	int fd;
	_Atomic uint64_t op;		/* 0: end */
	_Atomic unsigned int added;
};

static const unsigned char zeroes[BYTES];

/* A long row to members that there are not; nothing comes. */
static ssize_t begin(int fd, uint64_t id)
{
	const struct op_spec op = { .id = id };
	uint64_t lens[MEMBERS] = { SHUFFLE_ABSENT, 1 << 30, 1 << 30, 1 << 30 };
	struct {
		struct shuffle_absent head;
		uint64_t bits;
	} absent = { { sizeof(absent.head), 1 }, (1ull << MEMBERS) - 1 };
	struct ctl m;

	ctl_begin(&m, NULL, 0);
	ctl_row(&m, &op, 0, 0, MEMBERS, lens);
	sht_add_cmsg(&m.msg, SHUFFLE_CMSG_ABSENT, &absent, sizeof(absent));
	return sendmsg(fd, &m.msg, MSG_NOSIGNAL);
}

static ssize_t go_on(int fd, uint64_t id)
{
	const struct op_spec op = { .id = id };
	struct ctl m;

	ctl_begin(&m, zeroes, BYTES);
	ctl_row(&m, &op, SHUFFLE_ROW_MORE | race_flags, 0, 0, NULL);
	return sendmsg(fd, &m.msg, MSG_NOSIGNAL);
}

static void *adder(void *arg)
{
	struct race *race = arg;
	uint64_t op;

	while ((op = race->op)) {
		if (go_on(race->fd, op) > 0) {
			race->added++;
			continue;
		}
		/* ended: the next one, at once */
		while (race->op == op)
			sched_yield();
	}
	return NULL;
}

/* Read until the operation has failed. */
static void read_failed(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	uint64_t until = sht_now_ms() + tmo_ms(5);
	struct shuffle_record recs[4 * MEMBERS];
	unsigned char buf[64];
	unsigned int i, n;

	while (sht_now_ms() < until || sht_now_ms() < shared->still + tmo_ms(5)) {
		n = 4 * MEMBERS;
		if (sht_recv(fd, buf, sizeof(buf), recs, &n, MSG_DONTWAIT) < 0) {
			poll(&pfd, 1, 10);
			continue;
		}
		for (i = 0; i < n; i++) {
			if (recs[i].type != SHUFFLE_RECORD_FAILED)
				continue;
			if (recs[i].error != ECANCELED)
				wrong("a cancelled operation fails: got %s, want ECANCELED",
				      strerrorname_np(recs[i].error));
			return;
		}
	}
	wrong("an operation that was cancelled does not end");
}

/* Half of the times the reader has a CPU to itself: it never waits for a writer to be preempted. */
static void choose_cpus(pthread_t *writers, unsigned int n, bool apart)
{
	cpu_set_t one, others;
	unsigned int i, cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!apart || cpus < 2)
		return;
	CPU_ZERO(&one);
	CPU_ZERO(&others);
	CPU_SET(0, &one);
	for (i = 1; i < cpus; i++)
		CPU_SET(i, &others);
	pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
	for (i = 0; i < n; i++)
		pthread_setaffinity_np(writers[i], sizeof(others), &others);
}

void races(struct dice *d)
{
	struct sockaddr_shuffle m[MEMBERS];
	pthread_t thread[MOST_WRITERS];
	struct race race = { .op = ~0ull };
	unsigned int i, writers = 2 + roll(d, MOST_WRITERS - 1);
	cpu_set_t before;
	uint64_t id;

	for (i = 0; i < MEMBERS; i++)
		sht_addr(&m[i], SHT_LO, 0, 0, slot->plan.port + 1000 + i);
	race.fd = sht_open(m, MEMBERS, 0, 0);
	if (race.fd < 0)
		return;
	pthread_getaffinity_np(pthread_self(), sizeof(before), &before);
	for (i = 0; i < writers; i++)
		if (pthread_create(&thread[i], NULL, adder, &race))
			die("pthread_create");
	choose_cpus(thread, writers, roll(d, 2));
	for (i = 0; i < OPERATIONS && !shared->failed; i++) {
		roll(d, 0);
		id = d->state | 1;
		if (begin(race.fd, id) < 0) {
			wrong("an operation cannot begin: %s", strerrorname_np(errno));
			break;
		}
		race.op = id;
		/* until some writers wait for one another */
		nap_us(roll(d, 1 + roll(d, PAUSE_US)));
		if (sht_cancel(race.fd, id))
			wrong("an operation that runs cannot be cancelled: %s",
			      strerrorname_np(errno));
		else
			read_failed(race.fd);
		slot->actions++;
		slot->failed++;
		progress();
	}
	race.op = 0;
	for (i = 0; i < writers; i++)
		pthread_join(thread[i], NULL);
	slot->actions += race.added;
	pthread_setaffinity_np(pthread_self(), sizeof(before), &before);
	close(race.fd);
}
