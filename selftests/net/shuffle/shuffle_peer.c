// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Members of a shuffle, one process each.
 *
 *	shuffle_peer n=8 matrix=uniform:4096 ops=2 3:delay=2000 5-6:nonblock=0
 *
 * An option counts for all members unless a rank or a range stands before it.
 * Members are placed in the network namespaces PREFIXh0, PREFIXh1, ... that
 * lib.sh sets up.  Every member sends what the matrix says, checks every byte
 * it receives, and compares how its operations ended with what is expected.
 * One line of JSON per member on standard output ("missing" of an operation that
 * still runs: those whose message is not whole); the exit status is 0 if
 * every member saw what it expected.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/sock_diag.h>

#include "peer_options.h"
#include "shtest.h"

#define MAX_OPS		16
#define RECORDS		64

enum mode { MODE_POLL, MODE_EPOLL, MODE_EDGE, MODE_BLOCK };

struct op {
	uint64_t id;
	uint64_t *have;		/* bytes received from each rank */
	uint64_t *given;	/* bytes that were asked for, to each rank */
	bool *last;
	bool *missing;
	unsigned int announced, rank;
	uint64_t off;		/* taken of the message to rank */
	unsigned int whole;
	bool tx_done, ended;
	int error;
	uint64_t tx_ms, end_ms;
};

static struct options *o;	/* of this member */
static struct op ops[MAX_OPS];
static unsigned int nops;
static unsigned int rank;
static uint64_t start_ms, rx_bytes;
static uint32_t rmem_max, wmem_max;
static int sock = -1;

static uint64_t elapsed(void)
{
	return sht_now_ms() - start_ms;
}

static void report(bool ok, const char *why)
{
	unsigned int i, r, len = 0;
	char line[4096];

	len += snprintf(line + len, sizeof(line) - len,
			"{\"rank\": %u, \"ok\": %s, \"why\": \"%s\", \"rx_bytes\": %llu, \"rmem_max\": %u, \"wmem_max\": %u, \"ops\": [",
			rank, ok ? "true" : "false", why,
			(unsigned long long)rx_bytes, rmem_max, wmem_max);
	for (i = 0; i < nops && len < sizeof(line) - 600; i++) {
		len += snprintf(line + len, sizeof(line) - len,
				"%s{\"op\": %llu, \"end\": \"%s\", \"whole\": %u, \"tx_ms\": %llu, \"end_ms\": %llu, \"missing\": [",
				i ? ", " : "", (unsigned long long)ops[i].id,
				ops[i].ended ? sht_errno_name(ops[i].error) :
				"running", ops[i].whole,
				(unsigned long long)ops[i].tx_ms,
				(unsigned long long)ops[i].end_ms);
		for (r = 0; r < o->n && len < sizeof(line) - 100; r++)
			if (ops[i].missing[r] ||
			    (!ops[i].ended && !ops[i].last[r]))
				len += snprintf(line + len, sizeof(line) - len,
						"%u,", r);
		if (line[len - 1] == ',')
			len--;
		len += snprintf(line + len, sizeof(line) - len, "]}");
	}
	len += snprintf(line + len, sizeof(line) - len, "]}\n");
	if (write(STDOUT_FILENO, line, len) < 0)
		_exit(3);
}

