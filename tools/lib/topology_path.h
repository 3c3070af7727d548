/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the table of racks of a network namespace is; "shufflectl topology" writes it. */
#ifndef SHUFFLE_TOPOLOGY_PATH_H
#define SHUFFLE_TOPOLOGY_PATH_H

#include <stddef.h>

#define TOPOLOGY_DIR		"/run/shuffle"

/* Ranges of addresses in a table at most: IPv4 and IPv6 addresses of twice as many hosts as a group
 * has members.
 */
#define TOPOLOGY_RANGES		16384U

/* Bytes of the name of a rack, with the zero behind it. */
#define TOPOLOGY_NAME		64

#pragma GCC visibility push(hidden)

/* The file of the namespace that @fd, a socket of any family, is in; or $SHUFFLE_TOPOLOGY.  0 or -1
 * with errno.
 */
int shuffle_topology_path(int fd, char *path, size_t size);

#pragma GCC visibility pop

#endif /* SHUFFLE_TOPOLOGY_PATH_H */
