// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets of operations that have not begun, and pages that are filled, with the fake's memory and
 * a clock of their own.
 */
#include <linux/slab.h>

#include "../rx/input.h"
#include "fake.h"

static unsigned long memory_clock;

/**
 * fake_memory_schedule() - is there memory for a socket?
 * @sk: socket
 * @bytes: so many
 */
bool fake_memory_schedule(struct sock *sk, int bytes)
{
	return !fake->memory_refused;
}

/**
 * fake_memory_schedule_packet() - the same for a packet that is received
 * @sk: socket
 * @skb: packet
 * @bytes: so many
 */
bool fake_memory_schedule_packet(struct sock *sk, struct sk_buff *skb, int bytes)
{
	return fake_memory_schedule(sk, bytes);
}

/**
 * fake_memory_charge() - a socket pays for memory
 * @sk: socket
 * @bytes: so many
 */
void fake_memory_charge(struct sock *sk, int bytes)
{
	fake->charged += bytes;
}

/**
 * fake_memory_uncharge() - a socket gives memory back
 * @sk: socket
 * @bytes: so many
 */
void fake_memory_uncharge(struct sock *sk, int bytes)
{
	fake->charged -= bytes;
}

/* A test runs it. */
static bool work_later(struct delayed_work *work, unsigned long delay)
{
	return true;
}

static bool work_never(struct delayed_work *work)
{
	return true;
}

void shuffle_input_packet(struct shuffle_net *sn, struct sk_buff *skb, struct shuffle_sock *ssk)
{
	kfree_skb(skb);
}

#undef jiffies
#define jiffies			memory_clock
#define _SHUFFLE_TRACE_H
#define sk_rmem_schedule	fake_memory_schedule_packet
#define sk_wmem_schedule	fake_memory_schedule
#define sk_mem_charge		fake_memory_charge
#define sk_mem_uncharge		fake_memory_uncharge
#define schedule_delayed_work	work_later
#define cancel_delayed_work_sync work_never

#include "../rx/early.c"
#include "../tx/pages.c"

/**
 * fake_early_later() - time passes for early packets, and what is too old goes
 * @seconds: so many
 */
void fake_early_later(unsigned int seconds)
{
	memory_clock += seconds * HZ;
	early_expire(&fake->ssk.early.work.work);
}

/**
 * fake_pages_later() - time passes for pages that nobody fills
 * @seconds: so many
 */
void fake_pages_later(unsigned int seconds)
{
	memory_clock += seconds * HZ;
	idle(&fake->ssk.pages.idle_work.work);
}
