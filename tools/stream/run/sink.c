// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a builder puts time-slices.
 *
 * Into a folder: a file for each, with the pieces in order of inputs.  Into a pipe, FIFO or
 * standard output: all in one, each with its number (8 bytes), the number of inputs (4 bytes) and
 * the lengths of the pieces (4 bytes each) in front, big-endian.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder_run.h"

/**
 * struct sink - where time-slices go
 * @name: as on the command line
 * @fd: pipe, or -1: @name is a folder
 * @head: what is in front of a time-slice in a pipe
 * @head_len: its bytes
 * @part: what is being written: 0: @head, then pieces
 * @at: bytes of it that were
 */
struct sink {
	const char	*name;
	int		fd;
	u8		*head;
	u32		head_len;
	u32		part;
	u32		at;
};

/**
 * sink_open() - begin
 * @r: the builder; the program ends if there is no such place
 *
 * Return: the sink; NULL: time-slices are counted only.
 */
struct sink *sink_open(const struct run *r)
{
	struct sink *s;
	struct stat st;

	if (!r->sink)
		return NULL;
	s = memory(1, sizeof(*s));
	s->name = r->sink;
	s->fd = -1;
	s->head_len = 12 + 4 * r->cfg.inputs;
	s->head = memory(1, s->head_len);
	if (!strcmp(r->sink, "-")) {
		s->fd = STDOUT_FILENO;
	} else if (stat(r->sink, &st)) {
		die("%s: %s", r->sink, strerror(errno));
	} else if (!S_ISDIR(st.st_mode)) {
		s->fd = open(r->sink, O_WRONLY | O_CLOEXEC);
		if (s->fd < 0)
			die("%s: %s", r->sink, strerror(errno));
	}
	if (s->fd >= 0)
		fcntl(s->fd, F_SETFL, fcntl(s->fd, F_GETFL) | O_NONBLOCK);
	return s;
}

/**
 * sink_close() - give it back
 * @s: the sink, or NULL
 */
void sink_close(struct sink *s)
{
	if (!s)
		return;
	if (s->fd > STDOUT_FILENO)
		close(s->fd);
	free(s->head);
	free(s);
}

/**
 * sink_fd() - what to wait for when sink_put() has returned false
 * @s: the sink, or NULL
 *
 * Return: a file descriptor, -1 for none.
 */
int sink_fd(const struct sink *s)
{
	return s ? s->fd : -1;
}

static u8 *put32(u8 *to, u32 v)
{
	to[0] = (u8)(v >> 24);
	to[1] = (u8)(v >> 16);
	to[2] = (u8)(v >> 8);
	to[3] = (u8)v;
	return to + 4;
}

static void make_head(struct sink *s, u64 slice, const struct contribution *piece, u32 n)
{
	u8 *p = put32(put32(s->head, (u32)(slice >> 32)), (u32)slice);
	u32 i;

	p = put32(p, n);
	for (i = 0; i < n; i++)
		p = put32(p, piece[i].whole ? piece[i].len : 0);
}

static bool put_pipe(struct sink *s, u64 slice, const struct contribution *piece, u32 n)
{
	if (!s->part && !s->at)
		make_head(s, slice, piece, n);
	while (s->part <= n) {
		const struct contribution *c = s->part ? &piece[s->part - 1] : NULL;
		const u8 *data = c ? c->data : s->head;
		u32 len = !c ? s->head_len : c->whole ? c->len : 0;
		ssize_t done;

		while (s->at < len) {
			done = write(s->fd, data + s->at, len - s->at);
			if (done < 0 && errno == EAGAIN)
				return false;
			if (done < 0 && errno != EINTR)
				die("%s: %s", s->name, strerror(errno));
			s->at += done > 0 ? (u32)done : 0;
		}
		s->part++;
		s->at = 0;
	}
	s->part = 0;
	return true;
}

static void put_file(struct sink *s, u64 slice, const struct contribution *piece, u32 n)
{
	char part[PATH_MAX], whole[PATH_MAX];
	FILE *f;
	int bad;
	u32 i;

	snprintf(whole, sizeof(whole), "%s/%llu", s->name, (unsigned long long)slice);
	snprintf(part, sizeof(part), "%s/.%llu", s->name, (unsigned long long)slice);
	f = fopen(part, "w");
	if (!f)
		die("%s: %s", part, strerror(errno));
	for (i = 0; i < n; i++)
		if (piece[i].whole && piece[i].len)
			fwrite(piece[i].data, 1, piece[i].len, f);
	bad = ferror(f);
	if (fclose(f) || bad)
		die("%s: %s", part, strerror(errno));
	if (rename(part, whole))
		die("%s: %s", whole, strerror(errno));
}

/**
 * sink_put() - a time-slice is built
 * @s: the sink
 * @slice: which
 * @piece: by input
 * @n: inputs
 *
 * Return: all of it is written; false: a pipe is full, and the call is to be made again.
 */
bool sink_put(struct sink *s, u64 slice, const struct contribution *piece, u32 n)
{
	if (s->fd >= 0)
		return put_pipe(s, slice, piece, n);
	put_file(s, slice, piece, n);
	return true;
}
