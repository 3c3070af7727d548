/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * soak: a million operations of random shape, size, loss and lifetime, in virtual time.  See main.c
 * for how it is called.
 *
 * One process, one thread, and no call that waits but for time: where time is virtual all is quick
 * that this process does, and it costs nothing to wait.  So a few *groups* live side by side in
 * one loop (main.c).  A group (group.c) is a plan of torture's (../torture/torture.h) with one
 * *phase* behind the other: some operations at once at all of its members, and one thing that
 * happens to one of them meanwhile.  When all has ended, what each member has read is checked
 * against what has happened; who has left is back before the next phase.
 *
 * A *batch* is some thousand operations under one weather (weather.c): loss, duplicates, order and
 * delay of the packets between hosts.  At its end, when all that is remembered has been forgotten,
 * nothing may be left, and counters have to add up (balance.c).
 */
#ifndef SOAK_H
#define SOAK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../torture/torture.h"

#define GROUPS		4	/* at once: no more than MAX_SLOTS */
#define MAX_HOSTS	8
#define QUESTIONS	64	/* SHUFFLE_RECORD_WANT that wait for their answers, of a member */
#define MOST_BYTES	(8 << 20)	/* of all messages of an operation */
#define NEVER		(~0ull)

/* What happens to a member in a phase. */
enum event {
	EV_none,
	EV_pause,	/* it reads and writes nothing for a while: nobody may give it up */
	EV_cancel,	/* it cancels one of the operations */
	EV_close,	/* it closes its socket */
	EV_kill,	/* its process is killed */
	EV_restart,	/* it closes its socket, and at once there is another one in its place */
	EV_late,	/* it begins one of the operations when the others' deadline is over */
	N_EVENTS,
};

/**
 * struct step - what a member has done of an operation
 * @due: when it begins, us
 * @first: ranks announced
 * @begun: the kernel has it
 * @at: since then, us
 * @over: there is nothing more to do
 * @data: what has not been taken, in memory of the member's process
 * @len: bytes of it
 * @taken: of these
 */
struct step {
	uint64_t due;
	unsigned int first;
	bool begun, over;
	uint64_t at;
	unsigned char *data;
	size_t len, taken;
};

/* Questions, in their order. */
struct questions {
	struct shuffle_record rec[QUESTIONS];
	unsigned int first, n;
	uint64_t answered;	/* bytes of the first one */
};

/**
 * struct group - in memory that all processes share
 * @s: its plan, and what has been seen (torture.h)
 * @live: it is there
 * @seed: all follows from it
 * @phase: the one that runs
 * @phases: in all
 * @event: what happens
 * @victim: to this member
 * @target: to this operation
 * @at: when, us
 * @until: the end of a pause, us
 * @happened: us, or 0
 * @begun: the phase, us
 * @retry: when there is something to go on with, us
 * @child: the victim's process, or 0
 * @addr: of members
 * @step: of each operation and member
 * @ended: when, us
 * @asked: of each member
 */
struct group {
	struct slot s;
	bool live;
	uint64_t seed;
	unsigned int phase, phases;
	enum event event;
	unsigned int victim, target;
	uint64_t at, until, happened, begun, retry;
	pid_t child;
	struct sockaddr_shuffle addr[MAX_MEMBERS];
	struct step step[MAX_OPS][MAX_MEMBERS];
	uint64_t ended[MAX_OPS][MAX_MEMBERS];
	struct questions asked[MAX_MEMBERS];
};

/**
 * struct batch - what is asked for, and what came of it; memory that all processes share
 * @number: of the batch
 * @seed: all follows from it
 * @ops: to be made
 * @calm: nothing happens to members, so that counters are known exactly
 * @loss, @duplicate: of 1000 packets
 * @reorder: percent
 * @delay, @jitter: us
 * @begun: operations
 * @groups: of them
 * @parts: members that have begun an operation
 * @events: that have happened
 * @wire: payload bytes between members, where each byte counts once
 * @heard: the longest time until the others had ended when a member had left, us
 */
struct batch {
	unsigned int number;
	uint64_t seed;
	unsigned long ops;
	bool calm;
	unsigned int loss, duplicate, reorder, delay, jitter;
	unsigned long begun, groups;
	atomic_ulong parts;
	unsigned long events[N_EVENTS];
	uint64_t wire;
	uint64_t heard;
};

/* Sockets that this process has; -1. */
extern int sockets[GROUPS][MAX_MEMBERS];

static inline int *socket_of(const struct group *g, unsigned int rank)
{
	return &sockets[g->s.number][rank];
}

/* All that processes share. */
struct soak {
	struct shared shared;	/* verdicts: torture.h */
	struct batch batch;
	struct group group[GROUPS];
};

extern struct soak *soak;
extern unsigned int hosts;
extern const char *prefix;
extern const char *const event_name[];

uint64_t now_us(void);

/* ---- group.c ---- */

/* A new group with so many operations at most; -1: it cannot be opened. */
int group_open(struct group *g, uint64_t seed, unsigned long ops);
/* Does what is due.  Returns when something is due next, us. */
uint64_t group_run(struct group *g);
void group_close(struct group *g);

/* ---- member.c ---- */

extern int epoll;
/* A socket in the group, in its host; -1 and errno. */
int member_open(struct group *g, unsigned int rank);
void member_close(struct group *g, unsigned int rank);
/* Whether what comes is read. */
void member_listen(struct group *g, unsigned int rank, bool on);
/* Begins what is due, and goes on with what has begun.  Returns when there is more to do, us. */
uint64_t member_write(struct group *g, unsigned int rank);
/* Reads what has come. */
void member_read(struct group *g, unsigned int rank);
/* Waits until something has come or it is time, and reads it. */
void members_wait(uint64_t until);

/* ---- weather.c ---- */

int weather_begin(const struct batch *b);
int in_host_number(unsigned int host);

/* ---- balance.c ---- */

/* What is there before the first batch. */
void balance_begin(void);
void balance_show(void);	/* what was dropped and asked: of a failure */
/* All groups are closed. */
void balance_batch(const struct batch *b, char *line, size_t size);
/* After all batches. */
void balance_end(void);

#endif /* SOAK_H */
