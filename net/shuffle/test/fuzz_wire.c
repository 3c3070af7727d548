// SPDX-License-Identifier: GPL-2.0-only
/*
 * The input is a datagram, perhaps with its way in front.  It is walked as the module walks one:
 * parse, step over header and payload, until the end or the first mistake.
 */
#include "../sched/wire.h"
#include "fuzz.h"

static int parse(const u8 *p, size_t left, struct shuffle_wire *w)
{
	size_t avail = left < SHUFFLE_WIRE_MAX_HDR ? left : SHUFFLE_WIRE_MAX_HDR;
	u8 *copy = malloc(avail ? avail : 1);
	struct shuffle_wire again;
	int hdr;

	if (!copy)
		abort();
	/* no byte behind the readable ones: ASan sees whoever looks there */
	memcpy(copy, p, avail);
	hdr = shuffle_wire_parse(copy, avail, left, w);
	if (shuffle_wire_parse(p, left, left, &again) != hdr)
		fuzz_check("more readable bytes make a difference");
	free(copy);
	return hdr;
}

/* Only those that the type has; what the slowest waits for is told with one of them, in units. */
static void check_flags(const struct shuffle_wire *w)
{
	u8 known = SHUFFLE_FLAGS_GRANT, slowest;

	if (w->type == SHUFFLE_DATA)
		known = SHUFFLE_FLAGS_DATA;
	else if (w->type == SHUFFLE_RESEND)
		known = SHUFFLE_FLAGS_RESEND;
	else if (w->type == SHUFFLE_ECHO)
		known = SHUFFLE_FLAGS_ECHO;
	else if (w->type == SHUFFLE_ABORT)
		known = SHUFFLE_FLAGS_ABORT;
	if (w->flags & ~known)
		fuzz_check("a flag that the type does not have");
	if (w->type == SHUFFLE_DATA && w->flags & SHUFFLE_FLAG_SENT &&
	    (w->payload || w->flags & SHUFFLE_FLAG_DIGEST))
		fuzz_check("an answer with payload or digest");
	if (w->type == SHUFFLE_DATA && w->flags & SHUFFLE_FLAG_MET && w->payload)
		fuzz_check("payload for one that was met");
	if (w->type == SHUFFLE_RESEND && w->flags & SHUFFLE_FLAG_MET &&
	    (w->nonce || w->flags & SHUFFLE_FLAG_WAITS))
		fuzz_check("a question to one that was met, and has been heard of");
	if (w->type == SHUFFLE_RESEND && w->flags & SHUFFLE_FLAG_WAITS &&
	    (w->nonce || w->resend.off || w->resend.len))
		fuzz_check("an answer that asks for something");
	slowest = w->type == SHUFFLE_GRANT || w->type == SHUFFLE_ACK ? w->flags : 0;
	if (slowest & SHUFFLE_FLAG_HEARSAY && !(slowest & SHUFFLE_FLAG_SLOWEST))
		fuzz_check("hearsay of nothing");
	if (w->slowest % SHUFFLE_SLOWEST_UNIT ||
	    (w->slowest && !(slowest & SHUFFLE_FLAG_SLOWEST)))
		fuzz_check("what the slowest waits for");
}

/* A digest stands where a message begins; an ABORT names somebody, and no more than there are. */
static void check_digest_and_blame(const struct shuffle_wire *w)
{
	bool digest = w->type == SHUFFLE_DATA && w->flags & SHUFFLE_FLAG_DIGEST;
	u32 i;

	if (digest != !!w->digest || w->digest > SHUFFLE_DIGEST_MAX || (digest && w->data.off))
		fuzz_check("a digest that is none");
	if (w->type != SHUFFLE_ABORT)
		return;
	if (!w->blame.reason || !w->blame.ranks)
		fuzz_check("nobody is to blame");
	if (w->blame.reason == SHUFFLE_LEFT_DISAGREES && w->blame.ranks == 1)
		return;
	for (i = w->blame.ranks; i < SHUFFLE_BLAMED; i++)
		if (w->blame.rank[i])
			fuzz_check("more are named than are to blame");
}

/* A question says nothing, and no answer can be taken for one. */
static void check_echo(const struct shuffle_wire *w)
{
	bool reply = w->flags & SHUFFLE_FLAG_REPLY;

	if (w->src_rank || w->dst_rank || w->src_port || w->dst_port || w->unsched || w->tag)
		fuzz_check("an echo of a member");
	if (!reply && (w->echo.rx_ns || w->echo.tx_ns))
		fuzz_check("times in a question");
	if (reply && w->flags & SHUFFLE_FLAG_SHORT && w->payload)
		fuzz_check("padding in a short answer");
}

