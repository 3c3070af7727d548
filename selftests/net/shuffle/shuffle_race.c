// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Things that happen at once: what a user does to a socket while packets,
 * timers and other users work on it.
 *
 *	shuffle_race TEST SECONDS [SEED]
 *
 * Each test repeats its race until the time is over and prints how often.
 * It fails when a whole operation brings wrong bytes or a wait does not end;
 * the rest is for the kernel's own checkers to see.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shtest.h"
#include "coll_ask.h"

#define MEMBERS		4
#define MSG		60000
#define WAIT_MS		60000
#define SUMS		20

static uint64_t end_ms, rng;
static unsigned long rounds;
static bool sums;	/* collectives: start_sum() */
static uint16_t port = 7000;

static bool more(void)
{
	return sht_now_ms() < end_ms;
}

static uint64_t rnd(uint64_t below)
{
	rng = sht_mix(rng);
	return rng % below;
}

static void nap(uint64_t max_us)
{
	struct timespec ts = { .tv_nsec = rnd(max_us + 1) * 1000 };

	nanosleep(&ts, NULL);
}

__attribute__((noreturn))
static void die(const char *what)
{
	fprintf(stderr, "# %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool open_group(int fds[], unsigned int n, int flags)
{
	struct sockaddr_shuffle m[MEMBERS];
	unsigned int i;

	for (i = 0; i < n; i++)
		sht_addr(&m[i], SHT_LO, rounds & 1, 0, port + i);
	port = port > 60000 ? 7000 : port + n;
	for (i = 0; i < n; i++) {
		fds[i] = sht_open(m, n, i, flags);
		if (fds[i] < 0) {
			/* an unload attempt may have succeeded just now */
			if (errno != EAFNOSUPPORT)
				die("open");
			while (i--)
				close(fds[i]);
			return false;
		}
	}
	return true;
}

static void close_group(int fds[], unsigned int n)
{
	while (n--)
		close(fds[n]);
}

/* Submit a row of n messages of len bytes; errors are the caller's race. */
static ssize_t submit(int fd, unsigned int rank, unsigned int n, uint64_t op,
		      uint64_t len, uint64_t deadline, int flags)
{
	struct shuffle_row row = {
		.op_id = op, .count = n, .deadline_ms = deadline };
	uint64_t lens[MEMBERS];
	unsigned char *buf;
	unsigned int i;
	ssize_t rc;

	buf = mmap(NULL, n * len + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED)
		die("mmap");
	if (op % 2)
		row.flags |= SHUFFLE_ROW_DELAYED_ACK;
	for (i = 0; i < n; i++) {
		lens[i] = len;
		sht_fill(buf + i * len, len, sht_key(1, op, rank, i), 0);
	}
	rc = sht_send(fd, &row, lens, buf, n * len, flags);
	munmap(buf, n * len + 1);
	return rc;
}

/* Announce a row and let the kernel ask for its data: answer() gives it. */
static void announce(int fd, unsigned int n, uint64_t op, uint64_t len)
{
	struct shuffle_row row = { .op_id = op, .count = n, .flags = SHUFFLE_ROW_WANT };
	uint64_t lens[MEMBERS];
	unsigned int i;

	for (i = 0; i < n; i++)
		lens[i] = len;
	sht_send(fd, &row, lens, NULL, 0, 0);
}

/* Errors are the caller's race, but not more than was asked for. */
static void answer(int fd, unsigned int rank, const struct shuffle_record *rec)
{
	struct shuffle_row row = { .op_id = rec->op_id, .first_rank = rec->rank };
	unsigned char *buf = malloc(rec->len);
	uint64_t done = 0;
	ssize_t rc = 1;

	if (!buf)
		die("malloc");
	sht_fill(buf, rec->len, sht_key(1, rec->op_id, rank, rec->rank), rec->offset);
	for (; done < rec->len && rc > 0; done += rc) {
		rc = sht_send(fd, &row, NULL, buf + done, rec->len - done, 0);
		if (rc < 0 && errno == EMSGSIZE)
			die("an answer is refused");
	}
	free(buf);
}

/* Members put in 1 to MEMBERS, times the number of the operation. */
static bool is_sum(const unsigned char *p, size_t len, uint64_t op)
{
	uint64_t number;

	for (; len >= sizeof(number); len -= sizeof(number), p += sizeof(number)) {
		memcpy(&number, p, sizeof(number));
		if (number != op * MEMBERS * (MEMBERS + 1) / 2)
			return false;
	}
	return !len;
}

/* Read what is there; number of operations that ended. */
static int drain(int fd, unsigned int rank, _Atomic uint64_t *bytes)
{
	struct shuffle_record recs[16];
	unsigned char *buf;
	unsigned int i, n;
	size_t at, size = 100000;
	int ended = 0;
	ssize_t rc;

	buf = malloc(size);
	if (!buf)
		die("malloc");
	for (;;) {
		n = 16;
		rc = sht_recv(fd, buf, size, recs, &n, MSG_DONTWAIT);
		if (rc < 0)
			break;
		for (at = 0, i = 0; i < n; i++) {
			if (recs[i].type == SHUFFLE_RECORD_DONE ||
			    recs[i].type == SHUFFLE_RECORD_FAILED)
				ended++;
			if (recs[i].type == SHUFFLE_RECORD_WANT)
				answer(fd, rank, &recs[i]);
			if (recs[i].type != SHUFFLE_RECORD_DATA)
				continue;
			if (sums ? !is_sum(buf + at, recs[i].len, recs[i].op_id) :
			    sht_check(buf + at, recs[i].len,
				      sht_key(1, recs[i].op_id, recs[i].rank,
					      rank), recs[i].offset) !=
			    recs[i].len)
				die("wrong bytes");
			at += recs[i].len;
			if (bytes)
				*bytes += recs[i].len;
		}
	}
	free(buf);
	return ended;
}

struct worker {
	pthread_t thread;
	int fd;
	unsigned int rank, n;
	uint64_t op;
	bool cancelled;			/* sums may be, by others */
	_Atomic bool stop;
	_Atomic int ended;
};

static void *reader(void *arg)
{
	struct worker *w = arg;
	struct pollfd pfd = { .fd = w->fd, .events = POLLIN };

	while (!w->stop) {
		poll(&pfd, 1, 5);
		w->ended += drain(w->fd, w->rank, NULL);
	}
	return NULL;
}

static void *writer(void *arg)
{
	struct worker *w = arg;

	submit(w->fd, w->rank, w->n, w->op, MSG, 0, 0);
	return NULL;
}

/* One end is closed while data for it is on its way and being read. */
static void close_receive(void)
{
	struct worker w[MEMBERS] = { { 0 } };
	int fds[MEMBERS];
	unsigned int i;

	for (; more(); rounds++) {
		if (!open_group(fds, MEMBERS, SOCK_NONBLOCK))
			continue;
		for (i = 0; i < MEMBERS; i++)
			submit(fds[i], i, MEMBERS, rounds + 1, MSG, 2000,
			       MSG_DONTWAIT);
		for (i = 0; i < 2; i++) {
			w[i] = (struct worker){ .fd = dup(fds[i]), .rank = i };
			pthread_create(&w[i].thread, NULL, reader, &w[i]);
		}
		nap(2000);
		close_group(fds + 1, MEMBERS - 1);
		nap(500);
		w[1].stop = true;
		pthread_join(w[1].thread, NULL);
		close(w[1].fd);
		nap(500);
		close(fds[0]);
		w[0].stop = true;
		pthread_join(w[0].thread, NULL);
		close(w[0].fd);
	}
}

/* Blocking senders are cancelled, and the group is changed at once after. */
static void cancel_send(void)
{
	struct worker w[MEMBERS];
	unsigned int i, small;
	uint64_t op, until;
	int fds[MEMBERS];

	for (; more(); rounds++) {
		if (!open_group(fds, MEMBERS, 0))
			continue;
		op = rounds + 1;
		small = 8192 << rnd(4);
		for (i = 0; i < MEMBERS; i++) {
			setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &small,
				   sizeof(small));
			w[i] = (struct worker){ .fd = fds[i], .rank = i,
						.n = MEMBERS, .op = op };
			pthread_create(&w[i].thread, NULL, writer, &w[i]);
		}
		nap(3000);
		until = sht_now_ms() + WAIT_MS;
		for (i = 0; i < MEMBERS; i++) {
			/* a writer that has not begun yet is waited for */
			while (sht_cancel(fds[i], op) && errno == ENOENT) {
				drain(fds[i], i, NULL);
				if (pthread_tryjoin_np(w[i].thread, NULL) == 0) {
					w[i].stop = true;
					break;
				}
				if (sht_now_ms() > until)
					die("a cancelled sender hangs");
				nap(100);
			}
		}
		for (i = 0; i < MEMBERS; i++)
			if (!w[i].stop)
				pthread_join(w[i].thread, NULL);
		close_group(fds, MEMBERS);
	}
}

/* Each has a descriptor of its own. */
static void stop_workers(struct worker w[], unsigned int n)
{
	while (n--) {
		w[n].stop = true;
		pthread_join(w[n].thread, NULL);
		close(w[n].fd);
	}
}

/* Rows that are asked for: one member cancels while all answer, another one is closed. */
static void want_cancel(void)
{
	struct worker w[MEMBERS];
	unsigned int i, small;
	int fds[MEMBERS];
	uint64_t op;

	for (; more(); rounds++) {
		if (!open_group(fds, MEMBERS, 0))
			continue;
		op = rounds + 1;
		small = 8192 << rnd(4);
		for (i = 0; i < MEMBERS; i++) {
			setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
			w[i] = (struct worker){ .fd = dup(fds[i]), .rank = i };
			announce(fds[i], MEMBERS, op, MSG);
			pthread_create(&w[i].thread, NULL, reader, &w[i]);
		}
		nap(3000);
		sht_cancel(fds[0], op);
		nap(1000);
		close_group(fds, MEMBERS);
		stop_workers(w, MEMBERS);
	}
}

/* A sum of 64-bit numbers; errors are the caller's race. */
static bool start_sum(int fd, unsigned int rank, uint64_t op, unsigned int len)
{
	uint64_t numbers[SHUFFLE_COLL_MAX_BYTES / sizeof(uint64_t)];
	const struct coll_ask coll = {
		.op_id = op, .len = len, .kind = SHUFFLE_COLL_ALLREDUCE,
		.flags = op % 3 ? SHUFFLE_ROW_DELAYED_ACK : 0,
		/* the same at all members */
		.pattern = op % 2 ? SHUFFLE_COLL_TREE : SHUFFLE_COLL_DOUBLING,
		.oper = SHUFFLE_COLL_SUM, .type = SHUFFLE_COLL_U64,
	};
	unsigned int i;

	for (i = 0; i < len / sizeof(numbers[0]); i++)
		numbers[i] = op * (rank + 1);
	return coll_ask_send(fd, &coll, numbers, len, MSG_DONTWAIT) == (ssize_t)len;
}

/* Collectives are cancelled, and their sockets closed, at any moment. */
static void coll_cancel(void)
{
	struct worker w[MEMBERS];
	unsigned int i, k;
	int fds[MEMBERS];

	sums = true;
	for (; more(); rounds++) {
		if (!open_group(fds, MEMBERS, 0))
			continue;
		for (i = 0; i < MEMBERS; i++) {
			w[i] = (struct worker){ .fd = dup(fds[i]), .rank = i };
			pthread_create(&w[i].thread, NULL, reader, &w[i]);
		}
		for (k = 0; k < SUMS; k++) {
			for (i = 0; i < MEMBERS; i++)
				start_sum(fds[i], i, 1 + k, 8 << k % 8);
			if (!rnd(4))
				sht_cancel(fds[rnd(MEMBERS)], 1 + rnd(k + 1));
		}
		nap(1000);
		close_group(fds, MEMBERS);
		stop_workers(w, MEMBERS);
	}
}

/* Every second sum, each member in another order; and what comes of all of them. */
static void *adder(void *arg)
{
	struct worker *w = arg;
	struct pollfd pfd = { .fd = w->fd, .events = POLLIN };
	unsigned int k;
	uint64_t op;

	for (k = w->op; k < SUMS; k += 2) {
		op = 1 + (k + 2 * w->rank) % SUMS;
		/* EPIPE: another member has cancelled it already; its end comes as a record */
		if (!start_sum(w->fd, w->rank, op, 8 << op % 3) &&
		    (errno != EPIPE || !w->cancelled))
			die("a sum cannot be started");
		w->ended += drain(w->fd, w->rank, NULL);
	}
	while (!w->stop) {
		poll(&pfd, 1, 5);
		w->ended += drain(w->fd, w->rank, NULL);
	}
	return NULL;
}

/* Have all sums ended at all members?  Of each two workers read the same socket. */
static bool all_ended(const struct worker w[2 * MEMBERS])
{
	unsigned int i;

	for (i = 0; i < MEMBERS; i++)
		if (w[2 * i].ended + w[2 * i + 1].ended < SUMS)
			return false;
	return true;
}

/* Two threads of each member make collectives by one socket.  In two rounds of three some are
 * cancelled, and sockets closed, in the middle; in the third one all must end.
 */
static void coll_threads(void)
{
	struct worker w[2 * MEMBERS];
	int fds[MEMBERS];
	uint64_t until;
	unsigned int i;

	sums = true;
	for (; more(); rounds++) {
		if (!open_group(fds, MEMBERS, 0))
			continue;
		for (i = 0; i < 2 * MEMBERS; i++) {
			w[i] = (struct worker){ .fd = dup(fds[i / 2]), .rank = i / 2, .op = i % 2,
						.cancelled = rounds % 3 };
			pthread_create(&w[i].thread, NULL, adder, &w[i]);
		}
		until = sht_now_ms() + WAIT_MS;
		for (i = 0; rounds % 3 && i < 4; i++) {
			nap(1000);
			sht_cancel(fds[rnd(MEMBERS)], 1 + rnd(SUMS));
		}
		while (rounds % 3 == 0 && !all_ended(w)) {
			if (sht_now_ms() > until)
				die("a sum does not end");
			nap(1000);
		}
		close_group(fds, MEMBERS);
		stop_workers(w, 2 * MEMBERS);
	}
}

__attribute__((noreturn))
static void sums_without_end(int fds[])
{
	unsigned int i;
	uint64_t op;

	sums = true;
	for (op = 1;; op++) {
		for (i = 0; i < MEMBERS; i++)
			start_sum(fds[i], i, op, 8 << op % 8);
		for (i = 0; i < MEMBERS; i++)
			drain(fds[i], i, NULL);
		nap(200);
	}
}

/* A namespace goes while its members send and receive, or make collectives. */
static void netns_exit(void)
{
	int fds[MEMBERS], status;
	unsigned int i;
	pid_t pid;

	for (; more(); rounds++) {
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (sht_new_netns() ||
			    !open_group(fds, MEMBERS, SOCK_NONBLOCK))
				_exit(0);
			if (rounds & 2)
				sums_without_end(fds);
			for (i = 0; i < MEMBERS; i++)
				submit(fds[i], i, MEMBERS, 1, MSG, 0,
				       MSG_DONTWAIT);
			for (;;)
				for (i = 0; i < MEMBERS; i++)
					drain(fds[i], i, NULL);
		}
		nap(30000);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
}

/* Many processes send and receive through the same socket. */
static void many_processes(void)
{
	_Atomic uint64_t *got;
	unsigned int i, kids = 8;
	uint64_t want, until;
	pid_t pids[16];
	int fds[2], status;

	got = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (; more(); rounds++) {
		if (!open_group(fds, 2, SOCK_NONBLOCK))
			continue;
		*got = 0;
		want = kids * 4ull * MSG;
		for (i = 0; i < 2 * kids; i++) {
			pids[i] = fork();
			if (pids[i] < 0)
				die("fork");
			if (pids[i])
				continue;
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			alarm(WAIT_MS / 1000);
			if (i >= kids) {
				struct pollfd pfd = { .fd = fds[i & 1],
						      .events = POLLIN };

				while (*got < want) {
					poll(&pfd, 1, 5);
					drain(fds[i & 1], i & 1, got);
				}
				_exit(0);
			}
			/* with O_NONBLOCK a row may be taken in part */
			fcntl(fds[0], F_SETFL, 0);
			fcntl(fds[1], F_SETFL, 0);
			if (submit(fds[0], 0, 2, i + 1, MSG, 0, 0) != 2 * MSG ||
			    submit(fds[1], 1, 2, i + 1, MSG, 0, 0) != 2 * MSG)
				_exit(1);
			_exit(0);
		}
		until = sht_now_ms() + WAIT_MS;
		for (i = 0; i < 2 * kids; i++) {
			if (waitpid(pids[i], &status, 0) < 0 || status) {
				fprintf(stderr,
					"# process %u: status %d, %llu of %llu bytes\n",
					i, status, (unsigned long long)*got,
					(unsigned long long)want);
				exit(1);
			}
		}
		if (*got != want || sht_now_ms() > until)
			die("bytes are missing");
		close_group(fds, 2);
	}
}

/* Options are changed under full traffic. */
static void options(void)
{
	static const int names[] = { SO_RCVBUF, SO_SNDBUF, SO_PRIORITY, SO_MARK };
	struct sockaddr_shuffle m[MEMBERS];
	struct worker w[MEMBERS];
	int fds[MEMBERS], value;
	uint32_t idle, i;
	socklen_t len;
	uint64_t until;

	for (; more(); rounds++) {
		if (!open_group(fds, MEMBERS, SOCK_NONBLOCK))
			continue;
		for (i = 0; i < MEMBERS; i++) {
			w[i] = (struct worker){ .fd = fds[i], .rank = i };
			pthread_create(&w[i].thread, NULL, reader, &w[i]);
			submit(fds[i], i, MEMBERS, 1, MSG / 4, 0, 0);
		}
		until = sht_now_ms() + WAIT_MS;
		for (value = 0; value < 20 || w[0].ended + w[1].ended +
		     w[2].ended + w[3].ended < MEMBERS; value++) {
			i = rnd(MEMBERS);
			idle = 20000 + value;
			setsockopt(fds[i], SOL_SOCKET, names[value % 4],
				   &(int){ value % 2 ? 65536 : 6 }, 4);
			setsockopt(fds[i], SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT,
				   &idle, sizeof(idle));
			len = sizeof(m[0]);
			getsockname(fds[i], (struct sockaddr *)m, &len);
			sht_cancel(fds[i], 77);
			nap(100);
			if (sht_now_ms() > until)
				die("an operation does not end");
		}
		for (i = 0; i < MEMBERS; i++) {
			w[i].stop = true;
			pthread_join(w[i].thread, NULL);
		}
		close_group(fds, MEMBERS);
	}
}

/* Sockets come and go, for somebody who tries to unload the module. */
static void open_close(void)
{
	int fds[MEMBERS];
	unsigned int i;

	for (; more(); rounds++) {
		if (!open_group(fds, MEMBERS, SOCK_NONBLOCK)) {
			nap(1000);
			continue;
		}
		for (i = 0; i < MEMBERS; i++)
			submit(fds[i], i, MEMBERS, rounds + 1, 5000, 0,
			       MSG_DONTWAIT);
		nap(1000);
		for (i = 0; i < MEMBERS; i++)
			drain(fds[i], i, NULL);
		close_group(fds, MEMBERS);
		nap(2000);
	}
}

/* One socket that stays open. */
static void hold(void)
{
	int fds[2];

	if (!open_group(fds, 2, 0))
		die("open");
	while (more())
		usleep(10000);
	close_group(fds, 2);
}

static const struct {
	const char *name;
	void (*run)(void);
	bool own_ns;
} races[] = {
	{ "close_receive", close_receive, true },
	{ "cancel_send", cancel_send, true },
	{ "want_cancel", want_cancel, true },
	{ "coll_cancel", coll_cancel, true },
	{ "coll_threads", coll_threads, true },
	{ "netns_exit", netns_exit, false },
	{ "many_processes", many_processes, true },
	{ "options", options, true },
	{ "open_close", open_close, true },
	{ "hold", hold, true },
};

int main(int argc, char **argv)
{
	size_t i;
	long s;

	if (argc < 3)
		return 2;
	s = atol(argv[2]);
	rng = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
	for (i = 0; i < sizeof(races) / sizeof(races[0]); i++) {
		if (strcmp(races[i].name, argv[1]))
			continue;
		if (races[i].own_ns && sht_new_netns())
			die("namespace");
		signal(SIGPIPE, SIG_IGN);
		alarm(s + 2 * WAIT_MS / 1000);
		end_ms = sht_now_ms() + s * 1000;
		races[i].run();
		printf("# %s: %lu rounds\n", argv[1], rounds);
		return 0;
	}
	return 2;
}
