// SPDX-License-Identifier: GPL-2.0-or-later
/* A slot's process: rounds, one behind the other. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hosts.h"
#include "torture.h"

#define WRITERS		2
#define READERS		2
#define MOST_DISTURBERS	4
#define STILL_MS	20000

int fds[MAX_MEMBERS];

static void caught(int sig)
{
	(void)sig;
}

static void set_int(int fd, int level, int name, int value)
{
	setsockopt(fd, level, name, &value, sizeof(value));
}

static int open_member(const struct sockaddr_shuffle *m, unsigned int rank)
{
	struct shuffle_multicast all = { .size = sizeof(all), .ip_family = AF_INET,
					 .port = slot->plan.port + 900, .addr = { 239, 1, 2, 3 } };
	struct timeval wait = { .tv_usec = 50000 };
	const struct plan *p = &slot->plan;
	int fd = socket(sht_family(), SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (p->sndbuf)
		set_int(fd, SOL_SOCKET, SO_SNDBUF, p->sndbuf);
	if (p->rcvbuf)
		set_int(fd, SOL_SOCKET, SO_RCVBUF, p->rcvbuf);
	set_int(fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, p->idle_ms);
	if (bind(fd, (const struct sockaddr *)&m[rank], sizeof(*m)) ||
	    (p->key && sht_set_key(fd, p->key)))
		goto bad;
	if (!p->v6 && mix->kinds & 1U << KIND_SAME)
		setsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &all, sizeof(all));
	if (!sht_set_group(fd, m, p->n, rank))
		return fd;
bad:
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/* While a device is down, or the module away, there is no socket to be had. */
static bool passing(int err)
{
	return err == EADDRNOTAVAIL || err == ENETDOWN || err == EAFNOSUPPORT ||
	       err == EADDRINUSE || err == ENODEV;
}

static void open_group(struct call *c)
{
	const struct plan *p = &slot->plan;
	struct sockaddr_shuffle m[MAX_MEMBERS];
	uint64_t until = sht_now_ms() + tmo_ms(20);
	unsigned int i;

	for (i = 0; i < p->n; i++)
		sht_addr(&m[i], mix->hosts > 1 ? SHT_RACK : SHT_LO, p->v6, p->host[i],
			 p->port + i);
	for (i = 0; i < p->n; i++) {
		call_begin(c, ACT_open, i, NOBODY);
		while (in_host(p->host[i]) || (fds[i] = open_member(m, i)) < 0) {
			if (!passing(errno) || sht_now_ms() > until || shared->failed)
				die("a group cannot be opened");
			nap_us(5000);
		}
		call_end(c);
	}
	in_host(0);
}

struct crew {
	pthread_t thread[MAX_CALLS];
	struct worker worker[MAX_CALLS];
	unsigned int n;
};

static void start(struct crew *crew, void *(*run)(void *), unsigned int rank, unsigned int number)
{
	struct worker *w = &crew->worker[crew->n];

	w->rank = rank;
	w->number = number;
	w->dice.state = sht_key(slot->plan.seed, 100 + number, rank, run == writer ? 0 :
								     run == reader ? 1 : 2);
	if (pthread_create(&crew->thread[crew->n], NULL, run, w))
		die("pthread_create");
	crew->n++;
}

static void start_member(struct crew *crew, unsigned int rank)
{
	unsigned int i;

	for (i = 0; i < WRITERS; i++)
		start(crew, writer, rank, i);
	for (i = 0; i < READERS; i++)
		start(crew, reader, rank, i);
}

static uint64_t limit_ms(void)
{
	const struct plan *p = &slot->plan;

	/* deadlines are less than twice the idle timeout; disturbers may double that */
	return 2 * p->idle_ms + tmo_ms(10);
}

/* The round is over: whoever is still in a call gets out of it, or the call is what is wrong.  Of a
 * socket that was closed meanwhile, too: the call keeps it.
 */
static void join(struct crew *crew)
{
	uint64_t start = sht_now_ms(), since;

	while (crew->n) {
		if (!pthread_tryjoin_np(crew->thread[crew->n - 1], NULL)) {
			crew->n--;
			continue;
		}
		since = start > shared->still ? start : shared->still;
		if (sht_now_ms() > since + limit_ms()) {
			wrong("%u threads are in a call %llu ms after their round, idle timeout %u ms",
			      crew->n, (unsigned long long)(sht_now_ms() - start),
			      slot->plan.idle_ms);
			_exit(1);
		}
		nap_us(500);
	}
}

/* A member's own process has no socket but its own. */
static void member_process(unsigned int rank)
{
	static struct crew crew;
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < slot->plan.n; i++)
		if (i != rank && fds[i] >= 0)
			close(fds[i]);
	start_member(&crew, rank);
	join(&crew);
	_exit(0);
}

static void fork_members(void)
{
	struct plan *p = &slot->plan;
	unsigned int i;
	pid_t pid;

	for (i = 0; i < p->n; i++) {
		if (!(p->processes & 1U << i) || i == p->dead)
			continue;
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid)
			member_process(i);
		slot->member[i].pid = pid;
	}
	for (i = 0; i < p->n; i++)
		if (slot->member[i].pid) {
			close(fds[i]);
			fds[i] = -1;
		}
}

/* An operation that failed has ended when the missing members that FAILED announces are read, too:
 * a reader with room for one record finds them in later calls.
 */
