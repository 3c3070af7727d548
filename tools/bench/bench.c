// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the benchmark programs share.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/gen_stats.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

/* Handles given by rack.sh */
#define HANDLE_CONTROL	0x100000
#define HANDLE_DATA	0x110000

struct bench_shared *bench;
const struct matrix *bench_matrix;
const char *bench_case = "?";
unsigned int bench_hosts;

/* the ports of all hosts, then the trunks' ends */
static unsigned int port_index[2 * BENCH_MAX_HOSTS], port_count;
static unsigned int host_index[BENCH_MAX_HOSTS];
static int host_nl[BENCH_MAX_HOSTS];
static int root_nl = -1;
static pid_t sampler;

void bench_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("bench: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(2);
}

int64_t bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

void bench_sleep_until(int64_t ns)
{
	struct timespec ts = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

int64_t bench_start_of(unsigned int host, unsigned int run, int64_t jitter_ns)
{
	uint64_t x = ((uint64_t)run << 32 | host) + 1;

	if (!jitter_ns)
		return bench->start_ns;
	/* splitmix64 */
	x *= 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return bench->start_ns + (int64_t)((x ^ (x >> 31)) % jitter_ns);
}

const struct matrix *bench_read_matrix(const char *path)
{
	struct wl_error err;
	const struct matrix *m = matrix_read(path, &err);

	if (!m)
		bench_die("%s", err.text);
	return m;
}

void bench_init(const struct matrix *m)
{
	pthread_barrierattr_t attr;
	size_t size;

	if (m->n > BENCH_MAX_HOSTS)
		bench_die("at most %d hosts", BENCH_MAX_HOSTS);
	bench_matrix = m;
	bench_hosts = m->n;
	size = sizeof(*bench) + m->n * sizeof(bench->host[0]);
	bench = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (bench == MAP_FAILED)
		bench_die("mmap: %s", strerror(errno));
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&bench->barrier, &attr, m->n + 1);
}

void bench_wait(void)
{
	pthread_barrier_wait(&bench->barrier);
}

void bench_enter(unsigned int host)
{
	char path[64];
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, 1);
	snprintf(path, sizeof(path), "/run/netns/h%u", host);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		bench_die("%s: %s", path, strerror(errno));
	close(fd);
}

uint32_t bench_addr(unsigned int host)
{
	return (10u << 24 | 18u << 16) + host + 1;
}

static int open_netlink(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		bench_die("netlink: %s", strerror(errno));
	return fd;
}

void bench_queues_open(bool with_hosts)
{
	char name[IF_NAMESIZE];
	unsigned int i;
	int self;

	if (bench_opt.unshaped)
		return;
	self = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	root_nl = open_netlink();
	for (i = 0; i < bench_hosts; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		port_index[i] = if_nametoindex(name);
		if (!port_index[i])
			bench_die("no port %s: run rack.sh up first", name);
	}
	port_count = bench_hosts;
	for (i = 0; i < bench_opt.racks && bench_opt.racks > 1; i++) {
		snprintf(name, sizeof(name), "t%u", i);
		port_index[port_count++] = if_nametoindex(name);
		snprintf(name, sizeof(name), "c%u", i);
		port_index[port_count++] = if_nametoindex(name);
		if (!port_index[port_count - 1])
			bench_die("no trunk %s: run rack.sh up racks=%u first", name,
				  bench_opt.racks);
	}
	for (i = 0; i < bench_hosts && with_hosts; i++) {
		bench_enter(i);
		host_nl[i] = open_netlink();
		host_index[i] = if_nametoindex("eth0");
	}
	if (setns(self, CLONE_NEWNET))
		bench_die("setns: %s", strerror(errno));
	close(self);
}

static void parse_stats(const struct rtattr *nest, struct bench_queue *q)
{
	const struct rtattr *a = RTA_DATA(nest);
	int len = RTA_PAYLOAD(nest);

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type == TCA_STATS_BASIC) {
			struct gnet_stats_basic basic = { 0 };

			memcpy(&basic, RTA_DATA(a), RTA_PAYLOAD(a) < sizeof(basic) ?
			       RTA_PAYLOAD(a) : sizeof(basic));
			q->bytes += basic.bytes;
			q->packets += basic.packets;
		} else if (a->rta_type == TCA_STATS_QUEUE) {
			struct gnet_stats_queue queue;

			memcpy(&queue, RTA_DATA(a), sizeof(queue));
			q->drops += queue.drops;
			q->backlog += queue.backlog;
		}
	}
}

