/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps of net.h between threads of one process: hosts of a test. */
#ifndef SHUFFLE_SORT_FAKE_NET_H
#define SHUFFLE_SORT_FAKE_NET_H

#include "net.h"

void fake_run(unsigned int hosts, void (*host)(struct net *net, void *arg), void *arg);

#endif /* SHUFFLE_SORT_FAKE_NET_H */
