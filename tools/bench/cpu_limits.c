// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What bounds the CPU-limited cases: the price of copying, and the price of the
 * schedule alone, which is the module's own source.
 *
 * usage: cpu_limits memcpy BYTES   copy that much, 64 KiB at a time
 *        cpu_limits sched N        choose packets among N open messages
 *        cpu_limits merge FLOWS RECORDS   merge the records of agg_bench by key, in a hash table
 *
 * Prints one line of NAME=VALUE, times in ns.
 */
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../net/shuffle/sched/policy.h"

#define BLOCK		65536
#define TURNS		20000
#define MESSAGE		(1024ULL * 1024 * 1024)
#define PACKET		1432
#define WINDOW		10	/* packets granted at a time */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p) {
		fputs("cpu_limits: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

static void copy(unsigned long long bytes)
{
	unsigned char *from = zeroed(1, BLOCK), *to = zeroed(1, BLOCK);
	unsigned long long left;
	double begin;

	memset(from, 1, BLOCK);
	memset(to, 2, BLOCK);
	begin = now();
	for (left = bytes; left >= BLOCK; left -= BLOCK) {
		memcpy(to, from, BLOCK);
		/* the compiler must not see that nobody reads it */
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	printf("bytes=%llu ns=%.0f\n", bytes, now() - begin);
	free(from);
	free(to);
}

/* A sender's choices: one packet after the other, of messages that never end. */
static double tx_cost(unsigned int n)
{
	struct shuffle_policy_tx tx = { .members = n, .unit = PACKET, .n = n };
	unsigned int i;
	double begin;

	tx.msg = zeroed(n, sizeof(*tx.msg));
	tx.heap.node = zeroed(n, sizeof(*tx.heap.node));
	for (i = 0; i < n; i++) {
		tx.msg[i].len = MESSAGE;
		tx.msg[i].limit = MESSAGE;
		shuffle_policy_tx_update(&tx, i);
	}
	begin = now();
	for (i = 0; i < TURNS; i++) {
		u32 m = shuffle_policy_tx_pick(&tx);

		tx.msg[m].next += PACKET;
		shuffle_policy_tx_sent(&tx, m);
	}
	return (now() - begin) / TURNS;
}

/* A receiver's: a packet comes of one message, and one is granted. */
static double rx_cost(unsigned int n)
{
	struct shuffle_policy_rx rx = { .unit = PACKET, .n = n, .unannounced = n };
	u32 granted[WINDOW], head = 0, tail = 0, m;
	u64 max_out = WINDOW * PACKET;
	unsigned int i;
	double begin;

	rx.msg = zeroed(n, sizeof(*rx.msg));
	rx.heap.node = zeroed(n, sizeof(*rx.heap.node));
	for (i = 0; i < n; i++)
		shuffle_policy_rx_announced(&rx, i, MESSAGE, 0, i);
	while ((m = shuffle_policy_rx_grant(&rx, max_out, max_out, U64_MAX)) != SHUFFLE_NONE)
		granted[tail++ % WINDOW] = m;
	begin = now();
	for (i = 0; i < TURNS; i++) {
		m = granted[head++ % WINDOW];
		shuffle_policy_rx_arrived(&rx, m, PACKET, rx.msg[m].received + PACKET);
		while ((m = shuffle_policy_rx_grant(&rx, max_out, max_out, U64_MAX)) !=
		       SHUFFLE_NONE)
			granted[tail++ % WINDOW] = m;
	}
	return (now() - begin) / TURNS;
}

/* A table of records; a value that nobody has is not needed, for no key is 0. */
struct slot {
	uint64_t key;
	uint64_t value;
};

static uint64_t mix(uint64_t z)
{
	z += 0x9e3779b97f4a7c15ULL;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* Flows of the same keys, big-endian as on the wire, become one, big-endian again: open addressing,
 * half full, one multiplication a key.
 */
static void merge(unsigned int flows, unsigned int records)
{
	struct slot *flow = zeroed((size_t)flows * records, sizeof(*flow)), *table, *out;
	unsigned int bits = 1, f, i, n = 0;
	size_t k, all = (size_t)flows * records;
	uint64_t sum = 0, want = (uint64_t)flows * records * (flows + records - 2) / 2;
	double begin, took;

	while (1U << bits < 2 * records)
		bits++;
	table = zeroed(1UL << bits, sizeof(*table));
	out = zeroed(records, sizeof(*out));
	for (f = 0; f < flows; f++)
		for (i = 0; i < records; i++)
			flow[(size_t)f * records + i] = (struct slot){
				htobe64((uint64_t)i << 40 | mix(i) >> 24), htobe64(f + i) };
	/* memory that is there already, as the kernel's is */
	memset(table, 0, sizeof(*table) << bits);
	memset(out, 0, records * sizeof(*out));
	begin = now();
	for (k = 0; k < all; k++) {
		uint64_t key = be64toh(flow[k].key);
		size_t at = key * 0x9e3779b97f4a7c15ULL >> (64 - bits);

		while (table[at].key && table[at].key != key)
			at = (at + 1) & ((1UL << bits) - 1);
		table[at].key = key;
		table[at].value += be64toh(flow[k].value);
	}
	for (k = 0; k < 1UL << bits; k++)
		if (table[k].key)
			out[n++] = (struct slot){ htobe64(table[k].key), htobe64(table[k].value) };
	took = now() - begin;
	for (i = 0; i < n; i++)
		sum += be64toh(out[i].value);
	if (n != records || sum != want) {
		fprintf(stderr, "cpu_limits: %u keys, or a wrong sum\n", n);
		exit(1);
	}
	printf("records=%zu completion_ns=%.0f\n", all, took);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "memcpy")) {
		copy(strtoull(argv[2], NULL, 10));
	} else if (argc == 3 && !strcmp(argv[1], "sched") && atoi(argv[2]) > 0) {
		unsigned int n = atoi(argv[2]);

		printf("messages=%u tx_ns=%.1f rx_ns=%.1f\n", n, tx_cost(n), rx_cost(n));
	} else if (argc == 4 && !strcmp(argv[1], "merge") && atoi(argv[2]) > 0 &&
		   atoi(argv[3]) > 0 && atoi(argv[3]) < 1 << 24) {
		merge(atoi(argv[2]), atoi(argv[3]));
	} else {
		fputs("usage: cpu_limits memcpy BYTES | sched MESSAGES | merge FLOWS RECORDS\n",
		      stderr);
		return 2;
	}
	return 0;
}
