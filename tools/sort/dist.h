/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splitters of all hosts' keys, found together. */
#ifndef SHUFFLE_SORT_DIST_H
#define SHUFFLE_SORT_DIST_H

#include "net.h"
#include "partition.h"

void dist_splitters(struct net *net, const struct pt_keys *keys, size_t pivots,
		    unsigned int reduction, struct pt_list *splitters);

void dist_splitters_of(struct net *net, const struct pt_list *own, size_t pivots,
		       unsigned int reduction, struct pt_list *splitters);

#endif /* SHUFFLE_SORT_DIST_H */
