/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a simulation is made of.  Time goes in steps; a step is the time of one
 * data packet on a host's link at full rate (1500 bytes at 25 Gb/s: 0.48 us).
 * Sources: Li, "Efficient Shuffle for Flash Burst Computing", chapters 4 and 6.
 */
#ifndef SIM_H
#define SIM_H

#include <stdio.h>

#include "op_order.h"
#include "policy.h"
#include "rnd.h"

#define SIM_ONE		65536U		/* a rate of one packet a step */
#define SIM_NEVER	U32_MAX		/* a step that does not come */
#define SIM_MAX_HOSTS	16384U
#define SIM_MAX_PACKETS	(1U << 24)	/* of one message */
#define SIM_MAX_OPS	32U

enum sim_algo_kind {
	SIM_GRPF, SIM_SRPT, SIM_GRPT, SIM_HADOOP,	/* net/shuffle/sched/policy.c */
	SIM_MADD, SIM_LOCKSTEP, SIM_HIGH_ENTROPY,
	SIM_SEQUENTIAL, SIM_ROUND_ROBIN,	/* figures 3.3 and 3.4 */
	SIM_ALGOS,
};

enum sim_prio { SIM_PRIO_NONE, SIM_PRIO_EDGE, SIM_PRIO_CORE };
enum sim_unsched { SIM_UNSCHED_NONE, SIM_UNSCHED_PRO_RATA, SIM_UNSCHED_MESSAGE };
enum sim_window { SIM_WINDOW_PRO_RATA, SIM_WINDOW_CONST };
enum sim_announce { SIM_ANNOUNCE_REST, SIM_ANNOUNCE_ALL };
enum sim_order_kind {
	SIM_ORDER_NONE, SIM_ORDER_FAIR, SIM_ORDER_SMALLEST, SIM_ORDER_OMNISCIENT,
};

enum sim_global { SIM_GLOBAL_NONE, SIM_GLOBAL_TOTAL, SIM_GLOBAL_SCHED, SIM_GLOBAL_GOSSIP };

/**
 * struct sim_config - everything that a run depends on, but for its matrix
 * @algo: enum sim_algo_kind
 * @racks: racks of equal size; 1 means one switch
 * @hop: steps of one hop; a rack has a round trip of 4, two racks one of 8
 * @rtt: RTTpackets of the windows; 0: the longest round trip
 * @overcommit: grants a receiver may have outstanding, in @rtt
 * @connections: Hadoop: messages a receiver pulls at a time; high-entropy: chunks
 *	that a sender has outstanding
 * @window: enum sim_window
 * @unsched: enum sim_unsched
 * @randomise: random offsets inside a packet
 * @redirect: how far down its packet schedule a sender may look; U32_MAX: everywhere
 * @prio: enum sim_prio: where control packets overtake data
 * @core: bandwidth between a rack and the core, in that of its hosts together
 * @spines: core switches, which share it
 * @spray: a packet takes any of them; otherwise its flow's hash decides
 * @global: enum sim_global: what receivers know of each other
 * @announce: enum sim_announce: messages that are announced at once, those without
 *	unscheduled packets or all
 * @headroom: of the policy: what its limit may be multiplied with; 0: 1
 * @stale: all-reduce takes @stale times log2(hosts)/2 round trips; 0: none
 * @power: exponent of remaining / greatest remaining in the limit
 * @grant_units: packets that one grant of a long message is for, at most
 * @in_order: hosts fill one rack after the other; otherwise at random
 * @transpose: senders and receivers change places
 * @preempt: mean of an interval, in @rtt; 0: none
 * @alternate: a preempted interval follows one that is not, and the reverse
 * @preempt_share: of the time
 * @vary: mean time between changes of a link's rate, in @rtt; 0: none
 * @vary_low: rates are uniform from here to 1
 * @slow_share: part of the hosts with slow links
 * @slow_rate: their rate
 * @catchup: data packets that a host can take a step
 * @cost_packet: host time of a data packet, in steps
 * @cost_message: host time of a message, in steps, at either end
 * @buffer: data packets that a port holds; 0: any number
 * @switch_buffer: data packets that a switch holds; 0: any number
 * @timeout: steps without progress until RESEND
 * @stall: steps without progress until grants do not count; 0: never
 * @ops: shuffles at the same time
 * @stagger: steps between their starts
 * @order: enum sim_order_kind: none: senders in turns, each with limits of its own
 * @load: of the links by shuffles that start at random; 0: see @stagger
 * @sigma: their lengths are log-normal
 * @barrier: lockstep: steps of a barrier
 * @chunk: high-entropy: packets of a chunk
 * @local: a message to oneself crosses the network, too
 * @max_steps: give up here; 0: 1000 times the bound
 * @seed: of everything random
 */
