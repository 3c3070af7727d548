// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl topology: which hosts share a rack. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "objects.h"
#include "rack_file.h"
#include "record.h"
#include "shufflectl.h"
#include "topology.h"
#include "topology_path.h"

static const char usage[] =
	"usage: shufflectl topology [show] [ADDRESS]\n"
	"       shufflectl topology {load | check} FILE [FORMAT]\n"
	"       shufflectl topology clear\n"
	"       shufflectl topology install GROUP [--bridge BRIDGE] [--vlan VID] [--route DEV]\n"
	"                  [--no-wait] [--dry-run] [file FILE [FORMAT]] [members HOST...]\n"
	"                  [port PORT [members HOST...]]...\n"
	"       shufflectl topology remove GROUP [--bridge BRIDGE] [--dry-run]\n"
	"\n"
	"FORMAT := { slurm | hadoop | csv }\n"
	"\n"
	"  show   the table of racks of this namespace, as \"load\" reads it; or the line of\n"
	"         it that holds for ADDRESS\n"
	"  load   replace the table; without FORMAT the first line of FILE tells it.\n"
	"         FILE - is standard input\n"
	"  check  say what FILE would load, and load nothing\n"
	"  clear  no table any more\n"
	"  install  packets to the multicast address GROUP leave this machine's bridges by the\n"
	"         ports behind which members are: HOSTs, or those of FILE, or of the table;\n"
	"         with --route, those of this machine leave by DEV\n"
	"  remove  take that out again\n"
	"\n"
	"The table is a file, which libshuffle reads: collectives of groups that are joined\n"
	"from then on use the racks, if the table knows all members, and the members of\n"
	"each rack have ranks one behind the other.\n";

static void print_range(const struct rack_range *r)
{
	char buf[64];

	rack_range_text(r, buf, sizeof(buf));
	if (!ctl.json) {
		out_line("%-18s %s", buf, r->name);
		return;
	}
	out_open(NULL);
	out_str("hosts", buf);
	out_str("rack", r->name);
	out_close();
}

/* The file of the namespace that we are in. */
static int table_path(char *path, size_t size)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = fd < 0 || shuffle_topology_path(fd, path, size);

	if (err)
		ctl_error("no name for the table of this namespace: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return err ? CTL_ENV : CTL_OK;
}

/**
 * topology_table() - the table of racks of this namespace
 * @f: result, to be freed by rack_file_free()
 *
 * Return: enum ctl_exit.
 */
int topology_table(struct rack_file *f)
{
	static char path[PATH_MAX];
	int err = table_path(path, sizeof(path));

	memset(f, 0, sizeof(*f));
	f->path = "the table of racks";
	if (err || (access(path, F_OK) && errno == ENOENT))
		return err;
	return rack_file_read(f, path, "hadoop");
}

static bool has_address(const struct rack_range *r, bool v6, const uint8_t *addr)
{
	unsigned int i;

	for (i = 0; i < r->len; i++)
		if ((r->addr[i / 8] ^ addr[i / 8]) & 0x80 >> i % 8)
			return false;
	return r->v6 == v6;
}

/* The longest range that has an address, or NULL. */
static const struct rack_range *find_range(const struct rack_file *f, bool v6, const uint8_t *addr)
{
	const struct rack_range *best = NULL;
	unsigned int i;

	for (i = 0; i < f->n; i++)
		if (has_address(&f->range[i], v6, addr) && (!best || f->range[i].len > best->len))
			best = &f->range[i];
	return best;
}

static int show_host(const struct rack_file *f, const char *address)
{
	const struct rack_range *r;
	bool v6 = strchr(address, ':');
	uint8_t addr[16];

	if (inet_pton(v6 ? AF_INET6 : AF_INET, address, addr) != 1)
		return ctl_usage("\"%s\" is no IP address", address);
	r = find_range(f, v6, addr);
	if (!r) {
		ctl_error("the table of racks has no such host: %s", address);
		return CTL_KERNEL;
	}
	out_begin(false);
	print_range(r);
	out_end();
	return CTL_OK;
}

