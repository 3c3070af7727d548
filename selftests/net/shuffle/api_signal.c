// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A signal that a program handles ends a call that waits: with what was taken in the order of the
 * row, or with EINTR, or, with SA_RESTART, not at all.  What a call has taken out of order when it
 * ends is not lost, nor sent twice.
 */
#define _GNU_SOURCE
#include <sys/time.h>

#include "api.h"

#define LEN	1000000

static unsigned char row_data[2 * LEN];
static volatile sig_atomic_t ticks, cancel_at;
static volatile int cancel_fd = -1;
static uint64_t cancel_op;

static void on_alarm(int sig)
{
	(void)sig;
	ticks++;
	if (cancel_at && ticks >= cancel_at)
		sht_cancel(cancel_fd, cancel_op);
}

static void handle(int flags)
{
	struct sigaction act = { .sa_handler = on_alarm, .sa_flags = flags };

	ticks = 0;
	sigaction(SIGALRM, &act, NULL);
}

/* The first signal after @first ms, then every @then ms; 0 and 0: none. */
static void alarms(int first, int then)
{
	struct itimerval t = {
		.it_value.tv_usec = first * 1000,
		.it_interval.tv_usec = then * 1000,
	};

	setitimer(ITIMER_REAL, &t, NULL);
}

static void small_buffer(int fd)
{
	int size = 100000;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

static uint64_t lens[2] = { LEN, LEN };

static ssize_t begin(int fd, uint64_t op, int flags)
{
	struct shuffle_row row = { .op_id = op, .count = 2 };

	return sht_send(fd, &row, lens, row_data, sizeof(row_data), flags);
}

static ssize_t go_on(int fd, uint64_t op, uint64_t done, size_t len, int flags)
{
	struct shuffle_row row = { .op_id = op };

	return sht_send(fd, &row, NULL, row_data + done, len, flags);
}

/* Nobody else has started: the call has to wait. */
static void blocked_calls(void)
{
	struct sockaddr_shuffle m[2];
	uint64_t op = next_op++, done;
	uint64_t since;
	ssize_t rc;
	bool intr;
	int fds[2];

	open_pair(fds, m, 0);
	small_buffer(fds[0]);
	handle(0);
	alarms(200, 0);
	since = sht_now_ms();
	rc = begin(fds[0], op, 0);
	WORKS(rc >= 0 && rc < (ssize_t)sizeof(row_data), "a signal ends the call that announces");
	WORKS(sht_now_ms() - since < 5000 && ticks == 1, "and at once");
	done = rc > 0 ? rc : 0;

	/* what there is room for has been taken: now nothing more is */
	alarms(200, 0);
	rc = go_on(fds[0], op, done, sizeof(row_data) - done, 0);
	done += rc > 0 ? rc : 0;
	alarms(200, 0);
	FAILS(go_on(fds[0], op, done, sizeof(row_data) - done, 0), "a call that took nothing",
	      EINTR);

	/* in order of rank, by a call that does not bring all */
	alarms(200, 0);
	rc = go_on(fds[0], op, done, sizeof(row_data) - done - 1, 0);
	intr = rc < 0 && errno == EINTR;
	WORKS(rc >= 0 || intr, "a call in order of rank");
	done += rc > 0 ? rc : 0;
	alarms(200, 0);
	FAILS(go_on(fds[0], op, done, sizeof(row_data) - done - 1, 0), "one that took nothing",
	      EINTR);

	handle(SA_RESTART);
	cancel_fd = fds[0];
	cancel_op = op;
	cancel_at = 3;
	alarms(100, 100);
	FAILS(go_on(fds[0], op, done, sizeof(row_data) - done, MSG_NOSIGNAL),
	      "SA_RESTART: it goes on, until the third signal cancels the operation", EPIPE);
	WORKS(ticks >= 3, "after three signals");
	alarms(0, 0);
	cancel_at = 0;
	close_pair(fds);
}

static void blocked_reader(void)
{
	struct shuffle_record rec[4];
	struct sockaddr_shuffle m[2];
	unsigned int n = 4;
	char buf[100];
	int fds[2];

	open_pair(fds, m, 0);
	handle(0);
	alarms(200, 0);
	FAILS(sht_recv(fds[0], buf, sizeof(buf), rec, &n, 0), "a reader", EINTR);
	alarms(0, 0);
	close_pair(fds);
}

/* A call by one thread that waits for another's: the mutex of the row. */
static void blocked_writer(void)
{
	struct sockaddr_shuffle m[2];
	uint64_t op = next_op++;
	int fds[2], status;
	pid_t pid;

	open_pair(fds, m, 0);
	small_buffer(fds[0]);
	pid = fork();
	if (!pid) {
		begin(fds[0], op, MSG_NOSIGNAL);
		_exit(0);
	}
	usleep(300000);
	handle(0);
	alarms(200, 0);
	FAILS(go_on(fds[0], op, 0, 1, MSG_NOSIGNAL), "a writer that waits for another", EINTR);
	alarms(0, 0);
	sht_cancel(fds[0], op);
	WORKS(waitpid(pid, &status, 0) == pid && WIFEXITED(status), "that ends with the operation");
	close_pair(fds);
}

/* Reads all of an operation: 0, or what is wrong. */
static const char *read_all(int fd, uint64_t op, uint32_t self)
{
	static unsigned char buf[65536];
	struct shuffle_record rec[8];
	uint64_t have[2] = { 0, 0 };
	unsigned int i, n;
	size_t at;

	for (;;) {
		n = 8;
		if (sht_recv(fd, buf, sizeof(buf), rec, &n, 0) < 0) {
			if (errno == EINTR)
				continue;
			return "recvmsg";
		}
		for (i = 0, at = 0; i < n; i++) {
			if (rec[i].type == SHUFFLE_RECORD_DONE)
				return have[0] == LEN && have[1] == LEN ? NULL :
									  "bytes are missing";
			if (rec[i].type != SHUFFLE_RECORD_DATA)
				return "it has failed";
			if (rec[i].offset != have[rec[i].rank] ||
			    sht_check(buf + at, rec[i].len, sht_key(1, op, rec[i].rank, self),
				      rec[i].offset) != rec[i].len)
				return "wrong bytes";
			have[rec[i].rank] += rec[i].len;
			at += rec[i].len;
		}
		usleep(2000);
	}
}

/* Interrupted all the time, and each call of another kind: every byte comes once.  The message to
 * @who itself is taken first: in front of it in the row there is the other one, or not.
 */
static void many_signals(bool mixed, int who)
{
	struct sockaddr_shuffle m[2];
	uint64_t op = next_op++, done = 0, calls = 0;
	struct pollfd pfd;
	const char *bad;
	pid_t pid[3];
	int fds[2], i, status;
	size_t n, parts = 0;
	ssize_t rc;

	open_pair(fds, m, 0);
	small_buffer(fds[who]);
	fflush(stdout);
	/* both members read; the other one has a row of its own, later */
	for (i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		usleep(i != who ? 100000 : 0);
		bad = read_all(fds[i], op, i);
		if (bad)
			printf("# member %d: %s\n", i, bad);
		fflush(stdout);
		_exit(!!bad);
	}
	pid[2] = fork();
	if (!pid[2]) {
		usleep(150000);
		for (i = 0; i < 2; i++)
			sht_fill(row_data + i * LEN, LEN, sht_key(1, op, !who, i), 0);
		begin(fds[!who], op, 0);
		_exit(0);
	}
	for (i = 0; i < 2; i++)
		sht_fill(row_data + i * LEN, LEN, sht_key(1, op, who, i), 0);
	handle(0);
	alarms(3, 3);
	rc = begin(fds[who], op, 0);
	done = rc > 0 ? rc : 0;
	while (rc >= 0 && done < sizeof(row_data) && calls++ < 100000) {
		n = sizeof(row_data) - done;
		if (mixed && calls % 3 == 1 && n > 30000)
			n = 30000;
		rc = go_on(fds[who], op, done, n, mixed && calls % 3 == 2 ? MSG_DONTWAIT : 0);
		if (rc < 0 && (errno == EINTR || errno == EAGAIN)) {
			pfd = (struct pollfd) { .fd = fds[who], .events = POLLOUT };
			if (errno == EAGAIN)
				poll(&pfd, 1, 10);
			rc = 0;
		}
		parts += rc > 0;
		done += rc > 0 ? rc : 0;
	}
	alarms(0, 0);
	printf("# %zu parts, %llu calls, %d signals\n", parts, (unsigned long long)calls,
	       (int)ticks);
	WORKS(done == sizeof(row_data), "all is taken in the end");
	for (i = 0; i < 3; i++)
		WORKS(waitpid(pid[i], &status, 0) == pid[i] && !status,
		      i < 2 ? "every byte has come, once" : "and the other row was taken");
	close_pair(fds);
}

int main(int argc, char **argv)
{
	v6 = argc > 2 && !strcmp(argv[1], "-v") && !strcmp(argv[2], "6");
	alarm(0);
	blocked_calls();
	blocked_reader();
	blocked_writer();
	many_signals(false, 0);
	many_signals(true, 0);
	many_signals(false, 1);
	many_signals(true, 1);
	return api_finish();
}
