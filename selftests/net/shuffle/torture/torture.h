/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * torture: every system call of AF_SHUFFLE by threads and processes on shared sockets, with all
 * that may come between.  See main.c for how it is called and plan.c for what is random.
 *
 * A *mix* is a list of actions with weights and runs in a network namespace of its own (two, with
 * a veth pair between them, where it has devices).  Some *slots*, a process each, run *rounds*
 * beside one another: a round opens a group, lets writers and readers of each member carry out
 * its operations, in threads and in processes, and disturbers do what the mix says.  Then each
 * operation has to end, and what was seen of it has to fit together: that is the oracle.
 *
 *	mix process: watches (watch.c), checks the end (end.c)
 *	  slot process: runs rounds (round.c)
 *	    threads: writers (submit.c), readers (receive.c), disturbers (disturb.c)
 *	    member processes with writers and readers of their own
 *
 * All that is random in a round follows from its seed, and what a thread chooses follows from
 * that and from its number: nothing that another thread has done changes the choices.
 */
#ifndef TORTURE_H
#define TORTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../shtest.h"

/* ../soak has larger groups. */
#ifndef MAX_MEMBERS
#define MAX_MEMBERS	5
#endif
#define MAX_OPS		24
#define MAX_CALLS	96
#define MAX_SLOTS	8
#define NOBODY		(~0U)

/* ---- random numbers ---- */

struct dice {
	uint64_t state;
};

static inline uint64_t roll(struct dice *d, uint64_t below)
{
	d->state = sht_mix(d->state);
	return below ? d->state % below : 0;
}

/* ---- what a round is: all of it follows from its seed (spec.c) ---- */

enum kind {
	KIND_ROW,		/* one call, by schedule or in order */
	KIND_PIECES,		/* announced and filled in several calls, some with empty rest */
	KIND_ABSENT,		/* some messages are absent at both ends */
	KIND_WANT,		/* the kernel asks for the data */
	KIND_SAME,		/* one multicast row, others have none */
	KIND_COLL,		/* collectives */
	KINDS,
};

/**
 * struct op_spec - an operation of a round
 * @id: number of the operation
 * @kind: enum kind
 * @deadline_ms: 0: the idle timeout holds
 * @flags: of rows, of all members
 * @base: lengths are up to so many bytes
 * @seed: of lengths and contents
 */
struct op_spec {
	uint64_t id;
	int kind;
	uint32_t deadline_ms;
	uint32_t flags;
	uint32_t base;
	uint64_t seed;
};

/**
 * struct plan - a round
 * @seed: all else follows from it
 * @n: members
 * @ops: operations
 * @v6: addresses
 * @key: of the group, 0: none
 * @sndbuf, @rcvbuf: for setsockopt(), 0: left alone
 * @idle_ms: SHUFFLE_IDLE_TIMEOUT
 * @processes: members that are processes of their own, bits
 * @dead: rank that never takes part, or NOBODY
 * @host: of each member
 * @op: the operations
 * @wants: there is a KIND_WANT among them
 * @port: of rank 0
 */
struct plan {
	uint64_t seed;
	unsigned int n, ops;
	int v6;
	uint64_t key;
	int sndbuf, rcvbuf;
	uint32_t idle_ms;
	unsigned int processes;
	unsigned int dead;
	int host[MAX_MEMBERS];
	struct op_spec op[MAX_OPS];
	bool wants;
	uint16_t port;
};

struct mix;
/* Length of the message from @src to @dst, or SHUFFLE_ABSENT. */
uint64_t spec_len(const struct plan *p, const struct op_spec *op, unsigned int src,
		  unsigned int dst);
/* The message that @dst reads from @src: NULL-content kinds say false in spec_reads(). */
bool spec_reads(const struct plan *p, const struct op_spec *op, unsigned int src,
		unsigned int dst, uint64_t *len);
/* Bytes of what @src puts into its message to @dst, and of what @dst reads from @src. */
void spec_put(const struct plan *p, const struct op_spec *op, unsigned int src, unsigned int dst,
	      void *buf, size_t len, uint64_t off);
void spec_get(const struct plan *p, const struct op_spec *op, unsigned int src, unsigned int dst,
	      void *buf, size_t len, uint64_t off);
const char *spec_kind_name(int kind);

/* ---- plan.c ---- */

void spec_plan(struct plan *p, const struct mix *mix, uint64_t seed, uint16_t port);

