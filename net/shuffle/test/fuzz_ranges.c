// SPDX-License-Identifier: GPL-2.0-only
/* The input is a sequence of ranges that arrive; a map of bytes says what is right. */
#include "../sched/ranges.h"
#include "fuzz.h"
#include "model.h"

#define MAP	256U	/* bytes of the map: room for twice the islands */

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct shuffle_range island[SHUFFLE_RANGES_MAX];
	struct fuzz_in in = { data, size };
	struct shuffle_ranges r = { 0 };
	u8 map[MAP] = { 0 };
	u64 base = fuzz_u64(&in, 63);
	u32 step;

	r.island = island;
	if (shuffle_ranges_add(&r, 0, base))
		fuzz_check("the prefix is refused");
	for (step = 0; in.left && step < 500; step++) {
		u32 start = fuzz_u8(&in);
		u32 end = start + fuzz_u8(&in) % 16;
		struct shuffle_range gap;

		if (end > MAP)
			end = MAP;
		fuzz_check(shuffle_model_missing(&r, base, map, MAP, start, end));
		while (shuffle_ranges_missing(&r, base + start, base + end, &gap)) {
			u32 before = r.n;
			int err = shuffle_ranges_add(&r, gap.start, gap.end);

			if (err && (err != -ENOSPC || before != SHUFFLE_RANGES_MAX))
				fuzz_check("refused without a reason");
			if (!err)
				memset(map + (gap.start - base), 1, gap.end - gap.start);
			fuzz_check(shuffle_model_ranges(&r, base, map, MAP));
			if (err)
				break;
		}
	}
	return 0;
}
