// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of racks: requests, answers, and the racks of groups.  TAP. */
#define _GNU_SOURCE
#include <arpa/inet.h>

#include "api.h"
#include "nl.h"

#define MEMBERS	6

/* An entry to be set; addr NULL: none, name NULL: none, len -1: not given. */
struct entry {
	const char *name;
	const char *addr;
	int len;
};

static void begin_nest(struct nl_req *r, size_t *at)
{
	*at = r->len;
	nl_add(r, SHUFFLE_A_TOPOLOGY_ENTRY | NLA_F_NESTED, NULL, 0);
}

static void end_nest(struct nl_req *r, size_t at)
{
	((struct nlattr *)(r->buf + at))->nla_len = r->len - at;
}

static void add_addr(struct nl_req *r, uint16_t v4, uint16_t v6_attr, const char *text)
{
	uint8_t addr[16];
	int is6 = !!strchr(text, ':');

	inet_pton(is6 ? AF_INET6 : AF_INET, text, addr);
	nl_add(r, is6 ? v6_attr : v4, addr, is6 ? 16 : 4);
}

static struct nl_result set(int nl, const struct entry *e, unsigned int n)
{
	struct nl_req r;
	size_t at;

	nl_begin(&r, SHUFFLE_CMD_TOPOLOGY_SET, 0);
	for (; n--; e++) {
		begin_nest(&r, &at);
		if (e->name)
			nl_add(&r, SHUFFLE_A_RACK_NAME, e->name, strlen(e->name) + 1);
		if (e->addr)
			add_addr(&r, SHUFFLE_A_RACK_IPV4, SHUFFLE_A_RACK_IPV6, e->addr);
		if (e->len >= 0)
			nl_u32(&r, SHUFFLE_A_RACK_LENGTH, e->len);
		end_nest(&r, at);
	}
	return nl_call(nl, &r, NULL, NULL);
}

/* Names of the racks of all entries, one behind the other. */
struct seen {
	unsigned int	n;
	char		names[200];
};

static void look(uint8_t cmd, struct nlattr **a, void *arg)
{
	struct nlattr *nest = a[SHUFFLE_A_TOPOLOGY_ENTRY], *x;
	struct seen *s = arg;
	int left;

	(void)cmd;
	if (!nest)
		return;
	s->n++;
	x = (struct nlattr *)nl_data(nest);
	for (left = nl_len(nest); left >= NLA_HDRLEN; left -= NLA_ALIGN(x->nla_len),
	     x = (void *)((char *)x + NLA_ALIGN(x->nla_len)))
		if ((x->nla_type & NLA_TYPE_MASK) == SHUFFLE_A_RACK_NAME)
			snprintf(s->names + strlen(s->names), sizeof(s->names) - strlen(s->names),
				 "%s ", nl_get_str(x));
}

/* The rack of a host, as the kernel tells, is @rack. */
static void holds(int nl, const char *addr, const char *rack)
{
	struct seen s = { 0 };
	struct nl_result res;
	struct nl_req r;
	char want[80];

	nl_begin(&r, SHUFFLE_CMD_TOPOLOGY_GET, 0);
	add_addr(&r, SHUFFLE_A_TOPOLOGY_IPV4, SHUFFLE_A_TOPOLOGY_IPV6, addr);
	res = nl_call(nl, &r, look, &s);
	snprintf(want, sizeof(want), "%s ", rack ? rack : "");
	WORKS(rack ? !res.err && !strcmp(s.names, want) : res.err == ENOENT, addr);
}

static void test_table(int nl)
{
	static const struct entry e[] = {
		{ "west", "10.0.0.0", 8 }, { "east", "10.1.0.0", 16 }, { "one", "10.1.2.3", -1 },
		{ "east", "fd00::", 8 }, { "one", "fd00::1", 128 }, { "rest", "::", 0 },
	};
	struct seen s = { 0 };
	struct nl_req r;

	WORKS_ERRNO(set(nl, e, 6).err, 0, "topology-set");
	holds(nl, "10.200.0.1", "west");
	holds(nl, "10.1.2.2", "east");
	holds(nl, "10.1.2.3", "one");
	holds(nl, "11.0.0.0", NULL);
	holds(nl, "9.255.255.255", NULL);
	holds(nl, "fd00::2", "east");
	holds(nl, "fd00::1", "one");
	holds(nl, "fe80::1", "rest");
	nl_begin(&r, SHUFFLE_CMD_TOPOLOGY_GET, NLM_F_DUMP);
	WORKS(EXPECT_ERRNO(nl_call(nl, &r, look, &s).err, 0) && EXPECT_EQ(s.n, 6) &&
	      EXPECT_STR(s.names, "west east one rest east one "), "topology-get: all, sorted");
	nl_begin(&r, SHUFFLE_CMD_TOPOLOGY_GET, 0);
	WORKS_ERRNO(nl_call(nl, &r, NULL, NULL).err, EINVAL, "topology-get: no address");
	WORKS_ERRNO(set(nl, e, 1).err, 0, "topology-set: replaces all");
	holds(nl, "fd00::2", NULL);
	WORKS_ERRNO(set(nl, e, 0).err, 0, "topology-set: none");
	holds(nl, "10.1.2.3", NULL);
	memset(&s, 0, sizeof(s));
	nl_begin(&r, SHUFFLE_CMD_TOPOLOGY_GET, NLM_F_DUMP);
	WORKS(EXPECT_ERRNO(nl_call(nl, &r, look, &s).err, 0) && EXPECT_EQ(s.n, 0),
	      "topology-get: nothing");
}

