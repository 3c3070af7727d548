/* SPDX-License-Identifier: BSD-3-Clause */
/* opal/mca/threads/tsd.h of Open MPI 5 includes this name, as threads_pthreads_mutex.h says. */
#ifndef COLL_SHUFFLE_THREADS_TSD_H
#define COLL_SHUFFLE_THREADS_TSD_H

#include <pthread.h>

typedef pthread_key_t opal_tsd_key_t;

#define opal_tsd_get(key, pointer)	(*(pointer) = pthread_getspecific(key), OPAL_SUCCESS)

#endif
