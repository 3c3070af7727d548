// SPDX-License-Identifier: BSD-3-Clause
/*
 * The addresses of this host that other ranks may send to.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "addr.h"

static const uint8_t *ip_bytes(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return (const uint8_t *)&((const struct sockaddr_in *)sa)->sin_addr;
	return (const uint8_t *)&((const struct sockaddr_in6 *)sa)->sin6_addr;
}

static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < bits; i++)
		if ((a[i / 8] ^ b[i / 8]) & (0x80 >> i % 8))
			return false;
	return true;
}

/* Is the address in "192.0.2.0/24" or "2001:db8::/32"? */
static bool in_subnet(const struct sockaddr *sa, const char *subnet)
{
	char text[INET6_ADDRSTRLEN] = "";
	const char *slash = strchr(subnet, '/');
	unsigned long bits;
	uint8_t net[16];
	char *end;

	if (!slash || (size_t)(slash - subnet) >= sizeof(text))
		return false;
	memcpy(text, subnet, slash - subnet);
	if (inet_pton(sa->sa_family, text, net) != 1)
		return false;
	bits = strtoul(slash + 1, &end, 10);
	if (*end || bits > (sa->sa_family == AF_INET ? 32 : 128))
		return false;
	return same_bits(ip_bytes(sa), net, bits);
}

/* Does a list like "eth0,192.0.2.0/24" name it? */
static bool listed(const struct ifaddrs *ifa, const char *list)
{
	char *copy = strdup(list), *save, *word;
	bool found = false;

	if (!copy)
		return false;
	for (word = strtok_r(copy, ", ", &save); word; word = strtok_r(NULL, ", ", &save))
		if (!strcmp(word, ifa->ifa_name) || in_subnet(ifa->ifa_addr, word))
			found = true;
	free(copy);
	return found;
}

/**
 * coll_shuffle_addr_unknown() - a word of such a list that names nothing here
 * @list: the list
 * @word: out: the word
 * @size: of that
 *
 * Return: true if there is one.
 */
bool coll_shuffle_addr_unknown(const char *list, char *word, size_t size)
{
	struct ifaddrs *all, *ifa;
	bool found = true;
	size_t len;

	if (getifaddrs(&all))
		return false;
	for (; found && *list; list += len) {
		list += strspn(list, ", ");
		len = strcspn(list, ", ");
		if (!len)
			break;
		snprintf(word, size, "%.*s", (int)len, list);
		for (ifa = all, found = false; ifa && !found; ifa = ifa->ifa_next)
			found = ifa->ifa_addr && (ifa->ifa_addr->sa_family == AF_INET ||
						  ifa->ifa_addr->sa_family == AF_INET6) ?
				listed(ifa, word) : !strcmp(word, ifa->ifa_name);
	}
	freeifaddrs(all);
	return !found;
}

static unsigned int mask_bits(const struct sockaddr *mask, unsigned int most)
{
	unsigned int bits = 0;

	if (mask)
		while (bits < most && ip_bytes(mask)[bits / 8] & (0x80 >> bits % 8))
			bits++;
	return bits;
}

/* 127.0.0.0/8, ::1 and link-local addresses are other hosts' as well. */
static bool of_this_host_only(const struct sockaddr *sa)
{
	const struct in6_addr *a = &((const struct sockaddr_in6 *)sa)->sin6_addr;

	if (sa->sa_family == AF_INET)
		return ip_bytes(sa)[0] != 127;
	return !IN6_IS_ADDR_LINKLOCAL(a) && !IN6_IS_ADDR_LOOPBACK(a);
}

static bool usable(const struct ifaddrs *ifa, int ip_family, const char *include,
		   const char *exclude)
{
	/* IFF_RUNNING: there is a carrier */
	if (!ifa->ifa_addr || ifa->ifa_addr->sa_family != ip_family ||
	    !(ifa->ifa_flags & IFF_UP) || !(ifa->ifa_flags & IFF_RUNNING) ||
	    !of_this_host_only(ifa->ifa_addr))
		return false;
	if (include && *include && !listed(ifa, include))
		return false;
	return !exclude || !*exclude || !listed(ifa, exclude);
}

/**
 * coll_shuffle_addr_list() - addresses of this host, in the order of its interfaces
 * @ip_family: AF_INET or AF_INET6
 * @include: interfaces and subnets to choose from, or NULL
 * @exclude: those to leave out, or NULL
 * @list: out: the addresses
 * @room: so many at most
 *
 * Addresses of the loopback device come last: hosts may be reached by them, by routes (BGP to the
 * host). 127.0.0.0/8 and ::1 are not among them.
 *
 * Return: their number.
 */
unsigned int coll_shuffle_addr_list(int ip_family, const char *include, const char *exclude,
				    struct coll_shuffle_addr *list, unsigned int room)
{
	unsigned int len = ip_family == AF_INET ? 4 : 16, n = 0, lo;
	struct ifaddrs *all, *ifa;

	if (getifaddrs(&all))
		return 0;
	for (lo = 0; lo < 2; lo++) {
		for (ifa = all; ifa && n < room; ifa = ifa->ifa_next) {
			if (!!(ifa->ifa_flags & IFF_LOOPBACK) != lo ||
			    !usable(ifa, ip_family, include, exclude))
				continue;
			memset(&list[n], 0, sizeof(list[n]));
			list[n].ip_family = ip_family;
			list[n].bits = mask_bits(ifa->ifa_netmask, 8 * len);
			memcpy(list[n].bytes, ip_bytes(ifa->ifa_addr), len);
			n++;
		}
	}
	freeifaddrs(all);
	return n;
}

/**
 * coll_shuffle_addr_same_net() - is an address in the network of another one?
 * @a: the one whose network it is
 * @b: the other one
 *
 * Return: true if it is; an address is in its own.
 */
bool coll_shuffle_addr_same_net(const struct coll_shuffle_addr *a,
				const struct coll_shuffle_addr *b)
{
	return a->ip_family == b->ip_family && same_bits(a->bytes, b->bytes, a->bits);
}

/**
 * coll_shuffle_addr_of() - as a socket address
 * @a: address
 * @addr: out: the same, port 0
 */
void coll_shuffle_addr_of(const struct coll_shuffle_addr *a, struct sockaddr_shuffle *addr)
{
	memset(addr, 0, sizeof(*addr));
	addr->shs_family = AF_SHUFFLE;
	addr->shs_ip_family = a->ip_family;
	memcpy(addr->shs_addr, a->bytes, sizeof(a->bytes));
}
