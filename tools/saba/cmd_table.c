// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-saba table, weights: what profiles say, and what they mean together. */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "out.h"
#include "parse.h"
#include "shufflectl.h"

static void number(const char *key, double v)
{
	char text[40];

	snprintf(text, sizeof(text), "%.6g", v);
	out_str(key, text);
}

/**
 * cli_show_app() - print samples and models
 * @app: application
 * @svg: file to draw them to, or NULL
 *
 * Return: enum ctl_exit.
 */
int cli_show_app(const struct table_app *app, const char *svg)
{
	double b[SABA_POINTS], d[SABA_POINTS];
	unsigned int n = table_slowdowns(app, b, d), i, k;
	char key[40];

	out_begin(false);
	out_open(NULL);
	out_title("app", "app %s", app->name);
	for (i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "slowdown-%g", b[i] * 100);
		number(key, d[i]);
	}
	for (k = 1; k <= SABA_DEGREE; k++) {
		struct saba_model m;

		if (table_model(app, k, &m))
			continue;
		snprintf(key, sizeof(key), "degree-%u", k);
		out_open(key);
		number("r2", m.r2);
		for (i = 0; i <= k; i++) {
			snprintf(key, sizeof(key), "c%u", i);
			number(key, m.c[i]);
		}
		out_close();
	}
	out_close();
	out_end();
	if (!n)
		return ctl_error("%s: no run with 100 %%", app->name);
	return svg && curve_draw(svg, app) ? CTL_ENV : CTL_OK;
}

struct words {
	const char	*table;
	const char	*svg;
	unsigned int	degree;
	unsigned int	capacity;
};

static int read_words(int argc, char **argv, struct words *w, const char *usage)
{
	static const struct option longs[] = {
		{ "table",	required_argument,	NULL, 't' },
		{ "svg",	required_argument,	NULL, 's' },
		{ "degree",	required_argument,	NULL, 'd' },
		{ "capacity",	required_argument,	NULL, 'c' },
		{ "help",	no_argument,		NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t v;
	int opt;

	*w = (struct words){ .table = CLI_TABLE, .degree = SABA_DEFAULT, .capacity = 100 };
	while ((opt = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (opt) {
		case 't':
			w->table = optarg;
			break;
		case 's':
			w->svg = optarg;
			break;
		case 'd':
			if (parse_u64(optarg, &v) || v > SABA_DEGREE)
				return ctl_usage("--degree %s: 0 to 3 is expected", optarg);
			w->degree = v;
			break;
		case 'c':
			if (parse_u64(optarg, &v) || v < 1 || v > 100)
				return ctl_usage("--capacity %s: 1 to 100 percent are expected",
						 optarg);
			w->capacity = v;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(CTL_OK);
		default:
			fputs(usage, stderr);
			return CTL_USAGE;
		}
	}
	return CTL_OK;
}

/**
 * cmd_table() - shuffle-saba table
 * @argc: number of words behind the command
 * @argv: the words
 *
 * Return: enum ctl_exit.
 */
int cmd_table(int argc, char **argv)
{
	struct table_app *app;
	unsigned int i;
	struct table t;
	struct words w;
	int err;

	err = read_words(argc, argv, &w,
			 "usage: shuffle-saba table [APP] [--table FILE] [--svg FILE]\n");
	if (err)
		return err;
	if (argc - optind > 1 || (w.svg && argc == optind))
		return ctl_usage("table wants one application, for --svg, or none");
	if (table_read(w.table, false, &t))
		return CTL_ENV;
	if (optind < argc) {
		app = table_find(&t, argv[optind]);
		err = app ? cli_show_app(app, w.svg) :
			    ctl_error("%s: no application \"%s\"", w.table, argv[optind]);
	} else {
		out_begin(false);
		for (i = 0; i < t.n; i++) {
			struct saba_model m;

			out_open(NULL);
			out_title("app", "app %s", t.app[i].name);
			out_u64("samples", t.app[i].n, OUT_PLAIN);
			if (!table_model(&t.app[i], w.degree, &m))
				number("r2", m.r2);
			out_close();
		}
		out_end();
	}
	table_free(&t);
	return err;
}

static int weigh(const struct words *w, const struct table *t, char **name, unsigned int n)
{
	const struct saba_costs *costs[SABA_SINGLE];
	const struct saba_model *models[SABA_SINGLE];
	struct saba_costs cost[SABA_SINGLE];
	struct saba_model m[SABA_SINGLE];
	uint8_t percent[SABA_SINGLE];
	double going[SABA_SINGLE];
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct table_app *app = table_find(t, name[i]);

		if (!app)
			return ctl_error("%s: no application \"%s\"", w->table, name[i]);
		if (table_model(app, w->degree, &m[i]))
			return ctl_error("%s: too few samples for degree %u", name[i], w->degree);
		saba_costs(&m[i], &cost[i]);
		costs[i] = &cost[i];
		models[i] = &m[i];
	}
	if (isnan(saba_solve(costs, n, w->capacity, percent)))
		return ctl_usage("more applications than percents");
	saba_descend(models, n, w->capacity / 100., .05 * n < w->capacity / 200. ? .05 :
		     w->capacity / 200. / n, going);
	out_begin(false);
	for (i = 0; i < n; i++) {
		out_open(NULL);
		out_title("app", "app %s", name[i]);
		out_u64("weight", percent[i], OUT_PLAIN);
		number("predicted", cost[i].at[percent[i]]);
		number("descent", going[i] * 100);
		number("descent-predicted", saba_slowdown(&m[i], going[i]));
		out_close();
	}
	out_end();
	return CTL_OK;
}

/**
 * cmd_weights() - shuffle-saba weights
 * @argc: number of words behind the command
 * @argv: the words
 *
 * Return: enum ctl_exit.
 */
int cmd_weights(int argc, char **argv)
{
	struct table t;
	struct words w;
	int err;

	err = read_words(argc, argv, &w, "usage: shuffle-saba weights APP... [--table FILE] "
			 "[--degree K] [--capacity PERCENT]\n");
	if (err)
		return err;
	if (optind == argc || argc - optind > SABA_SINGLE)
		return ctl_usage("weights wants 1 to %d applications", SABA_SINGLE);
	if (table_read(w.table, false, &t))
		return CTL_ENV;
	err = weigh(&w, &t, argv + optind, argc - optind);
	table_free(&t);
	return err;
}
