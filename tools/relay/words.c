// SPDX-License-Identifier: GPL-2.0-or-later
/* The words of "relay add", as shufflectl sends them: numbers are plain, files have been read. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "relayd.h"

static const char *const opers[] = {
	"none", "sum", "min", "max", "count", "sumcount", "or", "and",
};

static char text[160];

__attribute__((format(printf, 1, 2)))
static const char *wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return text;
}

/**
 * relay_oper_name() - an operator in a word
 * @oper: enum shuffle_keys_oper
 *
 * Return: the word.
 */
const char *relay_oper_name(unsigned int oper)
{
	return oper < sizeof(opers) / sizeof(*opers) ? opers[oper] : "?";
}

static bool number(const char *word, uint64_t most, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(word, &end, 10);
	return *word >= '0' && *word <= '9' && !*end && !errno && *value <= most;
}

/* ADDRESS:PORT[@LOCAL], IPv6 as [ADDRESS]:PORT */
static bool member(struct shuffle_edge *edge, const char *word)
{
	char copy[128], *local, *colon, *address = copy;
	uint64_t port;
	int v6 = 0;

	if (strlen(word) >= sizeof(copy))
		return false;
	strcpy(copy, word);
	local = strchr(copy, '@');
	if (local)
		*local++ = '\0';
	colon = strrchr(copy, ':');
	if (!colon || !number(colon + 1, 65535, &port) || !port)
		return false;
	*colon = '\0';
	if (*address == '[' && colon > copy + 1 && colon[-1] == ']') {
		v6 = 1;
		address++;
		colon[-1] = '\0';
	}
	memset(edge, 0, sizeof(*edge));
	return !!strchr(address, ':') == v6 && !shuffle_addr(&edge->member, address, port) &&
	       (!local || inet_pton(v6 ? AF_INET6 : AF_INET, local, edge->local) == 1);
}

static bool hex_key(const char *word, unsigned char *key)
{
	unsigned int i, byte;

	if (strlen(word) != 2 * SHUFFLE_KEY_BYTES)
		return false;
	for (i = 0; i < SHUFFLE_KEY_BYTES; i++) {
		if (sscanf(word + 2 * i, "%2x", &byte) != 1)
			return false;
		key[i] = byte;
	}
	return true;
}

static bool is_word(const char *word)
{
	static const char *const all[] = {
		"rank", "to", "from", "members", "oper", "sorted", "senders", "records", "bytes",
		"idle", "tree", "key",
	};
	unsigned int i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i], word))
			return true;
	return false;
}

/* A word with one value behind it. */
static const char *one(struct relay_words *w, const char *word, const char *value)
{
	uint64_t n = 0;
	unsigned int i;

	if (!strcmp(word, "key")) {
		w->keyed = hex_key(value, w->key);
		return w->keyed ? NULL : wrong("key: not 32 hexadecimal digits");
	}
	if (!strcmp(word, "oper")) {
		for (i = 0; i < sizeof(opers) / sizeof(*opers) && strcmp(value, opers[i]); i++)
			;
		w->spec.oper = i;
		return i < sizeof(opers) / sizeof(*opers) ? NULL :
			wrong("oper: \"%.20s\" is none of them", value);
	}
	if (!number(value, !strcmp(word, "tree") ? UINT64_MAX : UINT32_MAX, &n))
		return wrong("%s: \"%.20s\" is no number that it can be", word, value);
	if (!strcmp(word, "rank"))
		w->spec.rank = n;
	else if (!strcmp(word, "senders"))
		w->spec.want_senders = n;
	else if (!strcmp(word, "records"))
		w->spec.table_records = n;
	else if (!strcmp(word, "bytes"))
		w->spec.max_bytes = n;
	else if (!strcmp(word, "idle"))
		w->spec.idle_ms = n;
	else
		w->spec.tree = n;
	return NULL;
}

