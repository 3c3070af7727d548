// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The incumbent: an all-to-all over TCP, as good as TCP gets.
 *
 * One process per host of a rack, one connection per ordered pair of hosts,
 * epoll, warm connections (unless cold), everybody starts at the same moment.
 * The lengths are known to both sides, so there is no framing at all.
 *
 * usage: tcp_bench [options] MATRIX
 *   -c NAME     name of the case, for the report
 *   -m MODE     all       every message at once
 *               hadoopC   a receiver pulls from C random senders at a time
 *               rotation  host i sends to (i+k) mod N, k = 1, 2, ...
 *               pairwise  the same, but step k + 1 waits for the message that
 *                         host i receives in step k, as MPI libraries do
 *               cold      all at once on connections made at the start
 *   -t NAME     name of the transport, for the report (default tcp-MODE)
 *   -r RUN      number of this run, for the report and the random order
 *   -w ROUNDS   warm-up rounds (default 2)
 *   -n ROUNDS   measured rounds (default 1)
 *   -d          one connection per pair, used in both directions
 *   -l BYTES    rotation, pairwise: go on when less than this is unsent (default 16384)
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
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

#define PORT		5018	/* unless -p */
#define SCRATCH		(1U << 20)

enum mode { ALL, HADOOP, ROTATION, PAIRWISE, COLD };

/* A descriptor; with -d the same one sends and receives. */
struct conn {
	int fd;
	unsigned int peer;
	bool tx, rx;		/* what this host uses it for */
	bool requested;		/* hadoop: the peer has asked for its message */
	bool rx_done;
	uint64_t tx_left, rx_left;
	struct tcp_info before;
};

static enum mode mode = ALL;
static unsigned int hadoop_c = 5;
static bool duplex;
static int lowat = 16384;

static char scratch[SCRATCH];
static struct conn *conns;
static unsigned int conn_count;
static struct conn **out, **in;	/* by peer */
static int epfd = -1, listener = -1;
static unsigned int rx_pending;	/* messages still to come */
static unsigned int tx_pending;
static unsigned int step;	/* rotation */
static unsigned int *order, order_next;	/* hadoop */
static uint64_t rng;

static unsigned int random_below(unsigned int n)
{
	rng = rng * 6364136223846793005ULL + 1442695040888963407ULL;
	return (rng >> 33) % n;
}

static void fail(const char *what, unsigned int peer)
{
	struct bench_host *h = &bench->host[bench_self];

	if (h->error)
		return;
	h->error = errno ? errno : EPROTO;
	snprintf(h->why, sizeof(h->why), "%s (peer %u)", what, peer);
}

static void tune(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (mode == ROTATION || mode == PAIRWISE)
		setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat, sizeof(lowat));
}

static struct conn *add_conn(int fd, unsigned int peer, bool tx, bool rx)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	struct conn *c = &conns[conn_count++];

	*c = (struct conn){ .fd = fd, .peer = peer, .tx = tx, .rx = rx };
	if (tx)
		out[peer] = c;
	if (rx)
		in[peer] = c;
	tune(fd);
	ev.data.ptr = c;
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev))
		bench_die("epoll_ctl: %s", strerror(errno));
	return c;
}

static int make_listener(void)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(bench_opt.port),
		.sin_addr.s_addr = htonl(bench_addr(bench_self)),
	};
	int fd, one = 1;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (void *)&sin, sizeof(sin)) || listen(fd, 8192))
		bench_die("listen: %s", strerror(errno));
	return fd;
}

/* The peer is known by its address. */
static bool accept_one(void)
{
	struct sockaddr_in sin;
	socklen_t len = sizeof(sin);
	unsigned int peer;
	int fd;

	fd = accept4(listener, (void *)&sin, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return false;
	peer = ntohl(sin.sin_addr.s_addr) - bench_addr(0);
	if (peer >= bench_hosts)
		bench_die("a stranger");
	add_conn(fd, peer, duplex, true);
	return true;
}

static struct conn *connect_to(unsigned int peer)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(bench_opt.port),
		.sin_addr.s_addr = htonl(bench_addr(peer)),
	};
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || (connect(fd, (void *)&sin, sizeof(sin)) && errno != EINPROGRESS))
		bench_die("connect: %s", strerror(errno));
	return add_conn(fd, peer, true, duplex);
}

