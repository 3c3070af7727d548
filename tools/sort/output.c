// SPDX-License-Identifier: GPL-2.0-or-later
/* The part of a host: keys are merged, values are found by the index that came with their keys. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"

/* Record i of the part, as its host has sent it. */
static const unsigned char *sent_value(const struct host *h, size_t i, const unsigned char **key,
				       size_t *len)
{
	const struct entry *e = &h->all.e[i];
	const struct column_part *c = &h->column[e->rank];

	*key = c->key + e->index * h->keys.klen;
	*len = c->off ? c->off[e->index + 1] - c->off[e->index] : h->records.vlen;
	return c->value + (c->off ? c->off[e->index] : e->index * h->records.vlen);
}

/**
 * output_place() - the order of all keys; without a folder, keys and values are put in order, too
 * @h: what has come
 */
void output_place(struct host *h)
{
	size_t klen = h->keys.klen, i, len, bytes = 0;
	const unsigned char *key, *value;

	if (merge_finish(&h->merge, &h->all))
		die("out of memory: %zu keys", h->all.n);
	if (!h->dir) {
		for (i = 0; i < h->all.n; i++, bytes += len)
			sent_value(h, i, &key, &len);
		h->placed_key = memory(h->all.n, klen);
		h->placed_value = memory(bytes, 1);
		for (i = 0, bytes = 0; i < h->all.n; i++, bytes += len) {
			value = sent_value(h, i, &key, &len);
			memcpy(h->placed_key + i * klen, key, klen);
			memcpy(h->placed_value + bytes, value, len);
		}
	}
	charge_spend(&h->net.charge, CHARGE_PLACE, h->all.n);
}

/**
 * output_bytes() - write some of the output
 * @h: the host
 * @f: its output, or NULL
 * @p: the bytes
 * @len: their number
 */
void output_bytes(struct host *h, FILE *f, const void *p, size_t len)
{
	if (f && len && fwrite(p, 1, len, f) != len)
		die("%s: cannot write: %s", h->part, strerror(errno));
}

/**
 * output_keys() - report the first and the last key of the part
 * @rep: the report
 * @first: the first key
 * @last: the last one
 * @klen: bytes of each
 */
void output_keys(struct report *rep, const unsigned char *first, const unsigned char *last,
		 size_t klen)
{
	rep->key = klen < REPORT_KEY ? klen : REPORT_KEY;
	memcpy(rep->first, first, rep->key);
	memcpy(rep->last, last, rep->key);
}

/**
 * output_name() - make the folder, and name the output
 * @h: the host
 */
void output_name(struct host *h)
{
	char own[16] = "sorted";

	if (mkdir(h->dir, 0777) && errno != EEXIST)
		die("%s: cannot create: %s", h->dir, strerror(errno));
	if (!h->one_file)
		snprintf(own, sizeof(own), "%u", h->net.rank);
	if ((size_t)snprintf(h->part, sizeof(h->part), "%s/%s.part", h->dir, own) >=
	    sizeof(h->part))
		die("%s: the name is too long", h->dir);
	snprintf(h->name, sizeof(h->name), "%s/%s", h->dir, own);
}

/**
 * output_offset() - tell each other how long the parts of one file are
 * @h: the host
 * @bytes: of its part
 */
void output_offset(struct host *h, uint64_t bytes)
{
	struct net *net = &h->net;
	uint64_t theirs, ours = bytes;
	struct net_op op;
	unsigned int i;

	wire64(&ours, 1);
	net_begin(net, &op, NET_OUTPUT);
	for (i = 0; i < net->group.count; i++) {
		if (i == net->rank)
			continue;
		net_send(&op, i, &ours, sizeof(ours));
		net_expect(&op, i);
	}
	net_run(&op);
	for (i = 0; i < net->group.count; i++) {
		theirs = bytes;
		if (i != net->rank) {
			if (op.in_len[i] != sizeof(theirs))
				die("host %u (%s) does not say how long its part is", i,
				    net_name(net, i));
			memcpy(&theirs, op.in[i], sizeof(theirs));
			wire64(&theirs, 1);
		}
		if (theirs > INT64_MAX - h->file_bytes)
			die("host %u (%s): a part of %llu bytes, too long for one file", i,
			    net_name(net, i), (unsigned long long)theirs);
		if (i < net->rank)
			h->file_at += theirs;
		h->file_bytes += theirs;
	}
	net_end(&op);
}

