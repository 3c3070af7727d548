// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of an input or a builder, and the file that names the members. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics.h"
#include "option.h"

/* Tickets without times: with more, time-slices come side by side, and none is whole sooner. */
#define RING_NONE	4

static const char *const schedule_names[] = { "dfs", "none", "bench", NULL };

enum {
	OPT_MEMBERS = 1000, OPT_RANK, OPT_STREAM, OPT_SCHEDULE, OPT_SLICES, OPT_INTERVALS,
	OPT_TICKETS, OPT_PIECE, OPT_TIMEOUT, OPT_HISTORY, OPT_GATE, OPT_SPEEDUP, OPT_CHANGE,
	OPT_THETA, OPT_SOURCE, OPT_SINK, OPT_VERIFY, OPT_PROCESS, OPT_SLOW, OPT_CLOCK,
	OPT_JSON, OPT_LOG, OPT_METRICS, OPT_QUIET, OPT_HELP,
};

static const struct option_def opts[] = {
	{ "members", OPT_MEMBERS, "FILE", "lines: input ADDRESS:PORT, or builder ADDRESS:PORT" },
	{ "rank", OPT_RANK, "N", "which of the inputs, or builders, we are" },
	{ "stream", OPT_STREAM, "NUMBER", "of the stream (1)" },
	{ "schedule", OPT_SCHEDULE, "NAME", "none: whenever there is a ticket; dfs: at times from\n"
	  "the builders; bench: each input to one builder (none)" },
	{ "slices", OPT_SLICES, "N", "time-slices of an interval (1000)" },
	{ "intervals", OPT_INTERVALS, "N", "how many; 0: until the sources end (0)" },
	{ "tickets", OPT_TICKETS, "N", "of a pair of input and builder (4 with the schedule\n"
	  "none, otherwise 16)" },
	{ "piece", OPT_PIECE, "BYTES", "of an input for a time-slice, at most (65536)" },
	{ "timeout", OPT_TIMEOUT, "MS", "after which a silent member has failed (1000)" },
	{ "history", OPT_HISTORY, "N", "intervals that proposals look back at (10)" },
	{ "gate", OPT_GATE, "PERCENT", "faster if the lags deviate by at most this (10)" },
	{ "speedup", OPT_SPEEDUP, "PERCENT", "by this (5)" },
	{ "change", OPT_CHANGE, "PERCENT", "durations differ so much: another level; 0: the\n"
	  "source's rule (10)" },
	{ "theta", OPT_THETA, "PART", "of the acknowledgments before the next interval\n"
	  "(0.95)" },
	{ "source", OPT_SOURCE, "FROM", "input: file, FIFO, - or udp:ADDRESS:PORT\n"
	  "(generated data)" },
	{ "sink", OPT_SINK, "TO", "builder: folder, FIFO, pipe or - (count only)" },
	{ "verify", OPT_VERIFY, NULL, "builder: compare every byte with generated data" },
	{ "process", OPT_PROCESS, "US", "builder: works so long on a time-slice (0)" },
	{ "slow", OPT_SLOW, "A-B,PERCENT", "input: takes so much longer in intervals A to B" },
	{ "clock", OPT_CLOCK, "S,PPM", "its clock is wrong by so much, and drifts" },
	{ "json", OPT_JSON, NULL, "log and result as JSON" },
	{ "log", OPT_LOG, "FILE", "a line for each interval (a terminal's standard error)" },
	{ "metrics", OPT_METRICS, "ADDRESS:PORT", "answer Prometheus, and monitor, there" },
	{ "quiet", OPT_QUIET, NULL, "no lines for intervals" },
	{ "help", OPT_HELP, NULL, "this text" },
};

#define N(a)	(sizeof(a) / sizeof((a)[0]))

static void usage(void)
{
	printf("usage: shuffle-stream input|builder --members FILE --rank N [OPTION...]\n"
	       "       shuffle-stream monitor [--once] [--json] ADDRESS:PORT...\n"
	       "       shuffle-stream plot -o FILE LOG...\n\n"
	       "Builds time-slices over AF_SHUFFLE sockets.  See shuffle-stream(1).\n\n");
	option_table(opts, N(opts), 26);
}

/* An IP address and a port as the address of datagrams. */
static void to_udp(struct run_member *m)
{
	if (m->addr.shs_ip_family == AF_INET) {
		struct sockaddr_in *in = (struct sockaddr_in *)&m->udp;

		in->sin_family = AF_INET;
		in->sin_port = m->addr.shs_port;
		memcpy(&in->sin_addr, m->addr.shs_addr, 4);
		m->udp_len = sizeof(*in);
	} else {
		struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&m->udp;

		in6->sin6_family = AF_INET6;
		in6->sin6_port = m->addr.shs_port;
		in6->sin6_scope_id = m->addr.shs_scope_id;
		memcpy(&in6->sin6_addr, m->addr.shs_addr, 16);
		m->udp_len = sizeof(*in6);
	}
}

