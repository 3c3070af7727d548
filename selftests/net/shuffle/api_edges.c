// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Members with several addresses: each knows the others by the addresses of the way between them
 * (struct shuffle_edge).  What is refused, what is read back, and by which addresses packets go.
 * TAP.
 *
 *	api_edges [-v 6]
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <libgen.h>

#include "api.h"

static const char *program;

struct edges {
	struct shuffle_group g;
	struct shuffle_edge e[SHUFFLE_LOCALS + 1];
};

/* Address @host of this machine: 127.0.0.x, or fd99::x. */
static void put(uint8_t *addr, unsigned int host)
{
	char text[32];

	snprintf(text, sizeof(text), v6 ? "fd99::%x" : "127.0.0.%u", host);
	memset(addr, 0, 16);
	inet_pton(v6 ? AF_INET6 : AF_INET, text, addr);
}

/* Member @i is at @host and @port; 0 or our address towards it. */
static void edge(struct edges *g, unsigned int i, unsigned int host, uint16_t port,
		 unsigned int local)
{
	sht_addr(&g->e[i].member, SHT_LO, v6, 0, port);
	put(g->e[i].member.shs_addr, host);
	memset(g->e[i].local, 0, sizeof(g->e[i].local));
	if (local)
		put(g->e[i].local, local);
}

static struct edges group(unsigned int rank, unsigned int count)
{
	struct edges g;

	memset(&g, 0, sizeof(g));
	g.g.size = sizeof(g.g);
	g.g.member_size = sizeof(g.e[0]);
	g.g.rank = rank;
	g.g.count = count;
	return g;
}

static int set(int fd, const struct edges *g)
{
	return setsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, g,
			  sizeof(g->g) + g->g.count * sizeof(g->e[0]));
}

static int bound(unsigned int host, uint16_t port)
{
	struct sockaddr_shuffle a;
	int fd = new_socket(0);

	sht_addr(&a, SHT_LO, v6, 0, port);
	put(a.shs_addr, host);
	if (fd < 0 || bind_to(fd, &a)) {
		printf("Bail out! no socket: %s\n", strerror(errno));
		exit(1);
	}
	return fd;
}

static const char *shufflectl(void)
{
	static char path[400];

	snprintf(path, sizeof(path), "%s/shufflectl", dirname(strdupa(program)));
	return path;
}

/* Does the dump of sockets, as text or JSON, have these words? */
static bool dump_has(const char *options, const char *words)
{
	static char out[65536];
	char cmd[512];
	size_t n;
	FILE *p;

	snprintf(cmd, sizeof(cmd), "%s %s socket", shufflectl(), options);
	p = popen(cmd, "r");
	if (!p)
		return false;
	n = fread(out, 1, sizeof(out) - 1, p);
	out[n] = '\0';
	return !pclose(p) && strstr(out, words);
}

/* Addresses 1, 21, 22, ... as "shufflectl socket" has them. */
static void test_dump(void)
{
	char text[512] = "local ", json[1024] = "\"local\":[", one[48];
	const char *host = v6 ? "fd99::" : "127.0.0.";
	unsigned int i;

	if (access(shufflectl(), X_OK)) {
		tap_skip("all addresses are dumped", "no shufflectl beside this program");
		return;
	}
	for (i = 0; i < SHUFFLE_LOCALS; i++) {
		snprintf(one, sizeof(one), v6 ? "%s%s%x" : "%s%s%u", i ? "," : "", host,
			 i ? 20 + i : 1);
		strcat(text, one);
		snprintf(one, sizeof(one), v6 ? "%s{\"ipv6\":\"%s%x\"}" : "%s{\"ipv4\":\"%s%u\"}",
			 i ? "," : "", host, i ? 20 + i : 1);
		strcat(json, one);
	}
	strcat(json, "]");
	WORKS(dump_has("", text), "all addresses are dumped");
	WORKS(dump_has("-j", json), "and in JSON");
}

