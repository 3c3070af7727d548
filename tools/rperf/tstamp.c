// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mode tstamp: questions at a rate, whether or not answers come, and the round trip of each from
 * four time stamps: (t4 - t1) - (t3 - t2).  What this program and the hosts' stacks need is in none
 * of them.
 *
 * Mode pingpong is what a program without time stamps would see: from before the question is handed
 * to the kernel until the answer is in the program's hands.  It is there to be compared.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rperf.h"

#define RING	65536U		/* questions that may be under way */
#define BATCH	64U		/* questions of one system call */
#define LATE_NS	50000000ULL	/* questions that are due since so long are given up */

/**
 * struct question - one that is under way
 * @seq: its number
 * @asked: CLOCK_REALTIME before it was sent
 * @deadline: CLOCK_MONOTONIC
 * @t1: transmit time stamp, 0: not yet
 * @r: its answer
 * @state: see enum
 */
struct question {
	uint64_t		seq;
	uint64_t		asked;
	uint64_t		deadline;
	uint64_t		t1;
	struct echo_report	r;
	enum { FREE, ASKED, ANSWERED } state;
	bool			counts;
};

/**
 * struct asker - the state of an instance
 * @i: the instance
 * @ring: questions by number
 * @next: number of the next one
 * @oldest: no question before that one is under way
 * @due: when the next one is due
 * @msg: for sendmmsg()
 * @buf: questions, one behind the other
 * @rnd: of the gaps
 */
struct asker {
	struct instance	*i;
	struct question	*ring;
	uint64_t	next;
	uint64_t	oldest;
	double		due;
	struct mmsghdr	msg[BATCH];
	struct iovec	iov[BATCH];
	uint8_t		*buf;
	uint64_t	rnd;
};

/* xorshift64*: (0, 1) */
static double uniform(struct asker *a)
{
	a->rnd ^= a->rnd >> 12;
	a->rnd ^= a->rnd << 25;
	a->rnd ^= a->rnd >> 27;
	return ((double)(a->rnd * 0x2545f4914f6cdd1dULL >> 11) + 0.5) / 9007199254740992.0;
}

static double gap(struct asker *a)
{
	double mean = 1e9 / a->i->rate;

	return a->i->random ? -log(uniform(a)) * mean : mean;
}

static struct question *slot(struct asker *a, uint64_t seq)
{
	return &a->ring[seq % RING];
}

/* The fate of a question is known. */
static void finish(struct asker *a, struct question *q)
{
	struct stats *s = &a->i->interval;
	const struct echo_report *r = &q->r;
	uint64_t t1 = q->t1;

	if (!q->counts) {
		q->state = FREE;
		return;
	}
	pthread_mutex_lock(&a->i->lock);
	if (q->state == ASKED) {
		s->lost++;
	} else if (a->i->mode == MODE_PINGPONG) {
		s->answered++;
		times_add(&s->rtt, (int64_t)(r->t4 - q->asked));
	} else if (!t1 || !r->t4 || (!a->i->opt.hardware && (t1 < q->asked || t1 > r->t4))) {
		s->answered++;
		s->unstamped++;
	} else {
		s->answered++;
		times_add(&s->rtt, (int64_t)(r->t4 - t1) - (int64_t)(r->t3 - r->t2));
	}
	pthread_mutex_unlock(&a->i->lock);
	q->state = FREE;
}

/* Questions that have been under way for too long; all of them at the end. */
static void expire(struct asker *a, uint64_t now)
{
	struct question *q;

	for (; a->oldest < a->next; a->oldest++) {
		q = slot(a, a->oldest);
		if (q->state != FREE && q->deadline > now)
			return;
		if (q->state != FREE)
			finish(a, q);
	}
}

static void prepare(struct asker *a, unsigned int n, uint64_t now)
{
	struct question *q = slot(a, a->next + n);

	*q = (struct question){
		.seq = a->next + n, .asked = clock_ns(CLOCK_REALTIME), .state = ASKED,
		.deadline = now + schedule.timeout, .counts = now >= schedule.count,
	};
	echo_build(&a->i->sock, a->iov[n].iov_base, q->seq, a->i->size, a->i->brief);
}

static void count(struct asker *a, uint64_t *what, uint64_t n)
{
	if (clock_ns(CLOCK_MONOTONIC) < schedule.count)
		return;
	pthread_mutex_lock(&a->i->lock);
	*what += n;
	pthread_mutex_unlock(&a->i->lock);
}

/* Those that count: of each of them the fate is told, too. */
static void count_sent(struct asker *a, unsigned int n)
{
	unsigned int i, counts = 0;

	for (i = 0; i < n; i++)
		counts += slot(a, a->next + i)->counts;
	pthread_mutex_lock(&a->i->lock);
	a->i->interval.sent += counts;
	pthread_mutex_unlock(&a->i->lock);
}

