/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shufflectl: what its files share. */
#ifndef SHUFFLECTL_H
#define SHUFFLECTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program.h"

/**
 * struct ctl_options - what stands before the object
 * @json: JSON instead of text
 * @pretty: JSON with line breaks
 * @stats: more detail
 * @keep_going: a batch goes on after a failed line
 * @netns: name of the network namespace, NULL for the own one
 */
struct ctl_options {
	bool		json;
	bool		pretty;
	bool		stats;
	bool		keep_going;
	const char	*netns;
};

extern struct ctl_options ctl;

/**
 * struct ctl_command - a word and what it does
 * @name: the word; an unambiguous prefix will do
 * @run: called with the words that follow; returns enum ctl_exit
 */
struct ctl_command {
	const char	*name;
	int		(*run)(int argc, char **argv);
};

int ctl_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void ctl_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int ctl_dispatch(const char *object, const char *usage, const struct ctl_command *cmds,
		 int argc, char **argv);
int ctl_match(const char *what, const char *word, const struct ctl_command *cmds);
bool ctl_is_help(const char *word);
volatile int *ctl_stop_flag(void);

/* batch.c */
int ctl_batch(const char *file, int (*run)(int argc, char **argv));

#endif