/**
 * output_rename() - all hosts have written: the output gets its name
 * @h: the host
 */
void output_rename(struct host *h)
{
	struct stat st;
	int fd;

	h->opened = 0;
	if (h->one_file && h->net.rank)
		return;
	if (h->one_file) {
		/* opened once more: a network's file system then asks what others have written */
		fd = open(h->part, O_RDWR | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st))
			die("%s: %s", h->part, strerror(errno));
		if ((uint64_t)st.st_size < h->file_bytes)
			die("%s has %lld bytes of %llu: is %s a folder that all hosts share?",
			    h->part, (long long)st.st_size, (unsigned long long)h->file_bytes,
			    h->dir);
		/* of an earlier sort there may be more */
		if (ftruncate(fd, h->file_bytes) || close(fd))
			die("%s: cannot write: %s", h->part, strerror(errno));
	}
	if (rename(h->part, h->name))
		die("%s: cannot rename: %s", h->part, strerror(errno));
}

/**
 * output_close() - all is written
 * @h: the host
 * @f: its output
 */
void output_close(struct host *h, FILE *f)
{
	if (fflush(f) || fclose(f))
		die("%s: cannot write: %s", h->part, strerror(errno));
}

/**
 * output_open() - create the output, under another name
 * @h: the host
 *
 * Return: the file.
 */
FILE *output_open(struct host *h)
{
	/* of one file others may have written their parts already */
	int fd = open(h->part, O_WRONLY | O_CREAT | O_CLOEXEC | (h->one_file ? 0 : O_TRUNC), 0666);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f)
		die("%s: cannot create: %s", h->part, strerror(errno));
	if (h->one_file && fseeko(f, h->file_at, SEEK_SET))
		die("%s: cannot write at byte %llu: %s", h->part, (unsigned long long)h->file_at,
		    strerror(errno));
	setvbuf(f, NULL, _IOFBF, 1 << 20);
	h->opened = 1;
	return f;
}

/**
 * output_write() - check the part, and write it if there is a folder
 * @h: after output_place()
 */
void output_write(struct host *h)
{
	size_t klen = h->keys.klen, i, len, bytes = 0;
	const unsigned char *key, *value, *before = NULL, *first = NULL;
	FILE *f = NULL;

	if (h->one_file) {
		bytes = h->all.n;	/* of lines, their ends */
		for (i = 0; h->format.text && i < h->all.n; i++, bytes += len)
			sent_value(h, i, &key, &len);
		output_offset(h, h->format.text ? bytes : bytes * h->format.record);
	}
	if (h->dir)
		f = output_open(h);
	for (i = 0, bytes = 0; i < h->all.n; i++, bytes += len) {
		value = sent_value(h, i, &key, &len);
		if (!h->dir) {
			key = h->placed_key + i * klen;
			value = h->placed_value + bytes;
		}
		if (before && memcmp(before, key, klen) > 0)
			die("host %u (%s) has sent keys that are not sorted", h->all.e[i].rank,
			    net_name(&h->net, h->all.e[i].rank));
		before = key;
		first = first ? first : key;
		checksum_add(&h->report.out, key, h->format.text ? 0 : klen, value, len);
		if (!h->format.text)
			output_bytes(h, f, key, klen);
		output_bytes(h, f, value, len);
		if (h->format.text)
			output_bytes(h, f, "\n", 1);
	}
	if (f)
		output_close(h, f);
	if (h->all.n)
		output_keys(&h->report, first, before, klen);
}

/**
 * output_free() - give the memory of the part back
 * @h: the host
 */
void output_free(struct host *h)
{
	free(h->placed_key);
	free(h->placed_value);
}
