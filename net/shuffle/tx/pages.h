/* SPDX-License-Identifier: GPL-2.0-only */
/* The pages that sendmsg() fills. */
#ifndef _SHUFFLE_TX_PAGES_H
#define _SHUFFLE_TX_PAGES_H

#include <linux/types.h>

struct shuffle_sock;

void shuffle_pages_init(struct shuffle_sock *ssk);
void shuffle_pages_exit(struct shuffle_sock *ssk);
void shuffle_pages_drop(struct shuffle_sock *ssk);
bool shuffle_pages_room(struct shuffle_sock *ssk, unsigned int bytes);

#endif /* _SHUFFLE_TX_PAGES_H */
