// SPDX-License-Identifier: GPL-2.0-only
/* Greatest remaining processing fraction, the default (portable: see portable.h). */
#include "policy_ops.h"

/* part / whole in 1/2^32, for part <= whole, without 128-bit arithmetic */
static u64 fraction(u64 part, u64 whole)
{
	while (whole > U32_MAX) {
		whole >>= 1;
		part >>= 1;
	}
	return shuffle_div64(part << 32, whole);
}

/**
 * shuffle_policy_grpf_prio() - what fraction of a message is left
 * @seed: of the message
 * @len: bytes of the message
 * @off: first byte of the unit, below @len (or both 0)
 * @unit: bytes of a unit
 *
 * 1 - (random offset inside the unit) / @len (section 3.3): the randomness
 * keeps equal messages from meeting at their receiver in lock step, the seed
 * lets both ends agree.  Consecutive seeds give offsets that lie evenly between
 * each other (multiples of the golden ratio), so that hosts whose seeds are
 * shifted against each other prefer different receivers at any moment.
 *
 * Return: the priority, greater is sooner.
 */
u64 shuffle_policy_grpf_prio(u32 seed, u64 len, u64 off, u32 unit)
{
	u64 left = len - off;
	u32 span = left < unit ? (u32)left : unit;

	if (!len)
		return U64_MAX;
	if (span > 1)
		left -= ((u64)(seed * 0x9e3779b1U + shuffle_policy_mix(0, off)) * span) >> 32;
	return fraction(left, len);
}

const struct shuffle_policy_ops shuffle_policy_grpf = {
	.name = "grpf",
	.prio = shuffle_policy_grpf_prio,
};