static void add_member(struct run *r, const char *file, unsigned int line, char *text)
{
	struct run_member m = { .udp_len = 0 };
	u32 n = r->cfg.inputs + r->cfg.builders;
	char kind[16], where[100], more[2], *port, *host = where;
	bool builder;

	if (sscanf(text, "%15s %99s %1s", kind, where, more) != 2 ||
	    (strcmp(kind, "input") && strcmp(kind, "builder")))
		die("%s:%u: 'input ADDRESS:PORT' or 'builder ADDRESS:PORT' is expected", file,
		    line);
	builder = *kind == 'b';
	port = strrchr(where, ':');
	if (port)
		*port++ = '\0';
	if (*host == '[' && port && port[-2] == ']') {
		port[-2] = '\0';
		host++;
	}
	if (!port || atoi(port) < 1 || atoi(port) > 65535 ||
	    shuffle_addr(&m.addr, host, (uint16_t)atoi(port)))
		die("%s:%u: %s: no address with a port", file, line, where);
	to_udp(&m);
	if (!builder && r->cfg.builders)
		die("%s:%u: inputs come before builders", file, line);
	if (n >= SHUFFLE_MAX_MEMBERS)
		die("%s:%u: more than %d members", file, line, SHUFFLE_MAX_MEMBERS);
	r->member = realloc(r->member, (n + 1) * sizeof(*r->member));
	if (!r->member)
		die("out of memory");
	r->member[n] = m;
	if (builder)
		r->cfg.builders++;
	else
		r->cfg.inputs++;
}

static void read_members(struct run *r, const char *file)
{
	FILE *f = fopen(file, "r");
	unsigned int line = 0;
	char text[200];

	if (!f)
		die("%s: %s", file, strerror(errno));
	while (fgets(text, sizeof(text), f)) {
		line++;
		if (strlen(text) == sizeof(text) - 1)
			die("%s:%u: the line is too long", file, line);
		text[strcspn(text, "#\n")] = '\0';
		if (text[strspn(text, " \t\r")])
			add_member(r, file, line, text);
	}
	if (ferror(f))
		die("%s: %s", file, strerror(errno));
	fclose(f);
	if (!r->cfg.inputs || !r->cfg.builders)
		die("%s: a stream has inputs and builders", file);
}

static void set_slow(struct run *r, const char *s)
{
	char *end;

	r->slow_from = (u64)option_part("slow", s, s, &end, 1, 1e9);
	if (*end != '-')
		die("--slow %s: A-B,PERCENT is expected", s);
	r->slow_to = (u64)option_part("slow", s, end + 1, &end, (double)r->slow_from, 1e9);
	if (*end != ',')
		die("--slow %s: A-B,PERCENT is expected", s);
	r->slow = (u32)(10 * option_part("slow", s, end + 1, &end, 0, 1000));
	if (*end)
		die("--slow %s: A-B,PERCENT is expected", s);
}

static void set_clock(struct run *r, const char *s)
{
	char *end;

	r->clock.offset = (s64)(1e9 * option_part("clock", s, s, &end, -10000, 10000));
	if (*end == ',')
		r->clock.ppb = (s64)(1e3 * option_part("clock", s, end + 1, &end, -1000, 1000));
	if (*end)
		die("--clock %s: S or S,PPM is expected", s);
}

static u64 whole_number(const char *name, const char *s)
{
	char *end;
	u64 v;

	errno = 0;
	v = strtoull(s, &end, 0);
	if (errno || *end || !*s || *s == '-')
		die("--%s %s: a whole number is expected", name, s);
	return v;
}

static void open_log(struct run *r, const char *file)
{
	r->log = strcmp(file, "-") ? fopen(file, "w") : stdout;
	if (!r->log)
		die("%s: %s", file, strerror(errno));
}

/* False: it is for others. */
static bool take_engine(struct run *r, int opt, const char *arg)
{
	switch (opt) {
	case OPT_SLICES:
		r->cfg.slices = option_whole("slices", arg, 1, STREAM_MAX_SLICES);
		return true;
	case OPT_TICKETS:
		r->cfg.ring = option_whole("tickets", arg, 1, 341);
		return true;
	case OPT_TIMEOUT:
		r->cfg.timeout = (s64)(1e6 * option_number("timeout", arg, 300, 3600000));
		return true;
	case OPT_HISTORY:
		r->cfg.history = option_whole("history", arg, 2, STREAM_MAX_HISTORY);
		return true;
	case OPT_GATE:
		r->cfg.gate = (u32)(10 * option_number("gate", arg, 0, 100));
		return true;
	case OPT_SPEEDUP:
		r->cfg.speedup = (u32)(10 * option_number("speedup", arg, 0, 50));
		return true;
	case OPT_CHANGE:
		r->cfg.change = (u32)(10 * option_number("change", arg, 0, 100));
		return true;
	case OPT_THETA:
		r->cfg.theta = (u32)(1000 * option_number("theta", arg, 0, 1));
		return true;
	}
	return false;
}

