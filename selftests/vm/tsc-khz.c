// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the rate of this machine's time stamp counter in kHz.  A guest that
 * calibrates it by itself while the host is busy may err by a factor of four, and
 * then its clock runs four times too fast.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct moment {
	uint64_t ticks, ns;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Both clocks at once: the try that was interrupted least. */
static struct moment moment(void)
{
	struct moment m = { 0 };
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < 1000; i++) {
		uint64_t a = __rdtsc();
		uint64_t ns = now_ns();
		uint64_t b = __rdtsc();

		if (b - a < best) {
			best = b - a;
			m.ticks = a + (b - a) / 2;
			m.ns = ns;
		}
	}
	return m;
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	struct moment from = moment(), to;

	nanosleep(&pause, NULL);
	to = moment();
	printf("%llu\n", (unsigned long long)((to.ticks - from.ticks) * 1000000 /
					      (to.ns - from.ns)));
	return 0;
}
