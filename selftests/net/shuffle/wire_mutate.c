// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bad packets.
 *
 *	wire_mutate at=NETNS dev=p0 ms=5000 [until=FILE] [rough=1] [key=1]
 *
 * listens on eth0 of a host's namespace, takes every kind of record out of the
 * genuine packets that arrive there, changes one field, and sends the result by
 * the bridge port before that host: addresses, nonce and operation
 * are right, so each check of the receiver is tried behind the others.
 * A forgery must not come before the genuine packet is believed: where no key
 * is, the first packet of a message is.  So DATA without a tag is changed only
 * once the host has answered to its nonce.  All of the host's packets should be
 * received by one CPU, so that none overtakes another.
 * Without rough=1 no change is one that only cryptography could detect, and
 * the shuffle must end whole.  With key=1 the group has a key: records carry
 * tags, and every change of a header must be refused.
 *
 *	wire_mutate flood=10.77.0.1 count=5000 [sport=800] [op=N]
 *
 * sends records of random operations, or of one, and plain noise from a privileged
 * port, or from any (sport=0).
 *
 * One line of JSON tells what was sent; "must_drop" counts the packets that
 * no receiver may accept.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shtest.h"
#include "wire.h"

#define UDP_PORT	818
#define SOURCE_PORT	800	/* of a flood that gets as far as the parser */
#define MAX_MUTATIONS	256
#define FORGED_FROM	0x66	/* last byte of the Ethernet source of what we send */

#define D	(1U << SHUFFLE_DATA)
#define G	(1U << SHUFFLE_GRANT)
#define A	(1U << SHUFFLE_ACK)
#define R	(1U << SHUFFLE_RESEND)
#define CTRL	(G | A | R)
#define ALL	(D | CTRL)
#define TYPES	(SHUFFLE_RESEND + 1)

enum action {
	SET,		/* field = value */
	XOR,		/* field ^= value */
	ADD,		/* field += value */
	LIKE,		/* field = field of the same size at value */
	CUT,		/* only the first bytes */
	PAD,		/* zero bytes behind it */
	SAME,		/* unchanged */
	SOURCE,		/* another source address: last byte = value */
	SPORT,		/* another UDP source port */
	SUM,		/* wrong UDP checksum */
};

/* How a receiver must take it. */
enum kind {
	DROP,		/* refuse and count */
	TAG,		/* the same; only records with a tag have the field */
	STRAY,		/* refuse, or keep for a while (unknown operation) */
	FINE,		/* harmless: part of the truth, or repeated */
	UDP,		/* never gets to us */
	ROUGH,		/* plausible forgery: anything but a crash or a hang */
};

struct mutation {
	const char *name;
	unsigned int types;
	enum kind kind;
	enum action action;
	unsigned int at, size;
	u64 value;
	unsigned long sent;
};

