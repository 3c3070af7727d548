// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which address of this host other ranks shall send to.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "addr.h"

static const uint8_t *ip_bytes(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return (const uint8_t *)&((const struct sockaddr_in *)sa)->sin_addr;
	return (const uint8_t *)&((const struct sockaddr_in6 *)sa)->sin6_addr;
}

/* Is the address in "192.0.2.0/24" or "2001:db8::/32"? */
static bool in_subnet(const struct sockaddr *sa, const char *subnet)
{
	char text[INET6_ADDRSTRLEN] = "";
	const uint8_t *ip = ip_bytes(sa);
	const char *slash = strchr(subnet, '/');
	unsigned long bits;
	uint8_t net[16];
	unsigned int i;
	char *end;

	if (!slash || (size_t)(slash - subnet) >= sizeof(text))
		return false;
	memcpy(text, subnet, slash - subnet);
	if (inet_pton(sa->sa_family, text, net) != 1)
		return false;
	bits = strtoul(slash + 1, &end, 10);
	if (*end || bits > (sa->sa_family == AF_INET ? 32 : 128))
		return false;
	for (i = 0; i < bits; i++)
		if ((ip[i / 8] ^ net[i / 8]) & (0x80 >> i % 8))
			return false;
	return true;
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
 * coll_shuffle_addr_pick() - an address of this host
 * @ip_family: AF_INET or AF_INET6
 * @include: interfaces and subnets to choose from, or NULL
 * @exclude: those to leave out, or NULL
 * @addr: out: the address, port 0
 * @loopback: out: it is one of the loopback device, which only has to serve if
 *	there is no other
 *
 * Return: 0, or -1 if there is none.
 */
int coll_shuffle_addr_pick(int ip_family, const char *include, const char *exclude,
			   struct sockaddr_shuffle *addr, bool *loopback)
{
	struct ifaddrs *list, *ifa;
	int found = -1;

	if (getifaddrs(&list))
		return -1;
	for (ifa = list; ifa; ifa = ifa->ifa_next) {
		bool lo = ifa->ifa_flags & IFF_LOOPBACK;

		if (!ifa->ifa_addr || ifa->ifa_addr->sa_family != ip_family ||
		    !(ifa->ifa_flags & IFF_UP))
			continue;
		/* link-local ones are not the same host's everywhere */
		if (ip_family == AF_INET6 &&
		    IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)ifa->ifa_addr)->sin6_addr))
			continue;
		if (include && *include && !listed(ifa, include))
			continue;
		if (exclude && *exclude && listed(ifa, exclude))
			continue;
		if (!found && lo)
			continue;
		memset(addr, 0, sizeof(*addr));
		addr->shs_family = AF_SHUFFLE;
		addr->shs_ip_family = ip_family;
		memcpy(addr->shs_addr, ip_bytes(ifa->ifa_addr), ip_family == AF_INET ? 4 : 16);
		*loopback = lo;
		found = 0;
		if (!lo)
			break;
	}
	freeifaddrs(list);
	return found;
}
