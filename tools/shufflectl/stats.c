// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl stats: counters of the namespace, and what becomes of them. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <linux/shuffle_netlink.h>
#include <netlink/attr.h>

#include "clock.h"
#include "objects.h"
#include "parse.h"
#include "record.h"
#include "shufflectl.h"

static const char usage[] =
	"usage: shufflectl stats [show] [-z] [-i SECONDS] [-c COUNT] [NAME]...\n"
	"\n"
	"  -i  every so many seconds, what has been added since, and that per second\n"
	"  -c  so often, then end\n"
	"  -z  zeros, too (JSON always has them)\n"
	"\n"
	"NAME may hold * and ?; upper and lower case are the same.  With -s before the\n"
	"object, text also says what each counter counts.  Counters are never reset.\n";

#define MAX_COUNTERS	256

struct counter {
	char		name[32];
	char		*doc;
	uint64_t	value;
};

struct sample {
	struct counter	counter[MAX_COUNTERS];
	unsigned int	n;
	uint64_t	at;	/* ns, monotonic */
};

static bool zeros;
static int n_names;
static char **names;

static bool wanted(const char *name)
{
	int i;

	for (i = 0; i < n_names; i++)
		if (!fnmatch(names[i], name, FNM_CASEFOLD))
			return true;
	return !n_names;
}

static void sample_free(struct sample *s)
{
	unsigned int i;

	for (i = 0; i < s->n; i++)
		free(s->counter[i].doc);
	s->n = 0;
}

static int take(const struct genl *g, struct sample *s)
{
	const struct shuffle_attr_set *set = &shuffle_attr_set_stat;
	struct nlattr *tb[GENL_MAX_ATTRS];
	struct nl_reply reply;
	unsigned int i;
	int err;

	s->n = 0;
	err = genl_talk(g, genl_request(g, SHUFFLE_CMD_STATS_GET, true),
			genl_op(SHUFFLE_CMD_STATS_GET), &reply);
	s->at = clock_now();
	for (i = 0; i < reply.n && !err && s->n < MAX_COUNTERS; i++) {
		struct counter *c = &s->counter[s->n];

		if (genl_parse(reply.msg[i], set, tb) || !tb[SHUFFLE_A_STAT_NAME] ||
		    !tb[SHUFFLE_A_STAT_VALUE] || !wanted(nla_get_string(tb[SHUFFLE_A_STAT_NAME])))
			continue;
		snprintf(c->name, sizeof(c->name), "%s", nla_get_string(tb[SHUFFLE_A_STAT_NAME]));
		c->doc = NULL;
		if (tb[SHUFFLE_A_STAT_DOC])
			c->doc = strdup(nla_get_string(tb[SHUFFLE_A_STAT_DOC]));
		c->value = genl_u64(set, tb, SHUFFLE_A_STAT_VALUE);
		s->n++;
	}
	nl_reply_free(&reply);
	if (!err && !s->n && n_names) {
		ctl_error("no counter is called \"%s\"", names[0]);
		err = CTL_KERNEL;
	}
	return err;
}

static void print_totals(const struct sample *s)
{
	unsigned int i;

	out_begin(false);
	for (i = 0; i < s->n; i++) {
		const struct counter *c = &s->counter[i];

		if (!c->value && !zeros && !n_names && !ctl.json)
			continue;
		if (ctl.json) {
			out_open(NULL);
			out_str("name", c->name);
			out_u64("value", c->value, OUT_PLAIN);
			if (c->doc)
				out_str("doc", c->doc);
			out_close();
		} else if (ctl.stats) {
			out_line("%-16s %16llu  %s", c->name, (unsigned long long)c->value,
				 c->doc ? c->doc : "");
		} else {
			out_line("%-16s %16llu", c->name, (unsigned long long)c->value);
		}
	}
	out_end();
}

static void print_difference(const struct sample *was, const struct sample *is)
{
	uint64_t ns = is->at - was->at ? is->at - was->at : 1;
	char stamp[40];
	unsigned int i;

	clock_stamp(stamp, sizeof(stamp));
	out_begin(true);
	out_open(NULL);
	if (ctl.json) {
		out_str("time", stamp);
		out_u64("interval_ns", ns, OUT_NS);
		out_list("counters");
	} else {
		out_title("time", "%s", stamp);
		out_line("%-16s %16s %16s", "", "added", "per second");
	}
	for (i = 0; i < is->n && i < was->n; i++) {
		uint64_t d = is->counter[i].value - was->counter[i].value;
		uint64_t rate = (double)d * 1e9 / ns + 0.5;

		if (!d && !zeros && !ctl.json)
			continue;
		if (ctl.json) {
			out_open(NULL);
			out_str("name", is->counter[i].name);
			out_u64("value", is->counter[i].value, OUT_PLAIN);
			out_u64("difference", d, OUT_PLAIN);
			out_u64("per_second", rate, OUT_PLAIN);
			out_close();
		} else {
			out_line("%-16s %16llu %16llu", is->counter[i].name, (unsigned long long)d,
				 (unsigned long long)rate);
		}
	}
	if (ctl.json)
		out_list_end();
	out_close();
	out_end();
}

static int live(const struct genl *g, double interval, uint64_t count)
{
	volatile int *stop = ctl_stop_flag();
	static struct sample sample[2];
	unsigned int now = 1;
	int err;

	err = take(g, &sample[0]);
	while (!err && !*stop && clock_sleep(interval)) {
		err = take(g, &sample[now]);
		if (err)
			break;
		print_difference(&sample[!now], &sample[now]);
		now = !now;
		sample_free(&sample[now]);
		if (count && !--count)
			break;
	}
	return err;
}

static int stats_show(int argc, char **argv)
{
	static struct sample s;
	struct clock_options o;
	struct genl g;
	int err;

	zeros = false;
	err = clock_parse(&argc, &argv, &o, &zeros);
	if (err)
		return err;
	n_names = argc;
	names = argv;
	err = genl_open(&g, false);
	if (err)
		return err;
	if (o.interval) {
		err = live(&g, o.interval, o.count);
	} else {
		err = take(&g, &s);
		if (!err)
			print_totals(&s);
		sample_free(&s);
	}
	genl_close(&g);
	return err;
}

int stats_object(int argc, char **argv)
{
	static const struct ctl_command cmds[] = { { "show", stats_show }, { NULL, NULL } };

	return ctl_dispatch("stats", usage, cmds, argc, argv);
}
