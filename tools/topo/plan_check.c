// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* Is a table an aggregation tree?  Portable, as plan_check.h says. */
#include "plan_check.h"

static const char *const texts[PLAN_FAULTS] = {
	[PLAN_OK] = "right",
	[PLAN_NO_ROOT] = "the first line is the root, with no parent",
	[PLAN_ROOT_TWICE] = "only the first line is the root",
	[PLAN_PARENT_SELF] = "a server is not its own parent",
	[PLAN_PARENT_UNKNOWN] = "the parent is not in this tree",
	[PLAN_CYCLE] = "its parents are a cycle, and do not lead to the root",
	[PLAN_PARENT_LATER] = "its parent stands behind it",
	[PLAN_SENDER_EARLY] = "senders stand last",
	[PLAN_SENDER_CHILDREN] = "a server with children is no mere sender",
	[PLAN_LEAF_ROLE] = "a server without children is a sender",
	[PLAN_VALUE_SMALL] = "the value is less than its children",
	[PLAN_VALUE_LARGE] = "the value is more than its children and itself",
	[PLAN_ROLE_VALUE] = "a server whose value is 1 forwards, one with more aggregates",
	[PLAN_NO_SENDERS] = "the root gets nothing",
	[PLAN_SENDERS] = "the number of senders is not that of the tree",
};

/**
 * plan_fault_text() - for people
 * @fault: what plan_check() returned
 *
 * Return: what is wrong.
 */
const char *plan_fault_text(enum plan_fault fault)
{
	return (unsigned int)fault < PLAN_FAULTS ? texts[fault] : "unknown";
}

/* Does the way up from a row never end? */
static bool in_cycle(const struct plan_row *row, u32 n, u32 at)
{
	u32 up = at, steps;

	for (steps = 0; steps < n; steps++) {
		if (row[up].role == PLAN_ROOT || row[up].parent >= n)
			return false;
		up = row[up].parent;
	}
	return true;
}

static enum plan_fault check_parent(const struct plan_row *row, u32 n, u32 i)
{
	if (row[i].role == PLAN_ROOT)
		return PLAN_ROOT_TWICE;
	if (row[i].parent >= n)
		return PLAN_PARENT_UNKNOWN;
	if (row[i].parent == i)
		return PLAN_PARENT_SELF;
	if (row[i].parent > i)
		return in_cycle(row, n, i) ? PLAN_CYCLE : PLAN_PARENT_LATER;
	return PLAN_OK;
}

static enum plan_fault check_role(const struct plan_row *r, u32 children)
{
	if (r->role == PLAN_SENDER && children)
		return PLAN_SENDER_CHILDREN;
	if (r->role != PLAN_SENDER && r->role != PLAN_ROOT && !children)
		return PLAN_LEAF_ROLE;
	if (r->value < children || (r->role == PLAN_SENDER && !r->value))
		return PLAN_VALUE_SMALL;
	if (r->value - children > 1)
		return PLAN_VALUE_LARGE;
	if (r->role == PLAN_ROOT)
		return r->value ? PLAN_OK : PLAN_NO_SENDERS;
	if (r->role == PLAN_SENDER)
		return PLAN_OK;
	return r->role == (r->value > 1 ? PLAN_AGGREGATE : PLAN_FORWARD) ? PLAN_OK :
	       PLAN_ROLE_VALUE;
}

/**
 * plan_check() - is a table a tree, with the right values, roles and order?
 * @row: rows of different servers
 * @n: how many
 * @senders: how many there are said to be
 * @children: room for @n numbers: children of each row, if the table is right
 * @at: the row that is at fault
 *
 * Whether servers exist and each is one hop from its parent is for the caller, who knows the
 * topology.  One walk up ends in the first fault, so the time is O(n).
 *
 * Context: any.
 * Return: PLAN_OK, or the first fault.
 */
enum plan_fault plan_check(const struct plan_row *row, u32 n, u32 senders, u32 *children, u32 *at)
{
	enum plan_fault fault;
	bool last = false;
	u32 i, found = 0;

	*at = 0;
	if (!n || row[0].role != PLAN_ROOT || row[0].parent)
		return PLAN_NO_ROOT;
	for (i = 0; i < n; i++)
		children[i] = 0;
	for (i = 1; i < n; i++) {
		*at = i;
		fault = check_parent(row, n, i);
		if (fault)
			return fault;
		children[row[i].parent]++;
	}
	for (i = 0; i < n; i++) {
		*at = i;
		if (last && row[i].role != PLAN_SENDER)
			return PLAN_SENDER_EARLY;
		last = row[i].role == PLAN_SENDER;
		fault = check_role(&row[i], children[i]);
		if (fault)
			return fault;
		found += row[i].value - children[i];
	}
	*at = 0;
	return found == senders ? PLAN_OK : PLAN_SENDERS;
}
