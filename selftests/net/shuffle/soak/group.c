// SPDX-License-Identifier: GPL-2.0-or-later
/* A group: what is random in it, what happens to its members, and whether what they say fits. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soak.h"

#define MOST_PHASES	8
#define IDLE_MS		20000
#define MARGIN_MS	20000	/* after that, or a deadline: then it does not end */
#define CHILD_US	2000	/* how often another process' progress is looked at */
#define ITEMS		2048
#define MOST_ON_A_HOST	8

const char *const event_name[] = {
	"none", "pause", "cancel", "close", "kill", "restart", "late",
};

/* ---- what is random ---- */

/* Small groups mostly: what an operation costs grows with the square. */
static unsigned int draw_members(struct dice *d)
{
	unsigned int r = roll(d, 100);

	if (r < 2)
		return 1;
	if (r < 42)
		return 2;
	if (r < 67)
		return 3;
	if (r < 82)
		return 4;
	if (r < 96)
		return 5 + roll(d, 4);
	return 9 + roll(d, MAX_MEMBERS - 8);
}

/* Up to 2 MiB, and mostly small. */
static uint32_t draw_base(struct dice *d, unsigned int n)
{
	unsigned int r = roll(d, 1000);
	uint32_t base = 2 << 20;

	if (r < 650)
		base = 256;
	else if (r < 930)
		base = 2048;
	else if (r < 990)
		base = 16384;
	else if (r < 999)
		base = 131072;
	return base < MOST_BYTES / (n * n) ? base : MOST_BYTES / (n * n);
}

static int draw_kind(struct dice *d, const struct plan *p)
{
	static const int kinds[] = {
		KIND_ROW, KIND_ROW, KIND_ROW, KIND_PIECES, KIND_ABSENT, KIND_WANT,
		KIND_SAME, KIND_COLL,
	};
	int kind = kinds[roll(d, sizeof(kinds) / sizeof(*kinds))];

	if ((kind == KIND_SAME && p->v6) || (kind == KIND_COLL && soak->batch.calm) ||
	    (p->n == 1 && kind > KIND_WANT))
		return KIND_ROW;
	return kind;
}

static enum event draw_event(struct dice *d, unsigned int n)
{
	unsigned int r = roll(d, 100);

	if (n == 1 || r < 70)
		return EV_none;
	if (r < 75 || soak->batch.calm)
		return EV_pause;
	if (r < 84)
		return EV_cancel;
	if (r < 88)
		return EV_close;
	if (r < 90)
		return EV_kill;
	if (r < 94)
		return EV_restart;
	return EV_late;
}

/* Of the members below @end */
static unsigned int members_on(const struct plan *p, unsigned int end, int host)
{
	unsigned int i, n = 0;

	for (i = 0; i < end; i++)
		n += p->host[i] == host;
	return n;
}

static void draw_group(struct group *g, uint64_t seed)
{
	struct plan *p = &g->s.plan;
	struct dice d = { seed };
	unsigned int i;

	memset(&g->s, 0, sizeof(g->s));
	g->seed = seed;
	g->s.number = g - soak->group;
	g->phase = 0;
	g->phases = 1 + roll(&d, MOST_PHASES);
	p->n = draw_members(&d);
	p->v6 = !roll(&d, 3) && sht_has_ipv6();
	p->key = roll(&d, 4) ? 0 : 1 + roll(&d, 1000);
	p->sndbuf = roll(&d, 2) ? 0 : 65536 << roll(&d, 4);
	p->rcvbuf = roll(&d, 2) ? 0 : 131072 << roll(&d, 4);
	p->idle_ms = IDLE_MS;
	p->dead = NOBODY;
	/* other ports than those of the groups before: late packets are for nobody */
	p->port = 7000 + g->s.number * 8000 + soak->batch.groups * MAX_MEMBERS % 8000;
	for (i = 0; i < p->n; i++) {
		p->host[i] = roll(&d, hosts);
		/* as many sockets of a host may have one multicast address */
		while (members_on(p, i, p->host[i]) == MOST_ON_A_HOST)
			p->host[i] = (p->host[i] + 1) % hosts;
		sht_addr(&g->addr[i], SHT_RACK, p->v6, p->host[i], p->port + i);
	}
}

