// SPDX-License-Identifier: GPL-2.0-only
/* What a link really does (portable: see portable.h, link_estimate.h). */
#include "link_estimate.h"

/* Long enough for a few packets of a fast link; what a slow one delivers makes it
 * longer, for it ends with an arrival.
 */
#define WINDOW_NS	20000U
/* Silence of so long, or of two round trips, was not the link's. */
#define PAUSE_NS	2000000U

#define EPOCH_NS	10000000000ULL
#define MBPS_MAX	10000000U

/**
 * shuffle_link_init() - before anything has arrived
 * @link: estimates
 * @claimed: rate that the device says, Mb/s, not 0
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

/* A rate that several windows have seen raises the estimate at once.  One that
 * was too high, by chance or since the link was slowed down, wears off: 1/1024 of
 * the difference for each window.
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
 * @bytes: with headers
 * @now: ns
 *
 * From one arrival to another, so that what a window measures is what the link
 * carried, however few packets there are in it.
 */
void shuffle_link_arrived(struct shuffle_link *link, u32 bytes, u64 now)
{
	u64 ns;

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
 *
 * If the link delivers much less than we think that it can, then we fill queues
 * that overflow: halve the estimate, not below what is delivered.  Where senders
 * were slow for other reasons this errs; overcommitment then shows in a few round
 * trips that the link can do more, and shuffle_link_arrived() raises it again.
 */
void shuffle_link_lost(struct shuffle_link *link)
{
	u32 half = link->mbps / 2;

	if (!link->recent || link->recent >= half)
		return;
	link->mbps = half;
}

/**
 * shuffle_link_rtt_sample() - a round trip has been measured
 * @link: estimates
 * @ns: its time, queues and schedules included: only the minimum means anything
 * @now: ns
 *
 * The minimum of the last one or two epochs: a path that has become longer is
 * noticed.
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
 * @told: rate that somebody has set, Mb/s; 0: none, use the estimate
 *
 * The rate that was delivered lately, if that is less than the link is thought to be
 * capable of; but senders that had little to say do not make it slower than 1/16.
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
