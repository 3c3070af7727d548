/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces of an input that their builders have not released. */
#ifndef STREAM_PIECES_H
#define STREAM_PIECES_H

#include "run.h"

/**
 * struct piece - a piece that was sent, or is to be sent again
 * @slice: of which time-slice
 * @op: operation that carries it
 * @builder: who builds the time-slice
 * @len: bytes
 * @at: when it was handed to the kernel
 * @acked: the builder has it; counts once for the engine
 * @runs: its operation has not ended
 * @waits: the kernel has not taken all of it
 * @ticketless: sent again to another builder
 * @tx: what the kernel has taken
 * @data: the bytes
 * @hash: the next one with its hash, or the next free one
 * @prev: older one of its builder
 * @next: younger one
 */
struct piece {
	u64			slice;
	u64			op;
	u32			builder;
	u32			len;
	s64			at;
	bool			acked;
	bool			runs;
	bool			waits;
	bool			ticketless;
	struct shuffle_tx	tx;
	u8			*data;
	struct piece		*hash;
	struct piece		*prev;
	struct piece		*next;
};

/**
 * struct piece_list - those of a builder, oldest first
 */
struct piece_list {
	struct piece	*first;
	struct piece	*last;
};

/**
 * struct pieces - all of an input
 * @n: how many there are at most
 * @all: the memory
 * @free: those not in use
 * @used: how many are
 * @buckets: a power of two
 * @bucket: by time-slice
 * @of: by builder
 */
struct pieces {
	u32			n;
	struct piece		*all;
	struct piece		*free;
	u32			used;
	u32			buckets;
	struct piece		**bucket;
	struct piece_list	*of;
};

void pieces_init(struct pieces *p, u32 n, u32 builders, u32 piece);
void pieces_free(struct pieces *p);
struct piece *pieces_add(struct pieces *p, u64 slice, u32 builder);
struct piece *pieces_find(const struct pieces *p, u64 slice);
void pieces_move(struct pieces *p, struct piece *q, u32 builder);
void pieces_drop(struct pieces *p, struct piece *q);

#endif /* STREAM_PIECES_H */