static struct mutation table[MAX_MUTATIONS] = {
	{ "version-0", ALL, DROP, SET, 0, 1, 0x01, 0 },
	{ "version-2", ALL, DROP, XOR, 0, 1, 0x10, 0 },
	{ "version-15", ALL, DROP, XOR, 0, 1, 0xc0, 0 },
	{ "type-0", ALL, DROP, SET, 0, 1, 0x30, 0 },
	{ "type-5", ALL, DROP, SET, 0, 1, 0x35, 0 },
	{ "type-6", ALL, DROP, SET, 0, 1, 0x36, 0 },	/* not used */
	{ "type-15", ALL, DROP, SET, 0, 1, 0x3f, 0 },
	{ "flags-04", CTRL, DROP, XOR, 1, 1, 0x04, 0 },
	{ "flags-delay", D, FINE, XOR, 1, 1, 0x04, 0 },
	{ "flags-08", R, DROP, XOR, 1, 1, 0x08, 0 },
	{ "flags-heard", D, FINE, XOR, 1, 1, 0x08, 0 },
	{ "flags-40", CTRL, DROP, XOR, 1, 1, 0x40, 0 },
	{ "flags-slowest", G | A, FINE, XOR, 1, 1, 0x08, 0 },
	{ "flags-10", G | A, DROP, XOR, 1, 1, 0x10, 0 },
	{ "flags-met", D | R, FINE, XOR, 1, 1, 0x10, 0 },
	{ "flags-18", R, DROP, XOR, 1, 1, 0x18, 0 },
	{ "flags-hearsay", G | A, FINE, XOR, 1, 1, 0x18, 0 },
	{ "flags-tag", ALL, DROP, XOR, 1, 1, 0x80, 0 },
	{ "flags-01", CTRL, DROP, XOR, 1, 1, 0x01, 0 },
	{ "flags-02", ALL, DROP, XOR, 1, 1, 0x02, 0 },
	{ "flags-probe", D, FINE, XOR, 1, 1, 0x01, 0 },
	{ "src-rank+1", ALL, DROP, ADD, 2, 2, 1, 0 },
	{ "src-rank-max", ALL, DROP, SET, 2, 2, 0xffff, 0 },
	{ "dst-port+1", ALL, DROP, ADD, 4, 2, 1, 0 },
	{ "dst-port-0", ALL, DROP, SET, 4, 2, 0, 0 },
	{ "dst-rank+1", ALL, DROP, ADD, 6, 2, 1, 0 },
	{ "dst-rank-max", ALL, DROP, SET, 6, 2, 0xffff, 0 },
	{ "op-high-bit", ALL, STRAY, XOR, 8, 8, 1ull << 63, 0 },
	{ "op-0", ALL, STRAY, SET, 8, 8, 0, 0 },
	{ "op-max", ALL, STRAY, SET, 8, 8, ~0ull, 0 },
	{ "src-port+1", ALL, DROP, ADD, 16, 2, 1, 0 },
	{ "src-port-0", ALL, DROP, SET, 16, 2, 0, 0 },
	{ "nonce^1", ALL, DROP, XOR, 18, 6, 1, 0 },
	{ "nonce-not", ALL, DROP, XOR, 18, 6, ~0ull, 0 },
	{ "nonce-0", D | G | A, DROP, SET, 18, 6, 0, 0 },
	{ "unsched-max", D, FINE, SET, 24, 2, 0xffff, 0 },
	{ "unsched-0", D, FINE, SET, 24, 2, 0, 0 },
	{ "unsched-1", CTRL, DROP, SET, 24, 2, 1, 0 },
	{ "len+1", ALL, DROP, ADD, 26, 2, 1, 0 },
	{ "len-max", ALL, DROP, SET, 26, 2, 0xffff, 0 },
	{ "len-1", D, STRAY, ADD, 26, 2, ~0ull, 0 },
	{ "len-0", D, STRAY, SET, 26, 2, 0, 0 },
	{ "msg-len+1", D, DROP, ADD, 28, 6, 1, 0 },
	{ "msg-len-0", D, STRAY, SET, 28, 6, 0, 0 },
	{ "msg-len-max", D, DROP, SET, 28, 6, ~0ull, 0 },
	{ "msg-len-2^47", D, DROP, SET, 28, 6, 1ull << 47, 0 },
	{ "msg-len-offset", D, STRAY, LIKE, 28, 6, 34, 0 },
	{ "offset-max", D, DROP, SET, 34, 6, ~0ull, 0 },
	{ "offset-2^47", D, DROP, SET, 34, 6, 1ull << 47, 0 },
	{ "offset-end", D, STRAY, LIKE, 34, 6, 28, 0 },
	{ "granted-max", G, STRAY, SET, 28, 6, ~0ull, 0 },
	{ "granted-2^46", G, STRAY, SET, 28, 6, 1ull << 46, 0 },
	{ "granted-0", G, STRAY, SET, 28, 6, 0, 0 },
	{ "received-max", G, DROP, SET, 34, 6, ~0ull, 0 },
	{ "received-0", G, FINE, SET, 34, 6, 0, 0 },
	{ "resend-offset-max", R, STRAY, SET, 28, 6, ~0ull, 0 },
	{ "resend-offset-2^46", R, STRAY, SET, 28, 6, 1ull << 46, 0 },
	{ "resend-length-max", R, STRAY, SET, 34, 6, ~0ull, 0 },
	{ "resend-length-2^46", R, STRAY, SET, 34, 6, 1ull << 46, 0 },
	{ "resend-length-0", R, STRAY, SET, 34, 6, 0, 0 },
	{ "repeat", ALL, FINE, SAME, 0, 0, 0, 0 },
	{ "pad-1", ALL, STRAY, PAD, 0, 0, 1, 0 },
	{ "pad-23", ALL, STRAY, PAD, 0, 0, 23, 0 },
	{ "pad-64", ALL, STRAY, PAD, 0, 0, 64, 0 },
	{ "source-stranger", ALL, DROP, SOURCE, 0, 0, 200, 0 },
	{ "source-port", ALL, FINE, SPORT, 0, 0, 768, 0 },
	{ "source-port-of-anybody", ALL, DROP, SPORT, 0, 0, 40000, 0 },
	{ "source-port-1024", ALL, DROP, SPORT, 0, 0, 1024, 0 },
	{ "source-port-767", ALL, DROP, SPORT, 0, 0, 512, 0 },
	{ "checksum", ALL, UDP, SUM, 0, 0, 0, 0 },
	{ "tag^1", D | G | R, TAG, XOR, 40, 8, 1, 0 },
	{ "tag-0", D | G | R, TAG, SET, 40, 8, 0, 0 },
	{ "tag-high-bit", D | G | R, TAG, XOR, 40, 8, 1ull << 63, 0 },
	{ "tag^1", A, TAG, XOR, 28, 8, 1, 0 },
	{ "tag-0", A, TAG, SET, 28, 8, 0, 0 },
	{ "offset-64", D, ROUGH, ADD, 34, 6, (u64)-64, 0 },
	{ "offset-0", D, ROUGH, SET, 34, 6, 0, 0 },
	{ "granted=received", G, ROUGH, LIKE, 34, 6, 28, 0 },
	{ "flags-digest", D, ROUGH, XOR, 1, 1, 0x40, 0 },
	{ "data-to-abort", D, ROUGH, SET, 0, 1, 0x38, 0 },
	{ "grant-to-abort", G, ROUGH, SET, 0, 1, 0x38, 0 },
	{ "resend-to-abort", R, ROUGH, SET, 0, 1, 0x38, 0 },
	{ "grant-to-ack", G, ROUGH, SET, 0, 1, 0x33, 0 },
	{ "grant-to-resend", G, ROUGH, SET, 0, 1, 0x34, 0 },
	{ "resend-to-grant", R, ROUGH, SET, 0, 1, 0x32, 0 },
	{ "resend-to-ack", R, ROUGH, SET, 0, 1, 0x33, 0 },
	{ "data-to-grant", D, ROUGH, SET, 0, 1, 0x32, 0 },
	{ "data-to-ack", D, ROUGH, SET, 0, 1, 0x33, 0 },
};

