// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps of a sort as operations of a group, see net.h. */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net.h"
#include "util.h"

/* The end of a deadline is for the roll call: a quarter, at most 5 s.  Of that the last tenth is
 * for the end of the program.
 */
#define ROLL_SHARE	4
#define ROLL_MAX_NS	5000000000ULL
#define EXIT_SHARE	10

#define TICK_MS		500

/**
 * net_name() - address of a member
 * @net: the group
 * @rank: which one
 *
 * Return: text that holds until the next call.
 */
const char *net_name(const struct net *net, unsigned int rank)
{
	static char name[80];

	return shuffle_addr_str(&net->group.members[rank], name, sizeof(name));
}

static uint64_t left_ms(uint64_t end_ns)
{
	uint64_t now = clock_now_ns();

	return now < end_ns ? (end_ns - now) / 1000000 + 1 : 1;
}

static void op_init(struct net *net, struct net_op *op, unsigned int step)
{
	unsigned int i, count = net->group.count;

	memset(op, 0, sizeof(*op));
	op->net = net;
	op->id = net->first_op + step;
	op->out = memory(count, sizeof(*op->out));
	op->out_len = memory(count, sizeof(*op->out_len));
	op->no_in = memory((count + 63) / 64, sizeof(*op->no_in));
	op->in = memory(count, sizeof(*op->in));
	op->in_len = memory(count, sizeof(*op->in_len));
	op->have = memory(count, sizeof(*op->have));
	op->came = memory(count, sizeof(*op->came));
	for (i = 0; i < count; i++) {
		op->out_len[i] = SHUFFLE_ABSENT;
		op->no_in[i / 64] |= 1ULL << i % 64;
	}
}

static void op_free(struct net_op *op)
{
	unsigned int i;

	for (i = 0; op->in && i < op->net->group.count; i++)
		free(op->in[i]);
	free(op->out);
	free(op->out_len);
	free(op->no_in);
	free(op->in);
	free(op->in_len);
	free(op->have);
	free(op->came);
	memset(op, 0, sizeof(*op));
}

static void __attribute__((noreturn)) die_send(const struct net_op *op)
{
	if (errno == EEXIST)
		die("operation %llu was used before: another --op is needed",
		    (unsigned long long)op->id / NET_OPS);
	die("cannot send: %s", strerror(errno));
}

/* ---- the roll call ---- */

/**
 * net_report() - what a member has said in the roll call
 * @net: the group
 * @rank: which member
 *
 * Return: its report, or NULL: it has said nothing.
 */
const struct report *net_report(const struct net *net, unsigned int rank)
{
	const struct net_op *op = &net->roll;
	const struct report *r;

	if (rank == net->rank)
		return op->out[rank];
	r = op->in[rank];
	if (!r || op->have[rank] < sizeof(*r) || r->magic != REPORT_MAGIC || r->key > REPORT_KEY)
		return NULL;
	return r;
}

/**
 * net_anybody_left() - is there no result because hosts have left, as kernels say?
 * @net: the group
 *
 * Then net->left says which: those that have not heard of it may not have answered, either.  What
 * a host itself says counts more.
 */
int net_anybody_left(const struct net *net)
{
	const struct report *r;
	unsigned int i;
	int any = 0;

	for (i = 0; i < net->group.count; i++) {
		r = net_report(net, i);
		if (r && r->state == REPORT_FAILED)
			return 0;
		any |= net->left[i];
	}
	return any;
}

/* Say who is the reason that there is no result, and end. */
static void __attribute__((noreturn)) end_failed(struct net *net)
{
	unsigned int i, named = 0;
	int left = net_anybody_left(net);
	const struct report *r;

	for (i = 0; left && i < net->group.count; i++) {
		if (!net->left[i])
			continue;
		fprintf(stderr, "shuffle-sort: host %u (%s) does not answer: it %s\n", i,
			net_name(net, i), shuffle_left_str(net->left[i]));
	}
	if (left) {
		report_json(net, 0);
		exit(1);
	}

	for (i = 0; i < net->group.count; i++) {
		r = net_report(net, i);
		if (!r)
			fprintf(stderr, "shuffle-sort: host %u (%s) does not answer\n", i,
				net_name(net, i));
		else if (r->state == REPORT_FAILED && i != net->rank)
			fprintf(stderr, "shuffle-sort: host %u (%s): %.*s\n", i, net_name(net, i),
				(int)sizeof(r->text), r->text);
		else if (r->state != REPORT_FAILED)
			continue;
		named++;
	}
	if (!named)
		fprintf(stderr, "shuffle-sort: not done within the deadline; all hosts answer\n");
	report_json(net, 0);
	exit(1);
}

