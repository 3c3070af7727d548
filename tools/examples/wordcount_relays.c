// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle-wordcount over a group with relays: members and shuffle-relayd on the way merge.
 *
 * Two operations.  In the first one records of key and count go along the tree, sorted by key, and
 * are summed where they meet (shuffle_tree.h).  The key of a word of up to 8 bytes is the word
 * itself, with zeros behind it; its first byte is 0x30 at least.  That of a longer word is a hash
 * value of at most 56 bits.  In the second one, an ordinary one on the tree's socket, each sender's
 * longer words go to the receiver by the shortest way: two that have the same key are an error
 * there that names both, not one sum.
 *
 * A word in the second operation: its length, 2 bytes, big-endian, and its bytes.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "wordcount.h"

#define SHORT_BYTES	8U	/* of a word that is its own key */
#define HASH_BITS	56U
#define HEAD_BYTES	2U	/* of a word in the second operation */
#define WAIT_MS		20
#define DEFAULT_MS	60000U	/* without progress */

/* The key of a longer word, which is now among @longer, too.  @rank: whose it is. */
static uint64_t long_key(const struct count *wc, struct shuffle_key_names *longer,
			 const char *word, size_t len, unsigned int rank)
{
	struct shuffle_keys_fault fault = { 0 };
	struct shuffle_key_name *name = shuffle_key_of(longer, word, len, &fault);

	if (!name && errno == ENOTUNIQ)
		errx(1, "member %u: %s", rank, fault.text);
	if (!name)
		err(1, "member %u: the words of member %u", wc->rank, rank);
	return name->key;
}

static uint64_t short_key(const char *word, size_t len)
{
	uint64_t key = 0;

	memcpy(&key, word, len);
	return be64toh(key);
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = ((const struct shuffle_key_value *)a)->key;
	uint64_t y = ((const struct shuffle_key_value *)b)->key;

	return x < y ? -1 : x > y;
}

/**
 * struct part - what a member sends
 * @pair: its records, in order of keys
 * @pairs: their number
 * @words: its longer words
 * @word_bytes: theirs
 * @longer: the same by their keys
 */
struct part {
	struct shuffle_key_value *pair;
	size_t pairs;
	char *words;
	size_t word_bytes;
	struct shuffle_key_names *longer;
};

static struct part own_part(const struct count *wc)
{
	const struct shuffle_key_name *name;
	struct part p = { 0 };
	size_t n, bytes = 0;

	for (n = 0; (name = shuffle_key_at(wc->names, n)); n++)
		bytes += name->len > SHORT_BYTES ? HEAD_BYTES + name->len : 0;
	p.pair = calloc(n + 1, sizeof(*p.pair));
	p.words = malloc(bytes + 1);
	p.longer = shuffle_key_names_new(wc->bits < HASH_BITS ? wc->bits : HASH_BITS, 0);
	if (!p.pair || !p.words || !p.longer)
		err(1, "words");
	for (; (name = shuffle_key_at(wc->names, p.pairs)); p.pairs++) {
		struct shuffle_key_value *pair = &p.pair[p.pairs];

		pair->value = name->value;
		if (name->len <= SHORT_BYTES) {
			pair->key = short_key(name->name, name->len);
			continue;
		}
		pair->key = long_key(wc, p.longer, name->name, name->len, wc->rank);
		p.words[p.word_bytes++] = name->len >> 8;
		p.words[p.word_bytes++] = name->len & 0xff;
		memcpy(p.words + p.word_bytes, name->name, name->len);
		p.word_bytes += name->len;
	}
	qsort(p.pair, p.pairs, sizeof(*p.pair), by_key);
	return p;
}

/* ---- operations ---- */

/**
 * struct words - the operation in which the longer words go to the receiver
 * @tx: its row
 * @bufs: of the row
 * @lens: likewise
 * @absent: bits of members that send us nothing
 * @sent: the kernel has the row
 * @column: what comes
 * @moved_ns: when something has come last
 */
