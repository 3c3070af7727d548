// SPDX-License-Identifier: GPL-2.0-or-later
/* The sockets of a member, and waiting for them. */
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

/* What is said beside pieces must not wait behind them: class CS6, as AF_SHUFFLE's own. */
#define CONTROL_TOS	(48 << 2)

#define MIN_ROOM	(1 << 20)
#define MAX_ROOM	(16 << 20)

volatile sig_atomic_t run_stopped;

/**
 * memory() - zeroed memory, or the end of the program
 * @n: items
 * @size: bytes of an item
 *
 * Return: the memory.
 */
void *memory(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		die("out of memory");
	return p;
}

static void on_signal(int sig)
{
	(void)sig;
	run_stopped = 1;
}

/**
 * run_signals() - SIGINT and SIGTERM end the stream with an interval
 */
void run_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* A piece has its place in the send buffer until its builder has it, and may wait long for one that
 * many inputs send to.  It must not keep back pieces for others: there is room for as many as there
 * are tickets.
 */
static void send_buffer(const struct run *r)
{
	u64 room = (u64)r->piece * r->cfg.builders * r->cfg.ring;
	int size = room < MIN_ROOM ? MIN_ROOM : room < MAX_ROOM ? (int)room : MAX_ROOM;

	/* the kernel doubles it */
	if (setsockopt(r->data, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		setsockopt(r->data, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

static void open_data(struct run *r)
{
	u32 n = r->cfg.inputs + r->cfg.builders, zero = 0;
	char name[80];

	r->data = shuffle_open(r->addr, n, r->self, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (r->data < 0)
		die("%s: %s", shuffle_addr_str(&r->addr[r->self], name, sizeof(name)),
		    strerror(errno));
	if (r->self < r->cfg.inputs)
		send_buffer(r);
	/* a stream may pause for hours; status says who is gone */
	if (setsockopt(r->data, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &zero, sizeof(zero)))
		die("idle timeout: %s", strerror(errno));
}

static void open_control(struct run *r)
{
	const struct run_member *me = &r->member[r->self];
	int family = me->udp.ss_family, tos = CONTROL_TOS, size = 4 << 20;
	char name[80];

	r->control = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (r->control < 0)
		die("socket: %s", strerror(errno));
	if (family == AF_INET)
		setsockopt(r->control, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	else
		setsockopt(r->control, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos));
	setsockopt(r->control, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (bind(r->control, (const struct sockaddr *)&me->udp, me->udp_len))
		die("UDP port of %s: %s",
		    shuffle_addr_str(&me->addr, name, sizeof(name)), strerror(errno));
}

/**
 * run_open() - the sockets of a member
 * @r: the member; the program ends if one cannot be opened
 */
void run_open(struct run *r)
{
	/* times to leave are met to some microseconds */
	prctl(PR_SET_TIMERSLACK, 1);
	open_data(r);
	open_control(r);
}

/**
 * run_incarnation() - a number for this start of the program
 *
 * A clock would not do: a program can be started again within the same tick of it.
 *
 * Return: not 0.
 */
u64 run_incarnation(void)
{
	u64 v;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		die("getrandom: %s", strerror(errno));
	return v | 1ULL << 63;
}

/**
 * run_op() - the operation of a time-slice
 * @incarnation: of its builder: one that was started again gets pieces again
 * @slice: the time-slice
 *
 * Return: number of the operation, which is used once.
 */
u64 run_op(u64 incarnation, u64 slice)
{
	return (incarnation & 0xffffff) << 40 | (slice & ((1ULL << 40) - 1));
}

/**
 * run_wait() - for a socket or a time
 * @p: sockets
 * @n: their number
 * @until: CLOCK_MONOTONIC, ns
 */
void run_wait(struct pollfd *p, nfds_t n, s64 until)
{
	s64 left = until - run_monotonic();
	struct timespec t;

	if (left < 0)
		left = 0;
	t.tv_sec = left / STREAM_SECOND;
	t.tv_nsec = left % STREAM_SECOND;
	if (ppoll(p, n, &t, NULL) < 0 && errno != EINTR)
		die("poll: %s", strerror(errno));
}
