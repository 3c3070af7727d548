// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* What a stream may be. */
#include "stream.h"

/**
 * stream_defaults() - the values of the source
 * @cfg: to be set
 * @inputs: hosts that send
 * @builders: hosts that receive
 *
 * Source: table I, sections III.C and V.B.
 */
void stream_defaults(struct stream_config *cfg, u32 inputs, u32 builders)
{
	*cfg = (struct stream_config){
		.inputs = inputs,
		.builders = builders,
		.slices = 10000,
		.ring = 16,
		.history = 10,
		.gate = 100,
		.speedup = 50,
		.change = 100,
		.theta = 950,
		.min_duration = 1000,
		.max_duration = 60 * STREAM_SECOND,
		.timeout = STREAM_SECOND,
	};
}

/**
 * stream_config_error() - what is wrong with a stream
 * @cfg: the stream
 *
 * Every engine refuses to begin with a stream that is wrong.
 *
 * Return: a text, or NULL if nothing is.
 */
const char *stream_config_error(const struct stream_config *cfg)
{
	if (cfg->inputs < 1 || cfg->inputs > STREAM_MAX_INPUTS)
		return "inputs: 1 to 4096";
	if (cfg->builders < 1 || cfg->builders > STREAM_MAX_BUILDERS)
		return "builders: 1 to 4096";
	if (cfg->slices < 1 || cfg->slices > STREAM_MAX_SLICES)
		return "time-slices of an interval: 1 to 1048576";
	if (cfg->ring < 1 || cfg->ring > STREAM_MAX_RING)
		return "tickets of a pair: 1 to 65536";
	if (cfg->history < 2 || cfg->history > STREAM_MAX_HISTORY)
		return "intervals of the history: 2 to 64";
	if (cfg->gate > 1000)
		return "gate of the speed-up: 0 to 100 %";
	if (cfg->speedup > 500)
		return "speed-up: 0 to 50 %";
	if (cfg->change > 1000)
		return "change of the level: 0 to 100 %";
	if (cfg->theta > 1000)
		return "theta: 0 to 1";
	if (cfg->min_duration < 1000 || cfg->min_duration > cfg->max_duration)
		return "shortest interval: from 1 us to the longest";
	if (cfg->max_duration > STREAM_MAX_DURATION)
		return "longest interval: at most an hour";
	if (cfg->timeout < 1000000 || cfg->timeout > STREAM_MAX_DURATION)
		return "timeout: from 1 ms to an hour";
	return NULL;
}