struct words {
	struct shuffle_tx tx;
	const void **bufs;
	uint64_t *lens;
	uint64_t *absent;
	int sent;
	struct shuffle_column *column;
	uint64_t moved_ns;
};

/* Of shuffle_tree_wait(): something of the second operation. */
static void words_came(void *arg, const struct shuffle_record *rec, const void *data)
{
	struct count *wc = arg;
	struct words *w = wc->words_op;

	if (!w->column || rec->op_id != w->column->op_id)
		return;
	w->moved_ns = now_ns();
	if (shuffle_column_add(w->column, rec, data) < 0)
		err(1, "member %u: what came from member %u", wc->rank, rec->rank);
}

/**
 * relays_open() - join the group, of which others may wait for us
 * @wc: @wc->tree is set
 * @role: of each member its role
 */
void relays_open(struct count *wc, const struct role *role)
{
	struct shuffle_tree_spec spec = {
		.oper = SHUFFLE_KEYS_SUM, .flags = SHUFFLE_KEYS_SORTED, .idle_ms = wc->timeout_ms,
		.record = words_came, .arg = wc,
	};
	char name[80];

	wc->words_op = calloc(1, sizeof(*wc->words_op));
	if (!wc->words_op)
		err(1, "operation");
	wc->tree = roles_open(role, &wc->group, wc->rank, &spec);
	if (!wc->tree && errno == EAFNOSUPPORT)
		errx(1, "%s", shuffle_family_str());
	if (!wc->tree)
		err(1, "cannot join the group as %s",
		    shuffle_addr_str(&wc->group.members[wc->rank], name, sizeof(name)));
}

static void new_words(struct count *wc, const struct role *role, const struct part *p)
{
	struct words *w = wc->words_op;
	uint32_t i, n = wc->group.count;

	w->bufs = calloc(n, sizeof(*w->bufs));
	w->lens = calloc(n, sizeof(*w->lens));
	w->absent = calloc((n + 63) / 64, sizeof(*w->absent));
	w->column = shuffle_column_new(wc->op + 1, n);
	if (!w->bufs || !w->lens || !w->absent || !w->column)
		err(1, "operation");
	for (i = 0; i < n; i++) {
		w->lens[i] = SHUFFLE_ABSENT;
		if (wc->rank != wc->receiver || role[i].kind != ROLE_MEMBER || i == wc->rank)
			w->absent[i / 64] |= 1ULL << i % 64;
	}
	if (wc->rank != wc->receiver) {
		w->bufs[wc->receiver] = p->words;
		w->lens[wc->receiver] = p->word_bytes;
	}
	shuffle_tx_init(&w->tx, wc->op + 1, w->bufs, w->lens, n, 0);
	shuffle_tx_absent(&w->tx, w->absent);
	w->moved_ns = now_ns();
}

static void free_words(struct words *w)
{
	shuffle_column_free(w->column);
	free(w->absent);
	free(w->lens);
	free(w->bufs);
	free(w);
}

static int words_over(const struct words *w)
{
	return w->column->done && !w->column->missing_left;
}

static void words_failed(const struct count *wc, const struct words *w)
{
	const struct shuffle_column *col = w->column;
	char names[256] = "";
	unsigned int i;
	size_t at = 0;

	for (i = 0; i < col->missing_count && at < sizeof(names) - 16; i++)
		at += snprintf(names + at, sizeof(names) - at, " %u", col->missing[i]);
	errx(1, "member %u: words: %s%s%s", wc->rank, strerror(col->error),
	     at ? ": members" : "", names);
}

/* The kernel takes what it has room for.  An operation that has ended meanwhile says why when its
 * records are read.
 */
