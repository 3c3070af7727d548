// SPDX-License-Identifier: BSD-3-Clause
/*
 * Keyed collectives: keys that are strings.  A key is the hash value of its string.  All strings
 * meet on their way to the receiver; two that have the same key are an error there, not one sum.
 *
 * A string on the wire: its key (8 bytes), its length (2), both big-endian, and its bytes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "keys.h"

#define ENTRY_HEAD	10U
#define DEFAULT_BYTES	(1ULL << 30)
#define BLOCK_BYTES	(64UL << 10)	/* of strings, which must not move */

/* of a list that goes to all: so much in one broadcast */
#define PIECE_BYTES	(16UL << 20)

/* the longest string fits */
enum {
	CHUNK_FITS = KEYS_CHUNK / (ENTRY_HEAD + SHUFFLE_KEY_NAME_BYTES),
	BLOCK_FITS = BLOCK_BYTES / SHUFFLE_KEY_NAME_BYTES,
	THEY_FIT = 1 / (CHUNK_FITS > 0 && BLOCK_FITS > 0),
};

struct block {
	struct block *next;
	char bytes[BLOCK_BYTES];
};

struct shuffle_key_names {
	unsigned int bits;
	uint64_t max_bytes, bytes;
	struct block *block;
	size_t used;			/* of @block */
	struct shuffle_key_name *entry;
	uint32_t n, room;
	uint32_t *place;		/* 0: free, or the number of an entry plus one */
	uint32_t places;		/* a power of two, at least twice @room */
};

struct shuffle_key_names *shuffle_key_names_new(unsigned int bits, uint64_t max_bytes)
{
	struct shuffle_key_names *names;

	if (!bits || bits > 64) {
		errno = EINVAL;
		return NULL;
	}
	names = calloc(1, sizeof(*names));
	if (!names)
		return NULL;
	names->bits = bits;
	names->max_bytes = max_bytes ? max_bytes : DEFAULT_BYTES;
	return names;
}

void shuffle_key_names_free(struct shuffle_key_names *names)
{
	struct block *b, *next;

	if (!names)
		return;
	for (b = names->block; b; b = next) {
		next = b->next;
		free(b);
	}
	free(names->entry);
	free(names->place);
	free(names);
}

/* The same at all members, whatever their byte order: FNV-1a, and its bits mixed. */
static uint64_t hash(const char *name, size_t len)
{
	uint64_t x = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < len; i++)
		x = (x ^ (unsigned char)name[i]) * 0x100000001b3ULL;
	x = (x ^ x >> 33) * 0xff51afd7ed558ccdULL;
	return x ^ x >> 33;
}

/* Where a key is, or would be. */
static uint32_t *find(const struct shuffle_key_names *names, uint64_t key)
{
	uint32_t at = (key * 0x9e3779b97f4a7c15ULL >> 32) & (names->places - 1), number;

	while ((number = names->place[at]) && names->entry[number - 1].key != key)
		at = (at + 1) & (names->places - 1);
	return &names->place[at];
}

static int charge(struct shuffle_key_names *names, uint64_t bytes)
{
	errno = ENOBUFS;
	if (bytes > names->max_bytes - names->bytes)
		return -1;
	errno = ENOMEM;
	names->bytes += bytes;
	return 0;
}

/* Room for another entry. */
static int grow(struct shuffle_key_names *names)
{
	uint32_t room = names->room ? 2 * names->room : 64, places = 2 * room, i;
	struct shuffle_key_name *entry;
	uint32_t *place;

	if (names->n < names->room)
		return 0;
	if (charge(names, (room - names->room) * (sizeof(*entry) + 2 * sizeof(*place))) ||
	    room > 1U << 30)
		return -1;
	entry = reallocarray(names->entry, room, sizeof(*entry));
	if (!entry)
		return -1;
	names->entry = entry;
	place = calloc(places, sizeof(*place));
	if (!place)
		return -1;
	free(names->place);
	names->place = place;
	names->places = places;
	names->room = room;
	for (i = 0; i < names->n; i++)
		*find(names, names->entry[i].key) = i + 1;
	return 0;
}

static const char *keep(struct shuffle_key_names *names, const char *name, size_t len)
{
	struct block *b = names->block;

	if (!b || len > BLOCK_BYTES - names->used) {
		if (charge(names, sizeof(*b)))
			return NULL;
		b = malloc(sizeof(*b));
		if (!b)
			return NULL;
		b->next = names->block;
		names->block = b;
		names->used = 0;
	}
	memcpy(b->bytes + names->used, name, len);
	names->used += len;
	return b->bytes + names->used - len;
}

/* For people: not all of a long one. */
static int shown(size_t len)
{
	return len < 64 ? len : 64;
}

static void collision(struct shuffle_keys_fault *fault, const struct shuffle_key_name *e,
		      const char *name, size_t len)
{
	if (!fault)
		return;
	keys_fault_clear(fault);
	fault->error = ENOTUNIQ;
	snprintf(fault->text, sizeof(fault->text),
		 "the strings \"%.*s\" and \"%.*s\" have the same key %016llx", shown(e->len),
		 e->name, shown(len), name, (unsigned long long)e->key);
}

struct shuffle_key_name *shuffle_key_of(struct shuffle_key_names *names, const char *name,
					size_t len, struct shuffle_keys_fault *fault)
{
	uint64_t key = hash(name, len) >> (64 - names->bits);
	struct shuffle_key_name *e;
	uint32_t *place;

	if (len > SHUFFLE_KEY_NAME_BYTES) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	if (grow(names))
		return NULL;
	place = find(names, key);
	if (*place) {
		e = &names->entry[*place - 1];
		if (e->len == len && !memcmp(e->name, name, len))
			return e;
		collision(fault, e, name, len);
		errno = ENOTUNIQ;
		return NULL;
	}
	e = &names->entry[names->n];
	e->name = keep(names, name, len);
	if (!e->name)
		return NULL;
	e->key = key;
	e->value = 0;
	e->len = len;
	*place = ++names->n;
	return e;
}

