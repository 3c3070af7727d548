// SPDX-License-Identifier: GPL-2.0-or-later
/* See peer_options.h. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer_options.h"

struct options peer_opts[MAX_RANKS];

static const struct {
	const char *name;
	size_t at;
	size_t size;		/* of a string, 0 for a number */
} names[] = {
#define STR(x) { #x, offsetof(struct options, x), sizeof(peer_opts[0].x) }
#define NUM(x) { #x, offsetof(struct options, x), 0 }
	STR(matrix), STR(prefix), STR(expect), STR(missing),
	STR(device),
	NUM(n), NUM(hosts), NUM(v6), NUM(net), NUM(port), NUM(seed),
	NUM(op), NUM(ops), NUM(rounds), NUM(mode),
	NUM(delay), NUM(stagger), NUM(open_delay), NUM(read_delay),
	NUM(read_pause),
	NUM(recv_buf), NUM(chunk), NUM(split), NUM(want),
	NUM(rcvbuf), NUM(sndbuf), NUM(deadline), NUM(idle), NUM(key),
	NUM(kill_rx), NUM(kill_ms), NUM(close_ms), NUM(cancel_ms),
	NUM(cancel_op), NUM(linger), NUM(min_tx_ms),
	NUM(check_mem), NUM(timeout), NUM(absent),
	NUM(order),
};

static const struct options defaults = {
	.matrix = "uniform:1000", .prefix = "shf-", .expect = "done",
	.n = 2, .port = 7000, .seed = 1, .op = 1, .ops = 1, .rounds = 1,
	.recv_buf = 256 << 10, .chunk = 256 << 10, .timeout = 60000,
	.deadline = 0,
};

void peer_options_default(void)
{
	int i;

	for (i = 0; i < MAX_RANKS; i++)
		peer_opts[i] = defaults;
}

int peer_options_set(const char *arg)
{
	unsigned long lo = 0, hi = MAX_RANKS - 1;
	const char *colon, *eq = strchr(arg, '=');
	char *end;
	size_t i;
	void *at;

	colon = strchr(arg, ':');
	if (!eq)
		return -1;
	if (colon && colon < eq) {
		lo = strtoul(arg, &end, 10);
		hi = *end == '-' ? strtoul(end + 1, &end, 10) : lo;
		if (end != colon || hi >= MAX_RANKS)
			return -1;
		arg = colon + 1;
	}
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == (size_t)(eq - arg) &&
		    !strncmp(names[i].name, arg, eq - arg))
			break;
	if (i == sizeof(names) / sizeof(names[0]))
		return -1;
	for (; lo <= hi; lo++) {
		at = (char *)&peer_opts[lo] + names[i].at;
		if (names[i].size) {
			snprintf(at, names[i].size, "%s", eq + 1);
		} else {
			*(int64_t *)at = strtoll(eq + 1, &end, 0);
			if (*end)
				return -1;
		}
	}
	return 0;
}
