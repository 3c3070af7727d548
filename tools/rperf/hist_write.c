// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Histograms in HdrHistogram's own formats: the log (version 1.3, histograms in encoding V2) and
 * the table of percentiles.
 *
 * The log wants zlib's format around a histogram.  Blocks that are stored as they are belong to
 * that format, and need no compressor: a line is a few kilobytes, and the log has one a second.
 */
#include <stdlib.h>
#include <string.h>

#include "hist.h"

#define COOKIE		0x1c849313U	/* V2, counts of up to 8 bytes as ZigZag LEB128 */
#define COOKIE_ZLIB	0x1c849314U
#define DIGITS		3
#define HEAD		40		/* bytes before the counts */
#define COUNT_MAX	9		/* bytes of a count */
#define STORED_MAX	65535U		/* bytes of a stored block */

static void put(uint8_t **p, uint64_t v, unsigned int bytes)
{
	while (bytes)
		*(*p)++ = (uint8_t)(v >> 8 * --bytes);
}

static void put_count(uint8_t **p, int64_t v)
{
	uint64_t z = (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
	unsigned int i;

	for (i = 0; i < COUNT_MAX - 1 && z >= 0x80; i++, z >>= 7)
		*(*p)++ = (uint8_t)(z | 0x80);
	*(*p)++ = (uint8_t)z;
}

static uint8_t *encode(const struct hist *h, size_t *len)
{
	uint8_t *buf = malloc(HEAD + (size_t)HIST_COUNTS * COUNT_MAX), *p = buf, *counts;
	unsigned int i, end = HIST_COUNTS;
	double ratio = 1;
	int64_t zeros = 0;
	uint64_t bits;

	if (!buf)
		return NULL;
	memcpy(&bits, &ratio, sizeof(bits));
	put(&p, COOKIE, 4);
	put(&p, 0, 4);			/* length of the counts: below */
	put(&p, 0, 4);			/* nothing is shifted */
	put(&p, DIGITS, 4);
	put(&p, 1, 8);
	put(&p, HIST_HIGHEST, 8);
	put(&p, bits, 8);
	counts = p;
	while (end && !h->count[end - 1])
		end--;
	for (i = 0; i < end; i++) {
		if (!h->count[i]) {
			zeros++;
			continue;
		}
		if (zeros)
			put_count(&p, zeros == 1 ? 0 : -zeros);
		zeros = 0;
		put_count(&p, (int64_t)h->count[i]);
	}
	*len = (size_t)(p - buf);
	p = buf + 4;
	put(&p, *len - (size_t)(counts - buf), 4);
	return buf;
}

static uint32_t adler32(const uint8_t *p, size_t len)
{
	uint32_t a = 1, b = 0;

	while (len--) {
		a = (a + *p++) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

/* In zlib's format, and that behind a head of its own. */
static uint8_t *wrap(const uint8_t *data, size_t len, size_t *out)
{
	size_t blocks = len / STORED_MAX + 1, n, at = 0;
	uint8_t *buf = malloc(8 + 2 + blocks * 5 + len + 4), *p = buf;

	if (!buf)
		return NULL;
	put(&p, COOKIE_ZLIB, 4);
	put(&p, 2 + blocks * 5 + len + 4, 4);
	put(&p, 0x7801, 2);
	for (; blocks; blocks--) {
		n = len - at < STORED_MAX ? len - at : STORED_MAX;
		*p++ = blocks == 1;
		*p++ = (uint8_t)n;
		*p++ = (uint8_t)(n >> 8);
		*p++ = (uint8_t)~n;
		*p++ = (uint8_t)(~n >> 8);
		memcpy(p, data + at, n);
		p += n;
		at += n;
	}
	put(&p, adler32(data, len), 4);
	*out = (size_t)(p - buf);
	return buf;
}

static void base64(FILE *f, const uint8_t *p, size_t len)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t v;
	size_t i;

	for (i = 0; i < len; i += 3) {
		v = (uint32_t)p[i] << 16;
		v |= i + 1 < len ? (uint32_t)p[i + 1] << 8 : 0;
		v |= i + 2 < len ? p[i + 2] : 0U;
		fputc(digit[v >> 18], f);
		fputc(digit[v >> 12 & 63], f);
		fputc(i + 1 < len ? digit[v >> 6 & 63] : '=', f);
		fputc(i + 2 < len ? digit[v & 63] : '=', f);
	}
}

/**
 * hist_log_head() - what a log begins with
 * @f: the log
 * @start: of the run, seconds since the epoch
 */
void hist_log_head(FILE *f, double start)
{
	fprintf(f, "#[Histogram log format version 1.3]\n"
		"#[StartTime: %.3f (seconds since epoch)]\n"
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
		"\"Interval_Compressed_Histogram\"\n", start);
}

/**
 * hist_log_line() - an interval
 * @f: the log
 * @tag: name of the instance, without commas; NULL: none
 * @at: its begin, seconds since the start
 * @length: its length, s
 * @h: what was measured, ns
 */
void hist_log_line(FILE *f, const char *tag, double at, double length, const struct hist *h)
{
	size_t len, all;
	uint8_t *plain = encode(h, &len), *zlib = plain ? wrap(plain, len, &all) : NULL;

	if (zlib) {
		if (tag)
			fprintf(f, "Tag=%s,", tag);
		fprintf(f, "%.3f,%.3f,%.6f,", at, length, (double)h->max / 1e6);
		base64(f, zlib, all);
		fputc('\n', f);
	}
	free(zlib);
	free(plain);
}

/**
 * hist_percentiles() - the table of percentiles, as HdrHistogram prints it
 * @f: file
 * @t: distribution; values in the table are us
 *
 * Five lines for each time that what is left over halves.
 */
void hist_percentiles(FILE *f, const struct times *t)
{
	uint64_t n = times_n(t), rank;
	double left = 1, q;
	unsigned int i;

	fprintf(f, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
		"1/(1-Percentile)");
	while (n && left * (double)n >= 1) {
		for (i = 0; i < 5; i++) {
			q = 1 - left * (1 - i / 10.0);
			rank = (uint64_t)(q * (double)n + 0.5);
			fprintf(f, "%12.3f %2.12f %10llu %14.2f\n", times_quantile(t, q) / 1e3, q,
				(unsigned long long)rank, 1 / (1 - q));
		}
		left /= 2;
	}
	fprintf(f, "%12.3f %2.12f %10llu\n", n ? t->max / 1e3 : 0, 1.0, (unsigned long long)n);
	fprintf(f, "#[Mean    = %12.3f, Total count    = %12llu]\n",
		n ? t->sum / (double)n / 1e3 : 0, (unsigned long long)n);
	fprintf(f, "#[Max     = %12.3f, Negative       = %12llu]\n", n ? t->max / 1e3 : 0,
		(unsigned long long)t->down.n);
}
