/* SPDX-License-Identifier: GPL-2.0-only */
/* What the fuzz targets share: libFuzzer's entry, and taking bytes from its input. */
#ifndef _SHUFFLE_TEST_FUZZ_H
#define _SHUFFLE_TEST_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "../sched/portable.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/**
 * struct fuzz_in - input not used yet
 * @p: the next byte
 * @left: bytes from there on
 */
struct fuzz_in {
	const u8	*p;
	size_t		left;
};

/* the next byte; zeros at the end */
static inline u8 fuzz_u8(struct fuzz_in *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

static inline u32 fuzz_u16(struct fuzz_in *in)
{
	u32 hi = fuzz_u8(in);

	return hi << 8 | fuzz_u8(in);
}

/* a number of any magnitude: a shift, then 16 bits */
static inline u64 fuzz_u64(struct fuzz_in *in, u32 bits)
{
	u32 shift = fuzz_u8(in) % (bits - 15);

	return (u64)fuzz_u16(in) << shift;
}

static inline void fuzz_check(const char *why)
{
	if (!why)
		return;
	fprintf(stderr, "%s\n", why);
	abort();
}

#endif /* _SHUFFLE_TEST_FUZZ_H */