static void connect_all(void)
{
	unsigned int k, peer;

	for (k = 1; k < bench_hosts; k++) {
		peer = (bench_self + k) % bench_hosts;
		if (!duplex || peer > bench_self)
			connect_to(peer);
	}
}

static unsigned int wanted_conns(void)
{
	return (duplex ? 1 : 2) * (bench_hosts - 1);
}

static void rotate(void);

static void received(struct conn *c)
{
	c->rx_done = true;
	/* a clock read is not free in virtual time */
	if (!--rx_pending)
		bench->host[bench_self].last_ns = bench_now();
	if (mode == PAIRWISE)
		rotate();
	if (mode != HADOOP)
		return;
	while (order_next < bench_hosts - 1) {
		struct conn *next = in[order[order_next++]];

		if (next->rx_done)
			continue;	/* empty */
		if (send(next->fd, "r", 1, MSG_NOSIGNAL) != 1)
			fail("request", next->peer);
		return;
	}
}

static void do_read(struct conn *c)
{
	ssize_t n;

	for (;;) {
		if (c->rx && !c->rx_done && c->rx_left) {
			/* MSG_TRUNC: the data is of no interest, and in virtual
			 * time a copy costs nothing.
			 */
			n = recv(c->fd, scratch, c->rx_left < SCRATCH ? c->rx_left : SCRATCH,
				 bench_opt.unshaped ? 0 : MSG_TRUNC);
			if (n > 0) {
				bench->host[bench_self].rx_bytes += n;
				c->rx_left -= n;
				if (!c->rx_left)
					received(c);
				continue;
			}
		} else if (c->tx && mode == HADOOP && !c->requested) {
			n = recv(c->fd, scratch, 1, 0);
			if (n == 1) {
				c->requested = true;
				continue;
			}
		} else {
			return;
		}
		if (n == 0)
			fail("closed", c->peer);
		else if (errno != EAGAIN)
			fail("recv", c->peer);
		return;
	}
}

/* Returns true when the whole message is in the socket. */
static bool do_write(struct conn *c)
{
	while (c->tx_left) {
		ssize_t n = send(c->fd, scratch, c->tx_left < SCRATCH ? c->tx_left : SCRATCH,
				 MSG_NOSIGNAL);

		if (n < 0) {
			if (errno != EAGAIN && errno != ENOTCONN)
				fail("send", c->peer);
			return false;
		}
		c->tx_left -= n;
		if (!c->tx_left)
			tx_pending--;
	}
	return true;
}

static void rotate(void)
{
	while (step < bench_hosts) {
		struct conn *c = out[(bench_self + step) % bench_hosts];
		int unsent = 0;

		if (!do_write(c))
			return;
		ioctl(c->fd, SIOCOUTQNSD, &unsent);
		if (unsent >= lowat) {
			struct epoll_event ev = {
				.events = EPOLLIN | EPOLLOUT | EPOLLET,
				.data.ptr = c,
			};

			/* Ask again to be told when it is writable. */
			epoll_ctl(epfd, EPOLL_CTL_MOD, c->fd, &ev);
			return;
		}
		if (mode == PAIRWISE &&
		    !in[(bench_self + bench_hosts - step) % bench_hosts]->rx_done)
			return;
		step++;
	}
}

static void writable(struct conn *c)
{
	switch (mode) {
	case ALL:
	case COLD:
		do_write(c);
		break;
	case HADOOP:
		if (c->requested)
			do_write(c);
		break;
	case ROTATION:
	case PAIRWISE:
		if (step < bench_hosts && out[(bench_self + step) % bench_hosts] == c)
			rotate();
		break;
	}
}

