// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Which builder gets which time-slice, and in what order an input serves builders.
 *
 * The time-slices of an interval depend on its number only, never on who has failed, so inputs that
 * learn of a failure at different times still mean the same time-slices.  What changes is the
 * builder of a time-slice whose own has failed.
 */
#include "stream.h"

/**
 * stream_rounds() - rounds of an interval
 * @cfg: the stream
 *
 * Return: how many, at least 1.
 */
u32 stream_rounds(const struct stream_config *cfg)
{
	return cfg->slices < cfg->builders ? 1 : cfg->slices / cfg->builders;
}

/**
 * stream_first_slice() - the first time-slice of an interval
 * @cfg: the stream
 * @interval: at most STREAM_MAX_INTERVAL
 *
 * Return: its number.
 */
u64 stream_first_slice(const struct stream_config *cfg, u64 interval)
{
	return interval * stream_contributions(cfg);
}

/**
 * stream_stagger() - whom an input serves at a step of a round
 * @cfg: the stream
 * @input: which
 * @step: 0 to @cfg->builders - 1
 *
 * In a round each builder is served by at most ceil(inputs / builders) inputs at a time.
 *
 * Source: section II.A.
 * Return: (input + step) mod builders: the builder, and the place of its time-slice in the round.
 */
u32 stream_stagger(const struct stream_config *cfg, u32 input, u32 step)
{
	return (input % cfg->builders + step) % cfg->builders;
}

/**
 * stream_builder() - who builds a time-slice
 * @cfg: the stream
 * @slice: its number
 * @failed: by builder: not 0 if it has failed; NULL: none has
 *
 * The time-slices of a builder that failed go to the others, round after round to another one.
 * When a second one fails, only what it had moves.
 *
 * Return: the builder; @cfg->builders if all have failed.
 */
u32 stream_builder(const struct stream_config *cfg, u64 slice, const u8 *failed)
{
	u64 round = shuffle_div64(slice, cfg->builders);
	u32 own = (u32)(slice - round * cfg->builders);
	u32 at, i;

	if (!failed || !failed[own])
		return own;
	if (cfg->builders == 1)
		return 1;
	at = (u32)(round - shuffle_div64(round, cfg->builders - 1) * (cfg->builders - 1));
	at = (own + 1 + at) % cfg->builders;
	for (i = 0; i < cfg->builders; i++) {
		if (!failed[at])
			return at;
		at = at + 1 == cfg->builders ? 0 : at + 1;
	}
	return cfg->builders;
}
