// SPDX-License-Identifier: GPL-2.0-or-later
/* One host of a sort: read, sort, divide, shuffle, merge, write. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "dist.h"
#include "host.h"
#include "merge.h"

/* A thread of the local sort is worth its start. */
#define THREAD_RECORDS	16384

#define AGREE_MAGIC	0x53525434U

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
	uint32_t external;
	uint32_t rounds;
	uint32_t one_file;
	uint64_t records;
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

/**
 * host_checksum() - add records to the checksum of the input
 * @h: the host
 * @r: the records; of lines without keys
 */
void host_checksum(struct host *h, const struct records *r)
{
	const unsigned char *value;
	size_t i, len;

	for (i = 0; i < r->n; i++) {
		value = record_value(r, i, &len);
		checksum_add(&h->report.in, r->text ? value : r->key + i * r->klen,
			     r->text ? 0 : r->klen, value, len);
	}
}

static void read_input(struct host *h)
{
	struct records *r = &h->records;

	files_init(&h->input, h->path, h->files);
	if (!h->files)
		generate_records(r, &h->format, &h->generate);
	else
		read_files(r, &h->format, h->input.path, h->input.n, NULL);
	if (r->text)
		text_keys(r, &h->format, 0, h->path);
	host_checksum(h, r);
}

static void same(struct host *h, const char *what, unsigned int rank, uint64_t theirs,
		 uint64_t ours)
{
	if (theirs != ours)
		die("host %u (%s) has another %s: %llu, here %llu", rank,
		    net_name(&h->net, rank), what, (unsigned long long)theirs,
		    (unsigned long long)ours);
}

/* As it is sent, or back. */
static struct agree agree_wire(struct agree a)
{
	wire32(&a, offsetof(struct agree, records) / 4);
	wire64(&a.records, 1);
	return a;
}

/* Do all hosts sort the same?  And of lines, how long is the longest key? */
static void agree(struct host *h)
{
	struct records *r = &h->records;
	struct agree own = {
		.magic = AGREE_MAGIC, .record = h->format.record, .key = r->klen, .text = r->text,
		.pivots = h->pivots, .reduction = h->reduction, .records = r->n,
		.first_field = h->format.first_field, .last_field = h->format.last_field,
		.separator = (unsigned char)h->format.separator, .external = !!h->memory,
		.rounds = h->rounds, .one_file = h->one_file,
	}, said = agree_wire(own), theirs;
	struct net *net = &h->net;
	size_t klen = r->klen;
	struct net_op op;
	unsigned int i;

	net_begin(net, &op, NET_AGREE);
	for (i = 0; i < net->group.count; i++) {
		if (i == net->rank)
			continue;
		net_send(&op, i, &said, sizeof(said));
		net_expect(&op, i);
	}
	net_run(&op);
	for (i = 0; i < net->group.count; i++) {
		const struct agree *a = &theirs;

		if (i == net->rank)
			continue;
		if (op.in_len[i] == sizeof(theirs))
			theirs = agree_wire(*(const struct agree *)op.in[i]);
		if (op.in_len[i] != sizeof(theirs) || a->magic != AGREE_MAGIC)
			die("host %u (%s) has another version of this program", i,
			    net_name(net, i));
		same(h, "kind of records", i, a->text, own.text);
		same(h, "record length", i, a->record, own.record);
		if (!r->text)
			same(h, "key length", i, a->key, own.key);
		same(h, "number of pivots", i, a->pivots, own.pivots);
		same(h, "reduction factor", i, a->reduction, own.reduction);
		same(h, "first field", i, a->first_field, own.first_field);
		same(h, "last field", i, a->last_field, own.last_field);
		same(h, "separator", i, a->separator, own.separator);
		same(h, "kind of sort, in memory or with --memory", i, a->external, own.external);
		same(h, "kind of output, one file or several", i, a->one_file, own.one_file);
		h->rounds = a->rounds > h->rounds ? a->rounds : h->rounds;
		klen = a->key > klen ? a->key : klen;
	}
	net_end(&op);
	if (klen > SORT_MAX_KEY)
		die("a key of %zu bytes, more than %u", klen, SORT_MAX_KEY);
	if (r->text)
		text_keys(r, &h->format, klen, h->path);
}

/**
 * host_threads() - how many threads a local sort is worth
 * @h: the host
 * @n: records
 *
 * Return: at least 1.
 */
unsigned int host_threads(const struct host *h, size_t n)
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

	h->order = local_sort(r->key, r->n, r->klen, host_threads(h, r->n));
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

/**
 * host_pivots() - how many pivots each host has
 * @h: the host
 *
 * Return: at least 1.
 */
size_t host_pivots(const struct host *h)
{
	return h->pivots ? h->pivots : h->net.group.count;
}

static void shuffle(struct host *h, const struct pt_list *splitters)
{
	unsigned int count = h->net.group.count;
	size_t *bound = memory(count + 1, sizeof(*bound));

	pt_bounds(&h->keys, splitters, count, bound);
	message_shuffle(h, NET_DATA, bound, bound + 1, 1);
	free(bound);
}

static void free_host(struct host *h)
{
	free(h->order);
	free(h->sorted);
	output_free(h);
	message_free(h);
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

static void sort_in_memory(struct host *h)
{
	struct pt_list splitters;
	uint64_t bytes;

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
	dist_splitters(&h->net, &h->keys, host_pivots(h), h->reduction, &splitters);
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
}

/* With runs in files: phases have other work in them. */
static void sort_external(struct host *h)
{
	struct external *x;
	uint64_t bytes;

	phase_begin(h, PHASE_READ);
	x = external_read(h);
	phase_end(h);
	phase_begin(h, PHASE_AGREE);
	agree(h);
	phase_end(h);
	phase_begin(h, PHASE_PARTITION);
	h->report.start_ns = h->phase_ns;
	bytes = h->net.bytes_out;
	external_partition(x);
	h->report.partition_bytes = h->net.bytes_out - bytes;
	phase_end(h);
	phase_begin(h, PHASE_SHUFFLE);
	external_shuffle(x);
	phase_end(h);
	phase_begin(h, PHASE_WRITE);
	external_write(x);
	phase_end(h);
}

/**
 * host_run() - sort, as one of the hosts; the program ends if that fails
 * @h: what the command line says
 */
void host_run(struct host *h)
{
	const char *error;

	h->start_ns = clock_now_ns();
	h->report.magic = REPORT_MAGIC;
	ticking = h;
	leaving = h;
	atexit(remove_part);
	if (h->dir)
		output_name(h);
	net_open(&h->net, h->op, h->deadline_ms);
	signal_catch();
	h->net.tick = tick;

	if (h->memory)
		sort_external(h);
	else
		sort_in_memory(h);
	net_roll_call(&h->net, &h->report);
	error = report_wrong(&h->net);
	if (error)
		die("the result is wrong: %s", error);
	if (h->dir)
		output_rename(h);
	if (h->json)
		report_json(&h->net, h->explain);
	else if (!h->quiet && !h->net.rank)
		report_text(&h->net);
	if (h->explain && !h->json && !h->net.rank)
		report_explain(&h->net);
	net_close(&h->net);
	free_host(h);
}
