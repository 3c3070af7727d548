// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle-wordcount over a group with relays: kernels on the way merge.
 *
 * Two operations.  In the first one records of key and count go along the tree, sorted by key, and
 * are summed where they meet (SHUFFLE_CMSG_MERGE).  The key of a word of up to 8 bytes is the word
 * itself, with zeros behind it; its first byte is 0x30 at least.  That of a longer word is a hash
 * value of at most 56 bits.  In the second one each sender's longer words go to the receiver by the
 * shortest way: two that have the same key are an error there that names both, not one sum.
 *
 * A word in the second operation: its length, 2 bytes, big-endian, and its bytes.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "wordcount.h"

#define SHORT_BYTES	8U	/* of a word that is its own key */
#define HASH_BITS	56U
#define HEAD_BYTES	2U	/* of a word in the second operation */
#define READ_BYTES	(1U << 20)
#define READ_RECORDS	64

/* On the wire: both are big-endian. */
struct pair {
	uint64_t key;
	uint64_t value;
};

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
	return key;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = be64toh(((const struct pair *)a)->key);
	uint64_t y = be64toh(((const struct pair *)b)->key);

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
	struct pair *pair;
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
		struct pair *pair = &p.pair[p.pairs];

		pair->value = htobe64(name->value);
		if (name->len <= SHORT_BYTES) {
			pair->key = short_key(name->name, name->len);
			continue;
		}
		pair->key = htobe64(long_key(wc, p.longer, name->name, name->len, wc->rank));
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
 * struct call - an operation
 * @fd: socket
 * @op: which
 * @bufs: of its messages
 * @lens: likewise; SHUFFLE_ABSENT at first
 * @absent: bits of members that send us nothing: at first all
 * @column: what comes
 */
struct call {
	int fd;
	uint64_t op;
	const void **bufs;
	uint64_t *lens;
	uint64_t *absent;
	struct shuffle_column *column;
};

static struct call new_call(const struct count *wc, int fd, uint64_t op)
{
	uint32_t i, n = wc->group.count;
	struct call c = {
		.fd = fd, .op = op,
		.bufs = calloc(n, sizeof(*c.bufs)), .lens = calloc(n, sizeof(*c.lens)),
		.absent = calloc((n + 63) / 64, sizeof(*c.absent)),
		.column = shuffle_column_new(op, n),
	};

	if (!c.bufs || !c.lens || !c.absent || !c.column)
		err(1, "operation");
	for (i = 0; i < n; i++) {
		c.lens[i] = SHUFFLE_ABSENT;
		c.absent[i / 64] |= 1ULL << i % 64;
	}
	return c;
}

static void free_call(struct call *c)
{
	shuffle_column_free(c->column);
	free(c->absent);
	free(c->lens);
	free(c->bufs);
}

static void comes(struct call *c, uint32_t rank)
{
	c->absent[rank / 64] &= ~(1ULL << rank % 64);
}

static void put(struct call *c, uint32_t to, const void *bytes, uint64_t len)
{
	c->bufs[to] = bytes;
	c->lens[to] = len;
}

/* Start it.  One that has ended meanwhile says why when its records are read. */
static void submit(const struct count *wc, struct call *c, const struct shuffle_merge *merge)
{
	struct shuffle_tx tx;

	shuffle_tx_init(&tx, c->op, c->bufs, c->lens, wc->group.count, 0);
	shuffle_tx_absent(&tx, c->absent);
	if (merge)
		shuffle_tx_merge(&tx, merge);
	if (shuffle_tx_finish(c->fd, &tx) && errno != EPIPE)
		err(1, "member %u: operation %" PRIu64, wc->rank, c->op);
}

