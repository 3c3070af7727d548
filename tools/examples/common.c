// SPDX-License-Identifier: GPL-2.0-or-later
/* Shared by the example programs, see common.h. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

#define NS_PER_S	1000000000ULL

unsigned long long arg_number(const char *name, const char *arg, unsigned long long max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(arg, &end, 0);
	if (errno || end == arg || *end || *arg == '-' || value > max)
		errx(2, "%s: \"%s\" is not a number from 0 to %llu", name, arg, max);
	return value;
}

static void group_add(struct group *group, char *word)
{
	unsigned long long port;
	char *host = word;
	char *colon;
	void *grown;

	colon = strrchr(word, ':');
	if (!colon)
		errx(2, "member \"%s\": want ADDRESS:PORT", word);
	port = arg_number("port", colon + 1, 65535);
	if (!port)
		errx(2, "member \"%s\": the port may not be 0", word);
	*colon = '\0';
	if (*host == '[' && colon[-1] == ']') {
		host++;
		colon[-1] = '\0';
	}

	grown = realloc(group->members, (group->count + 1) * sizeof(*group->members));
	if (!grown)
		err(1, "group");
	group->members = grown;
	if (shuffle_addr(&group->members[group->count], host, port))
		errx(2, "member %u: \"%s\" is not an IPv4 or IPv6 address", group->count, host);
	group->count++;
}

void group_read(struct group *group, const char *arg)
{
	char line[256];
	char *list, *word, *save;
	FILE *f;

	memset(group, 0, sizeof(*group));
	f = fopen(arg, "re");
	if (f) {
		while (fgets(line, sizeof(line), f)) {
			line[strcspn(line, "#\r\n")] = '\0';
			word = strtok_r(line, " \t,", &save);
			if (word)
				group_add(group, word);
		}
		fclose(f);
	} else if (!strchr(arg, ':')) {
		err(2, "group file %s", arg);
	} else {
		list = strdup(arg);
		if (!list)
			err(1, "group");
		for (word = strtok_r(list, ", ", &save); word; word = strtok_r(NULL, ", ", &save))
			group_add(group, word);
		free(list);
	}
	if (!group->count)
		errx(2, "group %s: no members", arg);
	if (group->count > SHUFFLE_MAX_MEMBERS)
		errx(2, "group %s: %u members, the limit is %u", arg, group->count,
		     SHUFFLE_MAX_MEMBERS);
}

/* What launchers tell the processes that they start: its number, and of how many. */
static const struct {
	const char *rank, *size;
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },	/* Open MPI's mpirun */
	{ "PMI_RANK", "PMI_SIZE" },				/* mpiexec of MPICH and others */
	{ "SLURM_PROCID", "SLURM_NTASKS" },			/* srun */
};

static uint32_t launched_rank(const struct group *group)
{
	unsigned int i, other = 0;
	const char *rank, *size;

	for (i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		rank = getenv(launchers[i].rank);
		size = getenv(launchers[i].size);
		if (!rank || !size)
			continue;
		if (arg_number(launchers[i].size, size, UINT32_MAX) == group->count)
			return arg_number(launchers[i].rank, rank, group->count - 1);
		/* it may be left from another launcher, in which this one runs */
		other = i + 1;
	}
	if (other)
		errx(2, "%s is %s, but the group has %u members", launchers[other - 1].size,
		     getenv(launchers[other - 1].size), group->count);
	errx(2, "--rank is needed: neither mpirun nor srun has started this process");
}

uint32_t group_join(struct group *group, const char *arg, uint32_t rank)
{
	group_read(group, arg);
	if (rank == GROUP_RANK_UNKNOWN)
		return launched_rank(group);
	if (rank >= group->count)
		errx(2, "--rank %u: the group has %u members, counted from 0", rank,
		     group->count);
	return rank;
}

static const void *row_map(const char *path, uint64_t *len)
{
	struct stat st;
	void *map;
	int fd;

	*len = 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		if (errno == ENOENT)
			return NULL;
		err(1, "%s", path);
	}
	if (fstat(fd, &st))
		err(1, "%s", path);
	if (!S_ISREG(st.st_mode))
		errx(1, "%s: not a regular file", path);
	if (!st.st_size) {
		close(fd);
		return NULL;
	}
	map = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (map == MAP_FAILED)
		err(1, "%s: mmap", path);
	close(fd);
	*len = st.st_size;
	return map;
}

