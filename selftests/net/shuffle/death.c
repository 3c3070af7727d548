// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A member leaves in the middle of a shuffle: when do the others know, and whom do they name?
 *
 *	death kill bytes=20000000 n=4 idle=20000
 *
 * Rank 1 is the one to which something happens, @at ms after the start:
 *
 *	never	it never starts
 *	kill	SIGKILL
 *	exit	its process ends
 *	stop	SIGSTOP for 3 s: nobody may give it up
 *	cancel	it cancels its operation
 *	close	it closes its socket
 *	netns	it is killed, and its network namespace deleted, with its last packet
 *	link	the link to its host goes down
 *	other	it takes part in another operation (another digest) from the start
 *
 * Members are processes in the namespaces PREFIXh0, PREFIXh1, ... that lib.sh sets up.  Each sends
 * a row with one blocking call of a thread (or, with mode=poll, in order of rank and without
 * waiting; with mode=want when it is asked for it), and checks what it gets.  With fewer than 10000
 * bytes the others start when it has happened, for nothing takes so long.
 *
 * Whatever its kernel can notice, the others hear at once: they end within NOTICED_MS.  Else it is
 * the idle timeout of the last progress.
 *
 * Prints one line for a person and one for the table of reliability.rst; the exit status is 0 if
 * every survivor ended as it should: in time, with the right error, and naming rank 1, the reason
 * why it has left, and nobody else.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shtest.h"

#define MEMBERS		8
#define VICTIM		1
#define RECORDS		16
#define SHORT		10000
#define SLACK_MS	1000
#define NOTICED_MS	100	/* one round trip more */
#define START_MS	500

/* What a member has seen, ms since the start of all. */
struct view {
	bool ended;
	int error;
	uint64_t end_ms;
	uint64_t last_ms;	/* the last byte */
	unsigned int whole;
	bool named[MEMBERS];
	int left[MEMBERS];	/* why it has, as a record says */
	char why[200];		/* what went wrong with the test itself */
};

static struct view *views;
static uint64_t start_ms;
static unsigned int rank;
static int sock = -1;
static volatile sig_atomic_t told;

static char prefix[32] = "shf-", what[16], mode[16] = "block";
static uint64_t bytes = 1000;
static unsigned long n = 2, idle = 20000, at = 200, op = 1, most = 300;

static uint64_t elapsed(void)
{
	return sht_now_ms() - start_ms;
}

__attribute__((noreturn))
static void broken(const char *why, int err)
{
	snprintf(views[rank].why, sizeof(views[rank].why), "rank %u: %s: %s", rank, why,
		 strerror(err));
	_exit(1);
}

static unsigned char *make_row(void)
{
	unsigned char *buf = malloc(n * bytes);
	unsigned int i;

	if (!buf)
		broken("row", ENOMEM);
	for (i = 0; i < n; i++)
		sht_fill(buf + i * bytes, bytes, sht_key(1, op, rank, i), 0);
	return buf;
}

static uint64_t digest(void)
{
	if (strcmp(what, "other"))
		return 0;
	return rank == VICTIM ? 2 : 1;
}

/* All that is left of the row; false: there is no room for now. */
static bool send_row(const unsigned char *buf, uint64_t *done, bool *announced, int flags)
{
	struct shuffle_row row = { .op_id = op, .digest = digest() };
	uint64_t lens[MEMBERS];
	unsigned int i;
	ssize_t rc;

	for (i = 0; i < n; i++)
		lens[i] = bytes;
	while (*done < n * bytes || !*announced) {
		row.first_rank = *announced ? n : 0;
		row.count = *announced ? 0 : n;
		rc = sht_send(sock, &row, lens, buf + *done, n * bytes - *done, flags);
		if (rc < 0 && errno == EINTR) {
			if (told)
				return true;
			continue;
		}
		if (rc < 0 && errno == EAGAIN)
			return false;
		if (rc < 0 && errno == EPIPE)	/* a record says so */
			return true;
		if (rc < 0)
			broken("sendmsg", errno);
		*announced = true;
		*done += rc;
		if (told)
			return true;
	}
	return true;
}

static void *sender(void *buf)
{
	bool announced = false;
	uint64_t done = 0;

	send_row(buf, &done, &announced, 0);
	return NULL;
}

