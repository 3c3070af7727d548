// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All-to-all of libshuffle: packed over racks, by the plans of all members together, carried out
 * in memory; and what else it promises.  (Results of groups: api_coll.)  TAP.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "api.h"
#include "../../../tools/lib/coll.h"

#define MOST	40	/* members */
#define BLOCK	24	/* bytes at most */

static struct {
	struct coll_packed part[MOST];
	struct shuffle_plan plan[MOST];
	struct shuffle_plan_msg msg[MOST][4 * MOST];
	unsigned char data[MOST][MOST * BLOCK];	/* rows, and then columns */
	uint32_t first[MOST + 1];
} all;

static uint64_t rng = 1;

static unsigned int draw(unsigned int below)
{
	rng = sht_mix(rng);
	return rng % below;
}

/* Racks of 1 to @most members each. */
static struct shuffle_topology draw_racks(unsigned int n, unsigned int most)
{
	unsigned int at = 0, racks = 0;

	while (at < n) {
		all.first[racks++] = at;
		at += 1 + draw(n - at < most ? n - at : most);
	}
	all.first[racks] = n;
	return (struct shuffle_topology) { .n = n, .racks = racks, .first = all.first };
}

static unsigned char byte_of(unsigned int from, unsigned int to, size_t i)
{
	return sht_mix(((uint64_t)from << 32) + (to << 16) + i);
}

/* The message that the receiver of @m, a member's number @to, has from its peer; it is taken. */
static bool deliver(const struct shuffle_plan_msg *m, unsigned int to)
{
	struct coll_packed *a = &all.part[m->peer], *b = &all.part[to];
	struct shuffle_plan *p = &all.plan[m->peer];
	unsigned int i;

	for (i = 0; i < p->n; i++) {
		struct shuffle_plan_msg *s = &p->msg[i];

		if (!s->out || s->step != m->step || s->peer != to)
			continue;
		if (s->blocks != m->blocks || s->block + s->blocks > a->blocks ||
		    m->block + m->blocks > b->blocks)
			return false;
		memcpy(b->in + m->block * b->size, a->out + s->block * a->size,
		       m->blocks * a->size);
		s->peer = UINT32_MAX;	/* it has arrived */
		return true;
	}
	return false;
}

static bool run_step(unsigned int n, uint32_t step)
{
	unsigned int i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < all.plan[i].n; k++)
			if (!all.msg[i][k].out && all.msg[i][k].step == step &&
			    !deliver(&all.msg[i][k], i))
				return false;
	return true;
}

/* Messages of one member: as many as promised? */
static bool few(const struct coll_packed *m, unsigned int sent, unsigned int received)
{
	unsigned int mates = m->seat.size - 1, others = m->topo->racks - 1;

	if (m->by == &coll_by_owners)
		return sent == mates + m->owned - 1 && received == mates + others;
	if (m->seat.index)
		return sent == 1 && received == 1;
	return sent == mates + others && received == mates + others;
}

/* Has all that was sent arrived, and is it no more than promised? */
static bool all_arrived(unsigned int n)
{
	unsigned int i, k, sent;

	for (i = 0; i < n; i++) {
		for (sent = k = 0; k < all.plan[i].n; k++) {
			if (all.msg[i][k].out && all.msg[i][k].peer != UINT32_MAX)
				return false;
			sent += all.msg[i][k].out;
		}
		if (!few(&all.part[i], sent, all.plan[i].n - sent))
			return false;
	}
	return true;
}

static bool has_column(unsigned int n, unsigned int self, size_t size)
{
	unsigned int i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < size; k++)
			if (all.data[self][i * size + k] != byte_of(i, self, k))
				return false;
	return true;
}

/* All members' parts together. */
static bool works_in(const struct coll_packing *by, const struct shuffle_topology *t, size_t size)
{
	unsigned int i, k, n = t->n, step;
	bool ok = true;

	for (i = 0; i < n; i++) {
		for (k = 0; k < n * size; k++)
			all.data[i][k] = byte_of(i, k / size, k % size);
		if (coll_packed_init(&all.part[i], by, t, i, size))
			return false;
		all.plan[i] = (struct shuffle_plan) { .msg = all.msg[i], .max = 4 * n };
		by->plan(&all.part[i], &all.plan[i]);
		ok &= all.plan[i].n <= all.plan[i].max;
		by->pack(&all.part[i], (char *)all.data[i]);
	}
	for (step = 0; step < 3 && ok; step++) {
		for (i = 0; i < n; i++)
			coll_packed_turn(&all.part[i], step);
		ok = run_step(n, step);
	}
	ok = ok && all_arrived(n);
	for (i = 0; i < n; i++) {
		memset(all.data[i], 0xee, n * size);
		by->unpack(&all.part[i], (char *)all.data[i]);
		ok &= has_column(n, i, size);
		coll_packed_free(&all.part[i]);
	}
	return ok;
}

/* Groups of 1 to MOST members, in racks of all kinds of sizes: equal, one each, one of all. */
static void test_plans(const struct coll_packing *by, const char *name)
{
	static const size_t sizes[] = { 0, 1, 8, BLOCK };
	unsigned int n, i, k, good = 0, wrong = 0;
	struct shuffle_topology t;

	for (n = 1; n <= MOST; n++) {
		for (i = 0; i < 40; i++) {
			t = draw_racks(n, i < 20 ? 1 + draw(n) : 1 + i % 8);
			if (works_in(by, &t, sizes[i % 4])) {
				good++;
				continue;
			}
			if (wrong++)
				continue;
			printf("# %u members, %zu bytes, racks from", n, sizes[i % 4]);
			for (k = 0; k < t.racks; k++)
				printf(" %u", t.first[k]);
			printf("\n");
		}
	}
	WORKS(good && EXPECT_EQ(wrong, 0), name);
}

