// SPDX-License-Identifier: GPL-2.0-only
/* Estimates of a link's rate and RTT (portable: see portable.h, link_estimate.h). */
#include "link_estimate.h"

/* Least length of a window: a few packets of a fast link.  A window ends with an
 * arrival, so a slow link makes windows longer.
 */
#define WINDOW_NS	20000U
/* After this long, or two round trips if that is more, without DATA the senders were
 * idle and not the link slow: the window begins again.
 */
#define PAUSE_NS	2000000U

/* The minimum RTT is that of the present epoch and of the one before. */
#define EPOCH_NS	10000000000ULL
#define MBPS_MAX	10000000U

/* RTTbytes where processors are the limit: what a link of 10 Gb/s carries in 500 us.  With that,
 * super-packets are as large as they can be, and four of them are granted as one.
 */
#define CPU_RTT_NS	500000U
#define CPU_RTT_BYTES	625000U

/* A loss is remembered for a second, whatever happens in it: looks at the processor are no clock,
 * for there are none while nothing arrives.
 */
#define CAUTIOUS_NS	1000000000ULL

/* Looks that are not sure, until the processor is not the limit any more. */
#define CPU_BOUND_LOOKS	20U

/**
 * shuffle_link_init() - initialise, or forget what was learnt
 * @link: estimates
 * @claimed: rate that the device reports, Mb/s, not 0
 */
void shuffle_link_init(struct shuffle_link *link, u32 claimed)
{
	memset(link, 0, sizeof(*link));
	link->claimed = claimed;
	link->mbps = claimed;
}

static bool paused(const struct shuffle_link *link, u64 now)
{
	u64 limit = 2ULL * shuffle_link_rtt(link);

	return now - link->last > (limit > PAUSE_NS ? limit : PAUSE_NS);
}

static void restart(struct shuffle_link *link, u64 now)
{
	link->start = now;
	link->last = now;
	link->bytes = 0;
	link->nr_windows = 0;
}

/* Add the rate of one window.  If the last SHUFFLE_LINK_WINDOWS windows all had more
 * than the estimate, the least of them becomes the estimate.  Otherwise an estimate above
 * the claimed rate loses 1/1024 of the difference: it may have been chance, or the link
 * has been slowed down.
 */
static void learn(struct shuffle_link *link, u32 mbps)
{
	u32 least = mbps;
	u32 floor;
	u32 i;

	if (link->recent)
		link->recent += (int)(mbps - link->recent) / 8;
	else
		link->recent = mbps;
	link->window[link->nr_windows++ % SHUFFLE_LINK_WINDOWS] = mbps;
	if (link->nr_windows < SHUFFLE_LINK_WINDOWS)
		return;
	for (i = 0; i < SHUFFLE_LINK_WINDOWS; i++)
		if (link->window[i] < least)
			least = link->window[i];
	if (least > link->mbps) {
		link->mbps = least;
		return;
	}
	floor = least > link->claimed ? least : link->claimed;
	if (link->mbps > floor)
		link->mbps -= (link->mbps - floor + 1023) / 1024;
}

/**
 * shuffle_link_arrived() - data has arrived
 * @link: estimates
 * @bytes: of the packets, headers included
 * @now: ns
 *
 * A window lasts from one arrival to another.  Its rate is therefore what the link
 * carried, even if the window has few packets.
 */
void shuffle_link_arrived(struct shuffle_link *link, u32 bytes, u64 now)
{
	u64 ns;

	link->looked += bytes;
	if (!link->start || now < link->last || paused(link, now)) {
		restart(link, now);
		return;
	}
	link->last = now;
	link->bytes += bytes;
	ns = now - link->start;
	if (ns < WINDOW_NS)
		return;
	ns = shuffle_div64(link->bytes * 8000, ns);
	if (!ns)
		ns = 1;
	learn(link, ns < MBPS_MAX ? (u32)ns : MBPS_MAX);
	link->start = now;
	link->bytes = 0;
}

/**
 * shuffle_link_lost() - a packet was lost, not late
 * @link: estimates
 * @now: ns
 *
 * If the link has lately delivered less than half of the estimate, the loss was
 * probably the overflow of a queue that grants filled: halve the estimate.  If the
 * senders were slow for another reason, this is wrong; because of overcommit more data
 * then arrives within a few round trips, and shuffle_link_arrived() raises the estimate.
 */
