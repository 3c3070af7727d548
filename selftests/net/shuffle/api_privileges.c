// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What needs a privilege, and what nobody is told ("Privileges" in security.rst): a user without
 * any calls everything that asks for one, and all that the kernel says of an operation is searched
 * for its nonces and its key.  TAP.
 *
 *	api_privileges [-v 4|6]
 */
#define _GNU_SOURCE
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <linux/sock_diag.h>

#include "api.h"
#include "nl.h"
#include "wire.h"

#define UDP_PORT	818
#define LOW_PORT	700
#define OP		0x1122334455667788ULL	/* as no other number that the kernel tells */
#define KEY		4711

static struct sockaddr_shuffle members[2];
static int low_fd;

/* What a call returns to the process that asks: 0 or its errno. */
static int said(int rc)
{
	return rc < 0 ? errno : 0;
}

static int shuffles(void *arg)
{
	struct sockaddr_shuffle m[2];
	int fds[2];

	(void)arg;
	open_pair(fds, m, 0);
	return pair_works(fds) ? 0 : EIO;
}

static int binds_low(void *arg)
{
	struct sockaddr_shuffle a;

	(void)arg;
	sht_addr(&a, SHT_LO, v6, 0, LOW_PORT + 1);
	return said(bind_to(new_socket(0), &a));
}

/* One more place at a port that only root may bind, for a socket that root has bound. */
static int adds_edge(void *arg)
{
	struct {
		struct shuffle_group g;
		struct shuffle_edge e[2];
	} g = { .g = { .size = sizeof(g.g), .member_size = sizeof(g.e[0]), .count = 2 } };

	(void)arg;
	sht_addr(&g.e[0].member, SHT_LO, v6, 0, LOW_PORT);
	sht_addr(&g.e[1].member, SHT_LO, v6, 0, LOW_PORT);
	g.e[1].member.shs_addr[v6 ? 15 : 3] = 9;
	/* IPv4: the whole of 127.0.0.0/8 is ours */
	memcpy(g.e[1].local, g.e[0].member.shs_addr, 16);
	g.e[1].local[3] = 8;
	return said(setsockopt(low_fd, SOL_SHUFFLE, SHUFFLE_GROUP, &g, sizeof(g)));
}

static int binds_udp(void *arg)
{
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6, .sin6_port = htons(*(uint16_t *)arg) };
	struct sockaddr_in a4 = { .sin_family = AF_INET, .sin_port = a6.sin6_port };
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0);

	return said(v6 ? bind(fd, (struct sockaddr *)&a6, sizeof(a6)) :
			 bind(fd, (struct sockaddr *)&a4, sizeof(a4)));
}

static int opens_raw(void *arg)
{
	(void)arg;
	return said(socket(v6 ? AF_INET6 : AF_INET, SOCK_RAW, IPPROTO_UDP));
}

static int opens_packet(void *arg)
{
	(void)arg;
	return said(socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL)));
}

struct option {
	int	name, value;
};

static int sets_option(void *arg)
{
	const struct option *o = arg;

	return said(setsockopt(new_socket(0), SOL_SOCKET, o->name, &o->value, sizeof(o->value)));
}

/* What a socket gets that asks for a buffer of 1 GiB. */
static int buffer_of(int fd, int name)
{
	int size = 1 << 30;
	socklen_t len = sizeof(size);

	setsockopt(fd, SOL_SOCKET, name, &size, sizeof(size));
	return getsockopt(fd, SOL_SOCKET, name, &size, &len) ? -1 : size;
}

/* As much as one of UDP, which net.core.wmem_max and rmem_max bound. */
static int asks_for_buffers(void *arg)
{
	int udp = socket(AF_INET, SOCK_DGRAM, 0), fd = new_socket(0);

	(void)arg;
	return buffer_of(fd, SO_SNDBUF) != buffer_of(udp, SO_SNDBUF) ||
	       buffer_of(fd, SO_RCVBUF) != buffer_of(udp, SO_RCVBUF) ||
	       buffer_of(fd, SO_SNDBUF) >= 1 << 30;
}

static int sets(void *arg)
{
	struct nl_req r;

	nl_begin(&r, SHUFFLE_CMD_CONFIG_SET, 0);
	nl_u32(&r, *(uint16_t *)arg, 7);
	return nl_call(nl_open(), &r, NULL, NULL).err;
}

static int sets_mem_max(void *arg)
{
	struct nl_req r;

	(void)arg;
	nl_begin(&r, SHUFFLE_CMD_CONFIG_SET, 0);
	nl_u64(&r, SHUFFLE_A_CONFIG_MEM_MAX, 1ULL << 40);
	return nl_call(nl_open(), &r, NULL, NULL).err;
}

