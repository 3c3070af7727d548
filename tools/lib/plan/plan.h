/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Plans of collectives: which messages a member sends and receives, in which order, and what they
 * hold.  The same source runs in libshuffle, in the simulator and in tests, and takes no memory (it
 * is written as the module's portable files, net/shuffle/sched/portable.h).  A member computes its
 * own part from its place alone, in time and memory that grow with its neighbours.
 *
 * Members are counted by place: rack by rack, as the topology says.  What they have is divided
 * into blocks: one of each member where data is gathered or scattered, one in all where the same
 * data goes to all or is combined, or as many as there are parts of a vector.
 *
 * A plan has steps.  What a member sends in a step is what it has at the beginning of the step;
 * then it takes what it receives in the step, in the order of the plan.
 *
 *   plan.c		dispatch, and what a pattern can do
 *   plan_tree.c	flat, k-nomial trees, chain
 *   plan_exchange.c	doubling, Bruck, ring, Rabenseifner, scans
 *   plan_cool.c	COOL over racks
 *   plan_spread.c	long data by shuffles
 *   plan_two_tree.c	likewise by two trees
 *   plan_racks.c	all-reduce of these over racks
 *   plan_rack_broadcast.c	broadcast, likewise
 *   plan_rack_reduce.c	reduce, likewise
 *   plan_rack_blocks.c	all-gather and reduce-scatter of these over racks
 *   plan_table.c	those that somebody else has made
 *   plan_steps.c	a member's part as the kernel takes it
 *   topology.c		places and racks
 *   blocks.c		where blocks are in memory
 *   cost.c		what a plan costs in links and messages
 */
#ifndef _SHUFFLE_PLAN_H
#define _SHUFFLE_PLAN_H

#include "../../../uapi/linux/shuffle.h"
#include "../shuffle_coll_kind.h"
#include "../../../net/shuffle/sched/portable.h"

/* What each is: Documentation/networking/collectives.rst. */
enum shuffle_coll_pattern {
	SHUFFLE_COLL_FLAT,		/* one step */
	SHUFFLE_COLL_TREE,		/* k-nomial */
	SHUFFLE_COLL_CHAIN,		/* for long messages, in segments */
	SHUFFLE_COLL_DOUBLING,		/* recursive doubling; of all-gather Bruck's, for any N */
	SHUFFLE_COLL_RING,
	SHUFFLE_COLL_RABENSEIFNER,	/* recursive halving, then doubling or a tree */
	SHUFFLE_COLL_COOL_PP,		/* parallel in the rack and across */
	SHUFFLE_COLL_COOL_BR,		/* binomial in the rack, recursive doubling across */
	SHUFFLE_COLL_SPREAD,		/* long data by shuffles, in segments */
	SHUFFLE_COLL_GATHERED,		/* short vectors: all to all (Bruck), each combines all */
	SHUFFLE_COLL_TWO_TREE,		/* long data by two binary trees, in segments */
	SHUFFLE_COLL_PATTERNS,
};

/**
 * enum shuffle_coll_take - what becomes of a message that arrives
 * @SHUFFLE_COLL_STORE: its blocks take the place of ours
 * @SHUFFLE_COLL_BEFORE: its blocks are combined with ours: theirs, then ours
 * @SHUFFLE_COLL_AFTER: ours, then theirs
 */
enum shuffle_coll_take {
	SHUFFLE_COLL_STORE,
	SHUFFLE_COLL_BEFORE,
	SHUFFLE_COLL_AFTER,
};

/**
 * struct shuffle_plan_msg - a message of one member
 * @step: from 0 on; messages are in order of steps, those of a step that are sent first
 * @peer: place of the other member
 * @out: it is sent
 * @take: enum shuffle_coll_take, of one that is received
 * @multicast: not 0: all messages of a step that have this number carry the same, and one
 *	packet to the members of a rack, or to the leaders, would do
 * @block: the first block
 * @blocks: number of blocks, which wrap round
 */
struct shuffle_plan_msg {
	u32	step;
	u32	peer;
	bool	out;
	u8	take;
	u8	multicast;
	u32	block;
	u32	blocks;
};

enum {
	SHUFFLE_PLAN_UNICAST,
	SHUFFLE_PLAN_TO_RACK,		/* from the leader to its rack */
	SHUFFLE_PLAN_TO_LEADERS,	/* from one leader to all others */
};

/**
 * struct shuffle_topology - racks
 * @n: members, below 65536: squares fit
 * @racks: number of racks, at least 1
 * @first: place of the first member of each rack, its leader; first[racks] is @n.  NULL: one rack
 */
struct shuffle_topology {
	u32		n;
	u32		racks;
	const u32	*first;
};

/**
 * struct shuffle_seat - a member in its rack
 * @rack: its rack
 * @leader: place of the first member there
 * @size: members of the rack
 * @index: number of the member there
 */
struct shuffle_seat {
	u32	rack;
	u32	leader;
	u32	size;
	u32	index;
};

struct shuffle_plan_table;

/* The pattern of what plan_table.c plans. */
#define SHUFFLE_PLAN_EXPLICIT	SHUFFLE_COLL_PATTERNS

/* Segments of SHUFFLE_COLL_SPREAD and _TWO_TREE at most; more are as many. */
#define SHUFFLE_PLAN_SEGMENTS	256U

/**
 * struct shuffle_plan - the part of one member in a collective
 * @kind: enum shuffle_coll_kind
 * @pattern: enum shuffle_coll_pattern
 * @radix: of a k-nomial tree, or of Bruck's, at least 2; of SHUFFLE_COLL_SPREAD and _TWO_TREE:
 *	segments, at least 1
 * @topo: racks
 * @table: a plan that somebody else has made (plan_table.h), or NULL; shuffle_plan_of() goes by it
 * @root: place of the root, of kinds that have one
 * @self: our place
 * @blocks: into how many blocks the data of all is divided
 * @steps: of our part; of the root's part in a reduction those of the whole plan
 * @msg: our messages; the caller's memory
 * @n: their number
 * @max: room for so many
 */
struct shuffle_plan {
	u8				kind;
	u8				pattern;
	u32				radix;
	const struct shuffle_topology	*topo;
	const struct shuffle_plan_table	*table;
	u32				root;
	u32				self;
	u32				blocks;
	u32				steps;
	struct shuffle_plan_msg		*msg;
	u32				n;
	u32				max;
};

/* plan.c */
const char *shuffle_coll_kind_name(u8 kind);
const char *shuffle_coll_pattern_name(u8 pattern);
bool shuffle_coll_has_root(u8 kind);
bool shuffle_coll_combines(u8 kind);
bool shuffle_coll_by_member(u8 kind, u8 pattern);
bool shuffle_coll_in_segments(u8 pattern);
u32 shuffle_coll_gathered(u8 kind, u32 self, u32 n);
bool shuffle_coll_sends_once(u8 kind, u8 pattern, u32 radix);
bool shuffle_coll_fits(u8 kind, u8 pattern, u64 len, u32 n);
bool shuffle_plan_possible(u8 kind, u8 pattern);
int shuffle_plan_make(struct shuffle_plan *plan);

/* plan_steps.c */
u32 shuffle_plan_steps(const struct shuffle_plan *plan, u32 len, u8 oper, u8 type,
		       struct shuffle_collective *c, struct shuffle_step *step);

/* topology.c */
u32 shuffle_topology_rack(const struct shuffle_topology *t, u32 place);
u32 shuffle_topology_leader(const struct shuffle_topology *t, u32 rack);
u32 shuffle_topology_size(const struct shuffle_topology *t, u32 rack);
struct shuffle_seat shuffle_topology_seat(const struct shuffle_topology *t, u32 place);
void shuffle_topology_sizes(const struct shuffle_topology *t, u32 *smallest, u32 *largest);
bool shuffle_topology_even(const struct shuffle_topology *t);

/* what patterns call; -ENOSPC is remembered in plan->n > plan->max */
void shuffle_plan_send(struct shuffle_plan *plan, u32 step, u32 peer, u32 block, u32 blocks);
void shuffle_plan_receive(struct shuffle_plan *plan, u32 step, u32 peer, u8 take, u32 block,
			  u32 blocks);
void shuffle_plan_multicast(struct shuffle_plan *plan, u8 multicast);

/* plan_tree.c */
void shuffle_plan_flat(struct shuffle_plan *plan);
void shuffle_plan_tree(struct shuffle_plan *plan);
void shuffle_plan_chain(struct shuffle_plan *plan);

/**
 * struct shuffle_plan_group - some members, counted from 0 on
 * @n: their number
 * @self: number of ours
 * @base: place of the first one
 * @leaders: they are the leaders of the racks, and not members from @base on
 */
struct shuffle_plan_group {
	u32	n;
	u32	self;
	u32	base;
	bool	leaders;
};

u32 shuffle_plan_place(const struct shuffle_plan *plan, const struct shuffle_plan_group *g, u32 i);

/* plan_exchange.c */
u32 shuffle_plan_double(struct shuffle_plan *plan, const struct shuffle_plan_group *g, u32 step);
void shuffle_plan_doubling(struct shuffle_plan *plan);
void shuffle_plan_gathered(struct shuffle_plan *plan);
void shuffle_plan_ring(struct shuffle_plan *plan);
void shuffle_plan_rabenseifner(struct shuffle_plan *plan);

/* plan_cool.c */
void shuffle_plan_cool(struct shuffle_plan *plan);

/* plan_spread.c */
void shuffle_plan_spread(struct shuffle_plan *plan);

/* plan_two_tree.c */
void shuffle_plan_two_tree(struct shuffle_plan *plan);

/* plan_racks.c */
void shuffle_plan_racks(struct shuffle_plan *plan);

/**
 * struct shuffle_plan_owners - members of a rack that may own a part: all but the root
 * @leader: place of the rack's first member
 * @size: their number
 * @hole: index of the root in the rack; larger than all where it is in another one
 */
struct shuffle_plan_owners {
	u32	leader;
	u32	size;
	u32	hole;
};

/* plan_rack_broadcast.c */
struct shuffle_plan_owners shuffle_plan_owners(const struct shuffle_plan *plan, u32 rack);
u32 shuffle_plan_owner(const struct shuffle_plan_owners *r, u32 index);
u32 shuffle_plan_owner_index(const struct shuffle_plan_owners *r, u32 place);
bool shuffle_plan_racks_broadcast(struct shuffle_plan *plan);

/* plan_rack_reduce.c */
bool shuffle_plan_racks_reduce(struct shuffle_plan *plan);

/* plan_rack_blocks.c */
void shuffle_plan_racks_gather(struct shuffle_plan *plan);
bool shuffle_plan_racks_scatter(struct shuffle_plan *plan);

/**
 * struct shuffle_plan_cost - what a plan costs, all members together
 * @steps: one behind the other
 * @messages: unicast messages, and multicast ones as one each
 * @cross_messages: of these, between racks
 * @links: packets on links, if each message is one: 2 links in a rack, 4 between racks; a
 *	multicast one link to each receiver
 * @cross_links: of these, between racks and the core
 * @leader_load: most packets that a leader of a rack sends and receives in one step
 * @other_load: most packets that another member does
 */
struct shuffle_plan_cost {
	u32	steps;
	u64	messages;
	u64	cross_messages;
	u64	links;
	u64	cross_links;
	u32	leader_load;
	u32	other_load;
};

/* cost.c */
int shuffle_plan_cost(struct shuffle_plan *plan, struct shuffle_plan_cost *cost);

#endif /* _SHUFFLE_PLAN_H */
