/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each host tells all others when it has ended, and how a sort is reported. */
#ifndef SHUFFLE_SORT_REPORT_H
#define SHUFFLE_SORT_REPORT_H

#include <stdint.h>

#include "util.h"

enum phase {
	PHASE_READ, PHASE_AGREE, PHASE_LOCAL, PHASE_PARTITION, PHASE_SHUFFLE, PHASE_PLACE,
	PHASE_WRITE, PHASES
};

enum { REPORT_SORTED, REPORT_FAILED, REPORT_GAVE_UP };

#define REPORT_MAGIC	0x53525433U
#define REPORT_KEY	32

/**
 * struct report - of a host, as it is sent
 * @magic: REPORT_MAGIC
 * @state: REPORT_SORTED; FAILED: something is wrong here; GAVE_UP: others were waited for
 * @in: what it had
 * @out: what it has now
 * @first: first bytes of its first key, if it has records
 * @last: of its last key
 * @key: how many bytes these are
 * @start_ns: CLOCK_MONOTONIC time at which the local sort began
 * @ns: time of each phase
 * @bytes_out: sent in the data shuffle
 * @bytes_in: received in it
 * @partition_bytes: sent for the partitioning
 * @text: what is wrong
 */
struct report {
	uint32_t magic;
	uint32_t state;
	struct checksum in;
	struct checksum out;
	unsigned char first[REPORT_KEY];
	unsigned char last[REPORT_KEY];
	uint32_t key;
	uint32_t reserved;
	uint64_t start_ns;
	uint64_t ns[PHASES];
	uint64_t bytes_out;
	uint64_t bytes_in;
	uint64_t partition_bytes;
	char text[160];
};

struct net;

void report_wire(struct report *r);

const char *report_wrong(const struct net *net);
void report_json(const struct net *net, int all);
void report_text(const struct net *net);
void report_explain(const struct net *net);

#endif /* SHUFFLE_SORT_REPORT_H */