void row_read(struct row *row, const char *dir, unsigned int rank, unsigned int count)
{
	char path[4096], name[4096];
	struct stat st;
	unsigned int i;

	snprintf(path, sizeof(path), "%s/%u", dir, rank);
	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		snprintf(path, sizeof(path), "%s", dir);
	if (stat(path, &st))
		err(1, "row %s", path);
	if (!S_ISDIR(st.st_mode))
		errx(1, "row %s: not a directory", path);

	row->count = count;
	row->total = 0;
	row->bufs = calloc(count, sizeof(*row->bufs));
	row->lens = calloc(count, sizeof(*row->lens));
	if (!row->bufs || !row->lens)
		err(1, "row");
	for (i = 0; i < count; i++) {
		if ((size_t)snprintf(name, sizeof(name), "%s/%u", path, i) >= sizeof(name))
			errx(1, "row %s: path too long", dir);
		row->bufs[i] = row_map(name, &row->lens[i]);
		row->total += row->lens[i];
	}
}

void column_init(struct column *col, const char *dir, unsigned int count)
{
	char name[4096];
	unsigned int i;

	if (mkdir(dir, 0777) && errno != EEXIST)
		err(1, "cannot create %s", dir);
	col->dir = dir;
	col->count = count;
	col->fds = calloc(count, sizeof(*col->fds));
	if (!col->fds)
		err(1, "column");
	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s/%u.part", dir, i);
		col->fds[i] = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (col->fds[i] < 0)
			err(1, "cannot create %s", name);
	}
}

void column_write(struct column *col, unsigned int rank, const void *buf, size_t len,
		  uint64_t offset)
{
	while (len) {
		ssize_t n = pwrite(col->fds[rank], buf, len, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			err(1, "cannot write %s/%u.part", col->dir, rank);
		buf = (const char *)buf + n;
		offset += n;
		len -= n;
	}
}

void column_whole(struct column *col, unsigned int rank)
{
	char from[4096], to[4096];

	snprintf(from, sizeof(from), "%s/%u.part", col->dir, rank);
	snprintf(to, sizeof(to), "%s/%u", col->dir, rank);
	if (close(col->fds[rank]) || rename(from, to))
		err(1, "cannot finish %s", to);
	col->fds[rank] = -1;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t start_wait(double start)
{
	struct timespec ts;
	uint64_t start_ns;

	if (start <= 0)
		return now_ns();
	start_ns = now_ns() + (int64_t)(start * 1e9 - (double)clock_ns(CLOCK_REALTIME));
	ts.tv_sec = start_ns / NS_PER_S;
	ts.tv_nsec = start_ns % NS_PER_S;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
	return start_ns;
}

void timeline_add_at(struct timeline *tl, uint64_t t_ns, char dir, unsigned int rank,
		     uint64_t bytes)
{
	struct event *ev;

	if (!tl->on)
		return;
	if (tl->count == tl->room) {
		tl->room = tl->room ? 2 * tl->room : 1024;
		tl->events = realloc(tl->events, tl->room * sizeof(*tl->events));
		if (!tl->events)
			err(1, "time line");
	}
	ev = &tl->events[tl->count++];
	ev->t_ns = t_ns;
	ev->dir = dir;
	ev->rank = rank;
	ev->bytes = bytes;
}

void timeline_add(struct timeline *tl, char dir, unsigned int rank, uint64_t bytes)
{
	timeline_add_at(tl, now_ns() - tl->start_ns, dir, rank, bytes);
}

void timeline_write(const struct timeline *tl, const char *path)
{
	size_t i;
	FILE *f;

	if (!tl->on)
		return;
	f = fopen(path, "we");
	if (!f)
		err(1, "cannot create %s", path);
	fprintf(f, "t_ns,dir,rank,bytes\n");
	for (i = 0; i < tl->count; i++) {
		const struct event *ev = &tl->events[i];

		fprintf(f, "%" PRId64 ",%s,%" PRIu32 ",%" PRIu64 "\n", (int64_t)ev->t_ns,
			ev->dir == 'o' ? "out" : ev->dir == 'i' ? "in" : "whole",
			ev->rank, ev->bytes);
	}
	if (fclose(f))
		err(1, "cannot write %s", path);
}