static void check(const u8 *p, int hdr, size_t left, const struct shuffle_wire *w)
{
	u8 built[SHUFFLE_WIRE_MAX_HDR];

	if ((unsigned int)hdr != shuffle_wire_hdr_len(w->type, w->flags))
		fuzz_check("length of the header");
	if ((size_t)hdr + w->payload > left)
		fuzz_check("payload beyond the datagram");
	if (w->type == SHUFFLE_DATA) {
		if (w->data.len > SHUFFLE_MAX_LEN || w->data.off + w->payload > w->data.len)
			fuzz_check("payload beyond the message");
		if (w->unsched > SHUFFLE_UNSCHED_MAX || w->unsched % SHUFFLE_UNSCHED_UNIT)
			fuzz_check("unscheduled bytes");
	} else if (w->type == SHUFFLE_ECHO) {
		check_echo(w);
	} else if (w->payload || w->unsched) {
		fuzz_check("a field that must be zero");
	}
	check_flags(w);
	check_digest_and_blame(w);
	if (w->type == SHUFFLE_RESEND && w->resend.off + w->resend.len > SHUFFLE_MAX_LEN)
		fuzz_check("a range that wraps around");
	if (w->type == SHUFFLE_GRANT && w->grant.acked > w->grant.limit)
		fuzz_check("more arrived than granted");
	if (!w->nonce && w->type != SHUFFLE_RESEND)
		fuzz_check("no nonce");
	memset(built, 0xa5, sizeof(built));
	if (shuffle_wire_build(built, w) != (unsigned int)hdr || memcmp(built, p, (size_t)hdr))
		fuzz_check("built again, it is not the same");
}

/* What the short way says of a record must be what parsing it says. */
static void check_follows(const u8 *p, int hdr, size_t left, const struct shuffle_wire *w,
			  const u8 *like, const struct shuffle_wire *last)
{
	u32 like_hdr = shuffle_wire_hdr_len(last->type, last->flags);
	u64 off = last->data.off + last->payload;
	u8 plain[SHUFFLE_WIRE_MAX_HDR];
	struct shuffle_wire_next next;
	bool alike, same;
	u16 n;

	/* nothing goes on where no payload is */
	if (left < like_hdr || !last->payload)
		return;
	/* one that begins a message is compared without its digest; with a tag with none */
	if (last->flags & SHUFFLE_FLAG_DIGEST) {
		if (last->flags & SHUFFLE_FLAG_TAG)
			return;
		memcpy(plain, like, like_hdr);
		shuffle_wire_plain(plain);
		like = plain;
	}
	alike = hdr > 0 && w->type == SHUFFLE_DATA && w->data.off == off &&
		w->data.len == last->data.len &&
		w->op_id == last->op_id && w->nonce == last->nonce &&
		w->flags == (last->flags & ~SHUFFLE_FLAG_DIGEST) && w->unsched == last->unsched &&
		w->src_rank == last->src_rank && w->dst_rank == last->dst_rank &&
		w->src_port == last->src_port && w->dst_port == last->dst_port;
	shuffle_wire_next_init(&next, like);
	same = shuffle_wire_same(p, like, next.place);
	n = shuffle_wire_follows(p, left, like, like_hdr, &next);
	if (n != (alike ? w->payload : 0))
		fuzz_check("another record when compared with the record before");
	/* the shortest way looks at no bounds */
	if (n == last->payload && !same)
		fuzz_check("as long, and not the same");
	if (same && n && n != last->payload)
		fuzz_check("the same, and not as long");
	if (next.rest != last->data.len - off - n)
		fuzz_check("another rest of the message");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const u8 *like = NULL;
	struct shuffle_wire last = {};
	size_t at = 0;

	while (at < size) {
		struct shuffle_wire w;
		int hdr = parse(data + at, size - at, &w);

		if (like)
			check_follows(data + at, hdr, size - at, &w, like, &last);
		if (hdr == -EPROTONOSUPPORT && data[at] >> 4 == SHUFFLE_WIRE_VERSION)
			fuzz_check("our version refused");
		if (hdr < 0 && hdr != -EPROTONOSUPPORT && hdr != -EBADMSG)
			fuzz_check("another error");
		if (hdr < 0)
			return 0;
		check(data + at, hdr, size - at, &w);
		if (w.type == SHUFFLE_DATA) {
			like = data + at;
			last = w;
		}
		at += (size_t)hdr + w.payload;
	}
	return 0;
}
