// SPDX-License-Identifier: GPL-2.0-or-later
/* One host of a sort: read, sort, divide, shuffle, merge, write. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dist.h"
#include "host.h"
#include "merge.h"

/* A thread of the local sort is worth its start. */
#define THREAD_RECORDS	16384

#define AGREE_MAGIC	0x53525431U

/* What all hosts must have in common, and what they tell each other before they sort. */
struct agree {
	uint32_t magic;
	uint32_t record;
	uint32_t key;
	uint32_t text;
	uint32_t pivots;
	uint32_t reduction;
	uint32_t first_field;
	uint32_t last_field;
	uint32_t separator;
	uint64_t records;
};

/* In front of the records of a message: keys and values; or, of lines, lengths and the lines, which
 * have their keys in them.
 */
struct message_head {
	uint64_t n;
	uint64_t value_bytes;
};

static struct host *ticking;

/* After 2 s, what goes on, each second. */
static void show(struct host *h, const char *what)
{
	uint64_t now = clock_now_ns();

	if (!h->progress || now - h->start_ns < 2000000000ULL || now - h->shown_ns < 1000000000ULL)
		return;
	h->shown_ns = now;
	fprintf(stderr, "shuffle-sort: host %u: %s, %.1f MB received\n", h->net.rank, what,
		h->net.bytes_in / 1e6);
}

static void phase_begin(struct host *h, enum phase phase)
{
	signal_check();
	h->phase = phase;
	h->phase_ns = clock_now_ns();
	show(h, phase_names[phase]);
}

static void phase_end(struct host *h)
{
	h->report.ns[h->phase] = clock_now_ns() - h->phase_ns;
}

static void tick(struct net *net)
{
	(void)net;
	if (ticking)
		show(ticking, phase_names[ticking->phase]);
}

static void read_input(struct host *h)
{
	struct records *r = &h->records;
	const unsigned char *value;
	size_t i, len;

	files_init(&h->input, h->path, h->files);
	if (!h->files)
		generate_records(r, &h->format, &h->generate);
	else
		read_files(r, &h->format, h->input.path, h->input.n);
	if (r->text)
		text_keys(r, &h->format, 0, h->path);
	for (i = 0; i < r->n; i++) {
		value = record_value(r, i, &len);
		checksum_add(&h->report.in, r->text ? value : r->key + i * r->klen,
			     r->text ? 0 : r->klen, value, len);
	}
}

static void same(struct host *h, const char *what, unsigned int rank, uint64_t theirs,
		 uint64_t ours)
{
	if (theirs != ours)
		die("host %u (%s) has another %s: %llu, here %llu", rank,
		    net_name(&h->net, rank), what, (unsigned long long)theirs,
		    (unsigned long long)ours);
}

/* Do all hosts sort the same?  And of lines, how long is the longest key? */
static void agree(struct host *h)
{
	struct records *r = &h->records;
	struct agree own = {
		.magic = AGREE_MAGIC, .record = h->format.record, .key = r->klen, .text = r->text,
		.pivots = h->pivots, .reduction = h->reduction, .records = r->n,
		.first_field = h->format.first_field, .last_field = h->format.last_field,
		.separator = (unsigned char)h->format.separator,
	};
	struct net *net = &h->net;
	size_t klen = r->klen;
	struct net_op op;
	unsigned int i;

	net_begin(net, &op, NET_AGREE);
	for (i = 0; i < net->group.count; i++) {
		if (i == net->rank)
			continue;
		net_send(&op, i, &own, sizeof(own));
		net_expect(&op, i);
	}
	net_run(&op);
	for (i = 0; i < net->group.count; i++) {
		const struct agree *a = op.in[i];

		if (i == net->rank)
			continue;
		if (op.in_len[i] != sizeof(own) || a->magic != AGREE_MAGIC)
			die("host %u (%s) has another version or byte order", i, net_name(net, i));
		same(h, "kind of records", i, a->text, own.text);
		same(h, "record length", i, a->record, own.record);
		if (!r->text)
			same(h, "key length", i, a->key, own.key);
		same(h, "number of pivots", i, a->pivots, own.pivots);
		same(h, "reduction factor", i, a->reduction, own.reduction);
		same(h, "first field", i, a->first_field, own.first_field);
		same(h, "last field", i, a->last_field, own.last_field);
		same(h, "separator", i, a->separator, own.separator);
		klen = a->key > klen ? a->key : klen;
	}
	net_end(&op);
	if (klen > SORT_MAX_KEY)
		die("a key of %zu bytes, more than %u", klen, SORT_MAX_KEY);
	if (r->text)
		text_keys(r, &h->format, klen, h->path);
}

static unsigned int sort_threads(const struct host *h, size_t n)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	size_t worth = n / THREAD_RECORDS + 1;

	if (h->threads)
		return h->threads;
	if (online > SORT_MAX_THREADS)
		online = SORT_MAX_THREADS;
	if (online < 1)
		return 1;
	return (size_t)online < worth ? (size_t)online : worth;
}

static void sort_keys(struct host *h)
{
	struct records *r = &h->records;
	size_t i;

	h->order = local_sort(r->key, r->n, r->klen, sort_threads(h, r->n));
	if (!h->order)
		die("out of memory: %zu records", r->n);
	h->keys.n = r->n;
	h->keys.klen = r->klen;
	h->keys.rank = h->net.rank;
	h->sorted = memory(r->n, r->klen);
	for (i = 0; i < r->n; i++)
		memcpy(h->sorted + i * r->klen, r->key + h->order[i].index * r->klen, r->klen);
	h->keys.key = h->sorted;
	free(r->key);
	r->key = NULL;
	if (r->n > 1)
		charge_spend(&h->net.charge, CHARGE_SORT, r->n * log2(r->n));
}

