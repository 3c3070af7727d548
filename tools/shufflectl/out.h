/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text and JSON from the same calls. */
#ifndef SHUFFLECTL_OUT_H
#define SHUFFLECTL_OUT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * enum out_unit - what a number counts; JSON shows it as it is, text with a unit
 * @OUT_PLAIN: things
 * @OUT_BYTES: bytes
 * @OUT_BPS: bits per second
 * @OUT_MBPS: millions of them
 * @OUT_NS: nanoseconds
 * @OUT_US: microseconds
 * @OUT_MS: milliseconds
 * @OUT_S: seconds
 * @OUT_MILLI: thousandths
 * @OUT_PER_S: things per second
 * @OUT_BYTES_PER_S: bytes per second
 * @OUT_HEX: an identifier
 */
enum out_unit {
	OUT_PLAIN,
	OUT_BYTES,
	OUT_BPS,
	OUT_MBPS,
	OUT_NS,
	OUT_US,
	OUT_MS,
	OUT_S,
	OUT_MILLI,
	OUT_PER_S,
	OUT_BYTES_PER_S,
	OUT_HEX,
};

void out_begin(bool lines);
void out_end(void);
void out_open(const char *key);
void out_close(void);
void out_list(const char *key);
void out_list_end(void);
void out_title(const char *key, const char *fmt, const char *value);
void out_title_u64(const char *key, const char *fmt, uint64_t value);
void out_str(const char *key, const char *value);
void out_u64(const char *key, uint64_t value, enum out_unit unit);
void out_s64(const char *key, int64_t value);
void out_bool(const char *key, bool value);
void out_null(const char *key, const char *text);
void out_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *out_human(uint64_t value, enum out_unit unit, char *buf, unsigned int size);
char *out_key(const char *name, char sep, char *buf, unsigned int size);

#endif
