// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What install remembers for remove: a file for each device in a folder for each
 * network namespace, below /run/shufflectl, which a reboot empties as it empties
 * the devices.
 *
 * A namespace is named by its cookie, which is never used twice.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qdisc.h"
#include "shufflectl.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE	71
#endif

#define TOP	"/run/shufflectl"

static int folder(char *path, size_t size)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);
	struct stat st;
	int err = 0;

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len))
		err = errno;
	if (fd >= 0)
		close(fd);
	/* a kernel without cookies: the inode, which may be used again */
	if (err && !stat("/proc/self/ns/net", &st)) {
		snprintf(path, size, TOP "/qdisc/inode-%" PRIu64, (uint64_t)st.st_ino);
		return 0;
	}
	snprintf(path, size, TOP "/qdisc/net-%" PRIu64, cookie);
	return -err;
}

static int make_folders(char *path)
{
	char *slash;

	for (slash = strchr(path + strlen("/run") + 1, '/'); ; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			return ctl_error("%s: %s", path, strerror(errno));
		if (!slash)
			return CTL_OK;
		*slash = '/';
	}
}

static int file_name(int ifindex, char *path, size_t size)
{
	char dir[128];
	int err = folder(dir, sizeof(dir));

	if (!err)
		snprintf(path, size, "%s/%d", dir, ifindex);
	return err;
}

/**
 * qdisc_state_lock() - one at a time may change qdiscs and what is remembered
 *
 * The lock ends with the process, or when the descriptor is closed.
 *
 * Return: a file descriptor, or -1 after a message.
 */
int qdisc_state_lock(void)
{
	char dir[128];
	int fd;

	if (geteuid()) {
		ctl_error("only root may change qdiscs: their former state is kept below " TOP);
		return -1;
	}
	if (folder(dir, sizeof(dir)) || make_folders(dir))
		return -1;
	fd = open(TOP "/qdisc/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || flock(fd, LOCK_EX)) {
		ctl_error(TOP "/qdisc/lock: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

/**
 * qdisc_state_save() - remember
 * @s: what
 *
 * Return: CTL_OK, or another status after a message.
 */
int qdisc_state_save(const struct qdisc_state *s)
{
	char path[160], tmp[176];
	unsigned int i, j;
	FILE *f;

	if (file_name(s->ifindex, path, sizeof(path)))
		return ctl_error("cannot tell which network namespace this is");
	snprintf(tmp, sizeof(tmp), "%s.new", path);
	f = fopen(tmp, "we");
	if (!f)
		return ctl_error("%s: %s", tmp, strerror(errno));
	fprintf(f, "shufflectl-qdisc 1\ndev %s\nkind %s\nrate %" PRIu64 "\nmulti %d\nat %x\nlost %d\n",
		s->name, s->kind, s->rate, s->multi, s->at, s->lost);
	for (i = 0; i < s->former->n; i++) {
		const struct tc_node *n = &s->former->node[i];

		fprintf(f, "qdisc %x %x %s %d %u ", n->handle, n->parent, n->kind,
			n->options ? 1 : 0, n->options_len);
		for (j = 0; j < n->options_len; j++)
			fprintf(f, "%02x", ((uint8_t *)n->options)[j]);
		fputs(".\n", f);
	}
	fputs("end\n", f);
	if (fflush(f) || ferror(f) || fclose(f) || rename(tmp, path))
		return ctl_error("%s: %s", path, strerror(errno));
	return CTL_OK;
}

static int read_qdisc(FILE *f, struct tc_tree *t)
{
	struct tc_node n = { 0 };
	uint8_t *buf = NULL;
	unsigned int i, c;
	int have, bad = 0;

	if (fscanf(f, "%x %x %15s %d %u ", &n.handle, &n.parent, n.kind, &have,
		   &n.options_len) != 5 || n.options_len > 65535)
		return -1;
	if (have)
		buf = calloc(1, n.options_len + 1);
	for (i = 0; i < n.options_len && !bad; i++) {
		bad = !buf || fscanf(f, "%2x", &c) != 1;
		if (!bad)
			buf[i] = c;
	}
	if (fgetc(f) != '.')
		bad = 1;
	n.options = buf;
	if (!bad)
		tc_tree_add(t, &n);
	free(buf);
	return bad ? -1 : 0;
}

/**
 * qdisc_state_load() - recall
 * @ifindex: device
 * @s: result; freed by qdisc_state_free() in any case
 *
 * Return: 0, -ENOENT: nothing is remembered, or -EBADMSG after a message: the file
 * is damaged.
 */
int qdisc_state_load(int ifindex, struct qdisc_state *s)
{
	char path[160], word[20];
	int version, multi, lost, bad = 0;
	FILE *f;

	memset(s, 0, sizeof(*s));
	s->ifindex = ifindex;
	s->former = tc_tree_new(ifindex);
	if (file_name(ifindex, path, sizeof(path)))
		return -ENOENT;
	f = fopen(path, "re");
	if (!f)
		return -ENOENT;
	if (fscanf(f, "shufflectl-qdisc %d dev %15s kind %15s rate %" SCNu64 " multi %d at %x lost %d",
		   &version, s->name, s->kind, &s->rate, &multi, &s->at, &lost) != 7 ||
	    version != 1)
		bad = 1;
	s->multi = multi;
	s->lost = lost;
	word[0] = '\0';
	while (!bad && fscanf(f, "%19s", word) == 1 && !strcmp(word, "qdisc"))
		bad = read_qdisc(f, s->former);
	if (strcmp(word, "end"))
		bad = 1;
	fclose(f);
	if (!bad)
		return 0;
	ctl_error("%s is damaged", path);
	return -EBADMSG;
}

/**
 * qdisc_state_drop() - forget
 * @ifindex: device
 */
void qdisc_state_drop(int ifindex)
{
	char path[160], dir[128];

	if (file_name(ifindex, path, sizeof(path)) || folder(dir, sizeof(dir)))
		return;
	unlink(path);
	/* works when it was the last one */
	rmdir(dir);
}

/**
 * qdisc_state_free() - free what was loaded
 * @s: loaded
 */
void qdisc_state_free(struct qdisc_state *s)
{
	tc_tree_free(s->former);
	s->former = NULL;
}
