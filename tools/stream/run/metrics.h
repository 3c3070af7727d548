/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Prometheus endpoint of a member: one short answer to each connection. */
#ifndef STREAM_METRICS_H
#define STREAM_METRICS_H

#include "run.h"

#define METRICS_TEXT	8192	/* bytes of an answer */

/**
 * struct metrics - an answer that is being written
 * @text: the answer
 * @len: its bytes
 * @labels: of each value
 */
struct metrics {
	char	text[METRICS_TEXT];
	size_t	len;
	char	labels[80];
};

void metric_add(struct metrics *m, const char *name, const char *type, const char *help,
		double value);
int metrics_listen(const char *where);
void metrics_serve(int fd, struct metrics *m);

#endif /* STREAM_METRICS_H */
