// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trees in which records are merged by key in user space (libshuffle's shuffle_tree_*(), and
 * shuffle-relayd): the members on hosts of their own.  The root compares what it gets with what it
 * can make of all members' records itself.
 *
 *	tree_member [OPTION...] PREFIX PARENT...
 *
 *	-6		IPv6
 *	-t		records in any order, merged in tables
 *	-n RECORDS	of each member (1000)
 *	-K KEYS		of these, other keys (as many as records)
 *	-O OPER		number of the operator (1, SUM)
 *	-o NUMBER	of the first operation (1)
 *	-c COUNT	operations, all at once (1)
 *	-p PORT		of all members (7000)
 *	-i MS		an operation that does not go on fails after
 *	-b BYTES	of memory of each member
 *	-e ERRNO	all operations must fail with this error, at all members
 *	-B RANK		and all must say that this one is to blame
 *	-X RANK@MS	that one kills itself so long after the start
 *	-C MS		the root gives all operations up so long after the start
 *	-r		each begins its operations in another order
 *	-w MS		so soon all must have ended after that, or after the start
 *	-D RANK:OPER	that one has another operator
 *	-g FILE		the group as member h sees it is in FILE.<h>, a line ADDRESS:PORT[@LOCAL]
 *			for each member, or [ADDRESS]:PORT[@LOCAL]
 *
 * Member h is in the namespace PREFIXh<h>.  PARENT of the first one, the root, is "-".  A member
 * with an r behind its parent is a relay, which somebody else has made; one with an f has no
 * records and merges what comes; one that is x takes no part.  The last line says how many bytes
 * that are no records members have sent.  Exit status 1 when anything has failed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "merge_pairs.h"
#include "shtest.h"
#include "shuffle_tree.h"

#define MOST_MEMBERS	64
#define MOST_OPS	256
#define SECONDS		300

static unsigned int members, oper = SHUFFLE_KEYS_SUM, ops = 1, idle_ms, port = 7000;
static uint64_t first = 1, records = 1000, keys, bytes;
static int parent[MOST_MEMBERS], expected, blamed = -1, dies = -1, other = -1, other_oper;
static unsigned int dies_ms, gives_up_ms, within_ms;
static char role[MOST_MEMBERS];
static bool v6, table, mixed;
static const char *group_file;
static uint64_t *overhead;	/* shared */

/* ADDRESS:PORT[@LOCAL], or [ADDRESS]:PORT[@LOCAL] */
static void read_edge(char *line, struct shuffle_edge *edge)
{
	char *local = strchr(line, '@'), *port = strrchr(line, ':'), *address = line;
	int family = *line == '[' ? AF_INET6 : AF_INET;

	if (local) {
		*local++ = '\0';
		port = strrchr(line, ':');
	}
	if (!port)
		errx(1, "%s: no port", line);
	*port++ = '\0';
	if (family == AF_INET6) {
		address++;
		line[strcspn(line, "]")] = '\0';
	}
	memset(edge->member.shs_addr, 0, sizeof(edge->member.shs_addr));
	edge->member.shs_ip_family = family;
	edge->member.shs_port = htons(atoi(port));
	if (inet_pton(family, address, edge->member.shs_addr) != 1 ||
	    (local && inet_pton(family, local, edge->local) != 1))
		errx(1, "%s: no address", line);
}

/* The members, and our own addresses towards them. */
static void read_edges(unsigned int rank, struct shuffle_edge *edges)
{
	char path[256], line[256];
	unsigned int i;
	FILE *f = NULL;

	memset(edges, 0, members * sizeof(*edges));
	if (group_file) {
		snprintf(path, sizeof(path), "%s.%u", group_file, rank);
		f = fopen(path, "re");
		if (!f)
			err(1, "%s", path);
	}
	for (i = 0; i < members; i++) {
		sht_addr(&edges[i].member, SHT_RACK, v6, i, port);
		if (!f)
			continue;
		if (!fgets(line, sizeof(line), f))
			errx(1, "%s: %u members", path, i);
		line[strcspn(line, "\n")] = '\0';
		read_edge(line, &edges[i]);
	}
	if (f)
		fclose(f);
}

/* The records of a member in an operation, as the library takes them. */
static void make_records(struct shuffle_key_value *p, unsigned int rank, uint64_t op)
{
	uint64_t i;

	for (i = 0; i < records; i++) {
		uint64_t x = sht_mix(op << 40 ^ (uint64_t)rank << 32 ^ i);

		p[i].key = sht_mix(keys == records ? i : x % keys);
		p[i].value = x;
	}
}

