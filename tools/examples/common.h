/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What shuffle-cp and tcp-a2a share: members, rows read from a directory,
 * columns written to one, the common start and the time line.  Functions
 * that fail end the program with a message.
 */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "shuffle.h"

struct group {
	struct sockaddr_shuffle *members;
	unsigned int count;
};

/* A file with one address a line, or "addr:port,addr:port,..." */
void group_read(struct group *group, const char *arg);

#define GROUP_RANK_UNKNOWN	UINT32_MAX

/* Read the group, and find out which member this process is: @rank, or what the launcher says
 * (mpirun, srun) if @rank is GROUP_RANK_UNKNOWN.
 */
uint32_t group_join(struct group *group, const char *arg, uint32_t rank);

unsigned long long arg_number(const char *name, const char *arg, unsigned long long max);

struct row {
	const void **bufs;
	uint64_t *lens;
	uint64_t total;
	unsigned int count;
};

/* Map dir/0 ... dir/count-1, or dir/rank/0 ... when dir/rank is a directory.
 * Missing files are empty messages.
 */
void row_read(struct row *row, const char *dir, unsigned int rank, unsigned int count);

struct column {
	const char *dir;
	int *fds;
	unsigned int count;
};

/* Messages grow as dir/RANK.part and are renamed when they are whole. */
void column_init(struct column *col, const char *dir, unsigned int count);
void column_write(struct column *col, unsigned int rank, const void *buf, size_t len,
		  uint64_t offset);
void column_whole(struct column *col, unsigned int rank);

/* Sleep until start (seconds since the epoch; 0: now).  Returns that moment
 * as a CLOCK_MONOTONIC time in ns, whether or not it has passed already.
 */
uint64_t start_wait(double start);
uint64_t now_ns(void);

struct event {
	uint64_t t_ns;
	uint64_t bytes;
	uint32_t rank;
	char dir;	/* 'o' sent to a socket, 'i' received, 'w' message whole */
};

struct timeline {
	struct event *events;
	size_t count, room;
	uint64_t start_ns;
	int on;
};

void timeline_add(struct timeline *tl, char dir, unsigned int rank, uint64_t bytes);
void timeline_add_at(struct timeline *tl, uint64_t t_ns, char dir, unsigned int rank,
		     uint64_t bytes);
/* CSV: t_ns,dir,rank,bytes */
void timeline_write(const struct timeline *tl, const char *path);

#endif /* EXAMPLES_COMMON_H */