__attribute__((noreturn, format(printf, 1, 2)))
static void fail(const char *fmt, ...)
{
	char why[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	report(false, why);
	_exit(1);
}

/* Length of the message of an operation from src to dst. */
static uint64_t msg_len(uint64_t op, unsigned int src, unsigned int dst)
{
	uint64_t len;

	if (sht_matrix_len(o->matrix, o->seed, op, src, dst, &len))
		fail("unknown matrix %s", o->matrix);
	return len;
}

static void sample_memory(void)
{
	uint32_t mem[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(mem);

	if (getsockopt(sock, SOL_SOCKET, SO_MEMINFO, mem, &len))
		return;
	if (mem[SK_MEMINFO_RMEM_ALLOC] > rmem_max)
		rmem_max = mem[SK_MEMINFO_RMEM_ALLOC];
	if (mem[SK_MEMINFO_WMEM_QUEUED] > wmem_max)
		wmem_max = mem[SK_MEMINFO_WMEM_QUEUED];
	if (mem[SK_MEMINFO_WMEM_ALLOC] > wmem_max)
		wmem_max = mem[SK_MEMINFO_WMEM_ALLOC];
}

/* The next part of a row into buf, up to the last announced rank. */
static size_t row_bytes(const struct op *op, unsigned int announced,
			unsigned char *buf, size_t size)
{
	unsigned int r = op->rank;
	uint64_t off = op->off;
	size_t n, at = 0;
	uint64_t len;

	for (; r < announced && at < size; r++, off = 0) {
		len = msg_len(op->id, rank, r);
		n = len - off < size - at ? len - off : size - at;
		sht_fill(buf + at, n, sht_key(o->seed, op->id, rank, r), off);
		at += n;
	}
	return at;
}

/* One call; true when there is no room for now. */
static bool send_some(struct op *op, unsigned char *buf, size_t size, int flags)
{
	struct shuffle_row row = { .op_id = op->id, .deadline_ms = o->deadline };
	uint64_t lens[MAX_RANKS], len;
	unsigned int i, until;
	ssize_t rc;
	size_t n;

	row.first_rank = op->announced;
	row.flags = o->order * SHUFFLE_ROW_FAIR;
	row.count = o->n - op->announced;
	if (o->split && row.count > o->split) {
		row.count = o->split;
		row.flags |= SHUFFLE_ROW_MORE;
	}
	if (o->want)
		row.flags |= SHUFFLE_ROW_WANT;
	until = row.first_rank + row.count;
	for (i = 0; i < row.count; i++)
		lens[i] = msg_len(op->id, rank, row.first_rank + i);
	n = o->want ? 0 : row_bytes(op, until, buf, size);
	rc = sht_send(sock, &row, lens, buf, n, flags);
	if (rc < 0) {
		if (errno == EAGAIN || errno == EINTR)
			return true;
		if (errno == EPIPE) {	/* it has ended: a record tells */
			op->tx_done = true;
			return false;
		}
		fail("sendmsg: %s", strerror(errno));
	}
	if ((size_t)rc > n)
		fail("sendmsg took %zd of %zu", rc, n);
	op->announced = until;
	if (o->want)
		return false;
	n = rc;
	while (op->rank < op->announced) {
		len = msg_len(op->id, rank, op->rank) - op->off;
		if (len > n) {
			op->off += n;
			break;
		}
		n -= len;
		op->off = 0;
		op->rank++;
	}
	if (op->rank == o->n) {
		op->tx_done = true;
		op->tx_ms = elapsed();
		return false;
	}
	return (size_t)rc < size && op->announced == o->n;
}

static struct op *find_op(uint64_t id)
{
	unsigned int i;

	for (i = 0; i < nops; i++)
		if (ops[i].id == id)
			return &ops[i];
	fail("record of unknown operation %llu", (unsigned long long)id);
}

static void take_data(struct op *op, const struct shuffle_record *rec,
		      const unsigned char *data)
{
	uint64_t want = msg_len(op->id, rec->rank, rank);
	uint64_t key = sht_key(o->seed, op->id, rec->rank, rank);
	bool last = rec->flags & SHUFFLE_RECORD_LAST;
	size_t bad;

	if (rec->msg_len != want)
		fail("from %u: length %llu, expected %llu", rec->rank,
		     (unsigned long long)rec->msg_len, (unsigned long long)want);
	if (op->last[rec->rank])
		fail("from %u: record after the last one", rec->rank);
	if (rec->offset != op->have[rec->rank])
		fail("from %u: offset %llu, expected %llu", rec->rank,
		     (unsigned long long)rec->offset,
		     (unsigned long long)op->have[rec->rank]);
	bad = sht_check(data, rec->len, key, rec->offset);
	if (bad != rec->len)
		fail("from %u: byte %llu of %llu is wrong", rec->rank,
		     (unsigned long long)(rec->offset + bad),
		     (unsigned long long)want);
	op->have[rec->rank] += rec->len;
	rx_bytes += rec->len;
	if (last != (op->have[rec->rank] == want))
		fail("from %u: LAST %s at %llu of %llu", rec->rank,
		     last ? "set" : "clear",
		     (unsigned long long)op->have[rec->rank],
		     (unsigned long long)want);
	if (last) {
		op->last[rec->rank] = true;
		op->whole++;
	}
}

/* The kernel asks for a part of the row; each rank's in order. */
static void answer(struct op *op, const struct shuffle_record *rec)
{
	struct shuffle_row row = { .op_id = op->id, .first_rank = rec->rank };
	unsigned char *buf = malloc(rec->len);
	uint64_t done = 0;
	ssize_t rc;

	if (!o->want || op->announced < o->n || rec->rank >= o->n || !rec->len || !buf ||
	    rec->msg_len != msg_len(op->id, rank, rec->rank) ||
	    rec->offset != op->given[rec->rank] || rec->len > rec->msg_len - rec->offset)
		fail("WANT %llu bytes at %llu for %u", (unsigned long long)rec->len,
		     (unsigned long long)rec->offset, rec->rank);
	sht_fill(buf, rec->len, sht_key(o->seed, op->id, rank, rec->rank), rec->offset);
	for (; done < rec->len; done += rc) {
		/* in two parts */
		rc = sht_send(sock, &row, NULL, buf + done,
			      done ? rec->len - done : rec->len / 3 + 1, 0);
		if (rc < 0 && errno == EPIPE)
			break;
		if (rc < 0)
			fail("answer: %s", strerror(errno));
	}
	op->given[rec->rank] += rec->len;
	free(buf);
}

static void take_record(const struct shuffle_record *rec,
			const unsigned char *data, size_t left)
{
	struct op *op = find_op(rec->op_id);

	if (rec->reserved)
		fail("a record's reserved field is %u, not 0", rec->reserved);
	if (op->ended && rec->type != SHUFFLE_RECORD_MISSING)
		fail("record type %u after the end", rec->type);
	switch (rec->type) {
	case SHUFFLE_RECORD_DATA:
		if (rec->rank >= o->n)
			fail("DATA from rank %u", rec->rank);
		if (rec->len > left)
			fail("record of %llu bytes, %zu are left",
			     (unsigned long long)rec->len, left);
		take_data(op, rec, data);
		break;
	case SHUFFLE_RECORD_WANT:
		answer(op, rec);
		break;
	case SHUFFLE_RECORD_DONE:
		if (op->whole != o->n)
			fail("DONE with %u of %lld messages", op->whole, (long long)o->n);
		if (!op->tx_done && !o->want && o->mode != MODE_BLOCK)
			fail("DONE before all was submitted");
		op->ended = true;
		op->end_ms = elapsed();
		break;
	case SHUFFLE_RECORD_FAILED:
		if (!rec->error)
			fail("FAILED without an error");
		op->ended = true;
		op->error = rec->error;
		op->end_ms = elapsed();
		break;
	case SHUFFLE_RECORD_MISSING:
		if (!op->error)
			fail("MISSING without FAILED");
		if (rec->rank >= o->n)
			fail("MISSING rank %u", rec->rank);
		if (!(rec->flags & (SHUFFLE_MISSING_RECV | SHUFFLE_MISSING_ACK)))
			fail("MISSING without a flag");
		if ((rec->flags & SHUFFLE_MISSING_RECV) &&
		    op->last[rec->rank])
			fail("MISSING rank %u, which was whole", rec->rank);
		op->missing[rec->rank] = true;
		break;
	default:
		fail("record type %u", rec->type);
	}
}

/* One recvmsg(); false when nothing was there. */
static bool recv_some(unsigned char *buf, int flags)
{
	struct shuffle_record recs[RECORDS];
	unsigned int i, n = RECORDS;
	size_t at = 0;
	ssize_t rc;

	rc = sht_recv(sock, buf, o->recv_buf, recs, &n, flags);
	if (rc < 0) {
		if (errno == EAGAIN || errno == EINTR)
			return false;
		fail("recvmsg: %s", strerror(errno));
	}
	if (!n)
		fail("recvmsg returned %zd and no record", rc);
	for (i = 0; i < n; i++) {
		take_record(&recs[i], buf + at, rc - at);
		if (recs[i].type == SHUFFLE_RECORD_DATA)
			at += recs[i].len;
	}
	if (at != (size_t)rc)
		fail("recvmsg returned %zd, records cover %zu", rc, at);
	if (o->kill_rx && rx_bytes >= (uint64_t)o->kill_rx)
		raise(SIGKILL);
	if (o->read_pause)
		usleep(o->read_pause * 1000);
	return true;
}

static bool all_ended(void)
{
	unsigned int i;

	for (i = 0; i < nops; i++)
		if (!ops[i].ended)
			return false;
	return true;
}

/* Things that happen at a given time; ms until the next one, at most 50. */
static int timed_events(void)
{
	uint64_t now = elapsed();

	if (o->kill_ms && now >= (uint64_t)o->kill_ms)
		raise(SIGKILL);
	if (o->close_ms && now >= (uint64_t)o->close_ms) {
		close(sock);
		report(true, "closed");
		_exit(0);
	}
	/* on a busy machine the row may not be there yet */
	if (o->cancel_ms && now >= (uint64_t)o->cancel_ms && ops[o->cancel_op].announced) {
		o->cancel_ms = 0;
		/* where all cancel, another member's ABORT may have been first */
		if (sht_cancel(sock, ops[o->cancel_op].id) &&
		    (errno != ENOENT || !strstr(o->expect, "cancelled")))
			fail("cancel: %s", strerror(errno));
	}
	return 20;
}

static void *block_sender(void *unused)
{
	unsigned char *buf;
	uint64_t total;
	unsigned int i, r;

	for (i = 0; i < nops; i++) {
		total = 0;
		for (r = 0; r < o->n; r++)
			total += msg_len(ops[i].id, rank, r);
		buf = malloc(total + 1);
		if (!buf)
			fail("no memory for a row");
		while (!ops[i].tx_done)
			send_some(&ops[i], buf, total, 0);
		free(buf);
	}
	return unused;
}

static void run_blocking(unsigned char *rbuf)
{
	struct timeval tv = { .tv_usec = 50000 };
	pthread_t sender;

	if (o->kill_ms || o->close_ms || o->cancel_ms)
		setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	if (pthread_create(&sender, NULL, block_sender, NULL))
		fail("no thread");
	if (o->read_delay)
		usleep(o->read_delay * 1000);
	while (!all_ended()) {
		recv_some(rbuf, 0);
		sample_memory();
		timed_events();
	}
	pthread_join(sender, NULL);
}

/* Wait until the socket may be ready; what for is in *events. */
static void wait_ready(int epfd, short *events, int ms)
{
	struct pollfd pfd = { .fd = sock, .events = *events };
	struct epoll_event ev = { .events = 0 };
	int rc;

	if (epfd < 0) {
		rc = poll(&pfd, 1, ms);
		*events = rc > 0 ? pfd.revents : 0;
		return;
	}
	if (o->mode == MODE_EPOLL) {
		ev.events = *events;
		epoll_ctl(epfd, EPOLL_CTL_MOD, sock, &ev);
	}
	rc = epoll_wait(epfd, &ev, 1, ms);
	*events = rc > 0 ? ev.events : 0;
}

/* Of a row that is asked for the announcement only. */
static bool must_send(const struct op *op)
{
	return !op->tx_done && !op->ended && !(o->want && op->announced == o->n);
}

static void run_polling(unsigned char *rbuf, unsigned char *sbuf)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLET };
	bool full = false, readable = true, sending;
	int epfd = -1, ms;
	unsigned int i;
	short events;

	if (o->mode != MODE_POLL) {
		epfd = epoll_create1(EPOLL_CLOEXEC);
		if (epfd < 0 || epoll_ctl(epfd, EPOLL_CTL_ADD, sock, &ev))
			fail("epoll: %s", strerror(errno));
	}
	while (!all_ended()) {
		ms = timed_events();
		sending = false;
		for (i = 0; i < nops && !full; i++)
			if (must_send(&ops[i]))
				full |= send_some(&ops[i], sbuf, o->chunk,
						  MSG_DONTWAIT);
		for (i = 0; i < nops; i++)
			sending |= must_send(&ops[i]);
		sample_memory();
		if (elapsed() >= (uint64_t)o->read_delay) {
			if (readable)
				readable = recv_some(rbuf, MSG_DONTWAIT);
			if (readable || (sending && !full))
				continue;
			events = POLLIN;
		} else {
			if (sending && !full)
				continue;
			events = 0;
		}
		if (sending)
			events |= POLLOUT;
		if (!events) {		/* not reading yet, all is sent */
			usleep(ms * 1000);
			continue;
		}
		wait_ready(epfd, &events, ms);
		if (events & (POLLIN | POLLERR | POLLHUP))
			readable = true;
		if (events & POLLOUT)
			full = false;
		/* An edge before the reading began must not be waited for. */
		if (o->mode == MODE_EDGE && o->read_delay)
			readable = true;
	}
	if (epfd >= 0)
		close(epfd);
}