static int key_order(const void *a, const void *b)
{
	const struct shuffle_key_value *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* What becomes of a value before it is merged. */
static uint64_t value_first(uint64_t value)
{
	if (oper == SHUFFLE_KEYS_COUNT)
		return 1;
	return oper == SHUFFLE_KEYS_SUMCOUNT ? value << 32 | 1 : value;
}

static void check(const struct shuffle_tree_end *end)
{
	struct pair *want = malloc((members * records + 1) * sizeof(*want));
	struct pair *have = malloc((end->results + 1) * sizeof(*have));
	struct shuffle_key_value *p = malloc((records + 1) * sizeof(*p));
	size_t n = 0, m, k;
	unsigned int i;

	for (i = 1; i < members; i++) {
		if (role[i])
			continue;
		make_records(p, i, end->op_id);
		for (k = 0; k < records; k++, n++) {
			want[n].key = htobe64(p[k].key);
			want[n].value = htobe64(value_first(p[k].value));
		}
	}
	for (k = 0; k < end->results; k++) {
		have[k].key = htobe64(end->result[k].key);
		have[k].value = htobe64(end->result[k].value);
		if (!table && k && end->result[k].key < end->result[k - 1].key)
			errx(1, "operation %llu: the result is not sorted",
			     (unsigned long long)end->op_id);
	}
	n = merge_all(want, n, oper);
	m = end->results;
	if (oper != SHUFFLE_KEYS_NONE) {
		m = merge_all(have, m, oper);
		if (m != end->results)
			errx(1, "operation %llu: %zu keys come twice",
			     (unsigned long long)end->op_id, end->results - m);
	} else {
		qsort(have, m, sizeof(*have), by_pair);
	}
	if (n != m || memcmp(want, have, n * sizeof(*want)))
		errx(1, "operation %llu: %zu records, and there should be %zu, or others",
		     (unsigned long long)end->op_id, m, n);
	free(want);
	free(have);
	free(p);
}

static struct shuffle_tree *open_member(unsigned int rank)
{
	struct shuffle_edge edge[MOST_MEMBERS];
	uint32_t child[MOST_MEMBERS];
	uint64_t senders = 0;
	struct shuffle_tree_spec spec = {
		.size = sizeof(spec), .rank = rank, .members = edge, .count = members,
		.parent = rank ? (uint32_t)parent[rank] : SHUFFLE_TREE_NOBODY, .child = child,
		.oper = (int)rank == other ? (unsigned int)other_oper : oper,
		.flags = table ? 0 : SHUFFLE_KEYS_SORTED, .idle_ms = idle_ms,
		.max_bytes = bytes, .table_records = rank && table ? 4096 : 0,
	};
	struct shuffle_tree *t;
	unsigned int i;

	for (i = 1; i < members; i++) {
		if (parent[i] == (int)rank && role[i] != 'x')
			child[spec.children++] = i;
		senders |= (uint64_t)!role[i] << i;
	}
	spec.senders = rank ? NULL : &senders;
	read_edges(rank, edge);
	t = shuffle_tree_open(&spec);
	if (!t)
		err(1, "member %u: no tree", rank);
	return t;
}

static void ended(const struct shuffle_tree_end *end, unsigned int rank)
{
	const struct shuffle_keys_fault *f = &end->fault;

	if (f->error != expected)
		errx(1, "member %u: operation %llu: %s: %s; wanted: %s", rank,
		     (unsigned long long)end->op_id, strerror(f->error), f->text,
		     strerror(expected));
	if (expected && blamed >= 0 && f->rank != (uint32_t)blamed)
		errx(1, "member %u: operation %llu: member %d is to blame, not %d: %s", rank,
		     (unsigned long long)end->op_id, (int)f->rank, blamed, f->text);
	if (expected && f->error == expected && !rank)
		printf("# %s\n", f->text);
	if (!expected && !rank)
		check(end);
}

static void run_member(const char *prefix, unsigned int rank)
{
	uint64_t began = sht_now_ms(), since = began;
	struct shuffle_key_value **p = calloc(ops, sizeof(*p));
	struct shuffle_tree_counts counts;
	struct shuffle_tree_end end;
	struct shuffle_tree *t;
	unsigned int left = ops, i;
	bool given_up = false;
	char ns[64];
	int rc;

	snprintf(ns, sizeof(ns), "%sh%u", prefix, rank);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SECONDS);
	if (sht_enter_netns(ns))
		err(1, "member %u: %s", rank, ns);
	t = open_member(rank);
	for (i = 0; i < ops; i++) {
		unsigned int k = mixed ? (i * 7 + rank * 13) % ops : i;

		if (rank && !role[rank]) {
			p[k] = malloc((records + 1) * sizeof(**p));
			make_records(p[k], rank, first + k);
			if (!table)
				qsort(p[k], records, sizeof(**p), key_order);
		}
		if (shuffle_tree_start(t, first + k, p[k], p[k] ? records : 0))
			err(1, "member %u: operation %llu", rank, (unsigned long long)first + k);
	}
	while (left) {
		if (dies == (int)rank && sht_now_ms() - began >= dies_ms)
			raise(SIGKILL);
		if (!rank && gives_up_ms && !given_up && sht_now_ms() - began >= gives_up_ms) {
			given_up = true;
			for (i = 0; i < ops; i++)
				shuffle_tree_cancel(t, first + i);
		}
		rc = shuffle_tree_wait(t, &end, 5);
		if (rc < 0)
			err(1, "member %u: waiting", rank);
		if (!rc)
			continue;
		ended(&end, rank);
		free(end.result);
		left--;
	}
	since = began + (gives_up_ms ? gives_up_ms : dies_ms);
	if (within_ms && sht_now_ms() > since + within_ms)
		errx(1, "member %u: it took %llu ms, not %u", rank,
		     (unsigned long long)(sht_now_ms() - since), within_ms);
	shuffle_tree_count(t, &counts);
	__atomic_add_fetch(overhead, counts.bytes_out - counts.records_out * sizeof(**p),
			   __ATOMIC_RELAXED);
	shuffle_tree_close(t);
	exit(0);
}