static void take(const struct shuffle_record *rec, const unsigned char *data, uint64_t *have)
{
	struct view *v = &views[rank];

	switch (rec->type) {
	case SHUFFLE_RECORD_DATA:
		if (rec->rank >= n || rec->offset != have[rec->rank] ||
		    sht_check(data, rec->len, sht_key(1, op, rec->rank, rank), rec->offset) !=
		    rec->len)
			broken("wrong bytes", EBADMSG);
		have[rec->rank] += rec->len;
		if (rec->len)
			v->last_ms = elapsed();
		v->whole += !!(rec->flags & SHUFFLE_RECORD_LAST);
		break;
	case SHUFFLE_RECORD_DONE:
	case SHUFFLE_RECORD_FAILED:
		v->end_ms = elapsed();
		v->error = rec->error;
		v->ended = true;
		break;
	case SHUFFLE_RECORD_MISSING:
		v->named[rec->rank % MEMBERS] = true;
		if (rec->flags & SHUFFLE_MISSING_LEFT)
			v->left[rec->rank % MEMBERS] = rec->error;
		break;
	}
}

static void answer(const struct shuffle_record *rec, const unsigned char *buf)
{
	struct shuffle_row row = { .op_id = op, .first_rank = rec->rank };

	if (sht_send(sock, &row, NULL, buf + rec->rank * bytes + rec->offset, rec->len, 0) < 0 &&
	    errno != EPIPE)
		broken("answer", errno);
}

/* Reads until the end, and sends what the mode lets it send here. */
static void run_member(unsigned char *row, bool threaded)
{
	bool want = !strcmp(mode, "want"), poll_mode = !strcmp(mode, "poll"), announced = false;
	struct shuffle_record recs[RECORDS];
	static unsigned char buf[1 << 20];
	uint64_t have[MEMBERS] = {}, done = 0, lens[MEMBERS];
	struct shuffle_row first = { .op_id = op, .count = n, .flags = SHUFFLE_ROW_WANT,
				     .digest = digest() };
	struct pollfd pfd = { .fd = sock };
	unsigned int i, count;
	pthread_t thread;
	ssize_t rc;
	size_t pos;

	for (i = 0; i < n; i++)
		lens[i] = bytes;
	if (threaded && pthread_create(&thread, NULL, sender, row))
		broken("thread", EAGAIN);
	if (want && sht_send(sock, &first, lens, NULL, 0, 0) < 0)
		broken("announcement", errno);
	while (!views[rank].ended && !told) {
		pfd.events = POLLIN;
		if (poll_mode && !send_row(row, &done, &announced, MSG_DONTWAIT))
			pfd.events |= POLLOUT;
		if (poll(&pfd, 1, 100) <= 0 || !(pfd.revents & POLLIN))
			continue;
		count = RECORDS;
		rc = sht_recv(sock, buf, sizeof(buf), recs, &count, MSG_DONTWAIT);
		if (rc < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (rc < 0)
			broken("recvmsg", errno);
		for (i = 0, pos = 0; i < count; i++) {
			if (recs[i].type == SHUFFLE_RECORD_WANT)
				answer(&recs[i], row);
			else
				take(&recs[i], buf + pos, have);
			if (recs[i].type == SHUFFLE_RECORD_DATA)
				pos += recs[i].len;
		}
	}
	if (told && !strcmp(what, "cancel")) {
		if (sht_cancel(sock, op) && errno != ENOENT)
			broken("cancel", errno);
		sleep(1000);
	}
	if (told)
		exit(0);
	/* what is named may need another call */
	while ((count = RECORDS, sht_recv(sock, buf, sizeof(buf), recs, &count, MSG_DONTWAIT)) >= 0)
		for (i = 0; i < count; i++)
			take(&recs[i], buf, have);
	if (threaded)
		pthread_join(thread, NULL);
}

static void on_signal(int sig)
{
	(void)sig;
	told = 1;
}

/* When this member starts. */
static uint64_t begins(void)
{
	bool short_one = bytes < SHORT && strcmp(what, "other");

	return rank != VICTIM && short_one ? START_MS + at + 100 : START_MS;
}

static void member(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct sockaddr_shuffle members[MEMBERS];
	bool alone = rank == VICTIM && !strcmp(what, "close");
	bool announced = false;
	unsigned char *row;
	uint64_t done = 0;
	uint32_t ms = idle;
	char ns[64];
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGUSR1, &act, NULL);
	for (i = 0; i < n; i++)
		sht_addr(&members[i], SHT_RACK, 0, i, 7000);
	snprintf(ns, sizeof(ns), "%.31sh%u", prefix, rank);
	if (sht_enter_netns(ns))
		broken(ns, errno);
	sock = sht_open(members, n, rank, 0);
	if (sock < 0)
		broken("open", errno);
	if (setsockopt(sock, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &ms, sizeof(ms)))
		broken("idle timeout", errno);
	row = make_row();
	/* all have bound their addresses by then */
	while (elapsed() < begins())
		usleep(1000);
	if (alone) {
		/* no other thread may hold the socket: the signal has to end the call */
		send_row(row, &done, &announced, 0);
		while (!told)
			pause();
		close(sock);
		sleep(1000);
	}
	run_member(row, !strcmp(mode, "block"));
	_exit(0);
}

