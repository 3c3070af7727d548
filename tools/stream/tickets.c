// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * The engine of an input: tickets.  A pair of input and builder has a ring; a piece takes a ticket
 * until its time-slice is released.  A place of a round whose builder has none waits, and the
 * places after it do not.
 */
#include "input.h"

/**
 * stream_ticket() - is there one?
 * @e: the engine
 * @builder: whose
 *
 * Return: a piece may be sent to @builder.
 */
bool stream_ticket(const struct stream_input *e, u32 builder)
{
	const struct stream_target *t;

	if (builder >= e->cfg.builders || e->failed[builder])
		return false;
	t = &e->target[builder];
	return t->sent - t->released < e->cfg.ring;
}

/**
 * stream_place_target() - who gets the first waiting contribution of a place
 * @e: the engine; an interval has begun
 * @place: of a round
 *
 * Return: the builder, or @e->cfg.builders if all have failed.
 */
u32 stream_place_target(const struct stream_input *e, u32 place)
{
	u64 slice = stream_first_slice(&e->cfg, e->next - 1) +
		    (u64)e->place[place].sent * e->cfg.builders + place;

	return stream_builder(&e->cfg, slice, e->failed);
}

/**
 * stream_place_queue() - a waiting contribution of a place may have a ticket
 * @e: the engine
 * @place: of a round
 */
void stream_place_queue(struct stream_input *e, u32 place)
{
	struct stream_place *p = &e->place[place];

	if (p->queued || p->sent == p->passed)
		return;
	p->queued = true;
	e->queue[(e->queue_at + e->queue_n++) % e->cfg.builders] = place;
}

/* A builder that has failed has given its places to others; which waits for whom is not kept. */
static void queue_failed(struct stream_input *e)
{
	u32 i;

	for (i = 0; i < e->cfg.builders; i++)
		if (e->failed[i])
			stream_place_queue(e, i);
}

/**
 * stream_input_released() - a builder has released time-slices
 * @e: the engine
 * @builder: which
 * @released: pieces of this input that it has released, ever; from the network
 *
 * Return: 0; -EINVAL if there is no such builder or @released is more than was sent, -EALREADY if
 * it is not more than before.  Both are counted.
 */
int stream_input_released(struct stream_input *e, u32 builder, u64 released)
{
	struct stream_target *t;

	if (builder >= e->cfg.builders || released > e->target[builder].sent) {
		e->counters.absurd++;
		return -EINVAL;
	}
	t = &e->target[builder];
	if (released <= t->released) {
		e->counters.again++;
		return -EALREADY;
	}
	t->released = released;
	stream_place_queue(e, builder);
	if (e->failed[e->cfg.builders])
		queue_failed(e);
	return 0;
}

/**
 * stream_input_take() - a ticket for a piece that is sent again
 * @e: the engine
 * @builder: to whom: stream_builder() with what has failed
 *
 * When a builder fails, who sends keeps the pieces that were not released, and sends them to the
 * builders that have their time-slices now.
 *
 * Return: 0; -EAGAIN: there is none, or the builder has failed; -EINVAL without such a builder.
 */
int stream_input_take(struct stream_input *e, u32 builder)
{
	if (builder >= e->cfg.builders)
		return -EINVAL;
	if (!stream_ticket(e, builder))
		return -EAGAIN;
	e->target[builder].sent++;
	return 0;
}

/**
 * stream_input_builder_failed() - send it nothing more
 * @e: the engine
 * @builder: which
 *
 * Source: section III.D; how its share is spread: stream_builder().
 * Return: 0; -EALREADY if that is known; -EINVAL without such a builder.
 */
int stream_input_builder_failed(struct stream_input *e, u32 builder)
{
	if (builder >= e->cfg.builders)
		return -EINVAL;
	if (e->failed[builder])
		return -EALREADY;
	e->failed[builder] = 1;
	e->failed[e->cfg.builders] = 1;
	queue_failed(e);
	return 0;
}
