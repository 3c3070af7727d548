// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle-saba profile: run a command with less and less bandwidth (thesis, 4.2.1).
 *
 * The table is written after each run, so that a profile which was interrupted goes on
 * where it was.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "parse.h"
#include "shufflectl.h"

#define USAGE "usage: shuffle-saba profile APP --nic [NETNS:]DEV... --rate RATE [OPTIONS] -- COMMAND...\n"

struct profile {
	struct nic	nic[CLI_NICS];
	unsigned int	nics;
	uint64_t	rate;
	const char	*hook;
	const char	*table;
	const char	*svg;
	double		percent[SABA_POINTS];
	unsigned int	percents;
	unsigned int	repeat;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = sig;
}

static int help(void)
{
	printf(USAGE "\n"
	       "Runs COMMAND with every NIC limited to parts of RATE and notes how long it takes.\n\n"
	       "  --nic [NETNS:]DEV     a device that is limited; as many as hosts have\n"
	       "  --rate RATE           of the links, as 25gbit\n"
	       "  --hook COMMAND        limits NICs elsewhere: run by sh before each run, and at the\n"
	       "                        end with 100, with SABA_PERCENT and SABA_RATE (bit/s) set\n"
	       "  --percent P,P,...     default 100,90,75,50,25,10,5\n"
	       "  --repeat N            runs with each (default 3)\n"
	       "  --table FILE          default " CLI_TABLE "\n"
	       "  --svg FILE            draw the curve\n");
	return CTL_OK;
}

static int read_percents(const char *text, struct profile *p)
{
	const char *s = text;
	char *end;

	for (p->percents = 0;; s = end + 1) {
		double v = strtod(s, &end);

		if (end == s || !(v > 0 && v <= 100) || p->percents == SABA_POINTS ||
		    (*end && *end != ','))
			return ctl_usage("--percent %s: numbers above 0 and up to 100, with commas "
					 "between them", text);
		p->percent[p->percents++] = v;
		if (!*end)
			return CTL_OK;
	}
}

static int run_hook(const struct profile *p, double percent)
{
	char text[40];
	int status;

	if (!p->hook)
		return 0;
	snprintf(text, sizeof(text), "%g", percent);
	setenv("SABA_PERCENT", text, 1);
	snprintf(text, sizeof(text), "%.0f", p->rate * percent / 100);
	setenv("SABA_RATE", text, 1);
	status = system(p->hook);
	if (status)
		ctl_error("the hook has failed: %s", p->hook);
	return status ? -EIO : 0;
}

static int limit_all(const struct profile *p, double percent)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < p->nics && !err; i++)
		err = nic_limit(&p->nic[i], p->rate * percent / 100);
	return err ? err : run_hook(p, percent);
}

static int restore_all(const struct profile *p)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < p->nics; i++)
		if (nic_restore(&p->nic[i]))
			err = -EIO;
	if (run_hook(p, 100))
		err = -EIO;
	return err;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* How long the command takes; negative after a message. */
static double one_run(char **command)
{
	double start = seconds();
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		execvp(command[0], command);
		ctl_error("%s: %s", command[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0)
		return ctl_error("fork: %s", strerror(errno)), -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		if (interrupted)
			kill(pid, SIGTERM);
	if (interrupted)
		return ctl_error("interrupted; the next call goes on from here"), -1;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return ctl_error("%s has failed (%s %d)", command[0],
				 WIFEXITED(status) ? "status" : "signal",
				 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)), -1;
	return seconds() - start;
}

static int all_runs(const struct profile *p, struct table *t, const char *name, char **command)
{
	struct table_app *app = table_find(t, name);
	unsigned int r, i, done = 0;

	if (!app)
		app = table_add(t, name);
	if (!app)
		return ctl_error("%s: no room for another application", p->table);
	for (r = 0; r < p->repeat; r++)
		for (i = 0; i < p->percents; i++) {
			struct table_sample *s = table_sample(app, p->percent[i]);
			double took;

			done++;
			if (!s)
				return ctl_error("%s: too many bandwidths", name);
			if (s->n > r)
				continue;
			if (limit_all(p, p->percent[i]))
				return CTL_KERNEL;
			took = one_run(command);
			if (took < 0)
				return CTL_ENV;
			s->seconds[s->n++] = took;
			fprintf(stderr, "%s: %g %%: %.3f s (run %u of %u)\n", name, p->percent[i],
				took, done, p->repeat * p->percents);
			if (table_write(p->table, t))
				return CTL_ENV;
		}
	return CTL_OK;
}

static int read_options(int argc, char **argv, struct profile *p)
{
	static const struct option longs[] = {
		{ "nic",	required_argument,	NULL, 'n' },
		{ "rate",	required_argument,	NULL, 'r' },
		{ "hook",	required_argument,	NULL, 'k' },
		{ "percent",	required_argument,	NULL, 'p' },
		{ "repeat",	required_argument,	NULL, 'N' },
		{ "table",	required_argument,	NULL, 't' },
		{ "svg",	required_argument,	NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t v;
	int opt;

	while ((opt = getopt_long(argc, argv, "+", longs, NULL)) != -1) {
		switch (opt) {
		case 'n':
			if (p->nics == CLI_NICS || nic_parse(optarg, &p->nic[p->nics++]))
				return ctl_usage("--nic %s: a device or NETNS:DEVICE is expected",
						 optarg);
			break;
		case 'r':
			if (parse_unit(optarg, OUT_BPS, &p->rate) || p->rate < 160000)
				return ctl_usage("--rate %s: no rate, as 25gbit is", optarg);
			break;
		case 'k':
			p->hook = optarg;
			break;
		case 'p':
			if (read_percents(optarg, p))
				return CTL_USAGE;
			break;
		case 'N':
			if (parse_u64(optarg, &v) || v < 1 || v > TABLE_REPEATS)
				return ctl_usage("--repeat %s: 1 to %d are expected", optarg,
						 TABLE_REPEATS);
			p->repeat = v;
			break;
		case 't':
			p->table = optarg;
			break;
		case 's':
			p->svg = optarg;
			break;
		default:
			fputs(USAGE, stderr);
			return CTL_USAGE;
		}
	}
	return CTL_OK;
}

/**
 * cmd_profile() - shuffle-saba profile
 * @argc: number of words behind the command
 * @argv: the words
 *
 * Return: enum ctl_exit.
 */
int cmd_profile(int argc, char **argv)
{
	struct profile p = {
		.table = CLI_TABLE, .repeat = 3, .percents = 7,
		.percent = { 100, 90, 75, 50, 25, 10, 5 },
	};
	struct sigaction sa = { .sa_handler = on_signal };
	const char *name = argc > 1 ? argv[1] : NULL;
	struct table t;
	int err;

	if (name && (!strcmp(name, "--help") || !strcmp(name, "help")))
		return help();
	if (!name || !table_name_ok(name))
		return ctl_usage("profile wants a name of letters, digits, '.', '_' and '-'");
	err = read_options(argc - 1, argv + 1, &p);
	if (err)
		return err;
	argv += 1 + optind;
	if (!*argv)
		return ctl_usage("profile wants a command, behind --");
	if ((!p.nics && !p.hook) || !p.rate)
		return ctl_usage("profile wants --rate, and --nic or --hook");
	if (table_read(p.table, true, &t))
		return CTL_ENV;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	err = all_runs(&p, &t, name, argv);
	if (restore_all(&p) && !err)
		err = CTL_KERNEL;
	if (!err)
		err = cli_show_app(table_find(&t, name), p.svg);
	table_free(&t);
	return err;
}
