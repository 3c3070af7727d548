// SPDX-License-Identifier: GPL-2.0-only
/* What the files under test call: the fake's device, socket and surroundings. */
#include <linux/slab.h>

#include "fake.h"
#include "../netlink/netlink.h"
#include "../peer.h"
#include "../rx/timewait.h"
#include "../tx/egress_wake.h"
#include "../tx/output.h"
#include "../tx/pages.h"
#include "../tx/path_mtu.h"
#include "../tx/route.h"

struct fake *fake;

static void data_ready(struct sock *sk)
{
	fake->wakeups++;
}

/**
 * fake_init() - before each test
 * @test: test
 *
 * Return: 0 or -ENOMEM.
 */
int fake_init(struct kunit *test)
{
	struct shuffle_sock *ssk;
	struct shuffle_dev *dev;

	fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	if (!fake)
		return -ENOMEM;
	fake->test = test;
	fake->now = NSEC_PER_SEC;
	fake->timer_at = U64_MAX;
	fake->delay_at = U64_MAX;
	fake->sent = kvcalloc(FAKE_RECORDS, sizeof(*fake->sent), GFP_KERNEL);
	fake->sn.mib = alloc_percpu(struct shuffle_mib);
	if (!fake->sent || !fake->sn.mib)
		return -ENOMEM;

	dev = &fake->dev;
	dev->sn = &fake->sn;
	dev->ifindex = 2;
	dev->rtt = FAKE_RTT_NS;
	dev->rtt_bytes = 20 * FAKE_PAYLOAD;
	dev->cfg.overcommit = 8;
	dev->cfg.resend_first_us = 50000;
	dev->cfg.resend_min_us = 1000;
	dev->cfg.resend_max_us = 200000;

	ssk = &fake->ssk;
	ssk->sn = &fake->sn;
	spin_lock_init(&ssk->lock);
	shuffle_pages_init(ssk);
	mutex_init(&ssk->read_mutex);
	INIT_LIST_HEAD(&ssk->ready);
	INIT_LIST_HEAD(&ssk->parts);
	INIT_LIST_HEAD(&ssk->notices);
	INIT_LIST_HEAD(&ssk->hungry);
	INIT_LIST_HEAD(&ssk->wants);
	INIT_LIST_HEAD(&ssk->grant_ops);
	INIT_LIST_HEAD(&ssk->tx_ops);
	INIT_LIST_HEAD(&ssk->tx_order);
	INIT_LIST_HEAD(&ssk->tx_fair);
	ssk->sk.sk_rcvbuf = 1 << 26;	/* nobody reads */
	ssk->sk.sk_sndbuf = 1 << 20;
	ssk->sk.sk_data_ready = data_ready;
	return 0;
}

/**
 * fake_exit() - after each test: nothing may be left of what was charged
 * @test: test
 */
void fake_exit(struct kunit *test)
{
	if (!fake)
		return;
	fake_end();
	KUNIT_EXPECT_EQ(test, fake->charged, 0LL);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->ssk.sk.sk_rmem_alloc), 0);
	KUNIT_EXPECT_EQ(test, fake->ssk.outstanding, 0ULL);
	KUNIT_EXPECT_EQ(test, fake->ssk.wanted, 0ULL);
	KUNIT_EXPECT_EQ(test, fake->ssk.nr_incomplete, 0U);
	KUNIT_EXPECT_EQ(test, fake->ssk.nr_unsent, 0U);
	KUNIT_EXPECT_EQ(test, fake->ssk.unsent, 0ULL);
	KUNIT_EXPECT_EQ(test, fake->ssk.nr_retrans, 0U);
	KUNIT_EXPECT_EQ(test, fake->ssk.nr_ops, 0U);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->dev.rx_ops), 0);
	free_percpu(fake->sn.mib);
	kvfree(fake->sent);
	fake = NULL;
}

/**
 * fake_start() - a group of members of which we are the last one, and an operation
 * @members: their number
 * @deadline_ms: of the operation; 0 none
 */
void fake_start(u32 members, u64 deadline_ms)
{
	struct kunit *test = fake->test;
	struct shuffle_column column = {
		.absent = fake->absent,
	};
	struct shuffle_op *op;
	u32 i;

	fake->group = kvzalloc(struct_size(fake->group, member, members + 1), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake->group);
	refcount_set(&fake->group->ref, 1);
	fake->group->count = members;
	fake->group->rank = members - 1;
	fake->group->data_hdr = SHUFFLE_WIRE_DATA_HDR;
	for (i = 0; i < members; i++)
		fake->group->member[i].addr.shs_port = htons(5000 + i);
	fake->ssk.group = fake->group;
	op = shuffle_op_create(&fake->ssk, FAKE_OP, deadline_ms, &column, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(op));
	mutex_unlock(&op->fill.mutex);
	shuffle_op_put(op);
	fake->op = op;
}

/**
 * fake_count() - value of a counter
 * @mib: SHUFFLE_MIB_...
 *
 * Return: its value.
 */
u64 fake_count(int mib)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(fake->sn.mib, cpu)->mibs[mib];
	return sum;
}

