// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Matrices of message lengths: files, statistics, the lower bound.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

static void matrix_die(const char *what, const char *path)
{
	fprintf(stderr, "matrix: %s%s%s\n", what, path ? ": " : "", path ? path : "");
	exit(2);
}

struct matrix *matrix_new(unsigned int n)
{
	struct matrix *m = malloc(sizeof(*m));

	if (!m || n < 2 || n > 4096)
		matrix_die("2 to 4096 hosts", NULL);
	m->n = n;
	m->len = calloc((size_t)n * n, sizeof(*m->len));
	if (!m->len)
		matrix_die("out of memory", NULL);
	return m;
}

static unsigned int count_fields(const char *line)
{
	unsigned int n = 1;

	for (; *line; line++)
		n += *line == ',';
	return n;
}

struct matrix *matrix_read(const char *path)
{
	struct matrix *m = NULL;
	unsigned int row = 0, i;
	char *line = NULL, *p;
	size_t size = 0;
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		matrix_die(strerror(errno), path);
	while (getline(&line, &size, f) > 0) {
		if (*line == '#' || *line == '\n')
			continue;
		if (!m)
			m = matrix_new(count_fields(line));
		if (row == m->n || count_fields(line) != m->n)
			matrix_die("not a square", path);
		for (i = 0, p = line; i < m->n; i++) {
			char *end;

			m->len[(size_t)row * m->n + i] = strtoull(p, &end, 10);
			if (end == p || (*end != ',' && *end != '\n' && *end))
				matrix_die("not a number", path);
			p = *end ? end + 1 : end;
		}
		row++;
	}
	free(line);
	fclose(f);
	if (!m || row != m->n)
		matrix_die("not a square", path);
	return m;
}

void matrix_write(const struct matrix *m, FILE *f)
{
	unsigned int i, j;

	for (i = 0; i < m->n; i++)
		for (j = 0; j < m->n; j++)
			fprintf(f, "%llu%c", (unsigned long long)matrix_len(m, i, j),
				j + 1 < m->n ? ',' : '\n');
}

void matrix_measure(const struct matrix *m, struct matrix_stats *st)
{
	double mean, sum = 0;
	unsigned int i, j;

	memset(st, 0, sizeof(*st));
	st->row_min = UINT64_MAX;
	st->col_min = UINT64_MAX;
	st->msg_min = UINT64_MAX;
	for (i = 0; i < m->n; i++) {
		uint64_t row = 0, col = 0;

		for (j = 0; j < m->n; j++) {
			uint64_t len = matrix_len(m, i, j);

			row += len;
			col += matrix_len(m, j, i);
			if (i == j)
				continue;
			st->messages += len > 0;
			if (len < st->msg_min)
				st->msg_min = len;
			if (len > st->msg_max)
				st->msg_max = len;
		}
		st->total += row;
		if (row < st->row_min)
			st->row_min = row;
		if (row > st->row_max)
			st->row_max = row;
		if (col < st->col_min)
			st->col_min = col;
		if (col > st->col_max)
			st->col_max = col;
	}
	if (!st->total)
		return;
	/* All cells, the diagonal too: sizes relative to their mean. */
	mean = (double)st->total / m->n / m->n;
	for (i = 0; i < m->n * m->n; i++)
		sum += (m->len[i] / mean - 1) * (m->len[i] / mean - 1);
	st->skewness = sqrt(sum / m->n / m->n) / sqrt(m->n - 1);
}

double matrix_bound_ns(const struct matrix *m, double bits_per_s, double rtt_ns)
{
	uint64_t most = 0;
	unsigned int i, j;

	for (i = 0; i < m->n; i++) {
		uint64_t row = 0, col = 0;

		for (j = 0; j < m->n; j++) {
			if (i == j)
				continue;
			row += matrix_len(m, i, j);
			col += matrix_len(m, j, i);
		}
		if (row > most)
			most = row;
		if (col > most)
			most = col;
	}
	return most * 8e9 / bits_per_s + rtt_ns;
}
