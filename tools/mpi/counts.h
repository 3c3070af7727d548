/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts, and arrays with one for each rank, as the MPI library's functions have them. */
#ifndef COLL_SHUFFLE_COUNTS_H
#define COLL_SHUFFLE_COUNTS_H

#include <stddef.h>

#if __has_include("ompi/util/count_disp_array.h")	/* Open MPI 6: of int, or of size_t */
#include "ompi_config.h"
#include <assert.h>
#include "opal/prefetch.h"

#include "ompi/util/count_disp_array.h"

typedef size_t coll_shuffle_count;
typedef ompi_count_array_t coll_shuffle_counts;
typedef ompi_disp_array_t coll_shuffle_disps;
typedef ompi_disp_array_t coll_shuffle_places;	/* in bytes, of MPI_Aint */

#define COLL_SHUFFLE_COUNT(counts, i)	((ptrdiff_t)ompi_count_array_get(counts, i))
#define COLL_SHUFFLE_DISP(disps, i)	ompi_disp_array_get(disps, i)
#define COLL_SHUFFLE_PLACE(places, i)	ompi_disp_array_get(places, i)
#else
typedef int coll_shuffle_count;
typedef const int *coll_shuffle_counts;
typedef const int *coll_shuffle_disps;
typedef const ptrdiff_t *coll_shuffle_places;	/* in bytes, of MPI_Aint */

#define COLL_SHUFFLE_COUNT(counts, i)	((ptrdiff_t)(counts)[i])
#define COLL_SHUFFLE_DISP(disps, i)	((ptrdiff_t)(disps)[i])
#define COLL_SHUFFLE_PLACE(places, i)	((places)[i])
#endif

#endif
