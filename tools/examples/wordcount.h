/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of shuffle-wordcount share.  Functions that fail end the program. */
#ifndef EXAMPLES_WORDCOUNT_H
#define EXAMPLES_WORDCOUNT_H

#include <stddef.h>
#include <stdint.h>

#include "common.h"
#include "roles.h"
#include "shuffle_keys.h"

#define TELL_NS		2000000000ULL	/* progress */

/**
 * struct count - a member that counts
 * @group: of which it is one
 * @rank: which one
 * @receiver: rank of the member that prints the result
 * @bits: of a hash value
 * @op: first operation with roles
 * @top: words that are printed; 0: all
 * @timeout_ms: of a wait; 0: the system's
 * @ignore_case: capital letters are small ones
 * @json: print JSON
 * @pattern: the tree of members; NULL: none was named
 * @roles: file that says who sends to whom over relays; NULL: members merge
 * @names: our words and their counts
 * @words: how many words, each as often as it is there
 * @bytes: read
 * @told_ns: when progress was shown
 * @word: that has begun
 * @len: its bytes
 * @tree: over relays
 * @words_op: over relays, of longer words
 */
struct count {
	struct group group;
	unsigned int rank, receiver, bits;
	uint64_t op, top, timeout_ms;
	int ignore_case, json;
	const char *pattern, *roles;

	struct shuffle_key_names *names;
	uint64_t words, bytes, told_ns;
	char word[SHUFFLE_KEY_NAME_BYTES];
	size_t len;

	struct shuffle_tree *tree;
	struct words *words_op;
};

/* ---- wordcount_print.c ---- */

struct word {
	const char *name;
	size_t len;
	uint64_t count;
};

/* Sorts @word.  @more: further members of the JSON object, with a comma behind each. */
void print_words(const struct count *wc, struct word *word, size_t n, const char *more);

/* ---- wordcount_relays.c ---- */

void relays_open(struct count *wc, const struct role *role);
/* Send what @wc has counted, or receive what all have counted and print it. */
void count_over_relays(struct count *wc, const struct role *role);

#endif /* EXAMPLES_WORDCOUNT_H */
