// SPDX-License-Identifier: BSD-3-Clause
/* Collectives: plans of the program's own, which are checked before they are used. */
#include <errno.h>
#include <stdlib.h>

#include "coll.h"

/* The names of the interface are those of plan.h and plan_table.h: a division by 0 if not. */
enum {
	SAME_TAKES = 1 / ((int)SHUFFLE_TAKE_AFTER == (int)SHUFFLE_COLL_AFTER),
	SAME_ERRORS = 1 / (SHUFFLE_FAULT_LACKS + 1 == (int)SHUFFLE_TABLE_ERRORS),
};

/* Of a call: NULL if there is none for it. */
const struct shuffle_plan_table *coll_table(const struct shuffle_coll *c, int kind, uint32_t root)
{
	const struct shuffle_plan_table *t = c->table[kind];

	if (!t || c->probing || c->no_tables || (shuffle_coll_has_root(kind) && t->root != root))
		return NULL;
	return t;
}

static void set_table(struct shuffle_coll *c, int kind, struct shuffle_plan_table *t)
{
	if (c->table[kind])
		free((void *)c->table[kind]->entry);
	free(c->table[kind]);
	c->table[kind] = t;
}

void coll_tables_free(struct shuffle_coll *c)
{
	int kind;

	for (kind = 0; kind < SHUFFLE_COLL_KINDS; kind++)
		set_table(c, kind, NULL);
}

static struct shuffle_plan_entry entry_of(const struct shuffle_coll_message *m)
{
	return (struct shuffle_plan_entry){ m->step, m->from, m->to, m->block, m->blocks,
					    m->take };
}

/* 0, or -1 with EINVAL or ENOMEM. */
static int check_table(const struct shuffle_plan_table *t, struct shuffle_coll_fault *fault)
{
	struct shuffle_table_fault f = { .error = SHUFFLE_TABLE_WORKS };
	uint64_t words = shuffle_table_room(t);
	uint64_t *room = malloc((words + 1) * sizeof(*room));

	if (!room) {
		errno = ENOMEM;
		return -1;
	}
	shuffle_table_check(t, room, &f);
	free(room);
	*fault = (struct shuffle_coll_fault){ f.error, f.entry, f.member, f.block };
	errno = EINVAL;
	return f.error == SHUFFLE_TABLE_WORKS ? 0 : -1;
}

/* All messages are checked, and ours are kept. */
static struct shuffle_plan_table *new_table(const struct shuffle_coll *c,
					    const struct shuffle_plan_table *asked,
					    const struct shuffle_coll_message *message,
					    struct shuffle_coll_fault *fault)
{
	struct shuffle_plan_entry *entry = calloc((size_t)asked->entries + 1, sizeof(*entry));
	struct shuffle_plan_table *copy = malloc(sizeof(*copy));
	struct shuffle_plan_table t = *asked;
	uint32_t i, n = 0;

	t.entry = entry;
	for (i = 0; entry && i < t.entries; i++)
		entry[i] = entry_of(&message[i]);
	if (!entry || !copy || check_table(&t, fault)) {
		free(entry);
		free(copy);
		return NULL;
	}
	for (i = 0; i < t.entries; i++)
		if (entry[i].from == c->rank || entry[i].to == c->rank)
			entry[n++] = entry[i];
	t.entries = n;
	*copy = t;
	return copy;
}

int shuffle_coll_explicit(struct shuffle_coll *c, int kind, unsigned int root, unsigned int blocks,
			  const struct shuffle_coll_message *message, unsigned int messages,
			  struct shuffle_coll_fault *fault)
{
	struct shuffle_plan_table *t = NULL, asked;
	struct shuffle_coll_fault unread;

	fault = fault ? fault : &unread;
	*fault = (struct shuffle_coll_fault){ SHUFFLE_FAULT_NONE, UINT32_MAX, UINT32_MAX,
					      UINT32_MAX };
	if (!coll_settable(c))
		return -1;
	if (kind < 0 || kind >= SHUFFLE_COLL_KINDS) {
		fault->error = SHUFFLE_FAULT_KIND;
		errno = EINVAL;
		return -1;
	}
	if (message) {
		asked = (struct shuffle_plan_table){
			.kind = kind, .n = c->count, .root = root, .blocks = blocks,
			.entries = messages,
		};
		t = new_table(c, &asked, message, fault);
		if (!t)
			return -1;
	}
	set_table(c, kind, t);
	return 0;
}

const char *shuffle_coll_fault_text(const struct shuffle_coll_fault *fault)
{
	return shuffle_table_error(fault->error);
}
