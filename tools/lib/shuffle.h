/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libshuffle: AF_SHUFFLE without control messages.
 *
 * Every function returns -1 and sets errno on error unless it says otherwise.
 * A socket may be used by several threads; a struct shuffle_tx or
 * shuffle_column by one at a time.
 */
#ifndef SHUFFLE_H
#define SHUFFLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <linux/shuffle.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of the address family in use, from /proc/net/shuffle/family.
 * EAFNOSUPPORT: the module is not loaded.
 */
int shuffle_family(void);
/* Why opening a socket has failed with EAFNOSUPPORT, in words: there is no module, or this process
 * is not allowed to (RestrictAddressFamilies= of its unit, another seccomp filter).  Never NULL.
 */
const char *shuffle_family_str(void);

/* "192.0.2.1", 7000 or "2001:db8::1", 7000 to an address; "fe80::1%eth0" too.
 * EINVAL: not an address.
 */
int shuffle_addr(struct sockaddr_shuffle *addr, const char *ip, uint16_t port);

/* "192.0.2.1:7000" or "[2001:db8::1]:7000"; returns buf. */
const char *shuffle_addr_str(const struct sockaddr_shuffle *addr, char *buf, size_t size);

/* Read a group key: @path has 16 bytes, or 32 hexadecimal digits and nothing but the end of their
 * line; setsockopt(SHUFFLE_KEY) takes @key.  EPERM: others may read or write the file, or it is
 * neither ours nor root's.  EINVAL: no regular file, or something else is in it.
 * shuffle_bind() and shuffle_open() do this by themselves if the environment has SHUFFLE_KEY_FILE:
 * the group has that key then, unless the program sets another one before it joins.  If it cannot
 * be used they fail, and stderr says why.
 */
int shuffle_key_file(const char *path, unsigned char key[SHUFFLE_KEY_BYTES]);
/* Why it has failed: its errno, in words.  Never NULL. */
const char *shuffle_key_str(int error);

/* Open a socket, bind it to members[rank] and join the group.
 * type_flags: 0, or SOCK_NONBLOCK and SOCK_CLOEXEC.  Returns the descriptor.
 */
int shuffle_open(const struct sockaddr_shuffle *members, unsigned int count,
		 unsigned int rank, int type_flags);

/* The two halves of shuffle_open(), for groups whose ports are not known before:
 * shuffle_bind() opens a socket on the address (port 0: any) and writes the one that
 * it got into *addr; shuffle_join() makes it a member, and waits for nobody.
 */
int shuffle_bind(struct sockaddr_shuffle *addr, int type_flags);
/* Between the two: rows whose messages have the same bytes (shuffle_tx_same()) go to the IP
 * multicast address @group once, by the device of the address, and pass @hops - 1 routers at most
 * (0 is 1).  All members need the same @group; if its port is 0, they need the same port, too.
 */
int shuffle_multicast(int fd, const struct sockaddr_shuffle *group, unsigned int hops);
int shuffle_join(int fd, const struct sockaddr_shuffle *members, unsigned int count,
		 unsigned int rank);
/* The same where hosts have several addresses: each member by the address that this host knows it
 * by, with our own address towards it, struct shuffle_edge.  edges[rank] is where fd is bound.
 */
int shuffle_join_edges(int fd, const struct shuffle_edge *edges, unsigned int count,
		       unsigned int rank);

/* After joining: shuffle-sabad(8) hears that application @app (the name of its profile) sends from
 * here to the hosts of the group, and packets with data carry the DSCP of its level.  A level that
 * changes and a daemon that comes back are taken note of by a thread of the library.  @sockets: of
 * the daemons, with commas between them; NULL: $SHUFFLE_SABA_SOCKET, or /run/shuffle/saba.sock.
 * @app NULL takes it back, as closing does within a second and the end of the process at once.
 * shuffle_join() does this by itself if $SHUFFLE_SABA is 1, or names sockets; @app is then
 * $SHUFFLE_SABA_NAME, or the name of the program.
 * A daemon that is not there is no error: the library warns on stderr, once, and looks for it.
 * ENOTCONN: not joined.  EPROTO: a daemon has refused; stderr says why.  E2BIG: more than 8
 * applications or sockets.  ENOENT: @app is NULL, and there is none.
 */
int shuffle_saba(int fd, const char *app, const char *sockets);

/* Why a member has left: of a record MISSING with SHUFFLE_MISSING_LEFT its @error, in words that
 * follow "member 3".  Never NULL.
 */
