/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll/shuffle: MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw and their non-blocking
 * forms over AF_SHUFFLE; where it is asked for, other collectives, too.
 *
 *   component.c	parameters, what a process tells all others at MPI_Init
 *   addr.c		the addresses of this host
 *   cards.c		what other processes say about themselves
 *   choose.c		which of them are used, and whether: from the cards of all members
 *   module.c		one communicator
 *   before.c		its functions before ours
 *   agree.c		its first call: the group, a trial, a common decision
 *   sizes.c		which sizes of messages AF_SHUFFLE carries
 *   proven.c		which processes have been shown to reach one another
 *   alltoall.c		the MPI calls: rows and columns from their arguments
 *   neighbour.c	those of neighbours only
 *   numbers.c		what a call goes by, here and elsewhere
 *   op.c		one call: its row, its column, its end
 *   collectives.c	collectives of other kinds, by libshuffle; see carry.h
 *   later.c		those that are not waited for
 *   persistent.c	calls that are made again and again
 *   p2p.c		what does not go over AF_SHUFFLE: between ranks of one host, and by size
 *   progress.c		waiting
 *
 * One socket for each communicator; each call is one operation on it.  Other collectives have a
 * second one: libshuffle reads all that comes there.
 */
#ifndef COLL_SHUFFLE_H
#define COLL_SHUFFLE_H

#include "ompi_config.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "opal/datatype/opal_convertor.h"
#include "open_mpi.h"
#include "opal/util/output.h"

#include "addr.h"
#include "carry.h"

/* Which sizes AF_SHUFFLE carries. */
struct coll_shuffle_sizes {
	uint64_t least;		/* bytes of a message */
	uint64_t most;
};

/* What a process says about itself to all others, before any communicator asks. */
struct coll_shuffle_card {
	uint8_t version;
	uint8_t naddrs;		/* 0: AF_SHUFFLE is not available */
	uint8_t off;		/* it was switched off there */
	uint8_t reserved;
	uint32_t arch;
	uint32_t collectives;	/* those that may go over AF_SHUFFLE: bits of collectives.c */
	struct coll_shuffle_sizes sizes;
	uint64_t host;		/* the same for all processes of a host */
	struct coll_shuffle_addr addr[COLL_SHUFFLE_ADDRS];	/* best first */
};

struct coll_shuffle_component {
	mca_coll_base_component_t super;
	int priority;
	int verbose;
	int timeout;		/* s */
	int sndbuf;		/* bytes, 0: leave */
	int rcvbuf;
	char *sizes;
	char *collectives;
	char *multicast;
	char *saba;
	char *key;
	bool keyed;		/* what that says */
	char *if_include;
	char *if_exclude;
	int output;
	struct coll_shuffle_card card;
	const char *why;	/* not available here, because */
	/* by address of the card: a trial has failed in its network (CLOCK_MONOTONIC, ns) */
	uint64_t distrusted_until[COLL_SHUFFLE_ADDRS];
};

OMPI_MODULE_DECLSPEC extern struct coll_shuffle_component mca_coll_shuffle_component;

struct coll_shuffle_op;

enum coll_shuffle_state {
	COLL_SHUFFLE_NEW,	/* nobody has called yet */
	COLL_SHUFFLE_GATHERING,	/* addresses are being gathered */
	COLL_SHUFFLE_TRYING,	/* an operation without data shows who reaches whom */
	COLL_SHUFFLE_JUDGING,	/* what each has seen is being told */
	COLL_SHUFFLE_READY,
	COLL_SHUFFLE_DECLINED,	/* use the module before */
};

/* What the members of a communicator tell each other. */
struct coll_shuffle_hello {
	struct sockaddr_shuffle addr;	/* family 0: no socket */
	struct sockaddr_shuffle coll_addr;	/* of the other collectives; likewise */
	uint32_t distrusts;		/* for a trial has failed there before */
	uint32_t keyed;			/* rank 0: there is a group key */
	uint8_t key[SHUFFLE_KEY_BYTES];	/* rank 0: this one */
	uint64_t op_base;		/* that of rank 0 counts */
	uint64_t proven;		/* number of the trial of a group with all of this one's */
};

