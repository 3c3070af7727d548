// SPDX-License-Identifier: GPL-2.0-only
/* Records: what is built parses to the same, what is malformed does not parse. */
#include "harness.h"
#include "wire_record.h"

/* Flags of DATA that not every one can have */
#define NOT_ALL	(SHUFFLE_FLAG_SENT | SHUFFLE_FLAG_MET | SHUFFLE_FLAG_DIGEST)

struct round_trip {
	const char		*name;
	struct shuffle_wire	w;
	unsigned int		hdr;
};

static const struct round_trip round_trips[] = {
	{ "DATA, the first packet", {
		.type = SHUFFLE_DATA, .src_rank = 1, .dst_rank = 2, .dst_port = 3,
		.src_port = 8, .payload = 1400, .op_id = 4, .nonce = 5, .unsched = 6400,
		.data.len = 100000, .data.off = 0 }, 40 },
	{ "DATA, announces a message", {
		.type = SHUFFLE_DATA, .nonce = 1, .data.len = 1 }, 40 },
	{ "DATA, an empty message", {
		.type = SHUFFLE_DATA, .nonce = 1 }, 40 },
	{ "DATA, the last byte", {
		.type = SHUFFLE_DATA, .nonce = 1, .payload = 1, .data.len = 9000,
		.data.off = 8999 }, 40 },
	{ "DATA, everything at its greatest", {
		.type = SHUFFLE_DATA, .flags = SHUFFLE_FLAGS_DATA & ~NOT_ALL,
		.src_rank = 0xffff, .src_port = 0xffff, .dst_rank = 0xffff, .dst_port = 0xffff,
		.payload = 0xffff, .op_id = U64_MAX, .nonce = SHUFFLE_NONCE_MAX, .tag = U64_MAX,
		.unsched = SHUFFLE_UNSCHED_MAX, .data.len = SHUFFLE_MAX_LEN,
		.data.off = SHUFFLE_MAX_LEN - 0xffff }, 48 },
	{ "DATA, a probe behind the end", {
		.type = SHUFFLE_DATA, .flags = SHUFFLE_FLAG_PROBE, .nonce = 7,
		.data.len = 5ULL << 32, .data.off = 5ULL << 32 }, 40 },
	{ "DATA, all of it has left", {
		.type = SHUFFLE_DATA, .flags = SHUFFLE_FLAGS_DATA & ~SHUFFLE_FLAG_DIGEST,
		.nonce = 7, .tag = 3,
		.data.len = SHUFFLE_MAX_LEN, .data.off = SHUFFLE_MAX_LEN }, 48 },
	{ "DATA, begins a message of an operation with a digest", {
		.type = SHUFFLE_DATA, .flags = SHUFFLE_FLAG_DIGEST | SHUFFLE_FLAG_TAG, .nonce = 7,
		.payload = 10, .data.len = 20, .digest = SHUFFLE_DIGEST_MAX, .tag = 9 }, 48 },
	{ "DATA, the digest is beyond the length", {
		.type = SHUFFLE_DATA, .flags = SHUFFLE_FLAG_DIGEST, .nonce = 7,
		.digest = 1000 }, 40 },
	{ "ABORT, one is to blame", {
		.type = SHUFFLE_ABORT, .src_rank = 3, .src_port = 5, .nonce = 7,
		.blame = { .reason = SHUFFLE_LEFT_CLOSED, .ranks = 1, .rank = { 3 } } }, 40 },
	{ "ABORT, many are to blame for what we do not know", {
		.type = SHUFFLE_ABORT, .flags = SHUFFLE_FLAGS_ABORT, .nonce = SHUFFLE_NONCE_MAX,
		.tag = 5, .blame = { .reason = 0xffff, .ranks = 0xffff,
				     .rank = { 0, 0xffff, 2, 3 } } }, 48 },
	{ "DATA, sent again", {
		.type = SHUFFLE_DATA, .flags = SHUFFLE_FLAG_RETRANS, .nonce = 7,
		.payload = 10, .data.len = 20, .data.off = 10 }, 40 },
	{ "GRANT", {
		.type = SHUFFLE_GRANT, .src_rank = 0x1234, .dst_rank = 0x5678,
		.dst_port = 0x9abc, .op_id = 0x0123456789abcdefULL, .nonce = 0xba9876543210ULL,
		.grant.limit = 1ULL << 40, .grant.acked = 1ULL << 39 }, 40 },
	{ "GRANT, all has arrived", {
		.type = SHUFFLE_GRANT, .nonce = 1, .grant.limit = SHUFFLE_MAX_LEN,
		.grant.acked = SHUFFLE_MAX_LEN }, 40 },
	{ "ACK", {
		.type = SHUFFLE_ACK, .src_rank = 4095, .dst_rank = 4094,
		.dst_port = 18518, .op_id = 42, .nonce = SHUFFLE_NONCE_MAX }, 28 },
	{ "GRANT, the slowest waits for much", {
		.type = SHUFFLE_GRANT, .flags = SHUFFLE_FLAG_SLOWEST, .nonce = 1,
		.slowest = 0x12345678ULL * 4096, .grant.limit = 9, .grant.acked = 8 }, 40 },
	{ "ACK, the slowest waits for most", {
		.type = SHUFFLE_ACK, .flags = SHUFFLE_FLAGS_GRANT, .nonce = 1, .tag = 7,
		.slowest = 0xffffffffULL * 4096 }, 36 },
	{ "ACK with a tag", {
		.type = SHUFFLE_ACK, .flags = SHUFFLE_FLAG_TAG, .nonce = 1, .tag = 2 }, 36 },
	{ "RESEND with a tag", {
		.type = SHUFFLE_RESEND, .flags = SHUFFLE_FLAG_TAG, .op_id = 1, .tag = 0 }, 48 },
	{ "RESEND", {
		.type = SHUFFLE_RESEND, .op_id = 1, .nonce = 1, .resend.off = 1400,
		.resend.len = 2800 }, 40 },
	{ "RESEND, never heard of", {
		.type = SHUFFLE_RESEND, .op_id = 1 }, 40 },
	{ "RESEND, an answer: nothing to announce", {
		.type = SHUFFLE_RESEND, .flags = SHUFFLE_FLAG_WAITS, .op_id = 1 }, 40 },
	{ "RESEND, to the end of all numbers", {
		.type = SHUFFLE_RESEND, .nonce = 1, .resend.off = 1,
		.resend.len = SHUFFLE_MAX_LEN - 1 }, 40 },
	{ "ECHO, a question with padding", {
		.type = SHUFFLE_ECHO, .op_id = 9, .nonce = 1, .payload = 1400 }, 44 },
	{ "ECHO, asks for a short answer", {
		.type = SHUFFLE_ECHO, .flags = SHUFFLE_FLAG_SHORT, .nonce = 1,
		.payload = 0xffff }, 44 },
	{ "ECHO, an answer", {
		.type = SHUFFLE_ECHO, .flags = SHUFFLE_FLAG_REPLY, .op_id = U64_MAX,
		.nonce = SHUFFLE_NONCE_MAX, .payload = 20, .echo.rx_ns = U64_MAX - 1,
		.echo.tx_ns = U64_MAX }, 44 },
	{ "ECHO, a short answer", {
		.type = SHUFFLE_ECHO, .flags = SHUFFLE_FLAGS_ECHO, .nonce = 1,
		.echo.rx_ns = 5, .echo.tx_ns = 4 }, 44 },
};

