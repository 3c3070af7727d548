/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TAP for all test programs in C.
 *
 * A test is a line, "ok 1 - name".  What is expected of it stands before that line:
 *
 *	EXPECT_EQ(hosts, 3);
 *	EXPECT_NEAR(share, 0.5, 0.01, "seed %u", seed);
 *	tap_done("three hosts share");
 *
 * An expectation that is not met says where it stands, what was got and what was wanted, in
 * lines that begin with "# ", and the line of the test becomes "not ok".  Text after the values
 * is optional, as printf's.  Each of the macros is true if the expectation was met.
 * tap_finish() writes the plan and gives the exit status.
 *
 * Several files of one program may include this header: they count together.
 */
#ifndef TOOLS_COMMON_TAP_H
#define TOOLS_COMMON_TAP_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* errno's name in glibc, which declares it for _GNU_SOURCE only */
const char *strerrorname_np(int err);

#define TAP_MOST_SAID	10	/* unmet expectations that are shown, of one test */
#define TAP_UNUSED	__attribute__((unused))
#define TAP_PRINTF(n)	__attribute__((format(printf, n, (n) + 1))) TAP_UNUSED

/**
 * struct tap_state - what has been tested so far
 * @prefix:	whose tests these are: stands before each name, or NULL
 * @count:	lines so far
 * @failed:	of these "not ok"
 * @bad:	expectations that were not met since the last line
 */
struct tap_state {
	const char	*prefix;
	unsigned int	count;
	unsigned int	failed;
	unsigned int	bad;
};

/* Weak: the same one in every file of a program. */
__attribute__((weak)) struct tap_state tap_state;

/* A place in a test. */
struct tap_at {
	const char	*file;
	int		line;
};

#define TAP_AT	((struct tap_at){ __FILE__, __LINE__ })

/* The line of a test.  @ok and every expectation since the last line must be true. */
static TAP_UNUSED bool tap_line(bool ok, const char *name)
{
	struct tap_state *t = &tap_state;

	ok = ok && !t->bad;
	if (t->bad > TAP_MOST_SAID)
		printf("# and %u more\n", t->bad - TAP_MOST_SAID);
	t->bad = 0;
	t->failed += !ok;
	printf("%sok %u - %s%s%s\n", ok ? "" : "not ", ++t->count, t->prefix ? t->prefix : "",
	       t->prefix ? ": " : "", name);
	fflush(stdout);
	return ok;
}

/* A test is over whose expectations stand before this. */
static TAP_UNUSED bool tap_done(const char *name)
{
	return tap_line(true, name);
}

/* A test that is a function. */
static TAP_UNUSED void tap_run(const char *name, void (*test)(void))
{
	test();
	tap_done(name);
}

static TAP_UNUSED void tap_skip(const char *name, const char *why)
{
	struct tap_state *t = &tap_state;

	printf("ok %u - %s%s%s # SKIP %s\n", ++t->count, t->prefix ? t->prefix : "",
	       t->prefix ? ": " : "", name, why);
	fflush(stdout);
}

/* The plan.  Returns the exit status. */
static TAP_UNUSED int tap_finish(void)
{
	if (tap_state.bad)
		tap_done("what is expected after the last test");
	printf("1..%u\n", tap_state.count);
	fflush(stdout);
	return tap_state.failed ? 1 : 0;
}

