// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sensitivity table, a text file:
 *
 *	app LR
 *	sample 100 10.2 10.1 10.4
 *	sample 25 33.9 34.5 34.0
 *
 * "sample" has the bandwidth in percent of the link rate and the seconds of each run.
 * Models are not stored: they are fitted to the medians when the table is read.
 * A table is small, and is read by a daemon with privileges: text can be looked at,
 * compared and mended, and needs no library there.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"
#include "table.h"

#define LINE	1024

/**
 * table_name_ok() - a name that an application may have
 * @name: of the application
 *
 * Return: true if so.
 */
bool table_name_ok(const char *name)
{
	size_t i, n = strlen(name);

	if (!n || n >= TABLE_NAME)
		return false;
	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
			return false;
	return true;
}

/**
 * table_find() - an application by its name
 * @t: table
 * @name: of the application
 *
 * Return: it, or NULL.
 */
struct table_app *table_find(const struct table *t, const char *name)
{
	unsigned int i;

	for (i = 0; i < t->n; i++)
		if (!strcmp(t->app[i].name, name))
			return &t->app[i];
	return NULL;
}

/**
 * table_add() - a new application
 * @t: table
 * @name: of the application, table_name_ok()
 *
 * Return: it, until the next call; NULL if there is no room.
 */
struct table_app *table_add(struct table *t, const char *name)
{
	struct table_app *more;

	if (t->n >= SABA_APPS)
		return NULL;
	/* room for a power of two */
	more = t->app;
	if (!(t->n & (t->n - 1)))
		more = realloc(t->app, (t->n ? 2 * t->n : 1) * sizeof(*more));
	if (!more)
		return NULL;
	t->app = more;
	memset(&more[t->n], 0, sizeof(*more));
	snprintf(more[t->n].name, sizeof(more->name), "%s", name);
	return &more[t->n++];
}

/**
 * table_sample() - the runs with one bandwidth, added if there are none
 * @app: application
 * @percent: of the link rate
 *
 * Return: the sample; NULL if there is no room.
 */
struct table_sample *table_sample(struct table_app *app, double percent)
{
	unsigned int i;

