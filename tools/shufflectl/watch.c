// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl op watch: the running operations, drawn again and again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/shuffle_netlink.h>
#include <netlink/attr.h>

#include "clock.h"
#include "objects.h"
#include "record.h"
#include "shufflectl.h"

#define MAX_OPS	256

struct seen {
	uint64_t	id, socket;
	uint64_t	done, total;	/* bytes sent and received */
	uint64_t	age, deadline;	/* ns */
	uint64_t	granted;
	uint32_t	rank, members, resends, state;
	bool		has_deadline;
};

struct frame {
	struct seen	op[MAX_OPS];
	unsigned int	n;
	unsigned int	more;		/* that did not fit */
	uint64_t	at;
};

static int take(const struct genl *g, struct frame *f)
{
	const struct shuffle_attr_set *set = &shuffle_attr_set_op;
	struct nlattr *tb[GENL_MAX_ATTRS];
	struct nl_reply reply;
	unsigned int i;
	int err;

	f->n = 0;
	f->more = 0;
	err = genl_talk(g, genl_request(g, SHUFFLE_CMD_OP_GET, true),
			genl_op(SHUFFLE_CMD_OP_GET), &reply);
	f->at = clock_now();
	for (i = 0; i < reply.n && !err; i++) {
		struct seen *s = &f->op[f->n];

		if (genl_parse(reply.msg[i], set, tb))
			continue;
		if (f->n == MAX_OPS) {
			f->more++;
			continue;
		}
		s->id = genl_u64(set, tb, SHUFFLE_A_OP_OP_ID);
		s->socket = genl_u64(set, tb, SHUFFLE_A_OP_SOCKET);
		s->state = genl_u64(set, tb, SHUFFLE_A_OP_STATE);
		s->rank = genl_u64(set, tb, SHUFFLE_A_OP_RANK);
		s->members = genl_u64(set, tb, SHUFFLE_A_OP_MEMBERS);
		s->total = genl_u64(set, tb, SHUFFLE_A_OP_TX_BYTES) +
			   genl_u64(set, tb, SHUFFLE_A_OP_RX_BYTES);
		s->done = genl_u64(set, tb, SHUFFLE_A_OP_TX_SENT) +
			  genl_u64(set, tb, SHUFFLE_A_OP_RX_RECEIVED);
		s->granted = genl_u64(set, tb, SHUFFLE_A_OP_RX_GRANTED);
		s->age = genl_u64(set, tb, SHUFFLE_A_OP_AGE);
		s->resends = genl_u64(set, tb, SHUFFLE_A_OP_RESENDS);
		s->has_deadline = tb[SHUFFLE_A_OP_DEADLINE];
		s->deadline = genl_u64(set, tb, SHUFFLE_A_OP_DEADLINE);
		f->n++;
	}
	nl_reply_free(&reply);
	return err;
}

/* Bytes per second since the last frame, or since the start of the operation. */
static uint64_t rate_of(const struct seen *s, const struct frame *now, const struct frame *was)
{
	uint64_t ns = s->age, bytes = s->done;
	unsigned int i;

	for (i = 0; i < was->n; i++) {
		if (was->op[i].id != s->id || was->op[i].socket != s->socket)
			continue;
		ns = now->at - was->at;
		bytes = s->done > was->op[i].done ? s->done - was->op[i].done : 0;
	}
	return ns ? (double)bytes * 1e9 / ns : 0;
}

static void draw_bar(unsigned int percent, unsigned int width)
{
	unsigned int full = percent * width / 100, i;

	putchar('[');
	for (i = 0; i < width; i++)
		putchar(i < full ? '#' : '.');
	putchar(']');
}