static unsigned int mutations;
static unsigned int next_of[TYPES];		/* per type: where to go on */
static unsigned long seen[TYPES], sent, must_drop;
static bool rough, keyed;

/* The nonces of messages that the host has answered to: a hash table, 0 is empty. */
static u64 answered[1 << 16];

static u64 *nonce_slot(u64 nonce)
{
	u64 at = sht_mix(nonce);
	unsigned int tries;

	for (tries = 0; tries < 64; tries++, at++) {
		u64 *slot = &answered[at % (sizeof(answered) / sizeof(*answered))];

		if (!*slot || *slot == nonce)
			return slot;
	}
	return NULL;
}

static bool is_answered(u64 nonce)
{
	u64 *slot = nonce_slot(nonce);

	return slot && *slot;
}

static u64 get_field(const u8 *p, unsigned int size)
{
	u64 v = 0;

	while (size--)
		v = v << 8 | *p++;
	return v;
}

static void put_field(u8 *p, unsigned int size, u64 v)
{
	for (; size; v >>= 8)
		p[--size] = v;
}

static u32 sum_words(const u8 *p, size_t len, u32 sum)
{
	for (; len > 1; p += 2, len -= 2)
		sum += p[0] << 8 | p[1];
	if (len)
		sum += p[0] << 8;
	return sum;
}

