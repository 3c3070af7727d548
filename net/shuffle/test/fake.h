/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device, a clock and a socket that exist only in a test: op.c, rx/msg_in.c, rx/grant.c,
 * rx/timer.c, rx/delayed_ack.c and tx/msg_out.c run on them (fake_files.c).  Records that leave
 * are kept and compared; nothing arrives but what a test says.  Time stands still until a test
 * moves it.  Memory is granted until a test refuses it, and every byte charged has to come back.
 */
#ifndef _SHUFFLE_TEST_FAKE_H
#define _SHUFFLE_TEST_FAKE_H

#include "../abort.h"
#include "../config.h"
#include "../group.h"
#include "../netns.h"
#include "../op.h"
#include "../rx/delayed_ack.h"
#include "../rx/early.h"
#include "../rx/grant.h"
#include "../rx/input.h"
#include "../rx/msg_in.h"
#include "../rx/question.h"
#include "../rx/rto.h"
#include "../rx/slowest.h"
#include "../rx/timer.h"
#include "../sched/wire.h"
#include "../sock.h"
#include "../tx/msg_out.h"
#include "../tx/own_schedule.h"
#include "../tx/pages.h"
#include "../tx/same.h"
#include "../tx/turns.h"
#include "../tx/want.h"
#include "harness.h"

#define FAKE_RECORDS	8192
#define FAKE_PAYLOAD	1000	/* bytes of a packet */
#define FAKE_RTT_NS	20000
#define FAKE_MBPS	8000	/* one byte takes a nanosecond */
#define FAKE_OP		77
#define FAKE_NONCE(rank) (0x1000ULL + (rank))	/* that the fake's members use */

/**
 * struct fake_record - a record that has left
 * @rank: member it went to
 * @at: when, ns
 * @w: the record
 */
struct fake_record {
	u32			rank;
	u64			at;
	struct shuffle_wire	w;
};

/**
 * struct fake - what surrounds one operation in a test
 * @test: the test
 * @now: the clock, ns
 * @unsched: what members say that they send without a grant, bytes
 * @flags: SHUFFLE_FLAG_* of the DATA that they send
 * @absent: members that the operation expects nothing from, or NULL
 * @sn: its namespace
 * @dev: the device
 * @ssk: the socket
 * @group: its members
 * @op: the operation
 * @timer_at: its timer fires then; U64_MAX: it is not set
 * @delay_at: likewise that of delayed ACKs
 * @sent: records that have left, @n_sent of them
 * @n_sent: their number
 * @charged: bytes
 * @memory_refused: nothing more is granted
 * @memory_scarce: half of it is in use
 * @wakeups: times that the reader was woken
 * @kicks: times that data might be sent
 * @stragglers: members that were called one
 * @pressures: times that memory was said to be the limit
 * @full_lost: times that a packet of full size was said to be lost
 */
struct fake {
	struct kunit			*test;
	u64				now;
	u64				unsched;
	u8				flags;
	const struct shuffle_absent	*absent;
	struct shuffle_net		sn;
	struct shuffle_dev		dev;
	struct shuffle_sock		ssk;
	struct shuffle_membership	*group;
	struct shuffle_op		*op;
	u64				timer_at;
	u64				delay_at;
	struct fake_record		*sent;
	u32				n_sent;
	s64				charged;
	bool				memory_refused;
	bool				memory_scarce;
	u32				wakeups;
	u32				kicks;
	u32				stragglers;
	u32				pressures;
	u32				full_lost;
};

/* The test that runs: one at a time. */
extern struct fake *fake;

int fake_init(struct kunit *test);
void fake_exit(struct kunit *test);
void fake_start(u32 members, u64 deadline_ms);
u64 fake_count(int mib);
u32 fake_sent(u8 type, u32 rank);
const struct fake_record *fake_last(u8 type, u32 rank);

/* An expression that is evaluated under the socket's lock */
#define FAKE_LOCKED(expr)						\
({									\
	typeof(expr) value_;						\
									\
	spin_lock_bh(&fake->ssk.lock);					\
	value_ = (expr);						\
	spin_unlock_bh(&fake->ssk.lock);				\
	value_;								\
})

/* fake_files.c: the files under test, on the fake's clock */
void fake_fire(void);
void fake_advance(u64 ns);
void fake_delay_fires(void);
void fake_row(u64 len, u64 sent);
void fake_same(u64 len, u64 sent);
void fake_same_sent(u64 next);
int fake_ask(const u64 *lens);
bool fake_wanted(struct shuffle_record *rec);
void fake_answer(u32 records, u32 bytes);
bool fake_rx(u32 rank, u64 len, u64 off, u32 payload);
bool fake_rx_nonce(u32 rank, u64 nonce, u64 len, u64 off, u32 payload);
void fake_grant(u32 rank, u64 limit, u64 acked);
void fake_ack_nonce(u32 rank, u64 nonce);
void fake_ack(u32 rank);
void fake_resend(u32 rank, bool known, u64 off, u64 len);
void fake_waits(u32 rank);
bool fake_work(struct work_struct *work);
void fake_unlink(struct shuffle_op *op);
void fake_end(void);

/* fake_memory.c: memory of sockets; rx/early.c and tx/pages.c, on a clock of their own */
bool fake_memory_schedule(struct sock *sk, int bytes);
bool fake_memory_schedule_packet(struct sock *sk, struct sk_buff *skb, int bytes);
void fake_memory_charge(struct sock *sk, int bytes);
void fake_memory_uncharge(struct sock *sk, int bytes);
void fake_early_later(unsigned int seconds);
void fake_pages_later(unsigned int seconds);

#define FAKE_COUNTED(test, name, n)					\
	KUNIT_EXPECT_EQ(test, fake_count(SHUFFLE_MIB_##name), (u64)(n))

extern struct kunit_suite shuffle_msg_in_suite;
extern struct kunit_suite shuffle_msg_out_suite;
extern struct kunit_suite shuffle_want_suite;
extern struct kunit_suite shuffle_timer_suite;
extern struct kunit_suite shuffle_progress_suite;
extern struct kunit_suite shuffle_abort_suite;
extern struct kunit_suite shuffle_question_suite;
extern struct kunit_suite shuffle_delayed_ack_suite;
extern struct kunit_suite shuffle_slowest_suite;
extern struct kunit_suite shuffle_same_suite;
extern struct kunit_suite shuffle_limits_suite;

#endif /* _SHUFFLE_TEST_FAKE_H */