static void advance(struct net *net, short events, uint64_t end_ns);

/* Send our part and wait for those of others, up to the end of the deadline. */
static void call_roll(struct net *net, const struct report *own)
{
	struct net_op *op = &net->roll;
	unsigned int i, count = net->group.count;
	struct report *r;
	int sent = 0;

	net->calling = 1;
	net->op = NULL;
	/* kept until the program ends */
	r = memory(2, sizeof(*r));
	r[0] = *own;
	r[1] = *own;
	report_wire(&r[1]);
	for (i = 0; i < count; i++)
		op->out[i] = &r[i != net->rank];
	while (count > 1 && clock_now_ns() < net->end_ns) {
		if (sent <= 0)
			sent = shuffle_tx_step(net->fd, &op->tx);
		/* Only when it has ended, all have our report: before, a host that leaves would be
		 * one that does not answer.
		 */
		if (sent < 0 || op->ended)
			break;
		advance(net, sent ? 0 : POLLOUT, net->end_ns);
	}
}

static struct net *hooked;

static void call_failed(const char *message)
{
	struct report own = { .magic = REPORT_MAGIC, .state = REPORT_FAILED };

	snprintf(own.text, sizeof(own.text), "%s", message);
	call_roll(hooked, &own);
	report_json(hooked, 0);
}

static void __attribute__((noreturn)) give_up(struct net *net)
{
	struct report own = { .magic = REPORT_MAGIC, .state = REPORT_GAVE_UP };

	die_hook(NULL);
	call_roll(net, &own);
	end_failed(net);
}

/* Has somebody said that there will be no result? */
static int others_failed(const struct net *net)
{
	const struct report *r;
	unsigned int i;

	for (i = 0; i < net->group.count; i++) {
		if (i == net->rank)
			continue;
		r = net_report(net, i);
		if (r && r->state != REPORT_SORTED)
			return 1;
	}
	return 0;
}

/**
 * net_roll_call() - wait until all have sorted; the program ends if one has failed
 * @net: the group
 * @own: what the others shall know of us
 */
void net_roll_call(struct net *net, const struct report *own)
{
	unsigned int i;

	die_hook(NULL);
	call_roll(net, own);
	for (i = 0; i < net->group.count; i++)
		if (!net_report(net, i))
			end_failed(net);
	if (others_failed(net))
		end_failed(net);
}

/* ---- what arrives ---- */

static struct net_op *op_of(struct net *net, const struct shuffle_record *rec)
{
	if (rec->op_id == net->roll.id)
		return &net->roll;
	if (net->op && rec->op_id == net->op->id)
		return net->op;
	return NULL;
}

static uint64_t memory_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	uint64_t bytes = pages > 0 && size > 0 ? (uint64_t)pages * size : SIZE_MAX / 2;

	return bytes < SIZE_MAX / 2 ? bytes : SIZE_MAX / 2;
}

/* Other records of the same call are looked at before the program ends: they may name a reason. */
static int __attribute__((format(printf, 2, 3))) wrong(struct net *net, const char *fmt, ...)
{
	va_list ap;

	if (net->calling || *net->wrong)
		return 0;
	va_start(ap, fmt);
	vsnprintf(net->wrong, sizeof(net->wrong), fmt, ap);
	va_end(ap);
	return 0;
}

static int take_data(struct net *net, struct net_op *op, const struct shuffle_record *rec,
		     const void *data)
{
	unsigned int rank = rec->rank;

	if (rank >= net->group.count || rec->len > rec->msg_len ||
	    rec->offset > rec->msg_len - rec->len || rec->offset != op->have[rank] ||
	    (op->in[rank] && rec->msg_len != op->in_len[rank]))
		return wrong(net, "host %u: a piece of a message that does not fit", rank);
	if (!op->in[rank]) {
		uint64_t max = op == &net->roll ? sizeof(struct report) : memory_bytes();

		if (op->bytes_in > memory_bytes() || rec->msg_len > max)
			return wrong(net, "host %u (%s) sends %llu bytes, more than can be taken",
				     rank, net_name(net, rank), (unsigned long long)rec->msg_len);
		op->in[rank] = malloc(rec->msg_len + 1);
		if (!op->in[rank])
			return wrong(net, "out of memory: %llu bytes of host %u",
				     (unsigned long long)rec->msg_len, rank);
		op->in_len[rank] = rec->msg_len;
		op->bytes_in += rec->msg_len;
	}
	if (rec->len && data != (char *)op->in[rank] + rec->offset)
		memcpy((char *)op->in[rank] + rec->offset, data, rec->len);
	op->have[rank] += rec->len;
	net->bytes_in += rec->len;
	if (rec->flags & SHUFFLE_RECORD_LAST) {
		op->expected--;
		op->came[op->n_came++] = rank;
		if (op == &net->roll && rec->msg_len >= sizeof(struct report))
			report_wire(op->in[rank]);
	}
	return 0;
}

