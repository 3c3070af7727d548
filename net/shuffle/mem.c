// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of all sockets together: how much there may be, and how much is in use.
 *
 * The kernel counts what sockets charge (sk_wmem_schedule(), sk_rmem_schedule()), in pages, and
 * refuses what is above the limit.  With that alone senders could fill all of it with data for
 * receivers that have no memory left to take it, and nobody could go on.  So buffers are
 * smaller while more than half of the limit is in use: a quarter of the limit is shared evenly
 * by all send buffers, a quarter by all receive buffers.  A socket that holds more than its
 * share gets no more until it holds less, and what the others may take is still there.
 *
 * The kernel's count may be wrong by what each CPU has taken or given back without telling:
 * up to 1 MiB (SK_MEMORY_PCPU_RESERVE).  The limit that the kernel checks is higher by as much,
 * or at small limits nothing could be charged where nothing is in use.
 */
#include <linux/sizes.h>
#include <linux/swap.h>

#include "mem.h"

/* what struct proto points to */
atomic_long_t shuffle_mem_allocated;
DEFINE_PER_CPU(int, shuffle_mem_of_cpu);
long shuffle_mem_limit[3];

/* pages */
static long mem_max;
static atomic_t sockets;

/* However many sockets there are, a share holds the packets of a super-packet. */
#define SHUFFLE_MEM_SHARE_MIN	SZ_64K

static long cpu_reserves(void)
{
	return (long)num_possible_cpus() << (20 - PAGE_SHIFT);
}

/**
 * shuffle_mem_set_max() - limit what all sockets together may hold
 * @bytes: 0 for the default
 *
 * Context: any.
 */
void shuffle_mem_set_max(u64 bytes)
{
	unsigned long pages = min_t(u64, bytes >> PAGE_SHIFT, LONG_MAX / 2);
	int i;

	if (!bytes)
		pages = nr_free_buffer_pages() / 4;
	pages = max(pages, 128UL);
	WRITE_ONCE(mem_max, pages);
	/* without a pressure callback all three mean the same: no more */
	for (i = 0; i < 3; i++)
		WRITE_ONCE(shuffle_mem_limit[i], pages + cpu_reserves());
}

/**
 * shuffle_mem_max() - limit of the memory of all sockets
 *
 * Context: any.
 * Return: bytes.
 */
u64 shuffle_mem_max(void)
{
	return (u64)READ_ONCE(mem_max) << PAGE_SHIFT;
}

/**
 * shuffle_mem_used() - memory of all sockets, what CPUs have not counted yet included
 *
 * Context: any; asks each CPU's counter, so not for each packet.
 * Return: bytes.
 */
u64 shuffle_mem_used(void)
{
	long pages = atomic_long_read(&shuffle_mem_allocated);
	int cpu;

	for_each_possible_cpu(cpu)
		pages += READ_ONCE(per_cpu(shuffle_mem_of_cpu, cpu));
	return (u64)max(pages, 0L) << PAGE_SHIFT;
}

/**
 * shuffle_mem_scarce() - is more than half of the limit in use?
 *
 * About: see SK_MEMORY_PCPU_RESERVE above.
 *
 * Context: any.
 */
bool shuffle_mem_scarce(void)
{
	return atomic_long_read(&shuffle_mem_allocated) > READ_ONCE(mem_max) / 2;
}

/**
 * shuffle_mem_add_socket() - a socket has been made, or closed
 * @n: 1 or -1
 *
 * Context: any.
 */
void shuffle_mem_add_socket(int n)
{
	atomic_add(n, &sockets);
}

/**
 * shuffle_mem_share() - how much a socket may hold now
 * @buf: bytes that its send or its receive buffer has when memory is not scarce
 *
 * Context: any.
 * Return: bytes.
 */
u32 shuffle_mem_share(u32 buf)
{
	u64 share;

	if (!shuffle_mem_scarce())
		return buf;
	share = div_u64(shuffle_mem_max() / 4, max(atomic_read(&sockets), 1));
	return min_t(u64, buf, max_t(u64, share, SHUFFLE_MEM_SHARE_MIN));
}