static void happens(pid_t pid)
{
	char cmd[200];

	if (!strcmp(what, "kill") || !strcmp(what, "netns"))
		kill(pid, SIGKILL);
	if (!strcmp(what, "cancel") || !strcmp(what, "close") || !strcmp(what, "exit"))
		kill(pid, SIGUSR1);
	if (!strcmp(what, "stop")) {
		kill(pid, SIGSTOP);
		sleep(3);
		kill(pid, SIGCONT);
	}
	if (!strcmp(what, "netns")) {
		snprintf(cmd, sizeof(cmd), "ip netns del %.31sh%u", prefix, VICTIM);
		if (system(cmd))
			fprintf(stderr, "%s failed\n", cmd);
	}
	if (!strcmp(what, "link")) {
		snprintf(cmd, sizeof(cmd), "ip -n %.31sbr link set p%u down", prefix, VICTIM);
		if (system(cmd))
			fprintf(stderr, "%s failed\n", cmd);
	}
}

/* With what the survivors have to end, and why rank 1 has left; false: nobody can notice. */
static bool noticed(int *error, int *left)
{
	static const struct {
		const char *what;
		int error, left;
	} table[] = {
		{ "kill", ECONNRESET, EPIPE }, { "exit", ECONNRESET, EPIPE },
		{ "close", ECONNRESET, EPIPE }, { "cancel", ECONNRESET, ECANCELED },
		{ "other", EPROTO, EPROTO }, { "stop", 0, 0 },
	};
	unsigned int i;

	*error = ETIMEDOUT;
	*left = 0;
	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(what, table[i].what))
			continue;
		*error = table[i].error;
		*left = table[i].left;
		return *error;
	}
	return false;
}