static int take_record(void *arg, const struct shuffle_record *rec, const void *data)
{
	struct net *net = arg;
	struct net_op *op = op_of(net, rec);

	switch (rec->type) {
	case SHUFFLE_RECORD_DATA:
		/* of a step that was given up, nothing is wanted any more */
		return op ? take_data(net, op, rec, data) : 0;
	case SHUFFLE_RECORD_WANT:
		if (!op)
			return 0;
		if (shuffle_tx_answer(net->fd, &op->tx, rec) && errno != EPIPE)
			return wrong(net, "cannot send: %s", strerror(errno));
		op->unasked -= rec->len < op->unasked ? rec->len : op->unasked;
		return 0;
	case SHUFFLE_RECORD_DONE:
		if (op)
			op->ended = 1;
		return 0;
	case SHUFFLE_RECORD_FAILED:
		if (op)
			op->ended = 1;
		if (rec->error != ETIMEDOUT && rec->error != ECONNRESET)
			return wrong(net, "operation %llu has failed: %s",
				     (unsigned long long)rec->op_id, strerror(rec->error));
		net->timed_out = 1;
		return 0;
	case SHUFFLE_RECORD_MISSING:
		if (rec->flags & SHUFFLE_MISSING_LEFT && rec->rank < net->group.count)
			net->left[rec->rank] = rec->error;
		return 0;
	}
	return 0;
}

static size_t place_data(void *arg, const struct shuffle_record *rec, void **data)
{
	struct net *net = arg;
	struct net_op *op = op_of(net, rec);

	if (!op || rec->rank >= net->group.count || !op->in[rec->rank])
		return 0;
	*data = (char *)op->in[rec->rank] + op->have[rec->rank];
	return op->in_len[rec->rank] - op->have[rec->rank];
}

/* What is wrong with a message ends the program, which then receives reports of others. */
static void take_messages(struct net_op *op)
{
	while (op && op->whole && op->taken < op->n_came)
		op->whole(op->arg, op->came[op->taken++]);
}

/* Read what has come, or wait for it; @events: what else to wait for. */
static void advance(struct net *net, short events, uint64_t end_ns)
{
	struct pollfd pfd = { .fd = net->fd, .events = POLLIN | events };
	uint64_t ms;

	if (shuffle_rx_step(net->fd, &net->rx, MSG_DONTWAIT) >= 0) {
		if (net->calling)
			return;
		if (others_failed(net) || net->timed_out)
			give_up(net);
		if (*net->wrong)
			die("%s", net->wrong);
		take_messages(net->op);
		return;
	}
	if (errno != EAGAIN && errno != EINTR)
		die("cannot receive: %s", strerror(errno));
	ms = left_ms(end_ns);
	if (!net->calling)
		signal_check();
	if (poll(&pfd, 1, ms < TICK_MS ? ms : TICK_MS) < 0 && errno != EINTR)
		die("poll: %s", strerror(errno));
	if (net->tick)
		net->tick(net);
	if (!net->calling && clock_now_ns() >= end_ns)
		give_up(net);
}

/* ---- steps ---- */

/**
 * net_begin() - begin a step; then say what is sent and expected, and net_run()
 * @net: the group
 * @op: the step
 * @step: its number
 */
void net_begin(struct net *net, struct net_op *op, unsigned int step)
{
	op_init(net, op, step);
}

/**
 * net_send() - a message of a step
 * @op: the step
 * @to: its receiver, not this member
 * @buf: its bytes, which stay until net_run() has returned
 * @len: their number
 */
void net_send(struct net_op *op, unsigned int to, const void *buf, uint64_t len)
{
	op->out[to] = buf;
	op->out_len[to] = len;
	op->net->bytes_out += len;
}

/**
 * net_expect() - a message comes in this step
 * @op: the step
 * @from: from this member, not this one itself
 */
void net_expect(struct net_op *op, unsigned int from)
{
	op->no_in[from / 64] &= ~(1ULL << from % 64);
	op->expected++;
}

/* A row that the send buffer does not hold goes in the order of the schedule: the kernel asks for
 * what it sends next, and take_record() answers.
 */
static void send_long(struct net *net, struct net_op *op, uint64_t bytes)
{
	int sent;

	op->unasked = bytes;
	while (!(sent = shuffle_tx_want(net->fd, &op->tx)))
		advance(net, POLLOUT, net->phase_end_ns);
	if (sent < 0)
		die_send(op);
}