/* Bytes that are new to their receivers; a member is one of its own, too. */
static uint64_t wire_bytes(const struct plan *p, const struct op_spec *o)
{
	uint64_t len, sum = 0;
	unsigned int i, k;

	for (i = 0; i < p->n; i++)
		for (k = 0; k < p->n; k++) {
			len = spec_len(p, o, i, k);
			if (len != SHUFFLE_ABSENT)
				sum += len;
		}
	return sum;
}

static void draw_phase(struct group *g, unsigned long most)
{
	struct dice d = { sht_key(g->seed, 7, g->phase, 0) };
	struct plan *p = &g->s.plan;
	unsigned int op, rank, skew;
	uint64_t now = now_us();

	p->seed = d.state;
	p->ops = 1 + roll(&d, MAX_OPS);
	p->ops = p->ops < most ? p->ops : most;
	for (op = 0; op < p->ops; op++) {
		struct op_spec *o = &p->op[op];

		roll(&d, 0);
		o->seed = d.state;
		/* hosts remember numbers of operations: never twice */
		o->id = (sht_mix(p->seed) & ~0xffull) | op;
		o->kind = draw_kind(&d, p);
		o->base = draw_base(&d, p->n);
		o->deadline_ms = roll(&d, 4) ? 0 : 2 * IDLE_MS + roll(&d, IDLE_MS);
		o->flags = roll(&d, 3) ? 0 : SHUFFLE_ROW_DELAYED_ACK;
		if (!roll(&d, 4))
			o->flags |= (1 + roll(&d, 3)) * SHUFFLE_ROW_FAIR;
	}
	g->event = draw_event(&d, p->n);
	g->victim = roll(&d, p->n);
	g->target = roll(&d, p->ops);
	g->begun = now;
	g->happened = 0;
	g->retry = 0;
	/* at once, while the first packets are on their way, or later */
	g->at = now + (roll(&d, 4) ? roll(&d, 4000) : roll(&d, 100000));
	g->until = g->at + roll(&d, 5000000);
	skew = roll(&d, 2) ? 0 : roll(&d, 4) ? 3000 : 200000;
	memset(g->step, 0, sizeof(g->step));
	memset(g->s.part, 0, sizeof(g->s.part));
	memset(g->s.member, 0, sizeof(g->s.member));
	memset(g->asked, 0, sizeof(g->asked));
	for (op = 0; op < MAX_OPS; op++)
		for (rank = 0; rank < MAX_MEMBERS; rank++)
			g->step[op][rank] = (struct step){
				.due = now + roll(&d, skew ? skew : 1) * !!skew,
				.over = op >= p->ops || rank >= p->n,
			};
	if (g->event == EV_late) {
		struct op_spec *o = &p->op[g->target];

		/* all need something of each other */
		o->kind = KIND_ROW;
		o->base = o->base < ITEMS ? o->base : ITEMS;
		o->deadline_ms = 250 + roll(&d, 500);
		g->step[g->target][g->victim].due =
			now + skew + o->deadline_ms * 1000ull + 100000 + roll(&d, 1000000);
	}
	soak->batch.begun += p->ops;
	for (op = 0; op < p->ops; op++)
		soak->batch.wire += wire_bytes(p, &p->op[op]);
}

/* ---- what happens ---- */

/* A member that can be killed. */
static void child(struct group *g)
{
	unsigned int i, r;
	uint64_t next;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(epoll);
	for (i = 0; i < GROUPS; i++)
		for (r = 0; r < soak->group[i].s.plan.n; r++)
			if (soak->group[i].live && sockets[i][r] >= 0 &&
			    (&soak->group[i] != g || r != g->victim))
				close(sockets[i][r]);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	slot = &g->s;
	member_listen(g, g->victim, true);
	for (;;) {
		next = member_write(g, g->victim);
		members_wait(next < now_us() + CHILD_US ? next : now_us() + CHILD_US);
	}
}

