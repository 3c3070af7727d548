/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shuffle-saba: what its files share. */
#ifndef SABA_CLI_H
#define SABA_CLI_H

#include <net/if.h>
#include <stdint.h>
#include <stdio.h>

#include "table.h"

#define CLI_TABLE	"/var/lib/shuffle/saba.table"
#define CLI_NICS	256

/**
 * struct nic - a device whose rate is limited while a profile is taken
 * @netns: name of its network namespace, "" for the own one
 * @dev: its name
 */
struct nic {
	char		netns[64];
	char		dev[IFNAMSIZ];
};

/* nic.c */
int nic_parse(const char *word, struct nic *nic);
int nic_limit(const struct nic *nic, uint64_t rate);
int nic_restore(const struct nic *nic);

/* curve.c */
int curve_draw(const char *file, const struct table_app *app);

/* cmd_profile.c, cmd_run.c, cmd_table.c */
int cmd_profile(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_table(int argc, char **argv);
int cmd_weights(int argc, char **argv);
int cli_show_app(const struct table_app *app, const char *svg);

#endif /* SABA_CLI_H */
