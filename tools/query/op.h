/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operators: each takes rows from others, batch by batch, and hands rows on.  A plan is a few
 * calls of the functions below; see q1.c to q3.c.  Every host makes the same calls.  Lists of
 * columns are words: "lang author".  A plan that makes no sense ends the program with a message.
 */
#ifndef QUERY_OP_H
#define QUERY_OP_H

#include "column.h"
#include "../common/charge.h"
#include "net.h"

#define OPS_MAX		48

struct query;

/**
 * struct op - an operator
 * @q: the query it belongs to
 * @name: what --explain calls it
 * @next: hands on its next rows, which are @out, or returns NULL: that was all
 * @free: gives back what it has, but itself and @out
 * @in: where its rows come from
 * @out: its columns, and the rows of the last call
 * @self_ns: time in @next, without that of operators that it has called
 * @inner_ns: during a call: time of these
 * @rows_in: rows that it has taken
 * @rows_out: rows that it has handed on
 * @bytes_out: bytes sent to other hosts
 * @bytes_in: bytes received from other hosts
 */
struct op {
	struct query *q;
	char name[64];
	struct batch *(*next)(struct op *op);
	void (*free)(struct op *op);
	struct op *in;
	struct batch out;
	uint64_t self_ns, inner_ns;
	uint64_t rows_in, rows_out, bytes_out, bytes_in;
};

/* When heavy keys of a join are split. */
enum hot_keys { HOT_AUTO, HOT_OFF, HOT_ON };

/**
 * struct query - a query that runs on one host
 * @net: the other hosts
 * @tables: folder of the tables
 * @hot: when heavy keys are split
 * @charge: what computation costs in virtual time
 * @op: all operators, in the order in which they were made
 * @ops: their number
 * @current: the one whose next() runs
 * @said_ns: when progress was told last
 * @note: what --explain says beside the times
 * @notes: bytes of it
 */
struct query {
	struct net *net;
	const char *tables;
	enum hot_keys hot;
	struct charge charge;
	struct op *op[OPS_MAX];
	unsigned int ops;
	struct op *current;
	uint64_t said_ns;
	char note[1024];
	size_t notes;
};

/* for operators */
void *op_new(struct query *q, size_t size, struct op *in, const char *name);
struct batch *op_next(struct op *op);
void op_take_all(struct op *op, struct batch *into);
struct columns columns_parse(const struct batch *b, const char *list, const char *who);
void query_note(struct query *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void query_free(struct query *q);

/* Rows of a table of which each host has a part, with these columns. */
struct op *op_scan(struct query *q, const char *table, const char *columns);

/* Rows whose column compares so with a value: "bytes >= 100", "lang <> C". */
struct op *op_filter(struct op *in, const char *condition);

/* Only these columns; "ip=contributor_ip" is one under another name. */
struct op *op_project(struct op *in, const char *columns);

/* One row of each combination of @keys, with sums: "total=sum(bytes) n=count()"; also min(), max().
 * Without any: the distinct combinations.
 */
struct op *op_aggregate(struct op *in, const char *keys, const char *sums);

/* All pairs of rows of both whose @keys are equal; @build is kept in memory. */
struct op *op_join(struct op *build, struct op *probe, const char *keys);

/* The first @k rows (0: all) in the order of columns, ascending unless "-" precedes: "-count ip".
 * After the columns named, all others decide: the order does not depend on where rows were.
 */
struct op *op_top(struct op *in, unsigned int k, const char *order);

/* Rows go to the host that the hash of @keys says. */
struct op *op_exchange(struct op *in, const char *keys);

/* That for both sides of a join by @keys, but for heavy keys: of these the larger side is spread
 * over all hosts and the other one goes to all.  @distinct: columns whose combinations must meet
 * at a host (of the side that an aggregation follows), or NULL.
 */
void op_exchange_join(struct op **a, const char *a_distinct, struct op **b, const char *b_distinct,
		      const char *keys);

/* To member 0 through a tree whose nodes combine what comes, as op_aggregate() and op_top() do.
 * Other members get nothing.
 */
struct op *op_gather_aggregate(struct op *in, const char *keys, const char *sums);
struct op *op_gather_top(struct op *in, unsigned int k, const char *order);

#endif /* QUERY_OP_H */
