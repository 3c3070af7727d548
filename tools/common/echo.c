// SPDX-License-Identifier: GPL-2.0-or-later
/* Questions for echoes, see echo.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>

#include "echo.h"
#include "wire.h"

/* ports that the protocol takes for privileged: net/shuffle/netns.h */
#define PORT_FIRST	768U
#define PORTS		256U

#define BUFFER		(8 << 20)	/* bytes of answers and time stamps that may wait */

static int fail(char *why, size_t size, const char *what, const char *arg)
{
	snprintf(why, size, "%s%s%s: %s", what, arg ? " " : "", arg ? arg : "", strerror(errno));
	return -1;
}

/* A free one of the privileged ports. */
static int bind_port(int fd, struct sockaddr_storage *from, socklen_t len)
{
	unsigned int i, port, start = 0;

	if (getrandom(&start, sizeof(start), 0) != sizeof(start))
		start = 0;
	for (i = 0; i < PORTS; i++) {
		port = PORT_FIRST + (start + i) % PORTS;
		if (port == ECHO_PORT)
			continue;
		/* the port is at the same place in both families */
		((struct sockaddr_in *)from)->sin_port = htons(port);
		if (!bind(fd, (struct sockaddr *)from, len))
			return 0;
		if (errno != EADDRINUSE)
			return -1;
	}
	return -1;
}

static int resolve(const char *host, int family, unsigned int port, struct sockaddr_storage *addr,
		   socklen_t *len, char *why, size_t size)
{
	struct addrinfo want = { .ai_family = family, .ai_socktype = SOCK_DGRAM }, *list;
	char service[12];
	int err;

	snprintf(service, sizeof(service), "%u", port);
	err = getaddrinfo(host, service, &want, &list);
	if (err) {
		snprintf(why, size, "%s: %s", host, gai_strerror(err));
		return -1;
	}
	memcpy(addr, list->ai_addr, list->ai_addrlen);
	*len = list->ai_addrlen;
	freeaddrinfo(list);
	return 0;
}

static int set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

static int options(int fd, int family, const struct echo_options *opt, char *why, size_t size)
{
	int flags = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE |
		    SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID |
		    SOF_TIMESTAMPING_OPT_TSONLY;

	if (opt->hardware)
		flags = SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE |
			SOF_TIMESTAMPING_RAW_HARDWARE | SOF_TIMESTAMPING_OPT_ID |
			SOF_TIMESTAMPING_OPT_TSONLY;
	if (opt->dev && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, opt->dev,
				   strlen(opt->dev) + 1))
		return fail(why, size, "device", opt->dev);
	if (family == AF_INET ? set_int(fd, IPPROTO_IP, IP_TOS, opt->dscp << 2) :
				set_int(fd, IPPROTO_IPV6, IPV6_TCLASS, opt->dscp << 2))
		return fail(why, size, "dscp", NULL);
	/* behind the DSCP, which sets it, too */
	if (opt->priority >= 0 && set_int(fd, SOL_SOCKET, SO_PRIORITY, opt->priority))
		return fail(why, size, "priority", NULL);
	if (set_int(fd, SOL_SOCKET, SO_TIMESTAMPING, flags))
		return fail(why, size, "time stamps", NULL);
	/* more than an unprivileged process may have; else what there is */
	if (set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER))
		set_int(fd, SOL_SOCKET, SO_RCVBUF, BUFFER);
	if (set_int(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER))
		set_int(fd, SOL_SOCKET, SO_SNDBUF, BUFFER);
	return 0;
}

/**
 * echo_open() - a socket that asks one host
 * @s: result
 * @to: its address or name
 * @opt: how questions leave
 * @why: gets a message if it fails
 * @size: of @why
 *
 * Return: 0 or -1.
 */
