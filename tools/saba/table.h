/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sensitivity table: what profiles have measured. */
#ifndef SABA_TABLE_H
#define SABA_TABLE_H

#include <stdbool.h>

#include "saba.h"

#define TABLE_NAME	64	/* bytes of a name, with its end */
#define TABLE_REPEATS	16	/* runs with one bandwidth, the most */

/**
 * struct table_sample - runs with one bandwidth
 * @percent: of the link rate
 * @n: number of runs
 * @seconds: how long each took
 */
struct table_sample {
	double		percent;
	unsigned int	n;
	double		seconds[TABLE_REPEATS];
};

/**
 * struct table_app - an application
 * @name: letters, digits, '.', '_', '-'
 * @n: number of samples
 * @sample: by falling bandwidth
 */
struct table_app {
	char		name[TABLE_NAME];
	unsigned int	n;
	struct table_sample sample[SABA_POINTS];
};

/**
 * struct table - all applications
 * @app: array
 * @n: their number
 */
struct table {
	struct table_app *app;
	unsigned int	n;
};

bool table_name_ok(const char *name);
int table_read(const char *file, bool may_lack, struct table *t);
int table_write(const char *file, const struct table *t);
void table_free(struct table *t);
struct table_app *table_find(const struct table *t, const char *name);
struct table_app *table_add(struct table *t, const char *name);
struct table_sample *table_sample(struct table_app *app, double percent);
double table_median(const struct table_sample *s);
unsigned int table_slowdowns(const struct table_app *app, double *b, double *slowdown);
int table_model(const struct table_app *app, unsigned int degree, struct saba_model *m);

#endif /* SABA_TABLE_H */