static void send_short(struct net *net, struct net_op *op)
{
	int sent;

	/* nobody waits for the end of this operation */
	shuffle_tx_delayed_ack(&op->tx);
	while (!(sent = shuffle_tx_step(net->fd, &op->tx)))
		advance(net, POLLOUT, net->phase_end_ns);
	if (sent < 0)
		die_send(op);
}

/**
 * net_run() - carry a step out; the program ends if that is not possible
 * @op: the step; its @in is what has come
 */
void net_run(struct net_op *op)
{
	struct net *net = op->net;
	unsigned int i, sends = 0, expected = op->expected;
	uint64_t bytes = 0;

	for (i = 0; i < net->group.count; i++) {
		if (op->out_len[i] == SHUFFLE_ABSENT)
			continue;
		bytes += op->out_len[i];
		sends++;
	}
	if (!sends && !op->expected)
		return;
	net->steps++;
	net->op = op;
	charge_spend(&net->charge, CHARGE_MESSAGE, sends);
	shuffle_tx_init(&op->tx, op->id, op->out, op->out_len, net->group.count,
			left_ms(net->phase_end_ns));
	shuffle_tx_absent(&op->tx, op->no_in);
	if (shuffle_tx_fits(net->fd, &op->tx))
		send_short(net, op);
	else
		send_long(net, op, bytes);
	while (op->expected || (op->unasked && !op->ended))
		advance(net, 0, net->phase_end_ns);
	charge_spend(&net->charge, CHARGE_MESSAGE, expected);
	net->op = NULL;
}

/**
 * net_end() - forget a step and what has come in it
 * @op: the step
 */
void net_end(struct net_op *op)
{
	op_free(op);
}

/* ---- the group ---- */

/* Announced now, sent in the end: what others say is received at any time. */
static void announce_roll_call(struct net *net)
{
	struct net_op *op = &net->roll;
	unsigned int i;

	op_init(net, op, NET_ROLL_CALL);
	if (net->group.count == 1)
		return;
	for (i = 0; i < net->group.count; i++) {
		if (i == net->rank)
			continue;
		op->out_len[i] = sizeof(struct report);
		net_expect(op, i);
	}
	shuffle_tx_init(&op->tx, op->id, op->out, op->out_len, net->group.count,
			left_ms(net->end_ns));
	shuffle_tx_absent(&op->tx, op->no_in);
	if (shuffle_tx_announce(net->fd, &op->tx) <= 0)
		die_send(op);
}

static void agree(struct net *net, uint64_t deadline_ms)
{
	unsigned int missing;

	if (!shuffle_agree(net->fd, net->group.count, deadline_ms, &net->first_op, &missing))
		return;
	if (missing >= net->group.count)
		die("the hosts do not agree: %s", strerror(errno));
	die("host %u (%s) does not answer: %s", missing, net_name(net, missing), strerror(errno));
}

/**
 * net_open() - join the group; the program ends if that is not possible
 * @net: @group and @rank are set
 * @op: number of the sort, never used before in the group; NET_OP_AGREE: all agree on one
 * @deadline_ms: until the program ends, whatever others do
 */
void net_open(struct net *net, uint64_t op, uint64_t deadline_ms)
{
	uint64_t roll_ns = deadline_ms * 1000000 / ROLL_SHARE;

	if (roll_ns > ROLL_MAX_NS)
		roll_ns = ROLL_MAX_NS;
	net->end_ns = clock_now_ns() + deadline_ms * 1000000 - roll_ns / EXIT_SHARE;
	net->phase_end_ns = net->end_ns - (roll_ns - roll_ns / EXIT_SHARE);
	net->first_op = op * NET_OPS;
	net->fd = shuffle_open(net->group.members, net->group.count, net->rank,
			       SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (net->fd < 0 && errno == EAFNOSUPPORT)
		die("%s", shuffle_family_str());
	if (net->fd < 0)
		die("cannot join the group as %s: %s", net_name(net, net->rank), strerror(errno));
	net->left = memory(net->group.count, sizeof(*net->left));
	if (shuffle_rx_init(&net->rx, take_record, place_data, net))
		die("out of memory");
	if (op == NET_OP_AGREE)
		agree(net, deadline_ms);
	announce_roll_call(net);
	hooked = net;
	die_hook(call_failed);
}

/**
 * net_close() - leave the group
 * @net: the group
 */
void net_close(struct net *net)
{
	die_hook(NULL);
	hooked = NULL;
	close(net->fd);
	shuffle_rx_free(&net->rx);
}
