// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of the engines.  usage: stream-test [RANDOM-INPUTS] */
#include "test.h"

unsigned long test_runs = 1000000;

/* splitmix64, from a fixed seed */
u64 rnd(void)
{
	static u64 state = 17;
	u64 z = (state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

s64 between(s64 low, s64 high)
{
	return low + (s64)(rnd() % ((u64)high - (u64)low + 1));
}

static void *allocate(size_t size)
{
	void *p = malloc(size);

	if (!p)
		abort();
	return p;
}

struct stream_dde *dde_new(const struct stream_config *cfg, bool restarted)
{
	return stream_dde_init(allocate(stream_dde_size(cfg)), cfg, restarted);
}

struct stream_input *input_new(const struct stream_config *cfg, u32 input, u64 interval)
{
	return stream_input_init(allocate(stream_input_size(cfg)), cfg, input, interval);
}

int main(int argc, char **argv)
{
	char *last;

	if (argc > 1) {
		test_runs = strtoul(argv[1], &last, 10);
		if (argc > 2 || last == argv[1] || *last || !test_runs) {
			fprintf(stderr, "usage: stream-test [RANDOM-INPUTS]\n");
			return 2;
		}
	}
	tap_state.prefix = "stream";
	test_numbers();
	test_clocks();
	test_levels();
	test_agree();
	test_refused();
	test_failures();
	test_inputs();
	test_status();
	return tap_finish();
}
