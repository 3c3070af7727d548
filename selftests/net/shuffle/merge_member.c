// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records merged by key on their way through hosts (SHUFFLE_CMSG_MERGE) and relays: the members of
 * a tree on hosts of their own.  The root compares what it gets with what it can make of all
 * members' records itself.
 *
 *	merge_member [OPTION...] PREFIX PARENT...
 *
 *	-6		IPv6
 *	-k		with a group key: that of sht_set_key(fd, 4711)
 *	-t		records in any order, merged in tables
 *	-n RECORDS	of each member (1000)
 *	-K KEYS		of these, other keys (as many as records)
 *	-O OPER		number of the operator (1, SUM)
 *	-o NUMBER	of the first operation (1)
 *	-c COUNT	operations, all at once (1)
 *	-i MS		idle timeout
 *	-e ERRNO	all operations must fail at the root with this error
 *	-A RANK		the relay of this rank gives its result to all leaves that have records, too
 *	-g FILE		the group as member h sees it is in FILE.<h>, a line ADDRESS:PORT[@LOCAL]
 *			for each member; IPv4 only
 *
 * Member h is in the namespace PREFIXh<h>.  PARENT of the first one, the root, is "-".  A member
 * with an r behind its parent is a relay, which somebody else has made; one with an f has no
 * records and merges what comes; one that is x takes no part.  Exit status 1 when anything has
 * failed.
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
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "merge_pairs.h"
#include "shtest.h"
#include "shuffle.h"

#define MOST_MEMBERS	64
#define MOST_OPS	256
#define PORT		7000
#define SECONDS		300

static unsigned int members, oper = SHUFFLE_MERGE_SUM, ops = 1, idle_ms;
static uint64_t first = 1, records = 1000, keys;
static int parent[MOST_MEMBERS], expected, gives;
static char role[MOST_MEMBERS];
static bool v6, keyed, table;
static const char *group_file;

static bool has_children(unsigned int rank)
{
	unsigned int i;

	for (i = 1; i < members; i++)
		if (role[i] != 'x' && parent[i] == (int)rank)
			return true;
	return false;
}

/* Does a member read what all are merged into? */
static bool reads(unsigned int rank)
{
	return !rank || (gives && !role[rank] && !has_children(rank));
}

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
		sht_addr(&edges[i].member, SHT_RACK, v6, i, PORT);
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

static int set_group(int fd, const struct shuffle_edge *edges, unsigned int rank)
{
	struct {
		struct shuffle_group g;
		struct shuffle_edge edges[MOST_MEMBERS];
	} group = { .g = { .size = sizeof(group.g), .member_size = sizeof(group.edges[0]),
			   .rank = rank, .count = members } };

	memcpy(group.edges, edges, members * sizeof(*edges));
	return setsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, &group,
			  sizeof(group.g) + members * sizeof(*edges));
}

static int open_member(unsigned int rank)
{
	struct shuffle_edge m[MOST_MEMBERS];
	int fd;

	read_edges(rank, m);
	fd = socket(sht_family(), SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&m[rank].member, sizeof(m[0].member)) ||
	    (keyed && sht_set_key(fd, 4711)) ||
	    (idle_ms && setsockopt(fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle_ms,
				   sizeof(idle_ms))))
		err(1, "member %u: no socket", rank);
	if (set_group(fd, m, rank))
		err(1, "member %u: no group", rank);
	return fd;
}

/* The records of a member in an operation.  With as many keys as records each key is there once. */
static void make_records(struct pair *p, unsigned int rank, uint64_t op)
{
	uint64_t i;

	for (i = 0; i < records; i++) {
		uint64_t x = sht_mix(op << 40 ^ (uint64_t)rank << 32 ^ i);

		p[i].key = htobe64(sht_mix(keys == records ? i : x % keys));
		p[i].value = htobe64(oper == SHUFFLE_MERGE_COUNT ? 1 : x);
	}
	if (!table)
		qsort(p, records, sizeof(*p), by_key);
}

static unsigned int senders(void)
{
	unsigned int i, n = 0;

	for (i = 1; i < members; i++)
		n += !role[i];
	return n;
}