/* Wake up once for the whole message. */
static void expect(struct conn *c, uint64_t len)
{
	int low = len && len < SCRATCH ? (int)len : 1;

	c->rx_left = len;
	setsockopt(c->fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low));
}

static void arm(struct conn *c)
{
	if (c->tx) {
		c->requested = false;
		c->tx_left = matrix_len(bench_matrix, bench_self, c->peer);
		tx_pending += c->tx_left > 0;
	}
	if (c->rx) {
		expect(c, matrix_len(bench_matrix, c->peer, bench_self));
		c->rx_done = !c->rx_left;
		rx_pending += c->rx_left > 0;
	}
}

/* Everything of a round that happens before the start. */
static void prepare(unsigned int round)
{
	socklen_t len = sizeof(struct tcp_info);
	unsigned int i;

	(void)round;
	rx_pending = 0;
	tx_pending = 0;
	step = 1;
	order_next = 0;
	for (i = 0; i < bench_hosts - 1; i++)
		order[i] = (bench_self + 1 + i) % bench_hosts;
	for (i = bench_hosts - 2; i; i--) {
		unsigned int k = random_below(i + 1), t = order[i];

		order[i] = order[k];
		order[k] = t;
	}
	if (mode == COLD) {
		for (i = 0; i < bench_hosts; i++) {
			if (i == bench_self)
				continue;
			rx_pending += matrix_len(bench_matrix, i, bench_self) > 0;
			tx_pending += matrix_len(bench_matrix, bench_self, i) > 0;
		}
		return;
	}
	for (i = 0; i < conn_count; i++) {
		arm(&conns[i]);
		if (conns[i].tx)
			getsockopt(conns[i].fd, IPPROTO_TCP, TCP_INFO, &conns[i].before, &len);
	}
}

static void start(void)
{
	unsigned int k;

	switch (mode) {
	case COLD:
		for (k = 1; k < bench_hosts; k++) {
			unsigned int peer = (bench_self + k) % bench_hosts;
			struct conn *c;

			if (!matrix_len(bench_matrix, bench_self, peer))
				continue;
			c = connect_to(peer);
			c->tx_left = matrix_len(bench_matrix, bench_self, peer);
		}
		break;
	case ALL:
		for (k = 1; k < bench_hosts; k++)
			do_write(out[(bench_self + k) % bench_hosts]);
		break;
	case HADOOP:
		for (k = 0; k < hadoop_c && order_next < bench_hosts - 1;) {
			struct conn *c = in[order[order_next++]];

			if (c->rx_done)
				continue;
			if (send(c->fd, "r", 1, MSG_NOSIGNAL) != 1)
				fail("request", c->peer);
			k++;
		}
		break;
	case ROTATION:
	case PAIRWISE:
		rotate();
		break;
	}
}

