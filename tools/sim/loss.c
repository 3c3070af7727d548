// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lost packets (section 3.5): a receiver to which a message makes no progress for a
 * time asks for the first range that is missing, whatever the algorithm.
 */
#include "sim.h"

/**
 * sim_loss_init() - keep what is needed to know which packets have come
 * @s: simulation
 */
void sim_loss_init(struct sim *s)
{
	size_t messages = (size_t)s->cfg->ops * s->n * s->n;
	u64 bits = 0;
	u32 op, to, from;

	s->bits_at = sim_alloc(s, messages, sizeof(*s->bits_at));
	for (op = 0; op < s->cfg->ops; op++) {
		for (to = 0; to < s->n; to++) {
			for (from = 0; from < s->n; from++) {
				s->bits_at[sim_row(s, op, to, from)] = bits;
				bits += sim_len(s, op, from, to);
			}
		}
	}
	s->bits = sim_alloc(s, bits / 8 + 1, 1);
}

/**
 * sim_loss_new() - a data packet has come: for the first time?
 * @s: simulation
 * @op: shuffle
 * @to: receiver
 * @from: sender
 * @seq: number of the packet
 *
 * Return: whether it has not come before.
 */
bool sim_loss_new(struct sim *s, u32 op, u32 to, u32 from, u32 seq)
{
	u64 at = s->bits_at[sim_row(s, op, to, from)] + seq;
	u8 bit = (u8)(1 << (at & 7));

	if (s->bits[at >> 3] & bit)
		return false;
	s->bits[at >> 3] |= bit;
	return true;
}

static bool missing(const struct sim *s, u64 at)
{
	return !(s->bits[at >> 3] & 1 << (at & 7));
}

/* ask for the first missing range, as far as packets may have been sent */
static void ask(struct sim *s, u32 op, u32 to, u32 from)
{
	u64 at = s->bits_at[sim_row(s, op, to, from)];
	u32 next = (u32)(sim_end(s, op, from)->tx.msg[to].next >> s->shift);
	u32 seq = 0;

	while (seq < next && !missing(s, at + seq))
		seq++;
	for (; seq < next && missing(s, at + seq); seq++)
		sim_control(s, SIM_RESEND, op, to, from, seq);
	s->res->resends++;
}

/**
 * sim_loss_scan() - receivers look for messages without progress
 * @s: simulation
 *
 * A quarter of the timeout is exact enough.
 */
void sim_loss_scan(struct sim *s)
{
	u32 every = s->cfg->timeout / 4 + 1;
	u32 op, to, from;

	if (s->now % every)
		return;
	for (op = 0; op < s->cfg->ops; op++) {
		for (to = 0; to < s->n; to++) {
			struct sim_end *e = sim_end(s, op, to);

			if (!s->host[to].up)
				continue;
			for (from = 0; from < s->n; from++) {
				u32 *last = &s->last[sim_row(s, op, to, from)];

				if (e->rx.msg[from].received >> s->shift >=
				    sim_len(s, op, from, to) || s->now - *last < s->cfg->timeout)
					continue;
				ask(s, op, to, from);
				*last = s->now;
			}
		}
	}
}

/**
 * sim_loss_resend() - a sender is asked for a packet again
 * @s: simulation
 * @p: the RESEND
 */
void sim_loss_resend(struct sim *s, const struct sim_pkt *p)
{
	struct sim_pkt again = { p->dst, p->src, sim_info(SIM_DATA, sim_op(p), sim_value(p)) };

	sim_ring_push(&s->host[p->dst].resend, again);
}
