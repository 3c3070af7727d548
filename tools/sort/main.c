// SPDX-License-Identifier: GPL-2.0-or-later
/* shuffle-sort: a distributed sort over AF_SHUFFLE sockets.  See shuffle-sort(1). */
#include <string.h>

#include "config.h"
#include "quality.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "generate", generate_main },
	{ "verify", verify_main },
	{ "quality", quality_main },
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	return host_main(argc, argv);
}