static void start_child(struct group *g)
{
	pid_t pid;

	member_listen(g, g->victim, false);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		child(g);
	g->child = pid;
	close(*socket_of(g, g->victim));
	*socket_of(g, g->victim) = -1;
}

static void end_child(struct group *g)
{
	int status;

	kill(g->child, SIGKILL);
	if (waitpid(g->child, &status, 0) != g->child || !WIFSIGNALED(status) ||
	    WTERMSIG(status) != SIGKILL)
		wrong("the process of member %u has ended by itself: status %#x", g->victim,
		      status);
	g->child = 0;
	g->s.member[g->victim].gone = 1;
	/* its data was that process' */
	for (unsigned int op = 0; op < MAX_OPS; op++)
		g->step[op][g->victim].data = NULL;
	member_close(g, g->victim);
}

static bool paused(const struct group *g, unsigned int rank, uint64_t now)
{
	return g->event == EV_pause && g->happened && rank == g->victim && now < g->until;
}

static void happen(struct group *g)
{
	unsigned int v = g->victim;

	g->happened = now_us();
	soak->batch.events[g->event]++;
	switch (g->event) {
	case EV_pause:
		member_listen(g, v, false);
		break;
	case EV_cancel:
		/* what has not begun here cannot be cancelled; what has ended needs not */
		if (sht_cancel(*socket_of(g, v), g->s.plan.op[g->target].id) && errno != ENOENT)
			wrong("member %u cannot cancel operation %u: %s", v, g->target,
			      strerrorname_np(errno));
		break;
	case EV_kill:
		end_child(g);
		break;
	case EV_close:
	case EV_restart:
		g->s.member[v].gone = 1;
		member_close(g, v);
		if (g->event == EV_restart && member_open(g, v))
			wrong("member %u cannot be opened again: %s", v, strerrorname_np(errno));
		break;
	default:
		break;
	}
}

/* ---- whether it fits ---- */

/* When an operation has begun and ended at each of its members. */
static void tell_all(const struct group *g, unsigned int op)
{
	unsigned int i;

	for (i = 0; i < g->s.plan.n; i++) {
		const struct part *part = &g->s.part[op][i];
		const struct step *st = &g->step[op][i];

		printf("#   operation %u, member %u: %s, %lld to %lld us, %s\n", op, i,
		       st->begun ? "begun" : "not begun",
		       st->begun ? (long long)(st->at - g->begun) : -1ll,
		       g->ended[op][i] ? (long long)(g->ended[op][i] - g->begun) : -1ll,
		       part->error ? strerrorname_np(part->error) : "no error");
	}
}

static void not_so(struct group *g, unsigned int op, unsigned int rank, const char *want)
{
	const struct part *part = &g->s.part[op][rank];
	static uint64_t told;

	wrong("%s: phase %u, %s of member %u of %u (operation %u) after %lld us: operation %u at member %u: got %s after %lld us, named %#x/%#x, left %#x (%s); want %s",
	      spec_kind_name(g->s.plan.op[op].kind), g->phase, event_name[g->event], g->victim,
	      g->s.plan.n, g->target, g->happened ? (long long)(g->happened - g->begun) : -1ll, op,
	      rank, strerrorname_np(part->error),
	      (long long)(g->ended[op][rank] - g->begun), (unsigned int)part->miss_recv,
	      (unsigned int)part->miss_ack, (unsigned int)part->miss_left,
	      strerrorname_np(part->why[g->victim]) ?: "-", want);
	if (told != g->s.plan.op[op].id)
		tell_all(g, op);
	told = g->s.plan.op[op].id;
}

/* Is what members send made from what has to come to them first? */
static bool spec_goes_on(const struct op_spec *o)
{
	return o->kind == KIND_COLL;
}

