/* SPDX-License-Identifier: GPL-2.0-only */
/* What is sent next. */
#ifndef _SHUFFLE_TX_EGRESS_H
#define _SHUFFLE_TX_EGRESS_H

struct shuffle_net;

int shuffle_egress_init(struct shuffle_net *sn);
void shuffle_egress_stop(struct shuffle_net *sn);
void shuffle_egress_exit(struct shuffle_net *sn);

#endif /* _SHUFFLE_TX_EGRESS_H */
