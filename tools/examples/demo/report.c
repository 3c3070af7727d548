// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * demo-report DIR...: reads what run.sh has collected in each DIR, prints a table and,
 * of the first, the time line of every host, and writes DIR/demo.svg.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static FILE *open_in(const struct demo *demo, const char *sub, const char *file, int number)
{
	char path[4096];

	if (number >= 0)
		snprintf(path, sizeof(path), "%s/%s/%s.%d", demo->dir, sub, file, number);
	else
		snprintf(path, sizeof(path), "%s/%s/%s", demo->dir, sub, file);
	return fopen(path, "re");
}

static void read_params(struct demo *demo)
{
	unsigned int from, to;
	char line[256];
	double value;
	FILE *f;

	f = open_in(demo, ".", "params", -1);
	if (!f)
		err(1, "%s/params", demo->dir);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "hosts=%u", &demo->hosts) == 1 ||
		    sscanf(line, "mbps=%lf", &demo->mbps) == 1 ||
		    sscanf(line, "buffer=%lf", &demo->buffer) == 1 ||
		    sscanf(line, "rtt_us=%lf", &demo->rtt_us) == 1 ||
		    sscanf(line, "lane=%31s", demo->lane) == 1 ||
		    sscanf(line, "kernel=%95s", demo->kernel) == 1)
			continue;
		if (sscanf(line, "len.%u.%u=%lf", &from, &to, &value) == 3 &&
		    from < MAX_HOSTS && to < MAX_HOSTS)
			demo->len[from][to] = value;
	}
	fclose(f);
	if (!demo->hosts || demo->hosts > MAX_HOSTS || demo->mbps <= 0)
		errx(1, "%s/params makes no sense", demo->dir);
}

/* A number of a line of JSON, 0 if it is not there. */
static double json_number(const char *json, const char *key)
{
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	at = strstr(json, quoted);
	return at ? strtod(at + strlen(quoted), NULL) : 0;
}

static void read_stats(struct demo *demo, struct result *res)
{
	unsigned int host;
	char line[8192];
	double value;
	FILE *f;

	for (host = 0; host < demo->hosts; host++) {
		f = open_in(demo, res->name, "stats", host);
		if (!f)
			continue;
		res->present = 1;
		if (fgets(line, sizeof(line), f) && line[0] == '{') {
			if (!json_number(line, "error") &&
			    json_number(line, "messages_in") == demo->hosts)
				res->hosts_done++;
			value = json_number(line, "last_in_ns") / 1e9;
			if (value > res->completion)
				res->completion = value;
			value = json_number(line, "start_late_ns") / 1e9;
			if (value > res->latest_start)
				res->latest_start = value;
			value = json_number(line, "min_rtt_us") / 1e6;
			if (value > 0 && (!res->min_rtt || value < res->min_rtt))
				res->min_rtt = value;
			res->cpu += json_number(line, "cpu_us") / 1e6;
			res->retrans_bytes += json_number(line, "retrans_bytes");
			res->control_packets += json_number(line, "pure_acks");
		}
		fclose(f);
	}
}

/* A counter of a file in the format of /proc/net/netstat. */
static double netstat_counter(const char *names, const char *values, const char *name)
{
	size_t len = strlen(name);
	const char *n = names;
	const char *v = values;

	while ((n = strchr(n, ' ')) && (v = strchr(v, ' '))) {
		n++;
		v++;
		if (!strncmp(n, name, len) && strchr(" \n", n[len]))
			return strtod(v, NULL);
	}
	return 0;
}

static void read_netstat(struct demo *demo, struct result *res)
{
	char names[8192], values[8192];
	unsigned int host;
	FILE *f;

	for (host = 0; host < demo->hosts; host++) {
		f = open_in(demo, res->name, "netstat", host);
		if (!f)
			continue;
		if (fgets(names, sizeof(names), f) && fgets(values, sizeof(values), f)) {
			res->retrans_bytes += netstat_counter(names, values, "RetransBytes");
			res->control_packets += netstat_counter(names, values, "CtrlPktsOut");
			res->control_bytes += netstat_counter(names, values, "CtrlBytesOut");
		}
		fclose(f);
	}
}

static void read_verified(struct demo *demo, struct result *res)
{
	char line[256];
	FILE *f;

	f = open_in(demo, res->name, "verified", -1);
	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		res->verified += !!strstr(line, ": OK");
	fclose(f);
}

/* "dropped N" of the shapers; those below them count the same packets. */
static void read_drops(struct demo *demo, struct result *res)
{
	char line[512];
	int shaper = 0;
	FILE *f;

	f = open_in(demo, res->name, "qdisc", -1);
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, "dropped ");

		if (!strncmp(line, "qdisc ", 6))
			shaper = !strncmp(line, "qdisc bfifo", 11);
		else if (shaper && at)
			res->drops += strtod(at + 8, NULL);
	}
	fclose(f);
}

