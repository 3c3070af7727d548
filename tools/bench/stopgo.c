// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Members that run and stop by turns, as if something else had their CPU: while a
 * host is stopped its NIC receives, but nobody looks at what it has received, and
 * nobody hands it anything to send.
 *
 * Stop and run have the same mean and a normal distribution with a quarter of it
 * as standard deviation (Li, section 6.4).  The rack must have been set up with
 * nic=1: its plugs are what is opened and closed here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <math.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* Handles given by rack.sh */
#define HANDLE_BAND0	0x100000
#define HANDLE_BAND1	0x110000
#define HANDLE_NIC	0x120000

/* One host's turns, one after the other. */
struct turns {
	uint64_t rng;
	int64_t mean_ns;
	int64_t until;		/* end of this turn, from the start of the round */
	bool running;
};

static pid_t stopper;

static double turns_random(struct turns *t)
{
	uint64_t z = (t->rng += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return ((z >> 11) + 0.5) / 9007199254740992.0;
}

static int64_t turns_length(struct turns *t)
{
	double normal = sqrt(-2 * log(turns_random(t))) * cos(2 * M_PI * turns_random(t));
	double ns = t->mean_ns * (1 + normal / 4);

	return ns > t->mean_ns / 10.0 ? ns : t->mean_ns / 10.0;
}

static void turns_begin(struct turns *t, unsigned int host, unsigned int run, int64_t mean_ns)
{
	t->rng = (uint64_t)run << 32 | (host + 1);
	t->mean_ns = mean_ns;
	t->running = turns_random(t) < 0.5;
	/* in the middle of a turn */
	t->until = turns_length(t) * turns_random(t);
}

static void turns_next(struct turns *t)
{
	t->running = !t->running;
	t->until += turns_length(t);
}

/* The earliest moment at which every host has run for as long as its row takes.  A
 * link that was idle sends the burst of its tbf (rack.sh) at once.
 */
double bench_stop_bound(unsigned int run, double bits_per_s)
{
	double burst = bench_opt.burst_bytes * 8e9 / bits_per_s, most = 0;
	unsigned int i, j;

	for (i = 0; i < bench_hosts; i++) {
		double left, last = 0;
		struct turns t;
		uint64_t row = 0;

		for (j = 0; j < bench_hosts; j++)
			row += i == j ? 0 : matrix_len(bench_matrix, i, j);
		left = row * 8e9 / bits_per_s;
		turns_begin(&t, i, run, bench_opt.stop_ns);
		while (left > 0) {
			if (t.running) {
				double turn = t.until - last + burst;

				if (turn >= left) {
					last += left > burst ? left - burst : 0;
					break;
				}
				left -= turn;
			}
			last = t.until;
			turns_next(&t);
		}
		if (last > most)
			most = last;
	}
	return most;
}

static void plug(int nl, unsigned int index, uint32_t handle, int action)
{
	struct {
		struct nlmsghdr n;
		struct tcmsg t;
		struct rtattr kind;
		char name[8];
		struct rtattr options;
		struct tc_plug_qopt opt;
	} req = {
		.n.nlmsg_len = sizeof(req),
		.n.nlmsg_type = RTM_NEWQDISC,
		.n.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		.t.tcm_ifindex = index,
		.t.tcm_handle = handle,
		.kind = { RTA_LENGTH(5), TCA_KIND },
		.name = "plug",
		.options = { RTA_LENGTH(sizeof(req.opt)), TCA_OPTIONS },
		.opt.action = action,
	};
	struct {
		struct nlmsghdr n;
		struct nlmsgerr e;
		char more[256];
	} ack;

	if (send(nl, &req, sizeof(req), 0) != sizeof(req) || recv(nl, &ack, sizeof(ack), 0) < 0)
		bench_die("netlink: %s", strerror(errno));
	if (ack.e.error)
		bench_die("plug %x on interface %u: %s (rack.sh up ... nic=1?)", handle >> 16,
			  index, strerror(-ack.e.error));
}

static void set_host(const int *nl, const unsigned int *index, int root,
		     const unsigned int *nic, unsigned int i, bool run)
{
	int action = run ? TCQ_PLUG_RELEASE_INDEFINITE : TCQ_PLUG_BUFFER;

	plug(nl[i], index[i], HANDLE_BAND0, action);
	plug(nl[i], index[i], HANDLE_BAND1, action);
	plug(root, nic[i], HANDLE_NIC, action);
}

static int open_route(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		bench_die("netlink: %s", strerror(errno));
	return fd;
}

static void stop_and_go(void)
{
	static int nl[BENCH_MAX_HOSTS];
	static unsigned int index[BENCH_MAX_HOSTS], nic[BENCH_MAX_HOSTS];
	static struct turns turns[BENCH_MAX_HOSTS];
	int root = open_route();
	char name[IF_NAMESIZE];
	unsigned int i;

	for (i = 0; i < bench_hosts; i++) {
		snprintf(name, sizeof(name), "e%u", i);
		nic[i] = if_nametoindex(name);
		if (!nic[i])
			bench_die("no %s: the rack has no NICs (nic=1)", name);
	}
	for (i = 0; i < bench_hosts; i++) {
		bench_enter(i);
		nl[i] = open_route();
		index[i] = if_nametoindex("eth0");
	}
	for (;;) {
		while (!bench->sampling || bench_now() > bench->start_ns)
			bench_sleep_until(bench_now() + NS_PER_MS);
		for (i = 0; i < bench_hosts; i++)
			turns_begin(&turns[i], i, bench->run, bench_opt.stop_ns);
		bench_sleep_until(bench->start_ns - 1000);
		for (i = 0; i < bench_hosts; i++)
			if (!turns[i].running)
				set_host(nl, index, root, nic, i, false);
		while (bench->sampling) {
			struct turns *next = &turns[0];

			for (i = 1; i < bench_hosts; i++)
				if (turns[i].until < next->until)
					next = &turns[i];
			bench_sleep_until(bench->start_ns + next->until);
			turns_next(next);
			set_host(nl, index, root, nic, next - turns, next->running);
		}
		for (i = 0; i < bench_hosts; i++)
			set_host(nl, index, root, nic, i, true);
	}
}

void bench_stop_start(void)
{
	stopper = fork();
	if (stopper < 0)
		bench_die("fork: %s", strerror(errno));
	if (!stopper) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_TIMERSLACK, 1);
		stop_and_go();
	}
}

void bench_stop_end(void)
{
	if (stopper <= 0)
		return;
	/* it opens all plugs when a round is over */
	bench_sleep_until(bench_now() + NS_PER_MS);
	kill(stopper, SIGKILL);
	waitpid(stopper, NULL, 0);
	stopper = 0;
}
