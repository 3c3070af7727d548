// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collectives over racks, and what they cost on links: a member on each host, and a counter on each
 * link.
 *
 *	cool_member [-t] PREFIX MEMBERS RACKS CALL...
 *
 *	-t		the racks are those of the hosts' tables, and the first host of each is no
 *			member
 *	CALL		KIND/PATTERN/RADIX/ROOT/ENGINE
 *
 * Member h is in the namespace PREFIXh<h>; the racks are equal, and members counted rack by rack.
 * In the namespace PREFIXbr the device p<h> is the link of host h, and t<r> that from rack r to the
 * core.  One line for each call:
 *
 *	KIND PATTERN RADIX ROOT ENGINE MESSAGES CROSS LINKS CORE PACKETS CONTROL BOTH AGAIN OPS
 *
 *	MESSAGES	messages, by their first DATA record, seen on the links of their senders
 *	CROSS		those that were seen between the sender's rack and the core
 *	LINKS, CORE	messages on all links, and on those to the core, once for each
 *	PACKETS		packets with DATA on all links
 *	CONTROL		other records on all links
 *	BOTH		of these, in a packet with DATA
 *	AGAIN		further DATA records of a message; counted only here and in PACKETS
 *	OPS		operations: one, if the kernel has carried it out
 *
 * An ACK may share a packet with DATA or have one of its own, as time has it.  So records are
 * counted and not packets.  It fails when a result is wrong, or when any link has not carried what
 * the plan says: each message once on each link between its sender and its receiver.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shtest.h"
#include "wire.h"
#include "../../../tools/lib/plan/plan.h"
#include "../../../tools/lib/shuffle_coll.h"

#define MOST_MEMBERS	64
#define MOST_RECORDS	8192		/* DATA of a collective on one link */
#define MOST_MESSAGES	4096		/* of a member */
#define RCVBUF		(16 << 20)
#define SECONDS		300
#define SHIFT		24		/* of operation ids: the number of the collective */
#define PORT		7000

/* ---- collectives ---- */

struct call {
	char text[128];
	uint8_t kind, pattern;
	unsigned int radix, root;
	char engine[16];
};

static unsigned int members, racks, per_rack;
static bool by_table;

static int number_of(const char *name, const char *(*name_of)(uint8_t i), int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(name, name_of(i)))
			return i;
	errx(2, "there is no '%s'", name);
}

static void call_parse(struct call *call, const char *text)
{
	char kind[32], pattern[32];

	if (sscanf(text, "%31[^/]/%31[^/]/%u/%u/%15s", kind, pattern, &call->radix, &call->root,
		   call->engine) != 5)
		errx(2, "no collective: '%s'", text);
	call->kind = number_of(kind, shuffle_coll_kind_name, SHUFFLE_COLL_KINDS);
	call->pattern = number_of(pattern, shuffle_coll_pattern_name, SHUFFLE_COLL_PATTERNS);
	snprintf(call->text, sizeof(call->text), "%s %s %u %u %s", kind, pattern, call->radix,
		 call->root, call->engine);
}

static uint64_t value(unsigned int member, unsigned int i)
{
	return sht_mix((uint64_t)member << 32 | i);
}

/* Item i of the members [0, n), combined. */
static uint64_t sum(unsigned int n, unsigned int i)
{
	uint64_t x = 0;

	while (n--)
		x += value(n, i);
	return x;
}

/* Is a vector divided into parts, of which none shall be empty? */
static bool divides(uint8_t pattern)
{
	return pattern == SHUFFLE_COLL_RING || pattern == SHUFFLE_COLL_RABENSEIFNER ||
	       shuffle_coll_in_segments(pattern);
}

/* Make the call, with 8 bytes of each member, or as many as there are parts: a message of all of
 * them fits a packet.  0, or -1.
 */
