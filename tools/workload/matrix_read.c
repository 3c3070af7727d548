// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading matrices: CSV, binary and traces, told apart by how they begin.  The
 * formats are described in shuffle-workload(1).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "matrix_file.h"

#define MAX_FIELDS	64	/* of a line of a trace */
#define NAME_SLOTS	(4 * MATRIX_MAX_HOSTS)

/**
 * struct field - a part of a line without the blanks around it
 * @s: not terminated
 * @len: characters
 */
struct field {
	const char *s;
	size_t len;
};

/**
 * struct text - what is being read
 * @at: next line
 * @end: behind the last
 * @line: number of the current line, from 1
 * @rest: what is left of the current line
 * @rest_end: its end
 * @more: whether another field follows
 */
struct text {
	const char *at, *end;
	unsigned long line;
	const char *rest, *rest_end;
	bool more;
};

/* The next line that says something. */
static bool next_line(struct text *t)
{
	while (t->at < t->end) {
		const char *end = memchr(t->at, '\n', t->end - t->at);
		const char *s = t->at;

		if (!end)
			end = t->end;
		t->at = end < t->end ? end + 1 : end;
		t->line++;
		if (end > s && end[-1] == '\r')
			end--;
		while (s < end && (*s == ' ' || *s == '\t'))
			s++;
		if (s == end || *s == '#')
			continue;
		t->rest = s;
		t->rest_end = end;
		t->more = true;
		return true;
	}
	return false;
}

static struct field next_field(struct text *t)
{
	const char *comma = memchr(t->rest, ',', t->rest_end - t->rest);
	const char *end = comma ? comma : t->rest_end;
	struct field f;

	f.s = t->rest;
	while (f.s < end && (*f.s == ' ' || *f.s == '\t'))
		f.s++;
	t->rest = comma ? comma + 1 : end;
	t->more = comma;
	while (end > f.s && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	f.len = end - f.s;
	return f;
}

static bool field_is(struct field f, const char *s)
{
	return f.len == strlen(s) && !memcmp(f.s, s, f.len);
}

static bool field_number(struct field f, uint64_t *v)
{
	size_t i;

	*v = 0;
	for (i = 0; i < f.len; i++) {
		if (f.s[i] < '0' || f.s[i] > '9')
			return false;
		*v = *v * 10 + (f.s[i] - '0');
		if (*v > MATRIX_MAX_LEN)
			return false;
	}
	return f.len > 0;
}

/* Enough of a field for a message. */
static int shown(struct field f)
{
	return f.len < 32 ? (int)f.len : 32;
}

static int length_field(struct text *t, struct field f, uint64_t *v, struct wl_error *err)
{
	if (field_number(f, v))
		return 0;
	wl_error_set(err, "line %lu: '%.*s' is not a number of bytes (0 to 2^50)", t->line,
		     shown(f), f.s);
	return -1;
}

static struct matrix *read_csv(struct text *t, struct wl_error *err)
{
	struct matrix *m = NULL;
	unsigned int row = 0;

	do {
		unsigned int i = 0;

		if (!m) {
			unsigned int n = 1;
			const char *s;

			for (s = t->rest; s < t->rest_end; s++)
				n += *s == ',';
			m = matrix_new(n, err);
			if (!m)
				return NULL;
		}
		if (row == m->n) {
			wl_error_set(err, "line %lu: not a square: %u columns, more rows", t->line,
				     m->n);
			goto bad;
		}
		while (t->more && i < m->n) {
			struct field f = next_field(t);

			if (length_field(t, f, &m->len[(size_t)row * m->n + i], err))
				goto bad;
			i++;
		}
		if (i < m->n || t->more) {
			wl_error_set(err, "line %lu: not a square: %s than %u columns", t->line,
				     i < m->n ? "fewer" : "more", m->n);
			goto bad;
		}
		row++;
	} while (next_line(t));
	if (row == m->n)
		return m;
	wl_error_set(err, "not a square: %u columns, %u rows", m->n, row);
bad:
	matrix_free(m);
	return NULL;
}

/**
 * struct trace - a trace while it is read
 * @from: number of the column of senders
 * @to: of receivers
 * @bytes: of lengths
 * @op: of operations, or -1
 * @want: wanted operation, NULL: there is only one
 * @only: without @want: the first operation found
 * @named: hosts have names; otherwise ranks
 * @hosts: hosts found so far
 * @name: their names
 * @slot: hash table: number of a host plus 1
 */
struct trace {
	int from, to, bytes, op;
	const char *want;
	struct field only;
	bool named;
	unsigned int hosts;
	struct field name[MATRIX_MAX_HOSTS];
	unsigned int slot[NAME_SLOTS];
};

static int trace_header(struct trace *tr, struct text *t, struct wl_error *err)
{
	int i;

	tr->from = -1;
	tr->to = -1;
	tr->bytes = -1;
	tr->op = -1;
	for (i = 0; t->more && i < MAX_FIELDS; i++) {
		struct field f = next_field(t);

		if (field_is(f, "from"))
			tr->from = i;
		else if (field_is(f, "to"))
			tr->to = i;
		else if (field_is(f, "bytes"))
			tr->bytes = i;
		else if (field_is(f, "op"))
			tr->op = i;
	}
	if (tr->from >= 0 && tr->to >= 0 && tr->bytes >= 0)
		return 0;
	wl_error_set(err, "line %lu: neither numbers nor the heading of a trace, from,to,bytes",
		     t->line);
	return -1;
}

static int trace_host(struct trace *tr, struct text *t, struct field f, unsigned int *host,
		      struct wl_error *err)
{
	uint64_t h = 0xcbf29ce484222325ULL, v;
	size_t i;