static u16 fold(u32 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* Lengths and checksums of a frame whose UDP payload has len bytes. */
static void seal(u8 *ip, size_t ip_len, size_t len, bool wrong)
{
	u8 *udp = ip + ip_len;
	u32 sum;

	put_field(udp + 4, 2, len + 8);
	put_field(udp + 6, 2, 0);
	if (ip_len == 20) {
		put_field(ip + 2, 2, ip_len + 8 + len);
		put_field(ip + 10, 2, 0);
		put_field(ip + 10, 2, fold(sum_words(ip, ip_len, 0)));
		sum = sum_words(ip + 12, 8, 17 + 8 + len);
	} else {
		put_field(ip + 4, 2, 8 + len);
		sum = sum_words(ip + 8, 32, 17 + 8 + len);
	}
	sum = fold(sum_words(udp, len + 8, sum));
	put_field(udp + 6, 2, (sum ? sum : 0xffff) ^ (wrong ? 0x1234 : 0));
}

static void inject(int fd, const u8 *frame, size_t ip_len, const u8 *record,
		   size_t record_len, struct mutation *m)
{
	u8 out[ETH_FRAME_LEN + 128], *ip = out + ETH_HLEN, *p;
	size_t len = record_len;

	if (ETH_HLEN + ip_len + 8 + len + 64 > sizeof(out))
		return;
	memset(out, 0, sizeof(out));
	memcpy(out, frame, ETH_HLEN + ip_len + 8);
	memset(out + ETH_ALEN, FORGED_FROM, ETH_ALEN);
	out[ETH_ALEN] = 2;		/* locally administered */
	p = ip + ip_len + 8;
	memcpy(p, record, len);
	switch (m->action) {
	case SET:
		put_field(p + m->at, m->size, m->value);
		break;
	case XOR:
		put_field(p + m->at, m->size,
			  get_field(p + m->at, m->size) ^ m->value);
		break;
	case ADD:
		put_field(p + m->at, m->size,
			  get_field(p + m->at, m->size) + m->value);
		break;
	case LIKE:
		put_field(p + m->at, m->size, get_field(p + m->value, m->size));
		break;
	case CUT:
		len = m->value;
		break;
	case PAD:
		len += m->value;
		break;
	case SOURCE:
		ip[ip_len == 20 ? 15 : 23] = m->value;
		break;
	case SPORT:
		put_field(ip + ip_len, 2, m->value + sent % 256);
		break;
	case SAME:
	case SUM:
		break;
	}
	if (!memcmp(p, record, record_len) && len == record_len &&
	    m->action < SAME)
		return;		/* it was so before */
	seal(ip, ip_len, len, m->action == SUM);
	if (send(fd, out, ETH_HLEN + ip_len + 8 + len, MSG_DONTWAIT) < 0)
		return;
	m->sent++;
	sent++;
	if (m->kind == DROP || (keyed && m->action <= LIKE))
		must_drop++;
}

/* Must this run try the change? */
static bool wanted(const struct mutation *m)
{
	return m->kind == TAG ? keyed : keyed || (m->kind == ROUGH) == rough;
}

/* Where a message begins its digest stands in the place of the offset.  Another one is that of
 * another operation, which its receiver would have to believe: only a key tells.
 */
static bool is_believed(const struct mutation *m, const u8 *record, unsigned int type)
{
	return !keyed && !rough && type == SHUFFLE_DATA && record[1] & SHUFFLE_FLAG_DIGEST &&
	       m->action <= LIKE && m->at == 34;
}

/* The next change that fits the type of this record. */
static void mutate(int fd, const u8 *frame, size_t ip_len, const u8 *record,
		   size_t len, unsigned int type)
{
	unsigned int i, at;

	seen[type]++;
	for (i = 0; i < mutations; i++) {
		at = (next_of[type] + i) % mutations;
		if (!(table[at].types & 1U << type) || !wanted(&table[at]) ||
		    is_believed(&table[at], record, type))
			continue;
		next_of[type] = at + 1;
		inject(fd, frame, ip_len, record, len, &table[at]);
		return;
	}
}

/* A record that the host has sent: an answer tells which nonce it believes. */
static void note_answer(const u8 *record, unsigned int type)
{
	u64 *slot;

	if (type != SHUFFLE_GRANT && type != SHUFFLE_ACK)
		return;
	slot = nonce_slot(get_field(record + 18, 6));
	if (slot)
		*slot = get_field(record + 18, 6);
}

/* @arrived: at the host; else it leaves */
static void take_frame(int fd, const u8 *frame, size_t len, bool arrived)
{
	size_t ip_len, at, hdr, body;
	const u8 *ip = frame + ETH_HLEN;
	unsigned int type, done = 0;
	u16 proto;

	if (len < ETH_HLEN + 20 + 8 || frame[2 * ETH_ALEN - 1] == FORGED_FROM)
		return;
	proto = get_field(frame + 12, 2);
	if (proto == ETH_P_IP && ip[0] == 0x45 && ip[9] == 17)
		ip_len = 20;
	else if (proto == ETH_P_IPV6 && ip[6] == 17)
		ip_len = 40;
	else
		return;
	at = ETH_HLEN + ip_len + 8;
	if (len < at || get_field(ip + ip_len + 2, 2) != UDP_PORT)
		return;
	while (len - at >= SHUFFLE_WIRE_BASE && (done < 8 || !arrived)) {
		type = frame[at] & 0xf;
		hdr = type == SHUFFLE_ACK ? SHUFFLE_WIRE_BASE :
		      SHUFFLE_WIRE_DATA_HDR;
		if (frame[at] >> 4 != SHUFFLE_WIRE_VERSION ||
		    type < SHUFFLE_DATA || type > SHUFFLE_RESEND)
			return;
		if (keyed != !!(frame[at + 1] & SHUFFLE_FLAG_TAG))
			return;
		hdr += keyed ? SHUFFLE_WIRE_TAG : 0;
		body = type == SHUFFLE_DATA ? get_field(frame + at + 26, 2) : 0;
		if (hdr + body > len - at)
			return;
		if (!arrived)
			note_answer(frame + at, type);
		else if (keyed || type != SHUFFLE_DATA ||
			 is_answered(get_field(frame + at + 18, 6)))
			mutate(fd, frame, ip_len, frame + at, hdr + body, type);
		done++;
		at += hdr + body;
	}
}

static void add_cuts(void)
{
	unsigned int i;

	for (mutations = 0; table[mutations].name; mutations++)
		;
	for (i = 0; i < SHUFFLE_WIRE_BASE; i++)
		table[mutations++] = (struct mutation){
			"cut", ALL, i ? DROP : UDP, CUT, 0, 0, i, 0 };
	for (; i < SHUFFLE_WIRE_DATA_HDR; i++)
		table[mutations++] = (struct mutation){
			"cut", D | G | R, DROP, CUT, 0, 0, i, 0 };
}

/* A packet socket of a device, which receives what arrives there; -1 and a message */
static int open_port(const char *dev, int protocol)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = if_nametoindex(dev),
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(protocol));

	if (fd >= 0 && addr.sll_ifindex && !bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	perror("wire_mutate");
	return -1;
}