struct sim_config {
	u8	algo;
	u8	window;
	u8	unsched;
	u8	prio;
	u8	global;
	u8	announce;
	bool	randomise;
	bool	spray;
	bool	local;
	bool	alternate;
	bool	transpose;
	bool	in_order;
	u32	racks;
	u32	hop;
	u32	rtt;
	double	overcommit;
	u32	headroom;
	u32	grant_units;
	u32	connections;
	u32	redirect;
	double	core;
	u32	spines;
	double	stale;
	double	power;
	double	preempt;
	double	preempt_share;
	double	vary;
	double	vary_low;
	double	slow_share;
	double	slow_rate;
	u32	catchup;
	double	cost_packet;
	double	cost_message;
	u32	buffer;
	u32	switch_buffer;
	u32	timeout;
	u32	stall;
	u32	ops;
	u32	stagger;
	u8	order;
	double	load;
	double	sigma;
	u32	barrier;
	u32	chunk;
	u32	max_steps;
	u64	seed;
};

/**
 * struct sim_result - what came out of a run
 * @ended: the last message was complete
 * @steps: until it was
 * @bound: the least possible by the load of links, without latency
 * @bound_core: the same of the links to and from the core only
 * @oracle: under preemption, the least time by senders, receivers, messages
 * @throughput: bytes / (hosts * time) as a share of the link rate; as in the source
 *	(whose 320 hosts need 2.46 ms), what a host keeps counts as well
 * @optimality: greatest of the bounds / @steps
 * @packets: data packets that had to go
 * @sent: data packets sent
 * @control: control packets sent
 * @dropped: data packets dropped by switches
 * @resends: RESEND packets
 * @port_max: longest queue of a port to a host, packets
 * @port_mean: mean over time of the longest
 * @tor_max: most packets in a rack's switch
 * @tor_mean: mean over racks and time
 * @tor_up_share: part of those that waits for the core
 * @core_max: most packets in the core switches together
 * @core_mean: mean over time
 * @spine_max: most packets in one core switch
 * @grants_max: most grants outstanding, of all receivers together
 * @grants_mean: mean over time
 * @slowest_preempted: steps that the slowest sender was preempted
 * @slowest_idle: steps that it ran and had nothing that it was allowed to send
 * @slowest_sending: steps that it sent
 * @op_mean: mean time of a shuffle, steps
 * @op_p95: 95th percentile
 * @memory: bytes allocated for the run
 */
struct sim_result {
	bool	ended;
	u32	steps;
	u32	bound;
	u32	bound_core;
	u32	oracle[3];
	double	throughput;
	double	optimality;
	u64	packets;
	u64	sent;
	u64	control;
	u64	dropped;
	u64	resends;
	u32	port_max;
	double	port_mean;
	u32	tor_max;
	double	tor_mean;
	double	tor_up_share;
	u32	core_max;
	double	core_mean;
	u32	spine_max;
	u64	grants_max;
	double	grants_mean;
	u32	slowest_preempted;
	u32	slowest_idle;
	u32	slowest_sending;
	double	op_mean;
	u32	op_p95;
	u64	memory;
};

enum sim_packet { SIM_DATA, SIM_INFO, SIM_GRANT, SIM_ACK, SIM_RESEND };

/**
 * struct sim_pkt - a packet
 * @src: host
 * @dst: host
 * @info: type, operation and a number: of the packet in its message, or behind the
 *	last that may be sent
 */
