// SPDX-License-Identifier: GPL-2.0-or-later
/* shufflectl: the command line. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "objects.h"
#include "shufflectl.h"

#define VERSION	"0.2.0"

struct ctl_options ctl;

static volatile int stop;

static const struct ctl_command objects[] = {
	{ "op",		op_object },
	{ "peer",	peer_object },
	{ "socket",	socket_object },
	{ "config",	config_object },
	{ "stats",	stats_object },
	{ "qdisc",	qdisc_object },
	{ "monitor",	monitor_object },
	{ "topology",	topology_object },
	{ "relay",	relay_object },
	{ "overlay",	overlay_object },
	{ NULL,		NULL },
};

static const char usage_text[] =
	"usage: shufflectl [OPTIONS] OBJECT {COMMAND | help}\n"
	"       shufflectl [OPTIONS] -b FILE\n"
	"\n"
	"OBJECT := { op | peer | socket | config | stats | qdisc | monitor | topology |\n"
	"            relay | overlay }\n"
	"OPTIONS := { -j[son] | -p[retty] | -s[tatistics] | -n[etns] NAME | -k[eep-going] |\n"
	"             -b[atch] FILE | -V[ersion] | -h[elp] }\n"
	"\n"
	"Without a COMMAND: show.  Any word may be shortened while it stays unambiguous.\n"
	"Exit status: 0 done; 1 bad command line; 2 the kernel refused; 3 no module,\n"
	"namespace, device or file; 4 it would destroy something (see --force).\n"
	"\n"
	"shufflectl OBJECT help and shufflectl-OBJECT(8) say more.\n";

static void say(const char *prefix, const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs(prefix, stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

/**
 * ctl_error() - say what went wrong
 * @fmt: as printf(), without "Error: " and newline
 *
 * Return: CTL_ENV, to be returned in turn.
 */
int ctl_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("Error: ", fmt, ap);
	va_end(ap);
	return CTL_ENV;
}

/**
 * ctl_usage() - say what is wrong with the command line
 * @fmt: as printf()
 *
 * Return: CTL_USAGE.
 */
int ctl_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("Error: ", fmt, ap);
	va_end(ap);
	return CTL_USAGE;
}

/**
 * ctl_warn() - say what the user should know, on standard error
 * @fmt: as printf()
 */
void ctl_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("Warning: ", fmt, ap);
	va_end(ap);
}

/**
 * ctl_is_help() - the user asks for help
 * @word: of the command line
 *
 * Return: true if so.
 */
bool ctl_is_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "-h") || !strcmp(word, "--help");
}

/* Index of a word or of the only one that begins like it, -1: none, -2: several. */
static int find(const char *word, const struct ctl_command *cmds)
{
	size_t len = strlen(word);
	int i, found = -1;

	for (i = 0; cmds[i].name; i++) {
		if (!strcmp(cmds[i].name, word))
			return i;
		if (len && !strncmp(cmds[i].name, word, len))
			found = found == -1 ? i : -2;
	}
	return found;
}

/**
 * ctl_match() - find a word that may be shortened
 * @what: what the words are, for messages
 * @word: the word
 * @cmds: those that there are, ended by a NULL name
 *
 * Return: its index, or -1 after a message.
 */
int ctl_match(const char *what, const char *word, const struct ctl_command *cmds)
{
	char all[1024] = "", some[1024] = "";
	int i, found = find(word, cmds), n = 0;

	if (found >= 0)
		return found;

	for (i = 0; cmds[i].name; i++) {
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
			 *all ? ", " : "", cmds[i].name);
		if (!*word || strncmp(cmds[i].name, word, strlen(word)))
			continue;
		snprintf(some + strlen(some), sizeof(some) - strlen(some), "%s%s",
			 *some ? ", " : "", cmds[i].name);
		n++;
	}
	if (n)
		ctl_usage("%s \"%s\" is ambiguous: %s", what, word, some);
	else
		ctl_usage("%s \"%s\" is unknown; there are %s", what, word, all);
	return -1;
}

/**
 * ctl_dispatch() - run a command of an object
 * @object: its name
 * @usage: what "help" prints
 * @cmds: its commands; the first one is the default
 * @argc: number of words behind the object
 * @argv: these words
 *
 * What is no command, but an option, a number, an address or, in the only command
 * of an object, whatever it is, belongs to the default command.
 *
 * Return: enum ctl_exit.
 */