/* How the trial went: the rank that has missed most, the first of these, and one that it has
 * missed; and whether all that have been heard of know the same racks.
 */
struct coll_shuffle_verdict {
	int32_t who;			/* INT32_MAX: all were */
	int32_t missing;		/* or -1 */
	uint64_t racks;			/* hash of ours */
	uint32_t racks_differ;
	int32_t misses;			/* ranks; all, if it had no part in the trial */
};

/* Operations of a kind that wait for those before them. */
struct coll_shuffle_line {
	struct coll_shuffle_op *first, **end;	/* to be started, oldest first */
	unsigned int under_way;
};

struct coll_shuffle_later;

/* One communicator. */
struct coll_shuffle_module {
	mca_coll_base_module_t super;
	ompi_communicator_t *comm;
	int size;
	int rank;
	enum coll_shuffle_state state;
	struct coll_shuffle_sizes sizes;
	int fd;
	uint64_t op_base;
	uint64_t calls;			/* numbers taken so far by calls that are made once */
	uint64_t requests;		/* and by persistent requests: see numbers.c */
	int kept;			/* of these, not freed here */
	int allowed;			/* may be made before all count again; the same at all */
	bool *local;			/* by rank: on this host */
	int gone;			/* a rank whose process has died, or -1: no call ends */
	/* from the cards of all */
	bool chosen;
	/* ours in the networks that all have, best first; none: declined, because */
	const struct coll_shuffle_addr *addr[COLL_SHUFFLE_ADDRS];
	int naddrs;
	const char *why;
	int who;
	/* see collectives.c */
	uint32_t collectives;		/* bits: all members let AF_SHUFFLE carry them */
	struct coll_shuffle_members members;
	struct coll_shuffle_later *later, **later_end;	/* under way, oldest first */
	bool later_steps;
	unsigned int let_go;		/* freed persistent requests, which kept comm */
	/* while agreeing */
	struct coll_shuffle_hello *hellos;
	struct coll_shuffle_op *trial;
	int net;			/* the one of addr that is tried */
	int waits;			/* for the trial so far, there */
	uint64_t wait_until;		/* CLOCK_MONOTONIC, ns */
	struct coll_shuffle_verdict own;	/* our trial's */
	struct coll_shuffle_verdict mine, theirs;	/* what is known of all, of more */
	int distance;			/* of the ranks that messages go between now */
	int32_t tag;			/* of what is told then */
	ompi_request_t *round[2];
	bool beginning;			/* the module before is called, by numbers.c */
	bool settled;			/* all ranks know the outcome when they make a call */
	struct coll_shuffle_module *next_watched;
	bool watched;

	opal_mutex_t lock;		/* the lists, rx and every op */
	struct coll_shuffle_op *ops;	/* under way */
	struct coll_shuffle_op *spare;
	struct coll_shuffle_line lines[2];	/* calls that are made once, persistent ones */
	unsigned int unread;		/* of ops, completed for the caller */
	unsigned int background;	/* non-blocking calls under way */
	struct shuffle_rx rx;
	opal_event_t event;
	bool event_added;

	/* see before.c */
	mca_coll_base_comm_coll_t before;
};

OBJ_CLASS_DECLARATION(coll_shuffle_module);
typedef struct coll_shuffle_module coll_shuffle_module;

/* What a side has for one rank. */
struct coll_shuffle_part {
	char *buf;
	ptrdiff_t count;
	ompi_datatype_t *type;		/* NULL: nothing, and that rank says so, too */
	size_t size;			/* bytes of data */
	bool joined;			/* the type is our own */
};

/* That by rank, where it does not follow from the arguments alone: see neighbour.c. */
struct coll_shuffle_parts {
	opal_object_t super;
	struct coll_shuffle_part *part;
	int ranks;
};

