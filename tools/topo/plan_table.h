/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans as tables: what is loaded into servers. */
#ifndef TOPO_PLAN_TABLE_H
#define TOPO_PLAN_TABLE_H

#include "plan_check.h"
#include "topo.h"

#define PLAN_MAX_SERVERS	4194304U	/* of a tree */
#define PLAN_MAX_TREES		16384U

extern const char *const plan_roles[PLAN_ROLES + 1];

enum plan_role plan_role_of(const struct tree *t, u32 vertex);
void plan_table_begin(const struct topo *topo, FILE *f);
void plan_table_tree(const struct topo *topo, const struct tree *t, FILE *f);
void plan_table_ways(struct topo *topo, const struct tree *t, FILE *f);
u32 plan_table_read(const char *path, struct topo *topo,
		    void (*each)(void *arg, struct tree *t), void *arg);

#endif /* TOPO_PLAN_TABLE_H */