static void report(void)
{
	static const char * const types[] = {
		"", "data", "grant", "ack", "resend" };
	unsigned int i, t, missed;

	printf("{\"sent\": %lu, \"must_drop\": %lu", sent, must_drop);
	for (t = SHUFFLE_DATA; t < TYPES; t++) {
		missed = 0;
		for (i = 0; i < mutations; i++)
			missed += (table[i].types & 1U << t) &&
				  wanted(&table[i]) && !table[i].sent;
		printf(", \"%s\": {\"seen\": %lu, \"untried\": %u}", types[t],
		       seen[t], missed);
	}
	printf("}\n");
}

/* @until: a file with which it ends before @ms, or NULL */
static int run_port(const char *netns, const char *dev, long ms, const char *until)
{
	struct sockaddr_ll from;
	socklen_t alen = sizeof(from);
	static u8 frame[70000];
	struct pollfd pfd;
	uint64_t end;
	ssize_t len;
	int fd, bufsize = 8 << 20;

	fd = open_port(dev, 0);		/* to send only */
	if (fd < 0)
		return 2;
	if (sht_enter_netns(netns)) {
		perror("wire_mutate: at");
		return 2;
	}
	pfd.fd = open_port("eth0", ETH_P_ALL);
	if (pfd.fd < 0)
		return 2;
	setsockopt(pfd.fd, SOL_SOCKET, SO_RCVBUFFORCE, &bufsize, sizeof(bufsize));
	add_cuts();
	pfd.events = POLLIN;
	for (end = sht_now_ms() + ms; sht_now_ms() < end;) {
		if (poll(&pfd, 1, 50) <= 0) {
			if (until && !access(until, F_OK))
				break;
			continue;
		}
		len = recvfrom(pfd.fd, frame, sizeof(frame), MSG_DONTWAIT,
			       (struct sockaddr *)&from, &alen);
		if (len > 0 && (from.sll_pkttype == PACKET_HOST ||
				from.sll_pkttype == PACKET_OUTGOING))
			take_frame(fd, frame, len, from.sll_pkttype == PACKET_HOST);
		alen = sizeof(from);
	}
	close(pfd.fd);
	close(fd);
	report();
	return sent ? 0 : 4;
}

