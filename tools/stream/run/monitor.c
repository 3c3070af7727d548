// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-stream monitor: what members say of themselves, once a second. */
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "metrics.h"

#define MOST	256	/* members */
#define WAIT	2	/* seconds that one may take to answer */

/**
 * struct seen - what a member said
 * @where: its endpoint
 * @who: "input 3"
 * @bytes: of pieces
 * @before: the same, when it was asked before
 * @at: when it was asked, ns
 * @before_at: likewise
 * @held: pieces that are not released
 * @gap: s
 * @fill: 0 to 1
 * @interval: number of the interval
 * @actual: its duration, s
 * @proposed: likewise
 * @answered: it did
 */
struct seen {
	const char	*where;
	char		who[32];
	double		bytes;
	double		before;
	s64		at;
	s64		before_at;
	double		held;
	double		gap;
	double		fill;
	double		interval;
	double		actual;
	double		proposed;
	bool		answered;
};

static int connect_to(const char *where)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *ai;
	struct timeval wait = { .tv_sec = WAIT };
	char host[80], *port, *from = host;
	int fd;

	snprintf(host, sizeof(host), "%s", where);
	port = strrchr(host, ':');
	if (!port)
		die("monitor: %s: ADDRESS:PORT is expected", where);
	*port++ = '\0';
	if (host[0] == '[' && port - host > 2 && port[-2] == ']') {
		port[-2] = '\0';
		from++;
	}
	if (getaddrinfo(from, port, &hints, &ai))
		die("monitor: %s: ADDRESS:PORT is expected", where);
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
		if (connect(fd, ai->ai_addr, ai->ai_addrlen)) {
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(ai);
	return fd;
}

static bool value(const char *text, const char *name, double *v)
{
	char key[80];
	const char *p;

	snprintf(key, sizeof(key), "\nshuffle_stream_%s{", name);
	p = strstr(text, key);
	p = p ? strchr(p, '}') : NULL;
	if (!p)
		return false;
	*v = strtod(p + 1, NULL);
	return true;
}

static void name_of(struct seen *s, const char *text)
{
	const char *p = strstr(text, "\nshuffle_stream_bytes_total{");
	char kind[16], rank[16];

	if (p && sscanf(strchr(p, '{'), "{%15[a-z]=\"%15[0-9]\"}", kind, rank) == 2)
		snprintf(s->who, sizeof(s->who), "%s %s", kind, rank);
}

static void ask(struct seen *s)
{
	static const char request[] = "GET /metrics HTTP/1.0\r\n\r\n";
	char text[METRICS_TEXT + 512];
	size_t len = 0;
	ssize_t n;
	int fd = connect_to(s->where);

	s->answered = false;
	if (fd < 0)
		return;
	if (send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) > 0)
		while (len < sizeof(text) - 1 && (n = read(fd, text + len,
							   sizeof(text) - 1 - len)) > 0)
			len += (size_t)n;
	close(fd);
	text[len] = '\0';
	s->before = s->bytes;
	s->before_at = s->at;
	s->at = run_monotonic();
	s->answered = value(text, "bytes_total", &s->bytes);
	name_of(s, text);
	value(text, "pieces_held", &s->held);
	value(text, "gap_seconds", &s->gap);
	value(text, "fill", &s->fill);
	value(text, "interval", &s->interval);
	value(text, "interval_seconds", &s->actual);
	value(text, "interval_proposed_seconds", &s->proposed);
}

static void show(const struct seen *s, bool json)
{
	double took = (double)(s->at - s->before_at);
	double rate = s->before_at ? (s->bytes - s->before) * 8 / took : 0;

	if (json) {
		printf("{\"endpoint\": \"%s\", \"member\": \"%s\", \"answered\": %s, "
		       "\"bytes\": %.0f, \"gbit\": %.4f, \"held\": %.0f, \"gap_s\": %g, "
		       "\"fill\": %g, \"interval\": %.0f, \"actual_s\": %g, \"proposed_s\": %g}\n",
		       s->where, s->who, s->answered ? "true" : "false", s->bytes, rate, s->held,
		       s->gap, s->fill, s->interval, s->actual, s->proposed);
		return;
	}
	if (!s->answered) {
		printf("%-24s no answer\n", s->where);
		return;
	}
	printf("%-24s %-12s %8.3f Gb/s, %5.0f held", s->where, s->who, rate, s->held);
	if (*s->who == 'b')
		printf(", gap %.3f ms, fill %.1f %%\n", s->gap * 1e3, s->fill * 100);
	else
		printf(", interval %.0f: %.3f ms, proposed %.3f ms\n", s->interval,
		       s->actual * 1e3, s->proposed * 1e3);
}

/**
 * run_monitor() - show what members say
 * @argc: arguments: "monitor", options, endpoints
 * @argv: likewise
 *
 * Return: status of the program: 1 if a member did not answer the last time.
 */
int run_monitor(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "once", no_argument, NULL, 'o' }, { "json", no_argument, NULL, 'j' }, { 0 },
	};
	bool once = false, json = false, all = true;
	struct seen seen[MOST] = { 0 };
	int opt, i, n;

	while ((opt = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (opt == '?')
			die("monitor: --once, --json and ADDRESS:PORT... are expected");
		once |= opt == 'o';
		json |= opt == 'j';
	}
	n = argc - optind;
	if (n < 1 || n > MOST)
		die("monitor: 1 to %d endpoints are expected", MOST);
	for (i = 0; i < n; i++)
		seen[i].where = argv[optind + i];
	run_signals();
	do {
		struct timespec second = { .tv_sec = 1 };

		all = true;
		if (!json && isatty(STDOUT_FILENO))
			printf("\033[H\033[J");
		for (i = 0; i < n; i++) {
			ask(&seen[i]);
			show(&seen[i], json);
			all &= seen[i].answered;
		}
		fflush(stdout);
		if (!once)
			nanosleep(&second, NULL);
	} while (!once && !run_stopped);
	return !all;
}
