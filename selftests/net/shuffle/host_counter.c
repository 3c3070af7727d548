// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * host_counter PREFIX REGEX HOST... - the sum of the counters that match the whole of REGEX in
 * /proc/net/shuffle/netstat of the namespaces PREFIXHOST.
 *
 * One small static program: a process is what a test kernel takes longest for.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <regex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 8192

/* Pairs of lines: the names, the values; the first word of both is what they count. */
static unsigned long long sum_of(FILE *f, const regex_t *re)
{
	static char names[LINE_MAX_BYTES], values[LINE_MAX_BYTES];
	unsigned long long sum = 0;

	while (fgets(names, sizeof(names), f) && fgets(values, sizeof(values), f)) {
		char *n, *v, *name, *value;

		strtok_r(names, "\n ", &n);
		strtok_r(values, "\n ", &v);
		while ((name = strtok_r(NULL, "\n ", &n)) && (value = strtok_r(NULL, "\n ", &v))) {
			if (!regexec(re, name, 0, NULL, 0))
				sum += strtoull(value, NULL, 10);
		}
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned long long sum = 0;
	char text[1024];
	regex_t re;

	if (argc < 4)
		errx(2, "usage: host_counter PREFIX REGEX HOST...");
	snprintf(text, sizeof(text), "^(%s)$", argv[2]);
	if (regcomp(&re, text, REG_EXTENDED | REG_NOSUB))
		errx(2, "no regular expression: '%s'", argv[2]);
	for (int i = 3; i < argc; i++) {
		FILE *f;
		int fd;

		snprintf(text, sizeof(text), "/run/netns/%s%s", argv[1], argv[i]);
		fd = open(text, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || setns(fd, CLONE_NEWNET))
			err(1, "%s", text);
		close(fd);
		f = fopen("/proc/thread-self/net/shuffle/netstat", "r");
		if (!f)
			err(1, "netstat of %s", text);
		sum += sum_of(f, &re);
		fclose(f);
	}
	printf("%llu\n", sum);
	return 0;
}
