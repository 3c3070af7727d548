/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A re-created workload on a rack: what its files share. */
#ifndef SABA_JOB_H
#define SABA_JOB_H

#include <stdint.h>

#include "saba_client.h"

/**
 * struct job_transport - how hosts exchange what they have for each other
 * @listen: before anybody connects
 * @open: when all listen
 * @exchange: @bytes to each other host, and as many from each; returns when all are there
 */
struct job_transport {
	void (*listen)(void);
	void (*open)(void);
	void (*exchange)(unsigned int stage, uint64_t bytes);
};

extern const struct job_transport job_tcp, job_shuffle;
extern struct saba *job_saba;	/* NULL: not registered */

/* Tell the daemon of a connection to that host, and mark the socket, -1 for none. */
void job_connection(unsigned int host, int fd);

#endif /* SABA_JOB_H */