/**
 * fake_sent() - how many records have left
 * @type: of this type
 * @rank: to this member; SHUFFLE_NONE: to any
 *
 * Return: their number.
 */
u32 fake_sent(u8 type, u32 rank)
{
	u32 i, n = 0;

	for (i = 0; i < fake->n_sent; i++)
		n += fake->sent[i].w.type == type &&
		     (rank == SHUFFLE_NONE || fake->sent[i].rank == rank);
	return n;
}

/**
 * fake_last() - the last record of a type that has left
 * @type: see above
 * @rank: see above
 *
 * Return: the record; the test ends here if there is none.
 */
const struct fake_record *fake_last(u8 type, u32 rank)
{
	const struct fake_record *r = NULL;
	u32 i;

	for (i = 0; i < fake->n_sent; i++)
		if (fake->sent[i].w.type == type &&
		    (rank == SHUFFLE_NONE || fake->sent[i].rank == rank))
			r = &fake->sent[i];
	KUNIT_ASSERT_NOT_NULL(fake->test, r);
	return r;
}

/* ---- memory: there is plenty ---- */

bool shuffle_mem_scarce(void)
{
	return fake->memory_scarce;
}

u32 shuffle_mem_share(u32 buf)
{
	return buf;
}

/* ---- the device ---- */

void shuffle_output_record(struct shuffle_net *sn, struct shuffle_sock *ssk,
			   struct shuffle_membership *group, u32 rank,
			   struct shuffle_wire *w, struct sk_buff_head *q)
{
	/* no assertion: a lock is held */
	KUNIT_EXPECT_LT(fake->test, rank, group->count);
	shuffle_group_address(group, rank, w);
	if (fake->n_sent == FAKE_RECORDS) {
		KUNIT_FAIL(fake->test, "too many records have left");
		return;
	}
	fake->sent[fake->n_sent++] = (struct fake_record) {
		.rank = rank,
		.at = fake->now,
		.w = *w,
	};
}

void shuffle_output_flush(struct shuffle_net *sn, struct sk_buff_head *q)
{
}

/* of hosts without the socket, which no test has */
struct sk_buff *shuffle_output_answer(struct shuffle_net *sn, const struct sockaddr_shuffle *from,
				      const struct sockaddr_shuffle *to, unsigned int linear,
				      u8 tos)
{
	return NULL;
}

void shuffle_egress_kick(struct shuffle_op *op)
{
	fake->kicks++;
}

void shuffle_egress_force(struct shuffle_net *sn)
{
}

struct dst_entry *shuffle_route(struct shuffle_net *sn, struct shuffle_sock *ssk,
				struct shuffle_membership *group, u32 rank)
{
	return NULL;
}

u32 shuffle_route_payload(const struct shuffle_dev *dev, const struct shuffle_membership *group,
			  u32 rank, struct dst_entry *dst)
{
	return FAKE_PAYLOAD;
}

struct shuffle_dev *shuffle_dev_get(struct shuffle_net *sn, int ifindex)
{
	return &fake->dev;
}

void shuffle_dev_put(struct shuffle_dev *dev)
{
}

void shuffle_dev_lost(struct shuffle_dev *dev)
{
}

void shuffle_dev_compute(struct shuffle_dev *dev)
{
}

void shuffle_dev_overtaken(struct shuffle_dev *dev)
{
	dev->overtaken = 1;
}

bool shuffle_dev_overtakes(const struct shuffle_dev *dev)
{
	return dev->overtaken;
}

u64 shuffle_dev_drain_ns(const struct shuffle_dev *dev, u64 bytes)
{
	return bytes * 8000 / FAKE_MBPS;
}

/* ---- the namespace ---- */

struct shuffle_net *shuffle_net(const struct net *net)
{
	return &fake->sn;
}

void shuffle_group_put(struct shuffle_membership *group)
{
	if (refcount_dec_and_test(&group->ref))
		kvfree(group);
}

bool shuffle_timewait_exists(struct shuffle_net *sn, const struct sockaddr_shuffle *at, u64 op_id)
{
	return false;
}

void shuffle_timewait_add(struct shuffle_net *sn, struct shuffle_op *op)
{
}

void shuffle_sock_write_space(struct sock *sk)
{
}

/* ---- what is measured and told ---- */

void shuffle_peer_rtt(struct shuffle_op *op, u32 rank, u64 ns)
{
}

void shuffle_peer_received(struct shuffle_op *op, u32 rank, u32 bytes)
{
}

void shuffle_peer_resend(struct shuffle_op *op, u32 rank, bool out)
{
}

void shuffle_path_lost(struct shuffle_op *op, u32 rank, u32 payload, u64 now)
{
	fake->full_lost++;
}

void shuffle_path_arrived(struct shuffle_op *op, u32 rank)
{
}

bool shuffle_event_wanted(struct shuffle_net *sn)
{
	return false;
}

void shuffle_event_start(struct shuffle_op *op)
{
}

void shuffle_event_end(struct shuffle_op *op)
{
}

void shuffle_event_straggler(struct shuffle_op *op, u32 rank)
{
	fake->stragglers++;
}

void shuffle_event_pressure(struct shuffle_sock *ssk)
{
	fake->pressures++;
}
