// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing matrices and their statistics.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "matrix_file.h"

/**
 * matrix_format_parse - a format by its name
 * @name: "csv", "binary" or "trace"
 * @format: set if it is one
 *
 * Return: 0, or -1 if there is no such format.
 */
int matrix_format_parse(const char *name, enum matrix_format *format)
{
	static const char *const names[] = { "csv", "binary", "trace" };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		if (!strcmp(name, names[i])) {
			*format = i;
			return 0;
		}
	}
	return -1;
}

static void write_comment(const char *comment, FILE *f)
{
	while (comment && *comment) {
		size_t len = strcspn(comment, "\n");

		fprintf(f, "# %.*s\n", (int)len, comment);
		comment += len + (comment[len] == '\n');
	}
}

static void write_little_endian(uint64_t v, unsigned int bytes, FILE *f)
{
	for (; bytes > 0; bytes--, v >>= 8)
		putc(v & 0xff, f);
}

/* A number and a character; printf() takes most of the time otherwise. */
static void write_number(uint64_t v, char after, FILE *f)
{
	char digits[24], *p = digits + sizeof(digits);

	*--p = after;
	do {
		*--p = '0' + v % 10;
		v /= 10;
	} while (v);
	fwrite(p, 1, digits + sizeof(digits) - p, f);
}

static void write_trace(const struct matrix *m, FILE *f)
{
	unsigned int n = m->n, i, j;

	fputs("from,to,bytes\n", f);
	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			/* The last host even if it is silent: it says how many there are. */
			if (!matrix_len(m, i, j) && (i + 1 < n || j + 1 < n))
				continue;
			write_number(i, ',', f);
			write_number(j, ',', f);
			write_number(matrix_len(m, i, j), '\n', f);
		}
	}
}

/**
 * matrix_write - write a matrix
 * @m: the matrix
 * @f: where to
 * @format: how
 * @comment: lines at the beginning of a text, may be NULL
 * @err: set on failure, may be NULL
 *
 * Return: 0, or -1 on an error of @f.
 */
int matrix_write(const struct matrix *m, FILE *f, enum matrix_format format,
		 const char *comment, struct wl_error *err)
{
	unsigned int n = m->n, j;
	size_t k;

	errno = 0;
	if (format == MATRIX_BINARY) {
		fwrite(MATRIX_MAGIC, 1, strlen(MATRIX_MAGIC), f);
		write_little_endian(n, 4, f);
		write_little_endian(0, 4, f);
		for (k = 0; k < (size_t)n * n; k++)
			write_little_endian(m->len[k], 8, f);
	} else {
		write_comment(comment, f);
		if (format == MATRIX_TRACE)
			write_trace(m, f);
		for (k = 0; format == MATRIX_CSV && k < (size_t)n * n; k += n)
			for (j = 0; j < n; j++)
				write_number(m->len[k + j], j + 1 < n ? ',' : '\n', f);
	}
	if (!fflush(f) && !ferror(f))
		return 0;
	wl_error_set(err, "writing: %s", strerror(errno ? errno : EIO));
	return -1;
}

/**
 * matrix_write_file - write a matrix to a file
 * @m: the matrix
 * @path: the file; "-": standard output
 * @format: how
 * @comment: lines at the beginning of a text, may be NULL
 * @err: set on failure, may be NULL; names the file
 *
 * Return: 0, or -1; then there is no file.
 */
int matrix_write_file(const struct matrix *m, const char *path, enum matrix_format format,
		      const char *comment, struct wl_error *err)
{
	struct wl_error why;
	int ret;
	FILE *f;

	if (!strcmp(path, "-"))
		return matrix_write(m, stdout, format, comment, err);
	f = fopen(path, "we");
	if (!f) {
		wl_error_set(err, "%s: %s", path, strerror(errno));
		return -1;
	}
	ret = matrix_write(m, f, format, comment, &why);
	if (fclose(f) && !ret) {
		wl_error_set(&why, "writing: %s", strerror(errno));
		ret = -1;
	}
	if (ret) {
		wl_error_set(err, "%.80s: %.160s", path, why.text);
		/* Not a device that someone named. */
		if (!strncmp(path, "/dev/", 5))
			return ret;
		unlink(path);
	}
	return ret;
}

