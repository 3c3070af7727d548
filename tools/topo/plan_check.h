/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What a table of an aggregation tree must be.  Portable: no lock, no allocation, no library; who
 * installs trees runs the same checks.
 */
#ifndef TOPO_PLAN_CHECK_H
#define TOPO_PLAN_CHECK_H

#include "portable.h"

enum plan_role {
	PLAN_ROOT,		/* the receiver */
	PLAN_AGGREGATE,		/* merges its children's flows, and its own if it has one */
	PLAN_FORWARD,		/* passes on the flow of its only child */
	PLAN_SENDER,		/* has no children */
	PLAN_ROLES,
};

enum plan_fault {
	PLAN_OK,
	PLAN_NO_ROOT,
	PLAN_ROOT_TWICE,
	PLAN_PARENT_SELF,
	PLAN_PARENT_UNKNOWN,
	PLAN_CYCLE,
	PLAN_PARENT_LATER,
	PLAN_SENDER_EARLY,
	PLAN_SENDER_CHILDREN,
	PLAN_LEAF_ROLE,
	PLAN_VALUE_SMALL,
	PLAN_VALUE_LARGE,
	PLAN_ROLE_VALUE,
	PLAN_NO_SENDERS,
	PLAN_SENDERS,
	PLAN_FAULTS,
};

/**
 * struct plan_row - a server of a tree
 * @server: which
 * @parent: index of the row of the server that it sends to; the root's is its own
 * @link: by which it sends
 * @value: flows that it merges: children, and one if it is a sender
 * @role: enum plan_role
 */
struct plan_row {
	u32	server;
	u32	parent;
	u32	link;
	u32	value;
	u8	role;
};

enum plan_fault plan_check(const struct plan_row *row, u32 n, u32 senders, u32 *children, u32 *at);
const char *plan_fault_text(enum plan_fault fault);

#endif /* TOPO_PLAN_CHECK_H */
