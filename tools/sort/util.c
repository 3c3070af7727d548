// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors that end the program, memory, numbers, time, checksums. */
#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util.h"

static void (*before_end)(const char *message);

/**
 * die_hook() - what to do before an error ends the program
 * @hook: called with the message, once; NULL: nothing
 */
void die_hook(void (*hook)(const char *message))
{
	before_end = hook;
}

static void say(const char *fmt, va_list ap, char *message, size_t size)
{
	vsnprintf(message, size, fmt, ap);
	fprintf(stderr, "shuffle-sort: %s\n", message);
}

/**
 * die() - say what has gone wrong, and end with status 1
 * @fmt: as for printf()
 */
void die(const char *fmt, ...)
{
	void (*hook)(const char *message) = before_end;
	char message[512];
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap, message, sizeof(message));
	va_end(ap);
	before_end = NULL;
	if (hook)
		hook(message);
	exit(1);
}

/**
 * usage_die() - say what is wrong with the command line, and end with status 2
 * @fmt: as for printf()
 */
void usage_die(const char *fmt, ...)
{
	char message[512];
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap, message, sizeof(message));
	va_end(ap);
	exit(2);
}

static volatile sig_atomic_t signalled;

static void note_signal(int sig)
{
	signalled = sig;
}

/**
 * signal_catch() - let signal_check() see SIGINT, SIGTERM and SIGHUP
 *
 * A system call that waits is interrupted.  The second signal ends the program as ever.
 */
void signal_catch(void)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = note_signal, .sa_flags = SA_RESETHAND };
	size_t i;

	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaction(caught[i], &sa, NULL);
}

/**
 * signal_check() - end the program if a signal has asked for it
 */
void signal_check(void)
{
	if (signalled)
		die("ended by signal %d (%s)", (int)signalled, strsignal(signalled));
}

/**
 * memory() - memory of zeroes; without any the program ends
 * @n: elements
 * @size: bytes of one
 *
 * Return: the memory.
 */
void *memory(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		die("out of memory: %zu times %zu bytes", n, size);
	return p;
}

/**
 * number() - a number of the command line; the program ends if it is none
 * @name: of the option
 * @text: what is given; k, M and G mean 10^3, 10^6 and 10^9
 * @min: the smallest that is right
 * @max: the largest
 *
 * Return: the number.
 */
uint64_t number(const char *name, const char *text, uint64_t min, uint64_t max)
{
	static const char units[] = "kMG";
	unsigned long long v;
	const char *unit;
	char *end;
	int i = 0;

	errno = 0;
	v = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit && end != text) {
		end++;
		for (i = unit - units + 1; i && !errno; i--)
			if (__builtin_mul_overflow(v, 1000ULL, &v))
				errno = ERANGE;
	}
	if (errno || end == text || *end || *text == '-' || v < min || v > max)
		usage_die("%s: \"%s\" is not a number from %llu to %llu", name, text,
			  (unsigned long long)min, (unsigned long long)max);
	return v;
}

/**
 * wire32() - from this machine's byte order to that of messages, or back
 * @numbers: anywhere in memory
 * @n: of them
 */
void wire32(void *numbers, size_t n)
{
	char *at = numbers;
	uint32_t x;

	for (; n && htole32(1) != 1; n--, at += sizeof(x)) {
		memcpy(&x, at, sizeof(x));
		x = htole32(x);
		memcpy(at, &x, sizeof(x));
	}
}

/**
 * wire64() - likewise, with 64 bits each
 * @numbers: anywhere in memory
 * @n: of them
 */
void wire64(void *numbers, size_t n)
{
	char *at = numbers;
	uint64_t x;

	for (; n && htole64(1) != 1; n--, at += sizeof(x)) {
		memcpy(&x, at, sizeof(x));
		x = htole64(x);
		memcpy(at, &x, sizeof(x));
	}
}

/**
 * clock_now_ns() - the time
 *
 * Return: ns of CLOCK_MONOTONIC.
 */
uint64_t clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* A step of a multiplicative hash: each bit of @v changes about half of those above. */
static uint64_t hash_word(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static uint64_t hash_bytes(uint64_t h, const unsigned char *p, size_t len)
{
	uint64_t v;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&v, p, 8);
		h = hash_word(h, le64toh(v));
	}
	v = len;
	while (len--)
		v = v << 8 | *p++;
	return hash_word(h, v);
}

/**
 * checksum_add() - add a record to a checksum
 * @c: the checksum, at first all 0
 * @key: what the record begins with
 * @klen: bytes; 0 where the value is all of the record
 * @value: the rest
 * @vlen: bytes
 */
void checksum_add(struct checksum *c, const void *key, size_t klen, const void *value, size_t vlen)
{
	c->records++;
	c->bytes += klen + vlen;
	c->sum += hash_bytes(hash_bytes(1, key, klen), value, vlen);
}

/**
 * checksum_join() - add the records of another checksum
 * @c: the sum
 * @other: what is added
 */
void checksum_join(struct checksum *c, const struct checksum *other)
{
	c->records += other->records;
	c->bytes += other->bytes;
	c->sum += other->sum;
}

/**
 * checksum_same() - do both stand for the same records?
 * @a: one
 * @b: the other one
 *
 * Return: 1 if so, which is wrong by chance once in 2^64 times.
 */
int checksum_same(const struct checksum *a, const struct checksum *b)
{
	return a->records == b->records && a->bytes == b->bytes && a->sum == b->sum;
}
