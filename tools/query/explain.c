// SPDX-License-Identifier: GPL-2.0-or-later
/* Times, rows, bytes and skew of each operator, see explain.h. */
#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "json.h"

struct cost {
	uint64_t self_ns, rows_in, rows_out, bytes;
};

struct phase *explain_gather(struct query *q)
{
	struct cost *mine = xcalloc(q->ops, sizeof(*mine)), *all = NULL;
	struct net *net = q->net;
	struct phase *phase;
	unsigned int i, h;

	for (i = 0; i < q->ops; i++)
		mine[i] = (struct cost){
			.self_ns = htole64(q->op[i]->self_ns),
			.rows_in = htole64(q->op[i]->rows_in),
			.rows_out = htole64(q->op[i]->rows_out),
			.bytes = htole64(q->op[i]->bytes_out),
		};
	if (!net->rank)
		all = xcalloc(net->count, q->ops * sizeof(*all));
	net->gather(net, mine, all, q->ops * sizeof(*mine));
	free(mine);
	if (!all)
		return NULL;
	phase = xcalloc(q->ops, sizeof(*phase));
	for (i = 0; i < q->ops; i++) {
		struct phase *p = &phase[i];
		uint64_t most = 0;

		p->name = q->op[i]->name;
		for (h = 0; h < net->count; h++) {
			const struct cost *c = &all[h * q->ops + i];
			uint64_t ns = le64toh(c->self_ns), out = le64toh(c->rows_out);

			p->mean_ns += ns;
			p->most_ns = ns > p->most_ns ? ns : p->most_ns;
			p->rows_in += le64toh(c->rows_in);
			p->rows_out += out;
			p->bytes += le64toh(c->bytes);
			most = out > most ? out : most;
		}
		p->mean_ns /= net->count;
		p->skew = p->rows_out ? (double)most * net->count / p->rows_out : 1;
	}
	free(all);
	return phase;
}

/**
 * explain_text - a table
 * @f: where to
 * @q: the query
 * @phase: its operators
 * @took_ns: time of member 0
 */
void explain_text(FILE *f, const struct query *q, const struct phase *phase, uint64_t took_ns)
{
	unsigned int i;

	fprintf(f, "%-34s %9s %9s %12s %12s %12s %6s\n", "operator", "mean ms", "most ms", "rows in",
		"rows out", "bytes", "skew");
	for (i = 0; i < q->ops; i++) {
		const struct phase *p = &phase[i];

		fprintf(f, "%-34.34s %9.3f %9.3f %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %6.2f\n",
			p->name, p->mean_ns / 1e6, p->most_ns / 1e6, p->rows_in, p->rows_out,
			p->bytes, p->skew);
	}
	if (*q->note)
		fprintf(f, "%s\n", q->note);
	fprintf(f, "%u hosts, %.3f ms\n", q->net->count, took_ns / 1e6);
}

/**
 * explain_json - members "phases" and "notes" of an object
 * @f: where to
 * @q: the query
 * @phase: its operators
 */
void explain_json(FILE *f, const struct query *q, const struct phase *phase)
{
	unsigned int i;

	fputs("\"phases\": [", f);
	for (i = 0; i < q->ops; i++) {
		const struct phase *p = &phase[i];

		fprintf(f, "%s{\"name\": ", i ? ", " : "");
		json_text(f, (struct text){ p->name, strlen(p->name) });
		fprintf(f, ", \"mean_ns\": %" PRIu64 ", \"most_ns\": %" PRIu64
			", \"rows_in\": %" PRIu64 ", \"rows_out\": %" PRIu64 ", \"bytes\": %" PRIu64
			", \"skew\": %.3f}", p->mean_ns, p->most_ns, p->rows_in, p->rows_out,
			p->bytes, p->skew);
	}
	fputs("], \"notes\": ", f);
	json_text(f, (struct text){ q->note, strlen(q->note) });
}
