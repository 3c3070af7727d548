// SPDX-License-Identifier: GPL-2.0-or-later
/* Status as bytes: big-endian numbers of 8 bytes behind a head. */
#include <string.h>

#include "status.h"

#define MAGIC	0x5348535452454101ULL	/* "SHSTREA", version 1 */

static u8 *put(u8 *to, u64 v)
{
	int i;

	for (i = 0; i < 8; i++)
		to[i] = (u8)(v >> (56 - 8 * i));
	return to + 8;
}

static u64 get(const u8 **from)
{
	u64 v = 0;
	int i;

	for (i = 0; i < 8; i++)
		v = v << 8 | (*from)[i];
	*from += 8;
	return v;
}

static u8 *put_head(u8 *to, const struct status_head *h)
{
	to = put(to, MAGIC);
	to = put(to, (u64)h->builder << 32 | h->from);
	to = put(to, h->stream);
	to = put(to, h->incarnation);
	return put(to, h->number);
}

#define HEAD_LEN	40U

/* 0, or -EINVAL: not a status of our stream, from a member of the kind. */
static int get_head(const struct run *r, const u8 **from, size_t len, bool builder,
		    struct status_head *h)
{
	u64 who;

	if (len < HEAD_LEN || get(from) != MAGIC)
		return -EINVAL;
	who = get(from);
	*h = (struct status_head){
		.builder = who >> 32,
		.from = (u32)who,
		.stream = get(from),
	};
	h->incarnation = get(from);
	h->number = get(from);
	if (who >> 32 != builder || h->stream != r->id || !h->incarnation)
		return -EINVAL;
	return h->from < (builder ? r->cfg.builders : r->cfg.inputs) ? 0 : -EINVAL;
}

/**
 * status_put_input() - as bytes
 * @to: room for STATUS_MAX bytes
 * @s: the status
 *
 * Return: bytes.
 */
size_t status_put_input(u8 *to, const struct status_input *s)
{
	u8 *p = put_head(to, &s->head);
	u32 i;

	p = put(p, s->released);
	p = put(p, s->end);
	p = put(p, s->done);
	p = put(p, s->failed);
	p = put(p, s->failed_round);
	p = put(p, s->taken_round);
	p = put(p, s->reports);
	for (i = 0; i < s->reports; i++) {
		const struct stream_report *r = &s->report[i];

		p = put(p, r->interval);
		p = put(p, r->request);
		p = put(p, (u64)r->start);
		p = put(p, (u64)r->duration);
		p = put(p, (u64)r->proposed);
		p = put(p, (u64)r->latency);
	}
	return (size_t)(p - to);
}

/* The bounds of what an engine does not check itself.  Rounds have 40 bits, as in operations. */
static bool round_ok(u64 v)
{
	return v < STREAM_MAX_INTERVAL;
}

static bool end_ok(u64 v)
{
	return v == RUN_NO_END || v <= STREAM_MAX_INTERVAL;
}

/**
 * status_get_input() - from bytes; from the network, so nothing of it is believed
 * @r: our stream
 * @from: the bytes
 * @len: how many
 * @s: becomes the status
 *
 * Reports are checked by the engine that takes them.
 *
 * Return: 0, -EINVAL: it is none.
 */
int status_get_input(const struct run *r, const u8 *from, size_t len, struct status_input *s)
{
	const u8 *p = from;
	u32 i;

	if (get_head(r, &p, len, false, &s->head) || len < HEAD_LEN + 56)
		return -EINVAL;
	s->released = get(&p);
	s->end = get(&p);
	s->done = get(&p);
	s->failed = (u32)get(&p);
	s->failed_round = get(&p);
	s->taken_round = get(&p);
	s->reports = (u32)get(&p);
	if (s->reports > STATUS_REPORTS || len != HEAD_LEN + 56 + s->reports * 48)
		return -EINVAL;
	if (!round_ok(s->released) || !round_ok(s->failed_round) ||
	    !round_ok(s->taken_round) || !end_ok(s->end) ||
	    (s->failed != STATUS_NONE && s->failed >= r->cfg.builders))
		return -EINVAL;
	for (i = 0; i < s->reports; i++) {
		struct stream_report *q = &s->report[i];

		q->interval = get(&p);
		q->request = get(&p);
		q->start = (s64)get(&p);
		q->duration = (s64)get(&p);
		q->proposed = (s64)get(&p);
		q->latency = (s64)get(&p);
		q->input = s->head.from;
	}
	return 0;
}

