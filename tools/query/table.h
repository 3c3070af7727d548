/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables in files: CSV (RFC 4180, with a line of names) and a columnar binary form.  What is wrong
 * with a file ends the program with a message: file, line or byte, and value.
 */
#ifndef QUERY_TABLE_H
#define QUERY_TABLE_H

#include <stdio.h>

#include "column.h"

#define TABLE_MAGIC	"SHFLTBL1"

/**
 * struct reader - a file that is read, some columns of it
 * @path: its name
 * @rows: the columns that are wanted, and the rows of the last call
 * @next: reads the next rows; false: there are no more
 * @close: gives back what it has
 */
struct reader {
	char *path;
	struct batch rows;
	bool (*next)(struct reader *r);
	void (*close)(struct reader *r);
};

struct writer;

/* "language views:int": names, with their types, of columns. */
void columns_declare(struct batch *b, const char *list);

struct reader *reader_open(const char *path, const struct batch *want);
void reader_close(struct reader *r);

struct reader *csv_open(const char *path, FILE *f, const struct batch *want);
void csv_write_names(FILE *f, const struct batch *b);
void csv_write(FILE *f, const struct batch *b);

struct reader *binary_open(const char *path, FILE *f, const struct batch *want);

/* Writes a binary file if the name ends with ".shq", else CSV. */
struct writer *writer_open(const char *path, const struct batch *as);
void writer_add(struct writer *w, const struct batch *b);
void writer_close(struct writer *w);
void binary_write_head(FILE *f, const struct batch *as, uint64_t rows);
void binary_write(FILE *f, const struct batch *b);

#endif /* QUERY_TABLE_H */
