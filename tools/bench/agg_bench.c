// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records merged by key on their way along trees of shuffle-plan, from a common start until the
 * last receiver has the last byte.
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
 * A server that merges is a member with a process, for in other trees it sends or receives; its
 * kernel merges all the same.  Results are checked outside the time that is measured: the records'
 * order, their number, and the sum of value times a hash of the key, to which each sender adds.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agg.h"
#include "agg_tree.h"

#define PORT		7018	/* unless -p */
#define RECORDS		64
#define MOST_HOSTS	64

/* What is shared: the checksum of what each host has sent into each tree in the round. */
struct sums {
	uint64_t sent[MOST_HOSTS];
};

/* What a receiver has of one member */
struct stream {
	struct agg_pair *pair;
	size_t bytes;
};

static struct agg_trees trees;
static struct sums *sums;
static uint64_t op_base, records = 65536;
static double delta, none_ns;
static bool table;

/* this host's */
static int fd;
static unsigned char *buf;
static size_t size = 4 << 20;
static struct agg_pair *own;
static unsigned int roles;		/* trees in which we take part */
static struct stream stream[MOST_HOSTS];	/* of our own tree, as its receiver */
static const struct agg_tree *ours;

static uint64_t weight(const struct agg_pair *p)
{
	return be64toh(p->value) * (agg_mix(be64toh(p->key)) | 1);
}

/* Is record i one that all senders have?  The others are spread evenly. */
static bool is_common(uint64_t i)
{
	return (uint64_t)((i + 1) * delta) == (uint64_t)(i * delta);
}

/* Ascending keys with gaps of random length, as those of a hash are. */
static void make_records(unsigned int round)
{
	uint64_t i;

	for (i = 0; i < records; i++) {
		uint64_t who = is_common(i) ? 0 : bench_self + 1;

		own[i].key = htobe64(i << 40 | agg_mix(i << 8 | who) >> 24);
		own[i].value = htobe64(agg_mix(i ^ (uint64_t)bench_self << 32 ^
					   (uint64_t)round << 48) >> 16);
	}
}

static void prepare(unsigned int round)
{
	uint64_t sum = 0, i;
	unsigned int t;

	make_records(round);
	for (i = 0; i < records; i++)
		sum += weight(&own[i]);
	for (t = 0; t < trees.n; t++) {
		const struct agg_tree *tree = &trees.tree[t];

		sums[t].sent[bench_self] =
			agg_sends(tree, bench_self) && tree->root != bench_self ? sum : 0;
	}
	for (i = 0; i < bench_hosts; i++)
		stream[i].bytes = 0;
}

/* Our row in one tree: what we have goes to our parent, or to ourselves to be merged. */
static void start(const struct agg_tree *tree, uint64_t op)
{
	bool root = tree->root == bench_self, inner = agg_children(tree, bench_self);
	bool has = agg_sends(tree, bench_self) && !root;
	struct {
		struct shuffle_row row;
		uint64_t lens[MOST_HOSTS];
	} row = { { .size = sizeof(row.row), .op_id = op, .count = bench_hosts }, { 0 } };
	struct {
		struct shuffle_absent head;
		uint64_t bits;
	} absent = { { .size = sizeof(absent.head), .words = 1 }, 0 };
	struct shuffle_merge merge = {
		.size = sizeof(merge), .oper = SHUFFLE_MERGE_SUM,
		.to = root ? bench_self : (unsigned int)tree->parent[bench_self],
		.flags = root || table ? 0 : SHUFFLE_MERGE_SORTED,
		.senders = root ? agg_senders(tree) : 0,
	};
	size_t bytes = has ? records * sizeof(*own) : 0;
	struct iovec iov = { own, bytes };
	char control[AGG_CONTROL] __attribute__((aligned(8))) = { 0 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control };
	unsigned int i;
	ssize_t n;

	for (i = 0; i < bench_hosts; i++) {
		row.lens[i] = SHUFFLE_ABSENT;
		if (tree->parent[i] != (int)bench_self)
			absent.bits |= 1ULL << i;
	}
	if (!root)
		row.lens[tree->parent[bench_self]] = inner ? 0 : bytes;
	if (!root && inner && has) {
		row.lens[bench_self] = bytes;
		absent.bits &= ~(1ULL << bench_self);
	}
	agg_add_cmsg(&msg, SHUFFLE_CMSG_ROW, &row,
		     sizeof(row.row) + bench_hosts * sizeof(row.lens[0]));
	agg_add_cmsg(&msg, SHUFFLE_CMSG_ABSENT, &absent, sizeof(absent));
	if (inner)
		agg_add_cmsg(&msg, SHUFFLE_CMSG_MERGE, &merge, sizeof(merge));
	n = sendmsg(fd, &msg, MSG_NOSIGNAL);
	if (n != (ssize_t)bytes)
		agg_fail(n < 0 ? errno : EAGAIN, "sendmsg", tree->root);
}