/* Nothing more can be tested. */
static TAP_PRINTF(1) void tap_bail(const char *fmt, ...)
{
	va_list ap;

	printf("Bail out! ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	exit(1);
}

/* The end of a line of "# ": @more begins with a blank, which stands for the separator. */
static TAP_UNUSED void tap_more(const char *more, va_list ap)
{
	if (more[1]) {
		printf("; ");
		vprintf(more + 1, ap);
	}
	printf("\n");
	fflush(stdout);
}

/* Count what was not met.  Is it still to be shown? */
static TAP_UNUSED bool tap_miss(struct tap_at at)
{
	const char *base = strrchr(at.file, '/');

	if (++tap_state.bad > TAP_MOST_SAID)
		return false;
	printf("# %s:%d: ", base ? base + 1 : at.file, at.line);
	return true;
}

#define TAP_REST(more)							\
	do {								\
		va_list ap_;						\
									\
		va_start(ap_, more);					\
		tap_more(more, ap_);					\
		va_end(ap_);						\
	} while (0)

static TAP_PRINTF(4) bool tap_true(struct tap_at at, const char *what, bool ok, const char *more,
				   ...)
{
	if (!ok && tap_miss(at)) {
		printf("%s: got false, want true", what);
		TAP_REST(more);
	}
	return ok;
}

/* Any number: compared by value, whatever the types of both are. */
struct tap_num {
	bool		real;
	bool		negative;
	uint64_t	bits;
	double		value;
};

static TAP_UNUSED struct tap_num tap_signed(long long x)
{
	return (struct tap_num){ false, x < 0, (uint64_t)x, (double)x };
}

static TAP_UNUSED struct tap_num tap_unsigned(unsigned long long x)
{
	return (struct tap_num){ false, false, x, (double)x };
}

static TAP_UNUSED struct tap_num tap_real(double x)
{
	return (struct tap_num){ true, x < 0, 0, x };
}

/* A pointer is no number: the compiler refuses it. */
#define TAP_NUM(x)							\
	_Generic((x), unsigned long: tap_unsigned,			\
		 unsigned long long: tap_unsigned, float: tap_real,	\
		 double: tap_real, long double: tap_real, default: tap_signed)(x)

static TAP_UNUSED void tap_print_num(struct tap_num x)
{
	if (x.real)
		printf("%.12g", x.value);
	else if (x.negative)
		printf("%" PRId64, (int64_t)x.bits);
	else if (x.bits > 0xffffffff)
		printf("%" PRIu64 " (0x%" PRIx64 ")", x.bits, x.bits);
	else
		printf("%" PRIu64, x.bits);
}

static TAP_UNUSED bool tap_holds(struct tap_num a, const char *op, struct tap_num b)
{
	bool less, more;

	if (a.real || b.real) {
		if (isnan(a.value) || isnan(b.value))
			return op[0] == '!';
		less = a.value < b.value;
		more = a.value > b.value;
	} else {
		less = a.negative != b.negative ? a.negative : a.bits < b.bits;
		more = a.negative != b.negative ? b.negative : a.bits > b.bits;
	}
	switch (op[0]) {
	case '=':
		return !less && !more;
	case '!':
		return less || more;
	case '<':
		return less || (op[1] && !more);
	default:
		return more || (op[1] && !less);
	}
}

static TAP_PRINTF(6) bool tap_compare(struct tap_at at, const char *what, struct tap_num got,
				      const char *op, struct tap_num want, const char *more, ...)
{
	if (tap_holds(got, op, want))
		return true;
	if (tap_miss(at)) {
		printf("%s: got ", what);
		tap_print_num(got);
		printf(", want %s%s", op[0] == '=' ? "" : op, op[0] == '=' ? "" : " ");
		tap_print_num(want);
		TAP_REST(more);
	}
	return false;
}

static TAP_PRINTF(6) bool tap_near(struct tap_at at, const char *what, double got, double want,
				   double off, const char *more, ...)
{
	if (got >= want - off && got <= want + off)
		return true;
	if (tap_miss(at)) {
		printf("%s: got %.12g, want %.12g +- %.3g", what, got, want, off);
		TAP_REST(more);
	}
	return false;
}

static TAP_PRINTF(6) bool tap_within(struct tap_at at, const char *what, double got, double least,
				     double most, const char *more, ...)
{
	if (got >= least && got <= most)
		return true;
	if (tap_miss(at)) {
		printf("%s: got %.12g, want %.12g to %.12g", what, got, least, most);
		TAP_REST(more);
	}
	return false;
}

static TAP_PRINTF(5) bool tap_text(struct tap_at at, const char *what, const char *got,
				   const char *want, const char *more, ...)
{
	if (got && want ? !strcmp(got, want) : got == want)
		return true;
	if (tap_miss(at)) {
		printf("%s: got \"%s\", want \"%s\"", what, got ? got : "(null)",
		       want ? want : "(null)");
		TAP_REST(more);
	}
	return false;
}

static TAP_PRINTF(6) bool tap_bytes(struct tap_at at, const char *what, const void *got,
				    const void *want, size_t size, const char *more, ...)
{
	const unsigned char *g = got, *w = want;
	size_t i;

	for (i = 0; i < size && g[i] == w[i]; i++)
		;
	if (i == size)
		return true;
	if (tap_miss(at)) {
		printf("%s: byte %zu of %zu: got 0x%02x, want 0x%02x", what, i, size, g[i], w[i]);
		TAP_REST(more);
	}
	return false;
}

/* An errno, positive or negative, in words. */
static TAP_UNUSED void tap_print_errno(long long err)
{
	const char *name = strerrorname_np(err < 0 ? -err : err);

	if (err && name)
		printf("%s%s (%lld)", err < 0 ? "-" : "", name, err);
	else
		printf(err ? "%lld" : "no error", err);
}

static TAP_PRINTF(5) bool tap_error(struct tap_at at, const char *what, long long got,
				    long long want, const char *more, ...)
{
	if (got == want)
		return true;
	if (tap_miss(at)) {
		printf("%s: got ", what);
		tap_print_errno(got);
		printf(", want ");
		tap_print_errno(want);
		TAP_REST(more);
	}
	return false;
}

/* A system call must have returned -1, and errno is this. */
static TAP_UNUSED bool tap_fails(struct tap_at at, const char *what, long long rc, int err,
				 int want)
{
	if (rc == -1 && err == want)
		return true;
	if (!tap_miss(at))
		return false;
	printf("%s: got ", what);
	if (rc == -1)
		tap_print_errno(err);
	else
		printf("%lld", rc);
	printf(", want -1 and ");
	tap_print_errno(want);
	printf("\n");
	fflush(stdout);
	return false;
}

#define EXPECT(cond, ...)						\
	tap_true(TAP_AT, #cond, cond, " " __VA_ARGS__)
#define TAP_EXPECT(what, got, op, want, ...)				\
	tap_compare(TAP_AT, what, TAP_NUM(got), op, TAP_NUM(want), " " __VA_ARGS__)
#define EXPECT_EQ(got, want, ...)	TAP_EXPECT(#got, got, "==", want, __VA_ARGS__)
#define EXPECT_NE(got, want, ...)	TAP_EXPECT(#got, got, "!=", want, __VA_ARGS__)
#define EXPECT_LT(got, want, ...)	TAP_EXPECT(#got, got, "<", want, __VA_ARGS__)
#define EXPECT_LE(got, want, ...)	TAP_EXPECT(#got, got, "<=", want, __VA_ARGS__)
#define EXPECT_GT(got, want, ...)	TAP_EXPECT(#got, got, ">", want, __VA_ARGS__)
#define EXPECT_GE(got, want, ...)	TAP_EXPECT(#got, got, ">=", want, __VA_ARGS__)
/* Of doubles: @off is absolute. */
#define EXPECT_NEAR(got, want, off, ...)					\
	tap_near(TAP_AT, #got, got, want, off, " " __VA_ARGS__)
/* Of numbers of any kind, both ends allowed. */
#define EXPECT_WITHIN(got, least, most, ...)					\
	tap_within(TAP_AT, #got, got, least, most, " " __VA_ARGS__)
#define EXPECT_STR(got, want, ...)						\
	tap_text(TAP_AT, #got, got, want, " " __VA_ARGS__)
/* Of what is 0, an errno or -errno. */
#define EXPECT_ERRNO(got, want, ...)					\
	tap_error(TAP_AT, #got, got, want, " " __VA_ARGS__)
#define EXPECT_MEM(got, want, size, ...)					\
	tap_bytes(TAP_AT, #got, got, want, size, " " __VA_ARGS__)

/* A test that is one condition, and one that is one comparison. */
#define TAP_OK(cond, name)	(tap_true(TAP_AT, #cond, cond, " "), tap_done(name))
#define TAP_EQ(got, want, name)	(TAP_EXPECT(#got, got, "==", want), tap_done(name))

#endif /* TOOLS_COMMON_TAP_H */