static int make_call(struct shuffle_coll *c, const struct call *call, unsigned int rank)
{
	uint64_t from[MOST_MEMBERS], to[MOST_MEMBERS] = { 0 }, want[MOST_MEMBERS];
	unsigned int i, items = divides(call->pattern) ? members : 1, root = call->root, got;
	void *add = SHUFFLE_ITEMS(SHUFFLE_COLL_SUM, SHUFFLE_COLL_U64);
	shuffle_combine f = shuffle_combine_items;
	int rc;

	for (i = 0; i < members; i++) {
		from[i] = value(rank, i);
		want[i] = sum(members, i);
	}
	got = items;
	switch (call->kind) {
	case SHUFFLE_COLL_BARRIER:
		got = 0;
		rc = shuffle_barrier(c);
		break;
	case SHUFFLE_COLL_BROADCAST:
		for (i = 0; i < items; i++)
			want[i] = value(root, i);
		memcpy(to, from, sizeof(from));
		rc = shuffle_broadcast(c, to, 8 * items, root);
		break;
	case SHUFFLE_COLL_SCATTER:
		want[0] = value(root, rank);
		got = 1;
		rc = shuffle_scatter(c, from, to, 8, root);
		break;
	case SHUFFLE_COLL_GATHER:
	case SHUFFLE_COLL_ALLGATHER:
		for (i = 0; i < members; i++)
			want[i] = value(i, 0);
		got = members;
		if (call->kind == SHUFFLE_COLL_ALLGATHER)
			rc = shuffle_allgather(c, from, to, 8);
		else
			rc = shuffle_gather(c, from, to, 8, root);
		break;
	case SHUFFLE_COLL_REDUCE:
		rc = shuffle_reduce(c, from, to, 8 * items, 8, f, add, root);
		break;
	case SHUFFLE_COLL_ALLREDUCE:
		rc = shuffle_allreduce(c, from, to, 8 * items, 8, f, add);
		break;
	case SHUFFLE_COLL_REDUCE_SCATTER:
		want[0] = want[rank];
		got = 1;
		rc = shuffle_reduce_scatter(c, from, to, 8, f, add);
		break;
	default:
		for (i = 0; i < items; i++)
			want[i] = sum(rank + (call->kind == SHUFFLE_COLL_SCAN), i);
		got = call->kind == SHUFFLE_COLL_SCAN || rank ? items : 0;
		rc = shuffle_scan(c, from, to, 8 * items, f, add,
				  call->kind == SHUFFLE_COLL_EXSCAN);
	}
	if (rc)
		return -1;
	if ((call->kind == SHUFFLE_COLL_GATHER || call->kind == SHUFFLE_COLL_REDUCE) &&
	    rank != root)
		return 0;
	errno = EBADMSG;
	return memcmp(to, want, 8 * got) ? -1 : 0;
}

/* ---- members ---- */

/* Pipes.  One to each member: from a common one a member that is done could take what another one
 * has not read yet.
 */
static int go[MOST_MEMBERS][2], done[2];

static void tell_done(void)
{
	if (write(done[1], "", 1) != 1)
		err(1, "pipe");
}

static void wait_go(unsigned int rank)
{
	char byte;

	if (read(go[rank][0], &byte, 1) != 1)
		exit(1);
}

static void run_call(int fd, unsigned int rank, const struct call *call, uint64_t first_op)
{
	unsigned int size[MOST_MEMBERS], i;
	struct shuffle_coll *c;

	for (i = 0; i < racks; i++)
		size[i] = per_rack;
	c = shuffle_coll_new(fd, rank, members, first_op);
	if (!c || (!by_table && shuffle_coll_racks(c, size, racks)) ||
	    shuffle_coll_engine(c, call->engine) ||
	    shuffle_coll_pattern(c, shuffle_coll_pattern_name(call->pattern), call->radix))
		err(1, "member %u: %s: no group", rank, call->text);
	if (make_call(c, call, rank))
		err(1, "member %u: %s", rank, call->text);
	/* all that we have sent has arrived: no copy of it is sent later */
	if (shuffle_coll_free(c))
		err(1, "member %u: %s: the end", rank, call->text);
}

static unsigned int host_of(unsigned int rank)
{
	return by_table ? rank + rank / per_rack + 1 : rank;
}

static void member(const char *prefix, unsigned int rank, const struct call *call, unsigned int n)
{
	struct sockaddr_shuffle m[MOST_MEMBERS];
	char name[64];
	unsigned int i;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(done[0]);
	snprintf(name, sizeof(name), "%sh%u", prefix, host_of(rank));
	if (sht_enter_netns(name))
		err(1, "namespace %s", name);
	for (i = 0; i < members; i++)
		sht_addr(&m[i], SHT_RACK, 0, host_of(i), PORT);
	fd = sht_open(m, members, rank, 0);
	if (fd < 0)
		err(1, "member %u: no socket", rank);
	for (i = 0; i < n; i++) {
		tell_done();
		wait_go(rank);
		run_call(fd, rank, &call[i], (uint64_t)(i + 1) << SHIFT);
	}
	tell_done();
	wait_go(rank);
	exit(0);
}

/* ---- links ---- */

struct seen {
	uint64_t op;
	uint16_t src, dst;
};

struct link {
	char name[IFNAMSIZ];
	int fd;
	bool core;		/* from a rack to the core */
	unsigned int number;	/* of its host or rack */
	unsigned int expected;	/* by the plan */
	struct seen *seen;
	unsigned int n;
};

struct counts {
	unsigned int messages, cross, links, core, packets, control, both, again;
};