static void take(struct run *r, int opt, const char *arg)
{
	switch (opt) {
	case OPT_MEMBERS:
		read_members(r, arg);
		break;
	case OPT_RANK:
		r->rank = option_whole("rank", arg, 0, SHUFFLE_MAX_MEMBERS);
		break;
	case OPT_STREAM:
		r->id = whole_number("stream", arg);
		break;
	case OPT_SCHEDULE:
		r->schedule = option_choice("schedule", arg, schedule_names);
		break;
	case OPT_INTERVALS:
		r->intervals = option_whole("intervals", arg, 0, 1e9);
		break;
	case OPT_PIECE:
		r->piece = option_whole("piece", arg, 1, 64 << 20);
		break;
	case OPT_SOURCE:
		r->source = arg;
		break;
	case OPT_SINK:
		r->sink = arg;
		break;
	case OPT_VERIFY:
		r->verify = true;
		break;
	case OPT_PROCESS:
		r->process = (s64)(1e3 * option_number("process", arg, 0, 1e8));
		break;
	case OPT_SLOW:
		set_slow(r, arg);
		break;
	case OPT_CLOCK:
		set_clock(r, arg);
		break;
	case OPT_JSON:
		r->json = true;
		break;
	case OPT_LOG:
		open_log(r, arg);
		break;
	case OPT_METRICS:
		r->metrics = metrics_listen(arg);
		break;
	case OPT_QUIET:
		r->quiet = true;
		break;
	default:
		usage();
		exit(0);
	}
}

/* Members whose options differ must not take each other's status for their own. */
static u64 stream_id(const struct run *r)
{
	const u64 v[] = { r->id, r->cfg.inputs, r->cfg.builders, r->cfg.slices, r->cfg.ring,
			  r->piece, r->cfg.history, r->cfg.gate, r->cfg.speedup, r->cfg.change,
			  r->cfg.theta };
	u64 h = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < N(v); i++)
		h = (h ^ v[i]) * 0x100000001b3ULL;
	return h;
}

/* Each input has one builder of its own, and knows no others. */
static void make_pairs(struct run *r)
{
	u32 i = r->rank, inputs = r->cfg.inputs;

	if (inputs != r->cfg.builders)
		die("--schedule bench: as many inputs as builders are needed");
	r->member[0] = r->member[i];
	r->member[1] = r->member[inputs + i];
	r->self = r->self >= inputs;
	r->rank = 0;
	r->cfg.inputs = 1;
	r->cfg.builders = 1;
	r->id += i;
}

static void check(struct run *r, bool builder)
{
	u32 n = builder ? r->cfg.builders : r->cfg.inputs;
	const char *wrong = stream_config_error(&r->cfg);

	if (!r->member)
		die("--members FILE is needed");
	if (r->rank >= n)
		die("--rank %u: there are %u %ss", r->rank, n, builder ? "builder" : "input");
	if (wrong)
		die("%s", wrong);
	if (builder && (r->source || r->slow))
		die("--source and --slow are for inputs");
	if (!builder && (r->sink || r->verify || r->process))
		die("--sink, --verify and --process are for builders");
}

/**
 * run_options() - read the command line
 * @r: to be filled in; the program ends if it is wrong
 * @builder: of a builder
 * @argc: arguments, without "input" or "builder"
 * @argv: likewise
 */
void run_options(struct run *r, bool builder, int argc, char **argv)
{
	u32 i, n, ring;
	int opt;

	memset(r, 0, sizeof(*r));
	stream_defaults(&r->cfg, 0, 0);
	ring = r->cfg.ring;
	r->cfg.ring = 0;
	r->schedule = RUN_NONE;
	r->cfg.slices = 1000;
	r->id = 1;
	r->piece = 65536;
	r->rank = UINT32_MAX;
	r->metrics = -1;
	while ((opt = option_next(argc, argv, opts, N(opts))) != -1)
		if (!take_engine(r, opt, optarg))
			take(r, opt, optarg);
	if (optind < argc)
		die("%s: not understood, try --help", argv[optind]);
	if (!r->cfg.ring)
		r->cfg.ring = r->schedule == RUN_NONE ? RING_NONE : ring;
	check(r, builder);
	r->self = builder ? r->cfg.inputs + r->rank : r->rank;
	if (r->schedule == RUN_BENCH)
		make_pairs(r);
	r->id = stream_id(r);
	n = r->cfg.inputs + r->cfg.builders;
	r->addr = memory(n, sizeof(*r->addr));
	for (i = 0; i < n; i++)
		r->addr[i] = r->member[i].addr;
	if (!r->log && !r->quiet && isatty(STDERR_FILENO))
		r->log = stderr;
	r->clock.start = run_monotonic();
}
