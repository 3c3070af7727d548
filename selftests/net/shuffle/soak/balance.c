// SPDX-License-Identifier: GPL-2.0-or-later
/* What is left when all has ended: memory, sockets, counters. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../../tools/common/tap.h"
#include "soak.h"

#define MAX_COUNTERS	160
#define MAX_BATCHES	10000
/* The first batches fill what is kept: pages of pools, neighbours, lists of the network. */
#define WARM		2

struct counters {
	unsigned int n;
	int64_t value[MAX_COUNTERS];
};

static char names[MAX_COUNTERS][32];
static struct counters before;
static long slab_kb[MAX_BATCHES];
static unsigned int batches;

/* Of a host, added to @c. */
static void add_counters(struct counters *c, unsigned int host)
{
	static char head[8192], line[8192];
	char *n, *v, *at_n = head, *at_v = line;
	unsigned int i = 0;
	FILE *f;

	if (in_host_number(host))
		die("a namespace");
	f = fopen("/proc/thread-self/net/shuffle/netstat", "r");
	if (!f || !fgets(head, sizeof(head), f) || !fgets(line, sizeof(line), f))
		die("netstat");
	fclose(f);
	while ((n = strsep(&at_n, " \n")) && (v = strsep(&at_v, " \n")) && i < MAX_COUNTERS) {
		snprintf(names[i], sizeof(names[i]), "%s", n);
		c->value[i++] += atoll(v);
	}
	c->n = i;
}

static void read_counters(struct counters *c)
{
	unsigned int h;

	memset(c, 0, sizeof(*c));
	for (h = 0; h < hosts; h++)
		add_counters(c, h);
}

/* Of all hosts, in this batch. */
static int64_t counted(const struct counters *now, const char *name)
{
	unsigned int i;

	for (i = 0; i < now->n; i++)
		if (!strcmp(names[i], name))
			return now->value[i] - before.value[i];
	wrong("there is no counter %s", name);
	return 0;
}

static void same(const char *what, int64_t got, int64_t want)
{
	if (got != want)
		wrong("%s: got %lld, want %lld", what, (long long)got, (long long)want);
}

static void at_most(const struct counters *c, const char *in, const char *out)
{
	if (counted(c, in) > counted(c, out))
		wrong("%s is %lld, more than %s, %lld, and no packet came twice", in,
		      (long long)counted(c, in), out, (long long)counted(c, out));
}

static void check_counters(const struct batch *b, const struct counters *c)
{
	static const char *const none[] = {
		"DropMalformed", "DropVersion", "DropCsum", "DropSource", "DropForwarded",
		"DropTag", "DropDevice", "DropMem", "DropNotGranted", "DropUdp",
		"NoRoute", "EchoRefused", "EchoLimited",
	};
	unsigned int i;

	same("OpsStarted, of operations that members have begun", counted(c, "OpsStarted"),
	     b->parts);
	same("OpsDone + OpsFailed, of OpsStarted",
	     counted(c, "OpsDone") + counted(c, "OpsFailed"), counted(c, "OpsStarted"));
	same("EarlyClaimed + EarlyExpired, of EarlyKept",
	     counted(c, "EarlyClaimed") + counted(c, "EarlyExpired"), counted(c, "EarlyKept"));
	for (i = 0; i < sizeof(none) / sizeof(*none); i++)
		same(none[i], counted(c, none[i]), 0);
	if (b->calm) {
		same("OpsFailed, where nothing has happened", counted(c, "OpsFailed"), 0);
		same("DataBytesIn, of the bytes of all messages", counted(c, "DataBytesIn"),
		     b->wire);
	}
	if (!b->duplicate) {
		at_most(c, "GrantIn", "GrantOut");
		at_most(c, "ResendIn", "ResendOut");
		at_most(c, "AbortIn", "AbortOut");
	}
}

static void check_left(void)
{
	unsigned int h;
	int fd, n;
	int64_t used;

	for (h = 0; h < hosts; h++) {
		if (in_host_number(h))
			die("a namespace");
		fd = netlink_open();
		if (fd < 0)
			die("netlink");
		n = netlink_sockets(fd);
		used = netlink_mem_used(fd);
		close(fd);
		if (n)
			wrong("host %u: got %d sockets, want 0", h, n);
		if (used)
			wrong("host %u: sockets hold %lld bytes, want 0", h, (long long)used);
	}
}

