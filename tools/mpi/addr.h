/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which address of this host other ranks shall send to.
 */
#ifndef COLL_SHUFFLE_ADDR_H
#define COLL_SHUFFLE_ADDR_H

#include <stdbool.h>

#include "shuffle.h"

int coll_shuffle_addr_pick(int ip_family, const char *include, const char *exclude,
			   struct sockaddr_shuffle *addr, bool *loopback);

#endif /* COLL_SHUFFLE_ADDR_H */