static const char *check(const struct relay_words *w, bool ranked)
{
	const char *twice = "from: no such rank, our own, or one that is there twice";
	const struct shuffle_tree_spec *s = &w->spec;
	uint32_t i, k;

	if (!ranked || s->parent == SHUFFLE_TREE_NOBODY)
		return wrong("name, rank and to are needed");
	if (!s->children)
		return wrong("from: none, or more than %d", SHUFFLE_TREE_CHILDREN);
	if (s->rank >= s->count)
		return wrong("rank: there is no such member");
	if (s->parent >= s->count || s->parent == s->rank)
		return wrong("to: no such rank, our own, or one that is in from");
	for (i = 0; i < s->children; i++) {
		if (w->r.from[i] >= s->count || w->r.from[i] == s->rank)
			return wrong("%s", twice);
		if (w->r.from[i] == s->parent)
			return wrong("to: no such rank, our own, or one that is in from");
		for (k = 0; k < i; k++)
			if (w->r.from[k] == w->r.from[i])
				return wrong("%s", twice);
	}
	if (s->flags & SHUFFLE_KEYS_SORTED && s->table_records)
		return wrong("records: sorted streams need no table");
	return NULL;
}

/**
 * relay_words_read() - read the words of "add", from the name on
 * @w: what they say
 * @word: the words
 * @n: their number
 *
 * Return: NULL, or what is wrong with them, valid until the next call.
 */
const char *relay_words_read(struct relay_words *w, char **word, unsigned int n)
{
	const char *bad = NULL;
	bool ranked = false;
	uint64_t rank;
	unsigned int i;

	memset(w, 0, sizeof(*w));
	w->spec.size = sizeof(w->spec);
	w->spec.oper = SHUFFLE_KEYS_SUM;
	w->spec.flags = SHUFFLE_TREE_RELAY;
	w->spec.parent = SHUFFLE_TREE_NOBODY;
	if (!n || !*word[0] || strlen(word[0]) >= RELAY_NAME)
		return wrong("name: none, or longer than %d bytes", RELAY_NAME - 1);
	strcpy(w->r.name, word[0]);
	for (i = 1; i < n && !bad; ) {
		const char *what = word[i++];

		if (!is_word(what)) {
			bad = wrong("\"%.20s\" means nothing here", what);
		} else if (!strcmp(what, "sorted")) {
			w->spec.flags |= SHUFFLE_KEYS_SORTED;
			w->r.sorted = true;
		} else if (i == n || is_word(word[i])) {
			bad = wrong("%s: nothing is behind it", what);
		} else if (!strcmp(what, "members")) {
			for (; i < n && !is_word(word[i]) && !bad; i++) {
				if (w->spec.count == SHUFFLE_TREE_MEMBERS)
					bad = wrong("members: more than %d", SHUFFLE_TREE_MEMBERS);
				else if (!member(&w->edge[w->spec.count++], word[i]))
					bad = wrong("members: \"%.60s\" is not ADDRESS:PORT",
						    word[i]);
			}
		} else if (!strcmp(what, "from") || !strcmp(what, "to")) {
			for (; i < n && !is_word(word[i]) && !bad; i++) {
				if (!number(word[i], UINT32_MAX - 1, &rank))
					bad = wrong("%s: \"%.20s\" is no rank", what, word[i]);
				else if (*what == 't' && w->spec.parent != SHUFFLE_TREE_NOBODY)
					bad = wrong("to: one member gets the result");
				else if (*what == 't')
					w->spec.parent = rank;
				else if (w->spec.children == SHUFFLE_TREE_CHILDREN)
					bad = wrong("from: none, or more than %d",
						    SHUFFLE_TREE_CHILDREN);
				else
					w->r.from[w->spec.children++] = rank;
			}
		} else {
			ranked |= !strcmp(what, "rank");
			bad = one(w, what, word[i++]);
		}
	}
	bad = bad ? bad : check(w, ranked);
	w->r.rank = w->spec.rank;
	w->r.to = w->spec.parent;
	w->r.froms = w->spec.children;
	w->r.members = w->spec.count;
	w->r.oper = w->spec.oper;
	w->r.bytes = w->spec.max_bytes;
	w->r.tree = w->spec.tree;
	return bad;
}