static void round_trip_desc(const struct round_trip *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", t->name);
}

KUNIT_ARRAY_PARAM(round_trip, round_trips, round_trip_desc);

static void wire_build__round_trip(struct kunit *test)
{
	const struct round_trip *t = test->param_value;
	u8 p[SHUFFLE_WIRE_MAX_HDR];
	struct shuffle_wire w;
	size_t left;

	memset(p, 0xa5, sizeof(p));
	memset(&w, 0x5a, sizeof(w));
	KUNIT_ASSERT_EQ(test, shuffle_wire_build(p, &t->w), t->hdr);
	KUNIT_ASSERT_EQ(test, shuffle_wire_hdr_len(t->w.type, t->w.flags), t->hdr);
	left = t->hdr + t->w.payload;
	KUNIT_ASSERT_EQ(test, shuffle_wire_parse(p, t->hdr, left, &w), (int)t->hdr);
	KUNIT_EXPECT_EQ(test, w.type, t->w.type);
	KUNIT_EXPECT_EQ(test, w.flags, t->w.flags);
	KUNIT_EXPECT_EQ(test, w.src_rank, t->w.src_rank);
	KUNIT_EXPECT_EQ(test, w.dst_rank, t->w.dst_rank);
	KUNIT_EXPECT_EQ(test, w.dst_port, t->w.dst_port);
	KUNIT_EXPECT_EQ(test, w.src_port, t->w.src_port);
	KUNIT_EXPECT_EQ(test, w.digest, t->w.digest);
	KUNIT_EXPECT_EQ(test, w.payload, t->w.payload);
	KUNIT_EXPECT_EQ(test, w.op_id, t->w.op_id);
	KUNIT_EXPECT_EQ(test, w.nonce, t->w.nonce);
	KUNIT_EXPECT_EQ(test, w.unsched, t->w.unsched);
	KUNIT_EXPECT_EQ(test, w.tag, t->w.tag);
	KUNIT_EXPECT_EQ(test, w.slowest, t->w.slowest);
	if (w.type == SHUFFLE_ABORT) {
		KUNIT_EXPECT_EQ(test, memcmp(&w.blame, &t->w.blame, sizeof(w.blame)), 0);
		return;
	}
	KUNIT_EXPECT_EQ(test, w.data.len, t->w.data.len);
	KUNIT_EXPECT_EQ(test, w.data.off, t->w.data.off);
}

