/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * opal/mca/threads/mutex.h of Open MPI 5 includes a header of this name, which Debian's
 * libopenmpi-dev does not ship: its locks are those of POSIX threads.  Where Open MPI's own is
 * there, it is used.
 */
#ifndef COLL_SHUFFLE_THREADS_MUTEX_H
#define COLL_SHUFFLE_THREADS_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;

#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define OPAL_THREAD_INTERNAL_RECURSIVE_MUTEX_INITIALIZER PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP

#define opal_thread_internal_mutex_trylock(m)	(pthread_mutex_trylock(m) != 0)
#define opal_thread_internal_mutex_lock(m)	pthread_mutex_lock(m)
#define opal_thread_internal_mutex_unlock(m)	pthread_mutex_unlock(m)
#define opal_thread_internal_mutex_destroy(m)	pthread_mutex_destroy(m)
#define opal_thread_internal_cond_init(c)	pthread_cond_init(c, NULL)
#define opal_thread_internal_cond_signal(c)	pthread_cond_signal(c)
#define opal_thread_internal_cond_destroy(c)	pthread_cond_destroy(c)

static inline int opal_thread_internal_mutex_init(opal_thread_internal_mutex_t *m, bool recursive)
{
	pthread_mutexattr_t attr;
	int err;

	if (!recursive)
		return pthread_mutex_init(m, NULL);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	err = pthread_mutex_init(m, &attr);
	pthread_mutexattr_destroy(&attr);
	return err;
}

#endif
