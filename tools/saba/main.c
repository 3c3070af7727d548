// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-saba: profiles of applications, and what the daemon does with them. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"
#include "out.h"
#include "parse.h"
#include "saba_client.h"
#include "shufflectl.h"

struct ctl_options ctl;

/* which daemon answers, and whether there are others */
static const char *daemon_path;
static bool several;

static const char usage_text[] =
	"usage: shuffle-saba [--json] [--pretty] COMMAND [WORDS]\n\n"
	"  profile APP --nic [NETNS:]DEV... --rate RATE -- COMMAND...\n"
	"                        run COMMAND with less and less bandwidth\n"
	"  table [APP]           what profiles have measured, and how well models fit\n"
	"  weights APP...        how these would share a link\n"
	"  run --app APP -- COMMAND...\n"
	"                        run COMMAND as an application: its packets are marked\n"
	"  show                  ports, applications, weights of shuffle-sabad\n"
	"  set APP PERCENT|auto  set a weight                         (CAP_NET_ADMIN)\n"
	"  reload                read the table again, take back ports (CAP_NET_ADMIN)\n"
	"  stop                  remove everything, and end the daemon (CAP_NET_ADMIN)\n\n"
	"shuffle-saba(1) says more.  $SHUFFLE_SABA_SOCKET: the daemon's socket,\n"
	"or several, with commas between them.\n";

static void say(const char *prefix, const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs(prefix, stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

/**
 * ctl_error() - say what went wrong, see program.h
 * @fmt: as printf()
 *
 * Return: CTL_ENV.
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
 * ctl_warn() - say what the user should know
 * @fmt: as printf()
 */
void ctl_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("Warning: ", fmt, ap);
	va_end(ap);
}

static int show_line(char *text, void *arg)
{
	char *save = NULL, *word = strtok_r(text, " ", &save), *kind = word;
	uint64_t v;

	(void)arg;
	if (!word || !strcmp(kind, "event"))
		return 0;
	if (!strcmp(kind, "error")) {
		ctl_error("%s", save);
		return 0;
	}
	if (!strcmp(kind, "ok"))
		return 0;
	out_open(NULL);
	while ((word = strtok_r(NULL, " ", &save))) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		if (!strcmp(word, "name"))
			out_title(kind, strcmp(kind, "port") ? "app %s" : "port %s", value);
		else if (!parse_u64(value, &v))
			out_u64(word, v, strcmp(word, "rate") ? OUT_PLAIN : OUT_BPS);
		else
			out_str(word, value);
	}
	if (several)
		out_str("daemon", daemon_path);
	out_close();
	return 0;
}

/* Ask a daemon; "stop" is over when its socket ends. */
static int ask(const char *path, const char *text)
{
	int fd = saba_open(path), err;
	char end;

	if (fd < 0)
		return ctl_error("shuffle-sabad cannot be reached at %s: %s", path, strerror(-fd));
	err = saba_request(fd, text, show_line, NULL);
	if (!err && !strcmp(text, "stop"))
		while (recv(fd, &end, 1, 0) > 0)
			;
	close(fd);
	if (err && err != -EPROTO)
		ctl_error("shuffle-sabad: %s", strerror(-err));
	return err ? CTL_KERNEL : CTL_OK;
}

/* All daemons of the list, one after the other; the status is that of the last that failed. */
static int ask_all(int argc, char **argv)
{
	const char *list = getenv("SHUFFLE_SABA_SOCKET");
	char text[400] = "", paths[1000], *save = NULL;
	int err = CTL_OK, one, i;
	size_t n = 0;

	for (i = 0; i < argc && n < sizeof(text); i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%s", i ? " " : "", argv[i]);
	if (n >= sizeof(text))
		return ctl_usage("a request of more than %zu bytes", sizeof(text) - 1);
	if (!list || !*list)
		list = SABA_SOCKET;
	if (strlen(list) >= sizeof(paths))
		return ctl_usage("$SHUFFLE_SABA_SOCKET is too long");
	strcpy(paths, list);
	if (!strcmp(argv[0], "show"))
		out_begin(false);
	several = strchr(paths, ',');
	for (daemon_path = strtok_r(paths, ",", &save); daemon_path;
	     daemon_path = strtok_r(NULL, ",", &save)) {
		one = ask(daemon_path, text);
		err = one ? one : err;
	}
	if (!strcmp(argv[0], "show"))
		out_end();
	return err;
}

static int dispatch(int argc, char **argv)
{
	const char *word = argv[0];

	if (!strcmp(word, "profile"))
		return cmd_profile(argc, argv);
	if (!strcmp(word, "run"))
		return cmd_run(argc, argv);
	if (!strcmp(word, "table"))
		return cmd_table(argc, argv);
	if (!strcmp(word, "weights"))
		return cmd_weights(argc, argv);
	if (!strcmp(word, "show") || !strcmp(word, "set") || !strcmp(word, "reload") ||
	    !strcmp(word, "stop")) {
		if (argc != (strcmp(word, "set") ? 1 : 3))
			return ctl_usage("%s wants %s", word, strcmp(word, "set") ? "nothing more" :
					 "an application and a weight");
		return ask_all(argc, argv);
	}
	return ctl_usage("command \"%s\" is unknown; --help names them", word);
}

int main(int argc, char **argv)
{
	int err;

	for (argc--, argv++; argc && **argv == '-'; argc--, argv++) {
		if (!strcmp(*argv, "--json")) {
			ctl.json = true;
		} else if (!strcmp(*argv, "--pretty")) {
			ctl.json = true;
			ctl.pretty = true;
		} else if (!strcmp(*argv, "--help") || !strcmp(*argv, "-h")) {
			fputs(usage_text, stdout);
			return CTL_OK;
		} else {
			return ctl_usage("option \"%s\" is unknown", *argv);
		}
	}
	if (!argc) {
		fputs(usage_text, stderr);
		return CTL_USAGE;
	}
	err = dispatch(argc, argv);
	if (fflush(stdout))
		return ctl_error("standard output: %s", strerror(errno));
	return err;
}
