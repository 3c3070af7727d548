/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checksums of 23 hosts, seed 1; see reproducible() in lib_test.c */
[WL_UNIFORM] = 0x77576e36a7e77c73ULL,
[WL_SORT] = 0xffe23b243f9f6b65ULL,
[WL_GENERAL] = 0x4a22b264028e085bULL,
[WL_LOGNORMAL] = 0xdd6ef479fc47c2b7ULL,
[WL_NEIGHBOUR] = 0x867e920dc498a158ULL,
[WL_GRAPH] = 0xc927e6c021c33149ULL,
[WL_MAPREDUCE] = 0xb78780dd637873c2ULL,
[WL_INCAST] = 0x4b0d66bdc49315c8ULL,
[WL_PERMUTATION] = 0x5ad3a7ecf9939dccULL,