/* One line: what it got, and what it wanted.  Returns true if they are the same. */
static bool judge(uint64_t at_ms)
{
	bool lives = !strcmp(what, "stop"), ok = true, all = true, early;
	int error, left;
	uint64_t last = 0, end = 0;
	char names[100] = "", verdict[300] = "";
	unsigned int i, r, len = 0;

	for (i = 0; i < n; i++) {
		const struct view *v = &views[i];

		if (v->why[0]) {
			printf("# %s\n", v->why);
			ok = false;
		}
		if (i == VICTIM)
			continue;
		all &= v->ended;
		last = v->last_ms > last ? v->last_ms : last;
		end = v->end_ms > end ? v->end_ms : end;
	}
	early = noticed(&error, &left);
	if (early && !strcmp(what, "other"))
		at_ms = START_MS;
	else if (early && bytes < SHORT)
		at_ms = START_MS + at + 100;	/* the others start when it has happened */
	last = last > at_ms ? last : at_ms;
	for (i = 0; i < n; i++) {
		if (i == VICTIM)
			continue;
		if (views[i].ended && views[i].error != error) {
			snprintf(verdict, sizeof(verdict), "rank %u: got %s, want %s", i,
				 sht_errno_name(views[i].error), sht_errno_name(error));
			ok = false;
		}
		if (early && views[i].left[VICTIM] != left) {
			snprintf(verdict, sizeof(verdict), "rank %u: got %s of rank 1, want %s", i,
				 sht_errno_name(views[i].left[VICTIM]), sht_errno_name(left));
			ok = false;
		}
		for (r = 0; r < n; r++)
			if (views[i].named[r] != (!lives && r == VICTIM))
				ok = false;
	}
	for (r = 0; r < n; r++) {
		bool by = false;

		for (i = 0; i < n; i++)
			by |= i != VICTIM && views[i].named[r];
		if (by)
			len += snprintf(names + len, sizeof(names) - len, "%s%u",
					len ? ", " : "", r);
	}
	if (!names[0])
		strcpy(names, "nobody");
	if (!all) {
		snprintf(verdict, sizeof(verdict), "not all ended within %lu s", most);
		ok = false;
	} else if (early) {
		if (end > at_ms + NOTICED_MS) {
			snprintf(verdict, sizeof(verdict), "got %llu ms after it, want %d at most",
				 (unsigned long long)(end - at_ms), NOTICED_MS);
			ok = false;
		}
	} else if (end > last + (lives ? SLACK_MS : idle + SLACK_MS)) {
		snprintf(verdict, sizeof(verdict), "more than %lu ms after the last byte", idle);
		ok = false;
	} else if (!lives && end + SLACK_MS < last + idle) {
		/* the last progress may be an ACK, a little later, and never an earlier byte */
		snprintf(verdict, sizeof(verdict), "before the idle timeout of %lu ms", idle);
		ok = false;
	}
	printf("%s, %llu bytes a pair, %lu members, %s: the last survivor ended %.3f s after it and %.1f s after the last byte; named: %s (wanted: %s)%s%s\n",
	       what, (unsigned long long)bytes, n, mode, all ? ((double)end - at_ms) / 1000 : -1.0,
	       all ? ((double)end - last) / 1000 : -1.0, names, lives ? "nobody" : "1",
	       verdict[0] ? ": " : "", verdict);
	printf("ROW %-7s %10llu %8lu %7s %12.3f %12.1f  %s\n", what, (unsigned long long)bytes, n,
	       mode, all ? ((double)end - at_ms) / 1000 : -1.0,
	       all ? ((double)end - last) / 1000 : -1.0, names);
	return ok;
}

static bool option(const char *arg)
{
	return sscanf(arg, "bytes=%lu", (unsigned long *)&bytes) == 1 ||
	       sscanf(arg, "n=%lu", &n) == 1 || sscanf(arg, "idle=%lu", &idle) == 1 ||
	       sscanf(arg, "at=%lu", &at) == 1 || sscanf(arg, "op=%lu", &op) == 1 ||
	       sscanf(arg, "most=%lu", &most) == 1 || sscanf(arg, "mode=%15s", mode) == 1 ||
	       sscanf(arg, "prefix=%31s", prefix) == 1;
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = {
		"never", "kill", "exit", "stop", "cancel", "close", "netns", "link", "other" };
	unsigned int i, left;
	pid_t pid[MEMBERS] = {};
	bool known = false;
	uint64_t at_ms;
	int a;

	for (i = 0; argc > 1 && i < sizeof(kinds) / sizeof(*kinds); i++)
		known |= !strcmp(argv[1], kinds[i]);
	for (a = 2; known && a < argc; a++)
		known = option(argv[a]);
	if (!known || n < 2 || n > MEMBERS || !bytes) {
		fprintf(stderr, "usage: death never|kill|exit|stop|cancel|close|netns|link|other [bytes= n= idle= at= op= most= mode=block|poll|want prefix=]\n");
		return 2;
	}
	strcpy(what, argv[1]);
	views = mmap(NULL, sizeof(*views) * MEMBERS, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (views == MAP_FAILED)
		return 2;
	start_ms = sht_now_ms();
	for (rank = 0; rank < n; rank++) {
		if (rank == VICTIM && !strcmp(what, "never"))
			continue;
		pid[rank] = fork();
		if (pid[rank] < 0)
			return 2;
		if (!pid[rank])
			member();
	}
	while (elapsed() < START_MS + at)
		usleep(1000);
	at_ms = elapsed();
	happens(pid[VICTIM]);
	do {
		usleep(10000);
		for (left = 0, i = 0; i < n; i++)
			if (i != VICTIM && pid[i] && !waitpid(pid[i], NULL, WNOHANG))
				left++;
			else if (i != VICTIM)
				pid[i] = 0;
	} while (left && elapsed() < most * 1000);
	for (i = 0; i < n; i++)
		if (pid[i])
			kill(pid[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return !judge(at_ms);
}