struct sim_pkt {
	u16	src;
	u16	dst;
	u32	info;
};

static inline u32 sim_info(enum sim_packet type, u32 op, u32 value)
{
	return (u32)type << 29 | op << 24 | value;
}

static inline u32 sim_type(const struct sim_pkt *p)
{
	return p->info >> 29;
}

static inline u32 sim_op(const struct sim_pkt *p)
{
	return p->info >> 24 & 31;
}

static inline u32 sim_value(const struct sim_pkt *p)
{
	return p->info & (SIM_MAX_PACKETS - 1);
}

/**
 * struct sim_ring - a queue of packets that grows
 * @p: the packets
 * @head: first, counted from the beginning of time
 * @tail: behind the last
 * @cap: packets of @p, a power of two
 */
struct sim_ring {
	struct sim_pkt	*p;
	u32		head;
	u32		tail;
	u32		cap;
};

/**
 * struct sim_vec - packets that arrive at one kind of place in one step
 * @p: the packets
 * @n: how many
 * @cap: room
 */
struct sim_vec {
	struct sim_pkt	*p;
	u32		n;
	u32		cap;
};

/**
 * struct sim_port - output port of a switch
 * @q: its queue; control packets are in it unless they have priority
 * @data: data packets in the queue
 * @rate: packets a step, in 1/SIM_ONE
 * @credit: what of that has not been used
 * @sw: index of its switch
 */
struct sim_port {
	struct sim_ring	q;
	u32		data;
	u32		rate;
	u32		credit;
	u32		sw;
};

/**
 * struct sim_host - a host, apart from its part in each shuffle
 * @rack: where it is
 * @up: it is not preempted
 * @toggle: the step in which that changes
 * @vary_at: the step in which the rate of its link changes
 * @rate: of its link, in 1/SIM_ONE
 * @base: the same when nothing varies
 * @credit: of its uplink
 * @cpu: host time left, in 1/SIM_ONE steps; below 0: it still works on the last
 * @next_op: whose turn it is to send
 * @ops: shuffles that it has started
 * @left: data packets not sent yet, of all its messages
 * @idle: steps in which it ran, had something to send and was not allowed to
 * @preempted: steps in which it had something to send and did not run
 * @sending: steps in which it sent
 * @last_sent: when it last did
 * @data: packets received that wait for the host
 * @ctl: control packets that do
 * @resend: data packets to be sent again
 * @rnd: for preemption
 * @rnd_link: for the rate of its link
 */
struct sim_host {
	u32		rack;
	bool		up;
	u32		toggle;
	u32		vary_at;
	u32		rate;
	u32		base;
	u32		credit;
	int		cpu;
	u32		next_op;
	u32		ops;
	u64		left;
	u32		idle;
	u32		preempted;
	u32		sending;
	u32		last_sent;
	struct sim_ring	data;
	struct sim_ring	ctl;
	struct sim_ring	resend;
	struct rnd	rnd;
	struct rnd	rnd_link;
};

/**
 * struct sim_end - a host's part in one shuffle
 * @tx: its row; only policy hosts use all of it, the others the heap and messages
 * @rx: its column
 * @dirty: something arrived: grants may be possible
 * @total: packets of its column
 * @active: what the algorithm works on (high-entropy: chunks outstanding)
 * @pool: messages that it may choose from
 * @pool_n: how many
 * @stamp: counts what was sent
 * @rnd: for choices
 * @first: GRPF with limited redirection: place of the first unsent packet
 * @place: the same: place of every packet in the schedule, message after message
 * @from: the same: where a message begins in @place
 * @order: the same: which message a place belongs to
 */
struct sim_end {
	struct shuffle_policy_tx	tx;
	struct shuffle_policy_rx	rx;
	bool				dirty;
	u32				total;
	u32				active;
	u32				*pool;
	u32				pool_n;
	u64				stamp;
	struct rnd			rnd;
	u32				first;
	u32				*place;
	u32				*from;
	u32				*order;
};

/**
 * struct sim_matrix - lengths of the messages of a shuffle, in packets
 * @n: hosts
 * @len: len[from * n + to]
 */
