// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packets of an operation that come while it begins (review K6): two threads, a member each,
 * begin the same operations at the same moment, again and again.  A packet that has found no
 * operation and is put among the early ones after the operation has looked there stays until it
 * expires; the message is asked for again, so the counters alone tell.
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

#define BATCHES	150
#define BATCH	8

struct twin {
	int fd;
	unsigned int rank;
	uint64_t base;
	struct dice dice;
	_Atomic unsigned int *turn;
};

static bool begin_one(const struct twin *t, uint64_t id)
{
	static const unsigned char bytes[64];
	const struct op_spec op = { .id = id };
	uint64_t lens[2] = { sizeof(bytes), sizeof(bytes) };
	struct {
		struct shuffle_absent head;
		uint64_t bits;
	} absent = { { sizeof(absent.head), 1 }, 1ull << t->rank };
	struct ctl m;

	lens[t->rank] = SHUFFLE_ABSENT;
	ctl_begin(&m, bytes, sizeof(bytes));
	ctl_row(&m, &op, 0, 0, 2, lens);
	sht_add_cmsg(&m.msg, SHUFFLE_CMSG_ABSENT, &absent, sizeof(absent));
	return sendmsg(t->fd, &m.msg, MSG_NOSIGNAL) >= 0;
}

/* Both are here; no clock and no futex is so fine. */
static void meet(_Atomic unsigned int *turn)
{
	unsigned int mine = ++*turn, tries = 0;

	while (*turn < mine + mine % 2 && !shared->failed)
		if (++tries % 1000 == 0)
			sched_yield();
}

static void read_ends(const struct twin *t, unsigned int n)
{
	struct pollfd pfd = { .fd = t->fd, .events = POLLIN };
	uint64_t until = sht_now_ms() + tmo_ms(10);
	struct shuffle_record recs[4 * BATCH];
	unsigned char buf[4096];
	unsigned int i, k;

	while (n) {
		k = 4 * BATCH;
		if (sht_recv(t->fd, buf, sizeof(buf), recs, &k, MSG_DONTWAIT) < 0) {
			poll(&pfd, 1, 10);
			if (sht_now_ms() < until || sht_now_ms() < shared->still + tmo_ms(10))
				continue;
			wrong("%u operations of 64 bytes do not end", n);
			return;
		}
		for (i = 0; i < k; i++) {
			n -= recs[i].type == SHUFFLE_RECORD_DONE;
			if (recs[i].type == SHUFFLE_RECORD_FAILED) {
				wrong("an operation of 64 bytes fails: got %s, want DONE",
				      strerrorname_np(recs[i].error));
				return;
			}
		}
	}
}

static void *twin(void *arg)
{
	struct twin *t = arg;
	volatile unsigned int pause;
	unsigned int i, k, begun;

	for (i = 0; i < BATCHES; i++) {
		meet(t->turn);
		if (shared->failed)
			break;
		for (pause = roll(&t->dice, 1U << roll(&t->dice, 12)); pause; pause--)
			;
		for (begun = 0, k = 0; k < BATCH; k++)
			begun += begin_one(t, t->base + i * BATCH + k);
		if (begun < BATCH) {
			wrong("an operation of 64 bytes cannot begin: %s", strerrorname_np(errno));
			break;
		}
		read_ends(t, BATCH);
		slot->actions += BATCH;
		progress();
	}
	return NULL;
}

void early_race(struct dice *d)
{
	_Atomic unsigned int turn = 0;
	struct sockaddr_shuffle m[2];
	struct twin t[2];
	pthread_t thread[2];
	uint64_t until;
	unsigned int i;
	int64_t held;

	for (i = 0; i < 2; i++)
		sht_addr(&m[i], SHT_LO, 0, 0, slot->plan.port + 1100 + i);
	roll(d, 0);
	for (i = 0; i < 2; i++)
		t[i] = (struct twin){ .fd = sht_open(m, 2, i, 0), .rank = i, .turn = &turn,
				      .base = d->state & ~0xfffull,
				      .dice = { sht_mix(d->state + i) } };
	for (i = 0; i < 2 && t[0].fd >= 0 && t[1].fd >= 0; i++)
		if (pthread_create(&thread[i], NULL, twin, &t[i]))
			die("pthread_create");
	for (i = 0; i < 2 && t[0].fd >= 0 && t[1].fd >= 0; i++)
		pthread_join(thread[i], NULL);
	/* others of this namespace begin what they wait for; the early ones expire after 30 s */
	for (until = sht_now_ms() + 5000; (held = early_kept()) > 0; nap_us(20000)) {
		if (sht_now_ms() < until)
			continue;
		wrong("%lld early packets are kept, and all operations have begun and ended",
		      (long long)held);
		break;
	}
	for (i = 0; i < 2; i++)
		if (t[i].fd >= 0)
			close(t[i].fd);
}