/* Length of the address, 0 if @text is none. */
static socklen_t set_addr(struct sockaddr_storage *ss, const char *text, long port)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *in = (struct sockaddr_in *)ss;

	if (strchr(text, ':')) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		return inet_pton(AF_INET6, text, &in6->sin6_addr) == 1 ? sizeof(*in6) : 0;
	}
	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	return inet_pton(AF_INET, text, &in->sin_addr) == 1 ? sizeof(*in) : 0;
}

/* A stranger: random operations in well-formed records, and noise. */
static int run_flood(const char *host, long count, long sport, u64 op)
{
	struct sockaddr_storage dst = {}, src = {};
	socklen_t alen;
	u8 buf[1200];
	u64 x = 1;
	size_t len, j;
	long i;
	int fd;

	alen = set_addr(&dst, host, UDP_PORT);
	set_addr(&src, strchr(host, ':') ? "::" : "0.0.0.0", sport);
	fd = socket(dst.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (!alen || fd < 0 || bind(fd, (struct sockaddr *)&src, alen)) {
		perror("wire_mutate");
		return 2;
	}
	for (i = 0; i < count; i++) {
		for (j = 0; j < sizeof(buf); j += 8) {
			x = sht_mix(x);
			memcpy(buf + j, &x, 8);
		}
		len = x % sizeof(buf);
		if (i % 4) {
			buf[0] = SHUFFLE_WIRE_VERSION << 4 | i % 4;
			buf[1] = 0;
			put_field(buf + 2, 2, x >> 16 & 7);	/* rank */
			put_field(buf + 4, 2, 7000);
			put_field(buf + 6, 2, 0);
			put_field(buf + 16, 2, 7000);
			if (op)
				put_field(buf + 8, 8, op);
			put_field(buf + 24, 4, 0);
			put_field(buf + 28, 6, 1000);
			put_field(buf + 34, 6, 0);
			len = i % 4 == SHUFFLE_ACK ? 28 : 40;
			if (i % 4 == SHUFFLE_DATA && i % 8 > 4) {
				put_field(buf + 26, 2, 500);
				len += 500;
			}
		}
		if (sendto(fd, buf, len, 0, (struct sockaddr *)&dst, alen) >= 0)
			sent++;
	}
	close(fd);
	printf("{\"sent\": %lu}\n", sent);
	return 0;
}

int main(int argc, char **argv)
{
	const char *dev = NULL, *flood = NULL, *at = NULL, *until = NULL;
	long ms = 5000, count = 5000, sport = SOURCE_PORT;
	u64 op = 0;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "dev=", 4))
			dev = argv[i] + 4;
		else if (!strncmp(argv[i], "at=", 3))
			at = argv[i] + 3;
		else if (!strncmp(argv[i], "until=", 6))
			until = argv[i] + 6;
		else if (!strncmp(argv[i], "flood=", 6))
			flood = argv[i] + 6;
		else if (!strncmp(argv[i], "ms=", 3))
			ms = atol(argv[i] + 3);
		else if (!strncmp(argv[i], "count=", 6))
			count = atol(argv[i] + 6);
		else if (!strncmp(argv[i], "sport=", 6))
			sport = atol(argv[i] + 6);
		else if (!strncmp(argv[i], "op=", 3))
			op = strtoull(argv[i] + 3, NULL, 0);
		else if (!strcmp(argv[i], "rough=1"))
			rough = true;
		else if (!strcmp(argv[i], "key=1"))
			keyed = true;
		else
			return 2;
	}
	if (flood)
		return run_flood(flood, count, sport, op);
	return dev && at ? run_port(at, dev, ms, until) : 2;
}
