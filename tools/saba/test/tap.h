/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TAP for the unit tests of Saba. */
#ifndef SABA_TEST_TAP_H
#define SABA_TEST_TAP_H

#include <stdio.h>

static int tap_count, tap_failed;

/* One test; what is false in it is said by CHECK(). */
static int tap_bad;

#define CHECK(x) do {							\
	if (!(x)) {							\
		printf("# %s:%d: %s\n", __FILE__, __LINE__, #x);	\
		tap_bad = 1;						\
	}								\
} while (0)

#define NEAR(got, want, off) do {					\
	double got_ = (got), want_ = (want);				\
									\
	if (!(got_ >= want_ - (off) && got_ <= want_ + (off))) {	\
		printf("# %s:%d: %s is %.9g, not %.9g\n", __FILE__,	\
		       __LINE__, #got, got_, want_);			\
		tap_bad = 1;						\
	}								\
} while (0)

static inline void tap(const char *name, void (*test)(void))
{
	tap_bad = 0;
	test();
	tap_failed += tap_bad;
	printf("%sok %d - saba: %s\n", tap_bad ? "not " : "", ++tap_count, name);
}

static inline int tap_end(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

#endif /* SABA_TEST_TAP_H */
