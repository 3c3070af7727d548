// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Do the x87, SSE, AVX and AVX-512 registers survive context switches and signals?
 *
 * usage: fpu [SECONDS]	as long, at least
 *
 * Processes load registers with what nobody else has, let others run, by
 * sched_yield(), by preemption and in signal handlers that change the same
 * registers, and compare.  Status 0, or 1 and a line about what has changed.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES	4
#define ROUNDS		30			/* of each process, at least */
#define SIGNALS		10
#define WIDTH		64			/* bytes of a register, at most */

enum kind { SSE, AVX, AVX512, KINDS };

static const char *const names[] = { "SSE", "AVX", "AVX-512" };
static const unsigned int widths[] = { 16, 32, 64 };
static volatile sig_atomic_t signals;

static enum kind best(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f"))
		return AVX512;
	return __builtin_cpu_supports("avx") ? AVX : SSE;
}

/*
 * Load three registers, give the CPU away or be busy for a while, store them.
 * One block, so that the compiler keeps nothing of its own in them.
 */
#define ROUND(LOAD, STORE, REG)						\
	asm volatile(LOAD " (%[in]), %%" REG "1\n\t"			\
		     LOAD " 64(%[in]), %%" REG "7\n\t"			\
		     LOAD " 128(%[in]), %%" REG "15\n\t"		\
		     "test %[spin], %[spin]\n\t"			\
		     "jz 2f\n"						\
		     "1: dec %[spin]\n\t"				\
		     "jnz 1b\n\t"					\
		     "jmp 3f\n"						\
		     "2: mov %[nr], %%eax\n\t"				\
		     "syscall\n"					\
		     "3:\n\t"						\
		     STORE " %%" REG "1, (%[out])\n\t"			\
		     STORE " %%" REG "7, 64(%[out])\n\t"		\
		     STORE " %%" REG "15, 128(%[out])\n\t"		\
		     : [spin] "+r" (spin)				\
		     : [in] "r" (in), [out] "r" (out), [nr] "i" (SYS_sched_yield) \
		     : "rax", "rcx", "r11", "memory", "cc", "xmm1", "xmm7", "xmm15")

__attribute__((target("avx512f")))
static void round_avx512(const void *in, void *out, unsigned long spin)
{
	ROUND("vmovdqu64", "vmovdqu64", "zmm");
}

__attribute__((target("avx")))
static void round_avx(const void *in, void *out, unsigned long spin)
{
	ROUND("vmovdqu", "vmovdqu", "ymm");
}

static void round_sse(const void *in, void *out, unsigned long spin)
{
	ROUND("movdqu", "movdqu", "xmm");
}

static void one_round(enum kind kind, const void *in, void *out, unsigned long spin)
{
	if (kind == AVX512)
		round_avx512(in, out, spin);
	else if (kind == AVX)
		round_avx(in, out, spin);
	else
		round_sse(in, out, spin);
}

/* Changes the registers of whom it interrupts; they are given back. */
static void handler(int sig)
{
	unsigned char junk[3 * WIDTH], out[3 * WIDTH];

	(void)sig;
	memset(junk, 0xa5, sizeof(junk));
	one_round(best(), junk, out, 1);
	signals++;
}

static int process(unsigned int self, time_t end)
{
	struct itimerval timer = { { 0, 3000 }, { 0, 3000 } };
	unsigned char in[3 * WIDTH], out[3 * WIDTH];
	enum kind kind = best(), k;
	unsigned long n;
	unsigned int i;

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &timer, NULL);
	/* A busy machine gives some of the processes no turn within SECONDS. */
	for (n = 0; n < ROUNDS || signals < SIGNALS || time(NULL) < end; n++) {
		long double x = 1.0L / (self * 1000003 + n % 1000 + 3), y = 0;

		for (k = SSE; k <= kind; k++) {
			for (i = 0; i < sizeof(in); i++)
				in[i] = self * 71 + n * 13 + i + k;
			one_round(k, in, out, n % 3 ? 0 : 200000);
			for (i = 0; i < sizeof(in); i++) {
				if (i % WIDTH >= widths[k] || in[i] == out[i])
					continue;
				printf("process %u, round %lu: %s byte %u: got 0x%02x, want 0x%02x\n",
				       self, n, names[k], i, out[i], in[i]);
				return 1;
			}
		}
		asm volatile("fldt %[x]\n\tmov %[nr], %%eax\n\tsyscall\n\tfstpt %[y]"
			     : [y] "=m" (y)
			     : [x] "m" (x), [nr] "i" (SYS_sched_yield)
			     : "rax", "rcx", "r11", "cc", "st", "memory");
		if (x != y)
			return printf("process %u, round %lu: x87: got %.20Lg, want %.20Lg\n",
				      self, n, y, x), 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 2) + 1;
	int i, status, bad = 0;

	for (i = 0; i < PROCESSES; i++)
		if (fork() == 0) {
			status = process(i, end);
			fflush(stdout);
			_exit(status);
		}
	while (wait(&status) > 0)
		bad |= status;
	printf("%s registers: %s\n", names[best()], bad ? "CHANGED" : "kept");
	return bad ? 1 : 0;
}