/* The operation has failed at a member, or could not begin: there has to be a reason. */
static void check_reason(struct group *g, unsigned int op, unsigned int rank)
{
	const struct part *part = &g->s.part[op][rank];
	const struct part *theirs = &g->s.part[op][g->victim];
	const struct op_spec *spec = &g->s.plan.op[op];
	unsigned int named = part->miss_recv | part->miss_ack | part->miss_left;
	unsigned int left = part->why[g->victim], only = 1U << g->victim;
	bool reset = part->error == ECONNRESET && part->miss_left == only;
	bool mine = rank == g->victim;

	if (!g->happened && g->event != EV_late) {
		not_so(g, op, rank, "DONE: nothing has happened");
		return;
	}
	if ((g->event == EV_cancel || g->event == EV_late) && op != g->target) {
		not_so(g, op, rank, "DONE: it is another operation");
		return;
	}
	switch (g->event) {
	case EV_cancel:
		if (mine && part->error == ECANCELED)
			break;
		if (mine || !(reset && left == ECANCELED) || named != only)
			not_so(g, op, rank, mine ? "ECANCELED" :
			       "ECONNRESET, and the one that has cancelled");
		break;
	case EV_close:
	case EV_kill:
	case EV_restart:
		/* to those who have heard nothing of it, it is one that has not begun yet */
		if (named == only && part->error == ETIMEDOUT && !theirs->started)
			break;
		/* at its deadline a member asks no other one who is silent */
		if (spec->deadline_ms && spec_goes_on(spec) && !theirs->started && named &&
		    (part->error == ETIMEDOUT || part->error == ECONNRESET))
			break;
		if (named != only || !reset || (left != EPIPE && left != ENOENT))
			not_so(g, op, rank, "ECONNRESET, and the one that has left");
		break;
	case EV_late:
		if (mine)
			break;
		/* what was lost may be late, too */
		if ((part->error != ETIMEDOUT && part->error != ECONNRESET) ||
		    (soak->batch.loss ? !(named & only) : named != only))
			not_so(g, op, rank, "ETIMEDOUT or ECONNRESET, and the one that is late");
		break;
	default:
		not_so(g, op, rank, "DONE");
	}
}

static void check_phase(struct group *g)
{
	struct plan *p = &g->s.plan;
	unsigned int op, rank;
	uint64_t heard;

	for (rank = 0; rank < p->n; rank++) {
		if (g->s.member[rank].gone)
			continue;
		for (op = 0; op < p->ops; op++) {
			const struct part *part = &g->s.part[op][rank];

			if (!part->error) {
				check_done(op, rank);
				continue;
			}
			check_names(op, rank);
			check_reason(g, op, rank);
			heard = g->happened ? g->ended[op][rank] - g->happened : 0;
			if (heard > soak->batch.heard)
				soak->batch.heard = heard;
		}
	}
}

static bool phase_over(const struct group *g)
{
	const struct plan *p = &g->s.plan;
	unsigned int op, rank;

	for (rank = 0; rank < p->n; rank++) {
		if (g->s.member[rank].gone)
			continue;
		for (op = 0; op < p->ops; op++) {
			const struct part *part = &g->s.part[op][rank];

			if (!part->ended || part->named < part->missing)
				return false;
		}
	}
	return true;
}

static void show(const struct group *g)
{
	const struct plan *p = &g->s.plan;
	unsigned int op, rank;

	printf("#   %u members, hosts", p->n);
	for (rank = 0; rank < p->n; rank++)
		printf(" %d%s", p->host[rank], g->s.member[rank].gone ? " (gone)" : "");
	printf(", IPv%d, key %llu, sndbuf %d, rcvbuf %d; phase %u of %u, %s of %u at %lld us\n",
	       p->v6 ? 6 : 4, (unsigned long long)p->key, p->sndbuf, p->rcvbuf, g->phase, g->phases,
	       event_name[g->event], g->victim, (long long)(g->at - g->begun));
	for (op = 0; op < p->ops; op++)
		for (rank = 0; rank < p->n; rank++) {
			const struct part *part = &g->s.part[op][rank];
			const struct step *st = &g->step[op][rank];

			if ((part->ended && part->named == part->missing) || g->s.member[rank].gone)
				continue;
			printf("#   operation %u (%s, id %llx, up to %u bytes, flags %#x, deadline %u ms) at %u: %s, %zu of %zu bytes taken\n",
			       op, spec_kind_name(p->op[op].kind),
			       (unsigned long long)p->op[op].id, p->op[op].base, p->op[op].flags,
			       p->op[op].deadline_ms, rank,
			       st->begun ? "not ended" : "not begun", st->taken,
			       st->len);
		}
	fflush(stdout);
}