	if (!tr->named) {
		if (!field_number(f, &v) || v >= MATRIX_MAX_HOSTS) {
			wl_error_set(err, "line %lu: host %.*s: 0 to %u", t->line, shown(f), f.s,
				     MATRIX_MAX_HOSTS - 1);
			return -1;
		}
		*host = v;
		if (v >= tr->hosts)
			tr->hosts = v + 1;
		return 0;
	}
	for (i = 0; i < f.len; i++)
		h = (h ^ (unsigned char)f.s[i]) * 0x100000001b3ULL;
	for (i = h % NAME_SLOTS; tr->slot[i]; i = (i + 1) % NAME_SLOTS) {
		struct field *g = &tr->name[tr->slot[i] - 1];

		if (g->len == f.len && !memcmp(g->s, f.s, f.len)) {
			*host = tr->slot[i] - 1;
			return 0;
		}
	}
	if (tr->hosts == MATRIX_MAX_HOSTS) {
		wl_error_set(err, "line %lu: more than %u hosts", t->line, MATRIX_MAX_HOSTS);
		return -1;
	}
	*host = tr->hosts;
	tr->name[tr->hosts++] = f;
	tr->slot[i] = tr->hosts;
	return 0;
}

/* Whether a line belongs to the operation, or -1. */
static int trace_op(struct trace *tr, struct text *t, struct field op, struct wl_error *err)
{
	if (tr->op < 0)
		return 1;
	if (tr->want)
		return field_is(op, tr->want);
	if (!tr->only.s)
		tr->only = op;
	if (tr->only.len == op.len && !memcmp(tr->only.s, op.s, op.len))
		return 1;
	wl_error_set(err, "line %lu: operation %.*s beside %.*s: choose one", t->line, shown(op),
		     op.s, shown(tr->only), tr->only.s);
	return -1;
}

/* One pass over the lines; without a matrix only the hosts are found. */
static int trace_pass(struct trace *tr, struct text t, struct matrix *m, bool look,
		      struct wl_error *err)
{
	int need = tr->from, wanted, i;

	need = tr->to > need ? tr->to : need;
	need = tr->bytes > need ? tr->bytes : need;
	need = tr->op > need ? tr->op : need;
	while (next_line(&t)) {
		struct field f[MAX_FIELDS];
		unsigned int from, to;
		uint64_t bytes, v;

		for (i = 0; t.more && i < MAX_FIELDS; i++)
			f[i] = next_field(&t);
		if (i <= need) {
			wl_error_set(err, "line %lu: %d columns, the heading has more", t.line, i);
			return -1;
		}
		wanted = trace_op(tr, &t, f[tr->op < 0 ? 0 : tr->op], err);
		if (wanted < 0)
			return -1;
		if (!wanted)
			continue;
		if (!f[tr->from].len || !f[tr->to].len) {
			wl_error_set(err, "line %lu: a host is missing", t.line);
			return -1;
		}
		if (look) {
			tr->named |= !field_number(f[tr->from], &v) ||
				     !field_number(f[tr->to], &v);
			continue;
		}
		if (trace_host(tr, &t, f[tr->from], &from, err) ||
		    trace_host(tr, &t, f[tr->to], &to, err) ||
		    length_field(&t, f[tr->bytes], &bytes, err))
			return -1;
		if (!m)
			continue;
		m->len[(size_t)from * m->n + to] += bytes;
		if (m->len[(size_t)from * m->n + to] > MATRIX_MAX_LEN) {
			wl_error_set(err, "line %lu: more than 2^50 bytes in all", t.line);
			return -1;
		}
	}
	return 0;
}

static struct matrix *read_trace(struct text *t, const char *op, struct wl_error *err)
{
	struct trace *tr = calloc(1, sizeof(*tr));
	struct matrix *m = NULL;