int ctl_dispatch(const char *object, const char *usage, const struct ctl_command *cmds,
		 int argc, char **argv)
{
	char what[40];
	int i;

	if (argc && ctl_is_help(argv[0])) {
		fputs(usage, stdout);
		return CTL_OK;
	}
	if (!argc || argv[0][0] == '-')
		return cmds[0].run(argc, argv);
	if (find(argv[0], cmds) == -1 &&
	    (!cmds[1].name || (argv[0][0] >= '0' && argv[0][0] <= '9')))
		return cmds[0].run(argc, argv);
	snprintf(what, sizeof(what), "%s command", object);
	i = ctl_match(what, argv[0], cmds);
	if (i < 0)
		return CTL_USAGE;
	if (argc > 1 && ctl_is_help(argv[1])) {
		fputs(usage, stdout);
		return CTL_OK;
	}
	return cmds[i].run(argc - 1, argv + 1);
}

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

/**
 * ctl_stop_flag() - for commands that run until they are interrupted
 *
 * Return: a flag that SIGINT and SIGTERM set from now on.
 */
volatile int *ctl_stop_flag(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	return &stop;
}

static int run_object(int argc, char **argv)
{
	int i = ctl_match("object", argv[0], objects);

	if (i < 0)
		return CTL_USAGE;
	return objects[i].run(argc - 1, argv + 1);
}

static int enter_netns(const char *name)
{
	char path[512];
	int fd, err;

	if (strchr(name, '/'))
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ctl_error("network namespace \"%s\": %s", name, strerror(errno));
	err = setns(fd, CLONE_NEWNET) ? errno : 0;
	close(fd);
	if (err)
		return ctl_error("network namespace \"%s\": %s", name, strerror(err));
	return CTL_OK;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json",	no_argument,		NULL, 'j' },
		{ "pretty",	no_argument,		NULL, 'p' },
		{ "statistics",	no_argument,		NULL, 's' },
		{ "netns",	required_argument,	NULL, 'n' },
		{ "keep-going",	no_argument,		NULL, 'k' },
		{ "batch",	required_argument,	NULL, 'b' },
		{ "version",	no_argument,		NULL, 'V' },
		{ "Version",	no_argument,		NULL, 'V' },
		{ "help",	no_argument,		NULL, 'h' },
		{ NULL,		0,			NULL, 0 },
	};
	const char *batch = NULL;
	int c, err;

	opterr = 0;
	/* "+": options of commands stand behind the object */
	while ((c = getopt_long(argc, argv, "+:jpsn:kb:Vh", longs, NULL)) != -1) {
		switch (c) {
		case 'j':
			ctl.json = true;
			break;
		case 'p':
			ctl.json = true;
			ctl.pretty = true;
			break;
		case 's':
			ctl.stats = true;
			break;
		case 'n':
			ctl.netns = optarg;
			break;
		case 'k':
			ctl.keep_going = true;
			break;
		case 'b':
			batch = optarg;
			break;
		case 'V':
			puts("shufflectl " VERSION);
			return CTL_OK;
		case 'h':
			fputs(usage_text, stdout);
			return CTL_OK;
		case ':':
			return ctl_usage("option %s wants an argument", argv[optind - 1]);
		default:
			return ctl_usage("option \"%s\" is unknown; see shufflectl --help",
					 argv[optind - 1]);
		}
	}
	if (ctl.netns) {
		err = enter_netns(ctl.netns);
		if (err)
			return err;
	}
	argc -= optind;
	argv += optind;
	if (batch) {
		if (argc)
			return ctl_usage("with -b, commands come from the file");
		return ctl_batch(batch, run_object);
	}
	if (!argc) {
		fputs(usage_text, stderr);
		return CTL_USAGE;
	}
	if (ctl_is_help(argv[0])) {
		fputs(usage_text, stdout);
		return CTL_OK;
	}
	err = run_object(argc, argv);
	if (fflush(stdout) || ferror(stdout))
		return ctl_error("standard output: %s", strerror(errno));
	return err;
}
