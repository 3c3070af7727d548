// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl relay: relays of shuffle-relayd(8), which hears at a unix socket. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../relay/relayd_path.h"
#include "objects.h"
#include "parse.h"
#include "shuffle.h"
#include "shufflectl.h"

static const char relay_usage[] =
	"usage: shufflectl relay [show] [NAME]\n"
	"       shufflectl relay add NAME rank RANK to RANK from RANK...\n"
	"                  {members MEMBER... | file FILE} [oper OPER] [sorted]\n"
	"                  [senders N] [records N] [bytes SIZE] [key FILE]\n"
	"                  [idle TIME] [tree NUMBER]\n"
	"       shufflectl relay del NAME\n"
	"\n"
	"MEMBER := ADDRESS:PORT[@LOCAL]\n"
	"OPER := { none | sum | min | max | count | sumcount | or | and }\n"
	"\n"
	"  add   shuffle-relayd(8) of this namespace is member RANK of the group, without\n"
	"        records of its own: in each operation what comes \"from\" some members,\n"
	"        records of key and value, is merged by key and sent on \"to\" another one\n"
	"  del   and is no more\n"
	"\n"
	"  members, file  all members of the group, in order of rank; FILE has one a line;\n"
	"           LOCAL is our address towards it, if we have several\n"
	"  sorted   the records of each member are in ascending order of keys: they are\n"
	"           merged while they come; else in a table\n"
	"  senders  so many are to be folded in, or the operation fails\n"
	"  records  room of the table; a full one is sent on\n"
	"  bytes    of memory for operations together, without the socket's buffers\n"
	"           (default 64M)\n"
	"  key      FILE has the group's key: 16 bytes, or 32 hexadecimal digits\n"
	"           (default $SHUFFLE_KEY_FILE)\n"
	"  idle     an operation fails after so long without progress (default 60s)\n"
	"  tree     number of the plan, the same everywhere\n";

#define REQUEST_MAX	(192U << 10)
#define LINE_MAX_BYTES	256

static char request[REQUEST_MAX], answer[REQUEST_MAX];
static size_t request_bytes;

static int put(const char *word)
{
	size_t n = strlen(word) + 1;

	if (n > sizeof(request) - request_bytes)
		return ctl_error("too many members for one request");
	memcpy(request + request_bytes, word, n);
	request_bytes += n;
	return CTL_OK;
}

static int put_number(const char *word, const char *text, enum out_unit unit, uint64_t scale)
{
	char number[24];
	uint64_t value;

	if (parse_unit(text, unit, &value))
		return ctl_usage("%s: \"%s\" is no number that it can be", word, text);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)(value / scale));
	return put(word) || put(number) ? CTL_ENV : CTL_OK;
}

/* Members from a file, one a line; empty lines and those that begin with # say nothing. */
static int put_file(const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char line[LINE_MAX_BYTES], word[LINE_MAX_BYTES];
	int err = put("members");

	if (!f)
		return ctl_error("%s: %s", path, strerror(errno));
	while (!err && fgets(line, sizeof(line), f))
		if (sscanf(line, "%255s", word) == 1 && word[0] != '#')
			err = put(word);
	if (f != stdin)
		fclose(f);
	return err;
}

static int put_key(const char *path)
{
	unsigned char key[SHUFFLE_KEY_BYTES];
	char hex[2 * SHUFFLE_KEY_BYTES + 1];
	unsigned int i;

	if (shuffle_key_file(path, key))
		return ctl_error("%s: %s", path, shuffle_key_str(errno));
	for (i = 0; i < sizeof(key); i++)
		snprintf(hex + 2 * i, 3, "%02x", key[i]);
	return put("key") || put(hex) ? CTL_ENV : CTL_OK;
}

/* Words for the daemon: numbers without units, no files. */
static int put_words(int argc, char **argv)
{
	const char *key = getenv("SHUFFLE_KEY_FILE");
	int i, err = CTL_OK;

	for (i = 0; i < argc && !err; i++) {
		const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (!value || (strcmp(word, "file") && strcmp(word, "key") &&
			       strcmp(word, "bytes") && strcmp(word, "idle"))) {
			err = put(word);
			continue;
		}
		i++;
		if (!strcmp(word, "file"))
			err = put_file(value);
		else if (!strcmp(word, "key"))
			key = value;
		else if (!strcmp(word, "bytes"))
			err = put_number(word, value, OUT_BYTES, 1);
		else
			err = put_number(word, value, OUT_US, 1000);
	}
	return !err && key ? put_key(key) : err;
}