static void start(int fd, unsigned int rank, uint64_t op, const struct pair *p)
{
	struct shuffle_merge merge = {
		.oper = oper, .to = reads(rank) ? (int)rank : parent[rank],
		.flags = !reads(rank) && !table ? SHUFFLE_MERGE_SORTED : 0,
		.records = !reads(rank) && table ? 4096 : 0,
		.senders = reads(rank) ? senders() : 0,
	};
	uint64_t lens[MOST_MEMBERS], absent = 0;
	const void *bufs[MOST_MEMBERS];
	struct shuffle_tx tx;
	unsigned int i;

	for (i = 0; i < members; i++) {
		bufs[i] = p;
		lens[i] = SHUFFLE_ABSENT;
		if (!i || role[i] == 'x' || parent[i] != (int)rank)
			absent |= 1ULL << i;
	}
	if (rank && reads(rank))
		absent &= ~(1ULL << gives);
	if (rank && !has_children(rank)) {
		lens[parent[rank]] = records * sizeof(*p);
	} else if (rank) {
		lens[parent[rank]] = 0;
		if (!role[rank]) {
			lens[rank] = records * sizeof(*p);
			absent &= ~(1ULL << rank);
		}
	}
	shuffle_tx_init(&tx, op, bufs, lens, members, 0);
	shuffle_tx_absent(&tx, &absent);
	if (has_children(rank) || reads(rank))
		shuffle_tx_merge(&tx, &merge);
	if (shuffle_tx_finish(fd, &tx))
		err(1, "member %u: its row", rank);
}

/**
 * struct result - what the root, or another one that reads, has of an operation
 * @p: records
 * @bytes: of them
 */
struct result {
	struct pair	*p;
	size_t		bytes;
};

static void check(const struct result *r, uint64_t op)
{
	struct pair *want = malloc((members * records + 1) * sizeof(*want));
	size_t n = 0, m;
	unsigned int i;

	for (i = 1; i < members; i++)
		if (!role[i]) {
			make_records(want + n, i, op);
			n += records;
		}
	n = merge_all(want, n, oper);
	m = merge_all(r->p, r->bytes / sizeof(*want), oper);
	if (n != m || memcmp(want, r->p, n * sizeof(*want)))
		errx(1, "operation %llu: %zu records, and there should be %zu, or others",
		     (unsigned long long)op, m, n);
	free(want);
}

/* Read until all operations have ended. */
static void read_all(int fd, unsigned int rank)
{
	static struct result result[MOST_OPS];
	static unsigned char buf[1 << 20];
	struct shuffle_record recs[16];
	unsigned int left = ops, i, n;

	while (left) {
		const unsigned char *from = buf;

		n = 16;
		if (sht_recv(fd, buf, sizeof(buf), recs, &n, 0) < 0)
			err(1, "member %u: recvmsg", rank);
		for (i = 0; i < n; i++) {
			struct result *r = &result[recs[i].op_id - first];

			if (recs[i].type == SHUFFLE_RECORD_DATA) {
				r->p = realloc(r->p, r->bytes + recs[i].len + 1);
				memcpy((char *)r->p + r->bytes, from, recs[i].len);
				r->bytes += recs[i].len;
				from += recs[i].len;
			}
			if (recs[i].type == SHUFFLE_RECORD_FAILED &&
			    (int)recs[i].error != expected && (reads(rank) || !expected))
				errx(1, "member %u: operation %llu: %s", rank,
				     (unsigned long long)recs[i].op_id, strerror(recs[i].error));
			if (recs[i].type == SHUFFLE_RECORD_DONE && reads(rank)) {
				if (expected)
					errx(1, "member %u has what it cannot have", rank);
				check(r, recs[i].op_id);
			}
			left -= recs[i].type == SHUFFLE_RECORD_DONE ||
				recs[i].type == SHUFFLE_RECORD_FAILED;
		}
	}
}

static void run_member(const char *prefix, unsigned int rank)
{
	struct pair *p = malloc((records + 1) * sizeof(*p));
	char ns[64];
	uint64_t op;
	int fd;

	snprintf(ns, sizeof(ns), "%sh%u", prefix, rank);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SECONDS);
	if (!p || sht_enter_netns(ns))
		err(1, "member %u: %s", rank, ns);
	fd = open_member(rank);
	for (op = first; op < first + ops; op++) {
		make_records(p, rank, op);
		start(fd, rank, op, p);
	}
	read_all(fd, rank);
	exit(0);
}

static void read_options(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "6ktA:g:n:K:O:o:c:i:e:")) != -1) {
		switch (c) {
		case '6':
			v6 = true;
			break;
		case 'k':
			keyed = true;
			break;
		case 't':
			table = true;
			break;
		case 'A':
			gives = atoi(optarg);
			break;
		case 'g':
			group_file = optarg;
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
		case 'i':
			idle_ms = atoi(optarg);
			break;
		case 'e':
			expected = atoi(optarg);
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

	read_options(argc, argv);
	members = argc - optind - 1;
	if (argc - optind < 3 || members > MOST_MEMBERS || ops > MOST_OPS)
		errx(2, "usage: merge_member [OPTION...] PREFIX PARENT...");
	prefix = argv[optind];
	for (i = 0; i < (int)members; i++) {
		char *end;

		parent[i] = i ? (int)strtol(argv[optind + 1 + i], &end, 10) : -1;
		role[i] = i ? *end : 0;
	}
	for (i = 0; i < (int)members; i++)
		if (role[i] != 'r' && role[i] != 'x' && !fork())
			run_member(prefix, i);
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}