/* rounded down to whole units, and no more than fits */
static void wire_build__slowest(struct kunit *test)
{
	static const struct {
		u64	told;
		u64	heard;
	} rows[] = {
		{ 0, 0 }, { 4095, 0 }, { 4096, 4096 }, { 8191, 4096 },
		{ 1ULL << 44, 0xffffffffULL << 12 }, { U64_MAX, 0xffffffffULL << 12 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct shuffle_wire w = {
			.type = SHUFFLE_GRANT, .flags = SHUFFLE_FLAG_SLOWEST, .nonce = 1,
			.slowest = rows[i].told,
		};
		u8 p[SHUFFLE_WIRE_MAX_HDR];

		put(p, &w);
		KUNIT_EXPECT_EQ(test, shuffle_wire_parse(p, 40, 40, &w), 40);
		KUNIT_EXPECT_EQ(test, w.slowest, rows[i].heard);
		KUNIT_EXPECT_EQ(test, w.unsched, 0U);
		KUNIT_EXPECT_EQ(test, w.payload, 0U);
	}
}

/* nothing is written behind the header, nothing inside it is left as it was */
static void wire_build__writes_header_only(struct kunit *test)
{
	const struct round_trip *t = test->param_value;
	u8 one[SHUFFLE_WIRE_MAX_HDR + 1];
	u8 two[SHUFFLE_WIRE_MAX_HDR + 1];
	unsigned int i;

	memset(one, 0x00, sizeof(one));
	memset(two, 0xff, sizeof(two));
	shuffle_wire_build(one, &t->w);
	shuffle_wire_build(two, &t->w);
	KUNIT_EXPECT_EQ(test, memcmp(one, two, t->hdr), 0);
	for (i = t->hdr; i < sizeof(one); i++) {
		KUNIT_EXPECT_EQ(test, one[i], 0x00);
		KUNIT_EXPECT_EQ(test, two[i], 0xff);
	}
}

/* every length that is too short, and every that is just enough */
static void wire_parse__truncated(struct kunit *test)
{
	const struct round_trip *t = test->param_value;
	size_t all = t->hdr + t->w.payload;
	u8 p[SHUFFLE_WIRE_MAX_HDR];
	struct shuffle_wire w;
	size_t left;

	put(p, &t->w);
	for (left = 0; left < t->hdr; left++) {
		KUNIT_EXPECT_EQ(test, shuffle_wire_parse(p, left, left, &w), -EBADMSG);
		KUNIT_EXPECT_EQ(test, shuffle_wire_parse(p, left, all, &w), -EBADMSG);
		KUNIT_EXPECT_EQ(test, shuffle_wire_parse(p, t->hdr, left, &w), -EBADMSG);
	}
	if (t->w.payload) {
		KUNIT_EXPECT_EQ(test, shuffle_wire_parse(p, t->hdr, t->hdr, &w), -EBADMSG);
		KUNIT_EXPECT_EQ(test, shuffle_wire_parse(p, t->hdr, all - 1, &w), -EBADMSG);
	}
	KUNIT_EXPECT_EQ(test, shuffle_wire_parse(p, t->hdr, all, &w), (int)t->hdr);
	KUNIT_EXPECT_EQ(test, shuffle_wire_parse(p, t->hdr, all + 1, &w), (int)t->hdr);
	KUNIT_EXPECT_EQ(test, shuffle_wire_parse(p, t->hdr, SIZE_MAX, &w), (int)t->hdr);
}

/* the bytes on the wire, once and for all */
static void wire_build__layout(struct kunit *test)
{
	static const u8 data[] = {
		0x31, 0x8f, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
		0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
		0x00, 0x19, 0x05, 0x78, 0x33, 0x34, 0x35, 0x36,
		0x37, 0x38, 0x01, 0x44, 0x45, 0x46, 0x47, 0x48,
		0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
	};
	static const u8 ack[SHUFFLE_WIRE_BASE] = {
		0x33, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
		0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
		0x00, 0x00, 0x00, 0x00,
	};
	struct shuffle_wire w = {
		.type = SHUFFLE_DATA, .flags = SHUFFLE_FLAGS_DATA & ~NOT_ALL,
		.src_rank = 0x0102, .src_port = 0x2122,
		.dst_port = 0x0304, .dst_rank = 0x0506, .op_id = 0x1112131415161718ULL,
		.nonce = 0x232425262728ULL, .unsched = 25 * 64, .payload = 1400,
		.data.len = 0x333435363738ULL, .data.off = 0x014445464748ULL,
		.tag = 0x5152535455565758ULL,
	};
	u8 p[SHUFFLE_WIRE_MAX_HDR];

	KUNIT_EXPECT_EQ(test, shuffle_wire_build(p, &w), 48U);
	KUNIT_EXPECT_EQ(test, memcmp(p, data, sizeof(data)), 0);
	w.type = SHUFFLE_ACK;
	w.flags = 0;
	w.unsched = 0;
	w.payload = 0;
	KUNIT_EXPECT_EQ(test, shuffle_wire_build(p, &w), 28U);
	KUNIT_EXPECT_EQ(test, memcmp(p, ack, sizeof(ack)), 0);
}

static void wire_parse__version_and_type(struct kunit *test)
{
	u8 p[SHUFFLE_WIRE_MAX_HDR];
	struct shuffle_wire w;
	unsigned int b;

	memset(p, 0, sizeof(p));
	p[23] = 1;	/* nonce */
	p[29] = 1;	/* ABORT: reason, and one rank; GRANT, RESEND: much */
	p[31] = 1;
	for (b = 0; b < 256; b++) {
		int want = -EBADMSG;

		p[0] = (u8)b;
		if (b >> 4 != SHUFFLE_WIRE_VERSION)
			want = -EPROTONOSUPPORT;
		else if ((b & 15) == SHUFFLE_ACK)
			want = 28;
		else if (((b & 15) >= SHUFFLE_DATA && (b & 15) <= SHUFFLE_RESEND) ||
			 (b & 15) == SHUFFLE_ABORT)
			want = 40;
		KUNIT_EXPECT_EQ(test, shuffle_wire_parse(p, 40, 40, &w), want);
		/* another version may be shorter or longer: still not ours */
		if (want == -EPROTONOSUPPORT)
			KUNIT_EXPECT_EQ(test, shuffle_wire_parse(p, 28, 28, &w), want);
	}
	for (b = 0; b < 256; b++) {
		unsigned int hdr = shuffle_wire_hdr_len((u8)b, 0);
		unsigned int tagged = shuffle_wire_hdr_len((u8)b, SHUFFLE_FLAG_TAG);

		if (b == SHUFFLE_ACK)
			KUNIT_EXPECT_EQ(test, hdr, 28U);
		else if ((b >= SHUFFLE_DATA && b <= SHUFFLE_RESEND) || b == SHUFFLE_ABORT)
			KUNIT_EXPECT_EQ(test, hdr, 40U);
		else
			KUNIT_EXPECT_EQ(test, hdr, b == SHUFFLE_ECHO ? 44U : 0U);
		KUNIT_EXPECT_EQ(test, tagged, b == SHUFFLE_ECHO ? 44 : hdr ? hdr + 8 : 0);
	}
}

static void wire_parse__flags(struct kunit *test)
{
	struct shuffle_wire w = {};
	u8 p[SHUFFLE_WIRE_MAX_HDR];
	u8 type;

	for (type = SHUFFLE_DATA; type <= SHUFFLE_ABORT; type++) {
		bool slowest = type == SHUFFLE_GRANT || type == SHUFFLE_ACK;
		u8 known = type == SHUFFLE_DATA ? SHUFFLE_FLAGS_DATA :
			   type == SHUFFLE_ABORT ? SHUFFLE_FLAGS_ABORT :
			   type == SHUFFLE_ECHO ? SHUFFLE_FLAGS_ECHO :
			   type == SHUFFLE_RESEND ? SHUFFLE_FLAGS_RESEND : SHUFFLE_FLAGS_GRANT;
		unsigned int f;

		if (!shuffle_wire_hdr_len(type, 0))
			continue;	/* 6: not used; 7: an overlay's */
		for (f = 0; f < 256; f++) {
			int want = (int)shuffle_wire_hdr_len(type, (u8)f);
			struct shuffle_wire out;

			w.type = type;
			w.flags = (u8)f;
			w.digest = 1;
			w.nonce = !(type == SHUFFLE_RESEND &&
				    f & (SHUFFLE_FLAG_WAITS | SHUFFLE_FLAG_MET));
			if (type == SHUFFLE_ABORT)
				w.blame = (struct shuffle_blame){ .reason = 1, .ranks = 1 };
			put(p, &w);
			if (f & ~known ||
			    (slowest && f & SHUFFLE_FLAG_HEARSAY && !(f & SHUFFLE_FLAG_SLOWEST)) ||
			    (type == SHUFFLE_DATA && f & SHUFFLE_FLAG_SENT &&
			     f & SHUFFLE_FLAG_DIGEST) ||
			    (type == SHUFFLE_RESEND && f & SHUFFLE_FLAG_WAITS &&
			     f & SHUFFLE_FLAG_MET) ||
			    (type == SHUFFLE_ABORT && (f & 3) == SHUFFLE_FLAG_WHOLE))
				want = -EBADMSG;
			KUNIT_EXPECT_EQ(test, shuffle_wire_parse(p, 48, 48, &out), want);
		}
	}
}

struct bad_field {
	const char		*name;
	struct shuffle_wire	w;
	bool			good;
};

static const struct bad_field bad_fields[] = {
	{ "DATA without nonce", { .type = SHUFFLE_DATA, .data.len = 1 } },
	{ "DATA, offset at the length", {
		.type = SHUFFLE_DATA, .nonce = 1, .data.len = 9, .data.off = 9 }, true },
	{ "DATA, offset behind the length", {
		.type = SHUFFLE_DATA, .nonce = 1, .data.len = 9, .data.off = 10 } },
	{ "DATA, the greatest length", {
		.type = SHUFFLE_DATA, .nonce = 1, .data.len = SHUFFLE_MAX_LEN }, true },
	{ "DATA, greatest offset of an empty message", {
		.type = SHUFFLE_DATA, .nonce = 1, .data.off = SHUFFLE_MAX_LEN } },
	{ "DATA, payload to the end", {
		.type = SHUFFLE_DATA, .nonce = 1, .payload = 100, .data.len = 200,
		.data.off = 100 }, true },
	{ "DATA, payload beyond the end by one", {
		.type = SHUFFLE_DATA, .nonce = 1, .payload = 101, .data.len = 200,
		.data.off = 100 } },
	{ "DATA, payload beyond the greatest number", {
		.type = SHUFFLE_DATA, .nonce = 1, .payload = 2, .data.len = SHUFFLE_MAX_LEN,
		.data.off = SHUFFLE_MAX_LEN - 1 } },
	{ "DATA, payload of an empty message", {
		.type = SHUFFLE_DATA, .nonce = 1, .payload = 1 } },
	{ "DATA, says what has left", {
		.type = SHUFFLE_DATA, .flags = SHUFFLE_FLAG_SENT, .nonce = 1, .data.len = 9,
		.data.off = 9 }, true },
	{ "DATA, says what has left, behind the length", {
		.type = SHUFFLE_DATA, .flags = SHUFFLE_FLAG_SENT, .nonce = 1, .data.len = 9,
		.data.off = 10 } },
	{ "DATA, says what has left, with payload", {
		.type = SHUFFLE_DATA, .flags = SHUFFLE_FLAG_SENT, .nonce = 1, .payload = 1,
		.data.len = 9 } },
	{ "DATA, to a socket that was met", {
		.type = SHUFFLE_DATA, .flags = SHUFFLE_FLAG_MET, .nonce = 1,
		.data.len = 9 }, true },
	{ "DATA, to a socket that was met, with payload", {
		.type = SHUFFLE_DATA, .flags = SHUFFLE_FLAG_MET, .nonce = 1, .payload = 1,
		.data.len = 9 } },
	{ "RESEND, to a socket that was met", {
		.type = SHUFFLE_RESEND, .flags = SHUFFLE_FLAG_MET }, true },
	{ "RESEND, to a socket that was met, about what was heard of", {
		.type = SHUFFLE_RESEND, .flags = SHUFFLE_FLAG_MET, .nonce = 1 } },
	{ "RESEND, answers, to a socket that was met", {
		.type = SHUFFLE_RESEND, .flags = SHUFFLE_FLAG_MET | SHUFFLE_FLAG_WAITS } },
	{ "DATA, a digest of nothing", {
		.type = SHUFFLE_DATA, .flags = SHUFFLE_FLAG_DIGEST, .nonce = 1 } },
	{ "DATA, a digest where nothing begins", {
		.type = SHUFFLE_DATA, .flags = NOT_ALL, .nonce = 1, .digest = 1 } },
	{ "ABORT without nonce", {
		.type = SHUFFLE_ABORT, .blame = { .reason = 1, .ranks = 1 } } },
	{ "ABORT without reason", {
		.type = SHUFFLE_ABORT, .nonce = 1, .blame = { .ranks = 1 } } },
	{ "ABORT, nobody is to blame", {
		.type = SHUFFLE_ABORT, .nonce = 1, .blame = { .reason = 1 } } },
	{ "ABORT, names more than there are", {
		.type = SHUFFLE_ABORT, .nonce = 1,
		.blame = { .reason = 1, .ranks = 2, .rank = { 0, 1, 2 } } } },
	{ "ABORT, two disagree with one", {
		.type = SHUFFLE_ABORT, .nonce = 1,
		.blame = { .reason = SHUFFLE_LEFT_DISAGREES, .ranks = 2, .rank = { 0, 1 } } } },
	{ "ABORT, one disagrees, and a digest", {
		.type = SHUFFLE_ABORT, .nonce = 1,
		.blame = { .reason = SHUFFLE_LEFT_DISAGREES, .ranks = 1, .rank = { 0, 1, 2, 3 } } },
		true },
	{ "ABORT, names as many as there are", {
		.type = SHUFFLE_ABORT, .nonce = 1,
		.blame = { .reason = 1, .ranks = 2, .rank = { 0, 1 } } }, true },
	{ "GRANT without nonce", { .type = SHUFFLE_GRANT, .grant.limit = 1 } },
	{ "GRANT, more arrived than granted", {
		.type = SHUFFLE_GRANT, .nonce = 1, .grant.limit = 1, .grant.acked = 2 } },
	{ "GRANT, all that is granted has arrived", {
		.type = SHUFFLE_GRANT, .nonce = 1, .grant.limit = 2, .grant.acked = 2 }, true },
	{ "GRANT with payload", { .type = SHUFFLE_GRANT, .nonce = 1, .payload = 1 } },
	{ "GRANT with unscheduled bytes", {
		.type = SHUFFLE_GRANT, .nonce = 1, .unsched = 64 } },
	{ "ACK without nonce", { .type = SHUFFLE_ACK } },
	{ "ACK with payload", { .type = SHUFFLE_ACK, .nonce = 1, .payload = 0xffff } },
	{ "ACK with unscheduled bytes", { .type = SHUFFLE_ACK, .nonce = 1, .unsched = 64 } },
	{ "RESEND, the range ends at the greatest number", {
		.type = SHUFFLE_RESEND, .resend.off = 10, .resend.len = SHUFFLE_MAX_LEN - 10 },
		true },
	{ "RESEND, the range wraps around", {
		.type = SHUFFLE_RESEND, .resend.off = 10, .resend.len = SHUFFLE_MAX_LEN - 9 } },
	{ "RESEND, all of all", { .type = SHUFFLE_RESEND, .resend.len = SHUFFLE_MAX_LEN }, true },
	{ "RESEND, an answer with a range", {
		.type = SHUFFLE_RESEND, .flags = SHUFFLE_FLAG_WAITS, .resend.len = 1 } },
	{ "RESEND, an answer about an offset", {
		.type = SHUFFLE_RESEND, .flags = SHUFFLE_FLAG_WAITS, .resend.off = 1 } },
	{ "RESEND, an answer with a nonce", {
		.type = SHUFFLE_RESEND, .flags = SHUFFLE_FLAG_WAITS, .nonce = 1 } },
	{ "RESEND with payload", { .type = SHUFFLE_RESEND, .payload = 1 } },
	{ "RESEND with unscheduled bytes", { .type = SHUFFLE_RESEND, .unsched = 64 } },
	{ "ECHO", { .type = SHUFFLE_ECHO, .nonce = 1 }, true },
	{ "ECHO without nonce", { .type = SHUFFLE_ECHO } },
	{ "ECHO of a rank", { .type = SHUFFLE_ECHO, .nonce = 1, .src_rank = 1 } },
	{ "ECHO to a rank", { .type = SHUFFLE_ECHO, .nonce = 1, .dst_rank = 1 } },
	{ "ECHO to a port", { .type = SHUFFLE_ECHO, .nonce = 1, .dst_port = 1 } },
	{ "ECHO with unscheduled bytes", {
		.type = SHUFFLE_ECHO, .nonce = 1, .unsched = 64 } },
	{ "ECHO, a question with a receive time", {
		.type = SHUFFLE_ECHO, .nonce = 1, .echo.rx_ns = 1 } },
	{ "ECHO, a question with a transmit time", {
		.type = SHUFFLE_ECHO, .nonce = 1, .echo.tx_ns = 1 } },
	{ "ECHO, an answer without times", {
		.type = SHUFFLE_ECHO, .flags = SHUFFLE_FLAG_REPLY, .nonce = 1 }, true },
	{ "ECHO, a short answer with padding", {
		.type = SHUFFLE_ECHO, .flags = SHUFFLE_FLAGS_ECHO, .nonce = 1, .payload = 1 } },
};

static void bad_field_desc(const struct bad_field *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", t->name);
}

KUNIT_ARRAY_PARAM(bad_field, bad_fields, bad_field_desc);

static void wire_parse__field_at_its_bound(struct kunit *test)
{
	const struct bad_field *t = test->param_value;
	unsigned int hdr = shuffle_wire_hdr_len(t->w.type, t->w.flags);
	int want = t->good ? (int)hdr : -EBADMSG;
	u8 p[SHUFFLE_WIRE_MAX_HDR];
	struct shuffle_wire w;

	put(p, &t->w);
	KUNIT_EXPECT_EQ(test, shuffle_wire_parse(p, hdr, hdr + 0xffff, &w), want);
}

struct unsched_row {
	const char	*name;
	u64		len;	/* of the message */
	u32		sent;	/* what its sender sends unasked */
	u32		heard;	/* what the receiver takes for claimed */
};

/* Exact where it matters: in whole units, or all of a message.  In between, the
 * receiver would wait for bytes that nobody sends, so senders keep out of there.
 */
static const struct unsched_row unsched_rows[] = {
	{ "none", 10000, 0, 0 },
	{ "a unit", 10000, 64, 64 },
	{ "units", 10000, 1408, 1408 },
	{ "one byte, all", 1, 1, 1 },
	{ "a packet, all", 1432, 1432, 1432 },
	{ "units, all", 640, 640, 640 },
	{ "the most, all", SHUFFLE_UNSCHED_MAX, SHUFFLE_UNSCHED_MAX, SHUFFLE_UNSCHED_MAX },
	{ "almost the most, all", SHUFFLE_UNSCHED_MAX - 63, SHUFFLE_UNSCHED_MAX - 63,
	  SHUFFLE_UNSCHED_MAX - 63 },
	{ "the most of more", 1ULL << 40, SHUFFLE_UNSCHED_MAX, SHUFFLE_UNSCHED_MAX },
	{ "a part of a unit, rounded up", 10000, 63, 64 },
	{ "a packet, rounded up", 10000, 1432, 1472 },
};

static void unsched_desc(const struct unsched_row *t, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", t->name);
}

KUNIT_ARRAY_PARAM(unsched, unsched_rows, unsched_desc);

static void wire_build__unscheduled(struct kunit *test)
{
	const struct unsched_row *t = test->param_value;
	struct shuffle_wire w = {
		.type = SHUFFLE_DATA, .nonce = 1, .unsched = t->sent, .data.len = t->len,
	};
	u8 p[SHUFFLE_WIRE_MAX_HDR];
	u64 heard;

	put(p, &w);
	KUNIT_ASSERT_EQ(test, shuffle_wire_parse(p, 40, 40, &w), 40);
	/* the length bounds it, as shuffle_policy_rx_announced() does */
	heard = w.unsched < t->len ? w.unsched : t->len;
	KUNIT_EXPECT_EQ(test, heard, (u64)t->heard);
}

static struct shuffle_wire random_record(struct shuffle_rnd *r)
{
	static const u8 types[] = {
		SHUFFLE_DATA, SHUFFLE_GRANT, SHUFFLE_ACK, SHUFFLE_RESEND, SHUFFLE_ECHO,
		SHUFFLE_ABORT,
	};
	struct shuffle_wire w = {
		.type = types[shuffle_rnd_below(r, sizeof(types))],
		.src_rank = (u16)shuffle_rnd64(r),
		.dst_rank = (u16)shuffle_rnd64(r),
		.dst_port = (u16)shuffle_rnd64(r),
		.op_id = shuffle_rnd64(r),
		.src_port = (u16)shuffle_rnd64(r),
		.nonce = shuffle_rnd64(r) >> 16 | 1,
	};

	if (w.type == SHUFFLE_ECHO) {
		w.src_rank = 0;
		w.dst_rank = 0;
		w.src_port = 0;
		w.dst_port = 0;
		w.payload = (u16)shuffle_rnd_below(r, 1500);
		if (shuffle_rnd_below(r, 2)) {
			w.flags = SHUFFLE_FLAG_REPLY;
			w.echo.rx_ns = shuffle_rnd64(r);
			w.echo.tx_ns = shuffle_rnd64(r);
		}
		return w;
	}
	if (shuffle_rnd_below(r, 2)) {
		w.flags = SHUFFLE_FLAG_TAG;
		w.tag = shuffle_rnd64(r);
	}
	if (w.type == SHUFFLE_ACK)
		return w;
	if (w.type == SHUFFLE_ABORT) {
		w.blame.reason = (u16)shuffle_rnd_in(r, SHUFFLE_LEFT_REASONS, 0xffff);
		w.blame.ranks = (u16)shuffle_rnd_in(r, 1, 3);
		w.blame.rank[0] = (u16)shuffle_rnd64(r);
		return w;
	}
	w.data.off = shuffle_rnd64(r) >> shuffle_rnd_in(r, 17, 63);
	w.data.len = w.data.off + (shuffle_rnd64(r) >> shuffle_rnd_in(r, 17, 63));
	if (w.type == SHUFFLE_DATA) {
		w.payload = (u16)shuffle_rnd_below(r, 1500);
		if (w.payload > w.data.len - w.data.off)
			w.payload = (u16)(w.data.len - w.data.off);
		w.flags |= shuffle_rnd_below(r, 2) ? SHUFFLE_FLAG_PROBE : 0;
		w.flags |= shuffle_rnd_below(r, 2) ? SHUFFLE_FLAG_RETRANS : 0;
		w.flags |= !w.payload ? SHUFFLE_FLAG_SENT : 0;
		w.flags |= !w.payload && shuffle_rnd_below(r, 2) ? SHUFFLE_FLAG_MET : 0;
		if (w.payload && !w.data.off) {
			w.flags |= SHUFFLE_FLAG_DIGEST;
			w.digest = shuffle_rnd64(r) >> 16 | 1;
		}
		w.unsched = shuffle_rnd_below(r, 0x10000) * 64;
	} else if (w.type == SHUFFLE_RESEND && w.resend.len > SHUFFLE_MAX_LEN - w.resend.off) {
		w.resend.len = SHUFFLE_MAX_LEN - w.resend.off;
	}
	return w;
}

#define DATAGRAM	65507U
#define RECORDS		2000U

/* many records in a datagram, walked as the module walks a super-packet */
static void wire_parse__walks_a_datagram(struct kunit *test)
{
	struct shuffle_wire *sent = kunit_kcalloc(test, RECORDS, sizeof(*sent), GFP_KERNEL);
	u8 *p = kunit_kcalloc(test, DATAGRAM, 1, GFP_KERNEL);
	struct shuffle_rnd rnd = { 1 };
	u32 n = 0, got = 0;
	size_t end = 0;
	size_t at = 0;

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_NOT_NULL(test, sent);
	while (n < RECORDS) {
		struct shuffle_wire w = random_record(&rnd);

		if (end + SHUFFLE_WIRE_MAX_HDR + w.payload > DATAGRAM)
			break;
		end += shuffle_wire_build(p + end, &w);
		memset(p + end, 0xff, w.payload);
		end += w.payload;
		sent[n++] = w;
	}
	while (at < end) {
		size_t left = end - at;
		struct shuffle_wire w;
		int hdr;

		hdr = shuffle_wire_parse(p + at, left < 48 ? left : 48, left, &w);
		KUNIT_ASSERT_TRUE(test, hdr > 0);
		KUNIT_ASSERT_LT(test, got, n);
		KUNIT_ASSERT_TRUE(test, same(&w, &sent[got]));
		got++;
		at += (size_t)hdr + w.payload;
	}
	KUNIT_EXPECT_EQ(test, at, end);
	KUNIT_EXPECT_EQ(test, got, n);
}

/* whatever parses is built again to the same bytes: no bit has two meanings */
static void wire_parse__is_canonical(struct kunit *test)
{
	struct shuffle_rnd rnd = { 2 };
	u32 parsed = 0;
	u32 i, j;

	for (i = 0; i < 20000; i++) {
		struct shuffle_wire w = random_record(&rnd);
		u8 p[SHUFFLE_WIRE_MAX_HDR];
		u8 q[SHUFFLE_WIRE_MAX_HDR];
		int hdr;

		put(p, &w);
		/* damage up to three bits of it */
		for (j = shuffle_rnd_below(&rnd, 4); j; j--)
			p[shuffle_rnd_below(&rnd, 48)] ^= (u8)(1 << shuffle_rnd_below(&rnd, 8));
		hdr = shuffle_wire_parse(p, 48, 70000, &w);
		if (hdr < 0)
			continue;
		parsed++;
		KUNIT_ASSERT_EQ(test, (int)shuffle_wire_build(q, &w), hdr);
		KUNIT_ASSERT_EQ(test, memcmp(p, q, (size_t)hdr), 0);
	}
	KUNIT_EXPECT_GT(test, parsed, 5000U);
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE_PARAM(wire_build__round_trip, round_trip_gen_params),
	KUNIT_CASE_PARAM(wire_build__writes_header_only, round_trip_gen_params),
	KUNIT_CASE(wire_build__layout),
	KUNIT_CASE(wire_build__slowest),
	KUNIT_CASE_PARAM(wire_build__unscheduled, unsched_gen_params),
	KUNIT_CASE_PARAM(wire_parse__truncated, round_trip_gen_params),
	KUNIT_CASE(wire_parse__version_and_type),
	KUNIT_CASE(wire_parse__flags),
	KUNIT_CASE_PARAM(wire_parse__field_at_its_bound, bad_field_gen_params),
	KUNIT_CASE(wire_parse__walks_a_datagram),
	KUNIT_CASE(wire_parse__is_canonical),
	{}
};

struct kunit_suite shuffle_wire_suite = {
	.name = "shuffle_wire",
	.test_cases = wire_cases,
};