static int topology_show(int argc, char **argv)
{
	struct rack_file f;
	unsigned int i;
	int err;

	if (argc > 1)
		return ctl_usage("\"%s\" behind the address means nothing", argv[1]);
	err = topology_table(&f);
	if (err)
		return err;
	if (argc) {
		err = show_host(&f, argv[0]);
	} else {
		out_begin(false);
		for (i = 0; i < f.n; i++)
			print_range(&f.range[i]);
		out_end();
	}
	rack_file_free(&f);
	return err;
}

static int write_ranges(FILE *out, const struct rack_file *f)
{
	char buf[64];
	unsigned int i;

	for (i = 0; i < f->n; i++)
		fprintf(out, "%s %s\n", rack_range_text(&f->range[i], buf, sizeof(buf)),
			f->range[i].name);
	/* everybody reads it, whatever our mask */
	return fflush(out) || ferror(out) || fchmod(fileno(out), 0644) ? -1 : 0;
}

/* Another file takes the place of the table, so nobody reads half of one. */
static int replace(const struct rack_file *f)
{
	char path[PATH_MAX], other[PATH_MAX + 8];
	int fd, err = table_path(path, sizeof(path));
	FILE *out;

	if (err)
		return err;
	if (!strncmp(path, TOPOLOGY_DIR "/", strlen(TOPOLOGY_DIR "/")) &&
	    mkdir(TOPOLOGY_DIR, 0755) && errno != EEXIST)
		return ctl_error("%s: %s", TOPOLOGY_DIR, strerror(errno));
	snprintf(other, sizeof(other), "%s.XXXXXX", path);
	fd = mkostemp(other, O_CLOEXEC);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out)
		return ctl_error("%s: %s", path, strerror(errno));
	err = write_ranges(out, f);
	err |= fclose(out);
	if (!err && !rename(other, path))
		return CTL_OK;
	err = ctl_error("%s: %s", path, strerror(errno));
	unlink(other);
	return err;
}

static unsigned int count_racks(const struct rack_file *f)
{
	unsigned int i, k, n = 0;

	for (i = 0; i < f->n; i++) {
		for (k = 0; k < i && strcmp(f->range[k].name, f->range[i].name); k++)
			;
		n += k == i;
	}
	return n;
}

static int read_file(struct rack_file *f, int argc, char **argv)
{
	if (!argc)
		return ctl_usage("a FILE is needed");
	if (argc > 2)
		return ctl_usage("\"%s\" behind the format means nothing", argv[2]);
	return rack_file_read(f, argv[0], argc > 1 ? argv[1] : NULL);
}

static int topology_load(int argc, char **argv)
{
	struct rack_file f;
	int err = read_file(&f, argc, argv);

	if (err)
		return err;
	err = replace(&f);
	if (!err) {
		out_begin(false);
		out_open(NULL);
		out_u64("hosts", f.hosts, OUT_PLAIN);
		out_u64("addresses", f.n, OUT_PLAIN);
		out_u64("racks", count_racks(&f), OUT_PLAIN);
		out_close();
		out_end();
	}
	rack_file_free(&f);
	return err;
}

static int topology_check(int argc, char **argv)
{
	struct rack_file f;
	unsigned int i;
	int err = read_file(&f, argc, argv);

	if (err)
		return err;
	out_begin(false);
	for (i = 0; i < f.n; i++)
		print_range(&f.range[i]);
	out_end();
	rack_file_free(&f);
	return CTL_OK;
}

static int topology_clear(int argc, char **argv)
{
	char path[PATH_MAX];
	int err;

	if (argc)
		return ctl_usage("\"%s\" behind clear means nothing", argv[0]);
	err = table_path(path, sizeof(path));
	if (!err && unlink(path) && errno != ENOENT)
		err = ctl_error("%s: %s", path, strerror(errno));
	return err;
}

int topology_object(int argc, char **argv)
{
	static const struct ctl_command cmds[] = {
		{ "show", topology_show },
		{ "load", topology_load },
		{ "check", topology_check },
		{ "clear", topology_clear },
		{ "install", topology_install },
		{ "remove", topology_remove },
		{ NULL, NULL },
	};

	return ctl_dispatch("topology", usage, cmds, argc, argv);
}