	if (!tr) {
		wl_error_set(err, "out of memory for a trace");
		return NULL;
	}
	tr->want = op;
	if (trace_header(tr, t, err))
		goto out;
	if (op && tr->op < 0) {
		wl_error_set(err, "operation %s: the trace has no column 'op'", op);
		goto out;
	}
	if (trace_pass(tr, *t, NULL, true, err) || trace_pass(tr, *t, NULL, false, err))
		goto out;
	if (tr->hosts < 2) {
		wl_error_set(err, "%u hosts in the trace%s%s", tr->hosts,
			     op ? " for operation " : "", op ? op : "");
		goto out;
	}
	m = matrix_new(tr->hosts, err);
	if (m && trace_pass(tr, *t, m, false, err)) {
		matrix_free(m);
		m = NULL;
	}
out:
	free(tr);
	return m;
}

static uint64_t little_endian(const char *p, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes-- > 0)
		v = v << 8 | (unsigned char)p[bytes];
	return v;
}

static struct matrix *read_binary(const char *data, size_t size, struct wl_error *err)
{
	struct matrix *m;
	uint64_t n;
	size_t i;

	if (size < MATRIX_HEADER) {
		wl_error_set(err, "binary matrix: the header is cut off");
		return NULL;
	}
	n = little_endian(data + 8, 4);
	if (n < 2 || n > MATRIX_MAX_HOSTS || little_endian(data + 12, 4)) {
		wl_error_set(err, "binary matrix: bad header");
		return NULL;
	}
	if (size != MATRIX_HEADER + n * n * 8) {
		wl_error_set(err, "binary matrix: %zu bytes, %llu hosts need %llu", size,
			     (unsigned long long)n,
			     (unsigned long long)(MATRIX_HEADER + n * n * 8));
		return NULL;
	}
	m = matrix_new(n, err);
	if (!m)
		return NULL;
	for (i = 0; i < n * n; i++) {
		m->len[i] = little_endian(data + MATRIX_HEADER + i * 8, 8);
		if (m->len[i] > MATRIX_MAX_LEN) {
			wl_error_set(err, "binary matrix: message %zu is longer than 2^50 bytes",
				     i);
			matrix_free(m);
			return NULL;
		}
	}
	return m;
}

/**
 * matrix_read_mem - read a matrix from memory
 * @data: a whole file in any of the formats
 * @size: its size
 * @op: which operation of a trace, NULL: the only one
 * @err: set on failure, may be NULL
 *
 * Return: the matrix, for matrix_free(), or NULL.
 */
struct matrix *matrix_read_mem(const char *data, size_t size, const char *op,
			       struct wl_error *err)
{
	struct text t = { .at = data, .end = data + size };

	if (size >= strlen(MATRIX_MAGIC) && !memcmp(data, MATRIX_MAGIC, strlen(MATRIX_MAGIC))) {
		if (!op)
			return read_binary(data, size, err);
	} else if (!next_line(&t)) {
		wl_error_set(err, "no matrix: the file says nothing");
		return NULL;
	} else if (*t.rest < '0' || *t.rest > '9') {
		return read_trace(&t, op, err);
	} else if (!op) {
		return read_csv(&t, err);
	}
	wl_error_set(err, "operation %s: only a trace has operations", op);
	return NULL;
}

/**
 * matrix_read_op - read one operation from a file
 * @path: the file, "-": standard input
 * @op: which operation of a trace, NULL: the only one
 * @err: set on failure, may be NULL; names the file
 *
 * Return: the matrix, for matrix_free(), or NULL.
 */
struct matrix *matrix_read_op(const char *path, const char *op, struct wl_error *err)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	size_t size = 0, room = 0, got;
	struct matrix *m = NULL;
	struct wl_error why;
	char *data = NULL;

	if (!f) {
		wl_error_set(err, "%s: %s", path, strerror(errno));
		return NULL;
	}
	do {
		if (size == room) {
			char *more = realloc(data, room = room ? 2 * room : 65536);

			if (!more) {
				wl_error_set(err, "%s: out of memory", path);
				goto out;
			}
			data = more;
		}
		got = fread(data + size, 1, room - size, f);
		size += got;
	} while (got);
	if (ferror(f)) {
		wl_error_set(err, "%s: %s", path, strerror(errno));
		goto out;
	}
	m = matrix_read_mem(data, size, op, &why);
	if (!m)
		wl_error_set(err, "%.80s: %.160s", path, why.text);
out:
	free(data);
	if (f != stdin)
		fclose(f);
	return m;
}

/**
 * matrix_read - read a matrix from a file in any of the formats
 * @path: the file, "-": standard input
 * @err: set on failure, may be NULL; names the file
 *
 * Return: the matrix, for matrix_free(), or NULL.
 */
struct matrix *matrix_read(const char *path, struct wl_error *err)
{
	return matrix_read_op(path, NULL, err);
}
