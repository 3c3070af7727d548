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
 *   -j NS       every host starts up to so much later, at random (default 0)
 *   -s NS       sampling interval of the port queues (default 2000, 0: off)
 *   -R BPS -T NS  raw link rate and round trip of the lower bound
 *   -v          print the module's counters of every measured round
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/shuffle.h"
#include "bench.h"

#define PORT		7018
#define RECORDS		256
/* Virtual time is free; a round that takes longer has failed. */
#define ROUND_LIMIT_MS	30000
#define COUNTERS	128
#define PATTERN		65536

struct counters {
	unsigned int count;
	char name[COUNTERS][32];
	uint64_t value[COUNTERS];
};

static unsigned int run_number = 1, warmup = 1, rounds = 1, self;
static uint64_t op_base;
static int buffer;
static bool verbose;
static int64_t jitter;
static struct counters *counters;	/* shared, one per host: growth in the round */

/* Content: a window into these bytes that depends on sender and receiver. */
static unsigned char *pattern;
static uint64_t longest;

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
	struct bench_host *h = &bench->host[self];

	if (h->error)
		return;
	h->error = error ? error : EPROTO;
	snprintf(h->why, sizeof(h->why), "%s (peer %u)", what, peer);
}

/* Returns true when the operation has ended. */
static bool do_receive(int fd, uint64_t op, void *buf, size_t size)
{
	struct bench_host *h = &bench->host[self];
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
			fail(errno, "recv", self);
			return true;
		}
		for (i = 0; i < count; i++) {
			const struct shuffle_record *r = &rec[i];

			if (r->op_id != op)
				continue;
			switch (r->type) {
			case SHUFFLE_RECORD_DATA:
				if (r->rank >= bench_hosts ||
				    r->msg_len != matrix_len(bench_matrix, r->rank, self) ||
				    r->offset + r->len > r->msg_len ||
				    memcmp(p, content(r->rank, self) + r->offset, r->len))
					fail(EBADMSG, "wrong content", r->rank);
				p += r->len;
				h->rx_bytes += r->len;
				if (r->flags & SHUFFLE_RECORD_LAST)
					h->last_ns = bench_now();
				break;
			case SHUFFLE_RECORD_DONE:
				ended = true;
				break;
			case SHUFFLE_RECORD_FAILED:
				fail(r->error, "failed", self);
				ended = true;
				break;
			case SHUFFLE_RECORD_MISSING:
				fail(ETIMEDOUT, "missing", r->rank);
				break;
			}
		}
		if (!count)
			return ended;
	}
}

static void host_round(int fd, uint64_t op, const void *const *bufs, const uint64_t *lens,
		       void *buf, size_t size)
{
	struct bench_host *h = &bench->host[self];
	struct counters before, *now = &counters[self];
	struct shuffle_tx tx;
	bool sending = true;
	unsigned int i;

	bench_wait();		/* the results of the round before are read */
	memset(h, 0, sizeof(*h));
	read_counters(&before);
	bench_wait();		/* the parent picks the start */
	bench_wait();
	bench_sleep_until(bench_start_of(self, run_number, jitter));
	h->start_ns = bench_now();
	h->last_ns = h->start_ns;
	shuffle_tx_init(&tx, op, bufs, lens, bench_hosts, ROUND_LIMIT_MS);
	for (;;) {
		struct pollfd p = { .fd = fd };
		int n = 0;

		if (sending) {
			n = shuffle_tx_step(fd, &tx);
			if (n < 0)
				fail(errno, "send", self);
			sending = n == 0;
		}
		if (do_receive(fd, op, buf, size))
			break;
		p.events = POLLIN | (sending ? POLLOUT : 0);
		n = poll(&p, 1, ROUND_LIMIT_MS + 5000);
		if (n == 0) {
			fail(ETIMEDOUT, "the operation did not end", self);
			break;
		}
	}
	h->done_ns = bench_now();
	bench_wait();		/* all have finished */
	read_counters(now);
	for (i = 0; i < now->count && i < before.count; i++)
		now->value[i] -= before.value[i];
	bench_wait();		/* the results are there */
}