const char *shuffle_left_str(unsigned int error);

/* Agree where operation ids begin: 2^62 of them from *@first_op on are new to the group, also to
 * one of the same members and ports that was there before and has ended.  All @count members call
 * it first of all on their sockets; it takes until the last one does, but @timeout_ms at most.
 * ETIMEDOUT: member *@missing has not; ECONNRESET: it has left meanwhile; EPROTO: its library
 * agrees in another way; EINTR: a signal.
 * Not for groups with relays (shuffle_tree.h), which have no program that could agree.
 */
int shuffle_agree(int fd, unsigned int count, uint64_t timeout_ms, uint64_t *first_op,
		  unsigned int *missing);

/* Submit a row: bufs[i], lens[i] is the message to rank i, for all members; a length
 * SHUFFLE_ABSENT says that there is none.
 * Blocks until all of it is in the kernel's hands (the buffers may be reused).
 * deadline_ms: 0 for none.  On a non-blocking socket it waits with poll();
 * see shuffle_tx_step() below for one that never waits.
 */
int shuffle_send(int fd, uint64_t op_id, const void *const *bufs,
		 const uint64_t *lens, unsigned int count, uint64_t deadline_ms);

/* A row that may take several calls. */
struct shuffle_tx {
	uint64_t op_id;
	uint64_t deadline_ms;
	const void *const *bufs;
	const uint64_t *lens;
	unsigned int count;
	unsigned int announced;	/* ranks told to the kernel */
	unsigned int rank;	/* where the data goes on */
	uint64_t done;		/* bytes of that message taken */
	const uint64_t *absent;	/* see shuffle_tx_absent() */
	unsigned int flags;	/* of every call: SHUFFLE_ROW_* */
	unsigned int same;	/* see shuffle_tx_same(): the rank whose bytes they are */
	uint64_t digest;	/* see shuffle_tx_digest() */
};

void shuffle_tx_init(struct shuffle_tx *tx, uint64_t op_id, const void *const *bufs,
		     const uint64_t *lens, unsigned int count, uint64_t deadline_ms);
/* Ranks that have no message for us, as bits: rank i is bit i % 64 of absent[i / 64].  They
 * say so, too: a length of SHUFFLE_ABSENT.  An operation in which every member talks to few
 * others costs what these few messages cost.  Before the first of the calls below; the bits,
 * for all of tx->count ranks, stay the caller's.
 */
void shuffle_tx_absent(struct shuffle_tx *tx, const uint64_t *absent);
/* Nobody waits for DONE: it may come some milliseconds later, and there are fewer packets.  Before
 * the first of the calls below.
 */
void shuffle_tx_delayed_ack(struct shuffle_tx *tx);
/* The operation's order among others: SHUFFLE_ROW_FAIR, ..._SMALLEST, ..._DEADLINE, or 0: the
 * setting op-order.  All members should say the same.  Before the first of the calls below.
 */
void shuffle_tx_order(struct shuffle_tx *tx, unsigned int order);
/* What has to be the same at all members, as one number: what they make of the messages, in which
 * order, of which type and byte order.  If it is not, the operation fails with EPROTO at all of
 * them.
 * Before the first of the calls below.
 */
void shuffle_tx_digest(struct shuffle_tx *tx, uint64_t digest);
/* All messages have the same bytes, and none is for ourselves: they are sent once, to the group's
 * multicast address.  EOPNOTSUPP where the group has none.  Before the first of the calls below;
 * not with shuffle_tx_want().
 */
void shuffle_tx_same(struct shuffle_tx *tx);
/* 1: all taken; 0: try again when the socket is writable; -1: error. */
int shuffle_tx_step(int fd, struct shuffle_tx *tx);
/* Tell the lengths and send nothing; never waits.  Returns like shuffle_tx_step(). */
int shuffle_tx_announce(int fd, struct shuffle_tx *tx);
/* The same for a program with an event loop that cannot leave its memory alone: from now
 * on a record SHUFFLE_RECORD_WANT says which bytes (rank, offset, len) the schedule would
 * send next and has room for.  shuffle_tx_answer() sends what one asks for; records are
 * answered in the order in which they were received.
 */
int shuffle_tx_want(int fd, struct shuffle_tx *tx);
int shuffle_tx_answer(int fd, const struct shuffle_tx *tx, const struct shuffle_record *rec);
/* Block until all is taken, in the order of the schedule where that is possible. */
int shuffle_tx_finish(int fd, struct shuffle_tx *tx);
/* True if the socket can hold the row, so that shuffle_tx_step() will take all of it
 * when nothing else is in its send buffer.
 */
