/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options without a letter, and what "verify" is asked for. */
#ifndef SHUFFLE_SORT_OPTIONS_H
#define SHUFFLE_SORT_OPTIONS_H

#include "config.h"

enum {
	OPT_RECORD = 1000, OPT_KEY, OPT_FIRST, OPT_KEYS, OPT_SEED, OPT_PIVOTS, OPT_REDUCTION,
	OPT_DEADLINE, OPT_NO_PROGRESS, OPT_HOSTS, OPT_RUNS, OPT_RECORDS, OPT_CHECKSUM,
	OPT_PER_HOST, OPT_NO_OUTPUT, OPT_START, OPT_MEMORY, OPT_THREADS, OPT_CHARGE, OPT_ONE_FILE,
};

/**
 * struct verify - what is looked at
 * @format: of records
 * @path: files and folders
 * @paths: how many
 * @input: whose records they must be
 * @inputs: how many
 * @records: how many records there must be
 * @have_records: that has been said
 * @checksum: what their checksum must be
 * @have_checksum: that has been said
 * @json: result as JSON
 */
struct verify {
	struct format format;
	char *const *path;
	int paths;
	char **input;
	int inputs;
	uint64_t records;
	int have_records;
	uint64_t checksum;
	int have_checksum;
	int json;
};

int verify_run(struct verify *v);

#endif /* SHUFFLE_SORT_OPTIONS_H */