OBJ_CLASS_DECLARATION(coll_shuffle_parts);
typedef struct coll_shuffle_parts coll_shuffle_parts;

/* One side of a call, of any of the kinds. */
struct coll_shuffle_side {
	char *buf;
	coll_shuffle_count count;	/* alltoall */
	coll_shuffle_counts counts;	/* the others */
	coll_shuffle_disps disps;
	ompi_datatype_t *type;
	ompi_datatype_t * const *types;	/* alltoallw */
	coll_shuffle_places places;	/* that of neighbours, instead of disps */
	bool one;			/* the same block for all */
	coll_shuffle_parts *parts;
};

/* A message that arrives. */
struct coll_shuffle_in {
	char *place;			/* contiguous: its first byte */
	opal_convertor_t *conv;		/* otherwise */
	uint64_t len;			/* expected at most */
	uint64_t have;
	bool whole;
};

/* What a call goes by, the same at all ranks and no other call's: taken where all of them are in
 * the same place, and that is where a persistent request is made, not where it is started.
 */
struct coll_shuffle_names {
	uint64_t number;		/* of its operation, from op_base */
	int32_t tag;			/* of its messages in p2p.c */
};

/* One call. */
struct coll_shuffle_op {
	struct coll_shuffle_op *next;
	coll_shuffle_module *module;
	struct coll_shuffle_request *req;	/* NULL: the caller waits in the call */
	const char *call;		/* its name */
	uint64_t number;		/* from op_base, which may not be known yet */
	uint64_t id;			/* op_base and number */
	struct coll_shuffle_side from;
	struct coll_shuffle_side to;
	bool trial;			/* no call: see agree.c */
	bool declined;			/* nothing of it goes over AF_SHUFFLE */
	bool others;			/* messages of other ranks take another way */
	bool carried;			/* messages that AF_SHUFFLE carries */
	ompi_request_t **p2p;		/* what does not: see p2p.c */
	int np2p;
	int32_t tag;			/* of these, no other call's; see p2p.c */
	/* row */
	const void **bufs;
	uint64_t *lens;
	char *packed;
	uint64_t *absent;		/* ranks whose messages take another way, by bits */
	struct shuffle_tx tx;
	pthread_t thread;
	bool threaded;
	int tx_error;
	/* column */
	struct coll_shuffle_in *in;
	opal_convertor_t *convs;
	int awaited;			/* messages with data that are not whole */
	uint64_t left;			/* bytes to come */
	/* end */
	bool complete;			/* for the caller */
	bool released;			/* the caller has its result */
	bool ended;			/* for the kernel */
	bool truncated;
	int error;			/* errno */
	uint64_t missing_left;
	int missing;			/* ranks named */
	int first_missing;
};

struct coll_shuffle_request {
	ompi_coll_base_nbc_request_t super;	/* the MPI layer keeps datatypes there */
	struct coll_shuffle_request *next;	/* on a list of those to complete */
};

OBJ_CLASS_DECLARATION(coll_shuffle_request);
typedef struct coll_shuffle_request coll_shuffle_request;

/* cards.c */
/* A process's name as a number. */
uint64_t coll_shuffle_name(const ompi_proc_t *proc);
/* The card of a rank; false: it has none that we understand. */
bool coll_shuffle_card_read(const coll_shuffle_module *m, int rank, struct coll_shuffle_card *to);
void coll_shuffle_cards_forget(void);

/* choose.c */
/* Decide from the cards of all members, once: m->addr and what follows it, m->collectives. */
void coll_shuffle_choose(coll_shuffle_module *m);
/* For qsort(): numbers of 64 bits, ascending. */
int coll_shuffle_compare_numbers(const void *a, const void *b);

/* module.c */
mca_coll_base_module_t *coll_shuffle_comm_query(ompi_communicator_t *comm, int *priority);
const char *coll_shuffle_comm_name(ompi_communicator_t *comm);
const char *coll_shuffle_host(coll_shuffle_module *m, int rank);

