// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The same all-to-all as tcp_bench, over AF_SHUFFLE sockets.
 *
 * One process per host of a rack; every host submits its row at the common
 * start and receives its column.  Every byte is compared with what was sent.
 *
 * usage: shuffle_bench [options] MATRIX
 *   -c NAME     name of the case, for the report
 *   -t NAME     name of the transport, for the report (default shuffle)
 *   -r RUN      number of this run, for the report
 *   -w ROUNDS   warm-up rounds (default 1)
 *   -n ROUNDS   measured rounds (default 1)
 *   -b BYTES    socket buffers (default: twice the row and the column, + 1 MiB)
 *   -A HOW      how a program hands its row over, with the send buffer as it is:
 *               poll (by copy, when there is room), want (by copy, what is asked for),
 *               thread (one that blocks)
 *   -j NS       every host starts up to so much later, at random (default 0)
 *   -s NS       sampling interval of the port queues (default 2000, 0: off)
 *   -R BPS -T NS  raw link rate and round trip of the lower bound
 *   -u          the rack has no queues: see struct bench_options
 *   -a NS       start the first measured round at this time of CLOCK_MONOTONIC
 *   -x MATRIX   what else the network carries: part of the lower bound
 *   -k RACKS:PERCENT  trunks of the racks (rack.sh racks= core=)
 *   -P NS:BYTES  hosts stop half of the time, so long on average (rack.sh nic=1);
 *               the burst of a link that was idle
 *   -F          a TCP flow from each host to the next beside it
 *   -p PORT     instead of the program's own
 *   -B CPU[,CPU...]  host i stays on the i-th of these, which begin anew at their end
 *   -K          the group has a key: every record carries a tag
 *   -v          print the module's counters of every measured round
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "members.h"

#define PORT		7018	/* unless -p */
#define RECORDS		256
#define COUNTERS	128
#define PATTERN		65536
#define SCRATCH		(1U << 20)

struct counters {
	unsigned int count;
	char name[COUNTERS][32];
	uint64_t value[COUNTERS];
};

static uint64_t op_base;
static int buffer;
static bool verbose, keyed;
static const char *how;		/* -A */
static struct counters *counters;	/* shared, one per host: growth in the round */
static struct counters before;

/* this host's */
static int fd;
static const void **bufs;
static uint64_t *lens;
static void *buf;
static size_t size;
static uint64_t column;		/* bytes of all messages to this host */

/* Content: a window into these bytes that depends on sender and receiver. */
static unsigned char *pattern;
static uint64_t longest;

static bool handed_over_by(const char *name)
{
	return how && !strcmp(how, name);
}

static const unsigned char *content(unsigned int from, unsigned int to)
{
	return pattern + (from * 2654435761U + to * 40503U) % PATTERN;
}

static void make_pattern(void)
{
	uint64_t i, x = 88172645463325252ULL;

	for (i = 0; i < (uint64_t)bench_hosts * bench_hosts; i++)
		if (bench_matrix->len[i] > longest)
			longest = bench_matrix->len[i];
	pattern = malloc(longest + PATTERN + 8);
	if (!pattern)
		bench_die("out of memory");
	for (i = 0; i < longest + PATTERN; i += 8) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(pattern + i, &x, 8);
	}
}

static void read_counters(struct counters *c)
{
	char names[8192], values[8192], *n, *v, *save_n, *save_v;
	FILE *f = fopen("/proc/self/net/shuffle/netstat", "re");

	c->count = 0;
	if (!f)
		return;
	while (fgets(names, sizeof(names), f) && fgets(values, sizeof(values), f)) {
		n = strtok_r(names, " \n", &save_n);
		v = strtok_r(values, " \n", &save_v);
		while (n && v && c->count < COUNTERS) {
			n = strtok_r(NULL, " \n", &save_n);
			v = strtok_r(NULL, " \n", &save_v);
			if (!n || !v)
				break;
			snprintf(c->name[c->count], sizeof(c->name[0]), "%s", n);
			c->value[c->count++] = strtoull(v, NULL, 10);
		}
	}
	fclose(f);
}

