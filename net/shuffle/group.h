/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses and groups: the ordered list of members.
 */
#ifndef _SHUFFLE_GROUP_H
#define _SHUFFLE_GROUP_H

#include <linux/refcount.h>
#include <linux/sockptr.h>
#include <net/sock.h>
#include "../../uapi/linux/shuffle.h"
#include "sched/tag.h"
#include "sched/wire.h"

struct shuffle_peer;
struct shuffle_sock;

/**
 * struct shuffle_member - one member of a group
 * @addr: address of the member
 * @dst: cached route, NULL at first; ssk->lock
 * @cookie: cookie of @dst
 * @mark: mark of the socket when @dst was looked up
 * @oif: device that the socket was bound to when @dst was looked up
 * @peer: host that the member is on, with a reference
 * @payload_max: most payload bytes of a packet that the path is believed to carry; 0: as many as
 *	the route says; ssk->lock, read without it
 * @payload_until: jiffies, how long that is believed; likewise
 * @payload_lost: times in a row that full packets have not arrived; ssk->lock
 * @payload_lost_at: the last time, ns; ssk->lock
 * @missed: rows that went to all at once and did not arrive there, one behind the other, up to
 *	SHUFFLE_MISSED_MAX: then it gets them alone; ssk->lock
 * @local: index of our address towards it
 * @met: its socket has taken part in an operation of this group with us; ssk->lock
 */
struct shuffle_member {
	struct sockaddr_shuffle	addr;
	struct dst_entry	*dst;
	u32			cookie;
	u32			mark;
	int			oif;
	struct shuffle_peer	*peer;
	u32			payload_max;
	unsigned long		payload_until;
	u64			payload_lost_at;
	u8			payload_lost;
	u8			missed;
	u8			local;
	bool			met;
};

#define SHUFFLE_MISSED_MAX	2

/**
 * struct shuffle_membership - an ordered list of members
 * @ref: number of holders
 * @rank: rank of our own member
 * @count: number of members
 * @edges: the members were given as struct shuffle_edge
 * @locals: number of addresses that we have
 * @local: addresses that we have, with our port; the socket is bound to the first
 * @multicast: there is one more entry in @member: the multicast address
 * @hops: with @multicast: time to live
 * @keyed: records carry a tag under @key
 * @data_hdr: bytes of a DATA record's header
 * @key: group key
 * @left: members that have left, as the last ABORT because of that says; ssk->lock
 * @left_at: when it came, ns; 0: none has; ssk->lock
 * @member: the list
 */
struct shuffle_membership {
	refcount_t		ref;
	u32			rank;
	u32			count;
	u32			locals;
	struct sockaddr_shuffle	local[SHUFFLE_LOCALS];
	bool			edges;
	bool			multicast;
	u8			hops;
	bool			keyed;
	u8			data_hdr;
	struct shuffle_key	key;
	struct shuffle_blame	left;
	u64			left_at;
	struct shuffle_member	member[];
};

/**
 * shuffle_group_all() - the rank of records that are for all members at once
 * @group: group
 *
 * Context: any.
 * Return: the rank; no member has it.  With @group->multicast it has an entry in @group->member.
 */
static inline u32 shuffle_group_all(const struct shuffle_membership *group)
{
	return group->count;
}

/**
 * shuffle_group_self() - the address that we have towards a member
 * @group: group
 * @rank: the member, or shuffle_group_all()
 *
 * Context: any.
 * Return: the address, with the socket's port.
 */
static inline const struct sockaddr_shuffle *
shuffle_group_self(const struct shuffle_membership *group, u32 rank)
{
	return &group->local[group->member[rank].local];
}

/**
 * shuffle_group_address() - from us to a member
 * @group: group
 * @rank: the member, or shuffle_group_all()
 * @w: record; ranks and ports are filled in
 *
 * Context: any.
 */
static inline void shuffle_group_address(const struct shuffle_membership *group, u32 rank,
					 struct shuffle_wire *w)
{
	w->src_rank = group->rank;
	w->src_port = ntohs(group->local[0].shs_port);
	w->dst_rank = rank;
	w->dst_port = ntohs(group->member[rank].addr.shs_port);
}

/**
 * shuffle_group_tag() - give a record the tag that a group key asks for
 * @group: of the members
 * @w: the record; all but its tag and the flag for it is filled in
 *
 * Context: any.
 */
static inline void shuffle_group_tag(const struct shuffle_membership *group, struct shuffle_wire *w)
{
	if (group->keyed) {
		w->flags |= SHUFFLE_FLAG_TAG;
		w->tag = shuffle_tag(&group->key, w);
	}
}

/**
 * shuffle_group_tag_valid() - has a record the tag that a group key asks for, and only then?
 * @group: of the members
 * @w: the record
 *
 * Context: any.
 * Return: true when a member can have sent it.
 */
static inline bool shuffle_group_tag_valid(const struct shuffle_membership *group,
					   const struct shuffle_wire *w)
{
	if (group->keyed != !!(w->flags & SHUFFLE_FLAG_TAG))
		return false;
	return !group->keyed || w->tag == shuffle_tag(&group->key, w);
}

int shuffle_check_zero(sockptr_t optval, size_t from, size_t to);
int shuffle_group_set(struct shuffle_sock *ssk, sockptr_t optval, unsigned int optlen);
int shuffle_group_get(struct shuffle_sock *ssk, char __user *optval, int __user *optlen);
void shuffle_group_put(struct shuffle_membership *group);
int shuffle_addr_check(const struct sockaddr_shuffle *a);
bool shuffle_addr_equal(const struct sockaddr_shuffle *a, u16 ip_family, const void *addr);

#endif /* _SHUFFLE_GROUP_H */