static void read_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "6trn:K:O:o:c:p:i:b:e:B:X:C:w:D:g:")) != -1) {
		switch (c) {
		case '6':
			v6 = true;
			break;
		case 't':
			table = true;
			break;
		case 'r':
			mixed = true;
			break;
		case 'n':
			records = strtoull(optarg, NULL, 0);
			break;
		case 'K':
			keys = strtoull(optarg, NULL, 0);
			break;
		case 'O':
			oper = atoi(optarg);
			break;
		case 'o':
			first = strtoull(optarg, NULL, 0);
			break;
		case 'c':
			ops = atoi(optarg);
			break;
		case 'p':
			port = atoi(optarg);
			break;
		case 'i':
			idle_ms = atoi(optarg);
			break;
		case 'b':
			bytes = strtoull(optarg, NULL, 0);
			break;
		case 'e':
			expected = atoi(optarg);
			break;
		case 'B':
			blamed = atoi(optarg);
			break;
		case 'X':
			if (sscanf(optarg, "%d@%u", &dies, &dies_ms) != 2)
				exit(2);
			break;
		case 'C':
			gives_up_ms = atoi(optarg);
			break;
		case 'w':
			within_ms = atoi(optarg);
			break;
		case 'D':
			if (sscanf(optarg, "%d:%d", &other, &other_oper) != 2)
				exit(2);
			break;
		case 'g':
			group_file = optarg;
			break;
		default:
			exit(2);
		}
	}
	if (!keys)
		keys = records;
}

int main(int argc, char **argv)
{
	int status, failed = 0, i;
	const char *prefix;
	pid_t pid[MOST_MEMBERS] = { 0 }, ended_pid;

	read_options(argc, argv);
	members = argc - optind - 1;
	if (argc - optind < 3 || members > MOST_MEMBERS || ops > MOST_OPS)
		errx(2, "usage: tree_member [OPTION...] PREFIX PARENT...");
	overhead = mmap(NULL, sizeof(*overhead), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (overhead == MAP_FAILED)
		err(1, "mmap");
	prefix = argv[optind];
	for (i = 0; i < (int)members; i++) {
		char *end;

		parent[i] = i ? (int)strtol(argv[optind + 1 + i], &end, 10) : -1;
		role[i] = i ? *end : 0;
	}
	for (i = 0; i < (int)members; i++) {
		if (role[i] == 'r' || role[i] == 'x')
			continue;
		pid[i] = fork();
		if (!pid[i])
			run_member(prefix, i);
	}
	while ((ended_pid = wait(&status)) > 0)
		if (dies < 0 || ended_pid != pid[dies])
			failed |= status;
	printf("overhead %llu\n", (unsigned long long)*overhead);
	return failed ? 1 : 0;
}