static void test_refused(void)
{
	int fd = bound(1, 7000), other = bound(5, 7000), i;
	struct edges g = group(0, 2), back;
	struct sockaddr_shuffle a;
	socklen_t len = sizeof(back);

	edge(&g, 0, 1, 7000, 0);
	edge(&g, 1, 2, 7001, 0);
	inet_pton(v6 ? AF_INET6 : AF_INET, v6 ? "2001:db8::1" : "192.0.2.1", g.e[1].local);
	FAILS(set(fd, &g), "a local address that is none of ours", EADDRNOTAVAIL);
	inet_pton(v6 ? AF_INET6 : AF_INET, v6 ? "ff02::1" : "224.0.0.1", g.e[1].local);
	FAILS(set(fd, &g), "a multicast one", EADDRNOTAVAIL);
	edge(&g, 1, 2, 7001, 3);
	if (v6) {
		inet_pton(AF_INET6, "fe80::99", g.e[1].local);
		FAILS(set(fd, &g), "a link-local one of ours", EINVAL);
	} else {
		g.e[1].local[15] = 1;
		FAILS(set(fd, &g), "bytes behind an IPv4 one", EINVAL);
	}
	edge(&g, 0, 1, 7000, 3);
	edge(&g, 1, 2, 7001, 0);
	FAILS(set(fd, &g), "another one towards ourselves", EINVAL);
	edge(&g, 0, 1, 7000, 1);
	edge(&g, 1, 2, 7001, 1);
	WORKS_EQ(set(fd, &g), 0, "that to which the socket is bound");
	WORKS(EXPECT_EQ(getsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, &back, &len), 0) &&
	      EXPECT_EQ(len, sizeof(g.g) + 2 * sizeof(g.e[0])) && EXPECT_MEM(&back, &g, len),
	      "read back");
	edge(&g, 0, 1, 7000, 0);
	edge(&g, 1, 2, 7001, 5);
	FAILS(set(fd, &g), "where another socket is bound", EADDRINUSE);
	len = sizeof(back);
	g = group(0, 2);
	edge(&g, 0, 1, 7000, 1);
	edge(&g, 1, 2, 7001, 1);
	WORKS(EXPECT_EQ(getsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, &back, &len), 0) &&
	      EXPECT_MEM(&back, &g, len), "the group is that from before");
	g = group(0, SHUFFLE_LOCALS + 1);
	edge(&g, 0, 1, 7000, 0);
	for (i = 1; i <= SHUFFLE_LOCALS; i++)
		edge(&g, i, 10 + i, 7001, 20 + i);
	FAILS(set(fd, &g), "more addresses than there may be", EINVAL);
	edge(&g, SHUFFLE_LOCALS, 10 + SHUFFLE_LOCALS, 7001, 21);
	WORKS_EQ(set(fd, &g), 0, "as many as there may be");
	len = sizeof(back);
	g.e[0].local[0] = 0;
	put(g.e[0].local, 1);
	WORKS(EXPECT_EQ(getsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, &back, &len), 0) &&
	      EXPECT_EQ(len, sizeof(g)) && EXPECT_MEM(&back, &g, len),
	      "read back with all addresses");
	test_dump();
	close(other);
	/* they are the socket's as long as its group has them */
	other = new_socket(0);
	sht_addr(&a, SHT_LO, v6, 0, 7000);
	put(a.shs_addr, 21);
	FAILS(bind_to(other, &a), "bound where a group's socket is", EADDRINUSE);
	g = group(0, 2);
	edge(&g, 0, 1, 7000, 0);
	edge(&g, 1, 2, 7001, 22);
	WORKS_EQ(set(fd, &g), 0, "another group");
	WORKS(!dump_has("", "127.0.0.21") && !dump_has("", "fd99::15"), "it has no such address");
	WORKS_EQ(bind_to(other, &a), 0, "free when the group has gone");
	close(other);
	close(fd);
	other = bound(22, 7000);
	WORKS(EXPECT_GE(other, 0), "free when the socket has gone");
	close(other);
}

static void begin(int fd, uint64_t op, uint32_t idle_ms)
{
	if (setsockopt(fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle_ms, sizeof(idle_ms)))
		result(false, "idle timeout", strerror(errno));
	send_row(fd, op, 1, 1, "ab", 2, 0);
}

/* Its end, and which ranks' messages have come. */
static int read_op(int fd, uint64_t op, unsigned int *from)
{
	*from = 0;
	return read_end_from(fd, op, from);
}