static int cancels(void *arg)
{
	struct nl_req r;

	(void)arg;
	nl_begin(&r, SHUFFLE_CMD_OP_CANCEL, 0);
	nl_u64(&r, SHUFFLE_A_OP_OP_ID, OP);
	return nl_call(nl_open(), &r, NULL, NULL).err;
}

static void test_calls(void)
{
	static struct option mark = { SO_MARK, 1 }, low = { SO_PRIORITY, 6 },
			     high = { SO_PRIORITY, 7 };
	static uint16_t port = UDP_PORT, source = 800, high_port = 7999;
	struct sockaddr_shuffle a;

	WORKS_ERRNO(as_nobody(shuffles, NULL), 0, "nobody has sockets, a group, operations");
	WORKS_ERRNO(as_nobody(binds_low, NULL), EACCES, "nobody has no low port");
	WORKS_ERRNO(binds_low(NULL), 0, "root has");
	if (!v6) {
		low_fd = new_socket(0);
		sht_addr(&a, SHT_LO, v6, 0, LOW_PORT);
		WORKS(bind_to(low_fd, &a) == 0 &&
		      EXPECT_ERRNO(as_nobody(adds_edge, NULL), EACCES),
		      "nor a place at such a port by an edge");
		WORKS_ERRNO(adds_edge(NULL), 0, "root has");
		close(low_fd);
	}
	WORKS_ERRNO(as_nobody(sets_option, &mark), EPERM, "nobody sets no SO_MARK");
	WORKS_ERRNO(sets_option(&mark), 0, "root does");
	WORKS_ERRNO(as_nobody(sets_option, &low), 0, "nobody sets SO_PRIORITY 6");
	WORKS_ERRNO(as_nobody(sets_option, &high), EPERM, "and not 7");
	WORKS_ERRNO(sets_option(&high), 0, "root does");
	WORKS_EQ(as_nobody(asks_for_buffers, NULL), 0, "nobody's buffers are as those of UDP");
	/* what the receiver's check of source ports goes by */
	WORKS_ERRNO(as_nobody(binds_udp, &port), EACCES, "nobody has not the port of shuffles");
	WORKS_ERRNO(as_nobody(binds_udp, &source), EACCES, "nor one that they speak from");
	WORKS_ERRNO(as_nobody(binds_udp, &high_port), 0, "nobody has another one");
	WORKS_ERRNO(as_nobody(opens_raw, NULL), EPERM, "nobody has no raw socket");
	WORKS_ERRNO(as_nobody(opens_packet, NULL), EPERM, "nor one of packets");
}

/* ---- what is told ---- */

/**
 * struct secret - bytes that are looked for
 * @name: what they are
 * @bytes: as they lie in memory
 * @len: their number
 */
struct secret {
	const char	*name;
	uint8_t		bytes[16];
	size_t		len;
};

static struct secret secrets[16];
static unsigned int n_secrets;

static void add_secret(const char *name, const void *bytes, size_t len)
{
	if (n_secrets == sizeof(secrets) / sizeof(secrets[0]))
		return;
	secrets[n_secrets].name = name;
	secrets[n_secrets].len = len;
	memcpy(secrets[n_secrets++].bytes, bytes, len);
}

/* 48 bits that are random, in either order of bytes. */
static void add_nonce(uint64_t nonce)
{
	uint64_t big = __builtin_bswap64(nonce) >> 16;

	add_secret("a nonce", &nonce, 6);
	add_secret("a nonce, as on the wire", &big, 6);
}

/* Records on the loopback, of the packets that @fd has caught. */
static unsigned int catch_nonces(int fd)
{
	const unsigned int hdr = (v6 ? 40 : 20) + 8;
	static uint8_t buf[70000];
	struct shuffle_wire w;
	unsigned int n = 0;
	ssize_t len;

	while ((len = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		size_t rest = len - hdr, have = rest;

		if ((size_t)len <= hdr || (buf[hdr - 6] << 8 | buf[hdr - 5]) != UDP_PORT)
			continue;
		if (have > SHUFFLE_WIRE_MAX_HDR)
			have = SHUFFLE_WIRE_MAX_HDR;
		if (shuffle_wire_parse(buf + hdr, have, rest, &w) <= 0 || w.op_id != OP || !w.nonce)
			continue;
		if (w.type == SHUFFLE_DATA && n++ < 4)
			add_nonce(w.nonce);
	}
	return n;
}

/* What is answered to a request, as it is.  -> how many of the @secrets, or of the operation's
 * number, there are in it.
 */
static unsigned int told(int fd, void *req, size_t len, unsigned int *numbers)
{
	static char buf[NL_BUF] __attribute__((aligned(8)));
	const uint64_t op = OP;
	struct nlmsghdr *h = req;
	unsigned int found = 0, i;
	bool done = false;
	ssize_t n;

	h->nlmsg_len = len;
	h->nlmsg_seq = 77;
	if (send(fd, req, len, 0) < 0)
		return 99;
	while (!done) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };

		if (poll(&pfd, 1, WAIT_MS) <= 0)
			return 99;
		n = recv(fd, buf, sizeof(buf), 0);
		if (n <= 0)
			return 99;
		*numbers += !!memmem(buf, n, &op, sizeof(op));
		for (i = 0; i < n_secrets; i++) {
			if (!memmem(buf, n, secrets[i].bytes, secrets[i].len))
				continue;
			printf("# command %d tells %s\n", h->nlmsg_type == SOCK_DIAG_BY_FAMILY ?
			       -1 : ((char *)req)[NLMSG_HDRLEN], secrets[i].name);
			found++;
		}
		for (h = (void *)buf; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n))
			done |= h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR;
		h = req;
	}
	return found;
}

