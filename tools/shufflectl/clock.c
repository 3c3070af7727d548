// SPDX-License-Identifier: GPL-2.0-or-later
/* Time: commands that repeat, time stamps. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "parse.h"
#include "shufflectl.h"

/**
 * clock_parse() - the options -i SECONDS, -c COUNT, -z at the start of the words
 * @argc: number of words; less those that were taken
 * @argv: the words
 * @o: result
 * @zeros: -z was there; NULL: that is not an option here
 *
 * Return: CTL_OK or CTL_USAGE after a message.
 */
int clock_parse(int *argc, char ***argv, struct clock_options *o, bool *zeros)
{
	char *end;

	memset(o, 0, sizeof(*o));
	while (*argc && (*argv)[0][0] == '-') {
		const char *word = (*argv)[0];
		const char *arg = *argc > 1 ? (*argv)[1] : "";
		int used = 2;

		if (!strcmp(word, "-i")) {
			o->interval = strtod(arg, &end);
			if (!*arg || *end || !(o->interval >= 0.01 && o->interval <= 86400))
				return ctl_usage("-i wants seconds, 0.01 to 86400");
		} else if (!strcmp(word, "-c")) {
			if (parse_u64(arg, &o->count) || !o->count)
				return ctl_usage("-c wants a count, 1 or more");
		} else if (zeros && !strcmp(word, "-z")) {
			*zeros = true;
			used = 1;
		} else {
			return ctl_usage("option \"%s\" is unknown here", word);
		}
		*argc -= used;
		*argv += used;
	}
	if (o->count && !o->interval)
		o->interval = 1;
	return CTL_OK;
}

/**
 * clock_now() - monotonic time
 *
 * Return: ns.
 */
uint64_t clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/**
 * clock_stamp() - the time of day, as RFC 3339 has it, in UTC
 * @buf: result
 * @size: of @buf
 */
void clock_stamp(char *buf, unsigned int size)
{
	struct timespec t;
	struct tm tm;
	char date[24];

	clock_gettime(CLOCK_REALTIME, &t);
	gmtime_r(&t.tv_sec, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf, size, "%s.%06ldZ", date, t.tv_nsec / 1000);
}

/**
 * clock_sleep() - wait
 * @seconds: how long
 *
 * Return: false if a signal came.
 */
bool clock_sleep(double seconds)
{
	struct timespec t = { .tv_sec = seconds };

	t.tv_nsec = (seconds - t.tv_sec) * 1e9;
	return !nanosleep(&t, NULL) || errno != EINTR;
}