static void print_spread(const char *what, const struct matrix_spread *s, FILE *f)
{
	fprintf(f, "%-12s min %llu, median %llu, max %llu, mean %.1f, stddev %.1f\n", what,
		(unsigned long long)s->min, (unsigned long long)s->p50,
		(unsigned long long)s->max, s->mean, s->stddev);
}

/**
 * matrix_print_stats - statistics as text
 * @m: the matrix
 * @st: its statistics
 * @name: of the matrix
 * @f: where to
 */
void matrix_print_stats(const struct matrix *m, const struct matrix_stats *st, const char *name,
			FILE *f)
{
	fprintf(f, "%s: %u hosts, %llu messages, %llu bytes, %llu of them to oneself\n", name, m->n,
		(unsigned long long)st->messages, (unsigned long long)st->total,
		(unsigned long long)st->local);
	fprintf(f, "%-12s %.6f\n", "skewness", st->skewness);
	fprintf(f, "%-12s %llu bytes out of or into one host\n", "bound",
		(unsigned long long)st->bound);
	print_spread("row sums", &st->row, f);
	print_spread("column sums", &st->col, f);
	print_spread("out-degree", &st->out_degree, f);
	print_spread("in-degree", &st->in_degree, f);
	print_spread("messages", &st->message, f);
	fprintf(f, "%-12s p10 %llu, p90 %llu\n", "", (unsigned long long)st->msg_p10,
		(unsigned long long)st->msg_p90);
}

/**
 * matrix_print_json_string - a string as JSON wants it
 * @s: the string
 * @f: where to
 */
void matrix_print_json_string(const char *s, FILE *f)
{
	putc('"', f);
	for (; *s; s++) {
		unsigned char c = *s;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20)
			fprintf(f, "\\u%04x", c);
		else
			putc(c, f);
	}
	putc('"', f);
}

static void json_spread(const char *what, const struct matrix_spread *s, FILE *f)
{
	fprintf(f, "\"%s\": {\"min\": %llu, \"p50\": %llu, \"max\": %llu, \"mean\": %.9g, \"stddev\": %.9g",
		what, (unsigned long long)s->min, (unsigned long long)s->p50,
		(unsigned long long)s->max, s->mean, s->stddev);
}

/* One number for each host. */
static void json_hosts(const struct matrix *m, const char *what, bool columns, bool degree, FILE *f)
{
	unsigned int i, j;

	fprintf(f, ", \"%s\": [", what);
	for (i = 0; i < m->n; i++) {
		uint64_t sum = 0;

		for (j = 0; j < m->n; j++) {
			uint64_t len = columns ? matrix_len(m, j, i) : matrix_len(m, i, j);

			sum += degree ? (len && i != j) : len;
		}
		fprintf(f, "%s%llu", i ? ", " : "", (unsigned long long)sum);
	}
	fputs("]}", f);
}

/**
 * matrix_print_json - statistics as one JSON object
 * @m: the matrix
 * @st: its statistics
 * @name: of the matrix
 * @f: where to
 */
void matrix_print_json(const struct matrix *m, const struct matrix_stats *st, const char *name,
		       FILE *f)
{
	fputs("{\"name\": ", f);
	matrix_print_json_string(name, f);
	fprintf(f, ", \"hosts\": %u, \"messages\": %llu, \"total\": %llu, \"local\": %llu, ", m->n,
		(unsigned long long)st->messages, (unsigned long long)st->total,
		(unsigned long long)st->local);
	fprintf(f, "\"bound\": %llu, \"skewness\": %.9g, ", (unsigned long long)st->bound,
		st->skewness);
	fprintf(f, "\"checksum\": \"%016llx\",\n ", (unsigned long long)matrix_checksum(m));
	json_spread("row", &st->row, f);
	json_hosts(m, "sums", false, false, f);
	fputs(",\n ", f);
	json_spread("column", &st->col, f);
	json_hosts(m, "sums", true, false, f);
	fputs(",\n ", f);
	json_spread("out_degree", &st->out_degree, f);
	json_hosts(m, "hosts", false, true, f);
	fputs(",\n ", f);
	json_spread("in_degree", &st->in_degree, f);
	json_hosts(m, "hosts", true, true, f);
	fputs(",\n ", f);
	json_spread("message", &st->message, f);
	fprintf(f, ", \"p10\": %llu, \"p90\": %llu}}", (unsigned long long)st->msg_p10,
		(unsigned long long)st->msg_p90);
}
