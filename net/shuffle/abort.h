/* SPDX-License-Identifier: GPL-2.0-only */
/* A member leaves an operation: what the others are told, and what they make of it. */
#ifndef _SHUFFLE_ABORT_H
#define _SHUFFLE_ABORT_H

#include "op.h"

/* What members hear from others that one has left, or find out by their clocks, they repeat in
 * groups up to this: each tells each.  In larger groups only the one that leaves does.
 */
#define SHUFFLE_ABORT_REPEAT	64U

/* Answers of hosts that do not know the operation, each second at most. */
#define SHUFFLE_FORGOT_RATE	1000

/* What an operation waits beyond its idle timeout where all that it waits for live, but no more
 * than an eighth of that.  The one that knows who is missing may have heard a last ACK, which it
 * counts as progress, when its receiver asked it for the first time.
 */
#define SHUFFLE_OVERDUE_NS	(500 * NSEC_PER_MSEC)

/* So old an operation asks for a member of which it has heard nothing (shuffle_abort_asks()). */
#define SHUFFLE_ASKS_NS		(300 * NSEC_PER_MSEC)

/* So long after members have left a program that ends an operation does so because of that. */
#define SHUFFLE_FOLLOWS_NS	(10 * NSEC_PER_SEC)

int shuffle_abort_errno(u16 reason);
u16 shuffle_op_missing(const struct shuffle_op *op, u32 rank);
u64 shuffle_abort_overdue_ns(const struct shuffle_op *op);
u64 shuffle_abort_overdue(struct shuffle_op *op, u64 now);
void shuffle_op_disagrees(struct shuffle_op *op, u32 rank);
void shuffle_abort_tell(struct shuffle_op *op, u16 reason);
void shuffle_abort_heard(struct shuffle_op *op, const struct shuffle_wire *w, u64 now);
bool shuffle_abort_answer(struct shuffle_op *op, const struct shuffle_wire *w,
			  struct sk_buff_head *q);
bool shuffle_abort_reply(struct shuffle_net *sn, struct shuffle_sock *ssk,
			 struct shuffle_membership *group, const struct shuffle_wire *w, u64 ours,
			 const struct shuffle_blame *blame, struct sk_buff_head *q);
bool shuffle_abort_asks(const struct shuffle_op *op, u32 rank, u64 now);
void shuffle_abort_forgot(struct shuffle_net *sn, struct shuffle_sock *ssk,
			  const struct sockaddr_shuffle *at, const struct sockaddr_shuffle *from,
			  const struct shuffle_wire *w, bool ended, struct sk_buff_head *q);

#endif /* _SHUFFLE_ABORT_H */
