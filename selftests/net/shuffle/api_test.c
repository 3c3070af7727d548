// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Naming calls of AF_SHUFFLE sockets (socket, bind, options): every bad length,
 * address, option and state has its errno, and good ones still work afterwards.
 *
 *	api_test [-v 4|6]
 *
 * Runs as root in a network namespace of its own, on the loopback.  TAP on
 * standard output.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api.h"

static void test_socket(void)
{
	int f = sht_family(), sv[2], fd;

	FAILS(socket(f, SOCK_STREAM, 0), "socket: SOCK_STREAM", ESOCKTNOSUPPORT);
	FAILS(socket(f, SOCK_DGRAM, 0), "socket: SOCK_DGRAM", ESOCKTNOSUPPORT);
	FAILS(socket(f, SOCK_RAW, 0), "socket: SOCK_RAW", ESOCKTNOSUPPORT);
	FAILS(socket(f, SOCK_SEQPACKET, 1), "socket: protocol 1",
	      EPROTONOSUPPORT);
	FAILS(socketpair(f, SOCK_SEQPACKET, 0, sv), "socketpair", EOPNOTSUPP);
	fd = new_socket(SOCK_NONBLOCK);
	WORKS(EXPECT_GE(fd, 0) && (fcntl(fd, F_GETFL) & O_NONBLOCK), "socket: SOCK_NONBLOCK");
	close(fd);
}

static void test_bind(void)
{
	struct sockaddr_shuffle a, b, got;
	struct sockaddr_storage big;
	int fd = new_socket(0), fd2 = new_socket(0);
	socklen_t len;

	my_addr(&a);
	FAILS(bind(fd, (struct sockaddr *)&a, sizeof(a) - 1),
	      "bind: address too short", EINVAL);
	FAILS(bind(fd, (struct sockaddr *)&a, 2), "bind: family only", EINVAL);
	FAILS(bind(fd, (struct sockaddr *)&a, 0), "bind: no address", EINVAL);
	FAILS(bind(fd, (struct sockaddr *)8, sizeof(a)), "bind: bad pointer",
	      EFAULT);
	memset(&big, 0, sizeof(big));
	memcpy(&big, &a, sizeof(a));
	((char *)&big)[sizeof(a)] = 1;
	b = a;
	b.shs_family = AF_INET;
	FAILS(bind_to(fd, &b), "bind: AF_INET", EAFNOSUPPORT);
	b = a;
	b.shs_ip_family = AF_UNIX;
	FAILS(bind_to(fd, &b), "bind: IP family AF_UNIX", EAFNOSUPPORT);
	b = a;
	b.shs_ip_family = 0;
	FAILS(bind_to(fd, &b), "bind: IP family 0", EAFNOSUPPORT);
	b = a;
	b.shs_reserved = 1;
	FAILS(bind_to(fd, &b), "bind: reserved field", EINVAL);
	b = a;
	b.shs_scope_id = 1;
	FAILS(bind_to(fd, &b), "bind: scope without link-local", EINVAL);
	memset(&b.shs_addr, 0, sizeof(b.shs_addr));
	b.shs_scope_id = 0;
	FAILS(bind_to(fd, &b), "bind: wildcard", EADDRNOTAVAIL);
	b = a;
	inet_pton(v6 ? AF_INET6 : AF_INET, v6 ? "ff02::1" : "224.0.0.1",
		  b.shs_addr);
	FAILS(bind_to(fd, &b), "bind: multicast", EADDRNOTAVAIL);
	inet_pton(v6 ? AF_INET6 : AF_INET, v6 ? "2001:db8::1" : "192.0.2.1",
		  b.shs_addr);
	FAILS(bind_to(fd, &b), "bind: not our address", EADDRNOTAVAIL);
	if (v6) {
		b = a;
		inet_pton(AF_INET6, "fe80::1", b.shs_addr);
		FAILS(bind_to(fd, &b), "bind: link-local without scope",
		      EADDRNOTAVAIL);
		inet_pton(AF_INET6, "::ffff:127.0.0.1", b.shs_addr);
		FAILS(bind_to(fd, &b), "bind: mapped IPv4", EADDRNOTAVAIL);
	} else {
		b = a;
		b.shs_addr[15] = 1;
		FAILS(bind_to(fd, &b), "bind: bytes behind an IPv4 address",
		      EINVAL);
		b = a;
		memset(b.shs_addr, 255, 4);
		FAILS(bind_to(fd, &b), "bind: broadcast", EADDRNOTAVAIL);
		sht_addr(&b, SHT_LO, 1, 0, 0);
		if (!sht_has_ipv6())
			FAILS(bind_to(fd, &b), "bind: no IPv6 in this kernel", EAFNOSUPPORT);
	}
	len = sizeof(got);
	memset(&got, 0xff, sizeof(got));
	WORKS(!getsockname(fd, (struct sockaddr *)&got, &len) && EXPECT_EQ(len, sizeof(got)) &&
	      EXPECT_EQ(got.shs_family, sht_family()) && !got.shs_port && !got.shs_reserved,
	      "getsockname: not bound");
	WORKS_EQ(bind_to(fd, &a), 0, "bind");
	FAILS(bind_to(fd, &a), "bind: twice", EINVAL);
	FAILS(bind_to(fd2, &a), "bind: in use", EADDRINUSE);
	b = a;
	b.shs_port = 0;
	len = sizeof(got);
	WORKS(EXPECT_EQ(bind_to(fd2, &b), 0) && !getsockname(fd2, (struct sockaddr *)&got, &len) &&
	      got.shs_port && EXPECT_NE(got.shs_port, a.shs_port), "bind: port 0");
	len = sizeof(got);
	WORKS(!getsockname(fd, (struct sockaddr *)&got, &len) && EXPECT_EQ(len, sizeof(got)) &&
	      EXPECT_MEM(&got, &a, sizeof(a)), "getsockname: what was bound");
	close(fd);
	fd = new_socket(0);
	WORKS_EQ(bind_to(fd, &a), 0, "bind: free again after close");
	close(fd);
	close(fd2);
	fd = new_socket(0);
	memcpy(&big, &a, sizeof(a));
	WORKS(!bind(fd, (struct sockaddr *)&big, sizeof(big)) ||
	      errno == EINVAL, "bind: address too long is taken or EINVAL");
	close(fd);
}

