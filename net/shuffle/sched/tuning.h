/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fractions and counts that the schedule was tuned with, and why each is what it
 * is.  Portable: plain numbers.
 */
#ifndef _SHUFFLE_TUNING_H
#define _SHUFFLE_TUNING_H

/* One grant is for at most this part of its message: one that is granted in a few
 * pieces would be the last to end.
 */
#define SHUFFLE_GRANTS_PER_MSG	8

/* After a stall a message is granted one unit at a time for this many arrivals, and for
 * twice as many after each further stall: its sender's buffer may be too small for
 * several units, which must not cost a timeout again and again.
 */
#define SHUFFLE_UNIT_ONLY_ARRIVALS	4

/* Stalls that are counted: 4 << 5 arrivals fit struct shuffle_rx_sched's unit_only_left. */
#define SHUFFLE_STALLS_MAX	5

/* Where operations have an order, all that are not the first together are left this part of
 * a receiver's limit, and of a sender's turns: enough that nobody waits for ever, and more
 * than a round trip's worth of data for the default overcommit, which keeps the link busy
 * when the first one cannot.
 */
#define SHUFFLE_ORDER_REST	8

/* An operation that wants to grant and could not for this many round trips, and for so many
 * times as long as the link needs for a receiver's limit, has an even share of that.
 */
#define SHUFFLE_ORDER_PATIENCE	64
#define SHUFFLE_ORDER_DRAINS	8

/* Messages without a grant go in front of other data if all senders of the operation can
 * send no more of them than this part of a receiver's limit: ports have small queues for
 * what overtakes.
 */
#define SHUFFLE_ORDER_AHEAD	2

#endif /* _SHUFFLE_TUNING_H */