static uint64_t values_bytes(const struct host *h, size_t from, size_t to)
{
	uint64_t sum = 0;
	size_t len;

	if (!h->records.text)
		return (to - from) * h->records.vlen;
	for (; from < to; from++) {
		record_value(&h->records, h->order[from].index, &len);
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
	at = mem + sizeof(head);
	for (i = from; h->records.text && i < to; i++, at += 4) {
		uint32_t line;

		record_value(&h->records, h->order[i].index, &one);
		line = one;
		memcpy(at, &line, 4);
	}
	if (!h->records.text) {
		memcpy(at, h->keys.key + from * klen, n * klen);
		at += n * klen;
	}
	for (i = from; i < to; i++) {
		const unsigned char *value = record_value(&h->records, h->order[i].index, &one);

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

static void shuffle(struct host *h, const struct pt_list *splitters)
{
	struct net *net = &h->net;
	unsigned int i, count = net->group.count;
	size_t *bound = memory(count + 1, sizeof(*bound));
	unsigned char **out = memory(count, sizeof(*out));
	uint64_t len, bytes_out = net->bytes_out, bytes_in = net->bytes_in;

	if (merge_init(&h->merge, count, h->keys.klen))
		die("out of memory: %u hosts", count);
	h->column = memory(count, sizeof(*h->column));
	pt_bounds(&h->keys, splitters, count, bound);
	net_begin(net, &h->data, NET_DATA);
	h->data.whole = whole;
	h->data.arg = h;
	for (i = 0; i < count; i++) {
		out[i] = make_message(h, bound[i], bound[i + 1], &len);
		if (i == net->rank) {
			h->own_len = len;
			continue;
		}
		net_send(&h->data, i, out[i], len);
		net_expect(&h->data, i);
	}
	records_free(&h->records);
	h->records.text = h->format.text;
	h->records.vlen = h->format.text ? 0 : h->format.record - h->format.key;
	take_message(h, net->rank, out[net->rank], h->own_len);
	net_run(&h->data);
	h->own = out[net->rank];
	for (i = 0; i < count; i++)
		if (i != net->rank)
			free(out[i]);
	free(out);
	free(bound);
	h->report.bytes_out = net->bytes_out - bytes_out;
	h->report.bytes_in = net->bytes_in - bytes_in;
}

static void free_host(struct host *h)
{
	unsigned int i;

	for (i = 0; i < h->net.group.count; i++) {
		free(h->column[i].off);
		free(h->column[i].line_key);
	}
	free(h->column);
	free(h->own);
	free(h->order);
	free(h->sorted);
	output_free(h);
	merge_free(&h->merge);
	net_end(&h->data);
	records_free(&h->records);
	files_free(&h->input);
}

/* Nothing half-finished is left; SIGKILL leaves the file with the name .part. */
static struct host *leaving;

static void remove_part(void)
{
	if (leaving && leaving->opened)
		unlink(leaving->part);
}

static void name_output(struct host *h)
{
	if (mkdir(h->dir, 0777) && errno != EEXIST)
		die("%s: cannot create: %s", h->dir, strerror(errno));
	if ((size_t)snprintf(h->part, sizeof(h->part), "%s/%u.part", h->dir, h->net.rank) >=
	    sizeof(h->part))
		die("%s: the name is too long", h->dir);
	snprintf(h->name, sizeof(h->name), "%s/%u", h->dir, h->net.rank);
}

/**
 * host_run() - sort, as one of the hosts; the program ends if that fails
 * @h: what the command line says
 */
void host_run(struct host *h)
{
	struct pt_list splitters;
	const char *error;
	uint64_t bytes;

	h->start_ns = clock_now_ns();
	h->report.magic = REPORT_MAGIC;
	ticking = h;
	leaving = h;
	atexit(remove_part);
	if (h->dir)
		name_output(h);
	net_open(&h->net, h->op, h->deadline_ms);
	signal_catch();
	h->net.tick = tick;

	phase_begin(h, PHASE_READ);
	read_input(h);
	phase_end(h);
	phase_begin(h, PHASE_AGREE);
	agree(h);
	phase_end(h);
	if (h->start)
		start_wait(h->start);
	phase_begin(h, PHASE_LOCAL);
	h->report.start_ns = h->phase_ns;
	sort_keys(h);
	phase_end(h);
	phase_begin(h, PHASE_PARTITION);
	bytes = h->net.bytes_out;
	dist_splitters(&h->net, &h->keys, h->pivots ? h->pivots : h->net.group.count, h->reduction,
		       &splitters);
	h->report.partition_bytes = h->net.bytes_out - bytes;
	phase_end(h);
	phase_begin(h, PHASE_SHUFFLE);
	shuffle(h, &splitters);
	pt_list_free(&splitters);
	phase_end(h);
	phase_begin(h, PHASE_PLACE);
	output_place(h);
	phase_end(h);
	phase_begin(h, PHASE_WRITE);
	output_write(h);
	phase_end(h);

	net_roll_call(&h->net, &h->report);
	error = report_wrong(&h->net);
	if (error)
		die("the result is wrong: %s", error);
	if (h->dir && rename(h->part, h->name))
		die("%s: cannot rename: %s", h->part, strerror(errno));
	h->opened = 0;
	if (h->json)
		report_json(&h->net, h->explain);
	else if (!h->quiet && !h->net.rank)
		report_text(&h->net);
	if (h->explain && !h->json && !h->net.rank)
		report_explain(&h->net);
	net_close(&h->net);
	free_host(h);
}
