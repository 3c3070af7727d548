// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who does what since when; verdicts; and whether the machine stood still.
 *
 * Limits are of progress: a round fails when nothing has moved in it for its time limits and as
 * long again as lib.sh's tmo() gives, in which no tick of the mix process was late.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

#define LATE_MS	3000

const char *const action_name[] = {
#define X(name) #name,
	ACTIONS(X)
#undef X
};

/* As in lib.sh: how much slower than a plain machine. */
static unsigned int slowness(void)
{
	static unsigned int slow;
	const char *lane = getenv("SHUFFLE_LANE");

	if (!slow && (!lane || !*lane))
		slow = 1;
	else if (!slow && (!strcmp(lane, "qemu-debug") || !strcmp(lane, "qemu-kcsan")))
		slow = 20;
	else if (!slow)
		slow = !strncmp(lane, "uml-debug", 9) ? 3 : !strncmp(lane, "qemu", 4) ? 4 : 1;
	return slow;
}

uint64_t tmo_ms(unsigned int seconds)
{
	return (seconds * slowness() + 20) * 1000ull;
}

uint32_t idle_ms(uint32_t plain)
{
	return plain < 10000 && slowness() >= 10 ? 6 * plain : plain;
}

void nap_us(unsigned int us)
{
	struct timespec ts = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

struct call *call_new(void)
{
	unsigned int i = slot->calls++;
	struct call *c;

	if (i >= MAX_CALLS) {
		fprintf(stderr, "# more than %d threads\n", MAX_CALLS);
		_exit(1);
	}
	c = &slot->call[i];
	c->pid = getpid();
	c->tid = gettid();
	return c;
}

void call_begin(struct call *c, enum action a, unsigned int rank, unsigned int op)
{
	c->rank = rank;
	c->op = op;
	c->since = sht_now_ms();
	c->seq++;
	c->action = a;
}

void call_end(struct call *c)
{
	c->action = ACT_none;
	c->seq++;
}

void progress(void)
{
	slot->progress = sht_now_ms();
}

/* As /proc has it: T is stopped, Z has ended, and has not been waited for. */
static char state_of(int pid, int tid)
{
	char path[64], text[200], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return '-';
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return '-';
	text[n] = 0;
	p = strrchr(text, ')');
	return p && p[1] ? p[2] : '?';
}

static void show_file(int pid, int tid, const char *name)
{
	char path[64], text[2000], *line, *save;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return;
	text[n] = 0;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		dprintf(STDOUT_FILENO, "#     %s\n", line);
}

void show_calls(struct slot *s)
{
	unsigned int i, n = s->calls < MAX_CALLS ? s->calls : MAX_CALLS;
	uint64_t now = sht_now_ms();

	for (i = 0; i < n; i++) {
		struct call *c = &s->call[i];
		unsigned long long tenths = (now - c->since) / 100;

		if (c->action == ACT_none || now < c->since + 1000)
			continue;
		dprintf(STDOUT_FILENO, "#   thread %u (%d/%d, %c): ", i, c->pid, c->tid,
			state_of(c->pid, c->tid));
		dprintf(STDOUT_FILENO, "%s, member %d, operation %d, for %llu.%llu s\n",
			action_name[c->action], (int)c->rank, (int)c->op, tenths / 10, tenths % 10);
		show_file(c->pid, c->tid, "stack");
	}
}

void wrong(const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	dprintf(STDOUT_FILENO, "# WRONG: slot %d, round %llu, seed 0x%llx: %s\n", slot->number,
		(unsigned long long)slot->rounds, (unsigned long long)slot->plan.seed, text);
	/* first, for then all processes are killed */
	show_calls(slot);
	if (!atomic_exchange(&shared->failed, 1))
		snprintf(shared->why, sizeof(shared->why), "%s (round seed 0x%llx)", text,
			 (unsigned long long)slot->plan.seed);
}

void die(const char *what)
{
	wrong("cannot go on: %s: %s", what, strerror(errno));
	_exit(1);
}

/* The mix process, every 100 ms. */
void watch_tick(void)
{
	static uint64_t last;
	uint64_t now = sht_now_ms();

	if (last && now - last > LATE_MS)
		shared->still = now;
	last = now;
}
