// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shuffle-cp: one member of a shuffle of files.  Sends dir/0 ... dir/N-1 to
 * the members of a group and writes what they send as files.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common.h"

#define RX_RECORDS	64

static const char usage_text[] =
"Usage: shuffle-cp --group GROUP [--rank R] --send DIR --recv DIR [options]\n"
"\n"
"One member of a shuffle: sends a file to every member of a group and receives\n"
"one from each, over an AF_SHUFFLE socket.  Start one at every member.\n"
"\n"
"  -g, --group GROUP    members: a file with one ADDRESS:PORT a line, or a list\n"
"                       ADDRESS:PORT,ADDRESS:PORT,...; the same everywhere\n"
"  -r, --rank R         which of them is this one, from 0 (as mpirun or srun says)\n"
"  -o, --op ID          number of the operation, the same everywhere, never reused\n"
"                       (default: the members agree on one)\n"
"  -s, --send DIR       DIR/0, DIR/1, ... are the messages to member 0, 1, ...; a\n"
"                       file that is not there is an empty message.  Or a matrix:\n"
"                       DIR/R/0, DIR/R/1, ...\n"
"  -d, --recv DIR       write the message of member 0 to DIR/0 and so on\n"
"  -t, --deadline MS    give up after MS milliseconds (default: never)\n"
"  -S, --start-at TIME  start at TIME, in seconds since 1970 (12345.678)\n"
"  -l, --timeline FILE  write what happened when as CSV (t_ns,dir,rank,bytes);\n"
"                       dir is out (the kernel has the row), in, or whole\n"
"      --sndbuf BYTES   SO_SNDBUF of the socket\n"
"      --rcvbuf BYTES   SO_RCVBUF of the socket\n"
"  -h, --help           this text\n"
"\n"
"Statistics are printed as one line of JSON.  Exit status: 0 all sent and\n"
"received, 1 not, 2 wrong usage.\n";

enum { OPT_SNDBUF = 256, OPT_RCVBUF };