/* The records of key and count: along the tree. */
static struct call submit_counts(const struct count *wc, int fd, const struct role *role,
				 const struct part *p)
{
	const struct role *mine = &role[wc->rank];
	struct shuffle_merge merge = {
		.oper = SHUFFLE_MERGE_SUM, .to = mine->parent, .flags = SHUFFLE_MERGE_SORTED,
	};
	struct call c = new_call(wc, fd, wc->op);
	uint32_t i;

	for (i = 0; i < wc->group.count; i++)
		if (role[i].parent == wc->rank)
			comes(&c, i);
	if (mine->parent == ROLE_NOBODY) {
		merge.to = wc->rank;
		merge.flags = 0;
		for (i = 0; i < wc->group.count; i++)
			merge.senders += role[i].kind == ROLE_MEMBER && i != wc->rank;
	} else if (mine->children) {
		put(&c, mine->parent, NULL, 0);
		put(&c, wc->rank, p->pair, p->pairs * sizeof(*p->pair));
		comes(&c, wc->rank);
	} else {
		put(&c, mine->parent, p->pair, p->pairs * sizeof(*p->pair));
	}
	submit(wc, &c, mine->children ? &merge : NULL);
	return c;
}

/* The longer words: from each member to the receiver. */
static struct call submit_words(const struct count *wc, int fd, const struct role *role,
				const struct part *p)
{
	struct call c = new_call(wc, fd, wc->op + 1);
	uint32_t i;

	if (wc->rank != wc->receiver) {
		put(&c, wc->receiver, p->words, p->word_bytes);
	} else {
		for (i = 0; i < wc->group.count; i++)
			if (role[i].kind == ROLE_MEMBER && i != wc->rank)
				comes(&c, i);
	}
	submit(wc, &c, NULL);
	return c;
}

static int is_over(const struct call *c)
{
	return c->column->done && !c->column->missing_left;
}

static void failed(const struct count *wc, const struct call *c)
{
	const struct shuffle_column *col = c->column;
	const char *hint = "";
	char names[256] = "";
	unsigned int i;
	size_t at = 0;

	for (i = 0; i < col->missing_count && at < sizeof(names) - 16; i++)
		at += snprintf(names + at, sizeof(names) - at, " %u", col->missing[i]);
	if (col->error == EBADMSG)
		hint = "; not all senders are counted, or one twice: do relays fit the roles?";
	if (col->error == EPROTO)
		hint = "; are the relays made with the word sorted?";
	errx(1, "member %u: %s: %s%s%s%s", wc->rank, c->op == wc->op ? "counts" : "words",
	     strerror(col->error), at ? ": members" : "", names, hint);
}

static void show_progress(struct count *wc, const struct call *a, const struct call *b)
{
	uint64_t now = now_ns(), have = 0;
	uint32_t i;

	if (now - wc->told_ns < TELL_NS)
		return;
	wc->told_ns = now;
	for (i = 0; i < wc->group.count; i++)
		have += a->column->have[i] + b->column->have[i];
	if (wc->rank == wc->receiver)
		fprintf(stderr, "member %u: %" PRIu64 " bytes have come\n", wc->rank, have);
	else
		fprintf(stderr, "member %u: waits for others to take what is sent\n", wc->rank);
}

