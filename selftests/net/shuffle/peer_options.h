/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of shuffle_peer: NAME=VALUE for all members, RANK:NAME=VALUE, LOW-HIGH:NAME=VALUE. */
#ifndef PEER_OPTIONS_H
#define PEER_OPTIONS_H

#include <stdint.h>

#define MAX_RANKS	256

struct options {
	char matrix[64];
	char prefix[32];
	char expect[128];	/* per operation: done, ETIMEDOUT, ..., cancelled, any */
	char missing[128];	/* ranks that a failure must name */
	char device[16];	/* SO_BINDTODEVICE */
	int64_t n, hosts, v6, net, port, seed;
	int64_t op, ops, rounds;
	int64_t mode;
	int64_t delay, stagger, open_delay, read_delay, read_pause;	/* ms */
	int64_t recv_buf, chunk, split, want;
	int64_t rcvbuf, sndbuf, deadline, idle, key;
	int64_t kill_rx, kill_ms, close_ms, cancel_ms, cancel_op, linger;
	int64_t min_tx_ms, check_mem, timeout;
	int64_t absent;
	int64_t order;		/* 1 fair, 2 smallest, 3 deadline; 0: what is set */
};

extern struct options peer_opts[MAX_RANKS];

void peer_options_default(void);
/* One argument; -1 if it makes no sense. */
int peer_options_set(const char *arg);

#endif /* PEER_OPTIONS_H */
