// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-saba run: an unmodified program as an application. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "saba_client.h"
#include "shufflectl.h"

#define USAGE	"usage: shuffle-saba run --app APP [--to ADDRESS...] -- COMMAND...\n"
#define PRELOAD	"libsaba-mark.so"

static int add_to(struct saba *s, const char *to)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *ai;
	int err = to ? getaddrinfo(to, NULL, &hints, &ai) : 0;

	if (err)
		return ctl_error("--to %s: %s", to, gai_strerror(err));
	err = saba_conn_create(s, to ? ai->ai_addr : NULL, -1);
	if (to)
		freeaddrinfo(ai);
	return err < 0 ? ctl_error("%s: %s", to ? to : "any", strerror(-err)) : 0;
}

/* The library that marks sockets: beside this program, or where it is installed. */
static void preload(void)
{
	const char *before = getenv("LD_PRELOAD");
	char own[400], lib[500], all[1600];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;

	own[n > 0 ? n : 0] = '\0';
	slash = strrchr(own, '/');
	if (!slash)
		return;
	*slash = '\0';
	snprintf(lib, sizeof(lib), "%s/" PRELOAD, own);
	if (access(lib, R_OK))
		snprintf(lib, sizeof(lib), "%s/../lib/shuffle/" PRELOAD, own);
	snprintf(all, sizeof(all), "%s%s%s", lib, before ? ":" : "", before ? before : "");
	setenv("LD_PRELOAD", all, 1);
}

static int write_mark(int fd, int dscp)
{
	char text[8];
	int n = snprintf(text, sizeof(text), "%d\n", dscp);

	return pwrite(fd, text, n, 0) == n ? 0 : ctl_error("the file of the mark: %s",
							    strerror(errno));
}

static void warn_once(bool *done, const char *text)
{
	if (!*done)
		ctl_warn("%s", text);
	*done = true;
}

static int wait_for_it(struct saba *s, pid_t pid, int mark)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0), status, dscp = saba_dscp(s);
	bool lost = false, differ = false;

	while (!waitpid(pid, &status, WNOHANG)) {
		struct pollfd p[2] = {
			{ .fd = pidfd, .events = POLLIN },
			{ .fd = saba_fd(s), .events = POLLIN },
		};

		poll(p, 2, 1000);
		if (!saba_poll(s))
			lost = false;
		else
			warn_once(&lost, "a daemon is gone; it will be looked for");
		if (!saba_agree(s))
			warn_once(&differ, "daemons do not agree about the level");
		if (saba_dscp(s) != dscp) {
			dscp = saba_dscp(s);
			write_mark(mark, dscp);
		}
	}
	if (pidfd >= 0)
		close(pidfd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run(struct saba *s, char **command)
{
	char file[] = "/tmp/shuffle-saba-XXXXXX", text[8];
	int mark = mkostemp(file, O_CLOEXEC), status;
	pid_t pid;

	if (mark < 0)
		return ctl_error("%s: %s", file, strerror(errno));
	if (write_mark(mark, saba_dscp(s))) {
		unlink(file);
		return CTL_ENV;
	}
	pid = fork();
	if (!pid) {
		snprintf(text, sizeof(text), "%d", saba_dscp(s));
		setenv("SHUFFLE_SABA_DSCP", text, 1);
		setenv("SHUFFLE_SABA_MARK", file, 1);
		preload();
		execvp(command[0], command);
		ctl_error("%s: %s", command[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0) {
		status = ctl_error("fork: %s", strerror(errno));
	} else {
		/* these are for the command, which has them too */
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		status = wait_for_it(s, pid, mark);
	}
	close(mark);
	unlink(file);
	return status;
}

/**
 * cmd_run() - shuffle-saba run
 * @argc: number of words behind the command
 * @argv: the words
 *
 * Return: status of the command, 128 and its signal, or enum ctl_exit.
 */
int cmd_run(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "app",	required_argument,	NULL, 'a' },
		{ "to",		required_argument,	NULL, 't' },
		{ "help",	no_argument,		NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *app = NULL, *to[64];
	unsigned int n = 0, i;
	struct saba *s;
	char why[256];
	int opt, err = 0;

	while ((opt = getopt_long(argc, argv, "+", longs, NULL)) != -1) {
		switch (opt) {
		case 'a':
			app = optarg;
			break;
		case 't':
			if (n == ARRAY_SIZE(to))
				return ctl_usage("more than %zu times --to", ARRAY_SIZE(to));
			to[n++] = optarg;
			break;
		case 'h':
			fputs(USAGE, stdout);
			return CTL_OK;
		default:
			fputs(USAGE, stderr);
			return CTL_USAGE;
		}
	}
	if (!app || !argv[optind])
		return ctl_usage("run wants --app APP and, behind --, a command");
	s = saba_app_register(NULL, app, why, sizeof(why));
	if (!s)
		return ctl_error("cannot register with shuffle-sabad: %s", why);
	if (!n)
		err = add_to(s, NULL);
	for (i = 0; i < n && !err; i++)
		err = add_to(s, to[i]);
	if (!err)
		err = run(s, argv + optind);
	saba_app_deregister(s);
	return err;
}