static void fail(int error, const char *what, unsigned int peer)
{
	struct bench_host *h = &bench->host[bench_self];

	if (h->error)
		return;
	h->error = error ? error : EPROTO;
	snprintf(h->why, sizeof(h->why), "%s (peer %u)", what, peer);
}

/* Returns true when the operation has ended. */
static bool do_receive(uint64_t op, const struct shuffle_tx *tx)
{
	struct bench_host *h = &bench->host[bench_self];
	struct shuffle_record rec[RECORDS];
	bool ended = false;

	for (;;) {
		unsigned int count = RECORDS, i;
		const unsigned char *p = buf;
		ssize_t n;

		n = shuffle_recv(fd, buf, size, rec, &count, MSG_DONTWAIT);
		if (n < 0) {
			if (errno == EAGAIN)
				return ended;
			fail(errno, "recv", bench_self);
			return true;
		}
		for (i = 0; i < count; i++) {
			const struct shuffle_record *r = &rec[i];

			if (r->op_id != op)
				continue;
			switch (r->type) {
			case SHUFFLE_RECORD_DATA:
				if (r->rank >= bench_hosts ||
				    r->msg_len != matrix_len(bench_matrix, r->rank, bench_self) ||
				    r->offset + r->len > r->msg_len ||
				    (!bench_opt.unshaped &&
				     memcmp(p, content(r->rank, bench_self) + r->offset, r->len)))
					fail(EBADMSG, "wrong content", r->rank);
				p += r->len;
				h->rx_bytes += r->len;
				/* a clock read is not free in virtual time */
				if (r->flags & SHUFFLE_RECORD_LAST && h->rx_bytes == column)
					h->last_ns = bench_now();
				break;
			case SHUFFLE_RECORD_WANT:
				if (shuffle_tx_answer(fd, tx, r))
					fail(errno, "send", r->rank);
				break;
			case SHUFFLE_RECORD_DONE:
				ended = true;
				break;
			case SHUFFLE_RECORD_FAILED:
				fail(r->error, "failed", bench_self);
				ended = true;
				break;
			case SHUFFLE_RECORD_MISSING:
				fail(ETIMEDOUT, "missing", r->rank);
				break;
			}
		}
		if (count < RECORDS && n < (ssize_t)size / 2)
			return ended;	/* there was no more */
	}
}

static void prepare(unsigned int round)
{
	(void)round;
	read_counters(&before);
}

static void *writer(void *arg)
{
	if (shuffle_tx_finish(fd, arg))
		fail(errno, "send", bench_self);
	return NULL;
}

static void run(unsigned int round)
{
	bool sending = !handed_over_by("thread"), want = handed_over_by("want");
	uint64_t op = op_base + round;
	struct shuffle_tx tx;
	pthread_t thread;

	/* the operation should tell first why it does not end */
	shuffle_tx_init(&tx, op, bufs, lens, bench_hosts, (BENCH_ROUND_S - 5) * 1000);
	if (!sending && pthread_create(&thread, NULL, writer, &tx))
		bench_die("no thread");
	for (;;) {
		struct pollfd p = { .fd = fd };
		int n = 0;

		if (sending) {
			n = want ? shuffle_tx_want(fd, &tx) : shuffle_tx_step(fd, &tx);
			if (n < 0)
				fail(errno, "send", bench_self);
			sending = n == 0;
		}
		if (do_receive(op, &tx))
			break;
		p.events = POLLIN | (sending ? POLLOUT : 0);
		n = poll(&p, 1, -1);
		if (n < 0) {
			fail(ETIMEDOUT, "the operation did not end", bench_self);
			break;
		}
	}
	if (handed_over_by("thread"))
		pthread_join(thread, NULL);
}

static void finish(unsigned int round)
{
	struct counters *now = &counters[bench_self];
	unsigned int i;

	(void)round;
	read_counters(now);
	for (i = 0; i < now->count && i < before.count; i++)
		now->value[i] -= before.value[i];
}