static void curve_add(struct curve *curve, double t, double bytes)
{
	if (curve->count == curve->room) {
		curve->room = curve->room ? 2 * curve->room : 256;
		curve->t = realloc(curve->t, curve->room * sizeof(*curve->t));
		curve->bytes = realloc(curve->bytes, curve->room * sizeof(*curve->bytes));
		if (!curve->t || !curve->bytes)
			err(1, "memory");
	}
	curve->t[curve->count] = t;
	curve->bytes[curve->count++] = bytes;
}

static void read_ports(struct demo *demo, struct result *res)
{
	double t, out, in;
	unsigned int host;
	char line[256];
	FILE *f;

	f = open_in(demo, res->name, "ports.csv", -1);
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lf,%u,%lf,%lf", &t, &host, &out, &in) != 4 ||
		    host >= demo->hosts)
			continue;
		curve_add(&res->out[host], t / 1e9, out);
		curve_add(&res->in[host], t / 1e9, in);
	}
	fclose(f);
}

/* Total at a time, between two samples in proportion. */
static double curve_at(const struct curve *curve, double t)
{
	size_t lo = 0, hi = curve->count;
	double part;

	if (!hi)
		return 0;
	if (t <= curve->t[0])
		return curve->bytes[0];
	if (t >= curve->t[hi - 1])
		return curve->bytes[hi - 1];
	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (curve->t[mid] <= t)
			lo = mid;
		else
			hi = mid;
	}
	part = (t - curve->t[lo]) / (curve->t[hi] - curve->t[lo]);
	return curve->bytes[lo] + part * (curve->bytes[hi] - curve->bytes[lo]);
}

double curve_rate(const struct curve *curve, double from, double to)
{
	return (curve_at(curve, to) - curve_at(curve, from)) / (to - from);
}

double demo_end(const struct demo *demo)
{
	double end = demo->bound;
	int i;

	for (i = 0; i < 2; i++)
		if (demo->result[i].completion > end)
			end = demo->result[i].completion;
	return end;
}

/* What a host sends to itself does not cross the network. */
static void find_bound(struct demo *demo)
{
	unsigned int i, j;

	for (i = 0; i < demo->hosts; i++) {
		double out = 0, in = 0;

		for (j = 0; j < demo->hosts; j++) {
			if (i == j)
				continue;
			out += demo->len[i][j];
			in += demo->len[j][i];
			if (demo->len[i][j] > demo->longest)
				demo->longest = demo->len[i][j];
		}
		demo->payload += out;
		if (out > demo->busiest)
			demo->busiest = out;
		if (in > demo->busiest)
			demo->busiest = in;
	}
	for (i = 0; i < 2; i++)
		if (demo->result[i].min_rtt > 0)
			demo->rtt = demo->result[i].min_rtt;
	demo->bound = demo->busiest * 8 / (demo->mbps * 1e6) + demo->rtt;
}

static void print_size(char *text, size_t size, double bytes)
{
	if (bytes < 10e3)
		snprintf(text, size, "%.0f B", bytes);
	else if (bytes < 10e6)
		snprintf(text, size, "%.0f kB", bytes / 1e3);
	else
		snprintf(text, size, "%.1f MB", bytes / 1e6);
}

typedef void (*cell_fn)(const struct demo *demo, const struct result *res, char *text,
			size_t size);

static void cell_verified(const struct demo *demo, const struct result *res, char *text,
			  size_t size)
{
	snprintf(text, size, "%u of %u", res->verified, demo->hosts * demo->hosts);
}

static void cell_completion(const struct demo *demo, const struct result *res, char *text,
			    size_t size)
{
	if (res->hosts_done == (int)demo->hosts)
		snprintf(text, size, "%.3f s", res->completion);
	else
		snprintf(text, size, "failed");
}

static void cell_bound(const struct demo *demo, const struct result *res, char *text,
		       size_t size)
{
	(void)res;
	snprintf(text, size, "%.3f s", demo->bound);
}

static void cell_slowdown(const struct demo *demo, const struct result *res, char *text,
			  size_t size)
{
	if (res->hosts_done == (int)demo->hosts)
		snprintf(text, size, "%.2f", res->completion / demo->bound);
	else
		snprintf(text, size, "-");
}

static void cell_retrans(const struct demo *demo, const struct result *res, char *text,
			 size_t size)
{
	(void)demo;
	print_size(text, size, res->retrans_bytes);
}

static void cell_drops(const struct demo *demo, const struct result *res, char *text,
		       size_t size)
{
	(void)demo;
	snprintf(text, size, "%.0f", res->drops);
}

static void cell_control(const struct demo *demo, const struct result *res, char *text,
			 size_t size)
{
	(void)demo;
	snprintf(text, size, "%.0f", res->control_packets);
}

static void cell_start(const struct demo *demo, const struct result *res, char *text,
		       size_t size)
{
	(void)demo;
	snprintf(text, size, "%.1f ms", res->latest_start * 1e3);
}

static void cell_cpu(const struct demo *demo, const struct result *res, char *text,
		     size_t size)
{
	(void)demo;
	snprintf(text, size, "%.2f s", res->cpu);
}