/* ---- what has happened in a round: shared memory ---- */

/**
 * struct part - a member's part of an operation
 * @claimed: a writer has taken it
 * @started: the kernel has the operation: it must end
 * @ended: DONE or FAILED has been read
 * @error: of FAILED
 * @last: senders whose message is whole, bits
 * @miss_recv, @miss_ack, @miss_left: ranks named missing, bits
 * @why: they have left
 * @missing: MISSING records announced
 * @named: and read
 * @got: bytes read, of each sender
 */
struct part {
	_Atomic int claimed, started, ended;
	_Atomic int error;
	_Atomic unsigned int last, miss_recv, miss_ack, miss_left, missing, named;
	_Atomic int why[MAX_MEMBERS];
	_Atomic uint64_t got[MAX_MEMBERS];
};

/**
 * struct member - of the group of a round
 * @pid: its process, 0 if it has none of its own
 * @gone: closed or killed: its operations need not end
 * @meddled: cancelled, stopped or the like: its operations may fail
 * @writers: that have not ended
 */
struct member {
	_Atomic int pid, gone, meddled, writers;
};

/* What a thread is doing: watch.c, and whom to send a signal. */
struct call {
	_Atomic int pid, tid;
	_Atomic int action;		/* enum action */
	_Atomic unsigned int rank, op;
	_Atomic uint64_t since, seq;
};

struct slot {
	int number;
	struct plan plan;
	struct part part[MAX_OPS][MAX_MEMBERS];
	struct member member[MAX_MEMBERS];
	struct call call[MAX_CALLS];
	_Atomic unsigned int calls;
	_Atomic int over;		/* all have ended: threads stop */
	_Atomic int disturbed;		/* operations may fail */
	_Atomic int cut;		/* devices went, settings changed: ACKs may be lost */
	_Atomic uint64_t progress;	/* ms: when something was last got done */
	_Atomic uint64_t rounds, actions, done, failed, bytes;
};

struct shared {
	_Atomic int failed;
	char why[512];
	_Atomic uint64_t still;		/* ms: the last time that the machine had stood still */
	_Atomic int linkdown;
	struct slot slot[MAX_SLOTS];
};

extern struct shared *shared;
extern struct slot *slot;		/* of this process */
extern const struct mix *mix;
extern int fds[MAX_MEMBERS];		/* of the round, in this process */

/* ---- actions: names for reports; disturbers choose among some by weight ---- */

#define ACTIONS(X)								\
	X(none) X(send) X(send_more) X(answer) X(receive) X(wait) X(open)	\
	/* below: disturb.c's table */						\
	X(cancel) X(cancel_nl) X(close) X(dup) X(pass) X(hide) X(kill) X(stop)	\
	X(signal) X(options) X(regroup) X(idle) X(config) X(dump) X(diag)	\
	X(poll) X(junk) X(fork) X(link) X(netns) X(unload) X(early) X(races)

enum action {
#define X(name) ACT_##name,
	ACTIONS(X)
#undef X
	N_ACTIONS,
};

extern const char *const action_name[];

/**
 * struct mix - what is done beside each other
 * @name: of it
 * @about: one line
 * @weight: of each disturbance
 * @kinds: of operations, bits
 * @slots: rounds beside one another
 * @disturbers: threads that disturb, in each round
 * @most: longest message, bytes
 * @idle_ms: idle timeout of sockets, the least; up to twice as much
 * @own_ns: each slot has a namespace of its own: its counters are those of its rounds
 * @hosts: namespaces with a device between them (1 or 2)
 * @dead: one member never takes part
 * @calm: all operations must be DONE
 * @loads: unloading may succeed
 * @bare: neither keys nor processes nor second writers: as fast as possible
 */
struct mix {
	const char *name, *about;
	unsigned char weight[N_ACTIONS];
	unsigned int kinds;
	int slots, disturbers;
	uint32_t most;
	uint32_t idle_ms;
	bool own_ns;
	int hosts;
	bool dead, calm, loads, bare;
};

extern const struct mix mixes[];
extern const int n_mixes;
extern bool left_out[N_ACTIONS];

/* ---- watch.c ---- */

