// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads that write to a file of ../../../vm/planted: whether a lane sees races that are
 * reached as this program reaches those of the module.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "torture.h"

static const char *file;
static uint64_t end_ms;
static _Atomic unsigned long writes;

static void *hammer(void *arg)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	char c = '0' + (long)arg % 2;

	while (fd >= 0 && sht_now_ms() < end_ms) {
		if (write(fd, &c, 1) != 1)
			break;
		writes++;
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

int planted_hammer(const char *path, unsigned int threads, uint64_t seconds)
{
	pthread_t t[16];
	unsigned long i;

	file = path;
	end_ms = sht_now_ms() + seconds * 1000;
	threads = threads > 16 ? 16 : threads;
	for (i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, hammer, (void *)i))
			return 1;
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	printf("# %lu writes to %s\n", (unsigned long)writes, path);
	return writes ? 0 : 1;
}
