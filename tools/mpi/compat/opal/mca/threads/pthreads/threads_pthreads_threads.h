/* SPDX-License-Identifier: BSD-3-Clause */
/* opal/mca/threads/threads.h of Open MPI 5 includes this name, as threads_pthreads_mutex.h says. */
#ifndef COLL_SHUFFLE_THREADS_H
#define COLL_SHUFFLE_THREADS_H

#include <pthread.h>
#include <sched.h>

static inline void opal_thread_yield(void)
{
	sched_yield();
}

#endif