/* Ask the daemon of this namespace: what it says behind "ok", in @answer. */
static int ask(char **text)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd, bytes = 2 * REQUEST_MAX;
	const char *path;
	ssize_t n;

	path = getenv("SHUFFLE_RELAYD_SOCKET");
	if (path)
		snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	else if (relayd_path(a.sun_path, sizeof(a.sun_path)))
		return ctl_error("/proc/self/ns/net: %s", strerror(errno));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		ctl_error("%s: %s: no shuffle-relayd in this namespace", a.sun_path,
			  strerror(errno));
		if (fd >= 0)
			close(fd);
		return CTL_ENV;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	n = send(fd, request, request_bytes, MSG_NOSIGNAL);
	if (n >= 0)
		n = recv(fd, answer, sizeof(answer) - 1, 0);
	memset(request, 0, sizeof(request));
	close(fd);
	if (n <= 0)
		return ctl_error("%s: %s", a.sun_path, n ? strerror(errno) : "no answer");
	answer[n] = '\0';
	*text = strchr(answer, '\n');
	if (*text)
		*(*text)++ = '\0';
	if (strcmp(answer, "ok"))
		return ctl_error("%s", strncmp(answer, "error ", 6) ? answer : answer + 6);
	return CTL_OK;
}

/* ---- show ---- */

/* A line "KEY VALUE..." */
static void print_line(const char *key, char *value)
{
	char *end, *word;
	uint64_t n;

	if (!strcmp(key, "from") || !strcmp(key, "to")) {
		if (!ctl.json) {
			out_str(key, value);
			return;
		}
		out_list(key);
		for (word = strtok(value, " "); word; word = strtok(NULL, " "))
			out_u64(NULL, strtoull(word, NULL, 10), OUT_PLAIN);
		out_list_end();
		return;
	}
	n = strtoull(value, &end, 10);
	if (*end || end == value)
		out_str(key, value);
	else if (!strcmp(key, "sorted"))
		out_bool(key, n);
	else
		out_u64(key, n, !strncmp(key, "memory", 6) || !strcmp(key, "bytes-out") ?
			OUT_BYTES : OUT_PLAIN);
}

static int show(int argc, char **argv)
{
	bool found = false, open = false, wanted = false;
	char *text, *line, *next, *value;
	int err;

	if (argc > 1)
		return ctl_usage("\"%s\" behind the name means nothing", argv[1]);
	err = put("show") ? CTL_ENV : ask(&text);
	if (err)
		return err;
	out_begin(false);
	for (line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		value = strchr(line, ' ');
		if (!value)
			continue;
		*value++ = '\0';
		if (!strcmp(line, "relay")) {
			if (open)
				out_close();
			wanted = !argc || !strcmp(argv[0], value);
			found |= wanted;
			open = wanted;
			if (wanted) {
				out_open(NULL);
				out_title("name", "relay %s", value);
			}
		} else if (wanted) {
			print_line(line, value);
		}
	}
	if (open)
		out_close();
	out_end();
	return argc && !found ? ctl_error("there is no such relay in this namespace") : CTL_OK;
}

/* ---- add, del ---- */

static int add(int argc, char **argv)
{
	char *text;
	int err;

	if (!argc)
		return ctl_usage("a NAME is needed");
	err = put("add") || put(argv[0]) ? CTL_ENV : put_words(argc - 1, argv + 1);
	return err ? err : ask(&text);
}

static int del(int argc, char **argv)
{
	char *text;

	if (argc != 1)
		return ctl_usage("one NAME is needed");
	return put("del") || put(argv[0]) ? CTL_ENV : ask(&text);
}

int relay_object(int argc, char **argv)
{
	static const struct ctl_command cmds[] = {
		{ "show", show },
		{ "add", add },
		{ "del", del },
		{ NULL, NULL },
	};

	return ctl_dispatch("relay", relay_usage, cmds, argc, argv);
}