static void finish(unsigned int round)
{
	struct bench_host *h = &bench->host[bench_self];
	socklen_t len = sizeof(struct tcp_info);
	unsigned int i;

	(void)round;
	for (i = 0; i < conn_count; i++) {
		struct tcp_info after = { 0 };

		if (!conns[i].tx || getsockopt(conns[i].fd, IPPROTO_TCP, TCP_INFO, &after, &len))
			continue;
		h->sent_bytes += after.tcpi_bytes_sent - conns[i].before.tcpi_bytes_sent;
		h->retrans_bytes += after.tcpi_bytes_retrans - conns[i].before.tcpi_bytes_retrans;
	}
	if (mode != COLD)
		return;
	for (i = 0; i < conn_count; i++) {
		struct linger now = { .l_onoff = 1 };

		setsockopt(conns[i].fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		close(conns[i].fd);
	}
	conn_count = 0;
}

static void run(unsigned int round)
{
	struct bench_host *h = &bench->host[bench_self];
	struct epoll_event ev[256];
	int i, n;

	(void)round;
	start();
	while ((rx_pending || tx_pending) && !h->error) {
		n = epoll_wait(epfd, ev, 256, -1);
		for (i = 0; i < n; i++) {
			struct conn *c = ev[i].data.ptr;

			if (!c) {
				while (accept_one()) {
					c = &conns[conn_count - 1];
					expect(c, matrix_len(bench_matrix, c->peer, bench_self));
				}
				continue;
			}
			if (ev[i].events & (EPOLLIN | EPOLLERR | EPOLLHUP))
				do_read(c);
			if (ev[i].events & EPOLLOUT || c->requested)
				writable(c);
		}
		if (n < 0) {
			errno = ETIMEDOUT;
			fail("round", bench_self);
		}
	}
}

static void host_main(void)
{
	static const struct bench_steps steps = { prepare, run, finish };
	struct epoll_event ev = { .events = EPOLLIN };

	rng = (uint64_t)bench_opt.run << 32 | (bench_self + 1);
	random_below(1);
	conns = calloc(2 * bench_hosts, sizeof(*conns));
	out = calloc(bench_hosts, sizeof(struct conn *));
	in = calloc(bench_hosts, sizeof(struct conn *));
	order = calloc(bench_hosts, sizeof(*order));
	if (!conns || !out || !in || !order)
		bench_die("out of memory");
	epfd = epoll_create1(EPOLL_CLOEXEC);
	listener = make_listener();
	if (epoll_ctl(epfd, EPOLL_CTL_ADD, listener, &ev))
		bench_die("epoll_ctl: %s", strerror(errno));
	bench_wait();
	if (mode != COLD) {
		connect_all();
		while (conn_count < wanted_conns()) {
			struct epoll_event one;

			if (epoll_wait(epfd, &one, 1, 10000) == 0)
				bench_die("host %u: no connection", bench_self);
			while (accept_one())
				;
		}
	}
	bench_wait();
	bench_host_rounds(&steps);
}

static void usage(void)
{
	fprintf(stderr, "usage: tcp_bench " BENCH_USAGE " [-m all|hadoopC|rotation|pairwise|cold] [-d] [-l BYTES] MATRIX\n");
	exit(2);
}

static void set_mode(const char *arg)
{
	static char name[32];

	snprintf(name, sizeof(name), "tcp-%s", arg);
	bench_opt.transport = name;
	if (!strcmp(arg, "all"))
		mode = ALL;
	else if (!strncmp(arg, "hadoop", 6) && atoi(arg + 6) > 0)
		mode = HADOOP, hadoop_c = atoi(arg + 6);
	else if (!strcmp(arg, "rotation"))
		mode = ROTATION;
	else if (!strcmp(arg, "pairwise"))
		mode = PAIRWISE;
	else if (!strcmp(arg, "cold"))
		mode = COLD;
	else
		usage();
}

int main(int argc, char **argv)
{
	struct rlimit files = { 65536, 65536 };
	const char *transport = NULL;
	int opt;

	set_mode("all");
	bench_opt.warmup = 2;
	while ((opt = getopt(argc, argv, BENCH_OPTIONS "m:dl:")) != -1) {
		if (opt == 't') {
			transport = optarg;
			continue;
		}
		if (bench_option(opt, optarg))
			continue;
		switch (opt) {
		case 'm':
			set_mode(optarg);
			break;
		case 'd':
			duplex = true;
			break;
		case 'l':
			lowat = atoi(optarg);
			break;
		default:
			usage();
		}
	}
	if (!bench_opt.port)
		bench_opt.port = PORT;
	if (optind + 1 != argc || (duplex && (mode == HADOOP || mode == COLD)))
		usage();
	if (transport)
		bench_opt.transport = transport;
	setrlimit(RLIMIT_NOFILE, &files);
	bench_init(bench_read_matrix(argv[optind]));
	bench_queues_open(true);
	if (mode == COLD)
		bench_opt.warmup = 0;
	bench_fork(host_main);
	bench_wait();
	bench_wait();
	return bench_rounds(NULL);
}
