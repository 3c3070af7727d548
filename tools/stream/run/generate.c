// SPDX-License-Identifier: GPL-2.0-or-later
/* Generated pieces: every 8 bytes depend on the input, the time-slice and their place. */
#include <string.h>

#include "run.h"

static u64 word(u32 input, u64 slice, u32 n)
{
	u64 v = (slice * 0x9e3779b97f4a7c15ULL) ^ ((u64)input << 32 | n);

	/* one round of splitmix64's mixer: cheap, and no two words nearby are alike */
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ULL;
	return v ^ v >> 27;
}

/**
 * piece_generate() - make a piece
 * @input: whose
 * @slice: of which time-slice
 * @to: where
 * @len: bytes
 */
void piece_generate(u32 input, u64 slice, u8 *to, u32 len)
{
	u32 i;

	for (i = 0; i < len; i += 8) {
		u64 v = word(input, slice, i / 8);

		memcpy(to + i, &v, len - i < 8 ? len - i : 8);
	}
}

/**
 * piece_is_generated() - is that what piece_generate() makes?
 * @input: whose
 * @slice: of which time-slice
 * @offset: where in the piece @data begins
 * @data: bytes of it
 * @len: how many
 *
 * Return: they are the same.
 */
bool piece_is_generated(u32 input, u64 slice, u32 offset, const u8 *data, u32 len)
{
	while (len) {
		u64 v = word(input, slice, offset / 8);
		u32 at = offset % 8, n = len < 8 - at ? len : 8 - at;

		if (memcmp(data, (const u8 *)&v + at, n))
			return false;
		data += n;
		offset += n;
		len -= n;
	}
	return true;
}
