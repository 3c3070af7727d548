// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Group keys of files: what libshuffle takes for one, and sockets that have it from
 * SHUFFLE_KEY_FILE.  TAP.
 *
 *	api_key_file [-v 6]
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>

#include "api.h"
#include "../../../tools/lib/shuffle.h"

#define HEX	"000102030405060708090a0b0c0d0e0f"

/* the same */
static const char raw[] = "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17";

static char path[32];

static void make(const char *text, size_t n, mode_t mode)
{
	FILE *f;

	unlink(path);
	f = fopen(path, "w");
	if (!f || fwrite(text, 1, n, f) != n || fclose(f) || chmod(path, mode))
		tap_bail("%s: %s", path, strerror(errno));
}

static void test_file(void)
{
	static const struct {
		const char *name, *text;
		size_t n;
		mode_t mode;
		int error;
	} files[] = {
		{ "16 bytes", raw, 16, 0600, 0 },
		{ "32 digits and the end of the line", HEX "\n", 33, 0400, 0 },
		{ "32 digits", HEX, 32, 0600, 0 },
		{ "capital digits", "000102030405060708090A0B0C0D0E0F\n", 33, 0600, 0 },
		{ "nothing", "", 0, 0600, EINVAL },
		{ "15 bytes", HEX, 15, 0600, EINVAL },
		{ "17 bytes", HEX, 17, 0600, EINVAL },
		{ "31 digits", HEX, 31, 0600, EINVAL },
		{ "33 digits", HEX "0", 33, 0600, EINVAL },
		{ "a second line", HEX "\n\n", 34, 0600, EINVAL },
		{ "no digit", "000102030405060708090a0b0c0d0e0g\n", 33, 0600, EINVAL },
		{ "a zero byte for a digit", HEX "\n" + 1, 32, 0600, EINVAL },
		{ "the group reads", HEX, 32, 0640, EPERM },
		{ "the group writes", HEX, 32, 0620, EPERM },
		{ "others read", HEX, 32, 0604, EPERM },
		{ "others write", HEX, 32, 0602, EPERM },
	};
	unsigned char key[16];
	unsigned int i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		make(files[i].text, files[i].n, files[i].mode);
		memset(key, 0xff, sizeof(key));
		if (files[i].error)
			FAILS(shuffle_key_file(path, key), files[i].name, files[i].error);
		else
			WORKS(EXPECT_EQ(shuffle_key_file(path, key), 0) &&
			      EXPECT_EQ(memcmp(key, raw, 16), 0), files[i].name);
	}
	make(HEX, 32, 0600);
	if (chown(path, 65534, 65534))
		tap_bail("chown: %s", strerror(errno));
	FAILS(shuffle_key_file(path, key), "another's file", EPERM);
	if (seteuid(65534))
		tap_bail("seteuid: %s", strerror(errno));
	WORKS(EXPECT_EQ(shuffle_key_file(path, key), 0), "a file of our own, not root's");
	if (seteuid(0))
		tap_bail("seteuid: %s", strerror(errno));
	unlink(path);
	FAILS(shuffle_key_file(path, key), "no file", ENOENT);
	FAILS(shuffle_key_file("/tmp", key), "a folder", EINVAL);
	if (mkfifo(path, 0600))
		tap_bail("mkfifo: %s", strerror(errno));
	FAILS(shuffle_key_file(path, key), "a FIFO", EINVAL);
}

static unsigned int drops(void)
{
	char names[4096], values[4096], *name, *value, *n, *v;
	FILE *f = fopen("/proc/net/shuffle/netstat", "r");
	unsigned int found = 0;

	if (!f || !fgets(names, sizeof(names), f) || !fgets(values, sizeof(values), f))
		tap_bail("no counters");
	fclose(f);
	for (name = strtok_r(names, " \n", &n), value = strtok_r(values, " \n", &v); name && value;
	     name = strtok_r(NULL, " \n", &n), value = strtok_r(NULL, " \n", &v))
		if (!strcmp(name, "DropTag"))
			found = atoi(value);
	return found;
}

/* Two members; the key of the second one is @other's, NULL: none.  @want: how both end. */
static void test_pair(const char *name, const char *other, int want, bool dropped)
{
	struct shuffle_row row = { .op_id = next_op++, .count = 2, .deadline_ms = want ? 2000 : 0 };
	static const uint64_t lens[2] = { 10, 10 };
	static const char data[20];
	struct sockaddr_shuffle m[2];
	unsigned int before = drops();
	int fds[2], i;

	my_addr(&m[0]);
	my_addr(&m[1]);
	make(HEX, 32, 0600);
	setenv("SHUFFLE_KEY_FILE", path, 1);
	fds[0] = shuffle_open(m, 2, 0, 0);
	if (other)
		make(other, 16, 0600);
	else
		unsetenv("SHUFFLE_KEY_FILE");
	fds[1] = shuffle_open(m, 2, 1, 0);
	unsetenv("SHUFFLE_KEY_FILE");
	if (fds[0] < 0 || fds[1] < 0)
		tap_bail("no pair of sockets: %s", strerror(errno));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(sht_send(fds[i], &row, lens, data, sizeof(data), 0), 20);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(read_end(fds[i], row.op_id), want);
	EXPECT_EQ(drops() > before, dropped);
	tap_done(name);
	close_pair(fds);
}

static void test_sockets(void)
{
	struct sockaddr_shuffle m[2];

	my_addr(&m[0]);
	my_addr(&m[1]);
	make(HEX, 32, 0644);
	setenv("SHUFFLE_KEY_FILE", path, 1);
	FAILS(shuffle_open(m, 2, 0, 0), "no socket with a key that others may read", EPERM);
	setenv("SHUFFLE_KEY_FILE", "", 1);
	FAILS(shuffle_bind(&m[0], 0), "no socket if the file has no name", ENOENT);
	test_pair("both members have the key", raw, 0, false);
	test_pair("a member has none: nobody hears it", NULL, ETIMEDOUT, true);
	test_pair("a member has another", HEX, ETIMEDOUT, true);
}

int main(int argc, char **argv)
{
	int fd;

	api_start(argc, argv);
	strcpy(path, "/tmp/key.XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		tap_bail("mkstemp: %s", strerror(errno));
	close(fd);
	test_file();
	unlink(path);
	test_sockets();
	unlink(path);
	return api_finish();
}
