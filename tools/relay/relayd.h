/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of shuffle-relayd share. */
#ifndef RELAYD_H
#define RELAYD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "shuffle_tree.h"

#define RELAY_NAME	32
#define RELAYS		1024
/* a request, and an answer */
#define RELAYD_BYTES	(192U << 10)

/**
 * struct relay - a member of a tree without records of its own
 * @name: by which shufflectl knows it
 * @rank: which of the members
 * @to: rank of the parent
 * @from: ranks of the children
 * @froms: their number
 * @members: number of members
 * @oper: enum shuffle_keys_oper
 * @sorted: records are sorted
 * @bytes: memory for operations
 * @tree: number of the plan
 * @t: the library's
 */
struct relay {
	char name[RELAY_NAME];
	uint32_t rank;
	uint32_t to;
	uint32_t from[SHUFFLE_TREE_CHILDREN];
	uint32_t froms;
	uint32_t members;
	uint32_t oper;
	bool sorted;
	uint64_t bytes;
	uint64_t tree;
	struct shuffle_tree *t;
};

/**
 * struct relay_words - what "add" says, read but not done
 * @r: without @r.t
 * @spec: without pointers
 * @edge: members
 * @key: if @keyed
 * @keyed: there is a key
 */
struct relay_words {
	struct relay r;
	struct shuffle_tree_spec spec;
	struct shuffle_edge edge[SHUFFLE_TREE_MEMBERS];
	unsigned char key[SHUFFLE_KEY_BYTES];
	bool keyed;
};

/* words.c: NULL, or what is wrong, valid until the next call */
const char *relay_words_read(struct relay_words *w, char **word, unsigned int n);
const char *relay_oper_name(unsigned int oper);

/* relayd.c: all relays */
extern struct relay *relay[RELAYS];
extern unsigned int relays;

/* control.c: answer a request of @n bytes; @may: of one who may change something */
size_t control_answer(char *request, size_t n, bool may, char *answer, size_t size, bool *stop);
/* relayd.c: watch a tree */
int relayd_watch(struct relay *r);

#endif /* RELAYD_H */
