/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between releases of Open MPI, by what its headers have and not by its version. */
#ifndef COLL_SHUFFLE_OPEN_MPI_H
#define COLL_SHUFFLE_OPEN_MPI_H

#if __has_include("opal/mca/event/event.h")	/* 4.1 */
#include "opal/mca/event/event.h"
#include "opal/threads/mutex.h"
#else						/* 5.0 */
#include "opal/util/event.h"
#include "opal/mca/threads/mutex.h"
#endif

#if __has_include("opal/mca/pmix/pmix-internal.h")	/* 5.0 */
#include "opal/mca/pmix/pmix-internal.h"
/* ompi_info opens components without a run-time below them */
#define COLL_SHUFFLE_HAS_MODEX	PMIx_Initialized()
#define COLL_SHUFFLE_GLOBAL	PMIX_GLOBAL
#else						/* 4.1 */
#include "opal/mca/pmix/pmix.h"
#define COLL_SHUFFLE_HAS_MODEX	(opal_pmix.put && opal_pmix.initialized && opal_pmix.initialized())
#define COLL_SHUFFLE_GLOBAL	OPAL_PMIX_GLOBAL
#endif

#if defined(MCA_COLL_BASE_VERSION_3_0_0)	/* 6.0 */
#define COLL_SHUFFLE_MCA_VERSION	MCA_COLL_BASE_VERSION_3_0_0
#elif defined(MCA_COLL_BASE_VERSION_2_4_0)	/* 5.0 */
#define COLL_SHUFFLE_MCA_VERSION	MCA_COLL_BASE_VERSION_2_4_0
#else
#define COLL_SHUFFLE_MCA_VERSION	MCA_COLL_BASE_VERSION_2_0_0
#endif

/* Who puts a module's functions into a communicator, which then holds the module once for each:
 * Open MPI, or, from 6.0 on, the module, and only the communicator's list of modules holds it.
 */
#ifdef MCA_COLL_BASE_VERSION_3_0_0
#define COLL_SHUFFLE_INSTALLS		1
#define COLL_SHUFFLE_HOLD(module)	((void)(module))
#define COLL_SHUFFLE_LET_GO(module)	((void)(module))
#else
#define COLL_SHUFFLE_INSTALLS		0
#define COLL_SHUFFLE_HOLD(module)	OBJ_RETAIN(module)
#define COLL_SHUFFLE_LET_GO(module)	OBJ_RELEASE(module)
#endif

#ifndef OMPI_MODULE_DECLSPEC			/* 5.0 */
#define OMPI_MODULE_DECLSPEC	OMPI_DECLSPEC
#endif

#endif