/* All dumps there are. */
static unsigned int told_of_all(unsigned int *numbers)
{
	static const uint8_t dumps[] = {
		SHUFFLE_CMD_CONFIG_GET, SHUFFLE_CMD_OP_GET, SHUFFLE_CMD_MSG_GET,
		SHUFFLE_CMD_PEER_GET, SHUFFLE_CMD_SOCKET_GET, SHUFFLE_CMD_STATS_GET,
	};
	struct {
		struct nlmsghdr h;
		struct shuffle_diag_req q;
	} diag = {
		.h = { .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.q = { .sdiag_family = sht_family(), .shdiag_states = ~0U },
	};
	unsigned int i, found = 0;
	struct nl_req r;
	int fd;

	for (i = 0; i < sizeof(dumps); i++) {
		nl_begin(&r, dumps[i], NLM_F_DUMP);
		if (dumps[i] == SHUFFLE_CMD_MSG_GET)
			nl_u64(&r, SHUFFLE_A_MSG_OP_ID, OP);
		fd = nl_open();
		found += told(fd, r.buf, r.len, numbers);
		close(fd);
	}
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	found += told(fd, &diag, sizeof(diag), numbers);
	close(fd);
	return found;
}

/* 0: nothing that is secret, and the number of the operation, which is searched for likewise. */
static int reads(void *arg)
{
	unsigned int numbers = 0, found = told_of_all(&numbers);

	(void)arg;
	return found ? 1 : numbers ? 0 : 2;
}

static void test_what_is_told(void)
{
	static uint16_t overcommit = SHUFFLE_A_CONFIG_OVERCOMMIT;
	struct sockaddr_ll lo = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	uint64_t key[2] = { sht_mix(KEY), sht_mix(~(uint64_t)KEY) };
	const struct sht_before before = { "", KEY };
	int fds[2], capture, i, events = nl_open();
	static char data[3000];

	nl_join(events, SHUFFLE_MCGRP_OPS);
	capture = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));
	if (capture < 0 || bind(capture, (struct sockaddr *)&lo, sizeof(lo)))
		tap_bail("no socket of packets: %s", strerror(errno));
	for (i = 0; i < 2; i++)
		my_addr(&members[i]);
	for (i = 0; i < 2; i++)
		fds[i] = sht_open_with(&before, members, 2, i, 0);
	/* it goes on: rank 1 has more to say than it says */
	WORKS(send_row(fds[0], OP, 0, 1000, data, 1000, 0) == 1000 &&
	      send_row(fds[1], OP, 2000000, 0, data, 100, MSG_DONTWAIT) >= 0,
	      "an operation with a key");
	usleep(200000);
	add_secret("the key", key, sizeof(key));
	add_secret("half of the key", key, 8);
	add_secret("half of the key", key + 1, 8);
	WORKED(catch_nonces(capture) > 0, "root sees its nonces on the wire");
	close(capture);

	WORKS_EQ(as_nobody(reads, NULL), 0, "nobody reads of it, but neither nonce nor key");
	WORKS_EQ(reads(NULL), 0, "nor does root");
	WORKS_ERRNO(as_nobody(sets, &overcommit), EPERM, "nobody changes no setting");
	WORKS_ERRNO(as_nobody(sets_mem_max, NULL), EPERM, "nor mem-max");
	WORKS_ERRNO(sets_mem_max(NULL), EOPNOTSUPP, "which is not this namespace's");
	WORKS_ERRNO(as_nobody(cancels, NULL), EPERM, "nobody cancels no operation of others");
	WORKS_ERRNO(sets(&overcommit), 0, "root changes a setting");
	WORKS_ERRNO(cancels(NULL), 0, "and cancels");
	close_pair(fds);
	close(events);
}

int main(int argc, char **argv)
{
	api_start(argc, argv);
	test_calls();
	test_what_is_told();
	return api_finish();
}