static void test_refused(int nl)
{
	static const char longest[] =
		"123456789012345678901234567890123456789012345678901234567890123";
	static const struct {
		struct entry	e[2];
		const char	*what;
		const char	*msg;
	} bad[] = {
		{ { { "a", "10.0.0.1", 33 }, { "b", "10.0.0.2", -1 } }, "33 bits", "too long" },
		{ { { "a", "10.0.0.1", 24 }, { "b", "10.0.0.2", -1 } }, "bits behind", "bits" },
		{ { { "a", "::1", 127 }, { "b", "10.0.0.2", -1 } }, "bits behind, IPv6", "bits" },
		{ { { "a", "::", 129 }, { "b", "10.0.0.2", -1 } }, "129 bits", "" },
		{ { { NULL, "10.0.0.1", -1 }, { "b", "10.0.0.2", -1 } }, "no name", "name" },
		{ { { "", "10.0.0.1", -1 }, { "b", "10.0.0.2", -1 } }, "empty name", "name" },
		{ { { "a", NULL, -1 }, { "b", "10.0.0.2", -1 } }, "no address", "ipv4 or ipv6" },
		{ { { "a", "10.0.0.2", -1 }, { "b", "10.0.0.2", 32 } }, "twice", "twice" },
	};
	static const struct entry good[] = { { longest, "10.0.0.1", 32 } };
	char more[80], what[64];
	struct entry e = { more, "10.0.0.1", 32 };
	struct nl_result res;
	struct nl_req r;
	unsigned int i;

	WORKS_ERRNO(set(nl, good, 1).err, 0, "a name of 63 bytes");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		res = set(nl, bad[i].e, 2);
		snprintf(what, sizeof(what), "refused: %s", bad[i].what);
		WORKS(res.err && strstr(res.msg, bad[i].msg), what);
	}
	snprintf(more, sizeof(more), "%s4", longest);
	WORKS(set(nl, &e, 1).err, "refused: a name of 64 bytes");
	nl_begin(&r, SHUFFLE_CMD_TOPOLOGY_SET, 0);
	nl_u32(&r, SHUFFLE_A_TOPOLOGY_ENTRY, 1);
	WORKS_ERRNO(nl_call(nl, &r, NULL, NULL).err, EINVAL, "refused: an entry that is a number");
	holds(nl, "10.0.0.1", longest);
}

/* Racks of a group of 127.0.0.1 and hosts of @addr, as text: sizes with blanks. */
static const char *racks_of(const char *const addr[MEMBERS])
{
	struct sockaddr_shuffle m[MEMBERS];
	static char text[100];
	__u32 size[MEMBERS];
	socklen_t len = sizeof(size);
	unsigned int i;
	int fd;

	my_addr(&m[0]);
	for (i = 1; i < MEMBERS; i++) {
		m[i] = m[0];
		inet_pton(AF_INET, addr[i], m[i].shs_addr);
	}
	fd = sht_open(m, MEMBERS, 0, 0);
	*text = '\0';
	if (fd < 0 || getsockopt(fd, SOL_SHUFFLE, SHUFFLE_RACKS, size, &len))
		return strerror(errno);
	for (i = 0; i < len / 4; i++)
		sprintf(text + strlen(text), "%u ", size[i]);
	close(fd);
	return text;
}

static void test_groups(int nl)
{
	static const struct entry e[] = {
		{ "a", "127.0.0.0", 8 }, { "a", "10.0.0.0", 24 }, { "b", "10.0.1.0", 24 },
		{ "c", "10.0.2.0", 24 },
	};
	static const char *const three[] = {
		NULL, "10.0.0.1", "10.0.1.1", "10.0.2.1", "10.0.2.2", "10.0.2.3",
	};
	static const char *const split[] = {
		NULL, "10.0.1.1", "10.0.0.1", "10.0.2.1", "10.0.2.2", "10.0.2.3",
	};
	static const char *const unknown[] = {
		NULL, "10.0.0.1", "10.0.1.1", "10.0.2.1", "10.0.2.2", "10.0.3.3",
	};
	static const char *const same[] = {
		NULL, "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5",
	};

	WORKS(EXPECT_STR(racks_of(three), "6 "), "a group without a table");
	WORKS_ERRNO(set(nl, e, 4).err, 0, "a table");
	WORKS(EXPECT_STR(racks_of(three), "2 1 3 "), "a group in three racks");
	WORKS(EXPECT_STR(racks_of(split), "6 "), "a rack whose ranks are apart");
	WORKS(EXPECT_STR(racks_of(unknown), "6 "), "a host that the table does not know");
	WORKS(EXPECT_STR(racks_of(same), "6 "), "all in one rack");
	WORKS_ERRNO(set(nl, NULL, 0).err, 0, "no table");
	WORKS(EXPECT_STR(racks_of(three), "6 "), "a group without a table again");
}

int main(int argc, char **argv)
{
	int nl;

	api_start(argc, argv);
	nl = nl_open();
	test_table(nl);
	test_refused(nl);
	test_groups(nl);
	return api_finish();
}