static void check_end(void)
{
	char want[32], *list = o->expect, *next;
	bool named[MAX_RANKS] = { false };
	unsigned int i, r;
	int number;

	for (next = o->missing; *next;) {
		r = strtoul(next, &next, 10);
		if (r < MAX_RANKS)
			named[r] = true;
		next += *next == ',';
	}
	for (i = 0; i < nops; i++) {
		snprintf(want, sizeof(want), "%.*s", (int)strcspn(list, ","),
			 list);
		if (strchr(list, ','))
			list = strchr(list, ',') + 1;
		if (!strcmp(want, "any"))
			continue;
		if (!strcmp(want, "cancelled")) {
			if (ops[i].error != ECANCELED && ops[i].error != ECONNRESET)
				fail("operation %u ended with %s, not ECANCELED or ECONNRESET", i,
				     sht_errno_name(ops[i].error));
		} else if (strcmp(want, "fail")) {
			number = sht_errno_number(want);
			if (ops[i].error != number)
				fail("operation %u ended with %s, not %s", i,
				     sht_errno_name(ops[i].error), want);
		} else if (!ops[i].error) {
			fail("operation %u succeeded", i);
		}
		if (!ops[i].error || !o->missing[0])
			continue;
		for (r = 0; r < o->n; r++)
			if (named[r] != ops[i].missing[r])
				fail("operation %u: rank %u is %snamed missing",
				     i, r, named[r] ? "not " : "");
	}
	if (o->min_tx_ms)
		for (i = 0; i < nops; i++)
			if (ops[i].tx_ms < (uint64_t)o->min_tx_ms)
				fail("row taken after %llu ms, before %lld",
				     (unsigned long long)ops[i].tx_ms,
				     (long long)o->min_tx_ms);
}

