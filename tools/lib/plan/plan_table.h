/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * A plan that somebody else has made: all messages of all members in a table.
 */
#ifndef _SHUFFLE_PLAN_TABLE_H
#define _SHUFFLE_PLAN_TABLE_H

#include "plan.h"

/* Steps and blocks of a table at most. */
#define SHUFFLE_TABLE_STEPS	8192U
#define SHUFFLE_TABLE_BLOCKS	65536U

/**
 * struct shuffle_plan_entry - a message
 * @step: from 0 on
 * @from: place of the member that sends it
 * @to: place of its receiver
 * @block: its first block
 * @blocks: number of blocks, which wrap round; of a barrier 0
 * @take: enum shuffle_coll_take; of a barrier it means nothing
 */
struct shuffle_plan_entry {
	u32	step;
	u32	from;
	u32	to;
	u32	block;
	u32	blocks;
	u32	take;
};

/**
 * struct shuffle_plan_table - all messages of a plan
 * @kind: enum shuffle_coll_kind
 * @n: members
 * @root: place of the root, of kinds that have one; else 0
 * @blocks: into how many blocks the data of all is divided: @n where each member has one of its
 *	own, of a barrier 0, else at least 1
 * @entries: number of messages
 * @entry: messages, in order of steps.  A member takes what it receives in a step in this order
 */
struct shuffle_plan_table {
	u8				kind;
	u32				n;
	u32				root;
	u32				blocks;
	u32				entries;
	const struct shuffle_plan_entry	*entry;
};

/**
 * enum shuffle_table_error - what is wrong with a table
 * @SHUFFLE_TABLE_WORKS: nothing
 * @SHUFFLE_TABLE_KIND: there is no such kind
 * @SHUFFLE_TABLE_MEMBERS: no members, too many, or a root that is none
 * @SHUFFLE_TABLE_DIVIDED: the kind does not divide its data into so many blocks
 * @SHUFFLE_TABLE_MEMBER: sender or receiver is no member, or both are the same one
 * @SHUFFLE_TABLE_STEP: an earlier step than that of the message before, or too many
 * @SHUFFLE_TABLE_BLOCK: blocks that there are not, or none
 * @SHUFFLE_TABLE_TAKE: no such way to take it, or nothing to combine
 * @SHUFFLE_TABLE_PAIR: a second message from one member to the other in the step
 * @SHUFFLE_TABLE_ABSENT: the sender does not have the block at the beginning of the step
 * @SHUFFLE_TABLE_TWICE: a member's data would be combined with itself
 * @SHUFFLE_TABLE_STORED: a block is stored, and something else comes in the step, too
 * @SHUFFLE_TABLE_LACKS: in the end a member does not have what the kind promises, or more
 */
enum shuffle_table_error {
	SHUFFLE_TABLE_WORKS,
	SHUFFLE_TABLE_KIND,
	SHUFFLE_TABLE_MEMBERS,
	SHUFFLE_TABLE_DIVIDED,
	SHUFFLE_TABLE_MEMBER,
	SHUFFLE_TABLE_STEP,
	SHUFFLE_TABLE_BLOCK,
	SHUFFLE_TABLE_TAKE,
	SHUFFLE_TABLE_PAIR,
	SHUFFLE_TABLE_ABSENT,
	SHUFFLE_TABLE_TWICE,
	SHUFFLE_TABLE_STORED,
	SHUFFLE_TABLE_LACKS,
	SHUFFLE_TABLE_ERRORS,
};

/**
 * struct shuffle_table_fault - where a table is wrong
 * @error: enum shuffle_table_error
 * @entry: the message, or U32_MAX
 * @member: the member that it happens to, or U32_MAX
 * @block: the block, or U32_MAX
 */
struct shuffle_table_fault {
	u32	error;
	u32	entry;
	u32	member;
	u32	block;
};

u64 shuffle_table_room(const struct shuffle_plan_table *t);
bool shuffle_table_check(const struct shuffle_plan_table *t, u64 *room,
			 struct shuffle_table_fault *fault);
const char *shuffle_table_error(u32 error);
int shuffle_table_plan(const struct shuffle_plan_table *t, struct shuffle_plan *plan);
int shuffle_plan_of(struct shuffle_plan *plan);

#endif /* _SHUFFLE_PLAN_TABLE_H */