const struct shuffle_key_name *shuffle_key_find(const struct shuffle_key_names *names, uint64_t key)
{
	uint32_t number = names->n ? *find(names, key) : 0;

	return number ? &names->entry[number - 1] : NULL;
}

const struct shuffle_key_name *shuffle_key_at(const struct shuffle_key_names *names, size_t i)
{
	return i < names->n ? &names->entry[i] : NULL;
}

/* ---- those of all members ---- */

static int add(struct coll_keys *k, struct shuffle_key_names *names, const char *name, size_t len)
{
	struct shuffle_keys_fault fault = { 0 };

	if (shuffle_key_of(names, name, len, &fault))
		return 0;
	if (errno == ENOTUNIQ)
		return keys_fault(k, errno, SHUFFLE_KEYS_NOBODY, "%s", fault.text);
	return keys_fault(k, errno, k->c->rank, "the strings of member %u: %s", k->c->rank,
			  errno == ENOBUFS ? "more than there may be" : strerror(errno));
}

/* Strings of a list, as @rank has sent them. */
static int take_list(struct coll_keys *k, struct shuffle_key_names *names, uint32_t rank,
		     const unsigned char *at, uint64_t size)
{
	uint64_t key;
	size_t len;

	while (size) {
		len = size < ENTRY_HEAD ? 0 : shuffle_get16(at + 8);
		if (size < ENTRY_HEAD || len > size - ENTRY_HEAD)
			return keys_fault(k, EPROTO, rank, "member %u sends half a string", rank);
		key = shuffle_get64(at);
		at += ENTRY_HEAD;
		if (key != hash((const char *)at, len) >> (64 - names->bits))
			return keys_fault(k, EPROTO, rank, "member %u has another key of a string",
					  rank);
		if (add(k, names, (const char *)at, len))
			return -1;
		at += len;
		size -= ENTRY_HEAD + len;
	}
	return 0;
}

static size_t put_entry(unsigned char *to, const struct shuffle_key_name *e)
{
	shuffle_put64(to, e->key);
	shuffle_put16(to + 8, e->len);
	memcpy(to + ENTRY_HEAD, e->name, e->len);
	return ENTRY_HEAD + e->len;
}

static int send_list(struct coll_keys *k, const struct shuffle_key_names *names)
{
	size_t size = 0;
	uint32_t i;

	for (i = 0; i < names->n; i++) {
		if (size + ENTRY_HEAD + names->entry[i].len > KEYS_CHUNK) {
			if (keys_send(k, size, 0))
				return -1;
			size = 0;
		}
		size += put_entry(k->out + KEYS_HEAD + size, &names->entry[i]);
	}
	return keys_send(k, size, KEYS_LAST);
}

static int reduce_names(struct coll_keys *k, struct shuffle_key_names *names)
{
	struct keys_edge *e;

	for (;;) {
		if (keys_next(k, &e))
			return -1;
		if (!e)
			break;
		if (take_list(k, names, e->rank, e->buf + KEYS_HEAD, e->size - KEYS_HEAD) ||
		    keys_taken(k, e))
			return -1;
	}
	return k->parent == SHUFFLE_KEYS_NOBODY ? keys_all_folded(k) : send_list(k, names);
}

/* The receiver's list to all. */
static int list_to_all(struct coll_keys *k, struct shuffle_key_names *names)
{
	uint64_t size = 0, at, piece;
	unsigned char *list;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < names->n; i++)
		size += ENTRY_HEAD + names->entry[i].len;
	if (keys_verdict(k, &size, names->max_bytes))
		return -1;
	list = malloc(size + 1);
	if (!list)
		return keys_fault(k, ENOMEM, k->c->rank, "no memory for the strings of all");
	for (i = 0, at = 0; k->parent == SHUFFLE_KEYS_NOBODY && i < names->n; i++)
		at += put_entry(list + at, &names->entry[i]);
	for (at = 0; at < size && !rc; at += piece) {
		piece = size - at < PIECE_BYTES ? size - at : PIECE_BYTES;
		rc = shuffle_broadcast(k->c, list + at, piece, k->root);
	}
	if (rc)
		keys_fault(k, errno, SHUFFLE_KEYS_NOBODY, "the strings did not come: %s",
			   strerror(errno));
	else
		rc = take_list(k, names, k->root, list, size);
	free(list);
	return rc;
}

int shuffle_reduce_names(struct shuffle_coll *c, struct shuffle_key_names *names,
			 unsigned int root, struct shuffle_keys_fault *fault)
{
	struct shuffle_keys_fault unread;
	struct coll_keys k;
	int rc;

	fault = fault ? fault : &unread;
	keys_fault_clear(fault);
	if (root >= c->count && root != SHUFFLE_KEYS_ALL) {
		errno = EINVAL;
		return -1;
	}
	if (keys_begin(c))
		return -1;
	rc = keys_open(&k, c, root, KEYS_IS_NAMES, fault);
	if (!rc)
		rc = reduce_names(&k, names);
	rc = keys_end(&k, rc);
	if (root == SHUFFLE_KEYS_ALL && k.out)
		rc = list_to_all(&k, names);
	keys_close(&k);
	errno = fault->error;
	return rc ? coll_fail(c) : 0;
}
