// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors that end the program, memory, files. */
#include <stdarg.h>
#include <stdlib.h>

#include "sim.h"

/**
 * die() - say what is wrong, and end with status 2
 * @fmt: as for printf()
 */
void die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "shuffle-stream-sim: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	exit(2);
}

/**
 * memory() - zeroed memory
 * @n: elements
 * @size: bytes of one
 *
 * Return: the memory; without any the program ends.
 */
void *memory(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		die("out of memory: %zu elements of %zu bytes", n, size);
	return p;
}

/**
 * memory_more() - realloc() that does not fail
 * @old: NULL, or what it returned
 * @n: elements
 * @size: bytes of one
 *
 * Return: the memory; without any the program ends.
 */
void *memory_more(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n ? n : 1, size);

	if (!p)
		die("out of memory: %zu elements of %zu bytes", n, size);
	return p;
}

/**
 * output_open() - open a file to write
 * @path: its name, or - for standard output
 *
 * Return: the stream; the program ends if there is none.
 */
FILE *output_open(const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "w") : stdout;

	if (!f)
		die("%s cannot be written: %s", path, strerror(errno));
	return f;
}

/**
 * output_close() - close it, and see that everything was written
 * @f: the stream
 * @path: its name
 */
void output_close(FILE *f, const char *path)
{
	bool bad = ferror(f);

	if ((f == stdout ? fflush(f) : fclose(f)) || bad)
		die("%s cannot be written", path);
}