/* What is chosen for a call, or its error. */
static const char *chosen(struct shuffle_coll *c, size_t size)
{
	static char from[4][8192], to[4][8192];
	unsigned int radix;
	int in_kernel;

	if (shuffle_alltoall(c, from, to, size))
		return strerror(errno);
	return shuffle_coll_chosen(c, &radix, &in_kernel);
}

#define IS(text, want)	(!strcmp(text, want))

/* Which pattern: 0, or what is wrong. */
static int choosing_member(const struct sockaddr_shuffle *m, unsigned int n, unsigned int rank,
			   const char *arg)
{
	int fd = sht_open(m, n, rank, 0);
	struct shuffle_coll *c = fd < 0 ? NULL : shuffle_coll_new(fd, rank, n, 1);

	(void)arg;
	if (!c)
		return 1;
	shuffle_coll_timeout(c, 20000);
	if (!IS(chosen(c, 8), "flat"))
		return 2;
	if (shuffle_coll_racks(c, (unsigned int[]){ 2, 2 }, 2) || !IS(chosen(c, 8), "spread") ||
	    !IS(chosen(c, 256), "spread") || !IS(chosen(c, 257), "flat"))
		return 3;
	if (shuffle_coll_pattern(c, "spread", 0) || !IS(chosen(c, 8192), "spread"))
		return 4;
	if (shuffle_coll_pattern(c, "flat", 0) || !IS(chosen(c, 8), "flat"))
		return 5;
	/* one that the call does not have */
	if (shuffle_coll_pattern(c, "tree", 2) || !IS(chosen(c, 8), "spread"))
		return 6;
	/* nothing to pack */
	if (shuffle_coll_racks(c, (unsigned int[]){ 1, 1, 1, 1 }, 4) ||
	    !IS(chosen(c, 8), "flat"))
		return 8;
	return shuffle_coll_free(c) ? 7 : 0;
}

static unsigned int *found_out;	/* members that did, of all processes */

/* The first one has blocks of another length.  Who finds out first goes away, and takes with it
 * what has not left yet: others may wait in vain.
 */
static int disagreeing_member(const struct sockaddr_shuffle *m, unsigned int n, unsigned int rank,
			      const char *pattern)
{
	int fd = sht_open(m, n, rank, 0);
	struct shuffle_coll *c = fd < 0 ? NULL : shuffle_coll_new(fd, rank, n, 1);
	char data[4 * 16] = { 0 };

	if (!c)
		return 1;
	shuffle_coll_timeout(c, 3000);
	if (shuffle_coll_racks(c, (unsigned int[]){ 2, 2 }, 2) ||
	    shuffle_coll_pattern(c, pattern, 0))
		return 2;
	if (!shuffle_alltoall(c, data, data, rank ? 8 : 16))
		return 3;
	if (errno == EPROTO)
		__atomic_add_fetch(found_out, 1, __ATOMIC_RELAXED);
	/* and nothing after it */
	if (!shuffle_alltoall(c, data, data, 0))
		return 5;
	shuffle_coll_free(c);
	return 0;
}

static void test_disagreeing(const char *pattern, const char *name)
{
	*found_out = 0;
	WORKS(api_group(4, disagreeing_member, pattern) && *found_out, name);
}

static void test_alone(void)
{
	struct sockaddr_shuffle m[2];
	struct shuffle_coll *c;
	char data[8] = "before.";
	int fds[2];

	open_pair(fds, m, 0);
	c = shuffle_coll_new(fds[0], 0, 2, 1);
	FAILS(shuffle_alltoall(c, data, data, SIZE_MAX / 3), "more than there is memory", EMSGSIZE);
	shuffle_coll_timeout(c, 300);
	FAILS(shuffle_alltoall(c, data, data, 4), "alone", ETIMEDOUT);
	FAILS(shuffle_alltoall(c, data, data, 4), "and nothing after it", ETIMEDOUT);
	shuffle_coll_free(c);
	close_pair(fds);

	my_addr(&m[0]);
	fds[0] = sht_open(m, 1, 0, 0);
	c = shuffle_coll_new(fds[0], 0, 1, 1);
	WORKS(!shuffle_alltoall(c, "itself.", data, 8) && EXPECT_STR(data, "itself."),
	      "a group of one");
	WORKS(!shuffle_coll_pattern(c, "spread", 0) && !shuffle_alltoall(c, "packed.", data, 8) &&
	      EXPECT_STR(data, "packed."), "likewise packed");
	WORKS(!shuffle_alltoall(c, NULL, NULL, 0), "no bytes");
	shuffle_coll_free(c);
	close(fds[0]);
}

int main(int argc, char **argv)
{
	api_start(argc, argv);
	test_plans(&coll_by_owners, "packed by owners: each block gets to its member");
	test_plans(&coll_by_leaders, "packed by leaders: each block gets to its member");
	test_alone();
	WORKS(api_group(4, choosing_member, NULL), "which pattern");
	found_out = mmap(NULL, sizeof(*found_out), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_disagreeing("flat", "lengths that differ");
	test_disagreeing("spread", "lengths that differ, by owners");
	test_disagreeing("cool-p-p", "lengths that differ, by leaders");
	return api_finish();
}