/* before.c */
/* Keep the functions that the communicator has; false if one that ours need is not there. */
bool coll_shuffle_before_keep(coll_shuffle_module *m);
/* Put ours there; Open MPI 6 leaves that, and its opposite, to us. */
void coll_shuffle_before_replace(coll_shuffle_module *m);
void coll_shuffle_before_give_back_all(coll_shuffle_module *m);
void coll_shuffle_before_forget(coll_shuffle_module *m);
/* Before ours are put there: only @carried, bits of names.c, beside all-to-all. */
void coll_shuffle_before_leave_out(coll_shuffle_module *m, uint32_t carried);
/* All know that no all-to-all will be carried: take ours away. */
void coll_shuffle_before_give_back_exchanges(coll_shuffle_module *m);

/* Call one that does not block, with all arguments but its module. */
#define COLL_SHUFFLE_BEFORE(m, f, ...)						\
	((m)->before.coll_##f(__VA_ARGS__, (m)->before.coll_##f##_module))

/* Call a blocking one.  Where ours should be and is not, another component has put its own above
 * it, which calls us.
 */
#define COLL_SHUFFLE_BEFORE_BLOCKING(m, f, ...) ({				\
	mca_coll_base_comm_coll_t *c_ = (m)->comm->c_coll;			\
	bool ours_ = c_->coll_##f##_module == &(m)->super;			\
	int rc_;								\
										\
	if (ours_) {								\
		c_->coll_##f = (m)->before.coll_##f;				\
		c_->coll_##f##_module = (m)->before.coll_##f##_module;		\
	}									\
	if (ours_ || !(m)->super.coll_##f)					\
		rc_ = c_->coll_##f(__VA_ARGS__, c_->coll_##f##_module);		\
	else									\
		rc_ = COLL_SHUFFLE_BEFORE(m, f, __VA_ARGS__);			\
	if (ours_) {								\
		(m)->before.coll_##f = c_->coll_##f;				\
		(m)->before.coll_##f##_module = c_->coll_##f##_module;		\
		c_->coll_##f = (m)->super.coll_##f;				\
		c_->coll_##f##_module = &(m)->super;				\
	}									\
	rc_;									\
})

/* collectives.c */
/* The parameter coll_shuffle_collectives as bits: false, and a complaint, if it makes no sense. */
bool coll_shuffle_collectives_parse(const char *text, uint32_t *bits);
/* Those that are asked for become functions of the module. */
void coll_shuffle_collectives_functions(coll_shuffle_module *m);
/* The socket: its address, or family 0, becomes part of the hello. */
void coll_shuffle_collectives_open(coll_shuffle_module *m, const struct coll_shuffle_addr *addr,
				   struct coll_shuffle_hello *hello);
/* All hellos are here: join.  -1: this rank cannot. */
int coll_shuffle_collectives_join(coll_shuffle_module *m);
void coll_shuffle_collectives_close(coll_shuffle_module *m);

/* A call over AF_SHUFFLE: 0, or an error that has been complained about. */
int coll_shuffle_collectives_carry(coll_shuffle_module *m, enum coll_shuffle_call call,
				   const struct coll_shuffle_args *args);
/* Has it packed a blocking all-to-all, about which all agree?  *rc: its result, or an error. */
bool coll_shuffle_collectives_alltoall(coll_shuffle_module *m, const struct coll_shuffle_args *a,
				       int *rc);

/* later.c */
/* A call that is not waited for: 0, or an error. */
int coll_shuffle_carry_later(coll_shuffle_module *m, enum coll_shuffle_call call,
			     const struct coll_shuffle_args *a, ompi_request_t **request);
/* The same, of which @req tells the end. */
int coll_shuffle_later_begin(coll_shuffle_module *m, enum coll_shuffle_call call,
			     const struct coll_shuffle_args *a, coll_shuffle_request *req);
/* Go on with what is under way. */
void coll_shuffle_later_step(coll_shuffle_module *m);

/* persistent.c */
/* Requests of calls that AF_SHUFFLE carries: 0, or an error. */
int coll_shuffle_persistent_call(coll_shuffle_module *m, enum coll_shuffle_call call,
				 const struct coll_shuffle_args *a, ompi_request_t **request);
