/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matrices of message lengths: what host i sends to host j, in bytes.  The
 * generators, the simulator and the benchmarks share them and their files;
 * the formats are described in shuffle-workload(1).
 */
#ifndef SHUFFLE_MATRIX_H
#define SHUFFLE_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MATRIX_MAX_HOSTS	4096
/* Largest message; keeps every sum of a row or column within 63 bits. */
#define MATRIX_MAX_LEN		(1ULL << 50)

/**
 * struct matrix - what every host sends to every host
 * @n: number of hosts
 * @len: bytes; @len[from * @n + to], the diagonal stays on its host
 */
struct matrix {
	unsigned int n;
	uint64_t *len;
};

/**
 * struct wl_error - why something failed
 * @text: one sentence without a full stop
 */
struct wl_error {
	char text[256];
};

/**
 * struct matrix_spread - minimum, median, maximum and moments of some numbers
 * @min: smallest
 * @p50: median; of an even number the lower of the two in the middle
 * @max: largest
 * @mean: mean
 * @stddev: standard deviation of the whole, not of a sample
 */
struct matrix_spread {
	uint64_t min, p50, max;
	double mean, stddev;
};

/**
 * struct matrix_stats - what a matrix looks like
 * @total: bytes, the diagonal included
 * @local: bytes on the diagonal
 * @row: sums of rows, the diagonal included
 * @col: sums of columns, the diagonal included
 * @out_degree: per host, to how many others it sends something
 * @in_degree: per host, from how many others it receives something
 * @message: lengths of the messages off the diagonal that are not empty
 * @messages: how many of those there are
 * @msg_p10: a tenth of them is not longer
 * @msg_p90: nine tenths of them are not longer
 * @bound: the most bytes that one host sends to others or receives from them
 * @skewness: standard deviation of all cells of the matrix normalised to a
 *	mean of 1, over sqrt(n - 1), the largest that is possible with equal
 *	sums of rows and columns (chapter 5); 0 for an empty matrix, may exceed
 *	1 when the sums differ
 */
struct matrix_stats {
	uint64_t total, local;
	struct matrix_spread row, col;
	struct matrix_spread out_degree, in_degree;
	struct matrix_spread message;
	uint64_t messages;
	uint64_t msg_p10, msg_p90;
	uint64_t bound;
	double skewness;
};

/**
 * enum matrix_format - kinds of files
 * @MATRIX_CSV: a line for each sender
 * @MATRIX_BINARY: header, then little-endian 64-bit lengths
 * @MATRIX_TRACE: a line for each message, "from,to,bytes"
 */
enum matrix_format { MATRIX_CSV, MATRIX_BINARY, MATRIX_TRACE };

/* matrix.c */
static inline uint64_t matrix_len(const struct matrix *m, unsigned int from, unsigned int to)
{
	return m->len[(size_t)from * m->n + to];
}

struct matrix *matrix_new(unsigned int n, struct wl_error *err);
void matrix_free(struct matrix *m);
struct matrix *matrix_copy(const struct matrix *m, struct wl_error *err);
double matrix_skewness(const struct matrix *m);
int matrix_measure(const struct matrix *m, struct matrix_stats *st, struct wl_error *err);
uint64_t matrix_bound_bytes(const struct matrix *m);
double matrix_bound_ns(const struct matrix *m, double bits_per_s, double rtt_ns);
uint64_t matrix_checksum(const struct matrix *m);
void wl_error_set(struct wl_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* matrix_read.c */
struct matrix *matrix_read(const char *path, struct wl_error *err);
struct matrix *matrix_read_op(const char *path, const char *op, struct wl_error *err);
struct matrix *matrix_read_mem(const char *data, size_t size, const char *op,
			       struct wl_error *err);

/* matrix_write.c */
int matrix_write(const struct matrix *m, FILE *f, enum matrix_format format,
		 const char *comment, struct wl_error *err);
int matrix_write_file(const struct matrix *m, const char *path, enum matrix_format format,
		      const char *comment, struct wl_error *err);
int matrix_format_parse(const char *name, enum matrix_format *format);
void matrix_print_stats(const struct matrix *m, const struct matrix_stats *st, const char *name,
			FILE *f);
void matrix_print_json(const struct matrix *m, const struct matrix_stats *st, const char *name,
		       FILE *f);
void matrix_print_json_string(const char *s, FILE *f);

#endif /* SHUFFLE_MATRIX_H */