static void test_other_calls(void)
{
	struct sockaddr_shuffle m[2];
	int fds[2], n;
	socklen_t len = sizeof(m[0]);

	open_pair(fds, m, 0);
	FAILS(connect(fds[0], (struct sockaddr *)&m[1], sizeof(m[1])),
	      "connect", EOPNOTSUPP);
	FAILS(listen(fds[0], 1), "listen", EOPNOTSUPP);
	FAILS(accept(fds[0], NULL, NULL), "accept", EOPNOTSUPP);
	FAILS(getpeername(fds[0], (struct sockaddr *)&m[1], &len), "getpeername", ENOTCONN);
	FAILS(shutdown(fds[0], SHUT_RDWR), "shutdown, of reading, too", EOPNOTSUPP);
	FAILS(ioctl(fds[0], 0x5401, &n), "ioctl: unknown", is_compat() ? ENOTTY : EOPNOTSUPP);
	FAILS((long)mmap(NULL, 4096, PROT_READ, MAP_SHARED, fds[0], 0), "mmap", ENODEV);
	WORKS(pair_works(fds), "the pair still shuffles");
	close_pair(fds);
}

struct group_buf {
	struct shuffle_group g;
	struct sockaddr_shuffle m[4];
};

#define GROUP_SIZE(n)	(sizeof(struct shuffle_group) +			\
			 (n) * sizeof(struct sockaddr_shuffle))