static void push_words(const struct count *wc, struct words *w)
{
	int rc = w->sent ? 1 : shuffle_tx_step(shuffle_tree_socket(wc->tree), &w->tx);

	if (rc < 0 && errno != EPIPE)
		err(1, "member %u: operation %" PRIu64, wc->rank, w->tx.op_id);
	w->sent = !!rc;
}

/* Nothing has come for so long. */
static void words_idle(const struct count *wc, const struct words *w, const struct role *role)
{
	uint64_t ms = wc->timeout_ms ? wc->timeout_ms : DEFAULT_MS;
	uint32_t i;

	if (words_over(w) || now_ns() - w->moved_ns < ms * 1000000)
		return;
	for (i = 0; i < wc->group.count && wc->rank == wc->receiver; i++)
		if (role[i].kind == ROLE_MEMBER && i != wc->rank && !w->column->bufs[i])
			errx(1, "member %u: its longer words do not come", i);
	errx(1, "member %u: longer words do not arrive", wc->rank);
}

static void show_progress(struct count *wc, const struct words *w)
{
	struct shuffle_tree_counts c;
	uint64_t now = now_ns(), have;
	uint32_t i;

	if (now - wc->told_ns < TELL_NS)
		return;
	wc->told_ns = now;
	if (wc->rank != wc->receiver) {
		fprintf(stderr, "member %u: waits for others to take what is sent\n", wc->rank);
		return;
	}
	shuffle_tree_count(wc->tree, &c);
	have = c.records_in * sizeof(struct shuffle_key_value);
	for (i = 0; i < wc->group.count; i++)
		have += w->column->have[i];
	fprintf(stderr, "member %u: %" PRIu64 " bytes have come\n", wc->rank, have);
}

/* Until both have ended: the records of key and count, at the receiver. */
static struct shuffle_tree_end receive(struct count *wc, const struct role *role)
{
	struct shuffle_tree_end end = { 0 }, one;
	struct words *w = wc->words_op;
	int ended = 0, rc;

	wc->told_ns = now_ns();
	while (!ended || !words_over(w)) {
		show_progress(wc, w);
		push_words(wc, w);
		rc = shuffle_tree_wait(wc->tree, &one, WAIT_MS);
		if (rc < 0)
			err(1, "member %u: receiving", wc->rank);
		if (rc) {
			end = one;
			ended = 1;
			w->moved_ns = now_ns();
		}
		if (end.fault.error)
			errx(1, "member %u: counts: %s (%s)", wc->rank, end.fault.text,
			     strerror(end.fault.error));
		if (w->column->error && words_over(w))
			words_failed(wc, w);
		/* the tree has a clock of its own */
		if (ended)
			words_idle(wc, w, role);
	}
	return end;
}

/* ---- at the receiver ---- */

static void take_words(const struct count *wc, struct shuffle_key_names *longer, uint32_t rank,
		       const unsigned char *at, uint64_t bytes)
{
	size_t len;

	while (bytes) {
		len = bytes < HEAD_BYTES ? 0 : (size_t)at[0] << 8 | at[1];
		if (len <= SHORT_BYTES || len > SHUFFLE_KEY_NAME_BYTES || len > bytes - HEAD_BYTES)
			errx(1, "member %u sends a word of %zu bytes, or half of one", rank, len);
		long_key(wc, longer, (const char *)at + HEAD_BYTES, len, rank);
		at += HEAD_BYTES + len;
		bytes -= HEAD_BYTES + len;
	}
}

/* All records, our own behind the others'. */
static struct shuffle_key_value *all_pairs(const struct shuffle_tree_end *end, const struct part *p)
{
	struct shuffle_key_value *pair = calloc(end->results + p->pairs + 1, sizeof(*pair));

	if (!pair)
		err(1, "words");
	if (end->results)
		memcpy(pair, end->result, end->results * sizeof(*pair));
	memcpy(pair + end->results, p->pair, p->pairs * sizeof(*pair));
	return pair;
}

