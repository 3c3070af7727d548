/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shufflectl topology: commands with files of their own, and what they need. */
#ifndef SHUFFLECTL_TOPOLOGY_H
#define SHUFFLECTL_TOPOLOGY_H

#include "rack_file.h"

int topology_table(struct rack_file *f);

/* topology_install.c */
int topology_install(int argc, char **argv);

/* topology_remove.c */
int topology_remove(int argc, char **argv);

#endif