int coll_shuffle_persistent_exchange(coll_shuffle_module *m, const char *name,
				     const struct coll_shuffle_side *from,
				     const struct coll_shuffle_side *to,
				     const struct coll_shuffle_names *names,
				     ompi_request_t **request);
/* Let go of the communicators that freed requests have kept. */
void coll_shuffle_persistent_step(coll_shuffle_module *m);
/* The component is about to be unloaded. */
void coll_shuffle_persistent_close(void);

/* agree.c */
/* CLOCK_MONOTONIC */
uint64_t coll_shuffle_now_ns(void);
/* Make up one's mind: 0, or an error.  Afterwards the state is not NEW; it is
 * READY or DECLINED unless wait is false.
 */
int coll_shuffle_agree(coll_shuffle_module *m, bool wait);
/* The module goes while its members still agree, as when a program ends in the middle of a call. */
void coll_shuffle_agree_close(coll_shuffle_module *m);
/* What the component's parameters say of a socket. */
void coll_shuffle_socket_options(int fd);
/* What goes on in the background may have got on. */
void coll_shuffle_agree_step(coll_shuffle_module *m);

/* sizes.c */
/* The parameter coll_shuffle_sizes: false, and a complaint, if it makes no sense. */
bool coll_shuffle_sizes_parse(const char *text, struct coll_shuffle_sizes *sizes);
/* Does AF_SHUFFLE carry messages of so many bytes? */
bool coll_shuffle_sizes_take(const coll_shuffle_module *m, size_t size);

/* proven.c */
/* The number of a trial that all members have passed in this network, not long ago, or 0. */
uint64_t coll_shuffle_proven(const coll_shuffle_module *m);
/* All members have passed the communicator's trial. */
void coll_shuffle_prove(const coll_shuffle_module *m);
/* Nothing is proven any more: a member is missing, or the component is about to be unloaded. */
void coll_shuffle_disprove(void);

/* p2p.c */
/* Post what goes through the point-to-point layer: 0, or an error.  Lock held. */
int coll_shuffle_p2p_start(struct coll_shuffle_op *op);
/* Has all of it arrived, and left? */
bool coll_shuffle_p2p_done(struct coll_shuffle_op *op);

/* neighbour.c */
/* Whoever keeps two such sides holds what they have for each rank. */
void coll_shuffle_parts_hold(const struct coll_shuffle_side *from,
			     const struct coll_shuffle_side *to);
void coll_shuffle_parts_let_go(struct coll_shuffle_side *from, struct coll_shuffle_side *to);
/* Those calls become functions of the module, if they are asked for. */
void coll_shuffle_neighbour_functions(coll_shuffle_module *m);

/* alltoall.c */
/* A request that has begun; it keeps the communicator until it is complete. */
void coll_shuffle_request_init(coll_shuffle_request *req, coll_shuffle_module *m);
coll_shuffle_request *coll_shuffle_request_new(coll_shuffle_module *m);
/* It never was the caller's. */
void coll_shuffle_request_drop(coll_shuffle_request *req);
void coll_shuffle_alltoall_functions(coll_shuffle_module *m);
struct coll_shuffle_part coll_shuffle_part(const struct coll_shuffle_side *s, int rank);
/* Is the message of another rank, with so many bytes, in the row or column? */
bool coll_shuffle_by_network(const struct coll_shuffle_op *op, int rank, size_t size);
/* Is it for the component before?  A non-blocking call behind one that began before all knew is
 * declined by p2p.c.
 */
bool coll_shuffle_declined(coll_shuffle_module *m);
/* One call, agreed upon and not declined.  request NULL: wait for its end. */
int coll_shuffle_exchange(coll_shuffle_module *m, const char *call,
			  const struct coll_shuffle_side *from, const struct coll_shuffle_side *to,
			  ompi_request_t **request);
