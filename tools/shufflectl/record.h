/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Print what the module says, by the tables made from the specification. */
#ifndef SHUFFLECTL_RECORD_H
#define SHUFFLECTL_RECORD_H

#include "genl.h"
#include "out.h"

enum out_unit record_unit(const struct shuffle_attr *a);
bool record_is_auto(const struct shuffle_attr *a);
void record_attrs(struct nl_msg *msg, const struct shuffle_attr_op *op, struct nlattr **tb,
		  const unsigned int *skip);
void record_attr(struct nl_msg *msg, const struct shuffle_attr_set *set, struct nlattr **tb,
		 unsigned int attr);
const char *record_enum(const struct shuffle_attr *a, uint64_t value, char *buf,
			unsigned int size);
const char *record_address(const struct shuffle_attr_set *set, struct nlattr **tb,
			   unsigned int v4, unsigned int v6, char *buf, unsigned int size);
int record_show(unsigned int cmd, int (*fill)(struct nl_msg *msg, int argc, char **argv),
		bool (*print)(struct nl_msg *msg), const char *none, int argc, char **argv);

#endif
