/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors and signals that end the program, memory, numbers, time, checksums. */
#ifndef SHUFFLE_SORT_UTIL_H
#define SHUFFLE_SORT_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void usage_die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* What a program does before it ends because of an error of its own; NULL: nothing. */
void die_hook(void (*hook)(const char *message));
void signal_catch(void);
void signal_check(void);
void *memory(size_t n, size_t size);
uint64_t number(const char *name, const char *text, uint64_t min, uint64_t max);
uint64_t clock_now_ns(void);
/* @n numbers from this machine's byte order to that of messages, little-endian, or back. */
void wire32(void *numbers, size_t n);
void wire64(void *numbers, size_t n);

/**
 * struct checksum - of records in any order
 * @records: their number
 * @bytes: likewise
 * @sum: of a hash of each record, modulo 2^64
 */
struct checksum {
	uint64_t records;
	uint64_t bytes;
	uint64_t sum;
};

void checksum_add(struct checksum *c, const void *key, size_t klen, const void *value, size_t vlen);
void checksum_join(struct checksum *c, const struct checksum *other);
int checksum_same(const struct checksum *a, const struct checksum *b);

#endif /* SHUFFLE_SORT_UTIL_H */