/* Add the counters of one qdisc to q. */
static void read_queue(int nl, unsigned int index, uint32_t handle, struct bench_queue *q)
{
	static unsigned int seq;
	struct {
		struct nlmsghdr n;
		struct tcmsg t;
	} req = {
		.n.nlmsg_len = sizeof(req),
		.n.nlmsg_type = RTM_GETQDISC,
		.n.nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO,
		.n.nlmsg_seq = ++seq,
		.t.tcm_ifindex = index,
		.t.tcm_handle = handle,
	};
	char buf[4096] __attribute__((aligned(8)));
	const struct nlmsghdr *n = (void *)buf;
	ssize_t got;

	if (send(nl, &req, sizeof(req), 0) != sizeof(req))
		bench_die("netlink: %s", strerror(errno));
	do {
		got = recv(nl, buf, sizeof(buf), 0);
		if (got < (ssize_t)sizeof(*n))
			bench_die("netlink: %s", strerror(errno));
	} while (n->nlmsg_seq != seq);
	if (n->nlmsg_type == RTM_NEWQDISC) {
		const struct tcmsg *t = NLMSG_DATA(n);
		const struct rtattr *a = TCA_RTA(t);
		int len = TCA_PAYLOAD(n);

		for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
			if (a->rta_type == TCA_STATS2)
				parse_stats(a, q);
		return;
	}
	bench_die("no qdisc %x: on interface %u: run rack.sh up first", handle >> 16, index);
}

/* Packets that the hosts have sent: what their ports have received. */
static uint64_t read_packets(void)
{
	uint64_t sum = 0, n;
	unsigned int i;
	char path[64];
	FILE *f;

	for (i = 0; i < bench_hosts; i++) {
		snprintf(path, sizeof(path), "/sys/class/net/p%u/statistics/rx_packets", i);
		f = fopen(path, "re");
		if (!f || fscanf(f, "%" SCNu64, &n) != 1)
			bench_die("%s: run rack.sh up first", path);
		fclose(f);
		sum += n;
	}
	return sum;
}

void bench_queues_read(struct bench_queues *q)
{
	unsigned int i;

	memset(q, 0, sizeof(*q));
	if (bench_opt.unshaped) {
		q->sent_packets = read_packets();
		return;
	}
	for (i = 0; i < port_count; i++) {
		struct bench_queue control = { 0 }, data = { 0 };

		read_queue(root_nl, port_index[i], HANDLE_CONTROL, &control);
		read_queue(root_nl, port_index[i], HANDLE_DATA, &data);
		q->port_control.drops += control.drops;
		q->port_data.drops += data.drops;
		if (i >= bench_hosts)
			continue;	/* bytes are counted where they arrive */
		q->port_control.bytes += control.bytes;
		q->port_data.bytes += data.bytes;
	}
	for (i = 0; i < bench_hosts && host_index[i]; i++) {
		read_queue(host_nl[i], host_index[i], HANDLE_CONTROL, &q->host_control);
		read_queue(host_nl[i], host_index[i], HANDLE_DATA, &q->host_data);
	}
}

/* The queue of the fullest trunk that 99 of 100 samples did not exceed, bytes. */
static uint64_t trunk_p99(void)
{
	uint64_t all = 0, seen = 0;
	unsigned int i;

	for (i = 0; i < BENCH_TRUNK_BUCKETS; i++)
		all += bench->trunk_samples[i];
	for (i = 0; i < BENCH_TRUNK_BUCKETS; i++) {
		seen += bench->trunk_samples[i];
		if (seen * 100 >= all * 99)
			break;
	}
	return (uint64_t)i * BENCH_TRUNK_STEP;
}

