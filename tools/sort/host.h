/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One host of a sort. */
#ifndef SHUFFLE_SORT_HOST_H
#define SHUFFLE_SORT_HOST_H

#include "config.h"
#include "merge.h"
#include "net.h"
#include "partition.h"
#include "report.h"

/**
 * struct column_part - what one host has sent
 * @n: records
 * @key: their keys
 * @value: their values
 * @off: of lines where each value begins, and the end; else NULL
 * @line_key: of lines the memory of @key; else NULL
 */
struct column_part {
	size_t n;
	const unsigned char *key;
	const unsigned char *value;
	uint64_t *off;
	unsigned char *line_key;
};

/**
 * struct host - one host of a sort
 * @net: the group
 * @format: of records
 * @generate: what is made, if there are no @files
 * @path: names of input files
 * @files: how many
 * @input: the files that these stand for
 * @dir: for the output; NULL: it stays in memory
 * @one_file: of all hosts, in a folder that they share
 * @start: when the local sort begins, in seconds since the epoch; 0: at once
 * @memory: bytes of records that are held at once; 0: all
 * @rounds: shuffles of a sort that is larger
 * @op: number of the sort; NET_OP_AGREE: the hosts agree on one
 * @pivots: of each host, 0: as many as hosts
 * @reduction: reduction factor
 * @threads: of the local sort, 0: as many as processors, fewer for few records
 * @deadline_ms: for all
 * @json: report as JSON
 * @explain: and with phases
 * @quiet: no text
 * @progress: what goes on, to stderr
 * @records: of this host
 * @order: of its keys
 * @sorted: its keys in order
 * @keys: the same, for partitioning
 * @data: the shuffle of records
 * @own: message to ourselves
 * @own_len: bytes of it
 * @column: what has come
 * @merge: of its keys
 * @all: their order
 * @placed_key: the keys of this host's part in order, without @dir
 * @placed_value: and their values
 * @report: of this host
 * @phase: that goes on
 * @phase_ns: since then
 * @start_ns: when the program began
 * @shown_ns: when progress was shown
 * @file_at: with @one_file: where this host's part begins
 * @file_bytes: and the length of the file
 * @opened: @part is there
 * @part: output while it is written
 * @name: and then
 */
struct host {
	struct net net;
	struct format format;
	struct generate generate;
	char *const *path;
	int files;
	struct files input;
	const char *dir;
	int one_file;
	double start;
	uint64_t memory;
	unsigned int rounds;
	uint64_t op;
	unsigned int pivots;
	unsigned int reduction;
	unsigned int threads;
	uint64_t deadline_ms;
	int json, explain, quiet, progress;

	struct records records;
	struct entry *order;
	unsigned char *sorted;
	struct pt_keys keys;
	struct net_op data;
	unsigned char *own;
	uint64_t own_len;
	struct column_part *column;
	struct merge merge;
	struct merge_run all;
	unsigned char *placed_key;
	unsigned char *placed_value;
	struct report report;
	enum phase phase;
	uint64_t phase_ns;
	uint64_t start_ns;
	uint64_t shown_ns;
	uint64_t file_at;
	uint64_t file_bytes;
	int opened;
	char part[4096];
	char name[4096];
};

extern const char *const phase_names[PHASES];

void host_run(struct host *h);
void host_checksum(struct host *h, const struct records *r);
unsigned int host_threads(const struct host *h, size_t n);
size_t host_pivots(const struct host *h);

/* external.c */
struct external;

struct external *external_read(struct host *h);
void external_partition(struct external *x);
void external_shuffle(struct external *x);

/* external_merge.c */
void external_write(struct external *x);

/* message.c */
void message_shuffle(struct host *h, unsigned int step, const size_t *from, const size_t *to,
		     int last);
void message_free(struct host *h);

/* output.c */
void output_place(struct host *h);
void output_write(struct host *h);
void output_free(struct host *h);
void output_name(struct host *h);
void output_offset(struct host *h, uint64_t bytes);
void output_rename(struct host *h);
FILE *output_open(struct host *h);
void output_bytes(struct host *h, FILE *f, const void *p, size_t len);
void output_keys(struct report *rep, const unsigned char *first, const unsigned char *last,
		 size_t klen);
void output_close(struct host *h, FILE *f);

#endif /* SHUFFLE_SORT_HOST_H */
