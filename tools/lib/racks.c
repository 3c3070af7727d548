// SPDX-License-Identifier: BSD-3-Clause
/*
 * The racks of a group, after the table of its network namespace: a file with a range of addresses
 * and the name of a rack in each line, ADDRESS[/BITS] NAME.  A host is in the rack of the longest
 * range that has its address.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shuffle_coll.h"
#include "internal.h"
#include "topology_path.h"

/* The first three fields are what ranges are sorted by. */
struct range {
	uint8_t v6;
	uint8_t len;
	uint8_t addr[16];
	char name[TOPOLOGY_NAME];
};

struct table {
	struct range *range;
	unsigned int n;
	uint8_t lens[2][129];		/* of IPv4 and IPv6 ranges: there are some of that length */
};

static int order(const void *a, const void *b)
{
	return memcmp(a, b, offsetof(struct range, name));
}

/* The bits of an address behind its first @len become 0. */
static void keep_bits(uint8_t *addr, unsigned int len)
{
	unsigned int byte = len / 8;

	if (byte == 16)
		return;
	addr[byte] &= ~(0xff >> len % 8);
	memset(addr + byte + 1, 0, 15 - byte);
}

/* ADDRESS[/BITS] NAME.  0 or -1: it makes no sense. */
static int read_range(struct range *r, char *line)
{
	char *save, *addr = strtok_r(line, " \t\r\n", &save), *end;
	const char *name = strtok_r(NULL, " \t\r\n", &save);
	char *bits = strchr(addr, '/');
	unsigned long most, len;

	if (!name || strlen(name) >= sizeof(r->name) || strtok_r(NULL, " \t\r\n", &save))
		return -1;
	memset(r, 0, sizeof(*r));
	strcpy(r->name, name);
	if (bits)
		*bits++ = '\0';
	r->v6 = !!strchr(addr, ':');
	if (inet_pton(r->v6 ? AF_INET6 : AF_INET, addr, r->addr) != 1)
		return -1;
	most = r->v6 ? 128 : 32;
	len = bits ? strtoul(bits, &end, 10) : most;
	if (len > most || (bits && (*end || end == bits)))
		return -1;
	r->len = len;
	keep_bits(r->addr, len);
	return 0;
}

static int read_table(struct table *t, FILE *in)
{
	unsigned int room = 0;
	char line[512];
	void *more;

	errno = 0;
	while (fgets(line, sizeof(line), in)) {
		line[strcspn(line, "#")] = '\0';
		if (!line[strspn(line, " \t\r\n")])
			continue;
		if (t->n == room) {
			room = room ? 2 * room : 64;
			more = reallocarray(t->range, room, sizeof(*t->range));
			if (!more)
				return -1;
			t->range = more;
		}
		if (t->n == TOPOLOGY_RANGES || read_range(&t->range[t->n], line)) {
			errno = EINVAL;
			return -1;
		}
		t->lens[t->range[t->n].v6][t->range[t->n].len] = 1;
		t->n++;
	}
	if (ferror(in))
		return -1;
	if (t->n)
		qsort(t->range, t->n, sizeof(*t->range), order);
	return 0;
}

/* The name of a member's rack, or NULL. */
static const char *rack_of(const struct table *t, const struct sockaddr_shuffle *a)
{
	struct range key = { .v6 = a->shs_ip_family == AF_INET6 };
	const struct range *r = NULL;
	int len;

	memcpy(key.addr, a->shs_addr, key.v6 ? 16 : 4);
	for (len = key.v6 ? 128 : 32; len >= 0 && !r; len--) {
		if (!t->lens[key.v6][len])
			continue;
		key.len = len;
		keep_bits(key.addr, len);
		r = bsearch(&key, t->range, t->n, sizeof(key), order);
	}
	return r ? r->name : NULL;
}

/* Sizes of the racks, in order of rank: their number.  0: a member has none, or a rack begins
 * twice, or there is only one.
 */
static int find_racks(const struct table *t, const struct shuffle_group *g, unsigned int *size)
{
	unsigned int i, k, n = 0;
	const char *name, **begun;

	begun = malloc(g->count * sizeof(*begun));
	if (!begun)
		return -1;
	for (i = 0; i < g->count; i++) {
		name = rack_of(t, (const void *)((const char *)g + g->size + i * g->member_size));
		if (name && n && !strcmp(name, begun[n - 1])) {
			size[n - 1]++;
			continue;
		}
		for (k = 0; name && k < n && strcmp(name, begun[k]); k++)
			;
		if (!name || k < n)
			break;
		begun[n] = name;
		size[n++] = 1;
	}
	free(begun);
	return i == g->count && n > 1 ? (int)n : 0;
}

/* The socket's group, NULL: it has none, or no memory.  Members of one with edges know one another
 * by different addresses: they would not find the same racks.
 */
static struct shuffle_group *group_of(int fd, unsigned int count)
{
	socklen_t len = sizeof(struct shuffle_group) + count * sizeof(struct shuffle_edge);
	struct shuffle_group *g = malloc(len);

	if (g && !getsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, g, &len) && g->count == count &&
	    g->member_size == sizeof(struct sockaddr_shuffle))
		return g;
	free(g);
	return NULL;
}

int shuffle_racks(int fd, unsigned int *size, unsigned int count)
{
	struct table t = { 0 };
	struct shuffle_group *g;
	char path[PATH_MAX];
	int n = -1;
	FILE *in;

	/* a kernel that does not number its namespaces has no tables of theirs */
	if (shuffle_topology_path(fd, path, sizeof(path)))
		return errno == ENAMETOOLONG ? -1 : 0;
	in = fopen(path, "re");
	if (!in)
		return errno == ENOENT ? 0 : -1;
	if (!read_table(&t, in)) {
		g = group_of(fd, count);
		n = g ? find_racks(&t, g, size) : 0;
		free(g);
	}
	fclose(in);
	free(t.range);
	return n;
}