/**
 * status_put_builder() - as bytes
 * @to: room for STATUS_MAX bytes
 * @s: the status
 *
 * Return: bytes.
 */
size_t status_put_builder(u8 *to, const struct status_builder *s)
{
	u8 *p = put_head(to, &s->head);
	u32 i;

	p = put(p, s->ready);
	p = put(p, s->released);
	p = put(p, s->end);
	p = put(p, s->taken);
	p = put(p, s->taken_round);
	p = put(p, s->proposals);
	for (i = 0; i < s->proposals; i++) {
		p = put(p, s->proposal[i].interval);
		p = put(p, (u64)s->proposal[i].start);
		p = put(p, (u64)s->proposal[i].duration);
	}
	return (size_t)(p - to);
}

/**
 * status_get_builder() - from bytes; from the network, so nothing of it is believed
 * @r: our stream
 * @from: the bytes
 * @len: how many
 * @s: becomes the status
 *
 * Proposals are checked by the engine that takes them.
 *
 * Return: 0, -EINVAL: it is none.
 */
int status_get_builder(const struct run *r, const u8 *from, size_t len, struct status_builder *s)
{
	const u8 *p = from;
	u32 i;

	if (get_head(r, &p, len, true, &s->head) || len < HEAD_LEN + 48)
		return -EINVAL;
	s->ready = get(&p);
	s->released = get(&p);
	s->end = get(&p);
	s->taken = (u32)get(&p);
	s->taken_round = get(&p);
	s->proposals = (u32)get(&p);
	if (s->proposals > STATUS_PROPOSALS || len != HEAD_LEN + 48 + s->proposals * 24)
		return -EINVAL;
	if (!round_ok(s->released) || !round_ok(s->taken_round) || !end_ok(s->end) ||
	    (s->taken != STATUS_NONE && s->taken >= r->cfg.builders))
		return -EINVAL;
	for (i = 0; i < s->proposals; i++) {
		s->proposal[i].interval = get(&p);
		s->proposal[i].start = (s64)get(&p);
		s->proposal[i].duration = (s64)get(&p);
	}
	return 0;
}

/**
 * status_send() - to a member
 * @r: our stream
 * @member: to which
 * @data: the status
 * @len: bytes
 *
 * It may be lost: another one follows.
 */
void status_send(const struct run *r, u32 member, const u8 *data, size_t len)
{
	const struct run_member *m = &r->member[member];

	sendto(r->control, data, len, MSG_DONTWAIT, (const struct sockaddr *)&m->udp, m->udp_len);
}

/**
 * status_receive() - the next datagram of a member
 * @r: our stream
 * @data: where to
 * @size: bytes there
 * @member: set to whose it is
 *
 * Datagrams from other addresses are dropped.
 *
 * Return: bytes; -1: there is none.
 */
ssize_t status_receive(const struct run *r, u8 *data, size_t size, u32 *member)
{
	struct sockaddr_storage from;
	u32 i, n = r->cfg.inputs + r->cfg.builders;
	socklen_t len;
	ssize_t got;

	for (;;) {
		len = sizeof(from);
		got = recvfrom(r->control, data, size, MSG_DONTWAIT | MSG_TRUNC,
			       (struct sockaddr *)&from, &len);
		if (got < 0)
			return -1;
		if ((size_t)got > size)
			continue;
		for (i = 0; i < n; i++) {
			if (r->member[i].udp_len != len || memcmp(&r->member[i].udp, &from, len))
				continue;
			*member = i;
			return got;
		}
	}
}
