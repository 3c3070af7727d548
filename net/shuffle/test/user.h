/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of KUnit as the tests here use, for user space, so that the same test
 * source runs under ASan and UBSan.  The names and meanings are KUnit's.
 */
#ifndef _SHUFFLE_TEST_USER_H
#define _SHUFFLE_TEST_USER_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define GFP_KERNEL		0
#define KUNIT_PARAM_DESC_SIZE	128

struct user_mem {
	struct user_mem	*next;
	void		*p;
};

struct kunit {
	const void	*param_value;
	bool		failed;
	jmp_buf		abort;
	struct user_mem	*mem;
};

struct kunit_case {
	void		(*run_case)(struct kunit *test);
	const char	*name;
	const void	*(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char		*name;
	struct kunit_case	*test_cases;
};

void *kunit_kcalloc(struct kunit *test, size_t n, size_t size, int gfp);
void user_fail(struct kunit *test, const char *file, int line, const char *what);
void user_fail_values(struct kunit *test, const char *file, int line,
		      const char *what, unsigned long long a, unsigned long long b);

#define KUNIT_CASE(f)		{ .run_case = f, .name = #f }
#define KUNIT_CASE_PARAM(f, g)	{ .run_case = f, .name = #f, .generate_params = g }

#define KUNIT_ARRAY_PARAM(name, array, get_desc)				\
static const void *name##_gen_params(const void *prev, char *desc)		\
{										\
	const __typeof__((array)[0]) *next = prev;				\
	void (*describe)(const __typeof__((array)[0]) *, char *) = get_desc;	\
										\
	next = next ? next + 1 : (array);					\
	if (next - (array) >= (ptrdiff_t)ARRAY_SIZE(array))			\
		return NULL;							\
	if (describe)								\
		describe(next, desc);						\
	return next;								\
}

#define KUNIT_FAIL(test, ...)							\
do {										\
	char __what[256];							\
										\
	snprintf(__what, sizeof(__what), __VA_ARGS__);				\
	user_fail(test, __FILE__, __LINE__, __what);				\
} while (0)

#define USER_BINARY(test, a, op, b, stop)					\
do {										\
	__auto_type __a = (a);							\
	__auto_type __b = (b);							\
										\
	if (__a op __b)								\
		break;								\
	user_fail_values(test, __FILE__, __LINE__, #a " " #op " " #b,		\
			 (unsigned long long)__a, (unsigned long long)__b);	\
	if (stop)								\
		longjmp((test)->abort, 1);					\
} while (0)

#define USER_UNARY(test, cond, text, stop)					\
do {										\
	if (cond)								\
		break;								\
	user_fail(test, __FILE__, __LINE__, text);				\
	if (stop)								\
		longjmp((test)->abort, 1);					\
} while (0)

#define KUNIT_EXPECT_EQ(test, a, b)	USER_BINARY(test, a, ==, b, false)
#define KUNIT_EXPECT_NE(test, a, b)	USER_BINARY(test, a, !=, b, false)
#define KUNIT_EXPECT_LT(test, a, b)	USER_BINARY(test, a, <, b, false)
#define KUNIT_EXPECT_LE(test, a, b)	USER_BINARY(test, a, <=, b, false)
#define KUNIT_EXPECT_GT(test, a, b)	USER_BINARY(test, a, >, b, false)
#define KUNIT_EXPECT_GE(test, a, b)	USER_BINARY(test, a, >=, b, false)
#define KUNIT_EXPECT_TRUE(test, c)	USER_UNARY(test, c, #c, false)
#define KUNIT_EXPECT_FALSE(test, c)	USER_UNARY(test, !(c), "not " #c, false)
#define KUNIT_ASSERT_EQ(test, a, b)	USER_BINARY(test, a, ==, b, true)
#define KUNIT_ASSERT_NE(test, a, b)	USER_BINARY(test, a, !=, b, true)
#define KUNIT_ASSERT_LT(test, a, b)	USER_BINARY(test, a, <, b, true)
#define KUNIT_ASSERT_LE(test, a, b)	USER_BINARY(test, a, <=, b, true)
#define KUNIT_ASSERT_GT(test, a, b)	USER_BINARY(test, a, >, b, true)
#define KUNIT_ASSERT_GE(test, a, b)	USER_BINARY(test, a, >=, b, true)
#define KUNIT_ASSERT_TRUE(test, c)	USER_UNARY(test, c, #c, true)
#define KUNIT_ASSERT_FALSE(test, c)	USER_UNARY(test, !(c), "not " #c, true)
#define KUNIT_ASSERT_NOT_NULL(test, p)	USER_UNARY(test, p, #p, true)

#define KUNIT_ASSERT_NULL_MSG(test, p, ...)					\
do {										\
	if (!(p))								\
		break;								\
	KUNIT_FAIL(test, __VA_ARGS__);						\
	longjmp((test)->abort, 1);						\
} while (0)

#endif /* _SHUFFLE_TEST_USER_H */
