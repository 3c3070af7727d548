// SPDX-License-Identifier: GPL-2.0-or-later
/* See shtest.h. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "shtest.h"

int sht_family(void)
{
	static int family;
	FILE *f;

	if (family)
		return family;
	f = fopen("/proc/net/shuffle/family", "r");
	if (!f)
		return SHUFFLE_DEFAULT_FAMILY;
	if (fscanf(f, "%d", &family) != 1)
		family = SHUFFLE_DEFAULT_FAMILY;
	fclose(f);
	return family;
}

bool sht_has_ipv6(void)
{
	return !access("/proc/sys/net/ipv6", F_OK);
}

void sht_addr(struct sockaddr_shuffle *addr, enum sht_net net, int v6,
	      unsigned int host, uint16_t port)
{
	char text[64];

	memset(addr, 0, sizeof(*addr));
	addr->shs_family = sht_family();
	addr->shs_ip_family = v6 ? AF_INET6 : AF_INET;
	addr->shs_port = htons(port);
	switch (net) {
	case SHT_RACK:
		snprintf(text, sizeof(text), v6 ? "fd77::%x" : "10.77.0.%u",
			 host + 1);
		break;
	case SHT_ROUTED:
		snprintf(text, sizeof(text), v6 ? "fd78:%x::2" : "10.78.%u.2",
			 host);
		break;
	default:
		snprintf(text, sizeof(text), v6 ? "::1" : "127.0.0.1");
		break;
	}
	inet_pton(addr->shs_ip_family, text, addr->shs_addr);
}

int sht_enter_netns(const char *name)
{
	char path[256];
	int fd, rc;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	rc = setns(fd, CLONE_NEWNET);
	close(fd);
	return rc;
}

int sht_new_netns(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd, rc;

	if (unshare(CLONE_NEWNET))
		return -1;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	ifr.ifr_flags = IFF_UP | IFF_RUNNING;
	rc = ioctl(fd, SIOCSIFFLAGS, &ifr);
	close(fd);
	return rc;
}

long sht_counter(const char *name)
{
	static char names[8192], values[8192];
	char *n, *v, *at_n = names, *at_v = values;
	FILE *f = fopen("/proc/thread-self/net/shuffle/netstat", "r");
	long found = -1;

	if (!f || !fgets(names, sizeof(names), f) || !fgets(values, sizeof(values), f))
		exit(3);
	fclose(f);
	while ((n = strsep(&at_n, " \n")) && (v = strsep(&at_v, " \n")))
		if (!strcmp(n, name))
			found = atol(v);
	return found;
}

uint64_t sht_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

uint64_t sht_key(uint64_t seed, uint64_t op, uint32_t src, uint32_t dst)
{
	return sht_mix(sht_mix(sht_mix(seed) ^ op) ^
		       ((uint64_t)src << 32 | dst));
}

void sht_fill(void *buf, size_t len, uint64_t key, uint64_t off)
{
	unsigned char *p = buf;
	size_t n, skip;
	uint64_t word;

	while (len) {
		word = htole64(sht_mix(key ^ (off >> 3)));
		skip = off & 7;
		n = 8 - skip;
		if (n > len)
			n = len;
		memcpy(p, (unsigned char *)&word + skip, n);
		p += n;
		off += n;
		len -= n;
	}
}

size_t sht_check(const void *buf, size_t len, uint64_t key, uint64_t off)
{
	const unsigned char *p = buf;
	size_t n, skip, i, at = 0;
	unsigned char *want;
	uint64_t word;

	while (at < len) {
		word = htole64(sht_mix(key ^ (off >> 3)));
		skip = off & 7;
		n = 8 - skip;
		if (n > len - at)
			n = len - at;
		want = (unsigned char *)&word + skip;
		if (memcmp(p + at, want, n)) {
			for (i = 0; p[at + i] == want[i]; i++)
				;
			return at + i;
		}
		at += n;
		off += n;
	}
	return len;
}

/* Of the skewed matrix: many small messages, few long ones, some empty. */
static uint64_t skewed_len(uint64_t a, uint64_t h)
{
	uint64_t dice = h % 8, value = h >> 8;

	if (dice == 0)
		return 0;
	if (dice == 1)
		return 1 + value % 64;
	if (dice < 6)
		return value % (a / 2 + 1);
	if (dice == 6)
		return value % (2 * a + 1);
	return value % (8 * a + 1);
}