/* The kernel's own view of the buffers must hold: the limit, which it doubles
 * for overhead, and one super-packet with its own overhead on top.
 */
static void check_memory(void)
{
	socklen_t len = sizeof(int);
	int rcv = 0, snd = 0;

	getsockopt(sock, SOL_SOCKET, SO_RCVBUF, &rcv, &len);
	getsockopt(sock, SOL_SOCKET, SO_SNDBUF, &snd, &len);
	if (rmem_max > (uint32_t)rcv + (128 << 10))
		fail("receive memory %u with SO_RCVBUF %d", rmem_max, rcv);
	if (wmem_max > (uint32_t)snd + (128 << 10))
		fail("send memory %u with SO_SNDBUF %d", wmem_max, snd);
}

static void set_int(int level, int name, long value, const char *text)
{
	int number = value;

	if (value && setsockopt(sock, level, name, &number, sizeof(number)))
		fail("setsockopt %s: %s", text, strerror(errno));
}

static void run_round(uint64_t first_op)
{
	unsigned char *rbuf, *sbuf;
	unsigned int i;

	nops = o->ops;
	for (i = 0; i < nops; i++) {
		free(ops[i].have);
		free(ops[i].given);
		free(ops[i].last);
		free(ops[i].missing);
		memset(&ops[i], 0, sizeof(ops[i]));
		ops[i].id = first_op + i;
		ops[i].have = calloc(o->n, sizeof(uint64_t));
		ops[i].given = calloc(o->n, sizeof(uint64_t));
		ops[i].last = calloc(o->n, sizeof(bool));
		ops[i].missing = calloc(o->n, sizeof(bool));
	}
	rbuf = malloc(o->recv_buf);
	sbuf = malloc(o->chunk);
	if (!rbuf || !sbuf || !ops[nops - 1].missing)
		fail("no memory");
	if (o->mode == MODE_BLOCK)
		run_blocking(rbuf);
	else
		run_polling(rbuf, sbuf);
	/* MISSING records may need another call. */
	if (o->missing[0])
		while (recv_some(rbuf, MSG_DONTWAIT))
			;
	check_end();
	if (o->linger) {
		usleep(o->linger * 1000);
		if (recv_some(rbuf, MSG_DONTWAIT))
			fail("a record after the end");
	}
	free(rbuf);
	free(sbuf);
}