static void sample(int64_t interval_ns)
{
	uint64_t trunk;
	unsigned int i;
	int64_t next;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, 1);
	root_nl = open_netlink();
	for (;;) {
		int64_t age = bench_now() - bench->start_ns;

		/* Nothing to see between rounds: look once a millisecond; and
		 * less often when a round takes long.
		 */
		next = bench_now();
		if (!bench->sampling)
			next += NS_PER_MS;
		else if (age < 0)
			next = bench->start_ns;
		else
			next += age / 2000 > interval_ns ? age / 2000 : interval_ns;
		bench_sleep_until(next);
		if (!bench->sampling)
			continue;
		trunk = 0;
		for (i = 0; i < port_count; i++) {
			struct bench_queue q = { 0 };

			read_queue(root_nl, port_index[i], HANDLE_DATA, &q);
			if (q.backlog > bench->peak_queue) {
				bench->peak_queue = q.backlog;
				bench->peak_port = i;
			}
			if (i >= bench_hosts && q.backlog > trunk)
				trunk = q.backlog;
		}
		trunk /= BENCH_TRUNK_STEP;
		bench->trunk_samples[trunk < BENCH_TRUNK_BUCKETS ? trunk :
				     BENCH_TRUNK_BUCKETS - 1]++;
	}
}

void bench_sampler_start(int64_t interval_ns)
{
	sampler = fork();
	if (sampler < 0)
		bench_die("fork: %s", strerror(errno));
	if (!sampler) {
		sample(interval_ns);
		exit(0);
	}
}

void bench_sampler_stop(void)
{
	if (sampler > 0) {
		kill(sampler, SIGKILL);
		waitpid(sampler, NULL, 0);
		sampler = 0;
	}
}

int bench_report(unsigned int run, const struct bench_queues *before,
		 const struct bench_queues *after, const char *extra)
{
	const char *transport = bench_opt.transport;
	double bound = bench_bound_ns(run);
	int64_t last = 0, done = 0, late = 0;
	uint64_t sent = 0, retrans = 0;
	unsigned int i, failed = 0;

	for (i = 0; i < bench_hosts; i++) {
		const struct bench_host *h = &bench->host[i];
		uint64_t want = 0;
		unsigned int j;

		for (j = 0; j < bench_hosts; j++)
			want += matrix_len(bench_matrix, j, i);
		if (!h->error && h->rx_bytes == want) {
			if (h->last_ns > last)
				last = h->last_ns;
			if (h->done_ns > done)
				done = h->done_ns;
		} else if (failed++ < 3) {
			fprintf(stderr, "bench: %s %s run %u: host %u received %llu of %llu bytes: %s %s\n",
				bench_case, transport, run, i, (unsigned long long)h->rx_bytes,
				(unsigned long long)want, strerror(h->error), h->why);
		}
		if (h->start_ns - bench->start_ns > late)
			late = h->start_ns - bench->start_ns;
		sent += h->sent_bytes;
		retrans += h->retrans_bytes;
	}
	printf("BENCH case=%s hosts=%u transport=%s run=%u ok=%d completion_ns=%lld done_ns=%lld bound_ns=%.0f slowdown=%.4f late_start_ns=%lld",
	       bench_case, bench_hosts, transport, run, !failed,
	       failed ? -1 : (long long)(last - bench->start_ns),
	       failed ? -1 : (long long)(done - bench->start_ns), bound,
	       failed ? -1 : (last - bench->start_ns) / bound, (long long)late);
	if (bench_opt.unshaped)
		printf(" packets=%llu",
		       (unsigned long long)(after->sent_packets - before->sent_packets));
	printf(" port_drops=%llu host_drops=%llu peak_queue=%llu data_bytes=%llu control_bytes=%llu",
	       (unsigned long long)(after->port_data.drops + after->port_control.drops -
				    before->port_data.drops - before->port_control.drops),
	       (unsigned long long)(after->host_data.drops + after->host_control.drops -
				    before->host_data.drops - before->host_control.drops),
	       (unsigned long long)bench->peak_queue,
	       (unsigned long long)(after->port_data.bytes - before->port_data.bytes),
	       (unsigned long long)(after->port_control.bytes - before->port_control.bytes));
	if (bench_opt.racks > 1)
		printf(" trunk_p99=%llu", (unsigned long long)trunk_p99());
	if (sent)
		printf(" sent_bytes=%llu retrans_bytes=%llu",
		       (unsigned long long)sent, (unsigned long long)retrans);
	printf("%s%s\n", *extra ? " " : "", extra);
	fflush(stdout);
	return failed ? -1 : 0;
}