/* Until both have ended. */
static void receive(struct count *wc, struct call *counts, struct call *words)
{
	static char buf[READ_BYTES];
	struct shuffle_record record[READ_RECORDS];
	struct pollfd pfd = { .fd = counts->fd, .events = POLLIN };
	unsigned int i, n;
	ssize_t len;

	wc->told_ns = now_ns();
	while (!is_over(counts) || !is_over(words)) {
		const char *at = buf;

		show_progress(wc, counts, words);
		if (poll(&pfd, 1, TELL_NS / 1000000) <= 0)
			continue;
		n = READ_RECORDS;
		len = shuffle_recv(counts->fd, buf, sizeof(buf), record, &n, MSG_DONTWAIT);
		if (len < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (len < 0)
			err(1, "member %u: receiving", wc->rank);
		for (i = 0; i < n; i++) {
			struct call *c = record[i].op_id == words->op ? words : counts;

			if (shuffle_column_add(c->column, &record[i], at) < 0)
				err(1, "member %u: what came from member %u", wc->rank,
				    record[i].rank);
			if (record[i].type == SHUFFLE_RECORD_DATA)
				at += record[i].len;
			if (c->column->error && is_over(c))
				failed(wc, c);
		}
	}
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

/* All records, our own behind the others'.  Returns their number. */
static size_t all_pairs(const struct count *wc, const struct call *counts, const struct part *p,
			struct pair **pair)
{
	size_t n = 0, len;
	uint32_t i;

	for (i = 0; i < wc->group.count; i++) {
		if (counts->column->lens[i] % sizeof(**pair))
			errx(1, "member %u sends a part of a record", i);
		n += counts->column->lens[i] / sizeof(**pair);
	}
	*pair = calloc(n + p->pairs + 1, sizeof(**pair));
	if (!*pair)
		err(1, "words");
	for (i = 0, n = 0; i < wc->group.count; i++) {
		len = counts->column->lens[i];
		if (len)
			memcpy(*pair + n, counts->column->bufs[i], len);
		n += len / sizeof(**pair);
	}
	memcpy(*pair + n, p->pair, p->pairs * sizeof(**pair));
	return n + p->pairs;
}

/* Of each key one record. */
static size_t sum(struct pair *pair, size_t n)
{
	size_t i, m = 0;

	qsort(pair, n, sizeof(*pair), by_key);
	for (i = 0; i < n; i++) {
		if (m && pair[m - 1].key == pair[i].key)
			pair[m - 1].value = htobe64(be64toh(pair[m - 1].value) +
						    be64toh(pair[i].value));
		else
			pair[m++] = pair[i];
	}
	return m;
}

static struct word word_of(const struct pair *pair, const struct shuffle_key_names *longer)
{
	const struct shuffle_key_name *name;
	struct word w = { .name = (const char *)&pair->key, .count = be64toh(pair->value) };

	w.len = strnlen(w.name, SHORT_BYTES);
	if (w.len && short_key(w.name, w.len) == pair->key)
		return w;
	name = shuffle_key_find(longer, be64toh(pair->key));
	if (!name)
		errx(1, "key %016" PRIx64 " has no word", be64toh(pair->key));
	w.name = name->name;
	w.len = name->len;
	return w;
}

static void report(const struct count *wc, const struct call *counts, const struct call *words,
		   struct part *p)
{
	uint64_t pair_bytes = 0, word_bytes = 0;
	struct pair *pair;
	struct word *word;
	char more[200];
	size_t n, i;

	for (i = 0; i < wc->group.count; i++) {
		pair_bytes += counts->column->lens[i];
		word_bytes += words->column->lens[i];
		take_words(wc, p->longer, i, words->column->bufs[i], words->column->lens[i]);
	}
	n = all_pairs(wc, counts, p, &pair);
	n = sum(pair, n);
	word = calloc(n + 1, sizeof(*word));
	if (!word)
		err(1, "words");
	for (i = 0; i < n; i++)
		word[i] = word_of(&pair[i], p->longer);
	snprintf(more, sizeof(more),
		 "\"record_bytes_received\": %" PRIu64 ", \"word_bytes_received\": %" PRIu64 ", ",
		 pair_bytes, word_bytes);
	print_words(wc, word, n, more);
	free(word);
	free(pair);
}

static void report_sent(const struct count *wc, const struct role *role, const struct part *p)
{
	printf("{\"rank\": %u, \"parent\": %u, \"children\": %u, \"words\": %" PRIu64
	       ", \"distinct\": %zu, \"record_bytes\": %zu, \"word_bytes\": %zu}\n",
	       wc->rank, role->parent, role->children, wc->words, p->pairs,
	       p->pairs * sizeof(*p->pair), p->word_bytes);
	if (fflush(stdout) || ferror(stdout))
		err(1, "cannot write the result");
}

void count_over_relays(struct count *wc, const struct role *role, int fd)
{
	uint32_t idle_ms = wc->timeout_ms;
	struct call counts, words;
	struct part p = own_part(wc);

	if (idle_ms && setsockopt(fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &idle_ms, sizeof(idle_ms)))
		err(1, "--timeout");
	counts = submit_counts(wc, fd, role, &p);
	words = submit_words(wc, fd, role, &p);
	receive(wc, &counts, &words);
	if (wc->rank == wc->receiver)
		report(wc, &counts, &words, &p);
	else if (wc->json)
		report_sent(wc, &role[wc->rank], &p);
	free_call(&counts);
	free_call(&words);
	shuffle_key_names_free(p.longer);
	free(p.words);
	free(p.pair);
}