/* Tells what is missing and ends; nothing else runs that could mind. */
static void out_of_time(int sig)
{
	(void)sig;
	report(false, "ran out of time");
	_exit(1);
}

static void run_member(void)
{
	const struct sht_before before = { o->device, o->key };
	struct sockaddr_shuffle members[MAX_RANKS];
	unsigned int i, hosts;
	char ns[64];
	long round;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGALRM, out_of_time);
	alarm(o->timeout / 1000 + 1);
	hosts = o->hosts ? o->hosts : o->n;
	for (i = 0; i < o->n; i++)
		sht_addr(&members[i], o->net, o->v6, i % hosts,
			 o->port + (o->net == SHT_LO ? i : i / hosts));
	if (o->net != SHT_LO) {
		snprintf(ns, sizeof(ns), "%.31sh%u", o->prefix, rank % hosts);
		if (sht_enter_netns(ns))
			fail("namespace %s: %s", ns, strerror(errno));
	}
	usleep(o->open_delay * 1000);
	sock = sht_open_with(&before, members, o->n, rank, 0);
	if (sock < 0)
		fail("open: %s", strerror(errno));
	set_int(SOL_SOCKET, SO_RCVBUF, o->rcvbuf, "SO_RCVBUF");
	set_int(SOL_SOCKET, SO_SNDBUF, o->sndbuf, "SO_SNDBUF");
	set_int(SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, o->idle, "idle timeout");
	usleep((o->delay + o->stagger * rank) * 1000);
	for (round = 0; round < o->rounds; round++)
		run_round(o->op + round * o->ops);
	if (o->check_mem)
		check_memory();
	report(true, "");
	close(sock);
}

