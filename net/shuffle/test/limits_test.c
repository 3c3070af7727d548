// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one socket, or one user, may have: the numbers are those of security.rst, not the module's.
 */
#include <linux/slab.h>

#include "../user.h"
#include "fake.h"

#define EARLY_MAX	100000U
#define PACKET		1000U

/* One operation more is refused: there is one of three members, and @ops and @msgs of others. */
static void expect_full(struct kunit *test, u32 ops, u32 msgs)
{
	const struct shuffle_column column = {};
	struct shuffle_op *op;

	fake->ssk.nr_ops = ops;
	fake->ssk.nr_msgs = msgs;
	fake_start(3, 0);
	op = shuffle_op_create(&fake->ssk, FAKE_OP + 1, 0, &column, NULL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(op), (long)-ENOBUFS);
	if (!IS_ERR(op)) {
		mutex_unlock(&op->fill.mutex);
		fake_unlink(op);
		shuffle_op_put(op);
	}
	fake_end();
	fake->ssk.nr_ops -= ops;
	fake->ssk.nr_msgs -= msgs;
}

static void limits__operations(struct kunit *test)
{
	expect_full(test, 1023, 0);
}

static void limits__messages(struct kunit *test)
{
	expect_full(test, 0, (1 << 20) - 3);
}

/* A packet for an operation that has not begun; -1: it cannot be made. */
static int keep(u64 op_id)
{
	struct sk_buff *skb = alloc_skb(PACKET, GFP_KERNEL);
	int kept;

	if (!skb)
		return -1;
	local_bh_disable();
	kept = shuffle_early_keep(&fake->ssk, skb, op_id, fake->ssk.unlinked);
	local_bh_enable();
	if (kept != 1)
		kfree_skb(skb);
	return kept;
}

/* The fake's socket belongs to @user, who may keep packets.  Each costs what is returned. */
static u32 early_of(struct kunit *test, struct shuffle_user *user)
{
	struct sk_buff *skb = alloc_skb(PACKET, GFP_KERNEL);
	u32 size;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	size = skb->truesize;
	kfree_skb(skb);
	fake->ssk.user = user;
	fake->sn.dev0.cfg.early_bytes = EARLY_MAX;
	fake->sn.dev0.cfg.early_expiry_ms = 30000;
	shuffle_early_init(&fake->ssk);
	return size;
}

static void early_end(struct kunit *test)
{
	shuffle_early_exit(&fake->ssk);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->sn.early_bytes), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake->ssk.user->early), 0);
	fake->ssk.user = NULL;
}

/* One user gets four fifths, as it may have four times what is left; then there is room for
 * another, and all together have no more than the limit.
 */
static void limits__early_shares(struct kunit *test)
{
	struct shuffle_user one = {}, other = {};
	u32 n, size = early_of(test, &one);

	for (n = 0; keep(n) == 1; n++)
		;
	KUNIT_EXPECT_GE(test, (n + 1) * size, EARLY_MAX * 4 / 5);
	KUNIT_EXPECT_LE(test, (n - 1) * size, EARLY_MAX * 4 / 5);
	FAKE_COUNTED(test, EarlyKept, n);
	FAKE_COUNTED(test, EarlyFull, 1);
	KUNIT_EXPECT_EQ(test, fake->charged, (s64)n * size);
	fake->ssk.user = &other;
	KUNIT_EXPECT_EQ(test, keep(n), 1);
	fake->ssk.user = &one;
	KUNIT_EXPECT_EQ(test, keep(n), 0);
	atomic_sub(size, &other.early);
	atomic_add(size, &one.early);
	early_end(test);
	FAKE_COUNTED(test, EarlyExpired, n + 1);
}

/* Operations that run need memory first. */
static void limits__early_scarce(struct kunit *test)
{
	struct shuffle_user user = {};

	early_of(test, &user);
	KUNIT_EXPECT_EQ(test, keep(1), 1);
	fake->memory_scarce = true;
	KUNIT_EXPECT_EQ(test, keep(2), 0);
	fake->memory_scarce = false;
	fake->memory_refused = true;
	KUNIT_EXPECT_EQ(test, keep(3), 0);
	FAKE_COUNTED(test, EarlyFull, 2);
	early_end(test);
}

static void limits__early_expires(struct kunit *test)
{
	struct shuffle_user user = {};

	early_of(test, &user);
	KUNIT_EXPECT_EQ(test, keep(1), 1);
	fake_early_later(29);
	FAKE_COUNTED(test, EarlyExpired, 0);
	KUNIT_EXPECT_EQ(test, keep(2), 1);
	fake_early_later(2);
	FAKE_COUNTED(test, EarlyExpired, 1);
	KUNIT_EXPECT_GT(test, fake->charged, 0LL);
	fake_early_later(30);
	FAKE_COUNTED(test, EarlyExpired, 2);
	KUNIT_EXPECT_EQ(test, fake->charged, 0LL);
	early_end(test);
}

/* Pages that packets hold; they are filled one after the other.  -> bytes that are kept at most */
static s64 fill_pages(struct kunit *test, int sndbuf, u32 n, struct page **held)
{
	struct page_frag *frag = &fake->ssk.pages.frag;
	s64 most = 0;
	u32 i;

	fake->ssk.sk.sk_sndbuf = sndbuf;
	mutex_lock(&fake->ssk.pages.lock);
	for (i = 0; i < n; i++) {
		if (!shuffle_pages_room(&fake->ssk, 1000))
			break;
		get_page(frag->page);
		held[i] = frag->page;
		frag->offset = frag->size;
		most = max(most, fake->charged);
	}
	mutex_unlock(&fake->ssk.pages.lock);
	KUNIT_EXPECT_EQ(test, i, n);
	while (i)
		put_page(held[--i]);
	return most;
}

/* Twice the send buffer, and 16 MiB; and nothing is kept when nothing has been sent for a while. */
static void limits__pages(struct kunit *test)
{
	const u32 n = 700;	/* of 32 KiB: 21 MiB */
	struct page **held = kvcalloc(n, sizeof(*held), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, held);
	KUNIT_EXPECT_EQ(test, fill_pages(test, 1 << 20, 100, held), 2LL << 20);
	fake_pages_later(1);
	KUNIT_EXPECT_EQ(test, fake->charged, 0LL);
	KUNIT_EXPECT_EQ(test, fill_pages(test, 1 << 28, n, held), 16LL << 20);
	fake->memory_scarce = true;
	fill_pages(test, 1 << 28, 2, held);
	KUNIT_EXPECT_EQ(test, fake->charged, 0LL);
	shuffle_pages_exit(&fake->ssk);
	kvfree(held);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(limits__operations),
	KUNIT_CASE(limits__messages),
	KUNIT_CASE(limits__early_shares),
	KUNIT_CASE(limits__early_scarce),
	KUNIT_CASE(limits__early_expires),
	KUNIT_CASE(limits__pages),
	{}
};

struct kunit_suite shuffle_limits_suite = {
	.name = "shuffle_limits",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = cases,
};