/* What is due, up to a batch. */
static int ask(struct asker *a, uint64_t now)
{
	struct stats *s = &a->i->interval;
	unsigned int n = 0;
	int sent, i;

	if (a->due + LATE_NS < (double)now) {
		uint64_t late = (uint64_t)(((double)now - a->due) * a->i->rate / 1e9);

		count(a, &s->missed, late);
		a->due = (double)now;
	}
	while (n < BATCH && a->due <= (double)now && a->next + n - a->oldest < RING) {
		prepare(a, n++, now);
		a->due += gap(a);
	}
	if (!n) {
		/* the ring is full: as if they had been sent and lost */
		count(a, &s->missed, 1);
		a->due += gap(a);
		return 0;
	}
	sent = sendmmsg(a->i->sock.fd, a->msg, n, 0);
	if (sent < 0 && errno != ECONNREFUSED && errno != ENOBUFS && errno != EINTR) {
		snprintf(a->i->error, sizeof(a->i->error), "cannot send: %s", strerror(errno));
		return -1;
	}
	if (sent < 0 && errno == ECONNREFUSED)
		count(a, &s->refused, 1);
	if (sent < 0)
		sent = 0;
	for (i = sent; i < (int)n; i++)
		slot(a, a->next + i)->state = FREE;
	count_sent(a, (unsigned int)sent);
	if (sent < (int)n)
		count(a, &s->missed, n - (unsigned int)sent);
	a->next += (unsigned int)sent;
	return 0;
}

static void answered(struct asker *a, const struct echo_report *r)
{
	struct question *q = slot(a, r->seq);

	if (q->state != ASKED || q->seq != r->seq) {
		count(a, &a->i->interval.other, 1);
		return;
	}
	q->r = *r;
	q->state = ANSWERED;
	if (a->i->mode == MODE_PINGPONG)
		q->r.t4 = clock_ns(CLOCK_REALTIME);
	if (a->i->mode == MODE_PINGPONG || q->t1)
		finish(a, q);
}

static void left(struct asker *a, const struct echo_report *r)
{
	/* the stamp has 32 bits of the number, and the ring is much smaller */
	uint64_t seq = a->next - (uint32_t)(a->next - r->seq);
	struct question *q = slot(a, seq);

	if (q->state == FREE || q->seq != seq)
		return;
	/* a bridge of this host hands it to one more device, which stamps it again */
	if (!q->t1)
		q->t1 = r->t1;
	if (q->state == ANSWERED)
		finish(a, q);
}

/* All that waits. */
static void receive(struct asker *a)
{
	enum echo_event event;
	struct echo_report r;

	while (echo_stamp(&a->i->sock, &r) == ECHO_SENT)
		left(a, &r);
	while ((event = echo_answer(&a->i->sock, &r)) != ECHO_NOTHING) {
		if (event == ECHO_ANSWER)
			answered(a, &r);
		else if (event == ECHO_REFUSED)
			count(a, &a->i->interval.refused, 1);
		else
			count(a, &a->i->interval.other, 1);
	}
	while (echo_stamp(&a->i->sock, &r) == ECHO_SENT)
		left(a, &r);
}

/* Until something comes, or the next question is due, or the oldest one has waited too long. */
static void wait(struct asker *a, uint64_t now, bool more)
{
	struct pollfd p = { .fd = a->i->sock.fd, .events = POLLIN };
	uint64_t until = now + 100000000, oldest = a->oldest < a->next ?
		slot(a, a->oldest)->deadline : until;
	struct timespec ts;

	if (more && a->due < (double)until)
		until = (uint64_t)ceil(a->due);
	if (oldest < until)
		until = oldest;
	if (until <= now)
		return;
	ts = (struct timespec){ (time_t)((until - now) / 1000000000),
				(long)((until - now) % 1000000000) };
	ppoll(&p, 1, &ts, NULL);
}

/**
 * tstamp_run() - ask until the end of the schedule
 * @i: instance in the mode tstamp or pingpong, its socket open
 */
void tstamp_run(struct instance *i)
{
	struct asker *a = memory(1, sizeof(*a));
	unsigned int n;
	uint64_t now;
	bool more;

	a->i = i;
	a->ring = memory(RING, sizeof(*a->ring));
	a->buf = memory(BATCH, i->size);
	a->rnd = i->sock.nonce;
	a->due = (double)schedule.start;
	for (n = 0; n < BATCH; n++) {
		a->iov[n] = (struct iovec){ a->buf + (size_t)n * i->size, i->size };
		a->msg[n].msg_hdr = (struct msghdr){ .msg_iov = &a->iov[n], .msg_iovlen = 1 };
	}
	sleep_until(schedule.start);
	for (;;) {
		now = clock_ns(CLOCK_MONOTONIC);
		more = now < schedule.end && !stopped;
		if (more && a->due <= (double)now && ask(a, now))
			break;
		receive(a);
		expire(a, now);
		if (!more && a->oldest == a->next)
			break;
		wait(a, clock_ns(CLOCK_MONOTONIC), more);
	}
	expire(a, UINT64_MAX);
	free(a->buf);
	free(a->ring);
	free(a);
}