static int set_group(int fd, const void *group, socklen_t len)
{
	return setsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, group, len);
}

static void test_group(void)
{
	int fd = new_socket(0), big_n = SHUFFLE_MAX_MEMBERS, mixed = EINVAL;
	struct sockaddr_shuffle *big;
	struct group_buf gb, want, got;
	struct shuffle_group *huge;
	socklen_t len;

	memset(&gb, 0, sizeof(gb));
	gb.g.size = sizeof(gb.g);
	gb.g.member_size = sizeof(gb.m[0]);
	gb.g.count = 2;
	my_addr(&gb.m[0]);
	my_addr(&gb.m[1]);
	my_addr(&gb.m[2]);
	want = gb;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: not bound", EINVAL);
	len = sizeof(got);
	FAILS(getsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, &got, &len),
	      "group: get before set", ENOTCONN);
	bind_to(fd, &gb.m[0]);
	FAILS(set_group(fd, &gb, 0), "group: length 0", EINVAL);
	FAILS(set_group(fd, &gb, 4), "group: length 4", EINVAL);
	FAILS(set_group(fd, &gb, GROUP_SIZE(2) - 1), "group: one byte short",
	      EINVAL);
	FAILS(set_group(fd, &gb, GROUP_SIZE(2) + 1), "group: one byte long",
	      EINVAL);
	FAILS(set_group(fd, &gb, GROUP_SIZE(1)), "group: fewer than count",
	      EINVAL);
	FAILS(set_group(fd, &gb, GROUP_SIZE(3)), "group: more than count",
	      EINVAL);
	FAILS(set_group(fd, (void *)8, GROUP_SIZE(2)), "group: bad pointer",
	      EFAULT);
	gb.g.count = 0;
	FAILS(set_group(fd, &gb, GROUP_SIZE(0)), "group: no members", EINVAL);
	gb.g.count = SHUFFLE_MAX_MEMBERS + 1;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: too many", EINVAL);
	gb.g.count = 0xffffffff;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: 2^32 - 1 members",
	      EINVAL);
	gb = want;
	gb.g.rank = 2;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: rank = count", EINVAL);
	gb.g.rank = 0xffffffff;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: rank 2^32 - 1", EINVAL);
	gb.g.rank = 1;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: rank of another", EADDRNOTAVAIL);
	gb = want;
	gb.m[1].shs_port = 0;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: port 0", EINVAL);
	gb = want;
	gb.m[1].shs_reserved = 7;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: reserved field",
	      EINVAL);
	gb = want;
	gb.m[1].shs_family = AF_INET6;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: family of a member", EAFNOSUPPORT);
	gb = want;
	sht_addr(&gb.m[1], SHT_LO, !v6, 0, next_port);
	if (!sht_has_ipv6())
		mixed = EAFNOSUPPORT;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: IPv4 and IPv6 mixed", mixed);
	gb = want;
	gb.m[1] = gb.m[0];
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: a member twice",
	      EINVAL);
	len = sizeof(got);
	FAILS(getsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, &got, &len),
	      "group: still none", ENOTCONN);
	gb = want;
	WORKS(!set_group(fd, &gb, GROUP_SIZE(2)), "group: set");
	len = sizeof(got);
	WORKS(EXPECT_EQ(getsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, &got, &len), 0) &&
	      EXPECT_EQ(len, GROUP_SIZE(2)) && EXPECT_MEM(&got, &gb, len), "group: get");
	len = 3;
	FAILS(getsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, &got, &len), "group: get with no room",
	      EINVAL);
	len = -1;
	FAILS(getsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, &got, &len),
	      "group: get with length -1", EINVAL);
	len = sizeof(got);
	FAILS(getsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, (void *)8, &len),
	      "group: get to a bad pointer", EFAULT);
	gb.g.count = 3;
	WORKS(!set_group(fd, &gb, GROUP_SIZE(3)), "group: another one");

	huge = calloc(1, GROUP_SIZE(big_n));
	huge->size = sizeof(*huge);
	huge->member_size = sizeof(huge->members[0]);
	huge->count = big_n;
	big = huge->members;
	big[0] = gb.m[0];
	for (int i = 1; i < big_n; i++)
		sht_addr(&big[i], SHT_LO, v6, 0, 20000 + i);
	WORKS(!set_group(fd, huge, GROUP_SIZE(big_n)),
	      "group: as many as there may be");
	free(huge);
	close(fd);
}