/* Of each key one record. */
static size_t sum(struct shuffle_key_value *pair, size_t n)
{
	size_t i, m = 0;

	qsort(pair, n, sizeof(*pair), by_key);
	for (i = 0; i < n; i++) {
		if (m && pair[m - 1].key == pair[i].key)
			pair[m - 1].value += pair[i].value;
		else
			pair[m++] = pair[i];
	}
	return m;
}

/* @bytes: room for the key's, which are those of a short word */
static struct word word_of(const struct shuffle_key_value *pair, uint64_t *bytes,
			   const struct shuffle_key_names *longer)
{
	const struct shuffle_key_name *name;
	struct word w = { .name = (const char *)bytes, .count = pair->value };

	*bytes = htobe64(pair->key);
	w.len = strnlen(w.name, SHORT_BYTES);
	if (w.len && short_key(w.name, w.len) == pair->key)
		return w;
	name = shuffle_key_find(longer, pair->key);
	if (!name)
		errx(1, "key %016" PRIx64 " has no word", pair->key);
	w.name = name->name;
	w.len = name->len;
	return w;
}

static void report(const struct count *wc, const struct shuffle_tree_end *end, struct part *p)
{
	const struct words *w = wc->words_op;
	struct shuffle_tree_counts c;
	struct shuffle_key_value *pair;
	uint64_t word_bytes = 0, *bytes;
	struct word *word;
	char more[200];
	size_t n, i;

	for (i = 0; i < wc->group.count; i++) {
		word_bytes += w->column->lens[i];
		take_words(wc, p->longer, i, w->column->bufs[i], w->column->lens[i]);
	}
	shuffle_tree_count(wc->tree, &c);
	pair = all_pairs(end, p);
	n = sum(pair, end->results + p->pairs);
	word = calloc(n + 1, sizeof(*word));
	bytes = calloc(n + 1, sizeof(*bytes));
	if (!word || !bytes)
		err(1, "words");
	for (i = 0; i < n; i++)
		word[i] = word_of(&pair[i], &bytes[i], p->longer);
	snprintf(more, sizeof(more),
		 "\"record_bytes_received\": %" PRIu64 ", \"word_bytes_received\": %" PRIu64 ", ",
		 c.records_in * sizeof(*pair), word_bytes);
	print_words(wc, word, n, more);
	free(bytes);
	free(word);
	free(pair);
}

static void report_sent(const struct count *wc, const struct role *role, const struct part *p)
{
	struct shuffle_tree_counts c;

	shuffle_tree_count(wc->tree, &c);
	printf("{\"rank\": %u, \"parent\": %u, \"children\": %u, \"words\": %" PRIu64
	       ", \"distinct\": %zu, \"record_bytes\": %zu, \"word_bytes\": %zu"
	       ", \"record_bytes_sent\": %" PRIu64 "}\n",
	       wc->rank, role->parent, role->children, wc->words, p->pairs,
	       p->pairs * sizeof(*p->pair), p->word_bytes, c.records_out * sizeof(*p->pair));
	if (fflush(stdout) || ferror(stdout))
		err(1, "cannot write the result");
}

void count_over_relays(struct count *wc, const struct role *role)
{
	struct part p = own_part(wc);
	bool sends = wc->rank != wc->receiver;
	struct shuffle_tree_end end;

	new_words(wc, role, &p);
	if (shuffle_tree_start(wc->tree, wc->op, sends ? p.pair : NULL, sends ? p.pairs : 0))
		err(1, "member %u: operation %" PRIu64, wc->rank, wc->op);
	end = receive(wc, role);
	if (wc->rank == wc->receiver)
		report(wc, &end, &p);
	else if (wc->json)
		report_sent(wc, &role[wc->rank], &p);
	shuffle_tree_close(wc->tree);
	free_words(wc->words_op);
	free(end.result);
	shuffle_key_names_free(p.longer);
	free(p.words);
	free(p.pair);
}
