// SPDX-License-Identifier: BSD-3-Clause
/*
 * libsaba-mark.so: to be loaded into programs by LD_PRELOAD, as "shuffle-saba run" does.
 * Sockets, those of AF_SHUFFLE too, get the DSCP that the file $SHUFFLE_SABA_MARK holds when
 * they are made.
 * Connections that are accepted have that of the socket that listens.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "saba_client.h"

__attribute__((visibility("default")))
int socket(int domain, int type, int protocol)
{
	int (*next)(int, int, int) = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
	int fd = next(domain, type, protocol), before = errno, file;
	const char *name = getenv("SHUFFLE_SABA_MARK");
	char text[8] = "";

	if (fd < 0 || !name || domain == AF_UNIX || domain == AF_NETLINK)
		return fd;
	file = open(name, O_RDONLY | O_CLOEXEC);
	if (file >= 0) {
		if (read(file, text, sizeof(text) - 1) > 0)
			saba_mark(fd, atoi(text) & 63);
		close(file);
	}
	errno = before;
	return fd;
}