/* What CPUs keep for themselves counts as used, unless they give it back. */
static void shrink_slabs(void)
{
	char path[300];
	struct dirent *e;
	FILE *f;
	DIR *d = opendir("/sys/kernel/slab");

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, "kmalloc-", 8) && strncmp(e->d_name, "skbuff_", 7) &&
		    strncmp(e->d_name, "SHUFFLE", 7))
			continue;
		snprintf(path, sizeof(path), "/sys/kernel/slab/%.200s/shrink", e->d_name);
		f = fopen(path, "w");
		if (f) {
			fputs("1", f);
			fclose(f);
		}
	}
	if (d)
		closedir(d);
}

/* In use: of all sizes, of packets and of sockets, KiB; -1 if nobody says. */
static long slabs(void)
{
	char line[512], name[64];
	unsigned long active, total, size, sum = 0;
	FILE *f;

	shrink_slabs();
	f = fopen("/proc/slabinfo", "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %lu %lu %lu", name, &active, &total, &size) != 4)
			continue;
		if (!strncmp(name, "kmalloc-", 8) || !strncmp(name, "skbuff_", 7) ||
		    !strncmp(name, "SHUFFLE", 7))
			sum += active * size;
	}
	fclose(f);
	return sum / 1024;
}

void balance_begin(void)
{
	read_counters(&before);
}

void balance_batch(const struct batch *b, char *line, size_t size)
{
	struct counters now;

	slot = NULL;
	read_counters(&now);
	check_left();
	check_counters(b, &now);
	if (batches < MAX_BATCHES)
		slab_kb[batches++] = slabs();
	snprintf(line, size,
		 "members: %lld done, %lld failed; packets: %lld data, %lld control; %lld MB, %lld KB again; slabs %ld KB (%+ld)",
		 (long long)counted(&now, "OpsDone"), (long long)counted(&now, "OpsFailed"),
		 (long long)counted(&now, "DataOut"),
		 (long long)counted(&now, "CtrlPktsOut"),
		 (long long)counted(&now, "DataBytesIn") / 1000000,
		 (long long)counted(&now, "RetransBytes") / 1000, slab_kb[batches - 1],
		 batches > WARM ? slab_kb[batches - 1] - slab_kb[WARM - 1] : 0);
	before = now;
}

/* Does the counter say why something was late? */
static bool of_a_failure(const char *name)
{
	return !strncmp(name, "Drop", 4) || !strncmp(name, "Probe", 5) ||
	       !strncmp(name, "Abort", 5) || !strncmp(name, "Resend", 6);
}

void balance_show(void)
{
	struct counters now;
	unsigned int i;

	read_counters(&now);
	printf("# dropped, asked and told in this batch so far:");
	for (i = 0; i < now.n; i++)
		if (of_a_failure(names[i]) && now.value[i] != before.value[i])
			printf(" %s %lld", names[i], (long long)(now.value[i] - before.value[i]));
	printf("\n");
}

static long least(unsigned int from, unsigned int to)
{
	long kb = slab_kb[from];

	for (; from < to; from++)
		kb = slab_kb[from] < kb ? slab_kb[from] : kb;
	return kb;
}

void balance_end(void)
{
	unsigned int n = batches > WARM ? (batches - WARM + 2) / 3 : 0;

	tap_line(!shared->failed, "counters add up, and nothing is left after each batch");
	if (n < 2 || slab_kb[0] < 0) {
		tap_skip("slabs do not grow", n < 2 ? "too few batches" : "no /proc/slabinfo");
		return;
	}
	/* the least of some batches: what others of the kernel keep for a while is not in it */
	printf("# slabs: %ld KB at least in the first third of the batches, %ld KB in the last\n",
	       least(WARM, WARM + n), least(batches - n, batches));
	EXPECT_LE(least(batches - n, batches), least(WARM, WARM + n) + 256);
	tap_done("slabs do not grow");
}