int shuffle_tx_fits(int fd, const struct shuffle_tx *tx);

/* Receive up to *count records and the bytes of their DATA records, packed
 * into buf one behind the other.  flags: 0 or MSG_DONTWAIT.
 * Returns the bytes in buf; *count is the number of records.
 */
ssize_t shuffle_recv(int fd, void *buf, size_t size, struct shuffle_record *records,
		     unsigned int *count, int flags);

/* Receiving into place, for any number of operations.  Small messages come many at
 * a time through a buffer; the rest of a message that does not fit there is received
 * where it belongs.
 */
struct shuffle_rx {
	/* Called for every record, with its bytes; those of a message may come as
	 * several records, in order.  data may be where place() said: then they are
	 * in place.  Returns 0, or -1 to give up (the bytes are lost).
	 */
	int (*record)(void *arg, const struct shuffle_record *rec, const void *data);
	/* Optional: where shall the bytes go that follow those of *rec?  Returns how
	 * many fit there, 0 for nowhere.  Until they have been passed to record(), that
	 * memory may hold other bytes for a moment.
	 */
	size_t (*place)(void *arg, const struct shuffle_record *rec, void **data);
	void *arg;
	size_t head;		/* bytes received before place() is asked */
	unsigned int records;	/* at most, of a call; 0: 128 */

	void *buf;		/* the rest is the library's */
	struct shuffle_record next;
};

/* Sets head to 64 KiB. */
int shuffle_rx_init(struct shuffle_rx *rx,
		    int (*record)(void *arg, const struct shuffle_record *rec, const void *data),
		    size_t (*place)(void *arg, const struct shuffle_record *rec, void **data),
		    void *arg);
void shuffle_rx_free(struct shuffle_rx *rx);
/* One recvmsg(); flags: 0 or MSG_DONTWAIT.  Returns the number of records. */
int shuffle_rx_step(int fd, struct shuffle_rx *rx, int flags);

/* A whole column: the messages of one operation from all members. */
struct shuffle_column {
	uint64_t op_id;
	unsigned int count;	/* members */
	void **bufs;		/* message of rank i, malloc()ed */
	uint64_t *lens;		/* its length */
	uint64_t *have;		/* bytes that have arrived */
	unsigned int whole;	/* messages that are complete */
	int done;		/* the operation has ended */
	int error;		/* its errno, 0 if it succeeded */
	unsigned int missing_left;	/* MISSING records still to come */
	unsigned int missing_count;
	unsigned int *missing;	/* ranks named by a failure */
	uint64_t max_bytes;	/* of all messages together; at first the machine's memory */
	uint64_t bytes;		/* of those that are known */
};

struct shuffle_column *shuffle_column_new(uint64_t op_id, unsigned int count);
void shuffle_column_free(struct shuffle_column *col);

/* Receive until the operation of col has ended.  Records of other operations
 * are an error (EPROTO): use shuffle_recv() to run several at once.
 * EMSGSIZE: members have announced more than col->max_bytes; the operation goes on.
 * Returns 0, or -1 with errno set to the operation's error.
 */
int shuffle_recv_column(int fd, struct shuffle_column *col);

/* A whole shuffle: send the row and receive the column at the same time.  What
 * most programs want: shuffle_send() followed by shuffle_recv_column() waits until
 * the idle timeout when rows are larger than the socket buffers and nobody reads.
 * Returns like shuffle_recv_column().  An operation whose row could not be sent, or
 * whose column not be received, is cancelled, errno says why, and nothing of it is left
 * on the socket.
 */
int shuffle_exchange(int fd, uint64_t op_id, const void *const *bufs, const uint64_t *lens,
		     unsigned int count, uint64_t deadline_ms, struct shuffle_column *col);

/* Add what one shuffle_recv() returned; buf holds the bytes of the record.
 * Returns 1 when the operation has ended, 0 when not, -1 (EPROTO, ENOMEM, EMSGSIZE).
 */
int shuffle_column_add(struct shuffle_column *col, const struct shuffle_record *rec,
		       const void *buf);

/* End an operation; its FAILED record says ECANCELED. */
int shuffle_cancel(int fd, uint64_t op_id);

#ifdef __cplusplus
}
#endif

#endif /* SHUFFLE_H */
