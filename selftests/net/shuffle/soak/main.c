// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random operations on lossy links, some cut off, in virtual time: see soak.h.
 *
 *	soak [NAME=VALUE...]
 *
 *	seed=1		all that is random in the program depends on it (what netem draws does not)
 *	ops=10000	operations; one counts once, however many members it has
 *	each=2000	of a batch
 *	first=0		the first batch, to repeat one: first=N ops=2000
 *	hosts=4		namespaces PREFIXh0 ..., on the bridge of PREFIXbr: rack() of ../lib.sh
 *	prefix=shf-
 *	stop=FILE	no new batch when there is this file
 *
 * A line for each batch, TAP at the end.  Nothing that takes place is measured in time of the
 * machine: where time is not virtual, it works and takes long.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../../../tools/common/tap.h"
#include "soak.h"

/* What is remembered of an operation, and what came for one that nobody knows, is forgotten. */
#define SETTLE_S	70

struct soak *soak;
struct shared *shared;
struct slot *slot;
const struct mix *mix;
unsigned int hosts = 4;
const char *prefix = "shf-";

static unsigned long seed = 1, ops = 10000, each = 2000, first;
static const char *stop = "";
/* of all batches */
static unsigned long all_ops, all_parts, all_events[N_EVENTS];

uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

uint64_t tmo_ms(unsigned int seconds)
{
	return seconds * 1000ull;
}

void wrong(const char *format, ...)
{
	char text[500];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("# WRONG: batch %u, group 0x%llx: %s\n", soak->batch.number,
	       slot ? (unsigned long long)soak->group[slot->number].seed : 0ull, text);
	fflush(stdout);
	if (!atomic_exchange(&shared->failed, 1))
		snprintf(shared->why, sizeof(shared->why), "%s", text);
}

void die(const char *what)
{
	wrong("cannot go on: %s: %s", what, strerror(errno));
	_exit(1);
}

static bool option(const char *arg)
{
	if (sscanf(arg, "seed=%lu", &seed) == 1 || sscanf(arg, "ops=%lu", &ops) == 1 ||
	    sscanf(arg, "each=%lu", &each) == 1 || sscanf(arg, "first=%lu", &first) == 1 ||
	    sscanf(arg, "hosts=%u", &hosts) == 1)
		return true;
	if (!strncmp(arg, "prefix=", 7))
		prefix = arg + 7;
	else if (!strncmp(arg, "stop=", 5))
		stop = arg + 5;
	else
		return false;
	return true;
}

static void draw_batch(struct batch *b, unsigned int number, unsigned long most)
{
	struct dice d = { sht_key(seed, 1, number, 0) };

	memset(b, 0, sizeof(*b));
	b->number = number;
	b->seed = d.state;
	b->ops = most < each ? most : each;
	b->calm = number % 4 == 1;
	if (roll(&d, 5))
		b->loss = roll(&d, 51);
	if (!roll(&d, 2))
		b->duplicate = roll(&d, 21);
	b->delay = roll(&d, 4) ? 20 + roll(&d, 200) : 200 + roll(&d, 3000);
	b->jitter = roll(&d, 2) ? 0 : roll(&d, b->delay);
	if (!roll(&d, 3))
		b->reorder = 1 + roll(&d, 30);
}

/* Until all of its operations have ended, or something is wrong. */
static void run_batch(struct batch *b)
{
	unsigned long opened = 0;
	uint64_t next, then;
	unsigned int i, live;

	do {
		next = NEVER;
		for (i = 0, live = 0; i < GROUPS && !shared->failed; i++) {
			struct group *g = &soak->group[i];

			if (!g->live && b->begun < b->ops &&
			    group_open(g, sht_key(b->seed, 2, opened++, 0), b->ops - b->begun))
				die("a group cannot be opened");
			if (!g->live)
				continue;
			live++;
			then = group_run(g);
			next = then < next ? then : next;
		}
		if (live && !shared->failed)
			members_wait(next);
	} while (live && !shared->failed);
}

static void tell(const struct batch *b, uint64_t begun, const char *balance)
{
	unsigned int i;

	printf("# batch %u: %lu operations of %lu groups; %u.%u %% lost, %u.%u %% twice, %u %% reordered, %u+-%u us;",
	       b->number, b->begun, b->groups, b->loss / 10, b->loss % 10, b->duplicate / 10,
	       b->duplicate % 10, b->reorder, b->delay, b->jitter);
	for (i = 1; i < N_EVENTS; i++)
		if (b->events[i])
			printf(" %s %lu", event_name[i], b->events[i]);
	printf("; heard within %llu ms; %llu s; %s\n", (unsigned long long)b->heard / 1000,
	       (unsigned long long)(now_us() - begun) / 1000000, balance);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned int number, a, i;
	char balance[400];
	uint64_t begun;

	for (a = 1; a < (unsigned int)argc; a++)
		if (!option(argv[a]))
			break;
	if (a < (unsigned int)argc || !hosts || hosts > MAX_HOSTS || !each) {
		fprintf(stderr, "usage: soak [seed= ops= each= first= hosts= prefix= stop=]\n");
		return 2;
	}
	soak = mmap(NULL, sizeof(*soak), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (soak == MAP_FAILED || epoll < 0)
		return 2;
	shared = &soak->shared;
	/* what is freed is used again */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	signal(SIGPIPE, SIG_IGN);
	printf("# soak seed=%lu ops=%lu each=%lu first=%lu hosts=%u\n", seed, ops, each, first,
	       hosts);
	balance_begin();
	for (number = first; all_ops < ops && !shared->failed && access(stop, F_OK); number++) {
		struct batch *b = &soak->batch;

		begun = now_us();
		draw_batch(b, number, ops - all_ops);
		if (weather_begin(b))
			die("tc");
		run_batch(b);
		if (shared->failed) {
			balance_show();
			break;
		}
		sleep(SETTLE_S);
		balance_batch(b, balance, sizeof(balance));
		tell(b, begun, balance);
		all_ops += b->begun;
		all_parts += b->parts;
		for (i = 0; i < N_EVENTS; i++)
			all_events[i] += b->events[i];
	}
	printf("# %lu operations, %lu parts of members, in %lu batches:", all_ops, all_parts,
	       number - first);
	for (i = 1; i < N_EVENTS; i++)
		printf(" %s %lu", event_name[i], all_events[i]);
	printf("\n");
	if (shared->failed)
		printf("# %s\n# again: soak seed=%lu first=%u ops=%lu each=%lu\n", shared->why,
		       seed, soak->batch.number, each, each);
	tap_line(!shared->failed, "every byte right, every end in time, and the right names");
	balance_end();
	return tap_finish();
}
