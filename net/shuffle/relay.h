/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Relays: members of a group that have no process.  A relay merges what comes from some members by
 * key and sends it on to another one, or to several (tx/merge.c), in each operation of which a
 * packet comes.
 *
 * sn->relay_mutex guards the list of a namespace; a relay's work is the only one that begins and
 * ends its operations.
 */
#ifndef _SHUFFLE_RELAY_H
#define _SHUFFLE_RELAY_H

#include <linux/list.h>
#include <linux/workqueue.h>
#include "netns.h"

#define SHUFFLE_RELAY_NAME	32
#define SHUFFLE_RELAYS		1024	/* of a namespace */

struct netlink_ext_ack;

/**
 * struct shuffle_relay - a relay
 * @node: in sn->relays
 * @name: its name
 * @sock: its socket
 * @row: that of each operation, but for the operation id
 * @absent: members that send us nothing
 * @merge: what is done
 * @bytes: of the receive and the send buffer each, and of memory to merge in
 * @max_ops: so many operations run at a time
 * @done: operations that have completed
 * @failed: operations that have failed
 * @refused: operations that could not be begun
 * @heard: operation of which a packet has come last, which may not have been kept; ssk->lock
 * @has_heard: there is one that the work has not looked at
 * @work: begins and ends operations
 */
struct shuffle_relay {
	struct list_head	node;
	char			name[SHUFFLE_RELAY_NAME];
	struct socket		*sock;
	struct shuffle_row	*row;
	struct shuffle_absent	*absent;
	struct shuffle_merge	merge;
	u32			bytes;
	u32			max_ops;
	atomic64_t		done;
	atomic64_t		failed;
	atomic64_t		refused;
	u64			heard;
	bool			has_heard;
	struct work_struct	work;
};

/**
 * struct shuffle_relay_new - what a relay is to be
 * @name: its name
 * @group: members, and our own rank: shuffle_relay_edges()
 * @group_bytes: of @group
 * @from: a bit for each member that sends us something: SHUFFLE_MAX_MEMBERS bits
 * @to: a bit for each member that gets the result
 * @merge: what is done, but for the structure's size
 * @bytes: as of struct shuffle_relay
 * @key: of the group, or NULL
 */
struct shuffle_relay_new {
	const char		*name;
	struct shuffle_group	*group;
	size_t			group_bytes;
	const unsigned long	*from;
	const unsigned long	*to;
	struct shuffle_merge	merge;
	u32			bytes;
	const u8		*key;
};

/**
 * shuffle_relay_edges() - the members of a new relay's group
 * @group: the group, of member_size sizeof(struct shuffle_edge)
 *
 * Return: group->count edges.
 */
static inline struct shuffle_edge *shuffle_relay_edges(struct shuffle_group *group)
{
	return (struct shuffle_edge *)group->members;
}

void shuffle_relay_init(struct shuffle_net *sn);
bool shuffle_relay_exit(struct shuffle_net *sn);
int shuffle_relay_add(struct shuffle_net *sn, const struct shuffle_relay_new *new,
		      struct netlink_ext_ack *extack);
int shuffle_relay_del(struct shuffle_net *sn, const char *name);
struct shuffle_relay *shuffle_relay_find(struct shuffle_net *sn, const char *name);
void shuffle_relay_heard(struct shuffle_sock *ssk, u64 op_id);

#endif /* _SHUFFLE_RELAY_H */