static void draw_op(const struct seen *s, uint64_t rate, unsigned int width)
{
	static const unsigned int fixed = 86;
	unsigned int percent = s->total ? (double)s->done * 100 / s->total : 0;
	unsigned int bar = width > fixed + 10 ? width - fixed : 10;
	char done[24], total[24], per_s[24], age[24], left[24], buf[24];
	const struct shuffle_attr *state = &shuffle_attr_set_op.attr[SHUFFLE_A_OP_STATE];

	if (bar > 40)
		bar = 40;
	if (percent > 100)
		percent = 100;
	printf("%-12" PRIu64 " %4u/%-4u %-7s ", s->id, s->rank, s->members,
	       record_enum(state, s->state, buf, sizeof(buf)));
	draw_bar(percent, bar);
	printf(" %3u%% %9s/%-9s %10s", percent, out_human(s->done, OUT_BYTES, done, sizeof(done)),
	       out_human(s->total, OUT_BYTES, total, sizeof(total)),
	       out_human(rate, OUT_BYTES_PER_S, per_s, sizeof(per_s)));
	printf(" %9s", out_human(s->age, OUT_NS, age, sizeof(age)));
	if (s->has_deadline)
		printf(" -%s", out_human(s->deadline, OUT_NS, left, sizeof(left)));
	if (s->resends)
		printf(" %u resends", s->resends);
	putchar('\n');
}

static void draw(const struct frame *now, const struct frame *was, bool screen)
{
	struct winsize w = { 0 };
	unsigned int width = 100, height = 0, i;
	char stamp[40];

	if (screen && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col) {
		width = w.ws_col;
		height = w.ws_row;
	}
	clock_stamp(stamp, sizeof(stamp));
	if (screen)
		fputs("\033[H\033[J", stdout);
	printf("%s  %u operations%s%s\n", stamp, now->n + now->more, ctl.netns ? " in " : "",
	       ctl.netns ? ctl.netns : "");
	if (now->n)
		printf("%-12s %9s %-7s %s\n", "operation", "rank", "state",
		       "progress (sent and received), rate, age, time left");
	for (i = 0; i < now->n; i++) {
		if (height > 4 && i + 4 > height) {
			printf("... and %u more\n", now->n + now->more - i);
			break;
		}
		draw_op(&now->op[i], rate_of(&now->op[i], now, was), width);
	}
	if (i == now->n && now->more)
		printf("... and %u more\n", now->more);
	fflush(stdout);
}

static void print_json(const struct frame *now, const struct frame *was)
{
	char stamp[40];
	unsigned int i;

	clock_stamp(stamp, sizeof(stamp));
	out_begin(true);
	out_open(NULL);
	out_str("time", stamp);
	out_list("ops");
	for (i = 0; i < now->n; i++) {
		const struct seen *s = &now->op[i];
		char buf[24];

		out_open(NULL);
		out_u64("op_id", s->id, OUT_PLAIN);
		out_u64("socket", s->socket, OUT_PLAIN);
		out_u64("rank", s->rank, OUT_PLAIN);
		out_u64("members", s->members, OUT_PLAIN);
		out_str("state", record_enum(&shuffle_attr_set_op.attr[SHUFFLE_A_OP_STATE],
					     s->state, buf, sizeof(buf)));
		out_u64("done_bytes", s->done, OUT_PLAIN);
		out_u64("total_bytes", s->total, OUT_PLAIN);
		out_u64("bytes_per_second", rate_of(s, now, was), OUT_PLAIN);
		out_u64("age", s->age, OUT_PLAIN);
		out_u64("resends", s->resends, OUT_PLAIN);
		out_close();
	}
	out_list_end();
	out_close();
	out_end();
}

/**
 * watch_run() - shufflectl op watch
 * @argc: number of words
 * @argv: -i SECONDS, -c COUNT
 *
 * Return: enum ctl_exit.
 */
int watch_run(int argc, char **argv)
{
	bool screen = !ctl.json && isatty(STDOUT_FILENO);
	volatile int *stop = ctl_stop_flag();
	static struct frame frame[2];
	struct clock_options o;
	unsigned int now = 0;
	struct genl g;
	int err;

	err = clock_parse(&argc, &argv, &o, NULL);
	if (err)
		return err;
	if (argc)
		return ctl_usage("\"%s\" means nothing here", argv[0]);
	if (!o.interval)
		o.interval = 1;
	err = genl_open(&g, false);
	if (err)
		return err;
	do {
		err = take(&g, &frame[now]);
		if (err)
			break;
		if (ctl.json)
			print_json(&frame[now], &frame[!now]);
		else
			draw(&frame[now], &frame[!now], screen);
		now = !now;
		if (o.count && !--o.count)
			break;
	} while (!*stop && clock_sleep(o.interval) && !*stop);
	genl_close(&g);
	return err;
}