static void host_main(void)
{
	struct sockaddr_shuffle *members;
	uint64_t *lens, row = 0, col = 0;
	const void **bufs;
	unsigned int i;
	char ip[32];
	size_t size;
	void *buf;
	int fd;

	bench_enter(self);
	members = calloc(bench_hosts, sizeof(*members));
	bufs = calloc(bench_hosts, sizeof(*bufs));
	lens = calloc(bench_hosts, sizeof(*lens));
	if (!members || !bufs || !lens)
		bench_die("out of memory");
	for (i = 0; i < bench_hosts; i++) {
		uint32_t a = bench_addr(i);

		snprintf(ip, sizeof(ip), "%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255,
			 a & 255);
		if (shuffle_addr(&members[i], ip, PORT))
			bench_die("%s", ip);
		bufs[i] = content(self, i);
		lens[i] = matrix_len(bench_matrix, self, i);
		row += lens[i];
		col += matrix_len(bench_matrix, i, self);
	}
	size = longest + (1U << 20);
	buf = malloc(size);
	fd = shuffle_open(members, bench_hosts, self, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0 || !buf)
		bench_die("host %u: socket: %s", self, strerror(errno));
	/* The kernel doubles what it is told. */
	i = buffer ? (unsigned int)buffer / 2 : row + (1U << 19);
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &i, sizeof(i)))
		bench_die("SO_SNDBUFFORCE: %s", strerror(errno));
	i = buffer ? (unsigned int)buffer / 2 : col + (1U << 19);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &i, sizeof(i)))
		bench_die("SO_RCVBUFFORCE: %s", strerror(errno));
	bench_wait();
	for (i = 0; i < warmup + rounds; i++)
		host_round(fd, op_base + i, bufs, lens, buf, size);
	close(fd);
	exit(0);
}

/* " name=value" of all counters that have grown, summed over the hosts */
static void sum_counters(char *text, size_t size)
{
	unsigned int i, k;
	size_t len = 0;

	*text = '\0';
	for (k = 0; k < counters[0].count; k++) {
		uint64_t sum = 0;

		for (i = 0; i < bench_hosts; i++)
			sum += counters[i].value[k];
		if (sum && len < size)
			len += snprintf(text + len, size - len, "%s%s=%llu", len ? " " : "",
					counters[0].name[k], (unsigned long long)sum);
	}
}

static void usage(void)
{
	fprintf(stderr, "usage: shuffle_bench [-c NAME] [-t NAME] [-r RUN] [-w ROUNDS] [-n ROUNDS] [-b BYTES] [-j NS] [-s NS] [-R BPS] [-T NS] [-v] MATRIX\n");
	exit(2);
}

int main(int argc, char **argv)
{
	const char *name = "shuffle";
	double rate = 25e9, rtt = 4000;
	long long interval = 2000;
	int opt, failed = 0;
	char text[4096];
	unsigned int i;

	while ((opt = getopt(argc, argv, "c:t:r:w:n:b:j:s:R:T:v")) != -1) {
		switch (opt) {
		case 'c':
			bench_case = optarg;
			break;
		case 't':
			name = optarg;
			break;
		case 'r':
			run_number = strtoul(optarg, NULL, 10);
			break;
		case 'w':
			warmup = strtoul(optarg, NULL, 10);
			break;
		case 'n':
			rounds = strtoul(optarg, NULL, 10);
			break;
		case 'b':
			buffer = atoi(optarg);
			break;
		case 'j':
			jitter = atoll(optarg);
			break;
		case 's':
			interval = atoll(optarg);
			break;
		case 'R':
			rate = atof(optarg);
			break;
		case 'T':
			rtt = atof(optarg);
			break;
		case 'v':
			verbose = true;
			break;
		default:
			usage();
		}
	}
	if (optind + 1 != argc)
		usage();
	bench_init(matrix_read(argv[optind]));
	bench_queues_open(true);
	make_pattern();
	counters = mmap(NULL, bench_hosts * sizeof(*counters), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counters == MAP_FAILED)
		bench_die("mmap: %s", strerror(errno));
	op_base = (uint64_t)bench_now() << 8;
	for (i = 0; i < bench_hosts; i++) {
		pid_t pid = fork();

		if (pid < 0)
			bench_die("fork: %s", strerror(errno));
		if (!pid) {
			self = i;
			host_main();
		}
	}
	if (interval)
		bench_sampler_start(interval);
	bench_wait();
	for (i = 0; i < warmup + rounds; i++) {
		struct bench_queues before, after;

		bench_wait();
		bench_wait();
		bench_sleep_until(bench_now() + 500 * NS_PER_MS);
		bench_queues_read(&before);
		bench->start_ns = bench_now() + 5 * NS_PER_MS;
		bench->peak_queue = 0;
		bench->sampling = i >= warmup;
		bench_wait();
		bench_wait();
		bench->sampling = 0;
		bench_wait();
		bench_queues_read(&after);
		if (i < warmup)
			continue;
		sum_counters(text, sizeof(text));
		if (bench_report(name, run_number + i - warmup, rate, rtt, &before, &after,
				 verbose ? text : ""))
			failed = 1;
	}
	bench_sampler_stop();
	while (wait(NULL) > 0)
		;
	return failed;
}
