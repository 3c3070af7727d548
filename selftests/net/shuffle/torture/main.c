// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All system calls of AF_SHUFFLE at once: see torture.h.
 *
 *	torture [-s SEED] [-t SECONDS] [-m MIX,...] [-x ACTION,...] [-r ROUND] [-f FLAGS]
 *	torture --list
 *	torture --planted FILE [-t SECONDS]
 *
 *	-s  all choices follow from it; printed; the time otherwise
 *	-t  for each mix, 10 if nothing is said
 *	-m  only these, and also those that --list calls special
 *	-x  without these actions
 *	-r  one round, by the seed that a report names, again and again
 *	-f  SHUFFLE_ROW_* of the calls in "races", for modules that have others (races.c)
 *
 * Root, in any namespace: the mixes make their own.  SHUFFLE_LANE says how slow the machine is
 * (../lib.sh), SHUFFLE_KO where the module is, for the mix that loads it.  TAP: a line for each
 * mix, and one for the module at the end.  Every 10 s a line says how far it is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hosts.h"
#include "../../../../tools/common/tap.h"
#include "torture.h"

#define KIND(name)	(1U << KIND_##name)
#define PLAIN		(KIND(ROW) | KIND(PIECES) | KIND(ABSENT) | KIND(WANT))

#define LOOKS	[ACT_dump] = 2, [ACT_diag] = 1, [ACT_poll] = 4, [ACT_junk] = 4, [ACT_dup] = 3

const struct mix mixes[] = {
	{ .name = "calm", .about = "nothing may fail",
	  .weight = { LOOKS, [ACT_options] = 4, [ACT_pass] = 3, [ACT_hide] = 2, [ACT_fork] = 1,
		      [ACT_unload] = 1, [ACT_regroup] = 4 },
	  .kinds = PLAIN | KIND(COLL), .slots = 3, .disturbers = 2, .most = 300000,
	  .idle_ms = 60000, .own_ns = true, .hosts = 1, .calm = true },
	{ .name = "storm", .about = "cancel, close, kill, stop, signals, settings",
	  .weight = { LOOKS, [ACT_options] = 3, [ACT_hide] = 2, [ACT_fork] = 1,
		      [ACT_regroup] = 1, [ACT_cancel] = 10, [ACT_cancel_nl] = 3, [ACT_close] = 2,
		      [ACT_kill] = 2, [ACT_stop] = 2, [ACT_signal] = 5, [ACT_idle] = 2,
		      [ACT_config] = 3, [ACT_unload] = 1 },
	  .kinds = PLAIN | KIND(COLL), .slots = 3, .disturbers = 2, .most = 1000000,
	  .idle_ms = 1000, .hosts = 1 },
	{ .name = "links", .about = "two hosts, devices go down and up, multicast, namespaces go",
	  .weight = { LOOKS, [ACT_options] = 2, [ACT_pass] = 2, [ACT_cancel] = 3, [ACT_link] = 3,
		      [ACT_netns] = 2, [ACT_config] = 2, [ACT_kill] = 1, [ACT_stop] = 1,
		      [ACT_unload] = 1 },
	  .kinds = PLAIN | KIND(COLL) | KIND(SAME), .slots = 2, .disturbers = 2, .most = 300000,
	  .idle_ms = 1000, .hosts = 2 },
	{ .name = "dead", .about = "a member never takes part, messages are longer than SO_SNDBUF (K2)",
	  .weight = { [ACT_poll] = 1, [ACT_dump] = 1 },
	  .kinds = KIND(ROW), .slots = 2, .disturbers = 1, .most = 4 << 20, .idle_ms = 8000,
	  .own_ns = true, .hosts = 1, .dead = true },
	{ .name = "signals", .about = "caught signals and writers that wait",
	  .weight = { [ACT_signal] = 10, [ACT_cancel] = 1, [ACT_poll] = 1 },
	  .kinds = KIND(ROW) | KIND(PIECES), .slots = 2, .disturbers = 1, .most = 4 << 20,
	  .idle_ms = 1000, .own_ns = true, .hosts = 1 },
	{ .name = "early", .about = "packets come while their operations begin (K6)",
	  .weight = { [ACT_early] = 1 },
	  .kinds = KIND(ROW) | KIND(COLL), .slots = 1, .disturbers = 1, .most = 4000,
	  .idle_ms = 60000, .own_ns = true, .hosts = 1, .calm = true, .bare = true },
	{ .name = "loads", .about = "the module comes and goes beside sockets",
	  .weight = { [ACT_unload] = 10, [ACT_poll] = 1, [ACT_dump] = 1, [ACT_netns] = 1 },
	  .kinds = PLAIN | KIND(COLL), .slots = 2, .disturbers = 1, .most = 20000,
	  .idle_ms = 1000, .own_ns = true, .hosts = 1, .loads = true },
	{ .name = "races", .about = "writers go on with an operation that is cancelled (K1)",
	  .weight = { [ACT_races] = 1 },
	  .kinds = KIND(ROW), .slots = 1, .disturbers = 1, .most = 4096,
	  .idle_ms = 60000, .own_ns = true, .hosts = 1, .calm = true, .bare = true },
};