/* One that is not waited for, of which @req tells the end. */
int coll_shuffle_exchange_later(coll_shuffle_module *m, const char *call,
				const struct coll_shuffle_side *from,
				const struct coll_shuffle_side *to, coll_shuffle_request *req,
				const struct coll_shuffle_names *names);

/* numbers.c */
/* Bit of the number of a persistent request's operation. */
#define COLL_SHUFFLE_PERSISTENT		(1ULL << 63)
/* So many requests are carried at once: ranks may start them in different orders, so no start must
 * wait for that of another one.
 */
#define COLL_SHUFFLE_MAX_REQUESTS	256

/* Names for a call that begins now: all ranks make their calls in the same order. */
struct coll_shuffle_names coll_shuffle_names_of_call(coll_shuffle_module *m);
/* For a persistent request that is made now, which may wait for the others.  *yes: false, at all
 * ranks, if there are too many.  0, or an error.
 */
int coll_shuffle_names_of_request(coll_shuffle_module *m, struct coll_shuffle_names *names,
				  bool *yes);
/* It is freed, or has not been made. */
void coll_shuffle_names_give_back(coll_shuffle_module *m);
/* It is started: false if it has been too often. */
bool coll_shuffle_names_next_start(struct coll_shuffle_names *names);

/* op.c */
struct coll_shuffle_op *coll_shuffle_op_new(coll_shuffle_module *m, const char *call);
void coll_shuffle_op_free(struct coll_shuffle_op *op);
/* Start it, or queue it until the group is known.  Lock held. */
void coll_shuffle_op_start(struct coll_shuffle_op *op);
/* Cancel what is in the kernel: all of it, or what nobody has a result of.  Lock held. */
void coll_shuffle_op_cancel(coll_shuffle_module *m, bool all);
/* Start what is queued. */
void coll_shuffle_op_start_queued(coll_shuffle_module *m);
/* A trial: starts at once.  Lock held. */
void coll_shuffle_op_start_trial(struct coll_shuffle_op *op);
int coll_shuffle_op_record(void *arg, const struct shuffle_record *rec, const void *data);
size_t coll_shuffle_op_place(void *arg, const struct shuffle_record *rec, void **data);
/* Say why it failed, and return the MPI error class.  0 if it has not. */
int coll_shuffle_op_result(struct coll_shuffle_op *op);
/* The caller has its result.  Lock held. */
void coll_shuffle_op_release(struct coll_shuffle_op *op);
/* Free what has ended; returns the requests that shall be completed. */
coll_shuffle_request *coll_shuffle_op_reap(coll_shuffle_module *m);
/* Fail everything: the socket is not usable. */
void coll_shuffle_op_fail_all(coll_shuffle_module *m, int error);

/* progress.c */
/* Read what has come, once; returns the number of records. */
int coll_shuffle_progress(coll_shuffle_module *m);
/* Complete the requests of what is complete. */
void coll_shuffle_progress_reap(coll_shuffle_module *m);
void coll_shuffle_progress_begin(coll_shuffle_module *m);
void coll_shuffle_progress_end(coll_shuffle_module *m);
/* Look after what no socket tells of: agreeing, and messages of p2p.c. */
void coll_shuffle_progress_watch(coll_shuffle_module *m);
/* Sleep until something has come, a tick at most. */
void coll_shuffle_progress_nap(coll_shuffle_module *m);
/* Returns the result; the operation is the caller's no longer. */
int coll_shuffle_progress_wait(coll_shuffle_module *m, struct coll_shuffle_op *op);
/* Wait until the kernel has ended all operations. */
void coll_shuffle_progress_drain(coll_shuffle_module *m);

/* The component is about to be unloaded. */
void coll_shuffle_progress_close(void);

#define coll_shuffle_say(...) \
	opal_output_verbose(1, mca_coll_shuffle_component.output, "coll:shuffle: " __VA_ARGS__)
#define coll_shuffle_complain(...) opal_output(0, "coll:shuffle: " __VA_ARGS__)

#endif /* COLL_SHUFFLE_H */
