/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked for: curves (configurations) over skewnesses and runs. */
#ifndef SIM_JOB_H
#define SIM_JOB_H

#include "collective.h"
#include "sim.h"
#include "workload.h"

#define MAX_CURVES	32U
#define MAX_POINTS	64U

/**
 * struct curve - a configuration and its results
 * @label: what it is called
 * @cfg: configuration
 * @res: results, [point * runs + run]
 * @series: of the first run, or NULL
 */
struct curve {
	char			label[64];
	struct sim_config	cfg;
	struct sim_result	*res;
	struct sim_series	*series;
};

/**
 * struct plan - everything to be done
 * @curve: curves, at least one
 * @curves: how many
 * @file: matrix file, or NULL
 * @packet: bytes of a packet in that file
 * @spec: generator, without a file
 * @point: skewnesses; bucket of each
 * @bucket: the bucket of each
 * @points: how many; 1 without skewness
 * @buckets: the range of skewness is divided into; 0: no skewness was asked for
 * @runs: for each skewness
 * @threads: that work
 * @bounds: compute bounds only
 * @progress: show it
 * @skewness: measured, [point * runs + run]
 * @rate: of a link, Gb/s
 * @plans: of collectives, instead of all that
 */
struct plan {
	struct curve	curve[MAX_CURVES];
	u32		curves;
	const char	*file;
	u32		packet;
	struct wl_spec	spec;
	double		point[MAX_POINTS];
	u32		bucket[MAX_POINTS];
	u32		points;
	u32		buckets;
	u32		runs;
	u32		threads;
	bool		bounds;
	bool		progress;
	double		*skewness;
	double		rate;
	struct collectives plans;
};

/**
 * struct metric - a number of a result that is printed
 * @name: in CSV and JSON
 * @text: for people
 * @offset: in struct sim_result
 * @type: 'u' u32, 'l' u64, 'd' double
 * @scale: what it is multiplied with; 0: by the link rate
 */
struct metric {
	const char	*name;
	const char	*text;
	size_t		offset;
	char		type;
	double		scale;
};

extern const struct metric metrics[];

/**
 * struct output - where results go
 * @json: file for JSON, "-" for standard output, or NULL
 * @csv: file for a line for each run, or NULL
 * @series: file for the first run over time, or NULL
 * @all: JSON has every run
 * @quiet: no text
 */
struct output {
	const char	*json;
	const char	*csv;
	const char	*series;
	bool		all;
	bool		quiet;
};

/* options.c */
void options_parse(struct plan *p, int argc, char **argv, struct output *out);
extern const char *const sim_algo_names[SIM_ALGOS + 1];

/* jobs.c */
void jobs_run(struct plan *p);

/* output.c */
double metric_of(const struct metric *m, const struct sim_result *r, double rate);
FILE *output_open(const char *path);
void output_close(FILE *f, const char *path);
void output_text(const struct plan *p, FILE *f);
void output_json(const struct plan *p, bool all, FILE *f);
void output_csv(const struct plan *p, FILE *f);
void output_series(const struct plan *p, FILE *f);

void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif /* SIM_JOB_H */