static void keep(const struct shuffle_record *r, const unsigned char *from)
{
	struct bench_host *h = &bench->host[bench_self];
	struct stream *s = &stream[r->rank];

	if (s->bytes + r->len > records * bench_hosts * sizeof(*s->pair)) {
		agg_fail(EMSGSIZE, "too much", r->rank);
		return;
	}
	memcpy((char *)s->pair + s->bytes, from, r->len);
	s->bytes += r->len;
	if (r->flags & SHUFFLE_RECORD_LAST)
		h->last_ns = bench_now();
}

/* Returns how many operations have ended. */
static unsigned int receive(void)
{
	struct shuffle_record rec[RECORDS];
	unsigned int count = RECORDS, ended = 0, i;
	const unsigned char *p = buf;

	if (shuffle_recv(fd, buf, size, rec, &count, 0) < 0) {
		agg_fail(errno, "recv", bench_self);
		return roles;
	}
	for (i = 0; i < count; i++) {
		switch (rec[i].type) {
		case SHUFFLE_RECORD_DATA:
			keep(&rec[i], p);
			p += rec[i].len;
			break;
		case SHUFFLE_RECORD_FAILED:
			agg_fail(rec[i].error, "failed", rec[i].op_id - op_base);
			ended++;
			break;
		case SHUFFLE_RECORD_DONE:
			ended++;
			break;
		}
	}
	return ended;
}

static void run(unsigned int round)
{
	unsigned int t, left = roles;

	for (t = 0; t < trees.n; t++)
		if (agg_in(&trees.tree[t], bench_self))
			start(&trees.tree[t], op_base + (uint64_t)round * trees.n + t);
	while (left && !bench->host[bench_self].error)
		left -= receive();
}

/* What has come is what was sent, and has the length that the plan says. */
static void check(void)
{
	struct sums *s = &sums[ours - trees.tree];
	uint64_t want = 0, sum = 0, k;
	unsigned int i;

	for (i = 0; i < bench_hosts; i++) {
		const struct agg_pair *p = stream[i].pair;

		want += s->sent[i];
		if (ours->parent[i] != (int)bench_self)
			continue;
		if (!table && stream[i].bytes != agg_flow(ours, i, records, delta) * sizeof(*p))
			agg_fail(EBADMSG, "other length than the plan's", i);
		for (k = 0; k < stream[i].bytes / sizeof(*p); k++) {
			sum += weight(&p[k]);
			if (!table && k && be64toh(p[k - 1].key) >= be64toh(p[k].key))
				agg_fail(EBADMSG, "out of order", i);
		}
	}
	if (sum != want)
		agg_fail(EBADMSG, "wrong sum", bench_self);
}

static void finish(unsigned int round)
{
	(void)round;
	if (ours && !bench->host[bench_self].error)
		check();
	agg_has_come();
}

static void make_buffers(void)
{
	unsigned int i;

	own = calloc(records, sizeof(*own));
	buf = malloc(size);
	if (!own || !buf)
		bench_die("out of memory");
	for (i = 0; i < bench_hosts && ours; i++) {
		if (ours->parent[i] != (int)bench_self)
			continue;
		/* touched where something comes */
		stream[i].pair = mmap(NULL, records * bench_hosts * sizeof(struct agg_pair),
				      PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (stream[i].pair == MAP_FAILED)
			bench_die("out of memory");
	}
	agg_buffers(fd);
}

static void host_main(void)
{
	static const struct bench_steps steps = { prepare, run, finish };
	struct sockaddr_shuffle *members = bench_members();
	unsigned int t;

	for (t = 0; t < trees.n; t++) {
		roles += agg_in(&trees.tree[t], bench_self);
		if (trees.tree[t].root == bench_self)
			ours = &trees.tree[t];
	}
	fd = shuffle_open(members, bench_hosts, bench_self, SOCK_CLOEXEC);
	if (fd < 0)
		bench_die("host %u: socket: %s", bench_self, strerror(errno));
	make_buffers();
	bench_wait();
	bench_host_rounds(&steps);
	close(fd);
}

/* For the report */
static const char *bound_of_none(void)
{
	static char text[64];

	if (none_ns)
		snprintf(text, sizeof(text), "none_bound_ns=%.0f", none_ns);
	return text;
}

static void usage(void)
{
	fprintf(stderr, "usage: agg_bench -G TABLE [-M RECORDS] [-D DELTA] [-Z] [-W WAYS] "
		BENCH_USAGE " MATRIX\n");
	exit(2);
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
	sums = mmap(NULL, trees.n * sizeof(*sums), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sums == MAP_FAILED)
		bench_die("mmap: %s", strerror(errno));
	op_base = (uint64_t)bench_now() << 8;
	bench_fork(host_main);
	bench_wait();
	return bench_rounds(bound_of_none);
}
