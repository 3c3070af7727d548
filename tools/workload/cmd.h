/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands of shuffle-workload share.
 */
#ifndef SHUFFLE_WORKLOAD_CMD_H
#define SHUFFLE_WORKLOAD_CMD_H

#include "workload.h"

/* Exit status */
#define EXIT_TROUBLE	1	/* something could not be done */
#define EXIT_USAGE	2	/* the command line makes no sense */

void die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));
uint64_t arg_number(const char *s, uint64_t most, const char *what);
double arg_real(const char *s, double most, const char *what);
void arg_interval(const char *s, double most, const char *what, double *lo, double *hi);
enum matrix_format arg_format(const char *s);

int cmd_generate(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_cdfs(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_heatmap(int argc, char **argv);
int cmd_convert(int argc, char **argv);

#endif /* SHUFFLE_WORKLOAD_CMD_H */