static const struct option options[] = {
	{ "group", required_argument, NULL, 'g' },
	{ "rank", required_argument, NULL, 'r' },
	{ "op", required_argument, NULL, 'o' },
	{ "send", required_argument, NULL, 's' },
	{ "recv", required_argument, NULL, 'd' },
	{ "deadline", required_argument, NULL, 't' },
	{ "start-at", required_argument, NULL, 'S' },
	{ "timeline", required_argument, NULL, 'l' },
	{ "sndbuf", required_argument, NULL, OPT_SNDBUF },
	{ "rcvbuf", required_argument, NULL, OPT_RCVBUF },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct copy {
	struct group group;
	struct row row;
	struct column column;
	struct timeline tl;
	unsigned int rank;
	uint64_t op_id;
	int agree;
	uint64_t deadline_ms;
	double start;
	int sndbuf, rcvbuf;
	const char *send, *recv, *timeline;

	int fd;
	char *buf;
	size_t buf_size;

	/* result; times in ns since the start */
	int done, error;
	uint64_t late_ns, sent_ns, last_in_ns, done_ns;
	uint64_t bytes_in, bytes_out;
	unsigned int whole;
	unsigned int missing_count;
	struct shuffle_record *missing;
};

static void parse(struct copy *cp, int argc, char **argv)
{
	int have_op = 0;
	const char *group = NULL;
	char *end;
	int opt;

	cp->rank = GROUP_RANK_UNKNOWN;
	while ((opt = getopt_long(argc, argv, "g:r:o:s:d:t:S:l:h", options, NULL)) != -1) {
		switch (opt) {
		case 'g':
			group = optarg;
			break;
		case 'r':
			cp->rank = arg_number("--rank", optarg, SHUFFLE_MAX_MEMBERS - 1);
			break;
		case 'o':
			cp->op_id = arg_number("--op", optarg, UINT64_MAX);
			have_op = 1;
			break;
		case 's':
			cp->send = optarg;
			break;
		case 'd':
			cp->recv = optarg;
			break;
		case 't':
			cp->deadline_ms = arg_number("--deadline", optarg, UINT64_MAX);
			break;
		case 'S':
			cp->start = strtod(optarg, &end);
			if (end == optarg || *end)
				errx(2, "--start-at: \"%s\" is not a time", optarg);
			break;
		case 'l':
			cp->timeline = optarg;
			break;
		case OPT_SNDBUF:
			cp->sndbuf = arg_number("--sndbuf", optarg, INT32_MAX);
			break;
		case OPT_RCVBUF:
			cp->rcvbuf = arg_number("--rcvbuf", optarg, INT32_MAX);
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default:
			fprintf(stderr, "Try \"shuffle-cp --help\".\n");
			exit(2);
		}
	}
	if (optind < argc)
		errx(2, "unexpected argument \"%s\", see --help", argv[optind]);
	cp->agree = !have_op;
	if (!group || !cp->send || !cp->recv)
		errx(2, "--group, --send and --recv are needed, see --help");
	cp->rank = group_join(&cp->group, group, cp->rank);
}

static void open_socket(struct copy *cp)
{
	char name[80];

	cp->fd = shuffle_open(cp->group.members, cp->group.count, cp->rank, SOCK_CLOEXEC);
	if (cp->fd < 0 && errno == EAFNOSUPPORT)
		errx(1, "%s", shuffle_family_str());
	if (cp->fd < 0)
		err(1, "cannot join the group as %s",
		    shuffle_addr_str(&cp->group.members[cp->rank], name, sizeof(name)));
	if (cp->sndbuf && setsockopt(cp->fd, SOL_SOCKET, SO_SNDBUF, &cp->sndbuf,
				     sizeof(cp->sndbuf)))
		err(1, "SO_SNDBUF");
	if (cp->rcvbuf && setsockopt(cp->fd, SOL_SOCKET, SO_RCVBUF, &cp->rcvbuf,
				     sizeof(cp->rcvbuf)))
		err(1, "SO_RCVBUF");
}

static void agree(struct copy *cp)
{
	uint64_t ms = cp->deadline_ms ? cp->deadline_ms : 60000;
	unsigned int missing;
	char name[80];

	if (!cp->agree || !shuffle_agree(cp->fd, cp->group.count, ms, &cp->op_id, &missing))
		return;
	if (missing >= cp->group.count)
		err(1, "the members do not agree on an operation");
	err(1, "member %u (%s) does not take part", missing,
	    shuffle_addr_str(&cp->group.members[missing], name, sizeof(name)));
}

static uint64_t since_start(const struct copy *cp)
{
	return now_ns() - cp->tl.start_ns;
}

/*
 * The row goes in one blocking call from a thread of its own: then the kernel
 * copies all messages side by side in the order in which it sends them,
 * however much larger than the send buffer the row is.
 */
static void *send_row(void *arg)
{
	struct copy *cp = arg;

	if (shuffle_send(cp->fd, cp->op_id, cp->row.bufs, cp->row.lens, cp->group.count,
			 cp->deadline_ms)) {
		/* An operation that has ended says why in its last records. */
		if (errno == EPIPE)
			return NULL;
		if (errno == EEXIST)
			errx(1, "operation %" PRIu64 " was used before", cp->op_id);
		err(1, "send");
	}
	cp->sent_ns = since_start(cp);
	cp->bytes_out = cp->row.total;
	return NULL;
}

static void take_data(struct copy *cp, const struct shuffle_record *rec, const char *buf)
{
	if (rec->rank >= cp->group.count || cp->column.fds[rec->rank] < 0)
		errx(1, "the kernel returned a message of member %u twice", rec->rank);
	column_write(&cp->column, rec->rank, buf, rec->len, rec->offset);
	cp->bytes_in += rec->len;
	cp->last_in_ns = since_start(cp);
	timeline_add(&cp->tl, 'i', rec->rank, rec->len);
	if (rec->flags & SHUFFLE_RECORD_LAST) {
		column_whole(&cp->column, rec->rank);
		cp->whole++;
		timeline_add(&cp->tl, 'w', rec->rank, rec->msg_len);
	}
}

/* Returns the number of records, 0 if there were none. */
static unsigned int receive_some(struct copy *cp, int flags)
{
	struct shuffle_record records[RX_RECORDS];
	unsigned int count = RX_RECORDS;
	const char *data = cp->buf;
	unsigned int i;

	if (shuffle_recv(cp->fd, cp->buf, cp->buf_size, records, &count, flags) < 0) {
		if (errno == EAGAIN || errno == EINTR)
			return 0;
		err(1, "receive");
	}
	for (i = 0; i < count; i++) {
		const struct shuffle_record *rec = &records[i];

		if (rec->op_id != cp->op_id)
			errx(1, "a record of operation %" PRIu64, (uint64_t)rec->op_id);
		switch (rec->type) {
		case SHUFFLE_RECORD_DATA:
			take_data(cp, rec, data);
			data += rec->len;
			break;
		case SHUFFLE_RECORD_FAILED:
			cp->error = rec->error;
			/* fall through */
		case SHUFFLE_RECORD_DONE:
			cp->done = 1;
			cp->done_ns = since_start(cp);
			break;
		case SHUFFLE_RECORD_MISSING:
			if (cp->missing_count < cp->group.count)
				cp->missing[cp->missing_count++] = *rec;
			break;
		}
	}
	return count;
}

static void run(struct copy *cp)
{
	pthread_t sender;
	unsigned int i;
	int ret;

	ret = pthread_create(&sender, NULL, send_row, cp);
	if (ret)
		errx(1, "thread: %s", strerror(ret));
	while (!cp->done)
		receive_some(cp, 0);
	/* The MISSING records come with FAILED. */
	while (cp->error && receive_some(cp, MSG_DONTWAIT))
		;
	pthread_join(sender, NULL);
	for (i = 0; cp->bytes_out && i < cp->group.count; i++)
		timeline_add_at(&cp->tl, cp->sent_ns, 'o', i, cp->row.lens[i]);
}

static void report(const struct copy *cp)
{
	struct rusage usage;
	uint64_t cpu_us;
	unsigned int i;

	getrusage(RUSAGE_SELF, &usage);
	cpu_us = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ULL +
		 usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
	printf("{\"transport\": \"shuffle\", \"rank\": %u, \"members\": %u, \"op\": %" PRIu64
	       ", \"error\": %d, \"messages_in\": %u, \"bytes_out\": %" PRIu64
	       ", \"bytes_in\": %" PRIu64 ", \"start_late_ns\": %" PRIu64
	       ", \"sent_ns\": %" PRIu64 ", \"last_in_ns\": %" PRIu64 ", \"done_ns\": %" PRIu64
	       ", \"cpu_us\": %" PRIu64 ", \"missing\": [",
	       cp->rank, cp->group.count, cp->op_id, cp->error, cp->whole,
	       cp->bytes_out, cp->bytes_in, cp->late_ns, cp->sent_ns, cp->last_in_ns,
	       cp->done_ns, cpu_us);
	for (i = 0; i < cp->missing_count; i++)
		printf("%s%u", i ? ", " : "", cp->missing[i].rank);
	printf("]}\n");
	fflush(stdout);

	if (!cp->error)
		return;
	warnx("operation %" PRIu64 " has failed: %s", cp->op_id, strerror(cp->error));
	for (i = 0; i < cp->missing_count; i++) {
		const struct shuffle_record *rec = &cp->missing[i];
		char name[80];

		if (rec->rank >= cp->group.count)
			continue;
		if (rec->flags & SHUFFLE_MISSING_LEFT) {
			warnx("member %u (%s) %s", rec->rank,
			      shuffle_addr_str(&cp->group.members[rec->rank], name, sizeof(name)),
			      shuffle_left_str(rec->error));
			continue;
		}
		warnx("member %u (%s): %s%s%s", rec->rank,
		      shuffle_addr_str(&cp->group.members[rec->rank], name, sizeof(name)),
		      rec->flags & SHUFFLE_MISSING_RECV ? "its message did not come" : "",
		      (rec->flags & SHUFFLE_MISSING_RECV) &&
		      (rec->flags & SHUFFLE_MISSING_ACK) ? ", " : "",
		      rec->flags & SHUFFLE_MISSING_ACK ? "has not confirmed ours" : "");
	}
}

int main(int argc, char **argv)
{
	struct copy cp;

	memset(&cp, 0, sizeof(cp));
	parse(&cp, argc, argv);
	row_read(&cp.row, cp.send, cp.rank, cp.group.count);
	column_init(&cp.column, cp.recv, cp.group.count);
	cp.missing = calloc(cp.group.count, sizeof(*cp.missing));
	cp.buf_size = 1 << 20;
	cp.buf = malloc(cp.buf_size);
	if (!cp.missing || !cp.buf)
		err(1, "memory");
	open_socket(&cp);
	agree(&cp);

	cp.tl.on = !!cp.timeline;
	cp.tl.start_ns = start_wait(cp.start);
	cp.late_ns = since_start(&cp);
	run(&cp);

	report(&cp);
	timeline_write(&cp.tl, cp.timeline);
	close(cp.fd);
	return cp.error || cp.whole != cp.group.count;
}