/* Programs that know less, or more, than the kernel does. */
static void test_group_sizes(void)
{
	struct {
		struct shuffle_group g;
		uint32_t more[2];
		struct {
			struct sockaddr_shuffle a;
			uint32_t more;
		} m[2];
	} big;
	struct group_buf gb, got;
	int fd = new_socket(0);
	socklen_t len;

	memset(&gb, 0, sizeof(gb));
	gb.g.count = 2;
	gb.g.size = sizeof(gb.g);
	gb.g.member_size = sizeof(gb.m[0]);
	my_addr(&gb.m[0]);
	my_addr(&gb.m[1]);
	bind_to(fd, &gb.m[0]);
	gb.g.size = 0;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: size 0", EINVAL);
	gb.g.size = SHUFFLE_GROUP_SIZE_VER0 - 8;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: size of less than the first version",
	      EINVAL);
	gb.g.size = sizeof(gb.g) + sizeof(gb.m[0]) + 4;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: size of more", EINVAL);
	gb.g.size = 0xfffffff8;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: size 2^32 - 8", EINVAL);
	gb.g.size = sizeof(gb.g);
	gb.g.member_size = SHUFFLE_MEMBER_SIZE_VER0 - 4;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2) - 8), "group: members of less", EINVAL);
	gb.g.member_size = 0xfffffffc;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: members of 2^32 - 4 bytes", EINVAL);
	gb.g.member_size = 0;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: members of no bytes", EINVAL);
	gb.g.member_size = sizeof(gb.m[0]);
	gb.g.flags = 1;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: a flag", EINVAL);
	gb.g.flags = 0;
	gb.g.reserved = 1;
	FAILS(set_group(fd, &gb, GROUP_SIZE(2)), "group: reserved field", EINVAL);
	gb.g.reserved = 0;

	memset(&big, 0, sizeof(big));
	big.g = gb.g;
	big.g.size = sizeof(big.g) + sizeof(big.more);
	big.g.member_size = sizeof(big.m[0]);
	big.m[0].a = gb.m[0];
	big.m[1].a = gb.m[1];
	big.more[1] = 1;
	FAILS(set_group(fd, &big, sizeof(big)), "group: a field that the kernel does not know",
	      E2BIG);
	big.more[1] = 0;
	big.m[1].more = 1;
	FAILS(set_group(fd, &big, sizeof(big)), "group: such a field of a member", E2BIG);
	big.m[1].more = 0;
	WORKS(!set_group(fd, &big, sizeof(big)), "group: the same, zero");
	len = sizeof(got);
	WORKS(EXPECT_EQ(getsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, &got, &len), 0) &&
	      EXPECT_EQ(len, GROUP_SIZE(2)) && EXPECT_MEM(&got, &gb, len),
	      "group: get has the kernel's sizes");
	close(fd);
}