static struct link links[2 * MOST_MEMBERS];
static unsigned int n_links;

static void link_open(const char *kind, unsigned int at, unsigned int number, bool core)
{
	struct sockaddr_ll sll = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	struct link *l = &links[n_links++];
	int size = RCVBUF;

	snprintf(l->name, sizeof(l->name), "%s%u", kind, at);
	l->core = core;
	l->number = number;
	l->seen = calloc(MOST_RECORDS, sizeof(*l->seen));
	/* without a protocol nothing comes before it is bound to its device */
	l->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	sll.sll_ifindex = if_nametoindex(l->name);
	if (!l->seen || l->fd < 0 || !sll.sll_ifindex ||
	    setsockopt(l->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    bind(l->fd, (struct sockaddr *)&sll, sizeof(sll)))
		err(1, "link %s", l->name);
}

/* An operation has one message from a member to another. */
static bool has_seen(struct link *l, const struct shuffle_wire *w)
{
	const struct seen new = { w->op_id, w->src_rank, w->dst_rank };
	unsigned int i;

	for (i = 0; i < l->n; i++) {
		if (l->seen[i].op == new.op && l->seen[i].src == new.src &&
		    l->seen[i].dst == new.dst)
			return true;
	}
	if (l->n == MOST_RECORDS)
		errx(1, "%s: too many records", l->name);
	l->seen[l->n++] = new;
	return false;
}

static void count_data(struct link *l, const struct shuffle_wire *w, uint64_t number,
		       struct counts *sum)
{
	/* A late member is told the length again, or asks for a part of what has been sent to
	 * it; and a copy may come when the call has ended.
	 */
	if ((w->data.len && !w->payload) || w->op_id >> SHIFT != number || has_seen(l, w)) {
		sum->again++;
		return;
	}
	sum->links++;
	sum->core += l->core;
	if (l->core)
		sum->cross += w->src_rank / per_rack == l->number;
	else
		sum->messages += w->src_rank == l->number;
}

/* All records of a datagram. */
static void count_records(struct link *l, const uint8_t *p, size_t left, uint64_t number,
			  struct counts *sum)
{
	unsigned int before = sum->control;
	struct shuffle_wire w;
	bool has_data = false;
	int hdr;

	while (left) {
		hdr = shuffle_wire_parse(p, left, left, &w);
		if (hdr < 0)
			errx(1, "%s: a record that is none", l->name);
		if (w.type == SHUFFLE_DATA)
			count_data(l, &w, number, sum);
		else
			sum->control++;
		has_data |= w.type == SHUFFLE_DATA;
		p += hdr + w.payload;
		left -= hdr + w.payload;
	}
	sum->packets += has_data;
	sum->both += has_data ? sum->control - before : 0;
}

static void count_frame(struct link *l, const uint8_t *p, size_t len, uint64_t number,
			struct counts *sum)
{
	const struct ether_header *eth = (const void *)p;
	const struct iphdr *ip = (const void *)(eth + 1);
	size_t headers = sizeof(*eth) + sizeof(*ip) + sizeof(struct udphdr);

	if (len < headers || eth->ether_type != htons(ETH_P_IP) || ip->ihl != 5 ||
	    ip->protocol != IPPROTO_UDP || sizeof(*eth) + ntohs(ip->tot_len) != len)
		errx(1, "%s: a packet of others, protocol %#x, %zu bytes", l->name,
		     ntohs(eth->ether_type), len);
	count_records(l, p + headers, len - headers, number, sum);
}

/* What has come since the last time. */
static void link_count(struct link *l, uint64_t number, struct counts *sum)
{
	static uint8_t frame[128 << 10] __attribute__((aligned(8)));
	struct tpacket_stats stats;
	socklen_t size = sizeof(stats);
	ssize_t len;

	l->n = 0;
	while ((len = recv(l->fd, frame, sizeof(frame), 0)) >= 0)
		count_frame(l, frame, len, number, sum);
	if (errno != EAGAIN)
		err(1, "%s", l->name);
	if (getsockopt(l->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size) || stats.tp_drops)
		errx(1, "%s: %u packets were not seen", l->name, stats.tp_drops);
}

/* ---- the plan ---- */

static struct link *host_link(unsigned int host)
{
	return &links[host];
}

static struct link *core_link(unsigned int host)
{
	return &links[members + host / per_rack];
}

static void expect_message(unsigned int from, unsigned int to)
{
	host_link(from)->expected++;
	host_link(to)->expected++;
	if (from / per_rack == to / per_rack)
		return;
	core_link(from)->expected++;
	core_link(to)->expected++;
}

/* On each link; a multicast is as many messages as it has receivers. */
static void expect_plan(const struct call *call)
{
	static struct shuffle_plan_msg msg[MOST_MESSAGES];
	uint32_t first[MOST_MEMBERS + 1], i;
	struct shuffle_topology topo = { .n = members, .racks = racks, .first = first };
	struct shuffle_plan plan = {
		.kind = call->kind, .pattern = call->pattern, .radix = call->radix, .topo = &topo,
		.root = call->root, .msg = msg, .max = MOST_MESSAGES,
	};

	for (i = 0; i <= racks; i++)
		first[i] = i * per_rack;
	for (i = 0; i < n_links; i++)
		links[i].expected = 0;
	for (plan.self = 0; plan.self < members; plan.self++) {
		if (shuffle_plan_make(&plan))
			errx(2, "%s: there is no such plan", call->text);
		for (i = 0; i < plan.n; i++)
			if (msg[i].out)
				expect_message(plan.self, msg[i].peer);
	}
}

static unsigned int operations(void)
{
	static uint64_t ops[MOST_MESSAGES];
	unsigned int n = 0, i, j, k;

	for (i = 0; i < n_links; i++) {
		for (j = 0; j < links[i].n; j++) {
			for (k = 0; k < n && ops[k] != links[i].seen[j].op; k++)
				;
			if (k == n && n < MOST_MESSAGES)
				ops[n++] = links[i].seen[j].op;
		}
	}
	return n;
}

/* Returns the number of links that have not carried what they should. */
static int report(const struct call *call, uint64_t number)
{
	struct counts sum = { 0 };
	unsigned int i;
	int wrong = 0;

	expect_plan(call);
	for (i = 0; i < n_links; i++)
		link_count(&links[i], number, &sum);
	printf("%s %u %u %u %u %u %u %u %u %u\n", call->text, sum.messages, sum.cross, sum.links,
	       sum.core, sum.packets, sum.control, sum.both, sum.again, operations());
	for (i = 0; i < n_links; i++) {
		if (links[i].n == links[i].expected)
			continue;
		wrong++;
		warnx("%s: link %s has carried %u messages, by the plan %u", call->text,
		      links[i].name, links[i].n, links[i].expected);
	}
	return wrong;
}

/* ---- all together ---- */

static void let_go(void)
{
	unsigned int i;

	for (i = 0; i < members; i++)
		if (write(go[i][1], "", 1) != 1)
			err(1, "pipe");
}

/* All members have told that they are ready, and not one has ended. */
static void wait_done(void)
{
	char bytes[MOST_MEMBERS];
	unsigned int n = 0;
	ssize_t got;

	while (n < members) {
		struct pollfd pfd = { .fd = done[0], .events = POLLIN };

		if (poll(&pfd, 1, 20) > 0) {
			got = read(done[0], bytes, members - n);
			if (got <= 0)
				errx(1, "no members are left");
			n += got;
		} else if (waitpid(-1, NULL, WNOHANG) > 0) {
			errx(1, "a member has ended");
		}
	}
}

int main(int argc, char **argv)
{
	struct call *call;
	unsigned int i, n;
	int wrong = 0;
	char name[64];

	if (argc > 1 && !strcmp(argv[1], "-t")) {
		by_table = true;
		argc--;
		argv++;
	}
	if (argc < 5)
		errx(2, "usage: cool_member [-t] PREFIX MEMBERS RACKS CALL...");
	alarm(SECONDS);
	members = atoi(argv[2]);
	racks = atoi(argv[3]);
	n = argc - 4;
	call = calloc(n, sizeof(*call));
	if (!call || !racks || members > MOST_MEMBERS || !members || members % racks)
		errx(2, "up to %u members, in equal racks", MOST_MEMBERS);
	per_rack = members / racks;
	for (i = 0; i < n; i++)
		call_parse(&call[i], argv[4 + i]);
	if (pipe(done))
		err(1, "pipe");
	for (i = 0; i < members; i++) {
		if (pipe(go[i]))
			err(1, "pipe");
		switch (fork()) {
		case -1:
			err(1, "fork");
		case 0:
			member(argv[1], i, call, n);
		}
	}
	close(done[1]);
	snprintf(name, sizeof(name), "%sbr", argv[1]);
	if (sht_enter_netns(name))
		err(1, "namespace %s", name);
	for (i = 0; i < members; i++)
		link_open("p", host_of(i), i, false);
	for (i = 0; i < racks; i++)
		link_open("t", i, i, true);
	wait_done();
	for (i = 0; i < n; i++) {
		let_go();
		wait_done();
		wrong += report(&call[i], i + 1);
	}
	let_go();
	while (wait(NULL) > 0)
		;
	return wrong ? 1 : 0;
}
