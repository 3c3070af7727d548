// SPDX-License-Identifier: GPL-2.0-or-later
/* What an input sends, see source.h. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source.h"

enum source_kind { GENERATED, SEEKABLE, BYTES, DATAGRAMS };

#define MOST_BUFFERED	(1ULL << 30)	/* bytes of pieces that were read ahead */

/**
 * struct source - what an input sends
 * @r: the input
 * @kind: where from
 * @fd: file, FIFO or socket
 * @pieces: whole pieces and the rest that were there when it ended; RUN_NO_END: it has not
 * @window: pieces that are read ahead at most: two intervals
 * @read: pieces read, ever
 * @part: bytes of the next one
 * @data: by piece modulo @window
 * @len: likewise
 */
struct source {
	const struct run	*r;
	enum source_kind	kind;
	int			fd;
	u64			pieces;
	u64			window;
	u64			read;
	u32			part;
	u8			*data;
	u32			*len;
};

/* "udp:ADDRESS:PORT" or "udp:[ADDRESS]:PORT" */
static int open_udp(const char *name)
{
	struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_DGRAM }, *ai;
	char host[80], *port, *from = host;
	int fd, size = 8 << 20;

	snprintf(host, sizeof(host), "%s", name + 4);
	port = strrchr(host, ':');
	if (!port)
		die("--source %s: udp:ADDRESS:PORT is expected", name);
	*port++ = '\0';
	if (host[0] == '[' && port - host > 2 && port[-2] == ']') {
		port[-2] = '\0';
		from++;
	}
	if (getaddrinfo(from, port, &hints, &ai))
		die("--source %s: udp:ADDRESS:PORT is expected", name);
	fd = socket(ai->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (fd < 0 || bind(fd, ai->ai_addr, ai->ai_addrlen))
		die("--source %s: %s", name, strerror(errno));
	freeaddrinfo(ai);
	return fd;
}

static void open_file(struct source *s, const char *name)
{
	struct stat st;

	/* of a FIFO that waits for who writes: without one it would have ended */
	s->fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (s->fd < 0 || fstat(s->fd, &st))
		die("%s: %s", name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		die("%s: is a directory", name);
	if (S_ISREG(st.st_mode)) {
		s->kind = SEEKABLE;
		s->pieces = ((u64)st.st_size + s->r->piece - 1) / s->r->piece;
		return;
	}
	s->kind = BYTES;
	fcntl(s->fd, F_SETFL, O_NONBLOCK);
}

/**
 * source_open() - begin to read
 * @r: the input; the program ends if there is no such source
 *
 * Return: the source.
 */
struct source *source_open(const struct run *r)
{
	struct source *s = memory(1, sizeof(*s));

	s->r = r;
	s->fd = -1;
	s->pieces = RUN_NO_END;
	if (!r->source)
		return s;
	if (!strncmp(r->source, "udp:", 4)) {
		s->kind = DATAGRAMS;
		s->fd = open_udp(r->source);
	} else {
		open_file(s, r->source);
	}
	if (!source_is_sequential(s))
		return s;
	s->window = 2ULL * stream_contributions(&r->cfg);
	if (s->window * r->piece > MOST_BUFFERED)
		die("--source %s: two intervals are more than 1 GiB: fewer --slices", r->source);
	s->data = memory(s->window, r->piece);
	s->len = memory(s->window, sizeof(*s->len));
	return s;
}

/**
 * source_close() - give it back
 * @s: the source
 */
void source_close(struct source *s)
{
	if (s->fd > STDIN_FILENO)
		close(s->fd);
	free(s->data);
	free(s->len);
	free(s);
}

/**
 * source_is_sequential() - must pieces be read in order?
 * @s: the source
 *
 * Return: they must.
 */
bool source_is_sequential(const struct source *s)
{
	return s->kind == BYTES || s->kind == DATAGRAMS;
}

/**
 * source_fd() - what to wait for when source_has() says no
 * @s: the source
 *
 * Return: a file descriptor, -1 for none.
 */
int source_fd(const struct source *s)
{
	return source_is_sequential(s) && s->pieces == RUN_NO_END ? s->fd : -1;
}

/**
 * source_pieces() - how many there are
 * @s: the source
 *
 * Return: RUN_NO_END while that is not known.
 */
u64 source_pieces(const struct source *s)
{
	return s->pieces;
}

/* Read the next piece, or a part of it.  False: nothing is there. */
static bool read_piece(struct source *s)
{
	u64 at = s->read % s->window;
	u32 want = s->r->piece - s->part;
	ssize_t n;

	if (s->kind == DATAGRAMS)
		n = recv(s->fd, s->data + at * s->r->piece, want, MSG_DONTWAIT);
	else
		n = read(s->fd, s->data + at * s->r->piece + s->part, want);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n < 0)
		die("--source %s: %s", s->r->source, strerror(errno));
	s->part += (u32)n;
	if (!n && s->kind == BYTES) {
		s->pieces = s->read + !!s->part;
		if (!s->part)
			return false;
	} else if (s->kind == BYTES && s->part < s->r->piece) {
		return true;
	}
	s->len[at] = s->part;
	s->part = 0;
	s->read++;
	return s->pieces == RUN_NO_END;
}

/**
 * source_has() - are pieces there?
 * @s: the source
 * @floor: those below have all been taken
 * @below: the pieces below this are wanted
 *
 * Return: they are, or the source has ended.
 */
bool source_has(struct source *s, u64 floor, u64 below)
{
	if (!source_is_sequential(s))
		return true;
	while (s->pieces == RUN_NO_END && s->read < floor + s->window)
		if (!read_piece(s))
			break;
	return s->pieces != RUN_NO_END || s->read >= below;
}

static u32 from_file(struct source *s, u64 slice, u8 *to)
{
	ssize_t n;
	u32 have = 0;

	do {
		n = pread(s->fd, to + have, s->r->piece - have,
			  (off_t)(slice * s->r->piece + have));
		if (n < 0 && errno != EINTR)
			die("%s: %s", s->r->source, strerror(errno));
		have += n > 0 ? (u32)n : 0;
	} while (n && have < s->r->piece);
	return have;
}

/**
 * source_take() - the piece of a time-slice
 * @s: the source, which has it
 * @slice: which; each is taken once
 * @to: room for --piece bytes
 *
 * Return: bytes; 0 if the source ended before.
 */
u32 source_take(struct source *s, u64 slice, u8 *to)
{
	u64 at;

	if (s->kind == GENERATED) {
		piece_generate(s->r->rank, slice, to, s->r->piece);
		return s->r->piece;
	}
	if (slice >= s->pieces)
		return 0;
	if (s->kind == SEEKABLE)
		return from_file(s, slice, to);
	at = slice % s->window;
	memcpy(to, s->data + at * s->r->piece, s->len[at]);
	return s->len[at];
}
