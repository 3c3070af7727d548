// SPDX-License-Identifier: GPL-2.0-only
/* Counters of a namespace: their names, texts and values. */
#include <net/ip.h>

#include "mib.h"
#include "netns.h"

#define SHUFFLE_MIB_NAME(name, text)	#name,
const char * const shuffle_mib_names[] = { SHUFFLE_MIB_LIST(SHUFFLE_MIB_NAME) };

#define SHUFFLE_MIB_TEXT(name, text)	text,
const char * const shuffle_mib_texts[] = { SHUFFLE_MIB_LIST(SHUFFLE_MIB_TEXT) };

/**
 * shuffle_mib_value() - read one counter
 * @sn: namespace
 * @i: SHUFFLE_MIB_*
 *
 * Context: process; sums over all CPUs.
 * Return: the counter's value since the namespace was made.
 */
u64 shuffle_mib_value(struct shuffle_net *sn, int i)
{
	u64 sum = i == SHUFFLE_MIB_DropUdp ? shuffle_udp_drops(sn) : 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		/* other CPUs count on meanwhile: whatever a word was at some time is right */
		sum += data_race(snmp_get_cpu_field(sn->mib, cpu, i));
	}
	return sum;
}
