/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ompi/op/op.h includes a header of this name, which Debian's libopenmpi-dev does not
 * ship.  Its macros are the identity where Fortran integers have the size of C's.
 */
#ifndef COLL_SHUFFLE_FINT_2_INT_H
#define COLL_SHUFFLE_FINT_2_INT_H

#define OMPI_INT_2_FINT(i)	(i)
#define OMPI_FINT_2_INT(i)	(i)

#endif
