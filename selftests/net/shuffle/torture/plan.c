// SPDX-License-Identifier: GPL-2.0-or-later
/* What a round of a mix is: members, their sockets, operations. */
#include <string.h>

#include "torture.h"

static int choose_kind(unsigned int kinds, struct dice *d)
{
	int kind;

	do {
		kind = roll(d, KINDS);
	} while (!(kinds & 1U << kind));
	return kind;
}

static void plan_op(struct op_spec *op, const struct plan *p, const struct mix *m, unsigned int i,
		    struct dice *d)
{
	roll(d, 0);
	op->seed = d->state;
	/* the namespace remembers numbers of operations: never twice */
	op->id = (sht_mix(p->seed) & ~0xffull) | i;
	op->kind = choose_kind(m->kinds, d);
	/* it needs IPv4's address of all */
	if (op->kind == KIND_SAME && p->v6)
		op->kind = KIND_ROW;
	op->base = m->most >> roll(d, 12);
	op->deadline_ms = m->calm || roll(d, 3) ? 0 : p->idle_ms + roll(d, p->idle_ms);
	op->flags = roll(d, 3) ? 0 : SHUFFLE_ROW_DELAYED_ACK;
	if (!m->calm && !roll(d, 4))
		op->flags |= (1 + roll(d, 3)) * SHUFFLE_ROW_FAIR;
	if (m->dead) {
		op->base = m->most;
		op->kind = KIND_ROW;
		op->deadline_ms = 0;
		op->flags = 0;
	}
}

void spec_plan(struct plan *p, const struct mix *m, uint64_t seed, uint16_t port)
{
	struct dice d = { seed };
	uint32_t idle = idle_ms(m->idle_ms);
	unsigned int i;

	memset(p, 0, sizeof(*p));
	p->seed = seed;
	p->port = port;
	p->n = 2 + roll(&d, MAX_MEMBERS - 1);
	p->ops = m->dead ? 1 : 1 + roll(&d, MAX_OPS);
	p->v6 = !roll(&d, 3);
	p->key = roll(&d, 4) ? 0 : 1 + roll(&d, 1000);
	p->sndbuf = roll(&d, 2) ? 0 : 8192 << roll(&d, 6);
	p->rcvbuf = roll(&d, 3) ? 0 : 16384 << roll(&d, 6);
	p->idle_ms = idle + roll(&d, idle);
	p->processes = roll(&d, 3) ? 0 : roll(&d, 1U << p->n);
	p->dead = NOBODY;
	for (i = 0; i < p->n; i++)
		p->host[i] = roll(&d, m->hosts);
	if (m->calm) {
		/* what two buffers cannot hold waits for a reader: there are always readers */
		p->sndbuf = p->sndbuf && p->sndbuf < 65536 ? 65536 : p->sndbuf;
		p->rcvbuf = p->rcvbuf && p->rcvbuf < 131072 ? 131072 : p->rcvbuf;
	}
	if (m->dead) {
		p->n = 2 + roll(&d, 2);
		/* less than a message, and as much as a chunk: the one that is gone may hold it */
		p->sndbuf = 65536;
		p->rcvbuf = 0;
		p->processes = 0;
		p->dead = roll(&d, p->n);
	}
	if (m->bare) {
		p->key = 0;
		p->processes = 0;
		p->v6 = 0;
	}
	for (i = 0; i < p->ops; i++) {
		plan_op(&p->op[i], p, m, i, &d);
		p->wants |= p->op[i].kind == KIND_WANT;
	}
}
