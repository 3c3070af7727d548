/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the command line asks for. */
#ifndef STREAM_JOB_H
#define STREAM_JOB_H

#include "sim.h"

/**
 * struct job - what is to be done
 * @cfg: of all runs
 * @schedule: which are run
 * @json: file for the results, or NULL
 * @svg: file for a picture of the intervals, or NULL
 * @quiet: no text
 * @progress: show it
 * @res: by schedule
 */
struct job {
	struct sim_config	cfg;
	bool			schedule[SIM_SCHEDULES];
	const char		*json;
	const char		*svg;
	bool			quiet;
	bool			progress;
	struct sim_result	res[SIM_SCHEDULES];
};

extern const char *const schedule_names[SIM_SCHEDULES + 1];
extern const char *const nic_names[];

/* options.c */
void options_read(struct job *j, int argc, char **argv);

/* text.c, json.c, svg.c */
void text_write(const struct job *j, FILE *f);
void json_write(const struct job *j, FILE *f);
void svg_write(const struct job *j, FILE *f);

#endif /* STREAM_JOB_H */