/* This thread does something from now on; NULL @c outside of rounds. */
struct call *call_new(void);
void call_begin(struct call *c, enum action a, unsigned int rank, unsigned int op);
void call_end(struct call *c);
void progress(void);
/* The oracle says no: kept, printed, and the mix ends. */
void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The program itself cannot go on: also a failure. */
void die(const char *what) __attribute__((noreturn));
uint64_t tmo_ms(unsigned int seconds);
/* An idle timeout in which operations can get done, however slow the lane. */
uint32_t idle_ms(uint32_t plain);
void show_calls(struct slot *s);
void watch_tick(void);
void nap_us(unsigned int us);

/* ---- round.c ---- */

void slot_main(int number, uint64_t seed, uint64_t end_ms);
extern int host_ns[2];
int in_host(int host);

/* ---- submit.c, receive.c, disturb.c, early.c, races.c ---- */

struct worker {
	unsigned int rank, number;
	struct dice dice;
};

void *writer(void *arg);
void *reader(void *arg);
void *disturber(void *arg);
void submit_answer(struct call *c, int fd, const struct op_spec *op, unsigned int rank,
		   const struct shuffle_record *rec);
/* Carry out a part; the errors are as of sendmsg(). */
ssize_t submit_part(struct call *c, int fd, unsigned int op, unsigned int rank, struct dice *d);

/* ---- control.c ---- */

/* A row's control message behind those of @msg, whose buffer has room. */
struct ctl {
	struct msghdr msg;
	struct iovec iov;
	union {
		struct cmsghdr align;
		char buf[1024];
	} control;
};

void ctl_begin(struct ctl *c, const void *data, size_t len);
void ctl_row(struct ctl *c, const struct op_spec *op, uint32_t flags, unsigned int first,
	     unsigned int count, const uint64_t *lens);
/* A row of any kind but pieces and collectives in one call, with @len bytes of its data. */
void ctl_whole(struct ctl *c, const struct plan *p, const struct op_spec *op, unsigned int rank,
	       const void *data, size_t len);
/* What the program brings of a row: its bytes. */
size_t row_size(const struct plan *p, const struct op_spec *o, unsigned int rank);
void row_fill(const struct plan *p, const struct op_spec *o, unsigned int rank, unsigned char *buf);

/* ---- oracle.c: of the round in @slot; what is wrong is told to wrong() ---- */

/* NOBODY if the group has no such operation. */
unsigned int find_op(const struct shuffle_record *rec, unsigned int rank);
/* DATA; room for as many bytes at @want. */
void see_data(const struct shuffle_record *rec, unsigned int op, unsigned int rank,
	      const unsigned char *bytes, unsigned char *want);
void see_end(const struct shuffle_record *rec, unsigned int op, unsigned int rank);
void see_missing(const struct shuffle_record *rec, unsigned int op, unsigned int rank);
/* All of an operation that is DONE has come. */
void check_done(unsigned int op, unsigned int rank);
/* One that has failed names as many as it says, and nobody who is DONE. */
void check_names(unsigned int op, unsigned int rank);

/* ---- submit.c ---- */

/* sendmsg() that is watched; until MSG_DONTWAIT is given it may wait. */
ssize_t call_send(struct call *c, enum action a, int fd, const struct msghdr *msg, int flags,
		  unsigned int rank, unsigned int op);

void early_race(struct dice *d);
void races(struct dice *d);
/* SHUFFLE_ROW_* that the calls of races() have besides: for other modules than today's */
extern uint32_t race_flags;

/* ---- netlink.c ---- */

/* In the namespace of this thread.  -1 and errno if there is none. */
int netlink_open(void);
int netlink_cancel(int fd, uint64_t op);
int netlink_config(int fd, struct dice *d);
int netlink_idle(int fd, uint32_t ms);
int netlink_dump(int fd, struct dice *d);
int netlink_diag(void);
/* What sockets hold, bytes, and how many there are in this namespace; -1. */
int64_t netlink_mem_used(int fd);
int netlink_sockets(int fd);
int link_updown(const char *name, bool up);

/* ---- end.c ---- */

int64_t counter_of(const char *name);
/* Early packets that are kept in this namespace. */
int64_t early_held(void);
/* Of these, since the round began. */
int64_t early_kept(void);
void check_round_begins(void);
void check_round(void);
void check_namespace(void);
/* After all mixes: the module can go. */
bool check_module(char *why, size_t size);
int module_unload(void);
int module_load(void);

/* ---- planted.c ---- */

int planted_hammer(const char *file, unsigned int threads, uint64_t seconds);

#endif /* TORTURE_H */