static const struct {
	const char *label;
	cell_fn cell;
} table[] = {
	{ "messages verified (SHA-256)", cell_verified },
	{ "completion time", cell_completion },
	{ "lower bound", cell_bound },
	{ "slowdown (completion / bound)", cell_slowdown },
	{ "retransmitted payload", cell_retrans },
	{ "packets dropped in queues", cell_drops },
	{ "control packets (TCP: pure ACKs)", cell_control },
	{ "latest host after the start", cell_start },
	{ "processor time of the programs", cell_cpu },
};

static unsigned int messages(const struct demo *demo)
{
	return demo->hosts * (demo->hosts - 1);
}

static void print_network(const struct demo *demo)
{
	printf("\n%u hosts; links of %.0f Mb/s, round trip %.1f ms, queues of %.0f KiB\n",
	       demo->hosts, demo->mbps, demo->rtt_us / 1e3, demo->buffer / 1024);
	printf("Linux %s, lane %s\n", demo->kernel, demo->lane);
	printf("This is emulated: the hosts are namespaces of one emulated machine, the links are\n"
	       "shaped in software (25 Gb/s and 4 us, slowed down %.0f times). Times say nothing\n"
	       "about real hardware; only ratios count.\n", 25000 / demo->mbps);
	printf("Headers and start-up count against both. TCP: one connection per pair of hosts,\n"
	       "opened before the start, all at once, with epoll. Its timers are not slowed down,\n"
	       "which helps it here.\n");
}

static void print_table(const struct demo *demo)
{
	char text[64], longest[64];
	size_t row;
	int i;

	print_size(text, sizeof(text), demo->payload / messages(demo));
	print_size(longest, sizeof(longest), demo->longest);
	printf("\n%s: %.1f MB in %u messages, %s on average, the longest %s\n\n", demo->matrix,
	       demo->payload / 1e6, messages(demo), text, longest);
	printf("  %-34s", "");
	for (i = 0; i < 2; i++)
		if (demo->result[i].present)
			printf("%14s", demo->result[i].title);
	printf("\n");
	for (row = 0; row < sizeof(table) / sizeof(table[0]); row++) {
		printf("  %-34s", table[row].label);
		for (i = 0; i < 2; i++) {
			if (!demo->result[i].present)
				continue;
			table[row].cell(demo, &demo->result[i], text, sizeof(text));
			printf("%14s", text);
		}
		printf("\n");
	}
	print_size(text, sizeof(text), demo->busiest);
	printf("\n  Lower bound: %s, what the busiest host sends or receives, at the raw link rate",
	       text);
	if (demo->rtt > 0)
		printf("\n  and one round trip (%.2f ms, the shortest TCP handshake).\n",
		       demo->rtt * 1e3);
	else
		printf(".\n");
}

/* Everything of one matrix; false if it did not arrive intact. */
static int report(struct demo *demo, int with_lines)
{
	int ok = 1, ran = 0, i;
	char path[4096];

	find_bound(demo);
	print_table(demo);
	for (i = 0; i < 2; i++) {
		struct result *res = &demo->result[i];

		if (!res->present)
			continue;
		ran++;
		if (with_lines)
			draw_text(demo, res);
		if (res->verified != demo->hosts * demo->hosts ||
		    res->hosts_done != (int)demo->hosts)
			ok = 0;
	}
	snprintf(path, sizeof(path), "%s/demo.svg", demo->dir);
	draw_svg(demo, path);
	return ok && ran;
}

static void read_demo(struct demo *demo, const char *dir)
{
	const char *slash = strrchr(dir, '/');
	int i;

	demo->dir = dir;
	demo->matrix = slash ? slash + 1 : dir;
	demo->result[0] = (struct result){ .name = "shuffle", .title = "AF_SHUFFLE" };
	demo->result[1] = (struct result){ .name = "tcp", .title = "TCP" };
	read_params(demo);
	for (i = 0; i < 2; i++) {
		struct result *res = &demo->result[i];

		read_stats(demo, res);
		if (!res->present)
			continue;
		if (!strcmp(res->name, "shuffle"))
			read_netstat(demo, res);
		read_verified(demo, res);
		read_drops(demo, res);
		read_ports(demo, res);
	}
}

/* What the demo shows, in a line for each matrix. */
static void print_summary(const struct demo *demo, int n)
{
	char text[64];
	int i, k;

	printf("\nslowdown (completion / bound)%7s", "");
	for (i = 0; i < 2; i++)
		printf("%14s", demo->result[i].title);
	printf("\n");
	for (k = 0; k < n; k++) {
		printf("  %-34s", demo[k].matrix);
		for (i = 0; i < 2; i++) {
			cell_slowdown(&demo[k], &demo[k].result[i], text, sizeof(text));
			printf("%14s", text);
		}
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	struct demo *demo = calloc(argc, sizeof(*demo));
	int ok = 1, k;

	if (argc < 2)
		errx(2, "usage: demo-report DIR...");
	if (!demo)
		err(1, "memory");
	for (k = 0; k < argc - 1; k++) {
		read_demo(&demo[k], argv[k + 1]);
		if (!k)
			print_network(&demo[k]);
		ok &= report(&demo[k], !k);
	}
	print_summary(demo, argc - 1);
	printf("\n%s\n", ok ? "All messages arrived intact." :
			      "NOT all messages arrived intact: see above.");
	return !ok;
}
