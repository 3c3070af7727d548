// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl peer ping: ask a host for echoes; the small sister of shuffle-rperf. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/shuffle_netlink.h>
#include <netlink/attr.h>

#include "../common/echo.h"
#include "clock.h"
#include "objects.h"
#include "parse.h"
#include "record.h"
#include "shufflectl.h"

#define ANSWER_NS	1000000000ULL	/* then it is lost */
#define STAMP_NS	100000000ULL	/* then there is no time stamp */

struct ping {
	const char	*host;
	uint64_t	count;		/* 0: until it is stopped */
	uint64_t	interval;	/* ns */
	uint64_t	size;
	uint64_t	dscp;
};

struct figures {
	uint64_t	sent, answered;
	int64_t		min, max;
	double		sum;
};

static int parse(int argc, char **argv, struct ping *p)
{
	static const struct {
		const char	*name;
		enum out_unit	unit;
		uint64_t	lo, hi;
	} words[] = {
		{ "count", OUT_PLAIN, 1, UINT32_MAX },
		{ "interval", OUT_NS, 1000, 3600000000000ULL },
		{ "size", OUT_PLAIN, ECHO_SIZE_MIN, ECHO_SIZE_MAX },
		{ "dscp", OUT_PLAIN, 0, 63 },
	};
	uint64_t *value[] = { &p->count, &p->interval, &p->size, &p->dscp };
	unsigned int i;

	if (!argc)
		return ctl_usage("ping wants a host");
	p->host = *argv++;
	for (argc--; argc; argc -= 2, argv += 2) {
		for (i = 0; i < ARRAY_SIZE(words) && strcmp(argv[0], words[i].name); i++)
			;
		if (i == ARRAY_SIZE(words))
			return ctl_usage("\"%s\" means nothing here; there are count, interval, size "
					 "and dscp", argv[0]);
		if (argc < 2)
			return ctl_usage("\"%s\" wants a value", argv[0]);
		if (parse_unit(argv[1], words[i].unit, value[i]) || *value[i] < words[i].lo ||
		    *value[i] > words[i].hi)
			return ctl_usage("%s: \"%s\" is not from %llu to %llu", argv[0], argv[1],
					 (unsigned long long)words[i].lo,
					 (unsigned long long)words[i].hi);
	}
	return CTL_OK;
}

/* Of this namespace, and so of the other hosts. */
static int get_port(unsigned int *port)
{
	const struct shuffle_attr_set *set = &shuffle_attr_set_config;
	struct nlattr *tb[GENL_MAX_ATTRS];
	struct nl_reply reply;
	struct genl g;
	int err;

	err = genl_open(&g, false);
	if (err)
		return err;
	err = genl_talk(&g, genl_request(&g, SHUFFLE_CMD_CONFIG_GET, true),
			genl_op(SHUFFLE_CMD_CONFIG_GET), &reply);
	genl_close(&g);
	if (!err && reply.n && !genl_parse(reply.msg[0], set, tb))
		*port = genl_u64(set, tb, SHUFFLE_A_CONFIG_PORT);
	nl_reply_free(&reply);
	return err;
}

/* The answer to a question and its time stamps; t4 is 0 if there was none, t1 if no stamp. */
static void await(struct echo_sock *s, uint64_t seq, struct echo_report *r, bool *refused)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	uint64_t until = clock_now() + ANSWER_NS, now;
	struct echo_report got;
	enum echo_event event;
	uint64_t t1 = 0;

	memset(r, 0, sizeof(*r));
	for (;;) {
		while (echo_stamp(s, &got) == ECHO_SENT)
			if (!t1 && (uint32_t)seq == got.seq)
				t1 = got.t1;
		while ((event = echo_answer(s, &got)) != ECHO_NOTHING) {
			*refused |= event == ECHO_REFUSED;
			if (event != ECHO_ANSWER || got.seq != seq || r->t4)
				continue;
			*r = got;
			until = clock_now() + STAMP_NS;
		}
		now = clock_now();
		if ((r->t4 && t1) || *refused || now >= until || *ctl_stop_flag())
			break;
		poll(&p, 1, (int)((until - now) / 1000000) + 1);
	}
	r->t1 = t1;
}

