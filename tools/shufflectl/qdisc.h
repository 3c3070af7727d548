/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control packets first: what the files of "shufflectl qdisc" share. */
#ifndef SHUFFLECTL_QDISC_H
#define SHUFFLECTL_QDISC_H

#include <net/if.h>

#include "tc.h"

/* Handles of what is installed; 0x5348 is "SH". */
#define QDISC_ROOT	0x53470000U	/* tbf or mq around the bands */
#define QDISC_BANDS	0x53480000U	/* prio, ets, mqprio */
#define QDISC_CONTROL	0x53490000U	/* waiting control packets */
#define QDISC_DATA	0x534a0000U	/* all the rest, unless it has a handle of its own */
/* the same for each queue of a device with several */
#define QDISC_MQ_BANDS(i)	(0x60000000U + ((i) << 16))
#define QDISC_MQ_CONTROL(i)	(0x64000000U + ((i) << 16))
#define QDISC_MQ_DATA(i)	(0x68000000U + ((i) << 16))
#define QDISC_MAX_QUEUES	1024

/* Minor numbers of the two bands. */
#define QDISC_BAND_CONTROL	1
#define QDISC_BAND_DATA		2

/**
 * struct qdisc_dev - a network device
 * @ifindex: number
 * @name: name
 * @mtu: MTU in bytes
 * @queues: transmit queues
 * @master: ifindex of the bridge or bond that it belongs to, 0 without one
 * @lower: ifindex of the device that a VLAN or macvlan is on, 0 without one
 * @forwards: packets of other devices leave here: a bridge port, or a router
 * @up: it is up
 * @loopback: it is the loopback device
 * @in_use: shuffles use it
 */
struct qdisc_dev {
	int		ifindex;
	char		name[IFNAMSIZ];
	unsigned int	mtu;
	unsigned int	queues;
	int		master;
	int		lower;
	bool		forwards;
	bool		up;
	bool		loopback;
	bool		in_use;
};

/**
 * struct qdisc_state - what is remembered of a device from install to remove
 * @ifindex: device
 * @name: of it
 * @kind: "prio", "ets", "mqprio"
 * @rate: that was given, bit/s, 0 without one
 * @multi: bands on each queue of an mq
 * @at: where the bands are, a class of a qdisc that was left in place, or
 *	TC_H_ROOT for all of the device
 * @lost: something was replaced by force that cannot be restored
 * @former: what was there
 */
struct qdisc_state {
	int		ifindex;
	char		name[IFNAMSIZ];
	char		kind[16];
	uint64_t	rate;
	bool		multi;
	uint32_t	at;
	bool		lost;
	struct tc_tree	*former;
};

/**
 * enum qdisc_first - do control packets go first
 * @QDISC_FIRST_NO: they wait behind data
 * @QDISC_FIRST_YES: they do
 * @QDISC_FIRST_UNKNOWN: cannot be told
 */
enum qdisc_first {
	QDISC_FIRST_NO,
	QDISC_FIRST_YES,
	QDISC_FIRST_UNKNOWN,
};

/**
 * struct qdisc_verdict - do they, and why
 * @local: packets of this host, which have skb->priority
 * @forwarded: packets that come from another device, which have their DSCP only
 * @queues: something can wait on this device at all
 * @why: one sentence
 * @bands: handle of the qdisc that decides, 0 none
 */
struct qdisc_verdict {
	enum qdisc_first	local;
	enum qdisc_first	forwarded;
	bool			queues;
	char			why[160];
	uint32_t		bands;
};

/* qdisc_copy.c */
const char *qdisc_copy_refused(const struct tc_tree *t, const struct tc_node *top);
int qdisc_copy_put(struct nl_sock *sk, const struct tc_tree *t, const struct tc_node *top,
		   uint32_t parent);

/* qdisc_state.c */
int qdisc_state_lock(void);
int qdisc_state_save(const struct qdisc_state *s);
int qdisc_state_load(int ifindex, struct qdisc_state *s);
void qdisc_state_drop(int ifindex);
void qdisc_state_free(struct qdisc_state *s);

/* qdisc_install.c */
int qdisc_install(struct nl_sock *sk, const struct qdisc_dev *dev, const char *kind,
		  uint64_t rate, bool force, const struct tc_match *match);
int qdisc_remove(struct nl_sock *sk, const struct qdisc_dev *dev, bool force);

/* qdisc_check.c */
void qdisc_check(struct nl_sock *sk, const struct tc_tree *t, const struct qdisc_dev *dev,
		 const struct tc_match *match, struct qdisc_verdict *v);

/* qdisc_dev.c */
struct qdisc_dev *qdisc_devices(struct nl_sock *sk, unsigned int *n);
const char *qdisc_handle(uint32_t handle, char *buf, unsigned int size);

#endif
