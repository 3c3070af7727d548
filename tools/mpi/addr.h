/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The addresses of this host that other ranks may send to.
 */
#ifndef COLL_SHUFFLE_ADDR_H
#define COLL_SHUFFLE_ADDR_H

#include <stdbool.h>
#include <stdint.h>

#include "shuffle.h"

/* Of each IP version half of them at most. */
#define COLL_SHUFFLE_ADDRS	8

struct coll_shuffle_addr {
	uint16_t ip_family;
	uint8_t bits;			/* of its network */
	uint8_t reserved;
	uint8_t bytes[16];
};

unsigned int coll_shuffle_addr_list(int ip_family, const char *include, const char *exclude,
				    struct coll_shuffle_addr *list, unsigned int room);
bool coll_shuffle_addr_unknown(const char *list, char *word, size_t size);
bool coll_shuffle_addr_same_net(const struct coll_shuffle_addr *a,
				const struct coll_shuffle_addr *b);
void coll_shuffle_addr_of(const struct coll_shuffle_addr *a, struct sockaddr_shuffle *addr);

#endif /* COLL_SHUFFLE_ADDR_H */