static void show(const struct ping *p, uint64_t seq, const struct echo_report *r, bool refused,
		 struct figures *f)
{
	int64_t rtt = (int64_t)(r->t4 - r->t1) - (int64_t)(r->t3 - r->t2);
	bool timed = r->t4 && r->t1;

	if (timed) {
		f->min = !f->answered || rtt < f->min ? rtt : f->min;
		f->max = !f->answered || rtt > f->max ? rtt : f->max;
		f->sum += (double)rtt;
		f->answered++;
	}
	if (!ctl.json) {
		if (timed)
			out_line("%u bytes from %s: seq=%llu time=%.3f us, %.3f us in the host",
				 r->size, p->host, (unsigned long long)seq, rtt / 1e3,
				 (double)(r->t3 - r->t2) / 1e3);
		else
			out_line("%s: seq=%llu %s", p->host, (unsigned long long)seq,
				 refused ? "nobody listens" : r->t4 ? "no time stamp" : "no answer");
		fflush(stdout);
		return;
	}
	out_open(NULL);
	out_str("host", p->host);
	out_u64("seq", seq, OUT_PLAIN);
	if (timed) {
		out_u64("size", r->size, OUT_PLAIN);
		out_s64("rtt_ns", rtt);
		out_u64("host_ns", r->t3 - r->t2, OUT_PLAIN);
	} else {
		out_str("error", refused ? "refused" : r->t4 ? "no-stamp" : "no-answer");
	}
	out_close();
}

static void run(const struct ping *p, struct echo_sock *s, struct figures *f)
{
	uint8_t buf[ECHO_SIZE_MAX];
	struct echo_report r;
	struct timespec ts;
	uint64_t seq, start = clock_now(), due, now;
	bool refused;

	for (seq = 0; (!p->count || f->sent < p->count) && !*ctl_stop_flag(); f->sent++) {
		due = start + f->sent * p->interval;
		now = clock_now();
		if (due > now) {
			ts.tv_sec = (time_t)((due - now) / 1000000000);
			ts.tv_nsec = (long)((due - now) % 1000000000);
			nanosleep(&ts, NULL);
		}
		if (*ctl_stop_flag())
			break;
		echo_build(s, buf, seq, p->size, false);
		refused = send(s->fd, buf, p->size, 0) < 0;
		memset(&r, 0, sizeof(r));
		if (!refused)
			await(s, seq, &r, &refused);
		show(p, f->sent, &r, refused, f);
		/* stamps count what was sent */
		seq += !refused || r.t1;
	}
}

int peer_ping(int argc, char **argv)
{
	struct echo_options opt = { .port = ECHO_PORT, .priority = -1 };
	struct ping p = { .interval = 1000000000, .size = 64 };
	struct figures f = { 0 };
	struct echo_sock s;
	char why[160];
	int err;

	err = parse(argc, argv, &p);
	if (!err)
		err = get_port(&opt.port);
	if (err)
		return err;
	opt.dscp = p.dscp;
	if (echo_open(&s, p.host, &opt, why, sizeof(why)))
		return ctl_error("%s", why);
	out_begin(true);
	run(&p, &s, &f);
	echo_close(&s);
	if (!ctl.json)
		out_line("%llu of %llu answered; round trip min/mean/max %.3f/%.3f/%.3f us",
			 (unsigned long long)f.answered, (unsigned long long)f.sent, f.min / 1e3,
			 f.answered ? f.sum / f.answered / 1e3 : 0, f.max / 1e3);
	out_end();
	return f.answered ? CTL_OK : CTL_SILENT;
}