int sht_matrix_len(const char *matrix, uint64_t seed, uint64_t op, unsigned int src,
		   unsigned int dst, uint64_t *len)
{
	unsigned long a = 0, b = 0, c = 0;
	char kind[32] = "";
	bool sends;

	sscanf(matrix, "%31[^:]:%lu:%lu:%lu", kind, &a, &b, &c);
	if (!strcmp(kind, "skew")) {
		*len = skewed_len(a, sht_mix(sht_key(seed, op, src, dst)));
		return 0;
	}
	if (!strcmp(kind, "empty"))
		sends = false;
	else if (!strcmp(kind, "uniform"))
		sends = true;
	else if (!strcmp(kind, "others"))	/* nothing to oneself */
		sends = src != dst;
	else if (!strcmp(kind, "incast"))	/* all to rank b */
		sends = dst == b && src != b;
	else if (!strcmp(kind, "onerow"))	/* only rank b sends */
		sends = src == b;
	else if (!strcmp(kind, "mapreduce"))	/* ranks below b to the others */
		sends = src < b && dst >= b;
	else if (!strcmp(kind, "one"))		/* only b to c */
		sends = src == b && dst == c;
	else
		return -1;
	*len = sends ? a : 0;
	return 0;
}

uint64_t sht_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int sht_set_key(int fd, uint64_t number)
{
	uint64_t bytes[2] = { sht_mix(number), sht_mix(~number) };

	return setsockopt(fd, SOL_SHUFFLE, SHUFFLE_KEY, bytes, sizeof(bytes));
}

int sht_set_group(int fd, const struct sockaddr_shuffle *members,
		  uint32_t count, uint32_t rank)
{
	struct shuffle_group *group;
	size_t size;
	int rc;

	size = sizeof(*group) + count * sizeof(*members);
	group = calloc(1, size);
	if (!group)
		return -1;
	group->size = sizeof(*group);
	group->member_size = sizeof(*members);
	group->rank = rank;
	group->count = count;
	memcpy(group->members, members, count * sizeof(*members));
	rc = setsockopt(fd, SOL_SHUFFLE, SHUFFLE_GROUP, group, size);
	free(group);
	return rc;
}

int sht_open(const struct sockaddr_shuffle *members, uint32_t count,
	     uint32_t rank, int type_flags)
{
	static const struct sht_before nothing = { "", 0 };

	return sht_open_with(&nothing, members, count, rank, type_flags);
}

int sht_open_with(const struct sht_before *before, const struct sockaddr_shuffle *members,
		  uint32_t count, uint32_t rank, int type_flags)
{
	int fd, err;

	fd = socket(sht_family(), SOCK_SEQPACKET | SOCK_CLOEXEC | type_flags, 0);
	if (fd < 0)
		return -1;
	if ((before->device[0] && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, before->device,
					     strlen(before->device) + 1)) ||
	    bind(fd, (const struct sockaddr *)&members[rank],
		 sizeof(*members)) ||
	    (before->key && sht_set_key(fd, before->key)) ||
	    sht_set_group(fd, members, count, rank)) {
		err = errno;
		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

int sht_cancel(int fd, uint64_t op)
{
	return setsockopt(fd, SOL_SHUFFLE, SHUFFLE_CANCEL, &op, sizeof(op));
}

void sht_add_cmsg(struct msghdr *msg, int type, const void *payload, size_t size)
{
	struct cmsghdr *cmsg = (void *)((char *)msg->msg_control + msg->msg_controllen);

	msg->msg_controllen += CMSG_SPACE(size);
	cmsg->cmsg_level = SOL_SHUFFLE;
	cmsg->cmsg_type = type;
	cmsg->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(cmsg), payload, size);
}