static bool ended(const struct part *part)
{
	return part->ended && part->named >= part->missing;
}

/* Number of operations, at all members, that have to end and have not. */
static unsigned int unended(void)
{
	const struct plan *p = &slot->plan;
	unsigned int i, op, n = 0;

	for (i = 0; i < p->n; i++) {
		if (slot->member[i].gone)
			continue;
		n += slot->member[i].writers;
		for (op = 0; op < p->ops; op++)
			n += slot->part[op][i].started && !ended(&slot->part[op][i]);
	}
	return n;
}

static void show_unended(void)
{
	const struct plan *p = &slot->plan;
	unsigned int i, op;

	for (i = 0; i < p->n; i++)
		dprintf(STDOUT_FILENO, "#   member %u: pid %d, gone %d, meddled %d, writers %d%s\n",
			i, slot->member[i].pid, slot->member[i].gone, slot->member[i].meddled,
			slot->member[i].writers, i == p->dead ? ", never takes part" : "");
	for (op = 0; op < p->ops; op++)
		for (i = 0; i < p->n; i++)
			if (slot->part[op][i].started && !ended(&slot->part[op][i]))
				dprintf(STDOUT_FILENO,
					"#   operation %u (%s, id %llx, deadline %u ms) at member %u has not ended\n",
					op, spec_kind_name(p->op[op].kind),
					(unsigned long long)p->op[op].id, p->op[op].deadline_ms, i);
}

/* What stands still is looked at while the kernel still has it: later it has ended, by a time
 * limit, and what held it up cannot be seen any more.
 */
static void show_still(uint64_t ms)
{
	const char *command = getenv("TORTURE_SHOW");

	dprintf(STDOUT_FILENO, "# slot %d, seed 0x%llx: nothing has moved for %llu ms\n",
		slot->number, (unsigned long long)slot->plan.seed, (unsigned long long)ms);
	show_unended();
	show_calls(slot);
	if (command && system(command))
		dprintf(STDOUT_FILENO, "#   %s: failed\n", command);
}

/* Until all has ended; the oracle of time. */
static void wait_ends(void)
{
	uint64_t since, now, shown = 0;

	while (unended() && !shared->failed) {
		nap_us(2000);
		now = sht_now_ms();
		since = slot->progress > shared->still ? slot->progress : shared->still;
		if (mix->calm && now > since + STILL_MS && shown != since) {
			shown = since;
			show_still(now - since);
		}
		if (now < since + limit_ms())
			continue;
		show_unended();
		wrong("nothing has moved for %llu ms, idle timeout %u ms: %u calls or operations have not ended",
		      (unsigned long long)(now - since), slot->plan.idle_ms, unended());
	}
}

static void end_members(void)
{
	uint64_t until = sht_now_ms() + tmo_ms(10);
	unsigned int i;
	int pid, status;

	for (i = 0; i < slot->plan.n; i++) {
		pid = slot->member[i].pid;
		if (!pid)
			continue;
		kill(pid, SIGCONT);
		while (waitpid(pid, &status, WNOHANG) == 0) {
			if (sht_now_ms() > until && shared->still + tmo_ms(10) < sht_now_ms()) {
				wrong("the process of member %u does not end", i);
				kill(pid, SIGKILL);
			}
			nap_us(1000);
		}
		slot->member[i].pid = 0;
		if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
			wrong("the process of member %u dies of signal %d", i, WTERMSIG(status));
	}
}

static void one_round(uint64_t seed)
{
	static struct crew crew, meddlers;
	struct call *c;
	unsigned int i;
	uint16_t port = 7000 + slot->number * 3000 + slot->rounds * 8 % 2000;

	memset(slot->part, 0, sizeof(slot->part));
	memset(slot->member, 0, sizeof(slot->member));
	slot->calls = 0;
	slot->over = 0;
	slot->disturbed = 0;
	slot->cut = 0;
	spec_plan(&slot->plan, mix, seed, port);
	c = call_new();
	open_group(c);
	check_round_begins();
	progress();
	for (i = 0; i < slot->plan.n; i++)
		slot->member[i].writers = i == slot->plan.dead ? 0 : WRITERS;
	fork_members();
	for (i = 0; i < slot->plan.n; i++)
		if (!slot->member[i].pid && i != slot->plan.dead)
			start_member(&crew, i);
	for (i = 0; i < (unsigned int)mix->disturbers; i++)
		start(&meddlers, disturber, NOBODY, i);
	wait_ends();
	if (shared->failed)
		_exit(1);	/* threads may hang: the mix process ends them all */
	slot->over = 1;
	join(&meddlers);
	join(&crew);
	end_members();
	check_round();
	for (i = 0; i < slot->plan.n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	slot->rounds++;
}

void slot_main(int number, uint64_t seed, uint64_t end_ms)
{
	struct sigaction sa = { .sa_handler = caught };
	const char *round = getenv("TORTURE_ROUND");	/* this one only, again and again */
	uint64_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGUSR1, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	slot = &shared->slot[number];
	slot->number = number;
	if (mix->own_ns && hosts_make(mix->hosts))
		die("a namespace");
	for (i = 0; sht_now_ms() < end_ms && !shared->failed; i++)
		one_round(round ? strtoull(round, NULL, 0) :
				 sht_mix(sht_mix(seed ^ number) + i));
	_exit(0);
}
