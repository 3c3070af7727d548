// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records merged by key on their way along trees of shuffle-plan, by shuffle_tree_*() of
 * libshuffle, which shuffle-relayd is made of: from a common start until the last receiver has its
 * result.
 *
 * usage: agg_bench -G TABLE [-M RECORDS] [-D DELTA] [-Z] [-W WAYS]
 *                  [options of shuffle_bench] MATRIX
 *   -G TABLE    of shuffle-plan: its trees, one operation each, all at once
 *   -M RECORDS  of each flow (default 65536, which are 1 MiB)
 *   -D DELTA    share of the records whose keys no other sender has (default 0)
 *   -Z          records in any order, merged in tables, instead of sorted streams
 *   -W WAYS     of bcube.sh: say, too, what the bound is if nothing is merged
 *   MATRIX      says how many hosts there are, nothing else
 *
 * Each tree has a group of its own, at ports one behind the other.  Results are checked outside the
 * time that is measured: the records' order, and the sum of value times a hash of the key, to which
 * each sender adds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/shuffle_tree.h"
#include "agg.h"
#include "agg_tree.h"

#define PORT		7018	/* unless -p */
#define MOST_HOSTS	64
#define CONNECT_MS	20000

static struct agg_trees trees;
static uint64_t (*sent)[MOST_HOSTS];	/* shared: what each host has sent into each tree */
static uint64_t op_base, records = 65536;
static double delta, none_ns;
static bool table;

/* this host's */
static struct shuffle_tree *member[AGG_TREES];
static struct shuffle_tree_end result;	/* of our own tree, as its receiver */
static const struct agg_tree *ours;
static struct shuffle_key_value *own;
static unsigned int roles;	/* operations that we are told the end of */

static uint64_t weight(const struct shuffle_key_value *p)
{
	return p->value * (agg_mix(p->key) | 1);
}

/* Is record i one that all senders have?  The others are spread evenly. */
static bool is_common(uint64_t i)
{
	return (uint64_t)((i + 1) * delta) == (uint64_t)(i * delta);
}

static void prepare(unsigned int round)
{
	uint64_t sum = 0, i;
	unsigned int t;

	for (i = 0; i < records; i++) {
		uint64_t who = is_common(i) ? 0 : bench_self + 1;

		own[i].key = i << 40 | agg_mix(i << 8 | who) >> 24;
		own[i].value = agg_mix(i ^ (uint64_t)bench_self << 32 ^
				       (uint64_t)round << 48) >> 16;
		sum += weight(&own[i]);
	}
	for (t = 0; t < trees.n; t++)
		sent[t][bench_self] = agg_sends(&trees.tree[t], bench_self) &&
				      trees.tree[t].root != bench_self ? sum : 0;
	free(result.result);
	memset(&result, 0, sizeof(result));
}

/* Whatever there is to do in all trees: how many operations have ended. */
static unsigned int step(void)
{
	struct shuffle_tree_end end;
	unsigned int t, ended = 0;

	for (t = 0; t < trees.n; t++) {
		while (member[t] && shuffle_tree_wait(member[t], &end, 0) == 1) {
			ended++;
			if (end.fault.error)
				agg_fail(end.fault.error, "failed", end.fault.rank);
			if (trees.tree[t].root != bench_self)
				continue;
			bench->host[bench_self].last_ns = bench_now();
			result = end;
		}
	}
	return ended;
}

static void wait_for_any(void)
{
	struct pollfd p[AGG_TREES];
	unsigned int t, n = 0;

	for (t = 0; t < trees.n; t++)
		if (member[t])
			p[n++] = (struct pollfd){ shuffle_tree_fd(member[t]), POLLIN, 0 };
	poll(p, n, 20);
}

static void run(unsigned int round)
{
	unsigned int t, left = roles;

	for (t = 0; t < trees.n; t++) {
		const struct agg_tree *tree = &trees.tree[t];
		bool has = agg_sends(tree, bench_self) && tree->root != bench_self;

		if (member[t] && shuffle_tree_start(member[t], op_base + round, has ? own : NULL,
						    has ? records : 0))
			agg_fail(errno, "start", tree->root);
	}
	while (left && !bench->host[bench_self].error) {
		left -= step();
		if (left)
			wait_for_any();
	}
}

/* Before the next round, which may begin before an END has left us. */
static void finish(unsigned int round)
{
	uint64_t want = 0, sum = 0, k;
	unsigned int i;

	(void)round;
	step();
	for (k = 0; ours && k < result.results; k++) {
		sum += weight(&result.result[k]);
		if (!table && k && result.result[k - 1].key >= result.result[k].key)
			agg_fail(EBADMSG, "out of order", bench_self);
	}
	for (i = 0; ours && i < bench_hosts; i++)
		want += sent[ours - trees.tree][i];
	if (sum != want)
		agg_fail(EBADMSG, "wrong sum", bench_self);
	agg_has_come();
}

