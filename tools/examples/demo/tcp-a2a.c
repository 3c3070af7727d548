// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tcp-a2a: one member of an all-to-all over TCP, for comparison with
 * shuffle-cp: same files in, same files out, same start.  One connection per
 * pair of members, opened before the start; all of them at once, with epoll.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../common.h"

#define CONNECT_TRIES	600	/* 50 ms each */

static const char usage_text[] =
"Usage: tcp-a2a --group GROUP --rank R --send DIR --recv DIR\n"
"               [--start-at TIME] [--timeline FILE]\n"
"\n"
"Sends a file to every member of a group and receives one from each over TCP,\n"
"one connection per pair, all at once.  The options are those of shuffle-cp.\n";

static const struct option options[] = {
	{ "group", required_argument, NULL, 'g' },
	{ "rank", required_argument, NULL, 'r' },
	{ "send", required_argument, NULL, 's' },
	{ "recv", required_argument, NULL, 'd' },
	{ "start-at", required_argument, NULL, 'S' },
	{ "timeline", required_argument, NULL, 'l' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* Each message has its length, big-endian, in front. */
struct peer {
	int fd;
	uint64_t len_out_be, len_in_be;
	uint64_t out, in;	/* bytes done, with the 8 of the length */
	uint64_t len_in;
	int whole;
	uint32_t min_rtt_us;	/* of the idle network, from the handshake */
};

struct a2a {
	struct group group;
	struct row row;
	struct column column;
	struct timeline tl;
	struct peer *peers;
	unsigned int rank;
	double start;
	const char *send, *recv, *timeline;
	char *buf;
	size_t buf_size;
	int epoll;

	unsigned int whole, sent;
	uint64_t late_ns, sent_ns, last_in_ns, done_ns, bytes_in;
};

static void parse(struct a2a *a, int argc, char **argv)
{
	const char *group = NULL;
	int have_rank = 0;
	char *end;
	int opt;

	while ((opt = getopt_long(argc, argv, "g:r:s:d:S:l:h", options, NULL)) != -1) {
		switch (opt) {
		case 'g':
			group = optarg;
			break;
		case 'r':
			a->rank = arg_number("--rank", optarg, SHUFFLE_MAX_MEMBERS - 1);
			have_rank = 1;
			break;
		case 's':
			a->send = optarg;
			break;
		case 'd':
			a->recv = optarg;
			break;
		case 'S':
			a->start = strtod(optarg, &end);
			if (end == optarg || *end)
				errx(2, "--start-at: \"%s\" is not a time", optarg);
			break;
		case 'l':
			a->timeline = optarg;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default:
			exit(2);
		}
	}
	if (!group || !have_rank || !a->send || !a->recv || optind < argc)
		errx(2, "--group, --rank, --send and --recv are needed, see --help");
	group_read(&a->group, group);
	if (a->rank >= a->group.count)
		errx(2, "--rank %u: the group has %u members", a->rank, a->group.count);
}

static socklen_t inet_addr_of(const struct sockaddr_shuffle *addr, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	if (addr->shs_ip_family == AF_INET) {
		sin->sin_family = AF_INET;
		sin->sin_port = addr->shs_port;
		memcpy(&sin->sin_addr, addr->shs_addr, 4);
		return sizeof(*sin);
	}
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = addr->shs_port;
	sin6->sin6_scope_id = addr->shs_scope_id;
	memcpy(&sin6->sin6_addr, addr->shs_addr, 16);
	return sizeof(*sin6);
}

static int connect_to(const struct sockaddr_shuffle *addr, uint32_t rank)
{
	struct sockaddr_storage ss;
	uint32_t hello = htonl(rank);
	char name[80];
	socklen_t len;
	int tries, fd;

	len = inet_addr_of(addr, &ss);
	for (tries = 0; tries < CONNECT_TRIES; tries++) {
		fd = socket(ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			err(1, "socket");
		if (!connect(fd, (struct sockaddr *)&ss, len)) {
			if (write(fd, &hello, sizeof(hello)) != sizeof(hello))
				err(1, "hello");
			return fd;
		}
		if (errno != ECONNREFUSED && errno != ETIMEDOUT && errno != EHOSTUNREACH)
			break;
		close(fd);
		usleep(50000);
	}
	err(1, "cannot connect to %s", shuffle_addr_str(addr, name, sizeof(name)));
}

/* Connect to the members of lower rank, accept the others. */
static void connect_all(struct a2a *a)
{
	const struct sockaddr_shuffle *self = &a->group.members[a->rank];
	struct sockaddr_storage ss;
	unsigned int i, count;
	int one = 1, lfd, fd;
	socklen_t len;
	uint32_t rank;

	len = inet_addr_of(self, &ss);
	lfd = socket(ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (lfd < 0)
		err(1, "socket");
	setsockopt(lfd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(lfd, (struct sockaddr *)&ss, len) || listen(lfd, SHUFFLE_MAX_MEMBERS))
		err(1, "listen");

	for (i = 0; i < a->rank; i++)
		a->peers[i].fd = connect_to(&a->group.members[i], a->rank);
	for (count = a->rank + 1; count < a->group.count; count++) {
		fd = accept4(lfd, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			err(1, "accept");
		if (recv(fd, &rank, sizeof(rank), MSG_WAITALL) != sizeof(rank))
			errx(1, "a connection without hello");
		rank = ntohl(rank);
		if (rank >= a->group.count || a->peers[rank].fd >= 0)
			errx(1, "hello of member %u is wrong", rank);
		a->peers[rank].fd = fd;
	}
	close(lfd);
}

static void tcp_info(int fd, struct tcp_info *info)
{
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len))
		err(1, "TCP_INFO");
}

static void prepare(struct a2a *a)
{
	struct tcp_info info;
	unsigned int i;
	int one = 1;

	a->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (a->epoll < 0)
		err(1, "epoll");
	for (i = 0; i < a->group.count; i++) {
		struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.u32 = i };
		struct peer *peer = &a->peers[i];

		peer->len_out_be = htobe64(a->row.lens[i]);
		if (peer->fd < 0)
			continue;
		tcp_info(peer->fd, &info);
		peer->min_rtt_us = info.tcpi_min_rtt;
		setsockopt(peer->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		if (fcntl(peer->fd, F_SETFL, O_NONBLOCK) ||
		    epoll_ctl(a->epoll, EPOLL_CTL_ADD, peer->fd, &ev))
			err(1, "epoll");
	}
}

static uint64_t since_start(const struct a2a *a)
{
	return now_ns() - a->tl.start_ns;
}

static void send_some(struct a2a *a, unsigned int i)
{
	struct peer *peer = &a->peers[i];
	uint64_t len = a->row.lens[i];

	while (peer->out < 8 + len) {
		struct iovec iov[2];
		struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 1 };
		ssize_t n;

		if (peer->out < 8) {
			iov[0].iov_base = (char *)&peer->len_out_be + peer->out;
			iov[0].iov_len = 8 - peer->out;
			iov[1].iov_base = (void *)a->row.bufs[i];
			iov[1].iov_len = len;
			msg.msg_iovlen = len ? 2 : 1;
		} else {
			iov[0].iov_base = (char *)a->row.bufs[i] + peer->out - 8;
			iov[0].iov_len = len - (peer->out - 8);
		}
		n = sendmsg(peer->fd, &msg, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			err(1, "send to member %u", i);
		peer->out += n;
		timeline_add(&a->tl, 'o', i, n);
		if (peer->out == 8 + len) {
			a->sent++;
			a->sent_ns = since_start(a);
		}
	}
}

static void whole(struct a2a *a, unsigned int i)
{
	a->peers[i].whole = 1;
	a->whole++;
	a->last_in_ns = since_start(a);
	column_whole(&a->column, i);
	timeline_add(&a->tl, 'w', i, a->peers[i].len_in);
}

static void receive_some(struct a2a *a, unsigned int i)
{
	struct peer *peer = &a->peers[i];
	ssize_t n;

	while (!peer->whole) {
		if (peer->in < 8) {
			n = recv(peer->fd, (char *)&peer->len_in_be + peer->in, 8 - peer->in, 0);
		} else {
			uint64_t left = peer->len_in + 8 - peer->in;

			n = recv(peer->fd, a->buf, left < a->buf_size ? left : a->buf_size, 0);
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			err(1, "receive from member %u", i);
		if (!n)
			errx(1, "member %u has closed the connection", i);
		if (peer->in >= 8) {
			column_write(&a->column, i, a->buf, n, peer->in - 8);
			a->bytes_in += n;
			timeline_add(&a->tl, 'i', i, n);
		}
		peer->in += n;
		if (peer->in == 8)
			peer->len_in = be64toh(peer->len_in_be);
		if (peer->in >= 8 && peer->in == 8 + peer->len_in)
			whole(a, i);
	}
}

static void run(struct a2a *a)
{
	struct epoll_event events[64];
	unsigned int i;
	int n, k;

	/* The message to oneself is copied, here as in AF_SHUFFLE. */
	a->peers[a->rank].len_in = a->row.lens[a->rank];
	column_write(&a->column, a->rank, a->row.bufs[a->rank], a->row.lens[a->rank], 0);
	a->bytes_in += a->row.lens[a->rank];
	whole(a, a->rank);
	a->sent++;

	/* A different first one at every member. */
	for (i = 1; i < a->group.count; i++)
		send_some(a, (a->rank + i) % a->group.count);
	while (a->whole < a->group.count || a->sent < a->group.count) {
		n = epoll_wait(a->epoll, events, 64, -1);
		if (n < 0 && errno != EINTR)
			err(1, "epoll");
		for (k = 0; k < n; k++) {
			if (events[k].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
				receive_some(a, events[k].data.u32);
			if (events[k].events & EPOLLOUT)
				send_some(a, events[k].data.u32);
		}
	}
	/* Until all is acknowledged. */
	for (i = 0; i < a->group.count; i++) {
		int left = 0;

		if (a->peers[i].fd < 0)
			continue;
		while (!ioctl(a->peers[i].fd, SIOCOUTQ, &left) && left)
			usleep(1000);
	}
	a->done_ns = since_start(a);
}

static void report(const struct a2a *a)
{
	uint64_t retrans_bytes = 0, retrans_segs = 0, segs = 0, pure = 0, cpu_us;
	uint32_t rtt = UINT32_MAX;
	struct tcp_info info;
	struct rusage usage;
	unsigned int i;

	for (i = 0; i < a->group.count; i++) {
		if (a->peers[i].fd < 0)
			continue;
		tcp_info(a->peers[i].fd, &info);
		retrans_bytes += info.tcpi_bytes_retrans;
		retrans_segs += info.tcpi_total_retrans;
		segs += info.tcpi_data_segs_out;
		if (info.tcpi_segs_out > info.tcpi_data_segs_out)
			pure += info.tcpi_segs_out - info.tcpi_data_segs_out;
		if (a->peers[i].min_rtt_us < rtt)
			rtt = a->peers[i].min_rtt_us;
	}
	getrusage(RUSAGE_SELF, &usage);
	cpu_us = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ULL +
		 usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
	printf("{\"transport\": \"tcp\", \"rank\": %u, \"members\": %u, \"error\": 0"
	       ", \"messages_in\": %u, \"bytes_out\": %" PRIu64 ", \"bytes_in\": %" PRIu64
	       ", \"start_late_ns\": %" PRIu64 ", \"sent_ns\": %" PRIu64
	       ", \"last_in_ns\": %" PRIu64 ", \"done_ns\": %" PRIu64 ", \"cpu_us\": %" PRIu64
	       ", \"retrans_bytes\": %" PRIu64 ", \"retrans_segs\": %" PRIu64
	       ", \"data_segs\": %" PRIu64 ", \"pure_acks\": %" PRIu64
	       ", \"min_rtt_us\": %" PRIu32 "}\n",
	       a->rank, a->group.count, a->whole, a->row.total, a->bytes_in, a->late_ns,
	       a->sent_ns, a->last_in_ns, a->done_ns, cpu_us, retrans_bytes, retrans_segs,
	       segs, pure, rtt);
}

int main(int argc, char **argv)
{
	unsigned int i;
	struct a2a a;

	memset(&a, 0, sizeof(a));
	parse(&a, argc, argv);
	row_read(&a.row, a.send, a.rank, a.group.count);
	column_init(&a.column, a.recv, a.group.count);
	a.peers = calloc(a.group.count, sizeof(*a.peers));
	a.buf_size = 256 << 10;
	a.buf = malloc(a.buf_size);
	if (!a.peers || !a.buf)
		err(1, "memory");
	for (i = 0; i < a.group.count; i++)
		a.peers[i].fd = -1;
	connect_all(&a);
	prepare(&a);

	a.tl.on = !!a.timeline;
	a.tl.start_ns = start_wait(a.start);
	a.late_ns = since_start(&a);
	run(&a);

	report(&a);
	timeline_write(&a.tl, a.timeline);
	return 0;
}