/* This host's socket in the group of all hosts. */
static int open_socket(const struct sockaddr_shuffle *members)
{
	static const unsigned char key[SHUFFLE_KEY_BYTES] = "benchmark's key";
	struct sockaddr_shuffle addr = members[bench_self];

	/* a thread waits in sendmsg(), the other one in poll() */
	fd = shuffle_bind(&addr, SOCK_CLOEXEC | (handed_over_by("thread") ? 0 : SOCK_NONBLOCK));
	if (fd < 0)
		return -1;
	if (keyed && setsockopt(fd, SOL_SHUFFLE, SHUFFLE_KEY, key, sizeof(key)))
		return -1;
	return shuffle_join(fd, members, bench_hosts, bench_self);
}

static void host_main(void)
{
	static const struct bench_steps steps = { prepare, run, finish };
	struct sockaddr_shuffle *members;
	uint64_t row = 0;
	unsigned int i;

	members = bench_members();
	bufs = calloc(bench_hosts, sizeof(*bufs));
	lens = calloc(bench_hosts, sizeof(*lens));
	if (!bufs || !lens)
		bench_die("out of memory");
	for (i = 0; i < bench_hosts; i++) {
		bufs[i] = content(bench_self, i);
		lens[i] = matrix_len(bench_matrix, bench_self, i);
		row += lens[i];
		column += matrix_len(bench_matrix, i, bench_self);
	}
	/* long messages come in parts, to tcp_bench as well; short ones many at a time */
	size = (longest < SCRATCH ? longest : SCRATCH) + SCRATCH;
	buf = malloc(size);
	if (open_socket(members) || !buf)
		bench_die("host %u: socket: %s", bench_self, strerror(errno));
	/* The kernel doubles what it is told. */
	i = buffer ? (unsigned int)buffer / 2 : row + (1U << 19);
	if (!how && setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &i, sizeof(i)))
		bench_die("SO_SNDBUFFORCE: %s", strerror(errno));
	i = buffer ? (unsigned int)buffer / 2 : column + (1U << 19);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &i, sizeof(i)))
		bench_die("SO_RCVBUFFORCE: %s", strerror(errno));
	bench_wait();
	bench_host_rounds(&steps);
	close(fd);
}

/* " name=value" of all counters that have grown, summed over the hosts */
static const char *sum_counters(void)
{
	static char text[4096];
	unsigned int i, k;
	size_t len = 0;

	*text = '\0';
	for (k = 0; k < counters[0].count; k++) {
		uint64_t sum = 0;

		for (i = 0; i < bench_hosts; i++)
			sum += counters[i].value[k];
		if (sum && len < sizeof(text))
			len += snprintf(text + len, sizeof(text) - len, "%s%s=%llu", len ? " " : "",
					counters[0].name[k], (unsigned long long)sum);
	}
	return text;
}

static void usage(void)
{
	fprintf(stderr, "usage: shuffle_bench " BENCH_USAGE " [-b BYTES] [-A poll|want|thread] [-K] [-v] MATRIX\n");
	exit(2);
}

int main(int argc, char **argv)
{
	int opt;

	bench_opt.transport = "shuffle";
	bench_opt.warmup = 1;
	while ((opt = getopt(argc, argv, BENCH_OPTIONS "b:A:Kv")) != -1) {
		if (bench_option(opt, optarg))
			continue;
		switch (opt) {
		case 'b':
			buffer = atoi(optarg);
			break;
		case 'A':
			how = optarg;
			break;
		case 'K':
			keyed = true;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			usage();
		}
	}
	if (!bench_opt.port)
		bench_opt.port = PORT;
	if (optind + 1 != argc)
		usage();
	bench_init(bench_read_matrix(argv[optind]));
	bench_queues_open(true);
	make_pattern();
	counters = mmap(NULL, bench_hosts * sizeof(*counters), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counters == MAP_FAILED)
		bench_die("mmap: %s", strerror(errno));
	op_base = (uint64_t)bench_now() << 8;
	bench_fork(host_main);
	bench_wait();
	return bench_rounds(verbose ? sum_counters : NULL);
}
