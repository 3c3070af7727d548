/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Persistent collectives under one name: PERSISTENT(Alltoall) is MPI_Alltoall_init of MPI 4, which
 * Open MPI has from 5.0 on, or MPIX_Alltoall_init of Open MPI 4.1.
 */
#ifndef SELFTESTS_MPI_PERSISTENT_H
#define SELFTESTS_MPI_PERSISTENT_H

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
#define PERSISTENT(name)	MPIX_##name##_init
#elif MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define PERSISTENT(name)	MPI_##name##_init
#endif

#endif
