// SPDX-License-Identifier: GPL-2.0-or-later
/* Computation charged to virtual time, see charge.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "charge.h"

#define MAX_NS	1e9

static const char *const names[CHARGE_KINDS] = {
	[CHARGE_SORT] = "sort",
	[CHARGE_PLACE] = "place",
	[CHARGE_PIVOT] = "pivot",
	[CHARGE_MESSAGE] = "message",
	[CHARGE_ROW] = "row",
};

/*
 * Li, "Efficient Shuffle for Flash Burst Computing": local sort 147.0 us and rearrangement 128.1 us
 * for 7000 records (table 2.5), 147000 / 7000 / log2(7000) and 128100 / 7000; 40 000 keys sorted in
 * a millisecond (figure 2.1).  Nothing for messages, which are the network's.
 */
static const double of_source[CHARGE_KINDS] = {
	[CHARGE_SORT] = 1.644,
	[CHARGE_PLACE] = 18.3,
	[CHARGE_PIVOT] = 25,
};

const char charge_help[] =
"      --charge MODEL         for benchmarks in virtual time: sleep as long as computation\n"
"                             would take: source, or KIND=NS,... of sort, place, pivot,\n"
"                             message, row\n";

/* One word of a model. */
static const char *parse_word(struct charge *c, const char *word)
{
	const char *value = strchr(word, '=');
	unsigned int i;
	char *end;
	double ns;

	if (!strcmp(word, "source")) {
		memcpy(c->ns, of_source, sizeof(c->ns));
		return NULL;
	}
	for (i = 0; value && i < CHARGE_KINDS; i++) {
		if (strlen(names[i]) != (size_t)(value - word) ||
		    strncmp(names[i], word, value - word))
			continue;
		ns = strtod(value + 1, &end);
		if (end == value + 1 || *end || !(ns >= 0 && ns <= MAX_NS))
			return "a number of ns from 0 to 10^9 is needed";
		c->ns[i] = ns;
		return NULL;
	}
	return "there are source, and sort, place, pivot, message and row with =NS";
}

/**
 * charge_parse() - read a model, and make sleeping exact
 * @c: set; a word overrides those before it
 * @text: "source", or KIND=NS, joined by commas
 *
 * Return: NULL, or what is wrong.
 */
const char *charge_parse(struct charge *c, const char *text)
{
	const char *wrong = NULL;
	char *copy, *word, *save;

	copy = strdup(text);
	if (!copy)
		return strerror(ENOMEM);
	for (word = strtok_r(copy, ",", &save); word && !wrong; word = strtok_r(NULL, ",", &save))
		wrong = parse_word(c, word);
	free(copy);
	/* otherwise timers are up to 50 us late */
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	return wrong;
}

/**
 * charge_spend() - sleep for as long as a computation takes
 * @c: the model, or NULL
 * @kind: of computation
 * @units: how much of it
 */
void charge_spend(struct charge *c, enum charge_kind kind, double units)
{
	double ns = c ? c->ns[kind] * units : 0;
	struct timespec ts;
	uint64_t end;

	if (ns < 1)
		return;
	c->sum += ns;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	end = ts.tv_sec * 1000000000ULL + ts.tv_nsec + (uint64_t)ns;
	ts.tv_sec = end / 1000000000;
	ts.tv_nsec = end % 1000000000;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}