/* One value by two names; without ECN, which is not the program's. */
static void test_traffic_class(int fd)
{
	socklen_t len = sizeof(int);
	int tos = 0x87, got = -1;
	uint8_t byte;

	WORKS(EXPECT_EQ(setsockopt(fd, SOL_IP, IP_TOS, &tos, sizeof(tos)), 0) &&
	      EXPECT_EQ(getsockopt(fd, SOL_IP, IP_TOS, &got, &len), 0) && EXPECT_EQ(got, 0x84) &&
	      EXPECT_EQ(len, sizeof(int)), "IP_TOS");
	tos = 0x88;
	WORKS(EXPECT_EQ(setsockopt(fd, SOL_IPV6, IPV6_TCLASS, &tos, sizeof(tos)), 0) &&
	      EXPECT_EQ(getsockopt(fd, SOL_IP, IP_TOS, &got, &len), 0) && EXPECT_EQ(got, 0x88) &&
	      EXPECT_EQ(getsockopt(fd, SOL_IPV6, IPV6_TCLASS, &got, &len), 0) &&
	      EXPECT_EQ(got, 0x88), "IPV6_TCLASS");
	tos = 256;
	FAILS(setsockopt(fd, SOL_IP, IP_TOS, &tos, sizeof(tos)), "IP_TOS: 256", EINVAL);
	tos = -1;
	FAILS(setsockopt(fd, SOL_IP, IP_TOS, &tos, sizeof(tos)), "IP_TOS: -1", EINVAL);
	WORKS(EXPECT_EQ(setsockopt(fd, SOL_IPV6, IPV6_TCLASS, &tos, sizeof(tos)), 0) &&
	      EXPECT_EQ(getsockopt(fd, SOL_IPV6, IPV6_TCLASS, &got, &len), 0) && !got,
	      "IPV6_TCLASS: -1");
	byte = 0x88;
	WORKS_EQ(setsockopt(fd, SOL_IP, IP_TOS, &byte, 1), 0, "IP_TOS: a byte");
	FAILS(setsockopt(fd, SOL_IP, IP_TOS, &byte, 0), "IP_TOS: no bytes", EINVAL);
	FAILS(setsockopt(fd, SOL_IPV6, IPV6_TCLASS, &byte, 1), "IPV6_TCLASS: a byte", EINVAL);
	FAILS(setsockopt(fd, SOL_IP, IP_TOS, (void *)8, 4), "IP_TOS: bad pointer", EFAULT);
	len = 1;
	byte = 0;
	WORKS(EXPECT_EQ(getsockopt(fd, SOL_IP, IP_TOS, &byte, &len), 0) && EXPECT_EQ(len, 1) &&
	      EXPECT_EQ(byte, 0x88), "IP_TOS: get a byte");
	FAILS(getsockopt(fd, SOL_IPV6, IPV6_TCLASS, &byte, &len), "IPV6_TCLASS: get a byte",
	      EINVAL);
	len = sizeof(int);
	FAILS(setsockopt(fd, SOL_IP, IP_TTL, &got, sizeof(got)), "IP_TTL", ENOPROTOOPT);
	FAILS(getsockopt(fd, SOL_IP, IP_TTL, &got, &len), "IP_TTL: get", ENOPROTOOPT);
	WORKS(EXPECT_EQ(getsockopt(fd, SOL_IP, IP_TOS, &got, &len), 0) && EXPECT_EQ(got, 0x88),
	      "IP_TOS: as before");
}

