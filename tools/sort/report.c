// SPDX-License-Identifier: GPL-2.0-or-later
/* How a sort is reported, from what each host has told all others. */
#include <string.h>

#include "host.h"

const char *const phase_names[PHASES] = {
	[PHASE_READ] = "read",
	[PHASE_AGREE] = "agree",
	[PHASE_LOCAL] = "sort",
	[PHASE_PARTITION] = "partition",
	[PHASE_SHUFFLE] = "shuffle",
	[PHASE_PLACE] = "place",
	[PHASE_WRITE] = "write",
};

static void sum_all(const struct net *net, struct checksum *in, struct checksum *out,
		    uint64_t *most)
{
	const struct report *r;
	unsigned int i;

	memset(in, 0, sizeof(*in));
	memset(out, 0, sizeof(*out));
	*most = 0;
	for (i = 0; i < net->group.count; i++) {
		r = net_report(net, i);
		if (!r)
			continue;
		checksum_join(in, &r->in);
		checksum_join(out, &r->out);
		*most = r->out.records > *most ? r->out.records : *most;
	}
}

static double excess(const struct net *net, uint64_t records, uint64_t most)
{
	return records ? 100.0 * most * net->group.count / records - 100 : 0;
}

/**
 * report_wire() - a report as it is sent, or back
 * @r: report
 */
void report_wire(struct report *r)
{
	wire32(&r->magic, 2);
	wire64(&r->in, sizeof(r->in) / 8);
	wire64(&r->out, sizeof(r->out) / 8);
	wire32(&r->key, 1);
	wire64(&r->start_ns, 1);
	wire64(r->ns, PHASES);
	wire64(&r->bytes_out, 3);
}

/**
 * report_wrong() - is the result of all hosts one sorted list of what they had?
 * @net: the hosts, after the roll call
 *
 * Return: NULL, or what is wrong.
 */
const char *report_wrong(const struct net *net)
{
	const struct report *r, *before = NULL;
	struct checksum in, out;
	uint64_t most;
	unsigned int i;

	sum_all(net, &in, &out, &most);
	if (in.records != out.records)
		return "another number of records than before";
	if (!checksum_same(&in, &out))
		return "other records than before";
	for (i = 0; i < net->group.count; i++) {
		r = net_report(net, i);
		if (!r->out.records)
			continue;
		if (before && memcmp(before->last, r->first, r->key) > 0)
			return "a host's first key precedes the last one of the host before";
		before = r;
	}
	return NULL;
}

static void json_report(const struct net *net, unsigned int rank)
{
	const struct report *r = net_report(net, rank);
	unsigned int i;

	if (!r) {
		printf("{\"rank\": %u, \"answers\": false}", rank);
		return;
	}
	printf("{\"rank\": %u, \"answers\": true, \"sorted\": %s, \"records_in\": %llu, "
	       "\"records_out\": %llu, \"bytes_in\": %llu, \"bytes_out\": %llu, "
	       "\"shuffle_bytes_out\": %llu, \"shuffle_bytes_in\": %llu, "
	       "\"partition_bytes_out\": %llu, \"checksum\": \"%016llx\", \"start_ns\": %llu",
	       rank, r->state == REPORT_SORTED ? "true" : "false",
	       (unsigned long long)r->in.records, (unsigned long long)r->out.records,
	       (unsigned long long)r->in.bytes, (unsigned long long)r->out.bytes,
	       (unsigned long long)r->bytes_out, (unsigned long long)r->bytes_in,
	       (unsigned long long)r->partition_bytes, (unsigned long long)r->out.sum,
	       (unsigned long long)r->start_ns);
	for (i = 0; i < PHASES; i++)
		printf(", \"%s_ns\": %llu", phase_names[i], (unsigned long long)r->ns[i]);
	printf("}");
}

/**
 * report_json() - one line of JSON: this host, and the sum of all
 * @net: the hosts
 * @all: every host
 */
void report_json(const struct net *net, int all)
{
	const char *sep = "";
	struct checksum in, out;
	uint64_t most;
	unsigned int i;
	int left;

	if (!net->json)
		return;
	left = net_anybody_left(net);
	sum_all(net, &in, &out, &most);
	printf("{\"rank\": %u, \"hosts\": %u, \"records\": %llu, \"bytes\": %llu, "
	       "\"checksum\": \"%016llx\", \"largest\": %llu, \"excess_percent\": %.2f, "
	       "\"failed\": [", net->rank, net->group.count, (unsigned long long)out.records,
	       (unsigned long long)out.bytes, (unsigned long long)out.sum,
	       (unsigned long long)most, excess(net, out.records, most));
	for (i = 0; i < net->group.count; i++) {
		const struct report *r = net_report(net, i);

		if (left ? !net->left[i] : r && r->state != REPORT_FAILED)
			continue;
		printf("%s%u", sep, i);
		sep = ", ";
	}
	printf("], \"own\": ");
	json_report(net, net->rank);
	if (all) {
		printf(", \"all\": [");
		for (i = 0; i < net->group.count; i++) {
			printf("%s", i ? ", " : "");
			json_report(net, i);
		}
		printf("]");
	}
	printf("}\n");
	fflush(stdout);
}

/**
 * report_text() - a line for people
 * @net: the hosts, after the roll call
 */
void report_text(const struct net *net)
{
	struct checksum in, out;
	uint64_t most;

	sum_all(net, &in, &out, &most);
	printf("%llu records, %llu bytes sorted by %u hosts, checksum %016llx\n",
	       (unsigned long long)out.records, (unsigned long long)out.bytes, net->group.count,
	       (unsigned long long)out.sum);
}

/**
 * report_explain() - phases, balance and bytes
 * @net: the hosts, after the roll call
 */
void report_explain(const struct net *net)
{
	unsigned int count = net->group.count, p, i, slowest;
	uint64_t most, parting = 0, shuffled = 0;
	struct checksum in, out;

	sum_all(net, &in, &out, &most);
	printf("%-10s %12s %12s  %s\n", "phase", "mean ms", "longest ms", "host");
	for (p = 0; p < PHASES; p++) {
		uint64_t sum = 0, longest = 0;

		for (i = 0, slowest = 0; i < count; i++) {
			uint64_t ns = net_report(net, i)->ns[p];

			sum += ns;
			if (ns > longest) {
				longest = ns;
				slowest = i;
			}
		}
		printf("%-10s %12.3f %12.3f  %u\n", phase_names[p], sum / 1e6 / count,
		       longest / 1e6, slowest);
	}
	for (i = 0; i < count; i++) {
		parting += net_report(net, i)->partition_bytes;
		shuffled += net_report(net, i)->bytes_out;
	}
	printf("largest part: %llu records, %.1f %% more than the mean of %.1f\n",
	       (unsigned long long)most, excess(net, out.records, most),
	       (double)out.records / count);
	printf("between hosts: %llu bytes for the partitioning, %llu of records\n",
	       (unsigned long long)parting, (unsigned long long)shuffled);
}
