// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records merged per second of one processor, in a table and of sorted streams: a million records
 * of 8 streams, as many keys as the arguments say.
 *
 *	make -C net/shuffle/test merge-speed
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../merge.h"

#define STREAMS	8U
#define RECORDS	125000U	/* of a stream */
#define ROUNDS	7

static u8 *random_order[STREAMS], *sorted[STREAMS];

static u64 mix(u64 z)
{
	z += 0x9e3779b97f4a7c15ULL;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static int by_key(const void *a, const void *b)
{
	const struct shuffle_pair *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void fill(u32 keys)
{
	static struct shuffle_pair pair[RECORDS];
	u32 i, j;

	for (i = 0; i < STREAMS; i++) {
		for (j = 0; j < RECORDS; j++) {
			pair[j].key = mix(mix((u64)i << 32 | j) % keys);
			pair[j].value = j;
		}
		shuffle_merge_store(random_order[i], pair, RECORDS);
		qsort(pair, RECORDS, sizeof(pair[0]), by_key);
		shuffle_merge_store(sorted[i], pair, RECORDS);
	}
}

static double by_table(u32 keys, void *memory, u32 *n)
{
	struct shuffle_merge_table t;
	double start = now();
	u32 i;

	shuffle_merge_table_init(&t, SHUFFLE_MERGE_SUM, 42, keys, memory);
	for (i = 0; i < STREAMS; i++)
		shuffle_merge_add(&t, random_order[i], RECORDS);
	*n = t.n;
	return now() - start;
}

static double by_streams(u32 *total)
{
	struct shuffle_merge_stream stream[STREAMS] = { 0 };
	struct shuffle_merge_node node[STREAMS];
	static u8 out[8192 * SHUFFLE_PAIR_BYTES];
	struct shuffle_merge_sorted s;
	double start = now();
	u32 i, n;
	int rc;

	shuffle_merge_sorted_init(&s, SHUFFLE_MERGE_SUM, stream, node, STREAMS);
	for (i = 0; i < STREAMS; i++) {
		stream[i].data = sorted[i];
		stream[i].n = RECORDS;
		stream[i].end = true;
	}
	*total = 0;
	do {
		n = 0;
		rc = shuffle_merge_streams(&s, out, 8192, &n);
		*total += n;
	} while (rc == SHUFFLE_MERGE_FULL);
	return now() - start;
}

static int measure(u32 keys)
{
	void *memory = malloc(shuffle_merge_table_bytes(keys));
	double table = 1e9, streams = 1e9, s;
	u32 n = 0, m = 0;
	int i;

	if (!memory)
		return 1;
	fill(keys);
	for (i = 0; i < ROUNDS; i++) {
		s = by_table(keys, memory, &n);
		table = s < table ? s : table;
		s = by_streams(&m);
		streams = s < streams ? s : streams;
	}
	free(memory);
	printf("%u keys: in a table %.1f, sorted %.1f million records a second, ratio %.2f\n", n,
	       STREAMS * RECORDS / table / 1e6, STREAMS * RECORDS / streams / 1e6, table / streams);
	return n != m;
}

int main(int argc, char **argv)
{
	int i, rc = 0, keys;

	for (i = 0; i < (int)STREAMS; i++) {
		random_order[i] = malloc(RECORDS * SHUFFLE_PAIR_BYTES);
		sorted[i] = malloc(RECORDS * SHUFFLE_PAIR_BYTES);
		if (!random_order[i] || !sorted[i])
			return 1;
	}
	for (i = 1; i < argc && !rc; i++) {
		keys = atoi(argv[i]);
		if (keys < 1 || keys > 1 << 24) {
			fprintf(stderr, "%s: not a number of keys from 1 to 2^24\n", argv[i]);
			return 2;
		}
		rc = measure(keys);
	}
	for (i = 0; i < (int)STREAMS; i++) {
		free(random_order[i]);
		free(sorted[i]);
	}
	return rc;
}
