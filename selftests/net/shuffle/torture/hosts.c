// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Namespaces of a mix or a slot: one with its loopback device, or two with
 *
 *	host_ns[0]               host_ns[1]
 *	[eth0] 10.77.0.1 ------- [eth0] 10.77.0.2
 *	       fd77::1                  fd77::2
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>

#include "hosts.h"
#include "torture.h"

int host_ns[2] = { -1, -1 };

struct link_request {
	struct nlmsghdr h;
	union {
		struct ifinfomsg link;
		struct ifaddrmsg addr;
	};
	char attrs[512];
};

static void *put(struct link_request *r, uint16_t type, const void *data, size_t len)
{
	struct rtattr *a = (void *)((char *)r + NLMSG_ALIGN(r->h.nlmsg_len));

	a->rta_type = type;
	a->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(a), data, len);
	r->h.nlmsg_len = NLMSG_ALIGN(r->h.nlmsg_len) + RTA_ALIGN(a->rta_len);
	return a;
}

static void close_nest(struct link_request *r, struct rtattr *a)
{
	a->rta_len = (char *)r + NLMSG_ALIGN(r->h.nlmsg_len) - (char *)a;
}

static int talk(struct link_request *r)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
		char more[1024];
	} answer;
	ssize_t n;

	if (fd < 0)
		return -1;
	r->h.nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	n = send(fd, r, r->h.nlmsg_len, 0);
	if (n > 0)
		n = recv(fd, &answer, sizeof(answer), 0);
	close(fd);
	if (n < 0)
		return -1;
	errno = -answer.e.error;
	return errno ? -1 : 0;
}

static int add_veth(int peer_ns)
{
	struct link_request r = { .h = { .nlmsg_len = NLMSG_LENGTH(sizeof(r.link)),
					 .nlmsg_type = RTM_NEWLINK,
					 .nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL } };
	static const struct ifinfomsg nothing;
	struct rtattr *info, *data, *peer;

	put(&r, IFLA_IFNAME, "eth0", 5);
	info = put(&r, IFLA_LINKINFO, NULL, 0);
	put(&r, IFLA_INFO_KIND, "veth", 5);
	data = put(&r, IFLA_INFO_DATA, NULL, 0);
	peer = put(&r, VETH_INFO_PEER, &nothing, sizeof(nothing));
	put(&r, IFLA_IFNAME, "eth0", 5);
	put(&r, IFLA_NET_NS_FD, &peer_ns, sizeof(peer_ns));
	close_nest(&r, peer);
	close_nest(&r, data);
	close_nest(&r, info);
	return talk(&r);
}

static int add_addr(int family, const char *text, int bits)
{
	struct link_request r = { .h = { .nlmsg_len = NLMSG_LENGTH(sizeof(r.addr)),
					 .nlmsg_type = RTM_NEWADDR,
					 .nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE } };
	size_t len = family == AF_INET ? 4 : 16;
	unsigned char addr[16];

	inet_pton(family, text, addr);
	r.addr.ifa_family = family;
	r.addr.ifa_prefixlen = bits;
	r.addr.ifa_flags = IFA_F_NODAD;
	r.addr.ifa_index = if_nametoindex("eth0");
	put(&r, IFA_LOCAL, addr, len);
	put(&r, IFA_ADDRESS, addr, len);
	return talk(&r);
}

static void set_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		dprintf(STDERR_FILENO, "# %s: %s\n", path, strerror(errno));
	close(fd);
}

/* The device of this namespace gets what it needs. */
static int set_up(unsigned int host)
{
	char text[32];

	/* an IPv6 address goes with its device, unless it is told to stay */
	set_file("/proc/sys/net/ipv6/conf/all/keep_addr_on_down", "1");
	set_file("/proc/sys/net/ipv6/conf/eth0/keep_addr_on_down", "1");
	set_file("/proc/sys/net/ipv6/conf/eth0/accept_dad", "0");
	if (link_updown("eth0", true))
		return -1;
	snprintf(text, sizeof(text), "10.77.0.%u", host + 1);
	if (add_addr(AF_INET, text, 24))
		return -1;
	snprintf(text, sizeof(text), "fd77::%x", host + 1);
	return add_addr(AF_INET6, text, 64);
}

int hosts_make(int n)
{
	int h;

	for (h = n - 1; h >= 0; h--) {
		if (sht_new_netns())
			return -1;
		if (host_ns[h] >= 0)
			close(host_ns[h]);
		host_ns[h] = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
		if (host_ns[h] < 0)
			return -1;
	}
	if (n == 1)
		return 0;
	if (add_veth(host_ns[1]) || set_up(0))
		return -1;
	if (in_host(1) || set_up(1))
		return -1;
	return in_host(0);
}

int in_host(int host)
{
	return host_ns[host] < 0 ? 0 : setns(host_ns[host], CLONE_NEWNET);
}