struct sim_matrix {
	u32	n;
	u32	*len;
};

/* What hosts do in a step, one after the other.  A window (window.c) does all for one host
 * before it turns to the next; packets of each phase still go behind those of the one before.
 */
enum sim_phase { SIM_PHASE_START, SIM_PHASE_SEND, SIM_PHASE_GRANT, SIM_PHASES };

struct sim_series;
struct sim_algo;
struct sim_order;

/**
 * struct sim - the state of a run
 *
 * Arrays by message are indexed [(op * n + from) * n + to], those that the
 * receiver keeps [(op * n + to) * n + from].
 */
struct sim {
	const struct sim_config	*cfg;
	const struct sim_algo	*algo;
	u32			n;
	u32			rack_size;
	u32			rtt;
	u32			shift;		/* log2 of the policy's bytes of a packet */
	u32			now;
	bool			plain;		/* hosts take packets as they arrive */
	bool			varying;	/* links have rates other than 1 */
	bool			lossy;
	u64			bytes;		/* of all messages, in packets */
	u64			left;		/* packets that have not been received */
	u64			left_op[SIM_MAX_OPS];
	u32			done_at[SIM_MAX_OPS];
	u32			max_rem;	/* what all-reduce said last, packets */
	u32			max_rem_next;	/* what it will say */
	u32			max_rem_at;	/* when */
	u32			max_total;
	bool			snapshot;	/* of part, as all-reduce told */
	double			*part;		/* remaining / greatest, by receiver */
	double			*part_next;	/* the same, begun by the last */
	u32			*gossip;	/* greatest remaining, as each host has heard */
	u32			*gossip_next;
	u32			*len;
	u32			*unsched;
	u32			*last;		/* step of the last progress, by receiver */
	u64			*bits_at;	/* where a message begins in bits */
	u8			*bits;		/* packets received */
	struct sim_host		*host;
	struct sim_end		*end;
	struct shuffle_heap_node *nodes;	/* of all heaps of @end */
	struct sim_port		*down;		/* to hosts */
	struct sim_port		*up;		/* [rack * spines + spine] */
	struct sim_port		*core;		/* [spine * racks + rack] */
	u32			*tor_data;	/* data packets in a switch */
	u32			*tor_up;	/* those for the core */
	u32			*core_data;
	struct sim_vec		*to_tor;	/* [slot by step * SIM_PHASES + phase] */
	struct sim_vec		*to_core;	/* rings of slots by step */
	struct sim_vec		*from_core;
	struct sim_vec		*to_host;
	u32			slots;		/* a power of two */
	enum sim_phase		phase;
	struct rnd		rnd;
	struct sim_order	*order;
	struct sim_series	*series;
	void			*priv;		/* the algorithm's */
	u64			memory;
	u64			resent;		/* data packets sent again */
	u64			started;	/* messages of which a packet was sent */
	u64			completed;
	u64			messages;	/* not empty ones */
	u32			sent_now;	/* in this step */
	u32			recv_now;
	double			sum_tor;
	double			sum_up;
	double			sum_core;
	double			sum_port;
	double			sum_grants;
	struct sim_result	*res;
};

/**
 * struct sim_algo - what the hosts do
 * @name: for options and output
 * @init: prepare the state, or NULL
 * @start: begin shuffle @op at @host
 * @send: send one data packet; false: nothing may be sent
 * @grant: something has arrived at this end, or NULL
 * @data: a data packet has arrived
 * @control: so has a control packet, or NULL
 * @tick: once a step, or NULL
 */
struct sim_algo {
	const char	*name;
	void		(*init)(struct sim *s);
	void		(*start)(struct sim *s, u32 op, u32 host);
	bool		(*send)(struct sim *s, u32 op, u32 host);
	void		(*grant)(struct sim *s, u32 op, u32 host);
	void		(*data)(struct sim *s, u32 op, u32 host, u32 from, u32 seq);
	void		(*control)(struct sim *s, const struct sim_pkt *p);
	void		(*tick)(struct sim *s);
};