void shuffle_link_lost(struct shuffle_link *link, u64 now)
{
	u32 half = link->mbps / 2;

	link->cautious_until = now + CAUTIOUS_NS;
	if (!link->recent || link->recent >= half)
		return;
	link->mbps = half;
}

/**
 * shuffle_link_rtt_sample() - a round trip has been measured
 * @link: estimates
 * @ns: duration, including time in queues and in schedules; only the minimum counts
 * @now: ns
 *
 * The estimate is the minimum of the last one or two epochs, so that it rises again
 * when the path has become longer.
 */
void shuffle_link_rtt_sample(struct shuffle_link *link, u64 ns, u64 now)
{
	if (!ns || ns > U32_MAX)
		return;
	if (now - link->rtt_epoch > EPOCH_NS) {
		link->rtt_before = link->rtt_ns;
		link->rtt_ns = 0;
		link->rtt_epoch = now;
	}
	if (!link->rtt_ns || ns < link->rtt_ns)
		link->rtt_ns = (u32)ns;
}

/**
 * shuffle_link_rtt() - round-trip time of the idle network
 * @link: estimates
 *
 * Return: ns, or 0 if nothing has been measured.
 */
u32 shuffle_link_rtt(const struct shuffle_link *link)
{
	if (!link->rtt_before || (link->rtt_ns && link->rtt_ns < link->rtt_before))
		return link->rtt_ns;
	return link->rtt_before;
}

/**
 * shuffle_link_drains() - rate at which queues in front of the link drain
 * @link: estimates
 * @told: rate that the setting link-rate names, Mb/s; 0: use the estimate
 *
 * The rate delivered lately, if that is less than the set or estimated rate, but at least
 * 1/16 of it: senders with little data must not make the result arbitrarily small.
 *
 * Return: Mb/s, at least 1.
 */
u32 shuffle_link_drains(const struct shuffle_link *link, u32 told)
{
	u32 mbps = told ? told : link->mbps;

	if (link->recent && link->recent < mbps)
		mbps = link->recent > mbps / 16 ? link->recent : mbps / 16;
	return mbps ? mbps : 1;
}

/**
 * shuffle_link_cpu() - how much work the processor that takes the packets has had with them
 * @link: estimates
 * @mbps: rate of the link, Mb/s
 * @busy: ns that the kernel has worked there
 * @ns: since the last look
 *
 * It is the limit if the kernel had most of it and the link has carried less than half of what it
 * can: that is seen in what has arrived in all, for packets that waited for a processor come in
 * bursts.  (A program that computes is no sign: it makes room for packets.)  A rate above the one
 * that the device claims is that of a virtual link, which is a processor, too.
 */
void shuffle_link_cpu(struct shuffle_link *link, u32 mbps, u64 busy, u64 ns)
{
	u64 carried = shuffle_div64(link->looked * 8000, ns);
	bool virtual = mbps > link->claimed + link->claimed / 4;

	if (busy > ns / 2 && (carried < mbps / 2 || virtual))
		link->cpu_bound = CPU_BOUND_LOOKS;
	else if (carried >= mbps / 2 && !virtual)
		link->cpu_bound = 0;
	else if (link->cpu_bound)
		link->cpu_bound--;
}

/**
 * shuffle_link_rtt_bytes() - what has to be on its way to keep a receiver busy
 * @link: estimates
 * @mbps: rate of the link, Mb/s
 * @rtt: of the idle network, ns
 * @now: ns
 *
 * The link's rate times the RTT of the idle network: more only waits in the receiver's port.
 * Where the processor is the limit, nothing waits there.  A grant is answered when a processor
 * comes to it, which takes longer than the network does, and small super-packets cost several
 * times the instructions of large ones.  So more is on its way then, less of that if packets have
 * been lost in the last second.
 *
 * Return: bytes.
 */
u64 shuffle_link_rtt_bytes(const struct shuffle_link *link, u32 mbps, u32 rtt, u64 now)
{
	u64 bytes = shuffle_div64((u64)mbps * rtt, 8000);
	u64 more = shuffle_div64((u64)mbps * CPU_RTT_NS, 8000);

	if (!link->cpu_bound)
		return bytes;
	if (more > CPU_RTT_BYTES)
		more = CPU_RTT_BYTES;
	if (now < link->cautious_until)
		more /= 8;
	return bytes > more ? bytes : more;
}
