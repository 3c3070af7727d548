/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The binary format: MATRIX_MAGIC, hosts and a zero as 32-bit numbers, then the
 * lengths row by row as 64-bit numbers, all little-endian.
 */
#ifndef SHUFFLE_MATRIX_FILE_H
#define SHUFFLE_MATRIX_FILE_H

#include "matrix.h"

#define MATRIX_MAGIC	"SHFLMTX1"
#define MATRIX_HEADER	16

#endif /* SHUFFLE_MATRIX_FILE_H */
