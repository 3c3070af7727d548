// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What shufflectl asks, and the answers.  A request is words with a zero behind each:
 *
 *	add NAME WORD...	see words.c
 *	del NAME
 *	show
 *	stop
 *
 * The answer begins with a line "ok" or "error TEXT".  Of "show" a line "relay NAME" follows for
 * each relay, with a line "KEY VALUE..." for each thing that there is to say.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "relayd.h"

#define WORDS	(2 * SHUFFLE_TREE_MEMBERS)

static struct relay_words words;

/**
 * struct answer - being written
 * @at: where it goes on
 * @left: room
 */
struct answer {
	char *at;
	size_t left;
};

__attribute__((format(printf, 2, 3)))
static void say(struct answer *a, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(a->at, a->left, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= a->left)
		n = a->left ? a->left - 1 : 0;
	a->at += n;
	a->left -= n;
}

static int find(const char *name)
{
	unsigned int i;

	for (i = 0; i < relays; i++)
		if (!strcmp(relay[i]->name, name))
			return i;
	return -1;
}

static const char *why(int error)
{
	switch (error) {
	case EADDRNOTAVAIL:
		return "members: that of our rank cannot be bound to, or a local address: not ours";
	case EADDRINUSE:
		return "members: that of our rank cannot be bound to: another socket has it";
	case EINVAL:
		return "members: these can be no group";
	}
	return strerror(error);
}

static void add(struct answer *a, char **word, unsigned int n)
{
	const char *bad = relay_words_read(&words, word, n);
	struct relay *r;

	if (!bad && find(words.r.name) >= 0)
		bad = "name: there is a relay of this name";
	if (!bad && relays == RELAYS)
		bad = "more relays than 1024";
	r = bad ? NULL : malloc(sizeof(*r));
	if (!bad && !r)
		bad = strerror(ENOMEM);
	if (r) {
		*r = words.r;
		words.spec.members = words.edge;
		words.spec.child = words.r.from;
		words.spec.key = words.keyed ? words.key : NULL;
		r->t = shuffle_tree_open(&words.spec);
		if (!r->t || relayd_watch(r)) {
			bad = why(errno);
			if (r->t)
				shuffle_tree_close(r->t);
			free(r);
		} else {
			relay[relays++] = r;
		}
	}
	memset(words.key, 0, sizeof(words.key));
	if (bad)
		say(a, "error %s\n", bad);
	else
		say(a, "ok\n");
}

static void del(struct answer *a, char **word, unsigned int n)
{
	int i = n == 1 ? find(word[0]) : -1;

	if (i < 0) {
		say(a, "error there is no such relay in this namespace\n");
		return;
	}
	shuffle_tree_close(relay[i]->t);
	free(relay[i]);
	relay[i] = relay[--relays];
	say(a, "ok\n");
}

static void show(struct answer *a)
{
	struct shuffle_tree_counts c;
	unsigned int i, k;

	say(a, "ok\n");
	for (i = 0; i < relays; i++) {
		const struct relay *r = relay[i];

		shuffle_tree_count(r->t, &c);
		say(a, "relay %s\nfrom", r->name);
		for (k = 0; k < r->froms; k++)
			say(a, " %u", r->from[k]);
		say(a, "\nto %u\nrank %u\nmembers %u\n", r->to, r->rank, r->members);
		say(a, "oper %s\nsorted %u\n", relay_oper_name(r->oper), r->sorted);
		say(a, "tree %llu\n", (unsigned long long)r->tree);
#define NUMBER(name, value) say(a, name " %llu\n", (unsigned long long)(value))
		NUMBER("running", c.running);
		NUMBER("waiting", c.waiting);
		NUMBER("done", c.done);
		NUMBER("failed", c.failed);
		NUMBER("to-is-there", c.up);
		NUMBER("from-are-there", c.children_up);
		NUMBER("records-in", c.records_in);
		NUMBER("records-out", c.records_out);
		NUMBER("bytes-out", c.bytes_out);
		NUMBER("memory", c.memory);
		NUMBER("memory-most", c.memory_most);
		if (c.failed)
			say(a, "last-fault operation %llu: %s\n", (unsigned long long)c.last_op,
			    c.last.text);
	}
}

/**
 * control_answer() - answer a request
 * @request: words with a zero behind each
 * @n: bytes
 * @may: of one who may change something
 * @answer: room for the answer
 * @size: of it
 * @stop: set: the daemon is to end
 *
 * Return: bytes of the answer.
 */
size_t control_answer(char *request, size_t n, bool may, char *answer, size_t size, bool *stop)
{
	struct answer a = { answer, size };
	static char *word[WORDS];
	unsigned int count = 0;
	char *p;

	if (!n || request[n - 1]) {
		say(&a, "error not a request\n");
		return a.at - answer;
	}
	for (p = request; p < request + n && count < WORDS; p += strlen(p) + 1)
		word[count++] = p;
	if (!strcmp(word[0], "show"))
		show(&a);
	else if (!may)
		say(&a, "error only root and the user of the daemon may do that\n");
	else if (!strcmp(word[0], "add"))
		add(&a, word + 1, count - 1);
	else if (!strcmp(word[0], "del"))
		del(&a, word + 1, count - 1);
	else if (!strcmp(word[0], "stop"))
		*stop = true, say(&a, "ok\n");
	else
		say(&a, "error \"%.20s\" means nothing here\n", word[0]);
	return a.at - answer;
}