/* ---- from one phase to the next ---- */

static void begin_phase(struct group *g, unsigned long most)
{
	draw_phase(g, most);
	g->s.progress = g->begun / 1000;
	if (g->event == EV_kill)
		start_child(g);
}

static void end_phase(struct group *g)
{
	unsigned long most = soak->batch.ops - soak->batch.begun;
	unsigned int rank;

	if (g->child)
		end_child(g);
	if (g->event == EV_pause && g->happened && now_us() < g->until)
		member_listen(g, g->victim, true);
	check_phase(g);
	if (shared->failed) {
		show(g);
		return;
	}
	g->phase++;
	if (g->phase == g->phases || soak->batch.begun >= soak->batch.ops) {
		group_close(g);
		return;
	}
	for (rank = 0; rank < g->s.plan.n; rank++)
		if (*socket_of(g, rank) < 0 && member_open(g, rank)) {
			wrong("member %u cannot be opened again: %s", rank, strerrorname_np(errno));
			return;
		}
	begin_phase(g, most);
}

int group_open(struct group *g, uint64_t seed, unsigned long ops)
{
	unsigned int rank;

	draw_group(g, seed);
	slot = &g->s;
	for (rank = 0; rank < MAX_MEMBERS; rank++)
		*socket_of(g, rank) = -1;
	for (rank = 0; rank < g->s.plan.n; rank++)
		if (member_open(g, rank))
			return -1;
	g->live = true;
	soak->batch.groups++;
	begin_phase(g, ops);
	return 0;
}

void group_close(struct group *g)
{
	unsigned int rank;

	for (rank = 0; rank < g->s.plan.n; rank++)
		member_close(g, rank);
	g->live = false;
}

/* How long an operation may be without progress. */
static unsigned int longest_ms(const struct plan *p)
{
	unsigned int op, longest = IDLE_MS;

	for (op = 0; op < p->ops; op++)
		if (p->op[op].deadline_ms > longest)
			longest = p->op[op].deadline_ms;
	return longest;
}

uint64_t group_run(struct group *g)
{
	uint64_t now = now_us(), next, limit;
	unsigned int rank, longest;

	slot = &g->s;
	if (g->event != EV_none && g->event != EV_late && !g->happened && g->at <= now)
		happen(g);
	if (g->event == EV_pause && g->happened && g->until && g->until <= now) {
		g->until = 0;
		g->retry = 0;
		member_listen(g, g->victim, true);
	}
	if (g->retry <= now) {
		next = NEVER;
		for (rank = 0; rank < g->s.plan.n; rank++)
			if (*socket_of(g, rank) >= 0 && !paused(g, rank, now)) {
				uint64_t then = member_write(g, rank);

				next = then < next ? then : next;
			}
		g->retry = next;
	}
	if (phase_over(g)) {
		end_phase(g);
		return now;
	}
	next = g->retry;
	if (!g->happened && g->event != EV_none && g->event != EV_late && g->at < next)
		next = g->at;
	if (g->event == EV_pause && g->happened && g->until && g->until < next)
		next = g->until;
	if (g->child && now + CHILD_US < next)
		next = now + CHILD_US;
	longest = longest_ms(&g->s.plan);
	limit = (g->s.progress + longest + MARGIN_MS) * 1000ull;
	if (now >= limit) {
		wrong("nothing has moved for %u ms, idle timeout or last deadline %u ms",
		      longest + MARGIN_MS, longest);
		show(g);
	}
	return next < limit ? next : limit;
}
