// SPDX-License-Identifier: GPL-2.0-or-later
/* Devices limited to a part of their rate, in any network namespace. */
#include <errno.h>
#include <fcntl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "program.h"
#include "tc.h"

#define HANDLE	0x53600000U	/* of the tbf; 0x5360 */
#define LIMIT	1000000		/* bytes that wait */

/**
 * nic_parse() - read "DEVICE" or "NETNS:DEVICE"
 * @word: the word
 * @nic: result
 *
 * Return: 0, or -EINVAL.
 */
int nic_parse(const char *word, struct nic *nic)
{
	const char *colon = strchr(word, ':'), *dev = colon ? colon + 1 : word;
	size_t n = colon ? colon - word : 0;

	if (n >= sizeof(nic->netns) || !*dev || strlen(dev) >= sizeof(nic->dev) ||
	    memchr(word, '/', n) || (colon && !n))
		return -EINVAL;
	memcpy(nic->netns, word, n);
	nic->netns[n] = '\0';
	strcpy(nic->dev, dev);
	return 0;
}

/* A netlink socket stays in the namespace in which it was made. */
static struct nl_sock *open_in(const char *netns)
{
	int own = -1, there = -1;
	struct nl_sock *sk;
	char file[128];

	if (!*netns)
		return nl_open(NETLINK_ROUTE);
	snprintf(file, sizeof(file), "/run/netns/%s", netns);
	own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	there = open(file, O_RDONLY | O_CLOEXEC);
	if (own < 0 || there < 0 || setns(there, CLONE_NEWNET)) {
		ctl_error("network namespace \"%s\": %s", netns, strerror(errno));
		sk = NULL;
	} else {
		sk = nl_open(NETLINK_ROUTE);
		if (setns(own, CLONE_NEWNET)) {
			ctl_error("cannot go back from network namespace \"%s\"", netns);
			_exit(CTL_ENV);
		}
	}
	if (own >= 0)
		close(own);
	if (there >= 0)
		close(there);
	return sk;
}

static int ifindex_of(struct nl_sock *sk, const char *dev)
{
	struct ifinfomsg m = { .ifi_family = AF_UNSPEC };
	struct nl_msg *msg = nl_request(RTM_GETLINK, 0);
	struct nl_said said;
	struct nl_reply r;
	int ifindex = 0;

	nlmsg_append(msg, &m, sizeof(m), NLMSG_ALIGNTO);
	nla_put_string(msg, IFLA_IFNAME, dev);
	if (nl_talk(sk, msg, &r, &said)) {
		nl_failed(&said, dev);
		return 0;
	}
	if (r.n)
		ifindex = ((struct ifinfomsg *)nlmsg_data(nlmsg_hdr(r.msg[0])))->ifi_index;
	nl_reply_free(&r);
	return ifindex;
}

static int put_tbf(struct nl_sock *sk, int ifindex, uint64_t rate)
{
	uint64_t bytes = rate / 8, burst = bytes / 1000;	/* 1 ms */
	struct tc_tbf_qopt q = { .limit = LIMIT };
	struct nl_msg *opt = nl_request(0, 0);
	int err;

	if (burst < 3100)
		burst = 3100;
	if (burst > 1 << 20)
		burst = 1 << 20;
	q.rate.linklayer = TC_LINKLAYER_ETHERNET;
	q.rate.rate = bytes < UINT32_MAX ? bytes : UINT32_MAX;
	nla_put(opt, TCA_TBF_PARMS, sizeof(q), &q);
	nla_put_u32(opt, TCA_TBF_BURST, burst);
	if (bytes >= UINT32_MAX)
		nla_put_u64(opt, TCA_TBF_RATE64, bytes);
	err = tc_qdisc_put(sk, ifindex, TC_H_ROOT, HANDLE, "tbf", nlmsg_data(nlmsg_hdr(opt)),
			   nlmsg_datalen(nlmsg_hdr(opt)), NLM_F_CREATE | NLM_F_REPLACE);
	nlmsg_free(opt);
	return err;
}

static int with_nic(const struct nic *nic, uint64_t rate)
{
	struct nl_sock *sk = open_in(nic->netns);
	const struct tc_node *root;
	struct tc_tree *t;
	int ifindex, err = -ENODEV;

	if (!sk)
		return err;
	ifindex = ifindex_of(sk, nic->dev);
	t = ifindex ? tc_tree_get(sk, ifindex) : NULL;
	if (t) {
		root = tc_root(t);
		if (root && root->handle && root->handle != HANDLE) {
			err = -EBUSY;
			if (rate)
				ctl_error("%s: somebody has installed a qdisc %s; it would be lost",
					  nic->dev, root->kind);
		} else if (rate) {
			err = put_tbf(sk, ifindex, rate);
		} else {
			err = root && root->handle ?
			      tc_qdisc_del(sk, ifindex, TC_H_ROOT, HANDLE) : 0;
		}
		tc_tree_free(t);
	}
	nl_socket_free(sk);
	return err;
}

/**
 * nic_limit() - limit a device
 * @nic: device
 * @rate: bit/s, above 0
 *
 * Return: 0, or -errno after a message; -EBUSY if somebody's qdisc is there.
 */
int nic_limit(const struct nic *nic, uint64_t rate)
{
	return with_nic(nic, rate);
}

/**
 * nic_restore() - take the limit away
 * @nic: device
 *
 * Return: 0, or -errno after a message.
 */
int nic_restore(const struct nic *nic)
{
	return with_nic(nic, 0);
}
