// SPDX-License-Identifier: GPL-2.0-or-later
/* The runs that have come become the output, see external.h. */
#include <stdlib.h>

#include "external.h"

/* At least of a run's buffer: the longest record. */
#define BUFFER_MIN	(SORT_MAX_RECORD + 16)

/**
 * struct source - a run that is being read
 * @number: of the run
 * @at: in the file, what comes next
 * @end: of the run
 * @buf: what has been read
 * @room: bytes of the buffer
 * @have: bytes in it
 * @used: of these
 * @rank: of the record, its host
 * @key: its key
 * @klen: bytes of it
 * @record: all of it
 * @len: bytes of it
 */
struct source {
	unsigned int number;
	uint64_t at, end;
	unsigned char *buf;
	size_t room, have, used;
	uint32_t rank;
	const unsigned char *key;
	size_t klen;
	const unsigned char *record;
	size_t len;
};

static void fill(struct external *x, struct source *s)
{
	size_t n;

	memmove(s->buf, s->buf + s->used, s->have - s->used);
	s->have -= s->used;
	s->used = 0;
	n = s->room - s->have;
	if (n > s->end - s->at)
		n = s->end - s->at;
	spill_read(x, &x->got, s->at, s->buf + s->have, n);
	s->at += n;
	s->have += n;
}

/* The next record; 0 if there is none. */
static int next(struct external *x, struct source *s)
{
	const struct format *f = &x->h->format;
	size_t at = sizeof(s->rank);
	uint32_t line;

	if (s->have - s->used < BUFFER_MIN && s->at < s->end)
		fill(x, s);
	if (s->have == s->used)
		return 0;
	memcpy(&s->rank, s->buf + s->used, sizeof(s->rank));
	if (f->text) {
		memcpy(&line, s->buf + s->used + at, sizeof(line));
		at += sizeof(line);
		s->len = line;
	} else {
		s->len = f->record;
	}
	s->record = s->buf + s->used + at;
	s->used += at + s->len;
	at = 0;
	s->klen = f->text ? text_key(f, s->record, s->len, &at) : f->key;
	s->key = s->record + at;
	return 1;
}

/* Order of keys; that of lines ends before the shorter one's zeroes. */
static int compare_keys(const unsigned char *a, size_t alen, const unsigned char *b, size_t blen)
{
	int d = memcmp(a, b, alen < blen ? alen : blen);

	return d ? d : (alen > blen) - (alen < blen);
}

/* Equal keys: in order of hosts, then of runs. */
static int precedes(const struct source *a, const struct source *b)
{
	int d = compare_keys(a->key, a->klen, b->key, b->klen);

	if (d)
		return d < 0;
	return a->rank != b->rank ? a->rank < b->rank : a->number < b->number;
}

/* The source at @i of a heap may be too far up. */
static void sift(struct source **heap, size_t n, size_t i)
{
	struct source *s = heap[i];
	size_t child;

	for (; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && precedes(heap[child + 1], heap[child]))
			child++;
		if (!precedes(heap[child], s))
			break;
		heap[i] = heap[child];
	}
	heap[i] = s;
}

/* The first bytes of a key, as reports have it. */
static void note_key(unsigned char *to, const struct source *s)
{
	memset(to, 0, REPORT_KEY);
	memcpy(to, s->key, s->klen < REPORT_KEY ? s->klen : REPORT_KEY);
}

/**
 * external_write() - merge the runs into the output
 * @x: the sort, which is given back
 */
void external_write(struct external *x)
{
	struct host *h = x->h;
	unsigned int runs = x->got.runs, i;
	unsigned char first[REPORT_KEY], last[REPORT_KEY];
	struct source *all = memory(runs, sizeof(*all)), *s;
	struct source **heap = memory(runs, sizeof(*heap));
	size_t room = h->memory / (runs + 1), n = 0, any = 0;
	uint64_t bytes = 0;
	FILE *f;

	/* in a run: rank and record, of lines their length, which has no line end */
	for (i = 0; i < runs; i++)
		bytes += x->got.run[i].bytes - (h->format.text ? 7 : 4) * x->got.run[i].n;
	if (h->one_file)
		output_offset(h, bytes);
	f = output_open(h);
	for (i = 0; i < runs; i++) {
		s = &all[i];
		s->number = i;
		s->at = x->got.run[i].at;
		s->end = s->at + x->got.run[i].bytes;
		s->room = room > BUFFER_MIN ? room : BUFFER_MIN;
		if (s->room > x->got.run[i].bytes)
			s->room = x->got.run[i].bytes;
		s->buf = memory(s->room, 1);
		if (next(x, s))
			heap[n++] = s;
	}
	for (i = n; i--;)
		sift(heap, n, i);
	while (n) {
		s = heap[0];
		if (!any++)
			note_key(first, s);
		note_key(last, s);
		checksum_add(&h->report.out, s->record, h->format.text ? 0 : s->klen,
			     s->record + (h->format.text ? 0 : s->klen),
			     s->len - (h->format.text ? 0 : s->klen));
		output_bytes(h, f, s->record, s->len);
		if (h->format.text)
			output_bytes(h, f, "\n", 1);
		if (any % 65536 == 0)
			signal_check();
		if (!next(x, s))
			heap[0] = heap[--n];
		sift(heap, n, 0);
	}
	output_close(h, f);
	if (any)
		output_keys(&h->report, first, last,
			    x->longest < REPORT_KEY ? x->longest : REPORT_KEY);
	for (i = 0; i < runs; i++)
		free(all[i].buf);
	free(all);
	free(heap);
	spill_close(&x->got);
	free(x);
}
