/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs of the AF_SHUFFLE selftests share: addresses of the rack,
 * deterministic message lengths and contents, the two control messages, namespaces.
 *
 * The tests speak to the kernel directly and not through libshuffle, so that
 * they can be dropped into a kernel tree.
 */
#ifndef SHTEST_H
#define SHTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <linux/shuffle.h>

/* Networks that the scripts build, see lib.sh. */
enum sht_net {
	SHT_RACK,	/* host h: 10.77.0.h+1, fd77::h+1 on one bridge */
	SHT_ROUTED,	/* host h: 10.78.h.2, fd78:h::2 behind a router */
	SHT_LO,		/* everybody on 127.0.0.1 or ::1 */
};

/* Number of the family in use; the default one if the module is not loaded. */
int sht_family(void);

/* Does this kernel have IPv6? */
bool sht_has_ipv6(void);

void sht_addr(struct sockaddr_shuffle *addr, enum sht_net net, int v6,
	      unsigned int host, uint16_t port);

/* Enter /run/netns/NAME; -1 and errno. */
int sht_enter_netns(const char *name);

/* A new network namespace with its loopback up; -1 and errno. */
int sht_new_netns(void);
/* A counter of this namespace, or -1: there is none of this name. */
long sht_counter(const char *name);

uint64_t sht_mix(uint64_t x);
uint64_t sht_key(uint64_t seed, uint64_t op, uint32_t src, uint32_t dst);

/* Bytes [off, off + len) of the message that belongs to a key. */
void sht_fill(void *buf, size_t len, uint64_t key, uint64_t off);
/* Index of the first byte that differs, or len. */
size_t sht_check(const void *buf, size_t len, uint64_t key, uint64_t off);

/* Length of an operation's message from src to dst in a matrix "KIND:A:B:C"; -1 if the
 * kind is unknown.
 */
int sht_matrix_len(const char *matrix, uint64_t seed, uint64_t op, unsigned int src,
		   unsigned int dst, uint64_t *len);

uint64_t sht_now_ms(void);

/* Socket bound to members[rank] and in the group; -1 and errno. */
int sht_open(const struct sockaddr_shuffle *members, uint32_t count,
	     uint32_t rank, int type_flags);

/* What is set before the address and the group, in this order:
 * device: SO_BINDTODEVICE, "" for none; an address is looked for in its VRF
 * key: for sht_set_key(), 0 for none; set later, a record without a tag would be taken for a
 *	member's, or one with a tag refused
 */
struct sht_before {
	const char *device;
	uint64_t key;
};

int sht_open_with(const struct sht_before *before, const struct sockaddr_shuffle *members,
		  uint32_t count, uint32_t rank, int type_flags);
/* SHUFFLE_KEY made of a number, for the groups that are set afterwards. */
int sht_set_key(int fd, uint64_t number);
int sht_set_group(int fd, const struct sockaddr_shuffle *members,
		  uint32_t count, uint32_t rank);
int sht_cancel(int fd, uint64_t op);

/* One sendmsg() with a row of its own; row->lens are given apart, row->size is set. */
ssize_t sht_send(int fd, const struct shuffle_row *row, const uint64_t *lens,
		 const void *data, size_t len, int flags);

/* Put a control message of level SOL_SHUFFLE behind those that @msg has: there is room for it. */
void sht_add_cmsg(struct msghdr *msg, int type, const void *payload, size_t size);

/* One recvmsg() into @n pieces; *count: room in, records out. */
ssize_t sht_recv_vector(int fd, struct iovec *iov, int n, struct shuffle_record *recs,
			unsigned int *count, int flags);

/* The same into one. */
ssize_t sht_recv(int fd, void *buf, size_t size, struct shuffle_record *recs,
		 unsigned int *count, int flags);

/* "ETIMEDOUT" to a number and back; "done" is 0. */
int sht_errno_number(const char *name);
const char *sht_errno_name(int err);

#endif /* SHTEST_H */
