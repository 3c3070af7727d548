// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of a table, of which each host reads a part.  In the folder of tables, table T is
 *
 *	T.csv or T.shq		a file that all hosts see: host r takes rows r, r + hosts, ...
 *	T.0.csv, T.1.shq, ...	parts: host r reads those whose number is r modulo hosts
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "op.h"
#include "table.h"

#define WHOLE	UINT64_MAX

struct part {
	uint64_t number;	/* or WHOLE */
	char *path;
};

struct scan {
	struct op op;
	struct part *part;
	size_t parts, at;
	struct reader *reader;
	uint64_t row;		/* of a file for all hosts */
};

static struct batch *scan_next(struct op *op)
{
	struct scan *s = (struct scan *)op;
	struct net *net = op->q->net;
	struct batch *b;
	size_t row;

	for (;;) {
		if (!s->reader) {
			if (s->at == s->parts)
				return NULL;
			s->reader = reader_open(s->part[s->at].path, &op->out);
		}
		if (s->reader->next(s->reader))
			break;
		reader_close(s->reader);
		s->reader = NULL;
		s->at++;
	}
	b = &s->reader->rows;
	if (s->part[s->at].number != WHOLE || net->count == 1) {
		op->rows_in += b->rows;
		charge_spend(&op->q->charge, CHARGE_ROW, b->rows);
		return b;
	}
	op->out.rows = 0;
	for (row = 0; row < b->rows; row++)
		if (s->row++ % net->count == net->rank)
			batch_copy_row(&op->out, b, row);
	op->rows_in += op->out.rows;
	charge_spend(&op->q->charge, CHARGE_ROW, op->out.rows);
	return &op->out;
}

static void scan_free(struct op *op)
{
	struct scan *s = (struct scan *)op;
	size_t i;

	if (s->reader)
		reader_close(s->reader);
	for (i = 0; i < s->parts; i++)
		free(s->part[i].path);
	free(s->part);
}

/* The number of a part of the table by the name of its file; false: it is none. */
static bool part_number(const char *file, const char *table, uint64_t *number)
{
	size_t len = strlen(table);
	const char *p = file + len;

	if (strncmp(file, table, len) || *p++ != '.')
		return false;
	*number = WHOLE;
	if (*p >= '0' && *p <= '9') {
		for (*number = 0; *p >= '0' && *p <= '9' && *number < WHOLE / 20; p++)
			*number = 10 * *number + *p - '0';
		if (*p++ != '.')
			return false;
	}
	return !strcmp(p, "csv") || !strcmp(p, "shq");
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *p = a, *q = b;

	return (p->number > q->number) - (p->number < q->number);
}

static void find_parts(struct scan *s, const char *table)
{
	const char *dir = s->op.q->tables;
	struct net *net = s->op.q->net;
	struct dirent *e;
	uint64_t number;
	size_t i, kept = 0;
	DIR *d;

	d = opendir(dir);
	if (!d)
		err(1, "folder of tables %s", dir);
	while ((e = readdir(d))) {
		if (!part_number(e->d_name, table, &number))
			continue;
		s->part = xrealloc(s->part, s->parts + 1, sizeof(*s->part));
		s->part[s->parts].number = number;
		if (asprintf(&s->part[s->parts++].path, "%s/%s", dir, e->d_name) < 0)
			err(1, "%s", dir);
	}
	closedir(d);
	if (!s->parts)
		errx(1, "%s: there is no %s.csv, %s.shq, nor parts such as %s.%u.csv", dir, table,
		     table, table, net->rank);
	qsort(s->part, s->parts, sizeof(*s->part), compare_parts);
	for (i = 1; i < s->parts; i++)
		if (s->part[i].number == WHOLE || s->part[i].number == s->part[i - 1].number)
			errx(1, "%s and %s: rows of table %s would be there twice",
			     s->part[i - 1].path, s->part[i].path, table);
	for (i = 0; i < s->parts; i++) {
		if (s->part[i].number == WHOLE || s->part[i].number % net->count == net->rank)
			s->part[kept++] = s->part[i];
		else
			free(s->part[i].path);
	}
	s->parts = kept;
}

/**
 * op_scan - rows of a table
 * @q: the query
 * @table: its name
 * @columns: words NAME or NAME:int
 *
 * Return: the operator, with these columns.
 */
struct op *op_scan(struct query *q, const char *table, const char *columns)
{
	struct scan *s;
	char name[64];

	snprintf(name, sizeof(name), "scan %s", table);
	s = op_new(q, sizeof(*s), NULL, name);
	columns_declare(&s->op.out, columns);
	find_parts(s, table);
	s->op.next = scan_next;
	s->op.free = scan_free;
	return &s->op;
}
