// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs in files: written, divided among hosts, shuffled; see external.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "dist.h"
#include "external.h"

#define SPILL_BUFFER	(1U << 18)

static void spill_open(struct external *x, struct spill *s)
{
	char name[4200];

	s->fd = open(x->h->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->fd < 0) {
		/* not all file systems can do that */
		snprintf(name, sizeof(name), "%s/run.XXXXXX", x->h->dir);
		s->fd = mkostemp(name, O_CLOEXEC);
		if (s->fd < 0)
			die("%s: cannot create a file of runs: %s", x->h->dir, strerror(errno));
		unlink(name);
	}
	s->buf = memory(SPILL_BUFFER, 1);
}

static void spill_flush(struct external *x, struct spill *s)
{
	size_t done = 0;
	ssize_t n;

	for (; done < s->used; done += n) {
		n = pwrite(s->fd, s->buf + done, s->used - done, s->end + done);
		if (n < 0 && errno == EINTR) {
			signal_check();
			n = 0;
		} else if (n <= 0) {
			die("%s: cannot write a file of runs: %s", x->h->dir,
			    strerror(n ? errno : ENOSPC));
		}
	}
	s->end += s->used;
	s->used = 0;
}

static void spill_put(struct external *x, struct spill *s, const void *p, size_t len)
{
	size_t n;

	for (; len; len -= n, p = (const char *)p + n) {
		n = SPILL_BUFFER - s->used;
		n = n < len ? n : len;
		memcpy(s->buf + s->used, p, n);
		s->used += n;
		if (s->used == SPILL_BUFFER)
			spill_flush(x, s);
	}
}

/**
 * spill_read() - read from a file of runs; the program ends if that fails
 * @x: the sort
 * @s: the file
 * @at: where
 * @to: filled
 * @len: bytes
 */
void spill_read(struct external *x, const struct spill *s, uint64_t at, void *to, size_t len)
{
	ssize_t n;

	for (; len; len -= n, at += n, to = (char *)to + n) {
		n = pread(s->fd, to, len, at);
		if (n < 0 && errno == EINTR) {
			signal_check();
			n = 0;
		} else if (n <= 0) {
			die("%s: cannot read a file of runs: %s", x->h->dir,
			    n ? strerror(errno) : "it is too short");
		}
	}
}

/**
 * spill_close() - the file is not needed any more
 * @s: the file
 */
void spill_close(struct spill *s)
{
	close(s->fd);
	free(s->buf);
	free(s->run);
}

static struct run *run_new(struct spill *s, uint64_t n)
{
	struct run *r, *before;

	if (s->runs % 64 == 0)
		s->run = reallocarray(s->run, s->runs + 64, sizeof(*s->run));
	if (!s->run)
		die("out of memory: %u runs", s->runs);
	r = &s->run[s->runs++];
	*r = (struct run){ .at = s->end, .n = n };
	if (s->runs > 1) {
		before = r - 1;
		r->first = before->first + before->n;
	}
	return r;
}

/* A chunk of the input is sorted and written: keys and values, or lengths and lines. */
static void add_run(void *arg, struct records *r)
{
	struct external *x = arg;
	struct spill *s = &x->read;
	struct entry *e;
	struct run *run;
	uint32_t line;
	size_t i, len;

	if (!r->n)
		return;
	host_checksum(x->h, r);
	if (r->text) {
		text_keys(r, &x->h->format, 0, x->h->path);
		text_keys(r, &x->h->format, r->klen, x->h->path);
	}
	x->longest = r->klen > x->longest ? r->klen : x->longest;
	e = local_sort(r->key, r->n, r->klen, host_threads(x->h, r->n));
	if (!e)
		die("out of memory: %zu records", r->n);
	run = run_new(s, r->n);
	for (i = 0; i < r->n; i++) {
		if (r->text) {
			record_value(r, e[i].index, &len);
			line = len;
			spill_put(x, s, &line, sizeof(line));
		} else {
			spill_put(x, s, r->key + e[i].index * r->klen, r->klen);
		}
	}
	for (i = 0; i < r->n; i++) {
		const unsigned char *value = record_value(r, e[i].index, &len);

		spill_put(x, s, value, len);
	}
	spill_flush(x, s);
	run->bytes = s->end - run->at;
	free(e);
	signal_check();
}