/*
 * Member 0 is at 1, and at 3 for member 1, which is at 2, and at 4 for member 0.  Where a member
 * must not take a message, it has its own only when the operation fails.
 */
static void test_way(void)
{
	int fds[2] = { bound(1, 7010), bound(2, 7011) }, errors[2], i;
	struct edges g[2] = { group(0, 2), group(1, 2) };
	unsigned int from[2];

	edge(&g[0], 0, 1, 7010, 0);
	edge(&g[0], 1, 4, 7011, 3);
	edge(&g[1], 0, 3, 7010, 4);
	edge(&g[1], 1, 2, 7011, 0);
	WORKS(EXPECT_EQ(set(fds[0], &g[0]), 0) && EXPECT_EQ(set(fds[1], &g[1]), 0),
	      "two members with two addresses each");
	for (i = 0; i < 2; i++)
		begin(fds[i], next_op, WAIT_MS);
	for (i = 0; i < 2; i++)
		errors[i] = read_op(fds[i], next_op, &from[i]);
	next_op++;
	WORKS(EXPECT_ERRNO(errors[0], 0) && EXPECT_ERRNO(errors[1], 0) && EXPECT_EQ(from[0], 3) &&
	      EXPECT_EQ(from[1], 3), "messages go by the addresses of the edge");
	/* the socket is there, but this is not the member's way to it */
	edge(&g[0], 1, 2, 7011, 3);
	WORKS_EQ(set(fds[0], &g[0]), 0, "by the address to which the other one is bound");
	for (i = 0; i < 2; i++)
		begin(fds[i], next_op, 300);
	WORKS(EXPECT_ERRNO(read_op(fds[1], next_op, &from[1]), ETIMEDOUT) && EXPECT_EQ(from[1], 2),
	      "what comes to another address is not taken");
	WORKS_ERRNO(read_op(fds[0], next_op, &from[0]), ETIMEDOUT, "and nobody answers");
	next_op++;
	/* found by the right address, but from another one; its answers would find us */
	edge(&g[0], 1, 4, 7011, 0);
	WORKS_EQ(set(fds[0], &g[0]), 0, "from the address to which we are bound");
	/* in a group that it has met nobody in: else its host says that who was at 3 is gone */
	EXPECT_EQ(set(fds[1], &g[1]), 0);
	for (i = 0; i < 2; i++)
		begin(fds[i], next_op, 300);
	WORKS(EXPECT_ERRNO(read_op(fds[1], next_op, &from[1]), ETIMEDOUT) && EXPECT_EQ(from[1], 2),
	      "what comes from another address is not taken");
	WORKS_ERRNO(read_op(fds[0], next_op, &from[0]), ETIMEDOUT, "and nobody answers");
	next_op++;
	close_pair(fds);
}

/* One address would have to be the source of what goes to all. */
static void test_multicast(void)
{
	struct shuffle_multicast m = {
		.size = sizeof(m), .ip_family = v6 ? AF_INET6 : AF_INET,
	};
	struct edges g = group(0, 2);
	int fd = bound(1, 7020);

	inet_pton(m.ip_family, v6 ? "ff02::4242" : "239.77.0.1", m.addr);
	edge(&g, 0, 1, 7020, 0);
	edge(&g, 1, 2, 7020, 3);
	if (setsockopt(fd, SOL_SHUFFLE, SHUFFLE_MULTICAST, &m, sizeof(m)))
		result(false, "a multicast address", strerror(errno));
	FAILS(set(fd, &g), "edges and a multicast address", EINVAL);
	close(fd);
}

int main(int argc, char **argv)
{
	unsigned int i;
	char cmd[64];

	program = argv[0];
	api_start(argc, argv);
	for (i = 1; v6 && i < 32; i++) {
		snprintf(cmd, sizeof(cmd), "ip addr add fd99::%x/128 dev lo nodad", i);
		if (system(cmd)) {
			printf("Bail out! %s\n", cmd);
			return 1;
		}
	}
	if (v6 && system("ip addr add fe80::99/64 dev lo nodad")) {
		printf("Bail out! no link-local address\n");
		return 1;
	}
	test_refused();
	test_way();
	test_multicast();
	return api_finish();
}
