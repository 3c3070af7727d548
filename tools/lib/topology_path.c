// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where the table of racks of a network namespace is.  A namespace has a number that none before
 * it and none behind it has until the machine is started again, and then /run is empty: so the file
 * of a namespace that is gone is nobody's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "topology_path.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE	71
#endif

int shuffle_topology_path(int fd, char *path, size_t size)
{
	const char *named = secure_getenv("SHUFFLE_TOPOLOGY");
	uint64_t cookie;
	socklen_t len = sizeof(cookie);
	int n;

	if (named && *named) {
		n = snprintf(path, size, "%s", named);
	} else {
		if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len))
			return -1;
		n = snprintf(path, size, TOPOLOGY_DIR "/topology-%llu", (unsigned long long)cookie);
	}
	if (n >= 0 && (size_t)n < size)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}
