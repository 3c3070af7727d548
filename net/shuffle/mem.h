/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of all sockets together: mem.c
 */
#ifndef _SHUFFLE_MEM_H
#define _SHUFFLE_MEM_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/types.h>

extern atomic_long_t shuffle_mem_allocated;
DECLARE_PER_CPU(int, shuffle_mem_of_cpu);
extern long shuffle_mem_limit[3];

void shuffle_mem_set_max(u64 bytes);
u64 shuffle_mem_max(void);
u64 shuffle_mem_used(void);
bool shuffle_mem_scarce(void);
void shuffle_mem_add_socket(int n);
u32 shuffle_mem_share(u32 buf);

#endif /* _SHUFFLE_MEM_H */