static void test_shuffle_options(void)
{
	struct sockaddr_shuffle m[2];
	uint64_t op = 99;
	uint32_t ms = 0;
	socklen_t len;
	int fds[2];

	open_pair(fds, m, 0);
	FAILS(sht_cancel(fds[0], 12345), "cancel: unknown operation", ENOENT);
	FAILS(setsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_CANCEL, &op, 4),
	      "cancel: too short", EINVAL);
	FAILS(setsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_CANCEL, (void *)8, 8),
	      "cancel: bad pointer", EFAULT);
	len = 8;
	WORKS(EXPECT_EQ(getsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_CANCEL, &op, &len), 0) && !op &&
	      EXPECT_EQ(len, 8), "cancel: get, none yet");
	len = 7;
	FAILS(getsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_CANCEL, &op, &len),
	      "cancel: get with too little room", EINVAL);
	send_row(fds[0], 4711, 1, 1, "ab", 2, 0);
	len = 8;
	WORKS(EXPECT_EQ(sht_cancel(fds[0], 4711), 0) &&
	      EXPECT_EQ(getsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_CANCEL, &op, &len), 0) &&
	      EXPECT_EQ(op, 4711), "cancel: get, the last one");
	WORKS_ERRNO(read_end(fds[0], 4711), ECANCELED, "cancel: it has ended");
	FAILS(setsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_CANCEL, &op, 8),
	      "cancel: again", ENOENT);
	ms = 1234;
	FAILS(setsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &ms, 3),
	      "idle timeout: too short", EINVAL);
	FAILS(setsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT,
			 (void *)8, 4), "idle timeout: bad pointer", EFAULT);
	WORKS_EQ(setsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &ms, 4), 0,
		 "idle timeout: set");
	ms = 0;
	len = sizeof(ms);
	WORKS(EXPECT_EQ(getsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &ms, &len), 0) &&
	      EXPECT_EQ(ms, 1234) && EXPECT_EQ(len, 4), "idle timeout: get");
	FAILS(setsockopt(fds[0], SOL_SHUFFLE, 77, &ms, 4), "option 77",
	      ENOPROTOOPT);
	FAILS(setsockopt(fds[0], SOL_SHUFFLE, 0, &ms, 4), "option 0",
	      ENOPROTOOPT);
	len = sizeof(ms);
	FAILS(getsockopt(fds[0], SOL_SHUFFLE, 77, &ms, &len), "get option 77",
	      ENOPROTOOPT);
	FAILS(setsockopt(fds[0], IPPROTO_TCP, 1, &ms, 4), "another level", ENOPROTOOPT);
	len = sizeof(ms);
	FAILS(getsockopt(fds[0], IPPROTO_TCP, 1, &ms, &len), "get at another level", ENOPROTOOPT);
	test_traffic_class(fds[0]);
	WORKS(pair_works(fds), "the pair still shuffles");
	close_pair(fds);
}

static bool group_again(const int fds[2], const struct sockaddr_shuffle *m)
{
	return !sht_set_group(fds[0], m, 2, 0) && !sht_set_group(fds[1], m, 2, 1);
}

static void test_key(void)
{
	struct sockaddr_shuffle m[2];
	char key[17] = "sixteen bytes...";
	socklen_t len = 16;
	int fds[2];

	open_pair(fds, m, 0);
	FAILS(setsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_KEY, key, 15), "key: too short", EINVAL);
	FAILS(setsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_KEY, key, 17), "key: too long", EINVAL);
	FAILS(setsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_KEY, (void *)8, 16), "key: bad pointer",
	      EFAULT);
	WORKS(pair_works(fds), "key: none after wrong calls");
	WORKS(EXPECT_EQ(setsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_KEY, key, 16), 0) &&
	      EXPECT_EQ(setsockopt(fds[1], SOL_SHUFFLE, SHUFFLE_KEY, key, 16), 0), "key: set");
	WORKS(pair_works(fds), "key: not for the group that was set before");
	WORKS(group_again(fds, m) && pair_works(fds), "key: for the next group");
	FAILS(getsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_KEY, key, &len), "key: get", ENOPROTOOPT);
	WORKS(EXPECT_EQ(setsockopt(fds[0], SOL_SHUFFLE, SHUFFLE_KEY, NULL, 0), 0) &&
	      group_again(fds, m), "key: one member takes it back");
	WORKS(EXPECT_EQ(setsockopt(fds[1], SOL_SHUFFLE, SHUFFLE_KEY, NULL, 0), 0) &&
	      group_again(fds, m) && pair_works(fds), "key: both have taken it back");
	close_pair(fds);
}

int main(int argc, char **argv)
{
	api_start(argc, argv);
	test_socket();
	test_bind();
	test_other_calls();
	test_group();
	test_group_sizes();
	test_shuffle_options();
	test_key();
	return api_finish();
}
