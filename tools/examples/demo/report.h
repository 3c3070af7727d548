/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The demo's report: what report.c has read and draw.c draws. */
#ifndef DEMO_REPORT_H
#define DEMO_REPORT_H

#include <stddef.h>
#include <stdint.h>

#define MAX_HOSTS	64

/* Bytes over time, ascending */
struct curve {
	double *t;	/* seconds since the start */
	double *bytes;	/* total so far */
	size_t count, room;
};

struct result {
	const char *name;	/* "shuffle", "tcp": the directory */
	const char *title;
	int present;
	int hosts_done;
	unsigned int verified;
	double completion;	/* seconds: the last message has arrived */
	double latest_start;	/* seconds after the common start */
	double cpu;		/* seconds of all programs */
	double retrans_bytes;
	double control_packets;
	double control_bytes;	/* 0: not counted */
	double min_rtt;		/* seconds, 0: not measured */
	double drops;		/* packets dropped in queues */
	struct curve out[MAX_HOSTS], in[MAX_HOSTS];
};

struct demo {
	const char *dir;
	const char *matrix;	/* "skewed", "equal": the last part of dir */
	unsigned int hosts;
	double mbps;
	double buffer;
	double rtt_us;		/* set by the links' delay */
	char lane[32], kernel[96];
	double len[MAX_HOSTS][MAX_HOSTS];
	double payload;		/* bytes that cross the network */
	double longest;		/* bytes of the longest message */
	double busiest;		/* bytes out or in of the busiest host */
	double bound;		/* seconds */
	double rtt;		/* seconds */
	struct result result[2];
};

/* Latest completion of all that ran, seconds. */
double demo_end(const struct demo *demo);

/* Bytes per second between two times. */
double curve_rate(const struct curve *curve, double from, double to);

void draw_text(const struct demo *demo, const struct result *res);
void draw_svg(const struct demo *demo, const char *path);

#endif /* DEMO_REPORT_H */
