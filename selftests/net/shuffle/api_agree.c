// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle_agree(), where a member comes when the others are about to go to the next id, or when
 * ids are new again: all have the same ids in the end.  Virtual time: each meeting takes more than
 * ten seconds.
 *
 *	api_agree [-v 4|6]
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "api.h"
#include "../../../tools/lib/shuffle.h"

#define MEMBERS		3
#define TIMEOUT_MS	60000
/* What tools/lib/agree.c waits for at one id, ms */
#define TRY_MS		10000
/* How long the kernel remembers an operation (finished-expiry), ms */
#define FORGET_MS	60000

/**
 * struct member - of a group, in a thread
 * @fd: its socket, which is there from the beginning
 * @wait_us: until it calls
 * @op: what it has been told
 * @error: errno, 0: it has agreed
 */
struct member {
	int fd;
	unsigned int wait_us;
	uint64_t op;
	int error;
};

static void *agree(void *arg)
{
	struct member *m = arg;
	unsigned int missing;

	usleep(m->wait_us);
	m->error = shuffle_agree(m->fd, MEMBERS, TIMEOUT_MS, &m->op, &missing) ? errno : 0;
	return NULL;
}

/* All of them, each in its time. */
static void meet(const struct sockaddr_shuffle *addr, struct member *m, const char *name)
{
	pthread_t thread[MEMBERS];
	unsigned int i;

	for (i = 0; i < MEMBERS; i++) {
		m[i].fd = sht_open(addr, MEMBERS, i, 0);
		if (m[i].fd < 0 || pthread_create(&thread[i], NULL, agree, &m[i]))
			tap_bail("no group of sockets: %s", strerror(errno));
	}
	for (i = 0; i < MEMBERS; i++) {
		pthread_join(thread[i], NULL);
		EXPECT_ERRNO(m[i].error, 0);
		EXPECT_EQ(m[i].op, m[0].op);
	}
	tap_done(name);
	for (i = 0; i < MEMBERS; i++)
		close(m[i].fd);
}

/* Members 0 and 1 come one after the other, and 2 so much after their time is over, or before. */
static void test_late(int after_us)
{
	struct sockaddr_shuffle addr[MEMBERS];
	struct member m[MEMBERS] = {};
	char name[80];
	unsigned int i;

	for (i = 0; i < MEMBERS; i++)
		my_addr(&addr[i]);
	m[1].wait_us = 3000;
	m[2].wait_us = TRY_MS * 1000 + after_us;
	snprintf(name, sizeof(name), "one that comes %d us after the first goes on", after_us);
	meet(addr, m, name);
}

/* A group made anew: one comes while the last meeting is remembered, the others when it is not. */
static void test_forgotten(void)
{
	struct sockaddr_shuffle addr[MEMBERS];
	struct member m[MEMBERS] = {};
	unsigned int i;

	for (i = 0; i < MEMBERS; i++)
		my_addr(&addr[i]);
	meet(addr, m, "a group");
	m[0].wait_us = FORGET_MS * 1000 - 1000000;
	for (i = 1; i < MEMBERS; i++)
		m[i].wait_us = FORGET_MS * 1000 + 2500000;
	meet(addr, m, "the group anew, as its first meeting is forgotten");
}

/* One whose library agrees in another way: here one that says nothing of how it does. */
static void test_other_version(void)
{
	const uint64_t lens[MEMBERS] = { 8, 8, 8 };
	struct shuffle_row row = { .op_id = 0xa9ee000000000000ULL, .count = MEMBERS };
	struct sockaddr_shuffle addr[MEMBERS];
	struct member m = {};
	char numbers[24] = {};
	unsigned int i;
	int fds[MEMBERS];

	for (i = 0; i < MEMBERS; i++)
		my_addr(&addr[i]);
	for (i = 0; i < MEMBERS; i++)
		fds[i] = sht_open(addr, MEMBERS, i, 0);
	m.fd = fds[0];
	WORKS_EQ(sht_send(fds[1], &row, lens, numbers, 24, 0), 24, "one agrees in another way");
	agree(&m);
	WORKS_ERRNO(m.error, EPROTO, "and the others are told so");
	for (i = 0; i < MEMBERS; i++)
		close(fds[i]);
}

int main(int argc, char **argv)
{
	int after;

	api_start(argc, argv);
	test_other_version();
	for (after = -1000; after <= 5000; after += 500)
		test_late(after);
	test_forgotten();
	return api_finish();
}