int echo_open(struct echo_sock *s, const char *to, const struct echo_options *opt, char *why,
	      size_t size)
{
	struct sockaddr_storage addr, from = { 0 };
	socklen_t len, from_len;
	int fd;

	if (resolve(to, AF_UNSPEC, opt->port, &addr, &len, why, size))
		return -1;
	from.ss_family = addr.ss_family;
	from_len = len;
	if (opt->source &&
	    resolve(opt->source, addr.ss_family, 0, &from, &from_len, why, size))
		return -1;
	do {
		if (getrandom(&s->nonce, sizeof(s->nonce), 0) != sizeof(s->nonce))
			return fail(why, size, "random number", NULL);
		s->nonce &= SHUFFLE_NONCE_MAX;
	} while (!s->nonce);
	s->hardware = opt->hardware;
	fd = socket(addr.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(why, size, "socket", NULL);
	s->fd = fd;
	if (options(fd, addr.ss_family, opt, why, size))
		goto bad;
	if (bind_port(fd, &from, from_len)) {
		fail(why, size, errno == EACCES ? "port below 1024 (CAP_NET_BIND_SERVICE)" :
		     "port from 768 to 1023", opt->source);
		goto bad;
	}
	if (connect(fd, (struct sockaddr *)&addr, len)) {
		fail(why, size, "host", to);
		goto bad;
	}
	return 0;

bad:
	close(fd);
	return -1;
}

/**
 * echo_close() - close the socket
 * @s: from echo_open()
 */
void echo_close(struct echo_sock *s)
{
	close(s->fd);
}

/**
 * echo_has_hardware() - does the NIC stamp all packets?
 * @dev: its name
 *
 * Return: true if an administrator has switched on stamps of packets both ways.
 */
bool echo_has_hardware(const char *dev)
{
	struct hwtstamp_config cfg = { 0 };
	struct ifreq ifr = { 0 };
	int fd, err;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	ifr.ifr_data = (void *)&cfg;
	err = ioctl(fd, SIOCGHWTSTAMP, &ifr);
	close(fd);
	return !err && cfg.tx_type == HWTSTAMP_TX_ON && cfg.rx_filter == HWTSTAMP_FILTER_ALL;
}

/**
 * echo_build() - write a question
 * @s: the socket that it is for
 * @p: @size bytes
 * @seq: number of the question
 * @size: bytes of UDP payload, ECHO_SIZE_MIN to ECHO_SIZE_MAX
 * @brief: ask for an answer without padding
 */
void echo_build(const struct echo_sock *s, uint8_t *p, uint64_t seq, uint32_t size, bool brief)
{
	struct shuffle_wire w = {
		.type = SHUFFLE_ECHO,
		.flags = brief ? SHUFFLE_FLAG_SHORT : 0,
		.op_id = seq,
		.nonce = s->nonce,
		.payload = (u16)(size - SHUFFLE_WIRE_ECHO_HDR),
	};

	memset(p + shuffle_wire_build(p, &w), 0, w.payload);
}

static uint64_t ns_of(const struct scm_timestamping *ts, bool hardware)
{
	const struct timespec *t = &ts->ts[hardware ? 2 : 0];

	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

static uint64_t stamp_of(struct msghdr *msg, bool hardware, uint32_t *id)
{
	struct scm_timestamping ts;
	struct sock_extended_err ee;
	struct cmsghdr *c;
	uint64_t at = 0;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPING) {
			memcpy(&ts, CMSG_DATA(c), sizeof(ts));
			at = ns_of(&ts, hardware);
		} else if (id && ((c->cmsg_level == SOL_IP && c->cmsg_type == IP_RECVERR) ||
				  (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_RECVERR))) {
			memcpy(&ee, CMSG_DATA(c), sizeof(ee));
			if (ee.ee_origin != SO_EE_ORIGIN_TIMESTAMPING)
				return 0;
			*id = ee.ee_data;
		}
	}
	return at;
}

/**
 * echo_answer() - the next answer that waits
 * @s: the socket
 * @r: result
 *
 * Return: ECHO_ANSWER, ECHO_NOTHING, ECHO_REFUSED or ECHO_OTHER.
 */
enum echo_event echo_answer(struct echo_sock *s, struct echo_report *r)
{
	char control[256] __attribute__((aligned(__alignof__(struct cmsghdr))));
	uint8_t p[SHUFFLE_WIRE_MAX_HDR];
	struct iovec iov = { p, sizeof(p) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct shuffle_wire w;
	ssize_t n;

	n = recvmsg(s->fd, &msg, MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? ECHO_NOTHING :
		       errno == ECONNREFUSED ? ECHO_REFUSED : ECHO_OTHER;
	if (shuffle_wire_parse(p, (size_t)n < sizeof(p) ? (size_t)n : sizeof(p), (size_t)n, &w) < 0)
		return ECHO_OTHER;
	if (w.type != SHUFFLE_ECHO || !(w.flags & SHUFFLE_FLAG_REPLY) || w.nonce != s->nonce)
		return ECHO_OTHER;
	*r = (struct echo_report){
		.seq = w.op_id, .size = (uint32_t)n, .t2 = w.echo.rx_ns, .t3 = w.echo.tx_ns,
		.t4 = stamp_of(&msg, s->hardware, NULL),
	};
	return ECHO_ANSWER;
}

/**
 * echo_stamp() - the next transmit time stamp that waits
 * @s: the socket
 * @r: result: @seq has 32 bits
 *
 * Return: ECHO_SENT, ECHO_NOTHING or ECHO_OTHER.
 */
enum echo_event echo_stamp(struct echo_sock *s, struct echo_report *r)
{
	char control[256] __attribute__((aligned(__alignof__(struct cmsghdr))));
	struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };
	uint32_t id = 0;

	if (recvmsg(s->fd, &msg, MSG_DONTWAIT | MSG_ERRQUEUE) < 0)
		return ECHO_NOTHING;
	*r = (struct echo_report){ .t1 = stamp_of(&msg, s->hardware, &id) };
	r->seq = id;
	return r->t1 ? ECHO_SENT : ECHO_OTHER;
}
