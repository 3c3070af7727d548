/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an input sends: generated pieces, a file, or what comes by a FIFO, a pipe or UDP.
 *
 * A file has one piece behind the other, each of --piece bytes, and so has a FIFO.  By UDP a
 * datagram is a piece.
 */
#ifndef STREAM_SOURCE_H
#define STREAM_SOURCE_H

#include "run.h"

struct source;

struct source *source_open(const struct run *r);
void source_close(struct source *s);
int source_fd(const struct source *s);
bool source_has(struct source *s, u64 floor, u64 below);
u32 source_take(struct source *s, u64 slice, u8 *to);
u64 source_pieces(const struct source *s);
bool source_is_sequential(const struct source *s);

#endif /* STREAM_SOURCE_H */