	for (i = 0; i < app->n && app->sample[i].percent > percent; i++)
		;
	if (i < app->n && app->sample[i].percent == percent)
		return &app->sample[i];
	if (app->n >= SABA_POINTS)
		return NULL;
	memmove(&app->sample[i + 1], &app->sample[i], (app->n - i) * sizeof(app->sample[0]));
	app->n++;
	memset(&app->sample[i], 0, sizeof(app->sample[i]));
	app->sample[i].percent = percent;
	return &app->sample[i];
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/**
 * table_median() - of the runs with one bandwidth
 * @s: sample
 *
 * Return: seconds, 0 without any run.
 */
double table_median(const struct table_sample *s)
{
	double v[TABLE_REPEATS];

	if (!s->n)
		return 0;
	memcpy(v, s->seconds, s->n * sizeof(*v));
	qsort(v, s->n, sizeof(*v), by_size);
	return (v[(s->n - 1) / 2] + v[s->n / 2]) / 2;
}

/**
 * table_slowdowns() - median times over the median with all of the bandwidth
 * @app: application
 * @b: result, fractions of the link rate; room for SABA_POINTS
 * @slowdown: result
 *
 * Return: number of points; 0 if 100 % was not measured.
 */
unsigned int table_slowdowns(const struct table_app *app, double *b, double *slowdown)
{
	double all = app->n && app->sample[0].percent == 100 ? table_median(&app->sample[0]) : 0;
	unsigned int i, n = 0;

	for (i = 0; all > 0 && i < app->n; i++) {
		if (!app->sample[i].n)
			continue;
		b[n] = app->sample[i].percent / 100;
		slowdown[n++] = table_median(&app->sample[i]) / all;
	}
	return n;
}

/**
 * table_model() - the sensitivity model of an application
 * @app: application
 * @degree: of the polynomial
 * @m: result
 *
 * Return: 0, or -EINVAL if there are too few samples or none with 100 %.
 */
int table_model(const struct table_app *app, unsigned int degree, struct saba_model *m)
{
	double b[SABA_POINTS], d[SABA_POINTS];
	unsigned int n = table_slowdowns(app, b, d);

	return n ? saba_fit(b, d, n, degree, m) : -EINVAL;
}

static int bad_line(const char *file, unsigned int line, const char *why, const char *word)
{
	ctl_error("%s:%u: %s%s%s%s", file, line, why, word ? " \"" : "", word ? word : "",
		  word ? "\"" : "");
	return -EINVAL;
}

static int number(const char *word, double lo, double hi, double *v)
{
	char *end;

	*v = strtod(word, &end);
	return end != word && !*end && *v > lo && *v <= hi ? 0 : -EINVAL;
}

static int read_sample(const char *file, unsigned int line, struct table_app *app, char *rest)
{
	char *save = NULL, *word = strtok_r(rest, " \t", &save);
	struct table_sample *s;
	double v;

	if (!app)
		return bad_line(file, line, "a sample before any app", NULL);
	if (!word || number(word, 0, 100, &v))
		return bad_line(file, line, "a bandwidth above 0 and up to 100 is expected, not",
				word ? word : "");
	s = table_sample(app, v);
	if (!s)
		return bad_line(file, line, "too many samples of", app->name);
	if (s->n)
		return bad_line(file, line, "a second sample of", word);
	while ((word = strtok_r(NULL, " \t", &save))) {
		if (number(word, 0, 1e9, &v))
			return bad_line(file, line, "seconds are expected, not", word);
		if (s->n == TABLE_REPEATS)
			return bad_line(file, line, "too many runs", NULL);
		s->seconds[s->n++] = v;
	}
	return s->n ? 0 : bad_line(file, line, "a sample without runs", NULL);
}

static int read_line(const char *file, unsigned int line, char *text, struct table *t)
{
	char *save = NULL, *word = strtok_r(text, " \t", &save);

	if (!word || *word == '#')
		return 0;
	if (!strcmp(word, "sample"))
		return read_sample(file, line, t->n ? &t->app[t->n - 1] : NULL, save);
	if (strcmp(word, "app"))
		return bad_line(file, line, "\"app\" or \"sample\" is expected, not", word);
	word = strtok_r(NULL, " \t", &save);
	if (!word || !table_name_ok(word))
		return bad_line(file, line, "a name of up to 63 letters, digits, '.', '_' and '-' "
				"is expected, not", word ? word : "");
	if (strtok_r(NULL, " \t", &save))
		return bad_line(file, line, "more than a name", NULL);
	if (table_find(t, word))
		return bad_line(file, line, "a second app", word);
	if (!table_add(t, word))
		return bad_line(file, line, "too many applications", NULL);
	return 0;
}

/**
 * table_read() - read a table
 * @file: its name
 * @may_lack: a file that is not there is an empty table
 * @t: result, to be freed by table_free()
 *
 * Return: 0, or -errno after a message; then @t is empty.
 */
int table_read(const char *file, bool may_lack, struct table *t)
{
	unsigned int line = 0;
	char text[LINE];
	int err = 0;
	FILE *f;

	memset(t, 0, sizeof(*t));
	f = fopen(file, "re");
	if (!f) {
		err = -errno;
		if (err == -ENOENT && may_lack)
			return 0;
		ctl_error("%s: %s", file, strerror(-err));
		return err;
	}
	while (!err && fgets(text, sizeof(text), f)) {
		size_t n = strlen(text);

		line++;
		if (n && text[n - 1] == '\n')
			text[--n] = '\0';
		else if (!feof(f) || n + 1 == sizeof(text))
			err = bad_line(file, line, "a line that is too long", NULL);
		if (!err)
			err = read_line(file, line, text, t);
	}
	if (!err && ferror(f)) {
		err = -EIO;
		ctl_error("%s: cannot be read", file);
	}
	fclose(f);
	if (err)
		table_free(t);
	return err;
}

/**
 * table_write() - write a table: all of it or nothing
 * @file: its name
 * @t: table
 *
 * Return: 0, or -errno after a message.
 */
int table_write(const char *file, const struct table *t)
{
	unsigned int a, i, k;
	char tmp[4096];
	int err = 0;
	FILE *f;

	if (snprintf(tmp, sizeof(tmp), "%s.new", file) >= (int)sizeof(tmp)) {
		ctl_error("%s: the name is too long", file);
		return -ENAMETOOLONG;
	}
	f = fopen(tmp, "we");
	if (!f) {
		err = -errno;
		ctl_error("%s: %s", tmp, strerror(-err));
		return err;
	}
	fprintf(f, "# shuffle-saba: percent of the link rate, seconds of each run\n");
	for (a = 0; a < t->n; a++) {
		fprintf(f, "app %s\n", t->app[a].name);
		for (i = 0; i < t->app[a].n; i++) {
			const struct table_sample *s = &t->app[a].sample[i];

			if (!s->n)
				continue;
			fprintf(f, "sample %g", s->percent);
			for (k = 0; k < s->n; k++)
				fprintf(f, " %.6g", s->seconds[k]);
			fputc('\n', f);
		}
	}
	if (fflush(f) || fsync(fileno(f)) || ferror(f))
		err = errno ? -errno : -EIO;
	if (fclose(f) && !err)
		err = -errno;
	if (!err && rename(tmp, file))
		err = -errno;
	if (err) {
		ctl_error("%s: %s", file, strerror(-err));
		unlink(tmp);
	}
	return err;
}

/**
 * table_free() - free a table
 * @t: table
 */
void table_free(struct table *t)
{
	free(t->app);
	memset(t, 0, sizeof(*t));
}
