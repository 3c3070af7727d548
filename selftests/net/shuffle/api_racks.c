// SPDX-License-Identifier: GPL-2.0-or-later
/* The racks of groups, after the table of racks.  TAP. */
#define _GNU_SOURCE
#include <arpa/inet.h>

#include "api.h"
#include "../../../tools/lib/shuffle_coll.h"

#define MEMBERS	6

static char path[64];

static void set(const char *table)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(table, f) < 0 || fclose(f))
		abort();
}

/* Racks of a group of 127.0.0.1 and hosts of @addr, as text: sizes with blanks. */
static const char *racks_of(const char *const addr[MEMBERS])
{
	struct sockaddr_shuffle m[MEMBERS];
	static char text[100];
	unsigned int size[MEMBERS];
	int i, n, fd;

	my_addr(&m[0]);
	for (i = 1; i < MEMBERS; i++) {
		m[i] = m[0];
		inet_pton(AF_INET, addr[i], m[i].shs_addr);
	}
	fd = sht_open(m, MEMBERS, 0, 0);
	*text = '\0';
	n = fd < 0 ? -1 : shuffle_racks(fd, size, MEMBERS);
	if (n < 0)
		return strerror(errno);
	for (i = 0; i < n; i++)
		sprintf(text + strlen(text), "%u ", size[i]);
	close(fd);
	return text;
}

static void test_groups(void)
{
	static const char table[] =
		"127.0.0.0/8 a\n"
		"10.0.0.0/24 a	# whatever else is there\n"
		"\n"
		"10.0.0.0/8 d\n"
		"  10.0.1.0/24 b\n"
		"10.0.2.0/24 c\n"
		"::/0 e";
	static const char *const three[] = {
		NULL, "10.0.0.1", "10.0.1.1", "10.0.2.1", "10.0.2.2", "10.0.2.3",
	};
	static const char *const split[] = {
		NULL, "10.0.1.1", "10.0.0.1", "10.0.2.1", "10.0.2.2", "10.0.2.3",
	};
	static const char *const unknown[] = {
		NULL, "10.0.0.1", "10.0.1.1", "10.0.2.1", "10.0.2.2", "11.0.3.3",
	};
	static const char *const longest[] = {
		NULL, "10.0.0.1", "10.0.1.1", "10.0.2.1", "10.0.2.2", "10.99.0.1",
	};
	static const char *const same[] = {
		NULL, "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5",
	};

	WORKS(EXPECT_STR(racks_of(three), ""), "a group without a table");
	set(table);
	WORKS(EXPECT_STR(racks_of(three), "2 1 3 "), "a group in three racks");
	WORKS(EXPECT_STR(racks_of(longest), "2 1 2 1 "), "one host by a shorter range");
	WORKS(EXPECT_STR(racks_of(split), ""), "a rack whose ranks are apart");
	WORKS(EXPECT_STR(racks_of(unknown), ""), "a host that the table does not know");
	WORKS(EXPECT_STR(racks_of(same), ""), "all in one rack");
	WORKS_EQ(unlink(path), 0, "no table");
	WORKS(EXPECT_STR(racks_of(three), ""), "a group without a table again");
}

/* A file with a line that makes no sense is no table: racks of one member would be another plan. */
static void test_refused(void)
{
	static const char *const bad[] = {
		"10.0.0.1", "10.0.0.1 a b", "10.0.0.1/33 a", "::1/129 a", "10.0.0.1/ a", "10.0.0.1/x a",
		"10.0.0 a", "host a",
		"10.0.0.1 1234567890123456789012345678901234567890123456789012345678901234",
	};
	struct sockaddr_shuffle m[1];
	unsigned int i, size[1];
	char what[100];
	int fd;

	my_addr(&m[0]);
	fd = sht_open(m, 1, 0, 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		set(bad[i]);
		snprintf(what, sizeof(what), "refused: %s", bad[i]);
		FAILS(shuffle_racks(fd, size, 1), what, EINVAL);
	}
	WORKS(!shuffle_coll_new(fd, 0, 1, 1) && EXPECT_ERRNO(errno, EINVAL), "no collectives by it");
	unlink(path);
	close(fd);
}

int main(int argc, char **argv)
{
	api_start(argc, argv);
	snprintf(path, sizeof(path), "/tmp/api_racks.%d", getpid());
	setenv("SHUFFLE_TOPOLOGY", path, 1);
	test_groups();
	test_refused();
	return api_finish();
}
