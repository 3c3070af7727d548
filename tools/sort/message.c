// SPDX-License-Identifier: GPL-2.0-or-later
/* The shuffle of records: messages that are made of sorted records, and what comes. */
#include <stdlib.h>

#include "host.h"

/* In front of the records of a message: keys and values; or, of lines, lengths and the lines, which
 * have their keys in them.
 */
struct message_head {
	uint64_t n;
	uint64_t value_bytes;
};

/* Where sorted record @i is; a run that comes from a file is in order. */
static size_t record_at(const struct host *h, size_t i)
{
	return h->order ? h->order[i].index : i;
}

static uint64_t values_bytes(const struct host *h, size_t from, size_t to)
{
	uint64_t sum = 0;
	size_t len;

	if (!h->records.text)
		return (to - from) * h->records.vlen;
	for (; from < to; from++) {
		record_value(&h->records, record_at(h, from), &len);
		sum += len;
	}
	return sum;
}

/* Records [@from, @to) of the sorted ones, as they are sent.  Values are moved here, once. */
static unsigned char *make_message(const struct host *h, size_t from, size_t to, uint64_t *len)
{
	size_t n = to - from, klen = h->keys.klen, i, one;
	struct message_head head = { .n = n, .value_bytes = values_bytes(h, from, to) };
	unsigned char *mem, *at;

	*len = sizeof(head) + n * (h->records.text ? 4 : klen) + head.value_bytes;
	mem = malloc(*len);
	if (!mem)
		die("out of memory: %llu bytes", (unsigned long long)*len);
	memcpy(mem, &head, sizeof(head));
	wire64(mem, sizeof(head) / 8);
	at = mem + sizeof(head);
	for (i = from; h->records.text && i < to; i++, at += 4) {
		uint32_t line;

		record_value(&h->records, record_at(h, i), &one);
		line = one;
		memcpy(at, &line, 4);
		wire32(at, 1);
	}
	if (!h->records.text) {
		memcpy(at, h->keys.key + from * klen, n * klen);
		at += n * klen;
	}
	for (i = from; i < to; i++) {
		const unsigned char *value = record_value(&h->records, record_at(h, i), &one);

		memcpy(at, value, one);
		at += one;
	}
	return mem;
}

/* Where the lines of a message are, and their keys. */
static void take_lines(struct host *h, struct column_part *c, const unsigned char *lens,
		       uint64_t bytes, unsigned int rank)
{
	size_t klen = h->keys.klen, i, at, len;
	uint32_t line;

	c->value = lens + 4 * c->n;
	c->off = memory(c->n + 1, sizeof(*c->off));
	for (i = 0; i < c->n; i++) {
		memcpy(&line, lens + 4 * i, 4);
		wire32(&line, 1);
		if (line > SORT_MAX_RECORD)
			die("host %u (%s): a line of %u bytes", rank,
			    net_name(&h->net, rank), line);
		c->off[i + 1] = c->off[i] + line;
	}
	if (c->off[c->n] != bytes)
		die("host %u (%s): lines that do not fill its message", rank,
		    net_name(&h->net, rank));
	c->line_key = memory(c->n, klen);
	for (i = 0; i < c->n; i++) {
		const unsigned char *value = c->value + c->off[i];

		len = text_key(&h->format, value, c->off[i + 1] - c->off[i], &at);
		if (len > klen)
			die("host %u (%s): a key of %zu bytes, not %zu", rank,
			    net_name(&h->net, rank), len, klen);
		memcpy(c->line_key + i * klen, value + at, len);
	}
	c->key = c->line_key;
}

/* A message is complete: its keys are merged with those that have come before. */
static void take_message(struct host *h, unsigned int rank, const unsigned char *mem, uint64_t len)
{
	size_t klen = h->keys.klen, vlen = h->records.vlen;
	struct column_part *c = &h->column[rank];
	struct message_head head;
	uint64_t want = sizeof(head);

	if (len >= sizeof(head)) {
		memcpy(&head, mem, sizeof(head));
		wire64(&head, sizeof(head) / 8);
		if (head.n <= len && head.value_bytes <= len)
			want += head.n * (h->records.text ? 4 : klen) + head.value_bytes;
	}
	if (len != want || (!h->records.text && head.value_bytes != head.n * vlen))
		die("host %u (%s): a message of %llu bytes, not %llu", rank,
		    net_name(&h->net, rank), (unsigned long long)len, (unsigned long long)want);
	mem += sizeof(head);
	c->n = head.n;
	if (h->records.text) {
		take_lines(h, c, mem, head.value_bytes, rank);
	} else {
		c->key = mem;
		c->value = mem + head.n * klen;
	}
	if (merge_add(&h->merge, rank, c->key, head.n))
		die("out of memory: %llu keys", (unsigned long long)head.n);
}

static void whole(void *arg, unsigned int rank)
{
	struct host *h = arg;

	take_message(h, rank, h->data.in[rank], h->data.in_len[rank]);
}

/**
 * message_shuffle() - send each host its records, and merge the keys of what comes
 * @h: its @records and @keys are what is sent; @column and @merge are set
 * @step: number of the operation
 * @from: of each host, the first of the sorted records that it gets
 * @to: likewise, the end of them
 * @last: the records are not needed any more
 *
 * All has come then; that the others have all is only known from the roll call.
 */
void message_shuffle(struct host *h, unsigned int step, const size_t *from, const size_t *to,
		     int last)
{
	struct net *net = &h->net;
	unsigned int i, count = net->group.count;
	unsigned char **out = memory(count, sizeof(*out));
	uint64_t len, bytes_out = net->bytes_out, bytes_in = net->bytes_in;

	if (merge_init(&h->merge, count, h->keys.klen))
		die("out of memory: %u hosts", count);
	h->column = memory(count, sizeof(*h->column));
	net_begin(net, &h->data, step);
	h->data.whole = whole;
	h->data.arg = h;
	for (i = 0; i < count; i++) {
		out[i] = make_message(h, from[i], to[i], &len);
		if (i == net->rank) {
			h->own_len = len;
			continue;
		}
		net_send(&h->data, i, out[i], len);
		net_expect(&h->data, i);
	}
	if (last)
		records_free(&h->records);
	h->records.text = h->format.text;
	h->records.vlen = h->format.text ? 0 : h->format.record - h->format.key;
	take_message(h, net->rank, out[net->rank], h->own_len);
	net_run(&h->data);
	h->own = out[net->rank];
	out[net->rank] = NULL;
	for (i = 0; i < count; i++)
		free(out[i]);
	free(out);
	h->report.bytes_out += net->bytes_out - bytes_out;
	h->report.bytes_in += net->bytes_in - bytes_in;
}

/**
 * message_free() - give back what has come
 * @h: the host
 */
void message_free(struct host *h)
{
	unsigned int i;

	for (i = 0; h->column && i < h->net.group.count; i++) {
		free(h->column[i].off);
		free(h->column[i].line_key);
	}
	free(h->column);
	h->column = NULL;
	free(h->own);
	h->own = NULL;
	merge_free(&h->merge);
	if (h->data.net)
		net_end(&h->data);
}
