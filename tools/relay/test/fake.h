/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sockets of one group, without a kernel: messages come in pieces and late, none is lost. */
#ifndef FAKE_H
#define FAKE_H

#include <stdint.h>

/* Messages move: random ones, and not all. */
void fake_deliver(void);
/* Forget all sockets; a seed for what is random. */
void fake_reset(uint64_t seed);
/* A member is gone, as if its process had been killed. */
void fake_kill(int fd);
int fake_close(int fd);
uint64_t fake_draw(void);

#endif /* FAKE_H */