extern const struct sim_algo sim_algo_policy;
extern const struct sim_algo sim_algo_madd;
extern const struct sim_algo sim_algo_lockstep;
extern const struct sim_algo sim_algo_high_entropy;
extern const struct sim_algo sim_algo_sequential;
extern const struct sim_algo sim_algo_round_robin;

static inline struct sim_end *sim_end(const struct sim *s, u32 op, u32 host)
{
	return &s->end[op * s->n + host];
}

/* the message of a row, and of a column, in arrays by message */
static inline size_t sim_row(const struct sim *s, u32 op, u32 from, u32 to)
{
	return ((size_t)op * s->n + from) * s->n + to;
}

static inline u32 sim_len(const struct sim *s, u32 op, u32 from, u32 to)
{
	return s->len[sim_row(s, op, from, to)];
}

/* run.c */
void sim_defaults(struct sim_config *cfg);
const char *sim_check(const struct sim_config *cfg, u32 hosts);
void sim_run(const struct sim_config *cfg, const struct sim_matrix *m,
	     struct sim_series *series, struct sim_result *res);
void sim_count_grants(struct sim *s, u64 sum);
void sim_only_bound(const struct sim_config *cfg, const struct sim_matrix *m,
		    struct sim_result *res);
void *sim_alloc(struct sim *s, size_t n, size_t size);

/* net.c */
void sim_net_init(struct sim *s);
void sim_net_free(struct sim *s);
void sim_net_step(struct sim *s);
void sim_data(struct sim *s, u32 op, u32 from, u32 to, u32 seq);
void sim_control(struct sim *s, enum sim_packet type, u32 op, u32 from, u32 to, u32 value);
void sim_ring_push(struct sim_ring *r, struct sim_pkt p);

static inline bool sim_ring_empty(const struct sim_ring *r)
{
	return r->head == r->tail;
}

static inline struct sim_pkt sim_ring_pop(struct sim_ring *r)
{
	return r->p[r->head++ & (r->cap - 1)];
}

/* host.c */
void sim_host_init(struct sim *s);
void sim_host_times(struct sim *s);
void sim_host_begin(struct sim *s, u32 host);
void sim_host_send(struct sim *s, u32 host);
void sim_host_take(struct sim *s, const struct sim_pkt *p);
void sim_host_fetch(const struct sim *s, const struct sim_pkt *p);
void sim_host_receive(struct sim *s);

/* order.c */
void sim_order_init(struct sim *s, const struct sim_matrix *m);
void sim_order_free(struct sim *s);
u32 sim_order_length(const struct sim *s, u32 op, u32 len);
void sim_order_message(struct sim *s, u32 op, u32 from, u32 to, u32 len);
u32 sim_order_start(const struct sim *s, u32 op);
void sim_order_step(struct sim *s);
bool sim_order_send(struct sim *s, struct sim_host *h, u32 host);
void sim_order_got(struct sim *s, u32 op, u32 host);
u64 sim_order_limit(struct sim *s, u32 op, u32 host, u64 most);
void sim_order_count(struct sim *s, u32 op, u32 host);
void sim_order_granted(struct sim *s, u32 op, u32 host);

/* window.c */
bool sim_window_fits(const struct sim *s);
void sim_window_run(struct sim *s, u32 limit);

/* interfere.c */
void sim_interfere_init(const struct sim_config *cfg, u32 rtt, struct sim_host *h, u32 host);
void sim_interfere_step(const struct sim_config *cfg, u32 rtt, struct sim_host *h, u32 now);

/* loss.c */
void sim_loss_init(struct sim *s);
bool sim_loss_new(struct sim *s, u32 op, u32 to, u32 from, u32 seq);
void sim_loss_scan(struct sim *s);
void sim_loss_resend(struct sim *s, const struct sim_pkt *p);

/* bound.c */
void sim_bound(struct sim *s, struct sim_result *res);
void sim_oracles(struct sim *s, struct sim_result *res);

/* series.c */
struct sim_series *sim_series_new(void);
void sim_series_step(struct sim *s);
void sim_series_write(const struct sim_series *v, FILE *f);
void sim_series_free(struct sim_series *v);

#endif /* SIM_H */