static const char *member_failure(const struct options *opt, int status)
{
	bool killed = opt->kill_rx || opt->kill_ms;

	if (WIFEXITED(status))
		return WEXITSTATUS(status) ? "" : killed ? "not killed" : NULL;
	if (killed && WTERMSIG(status) == SIGKILL)
		return NULL;
	return "was killed";
}

int main(int argc, char **argv)
{
	int i, n, status, left = 0, bad = 0;
	pid_t pids[MAX_RANKS], pid;
	const char *why;

	peer_options_default();
	for (i = 1; i < argc; i++) {
		if (peer_options_set(argv[i])) {
			fprintf(stderr, "shuffle_peer: bad option %s\n",
				argv[i]);
			return 2;
		}
	}
	n = peer_opts[0].n;
	if (n < 1 || n > MAX_RANKS || peer_opts[0].ops < 1 || peer_opts[0].ops > MAX_OPS)
		return 2;
	start_ms = sht_now_ms();
	for (i = 0; i < n; i++) {
		pids[i] = 0;
		if (peer_opts[i].absent)
			continue;
		pids[i] = fork();
		if (pids[i] < 0)
			return 3;
		if (!pids[i]) {
			o = &peer_opts[i];
			rank = i;
			run_member();
			_exit(0);
		}
		left++;
	}
	while (left) {
		pid = wait(&status);
		if (pid < 0)
			break;
		for (i = 0; i < n && pids[i] != pid; i++)
			;
		if (i == n)
			continue;
		left--;
		why = member_failure(&peer_opts[i], status);
		if (!why)
			continue;
		bad++;
		if (*why)
			printf("{\"rank\": %d, \"ok\": false, \"why\": \"%s\"}\n",
			       i, why);
	}
	return bad ? 1 : 0;
}