static void generate_runs(struct external *x)
{
	struct host *h = x->h;
	struct generate g = h->generate;
	uint64_t left = g.n, most = x->chunk / h->format.record;

	for (; left; left -= g.n, g.first += g.n) {
		g.n = left < most ? left : most;
		generate_records(&h->records, &h->format, &g);
		add_run(x, &h->records);
		records_free(&h->records);
	}
}

/**
 * external_read() - read the input, or make it, and write sorted runs
 * @h: the host
 *
 * Return: the sort.
 */
struct external *external_read(struct host *h)
{
	struct external *x = memory(1, sizeof(*x));
	struct chunks chunks = { .full = add_run, .arg = x };
	struct records *r = &h->records;

	x->h = h;
	x->chunk = h->memory / MEMORY_PARTS;
	x->longest = h->format.text ? 1 : h->format.key;
	chunks.bytes = x->chunk;
	spill_open(x, &x->read);
	spill_open(x, &x->got);
	if (!h->files) {
		generate_runs(x);
	} else {
		files_init(&h->input, h->path, h->files);
		read_files(r, &h->format, h->input.path, h->input.n, &chunks);
		add_run(x, r);
		records_free(r);
	}
	/* what the hosts agree about */
	r->text = h->format.text;
	r->klen = x->longest;
	h->rounds = x->read.runs;
	return x;
}

/* A run is in memory again: @h->records and @h->keys. */
static void load_run(struct external *x, unsigned int number)
{
	struct host *h = x->h;
	struct records *r = &h->records;
	const struct run *run = &x->read.run[number];
	size_t klen = x->longest, i;
	uint64_t values;
	uint32_t *line;

	memset(r, 0, sizeof(*r));
	r->n = run->n;
	r->klen = klen;
	r->text = h->format.text;
	if (r->text) {
		line = memory(r->n, sizeof(*line));
		spill_read(x, &x->read, run->at, line, r->n * sizeof(*line));
		r->off = memory(r->n + 1, sizeof(*r->off));
		for (i = 0; i < r->n; i++)
			r->off[i + 1] = r->off[i] + line[i];
		free(line);
		values = r->off[r->n];
	} else {
		r->vlen = h->format.record - klen;
		values = r->n * r->vlen;
		r->key = memory(r->n, klen);
		spill_read(x, &x->read, run->at, r->key, r->n * klen);
	}
	r->value = memory(values ? values : 1, 1);
	spill_read(x, &x->read, run->at + run->bytes - values, r->value, values);
	if (r->text)
		text_keys(r, &h->format, klen, h->path);
	h->keys = (struct pt_keys){ .key = r->key, .n = r->n, .klen = klen, .rank = h->net.rank,
				    .first = run->first };
}

/**
 * external_partition() - find the splitters, from pivots of all runs
 * @x: the sort, after the hosts have agreed
 */
void external_partition(struct external *x)
{
	size_t pivots = host_pivots(x->h), runs = x->read.runs, i;
	struct pt_list *lists = memory(runs + 1, sizeof(*lists)), all, own;
	struct pt_keys none = { .rank = x->h->net.rank };

	x->longest = x->h->records.klen;
	records_free(&x->h->records);
	none.klen = x->longest;
	for (i = 0; i < runs; i++) {
		load_run(x, i);
		if (pt_sample(&x->h->keys, pivots, &lists[i]))
			die("out of memory: %zu pivots", pivots);
		records_free(&x->h->records);
	}
	if (pt_sample(&none, pivots, &lists[runs]) || pt_merge(lists, runs + 1, &all) ||
	    pt_resample(&all, pivots, &own))
		die("out of memory: pivots of %zu runs", runs);
	dist_splitters_of(&x->h->net, &own, pivots, x->h->reduction, &x->splitters);
	for (i = 0; i <= runs; i++)
		pt_list_free(&lists[i]);
	pt_list_free(&all);
	pt_list_free(&own);
	free(lists);
}

/* All hosts say a number to each other; the sum of what comes, or the largest. */
static uint64_t tell(struct external *x, unsigned int step, const uint64_t *numbers, int sum)
{
	struct net *net = &x->h->net;
	uint64_t n, result = numbers[net->rank], *out = memory(net->group.count, sizeof(*out));
	struct net_op op;
	unsigned int i;

	memcpy(out, numbers, net->group.count * sizeof(*out));
	wire64(out, net->group.count);
	net_begin(net, &op, step);
	for (i = 0; i < net->group.count; i++) {
		if (i == net->rank)
			continue;
		net_send(&op, i, &out[i], sizeof(n));
		net_expect(&op, i);
	}
	net_run(&op);
	for (i = 0; i < net->group.count; i++) {
		if (i == net->rank)
			continue;
		if (op.in_len[i] != sizeof(n))
			die("host %u (%s) sends no number", i, net_name(net, i));
		memcpy(&n, op.in[i], sizeof(n));
		wire64(&n, 1);
		if (sum)
			result += n < UINT64_MAX - result ? n : UINT64_MAX - result;
		else
			result = n > result ? n : result;
	}
	net_end(&op);
	free(out);
	return result;
}

