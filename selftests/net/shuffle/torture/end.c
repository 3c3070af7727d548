// SPDX-License-Identifier: GPL-2.0-or-later
/* The oracle of what is left: of a round, of a namespace, of the module. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "torture.h"

static int64_t held_before;

int64_t counter_of(const char *name)
{
	static const char file[] = "/proc/thread-self/net/shuffle/netstat";
	char *head = NULL, *line = NULL, *n, *v, *ns, *vs;
	size_t a = 0, b = 0;
	int64_t value = -1;
	FILE *f = fopen(file, "r");

	if (!f)
		return -1;
	if (getline(&head, &a, f) > 0 && getline(&line, &b, f) > 0) {
		n = strtok_r(head, " \n", &ns);
		v = strtok_r(line, " \n", &vs);
		while (n && v && strcmp(n, name)) {
			n = strtok_r(NULL, " \n", &ns);
			v = strtok_r(NULL, " \n", &vs);
		}
		if (n && v)
			value = strtoll(v, NULL, 10);
	}
	fclose(f);
	free(head);
	free(line);
	return value;
}

int64_t early_held(void)
{
	return counter_of("EarlyKept") - counter_of("EarlyClaimed") - counter_of("EarlyExpired");
}

int64_t early_kept(void)
{
	return early_held() - held_before;
}

void check_round_begins(void)
{
	/* what goes when a socket is closed is not counted */
	held_before = mix->own_ns ? early_held() : 0;
}

static bool errno_plausible(int error)
{
	switch (error) {
	case ETIMEDOUT:
	case ECONNRESET:	/* another member has left, by a time limit perhaps */
		return !mix->calm;
	case ECANCELED:
		return slot->disturbed;
	case EPROTO:
	case EBADMSG:
	case ENETDOWN:
	case ENETUNREACH:
	case EHOSTUNREACH:
		return slot->cut;
	default:
		return false;
	}
}

static void check_failed(unsigned int op, unsigned int rank)
{
	const struct plan *p = &slot->plan;
	const struct op_spec *o = &p->op[op];
	const struct part *part = &slot->part[op][rank];
	unsigned int named = part->miss_recv | part->miss_ack;

	if (!errno_plausible(part->error))
		wrong("%s: operation %u fails at member %u: got %s, want %s",
		      spec_kind_name(o->kind), op, rank, strerrorname_np(part->error),
		      mix->calm ? "DONE" : "an error for which there is a reason");
	check_names(op, rank);
	if (p->dead != NOBODY && !slot->disturbed && named != 1U << p->dead)
		wrong("%s: operation %u: member %u names %#x missing, want %#x: the one that never took part",
		      spec_kind_name(o->kind), op, rank, named, 1U << p->dead);
}

/* Everybody has begun and ended everything, with all sockets open: nothing is early any more. */
static void check_early(void)
{
	uint64_t until = sht_now_ms() + tmo_ms(1);
	const struct plan *p = &slot->plan;
	unsigned int i, op;
	int64_t held = 0;

	if (!mix->own_ns || mix->hosts > 1 || slot->cut || p->dead != NOBODY || p->processes)
		return;
	for (i = 0; i < p->n; i++)
		for (op = 0; op < p->ops; op++)
			if (slot->member[i].gone || !slot->part[op][i].started)
				return;
	/* what is on its way arrives, and belongs to what has ended */
	for (i = 0; i < 200 && sht_now_ms() < until; i++) {
		held = early_held() - held_before;
		if (!held)
			return;
		nap_us(5000);
	}
	wrong("%lld early packets are kept after all %u operations have begun and ended at all %u members",
	      (long long)held, p->ops, p->n);
}

void check_round(void)
{
	const struct plan *p = &slot->plan;
	unsigned int op, rank;

	for (rank = 0; rank < p->n; rank++) {
		/* what a process had read when it was killed is not known */
		if (slot->member[rank].gone)
			continue;
		for (op = 0; op < p->ops; op++) {
			if (!slot->part[op][rank].ended)
				continue;
			if (slot->part[op][rank].error)
				check_failed(op, rank);
			else
				check_done(op, rank);
		}
	}
	check_early();
}

/* All processes of the mix are gone. */
void check_namespace(void)
{
	uint64_t until = sht_now_ms() + tmo_ms(10);
	int fd = netlink_open(), sockets = 0;
	int64_t used = 0;

	if (fd < 0)
		return;
	do {
		sockets = netlink_sockets(fd);
		used = netlink_mem_used(fd);
		if (sockets <= 0 && used <= 0)
			break;
		nap_us(20000);
	} while (sht_now_ms() < until);
	if (sockets > 0)
		wrong("at the end: got %d sockets, want 0", sockets);
	if (used > 0)
		wrong("at the end: sockets hold %lld bytes, want 0", (long long)used);
	close(fd);
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "shuffle", O_NONBLOCK);
}

int module_load(void)
{
	const char *ko = getenv("SHUFFLE_KO"), *args = getenv("SHUFFLE_KO_ARGS");
	int fd = ko ? open(ko, O_RDONLY | O_CLOEXEC) : -1, rc;

	if (fd < 0)
		return -1;
	rc = syscall(SYS_finit_module, fd, args ? args : "", 0);
	close(fd);
	return rc && errno != EEXIST ? -1 : 0;
}

/* Users of the module, or -1 if it is not loaded as one. */
static int module_users(void)
{
	char line[512];
	int users = -1;
	FILE *f = fopen("/proc/modules", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "shuffle %*u %d", &users) == 1)
			break;
	if (f)
		fclose(f);
	return users;
}

bool check_module(char *why, size_t size)
{
	uint64_t until = sht_now_ms() + tmo_ms(20);
	int users;

	while ((users = module_users()) > 0 && sht_now_ms() < until)
		nap_us(50000);
	if (users > 0) {
		snprintf(why, size, "got %d users of the module, want 0", users);
		return false;
	}
	if (users < 0 || !getenv("SHUFFLE_KO"))
		return true;
	if (module_unload()) {
		snprintf(why, size, "the module cannot be unloaded: %s", strerror(errno));
		return false;
	}
	if (module_load()) {
		snprintf(why, size, "the module cannot be loaded again: %s", strerror(errno));
		return false;
	}
	return true;
}