static void open_member(unsigned int number)
{
	const struct agg_tree *tree = &trees.tree[number];
	struct sockaddr_shuffle *members = bench_members();
	struct shuffle_edge *edge = calloc(bench_hosts, sizeof(*edge));
	struct shuffle_tree_spec spec = {
		.size = sizeof(spec), .rank = bench_self, .members = edge, .count = bench_hosts,
		.parent = tree->parent[bench_self] < 0 ? SHUFFLE_TREE_NOBODY :
			  (uint32_t)tree->parent[bench_self],
		.oper = SHUFFLE_KEYS_SUM, .flags = table ? 0 : SHUFFLE_KEYS_SORTED,
		.table_records = 2 * records,
	};
	uint32_t child[MOST_HOSTS];
	unsigned int i;

	for (i = 0; i < bench_hosts; i++) {
		edge[i].member = members[i];
		edge[i].member.shs_port = htons(ntohs(members[i].shs_port) + number);
		if (tree->parent[i] == (int)bench_self)
			child[spec.children++] = i;
	}
	spec.child = child;
	member[number] = shuffle_tree_open(&spec);
	if (!member[number])
		bench_die("host %u: tree %u: %s", bench_self, number, strerror(errno));
	free(edge);
}

static bool connected(void)
{
	struct shuffle_tree_counts c;
	unsigned int t;

	for (t = 0; t < trees.n; t++) {
		if (!member[t])
			continue;
		shuffle_tree_count(member[t], &c);
		if (c.children_up < agg_children(&trees.tree[t], bench_self) ||
		    c.up == (trees.tree[t].root == bench_self))
			return false;
	}
	return true;
}

static void host_main(void)
{
	static const struct bench_steps steps = { prepare, run, finish };
	int64_t until = bench_now() + CONNECT_MS * NS_PER_MS;
	unsigned int t;

	own = calloc(records, sizeof(*own));
	for (t = 0; t < trees.n; t++) {
		if (!agg_in(&trees.tree[t], bench_self))
			continue;
		open_member(t);
		roles++;
		if (trees.tree[t].root == bench_self)
			ours = &trees.tree[t];
	}
	while (!connected()) {
		if (bench_now() > until)
			bench_die("host %u: neighbours are missing", bench_self);
		step();
		wait_for_any();
	}
	bench_wait();
	bench_host_rounds(&steps);
	for (t = 0; t < trees.n; t++)
		if (member[t])
			shuffle_tree_close(member[t]);
}

static void usage(void)
{
	fprintf(stderr, "usage: agg_bench -G TABLE [-M RECORDS] [-D DELTA] [-Z] [-W WAYS] "
		BENCH_USAGE " MATRIX\n");
	exit(2);
}

/* For the report */
static const char *bound_of_none(void)
{
	static char text[64];

	if (none_ns)
		snprintf(text, sizeof(text), "none_bound_ns=%.0f", none_ns);
	return text;
}

int main(int argc, char **argv)
{
	const char *plan = NULL, *ways = NULL;
	int opt;

	bench_opt.transport = "shuffle";
	bench_opt.warmup = 1;
	while ((opt = getopt(argc, argv, BENCH_OPTIONS "G:M:D:W:Z")) != -1) {
		if (bench_option(opt, optarg))
			continue;
		switch (opt) {
		case 'G':
			plan = optarg;
			break;
		case 'M':
			records = strtoull(optarg, NULL, 10);
			break;
		case 'D':
			delta = atof(optarg);
			break;
		case 'W':
			ways = optarg;
			break;
		case 'Z':
			table = true;
			break;
		default:
			usage();
		}
	}
	if (optind + 1 != argc || !plan || !records || records > 1 << 20 || delta < 0 || delta > 1)
		usage();
	if (!bench_opt.port)
		bench_opt.port = PORT;
	bench_init(bench_read_matrix(argv[optind]));
	if (bench_hosts > MOST_HOSTS)
		bench_die("at most %d hosts", MOST_HOSTS);
	agg_read(&trees, plan, bench_hosts);
	bench_opt.bound_ns = agg_bound_ns(&trees, records, delta);
	if (ways)
		none_ns = agg_none_bound_ns(&trees, records, ways);
	bench_queues_open(true);
	sent = mmap(NULL, trees.n * sizeof(*sent), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sent == MAP_FAILED)
		bench_die("mmap: %s", strerror(errno));
	op_base = (uint64_t)bench_now() >> 8;
	bench_fork(host_main);
	bench_wait();
	return bench_rounds(bound_of_none);
}
