/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collectives of random kinds, patterns, operators and lengths, and what each member must get.
 * The reference is computed here, from the numbers of the members alone; operators are not those
 * of the library.
 */
#ifndef COLL_CALL_H
#define COLL_CALL_H

#include <stdbool.h>

#include "shtest.h"
#include "../../../tools/lib/plan/plan.h"
#include "../../../tools/lib/shuffle_coll.h"

/* Kinds that only libshuffle has, behind those of the kernel. */
enum {
	CALL_GATHERV = SHUFFLE_COLL_KINDS, CALL_SCATTERV, CALL_ALLGATHERV, CALL_REDUCE_SCATTERV,
	CALL_ALLTOALL, CALL_KINDS,
};

/**
 * struct coll_call - one collective, the same at all members
 * @kind: enum shuffle_coll_kind, or one of the above
 * @pattern: enum shuffle_coll_pattern, or -1: auto
 * @radix: of the pattern
 * @root: of kinds that have one
 * @oper: enum shuffle_coll_oper; 0: maps x -> a x + b, whose order matters
 * @type: enum shuffle_coll_type
 * @size: bytes of a block, or of the vector; the largest, where members have lengths of their own
 * @in_place: from is to
 * @salt: of the data
 */
struct coll_call {
	uint8_t kind;
	int pattern;
	unsigned int radix;
	unsigned int root;
	uint8_t oper;
	uint8_t type;
	size_t size;
	bool in_place;
	uint64_t salt;
};

/**
 * struct coll_member - a call at one member
 * @call: the call
 * @rank: our rank
 * @count: members
 * @from: what we put in, in @mem
 * @to: the result, likewise
 * @request: of a call that is not waited for
 */
struct coll_member {
	struct coll_call call;
	unsigned int rank, count;
	unsigned char *mem, *from, *to;
	size_t to_size;
	size_t *sizes;
	struct shuffle_coll_request *request;
};

uint64_t coll_random(uint64_t *rng, uint64_t below);
/* The pattern is there already. */
void coll_call_draw(struct coll_call *k, uint64_t *rng, unsigned int count, size_t most);
void coll_call_print(char *text, size_t size, const struct coll_call *k);

/* Memory, and what we put in. */
void coll_call_prepare(struct coll_member *m);
/* 0, or -1 with errno. */
int coll_call_make(struct shuffle_coll *c, void *member);
/* NULL, or what is wrong. */
const char *coll_call_check(const struct coll_member *m);
void coll_call_free(struct coll_member *m);

#endif /* COLL_CALL_H */