const int n_mixes = sizeof(mixes) / sizeof(mixes[0]);
bool left_out[N_ACTIONS];
struct shared *shared;
struct slot *slot;
const struct mix *mix;

static uint64_t seed;
static unsigned long seconds = 10;

static void list(void)
{
	int i, a;

	printf("actions:");
	for (a = 0; a < N_ACTIONS; a++)
		printf(" %s", action_name[a]);
	printf("\nkinds:");
	for (a = 0; a < KINDS; a++)
		printf(" %s", spec_kind_name(a));
	printf("\nmixes:\n");
	for (i = 0; i < n_mixes; i++) {
		printf("  %-10s %s:", mixes[i].name, mixes[i].about);
		for (a = 0; a < N_ACTIONS; a++)
			if (mixes[i].weight[a])
				printf(" %s %d", action_name[a], mixes[i].weight[a]);
		printf("\n");
	}
}

static bool named(const char *names, const char *name)
{
	size_t len = strlen(name);
	const char *p;

	for (p = names; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (!strncmp(p, name, len) && (!p[len] || p[len] == ','))
			return true;
	return false;
}

static void say_progress(uint64_t start)
{
	uint64_t rounds = 0, actions = 0, done = 0, failed = 0, bytes = 0;
	int i;

	for (i = 0; i < mix->slots; i++) {
		rounds += shared->slot[i].rounds;
		actions += shared->slot[i].actions;
		done += shared->slot[i].done;
		failed += shared->slot[i].failed;
		bytes += shared->slot[i].bytes;
	}
	printf("# %s, %llu s: %llu rounds, %llu actions, ended %llu DONE and %llu FAILED, %llu MB\n",
	       mix->name, (unsigned long long)(sht_now_ms() - start) / 1000,
	       (unsigned long long)rounds, (unsigned long long)actions, (unsigned long long)done,
	       (unsigned long long)failed, (unsigned long long)bytes >> 20);
	fflush(stdout);
}

/* Slots are processes; they end, or one of them has said what is wrong. */
static void run_slots(uint64_t mix_seed)
{
	uint64_t start = sht_now_ms(), end = start + seconds * 1000, said = start;
	pid_t pid[MAX_SLOTS];
	int i, left, status;

	for (i = 0; i < mix->slots; i++) {
		shared->slot[i].progress = start;
		pid[i] = fork();
		if (!pid[i])
			slot_main(i, mix_seed, end);
	}
	for (left = mix->slots; left;) {
		watch_tick();
		for (i = 0; i < mix->slots; i++) {
			if (pid[i] <= 0 || waitpid(pid[i], &status, WNOHANG) <= 0)
				continue;
			pid[i] = 0;
			left--;
			slot = &shared->slot[i];
			if (status && !shared->failed)
				wrong("the slot's process ends with status %#x", status);
		}
		if (shared->failed)
			break;
		nap_us(100000);
		if (sht_now_ms() - said >= 10000) {
			said = sht_now_ms();
			say_progress(start);
		}
	}
	/* others may want to say something, too */
	if (shared->failed)
		nap_us(500000);
	for (i = 0; i < mix->slots; i++) {
		if (pid[i] <= 0)
			continue;
		kill(pid[i], SIGKILL);
		waitpid(pid[i], &status, 0);
	}
	say_progress(start);
}

static void mix_main(uint64_t mix_seed)
{
	slot = &shared->slot[0];
	/* children of a slot that has died are ours */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (hosts_make(mix->own_ns ? 1 : mix->hosts))
		die("namespaces");
	run_slots(mix_seed);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	if (!shared->failed)
		check_namespace();
	_exit(shared->failed);
}

static void result(bool ok, const char *name, const char *why)
{
	if (*why)
		printf("# %s: %s\n", name, why);
	tap_line(ok, name);
}

static void run_mix(void)
{
	char name[64];
	pid_t pid;
	int status = 0;

	memset(shared, 0, sizeof(*shared));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setvbuf(stdout, NULL, _IOLBF, 0);
		mix_main(sht_mix(seed ^ sht_mix(mix - mixes)));
	}
	waitpid(pid, &status, 0);
	if (status && !shared->failed)
		snprintf(shared->why, sizeof(shared->why), "the mix's process ends with status %#x",
			 status);
	snprintf(name, sizeof(name), "%s, seed 0x%llx, %lu s", mix->name,
		 (unsigned long long)seed, seconds);
	result(!status && !shared->failed, name, shared->why);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "list", no_argument, NULL, 'l' }, { "planted", required_argument, NULL, 'p' },
		{ 0 },
	};
	const char *only = NULL, *without = NULL, *planted = NULL;
	struct rlimit files = { 65536, 65536 };
	char why[256] = "";
	struct timespec now;
	int opt, i, chosen = 0;

	tap_state.prefix = "torture";
	clock_gettime(CLOCK_REALTIME, &now);
	seed = sht_mix(now.tv_sec * 1000000007ull + now.tv_nsec) & 0xffffffff;
	while ((opt = getopt_long(argc, argv, "s:t:m:x:r:f:", options, NULL)) != -1) {
		switch (opt) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 't':
			seconds = strtoul(optarg, NULL, 0);
			break;
		case 'm':
			only = optarg;
			break;
		case 'x':
			without = optarg;
			break;
		case 'r':
			setenv("TORTURE_ROUND", optarg, 1);
			break;
		case 'f':
			race_flags = strtoul(optarg, NULL, 0);
			break;
		case 'l':
			list();
			return 0;
		case 'p':
			planted = optarg;
			break;
		default:
			fprintf(stderr, "usage: torture [-s SEED] [-t SECONDS] [-m MIX,...] [-x ACTION,...] [-r ROUND] [-f FLAGS]\n"
				"       torture --list | --planted FILE\n");
			return 2;
		}
	}
	if (planted)
		return planted_hammer(planted, 4, seconds);
	for (i = 0; i < N_ACTIONS; i++)
		left_out[i] = named(without, action_name[i]);
	setrlimit(RLIMIT_NOFILE, &files);
	sht_family();
	printf("# SEED 0x%llx\n", (unsigned long long)seed);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	for (i = 0; i < n_mixes; i++) {
		mix = &mixes[i];
		if (only ? !named(only, mix->name) : false)
			continue;
		if (named(without, mix->name))
			continue;
		chosen++;
		if (mix->loads && !getenv("SHUFFLE_KO")) {
			tap_skip(mix->name, "no SHUFFLE_KO");
			continue;
		}
		run_mix();
	}
	mix = NULL;
	if (!chosen) {
		fprintf(stderr, "torture: no mix is called '%s', or all are left out; --list names them\n",
			only ?: "");
		return 2;
	}
	result(check_module(why, sizeof(why)), "nothing is left, the module can go", why);
	return tap_finish();
}