ssize_t sht_send(int fd, const struct shuffle_row *row, const uint64_t *lens,
		 const void *data, size_t len, int flags)
{
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	size_t payload = sizeof(*row) + row->count * sizeof(*lens);
	struct cmsghdr *cmsg;
	ssize_t rc;
	int err;

	msg.msg_controllen = CMSG_SPACE(payload);
	msg.msg_control = calloc(1, msg.msg_controllen);
	if (!msg.msg_control)
		return -1;
	cmsg = CMSG_FIRSTHDR(&msg);
	cmsg->cmsg_level = SOL_SHUFFLE;
	cmsg->cmsg_type = SHUFFLE_CMSG_ROW;
	cmsg->cmsg_len = CMSG_LEN(payload);
	memcpy(CMSG_DATA(cmsg), row, sizeof(*row));
	((struct shuffle_row *)CMSG_DATA(cmsg))->size = sizeof(*row);
	if (row->count)
		memcpy(CMSG_DATA(cmsg) + sizeof(*row), lens,
		       row->count * sizeof(*lens));
	rc = sendmsg(fd, &msg, flags);
	err = errno;
	free(msg.msg_control);
	errno = err;
	return rc;
}

ssize_t sht_recv_vector(int fd, struct iovec *iov, int n, struct shuffle_record *recs,
			unsigned int *count, int flags)
{
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = n };
	struct shuffle_records *all;
	struct cmsghdr *cmsg;
	unsigned int i;
	size_t room;
	ssize_t rc;
	int err;

	room = CMSG_SPACE(sizeof(*all) + *count * sizeof(*recs));
	msg.msg_controllen = room;
	msg.msg_control = malloc(room);
	if (!msg.msg_control)
		return -1;
	*count = 0;
	rc = recvmsg(fd, &msg, flags);
	err = errno;
	if (rc >= 0) {
		for (cmsg = CMSG_FIRSTHDR(&msg); cmsg;
		     cmsg = CMSG_NXTHDR(&msg, cmsg)) {
			if (cmsg->cmsg_level != SOL_SHUFFLE ||
			    cmsg->cmsg_type != SHUFFLE_CMSG_RECORDS)
				continue;
			all = (struct shuffle_records *)CMSG_DATA(cmsg);
			for (i = 0; i < all->count; i++)
				memcpy(&recs[i], (char *)all->rec + i * all->size, sizeof(*recs));
			*count = all->count;
		}
		if (msg.msg_flags & MSG_CTRUNC) {
			err = EMSGSIZE;
			rc = -1;
		}
	}
	free(msg.msg_control);
	errno = err;
	return rc;
}

ssize_t sht_recv(int fd, void *buf, size_t size, struct shuffle_record *recs,
		 unsigned int *count, int flags)
{
	struct iovec iov = { .iov_base = buf, .iov_len = size };

	return sht_recv_vector(fd, &iov, 1, recs, count, flags);
}

static const struct {
	const char *name;
	int number;
} errnos[] = {
	{ "done", 0 },
	{ "ETIMEDOUT", ETIMEDOUT },
	{ "ECANCELED", ECANCELED },
	{ "ENETDOWN", ENETDOWN },
	{ "ENETUNREACH", ENETUNREACH },
	{ "EHOSTUNREACH", EHOSTUNREACH },
	{ "ECONNABORTED", ECONNABORTED },
	{ "ECONNRESET", ECONNRESET },
	{ "ECONNREFUSED", ECONNREFUSED },
	{ "EPROTO", EPROTO },
	{ "EPIPE", EPIPE },
	{ "ENOMEM", ENOMEM },
	{ "ENOBUFS", ENOBUFS },
	{ "EIO", EIO },
};

int sht_errno_number(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++)
		if (!strcmp(errnos[i].name, name))
			return errnos[i].number;
	return -1;
}

const char *sht_errno_name(int err)
{
	static char text[32];
	size_t i;

	for (i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++)
		if (errnos[i].number == err)
			return errnos[i].name;
	snprintf(text, sizeof(text), "errno%d", err);
	return text;
}
