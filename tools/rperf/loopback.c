// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mode loopback, as in the source (RPerf): each message has a twin that takes the same way through
 * this host's stack and its reflector, and no network.  The round trip is the difference of the
 * two, which may be negative: software costs vary.
 *
 * The twin goes first and is waited for, so that it does not stand in the message's way; then the
 * message.  That bounds the rate to one message in two round trips.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "rperf.h"

/* From before a question is handed to the kernel until its answer is here; 0: it is lost. */
static uint64_t round_trip(struct instance *i, struct echo_sock *s, uint64_t seq, uint8_t *buf,
			   bool *refused)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	uint64_t begin, now, end;
	enum echo_event event;
	struct echo_report r;
	struct timespec ts;

	echo_build(s, buf, seq, i->size, i->brief);
	begin = clock_ns(CLOCK_MONOTONIC);
	end = begin + schedule.timeout;
	if (send(s->fd, buf, i->size, 0) < 0) {
		*refused = errno == ECONNREFUSED;
		return 0;
	}
	for (now = begin; now < end && !stopped;) {
		event = echo_answer(s, &r);
		now = clock_ns(CLOCK_MONOTONIC);
		if (event == ECHO_ANSWER && r.seq == seq)
			return now - begin;
		if (event == ECHO_REFUSED) {
			*refused = true;
			return 0;
		}
		if (event != ECHO_NOTHING || now >= end)
			continue;
		while (echo_stamp(s, &r) != ECHO_NOTHING)
			;	/* they are not needed, and wake poll() up */
		ts = (struct timespec){ (time_t)((end - now) / 1000000000),
					(long)((end - now) % 1000000000) };
		ppoll(&p, 1, &ts, NULL);
	}
	return 0;
}

/**
 * loopback_run() - ask until the end of the schedule
 * @i: instance in the mode loopback, its sockets open
 */
void loopback_run(struct instance *i)
{
	uint8_t *buf = memory(1, i->size);
	uint64_t twin, wire, due = schedule.start, seq, now;
	struct stats *s = &i->interval;
	bool refused;

	for (seq = 0; !stopped; seq++) {
		now = clock_ns(CLOCK_MONOTONIC);
		if (due < now)
			due = now;
		if (due >= schedule.end)
			break;
		sleep_until(due);
		due += (uint64_t)(1e9 / i->rate);
		refused = false;
		now = clock_ns(CLOCK_MONOTONIC);
		twin = round_trip(i, &i->twin, seq, buf, &refused);
		wire = round_trip(i, &i->sock, seq, buf, &refused);
		if (now < schedule.count)
			continue;
		pthread_mutex_lock(&i->lock);
		s->sent++;
		s->refused += refused;
		if (wire && twin) {
			s->answered++;
			times_add(&s->rtt, (int64_t)(wire - twin));
		} else if (wire) {
			s->answered++;
			s->unstamped++;
		} else {
			s->lost++;
		}
		pthread_mutex_unlock(&i->lock);
	}
	free(buf);
}
