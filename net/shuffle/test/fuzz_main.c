// SPDX-License-Identifier: GPL-2.0-only
/*
 * In place of libFuzzer where there is none: inputs from a repeatable source, some
 * random, some made of records with a few bits wrong.  Takes -runs=, -seed= and
 * -max_len=, or names of files to run.
 */
#include "../sched/wire.h"
#include "fuzz.h"
#include "harness.h"

static size_t records(struct shuffle_rnd *rnd, u8 *p, size_t max)
{
	static const u8 types[] = { SHUFFLE_DATA, SHUFFLE_DATA, SHUFFLE_GRANT, SHUFFLE_ACK,
				    SHUFFLE_RESEND, SHUFFLE_ECHO, SHUFFLE_ABORT };
	size_t end = 0;
	u32 flips;

	while (end + SHUFFLE_WIRE_MAX_HDR <= max && shuffle_rnd_below(rnd, 8)) {
		struct shuffle_wire w = {
			.type = types[shuffle_rnd_below(rnd, sizeof(types))],
			.op_id = shuffle_rnd64(rnd),
			.nonce = shuffle_rnd64(rnd),
			.flags = shuffle_rnd_below(rnd, 2) ? SHUFFLE_FLAG_TAG : 0,
			.data.len = shuffle_rnd_below(rnd, 3000),
			.data.off = shuffle_rnd_below(rnd, 1000),
		};

		/* now and then a flag that the type has, or has not */
		if (!shuffle_rnd_below(rnd, 4))
			w.flags |= (u8)(1 << shuffle_rnd_below(rnd, 8));
		if (w.type == SHUFFLE_DATA)
			w.payload = (u16)shuffle_rnd_below(rnd, 300);
		if (w.type == SHUFFLE_ABORT)
			w.blame = (struct shuffle_blame) {
				.reason = (u16)shuffle_rnd_below(rnd, 9),
				.ranks = (u16)shuffle_rnd_below(rnd, 6),
				.rank = { (u16)shuffle_rnd_below(rnd, 3) },
			};
		end += shuffle_wire_build(p + end, &w);
		if (end + w.payload > max)
			break;
		memset(p + end, 0x33, w.payload);
		end += w.payload;
	}
	for (flips = shuffle_rnd_below(rnd, 4); flips && end; flips--)
		p[shuffle_rnd_below(rnd, (u32)end)] ^= (u8)(1 << shuffle_rnd_below(rnd, 8));
	return end;
}

static int run_file(const char *name)
{
	static u8 buf[1 << 20];
	FILE *f = fopen(name, "rb");
	size_t n;

	if (!f) {
		perror(name);
		exit(1);
	}
	n = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	LLVMFuzzerTestOneInput(buf, n);
	return 1;
}

int main(int argc, char **argv)
{
	struct shuffle_rnd rnd = { 1 };
	unsigned long runs = 200000;
	size_t max = 2048;
	unsigned long i;
	int files = 0;
	int a;

	for (a = 1; a < argc; a++) {
		if (!strncmp(argv[a], "-runs=", 6))
			runs = strtoul(argv[a] + 6, NULL, 0);
		else if (!strncmp(argv[a], "-seed=", 6))
			rnd.x = strtoull(argv[a] + 6, NULL, 0);
		else if (!strncmp(argv[a], "-max_len=", 9))
			max = strtoul(argv[a] + 9, NULL, 0);
		else if (argv[a][0] != '-')
			files += run_file(argv[a]);
	}
	if (files)
		return 0;
	for (i = 0; i < runs; i++) {
		size_t n = shuffle_rnd_below(&rnd, (u32)max + 1);
		u8 *p = malloc(n ? n : 1);
		size_t k;

		if (!p)
			return 1;
		if (i & 1) {
			n = records(&rnd, p, n);
		} else {
			/* short inputs, too */
			n >>= shuffle_rnd_below(&rnd, 8);
			for (k = 0; k < n; k++)
				p[k] = (u8)shuffle_rnd64(&rnd);
		}
		LLVMFuzzerTestOneInput(p, n);
		free(p);
	}
	return 0;
}