/* What has come is merged and written: rank, length of a line, key and value. */
static void keep(struct external *x)
{
	struct host *h = x->h;
	struct spill *s = &x->got;
	struct merge_run all;
	struct run *run;
	size_t i, len;
	uint32_t line;

	if (merge_finish(&h->merge, &all))
		die("out of memory: %zu keys", all.n);
	if (all.n) {
		run = run_new(s, all.n);
		for (i = 0; i < all.n; i++) {
			const struct entry *e = &all.e[i];
			const struct column_part *c = &h->column[e->rank];

			len = h->format.record - x->longest;
			if (c->off)
				len = c->off[e->index + 1] - c->off[e->index];
			line = len;
			spill_put(x, s, &e->rank, sizeof(e->rank));
			if (c->off)
				spill_put(x, s, &line, sizeof(line));
			else
				spill_put(x, s, c->key + e->index * x->longest, x->longest);
			spill_put(x, s, c->value + (c->off ? c->off[e->index] : e->index * len),
				  len);
		}
		spill_flush(x, s);
		run->bytes = s->end - run->at;
	}
	message_free(h);
	signal_check();
}

/* Into how many operations all divide a round: no host shall get more than it may hold. */
static uint64_t divide(struct external *x, unsigned int *step, const size_t *bound)
{
	unsigned int i, count = x->h->net.group.count;
	uint64_t *numbers = memory(count, sizeof(*numbers)), bytes = 0, parts;
	struct records *r = &x->h->records;

	for (i = 0; i < count; i++) {
		size_t n = bound[i + 1] - bound[i];

		bytes = r->text ? r->off[bound[i + 1]] - r->off[bound[i]] : n * x->h->format.record;
		numbers[i] = bytes;
	}
	parts = (tell(x, (*step)++, numbers, 1) + x->chunk - 1) / x->chunk;
	for (i = 0; i < count; i++)
		numbers[i] = parts ? parts : 1;
	parts = tell(x, (*step)++, numbers, 0);
	free(numbers);
	return parts;
}

static void shuffle_round(struct external *x, unsigned int round, unsigned int *step)
{
	unsigned int i, count = x->h->net.group.count;
	size_t *bound = memory(count + 1, sizeof(*bound));
	size_t *from = memory(count, sizeof(*from)), *to = memory(count, sizeof(*to));
	uint64_t part, parts;

	if (round < x->read.runs) {
		load_run(x, round);
	} else {
		/* others have more */
		memset(&x->h->records, 0, sizeof(x->h->records));
		x->h->records.text = x->h->format.text;
		x->h->records.off = memory(1, sizeof(*x->h->records.off));
		x->h->records.klen = x->longest;
		x->h->keys = (struct pt_keys){ .klen = x->longest, .rank = x->h->net.rank };
	}
	pt_bounds(&x->h->keys, &x->splitters, count, bound);
	/* of the numbers of a sort's operations, two for what divide() tells */
	parts = *step < NET_OPS - 2 ? divide(x, step, bound) : NET_OPS;
	if (parts > NET_OPS - *step)
		die("too many rounds: --memory is too small");
	for (part = 0; part < parts; part++) {
		for (i = 0; i < count; i++) {
			uint64_t n = bound[i + 1] - bound[i];

			from[i] = bound[i] + n / parts * part + n % parts * part / parts;
			to[i] = bound[i] + n / parts * (part + 1) + n % parts * (part + 1) / parts;
		}
		message_shuffle(x->h, (*step)++, from, to, part + 1 == parts);
		keep(x);
	}
	free(bound);
	free(from);
	free(to);
}

/**
 * external_shuffle() - each run goes to the hosts, round by round
 * @x: the sort, after external_partition()
 */
void external_shuffle(struct external *x)
{
	unsigned int round, step = NET_ROUNDS;

	for (round = 0; round < x->h->rounds; round++)
		shuffle_round(x, round, &step);
	pt_list_free(&x->splitters);
	spill_close(&x->read);
}
