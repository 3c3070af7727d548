/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Estimates of a link, learnt from arriving packets: the rate, and the round-trip time of
 * the idle network.  What a device reports is only a start: a virtual device reports
 * 10 Gb/s whatever it is shaped to.  Portable: see portable.h; the caller serialises all
 * calls on one object.
 */
#ifndef _SHUFFLE_LINK_ESTIMATE_H
#define _SHUFFLE_LINK_ESTIMATE_H

#include "portable.h"

/* Windows in a row that must all have seen a rate before the rate is believed.  Packets
 * that a busy CPU has held up arrive faster than the link is, but not for this long.
 */
#define SHUFFLE_LINK_WINDOWS	4U

/**
 * struct shuffle_link - estimates
 * @claimed: rate that the device reports, Mb/s
 * @mbps: estimated rate, Mb/s; at least 1
 * @recent: mean of the last windows' rates, Mb/s; 0 before the first
 * @window: rates of the last windows, Mb/s
 * @nr_windows: number of windows since the last pause
 * @start: arrival that the present window counts from, ns; 0: none yet
 * @last: last arrival, ns
 * @bytes: bytes that arrived after @start
 * @rtt_ns: minimum of the present epoch; 0: nothing measured
 * @rtt_before: minimum of the epoch before
 * @rtt_epoch: when the present epoch began, ns
 * @looked: bytes that have arrived since the last look at the processor
 * @cpu_bound: not 0: the processor that takes the packets is the limit, and not the link
 * @cautious_until: when losses will have been forgotten, ns
 */
struct shuffle_link {
	u32	claimed;
	u32	mbps;
	u32	recent;
	u32	window[SHUFFLE_LINK_WINDOWS];
	u32	nr_windows;
	u64	start;
	u64	last;
	u64	bytes;
	u32	rtt_ns;
	u32	rtt_before;
	u64	rtt_epoch;
	u64	looked;
	u32	cpu_bound;
	u64	cautious_until;
};

void shuffle_link_init(struct shuffle_link *link, u32 claimed);
void shuffle_link_arrived(struct shuffle_link *link, u32 bytes, u64 now);
void shuffle_link_lost(struct shuffle_link *link, u64 now);
void shuffle_link_rtt_sample(struct shuffle_link *link, u64 ns, u64 now);
u32 shuffle_link_drains(const struct shuffle_link *link, u32 told);
u32 shuffle_link_rtt(const struct shuffle_link *link);
void shuffle_link_cpu(struct shuffle_link *link, u32 mbps, u64 busy, u64 ns);
u64 shuffle_link_rtt_bytes(const struct shuffle_link *link, u32 mbps, u32 rtt, u64 now);

#endif /* _SHUFFLE_LINK_ESTIMATE_H */
