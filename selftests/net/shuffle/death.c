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
 *	netns	its host is gone: its link down, killed, and its network namespace deleted
 *	reboot	the same, and a second later there is a host with the same address, and a
 *		socket with the same members, which has not begun anything
 *	bare	the same, and its socket has another port and other members
 *	link	the link to its host goes down
 *	other	it takes part in another operation (another digest) from the start
 *
 * What is going on (kind=):
 *
 *	shuffle	each sends to each
 *	same	each sends to all others at once (SHUFFLE_ROW_SAME)
 *
 * Members are processes in the namespaces PREFIXh0, PREFIXh1, ... that lib.sh sets up.  Each sends
 * a row with one blocking call of a thread (or, with mode=poll, in order of rank and without
 * waiting; with mode=want when it is asked for it), and checks what it gets.  With fewer than 10000
 * bytes the others start when it has happened, for nothing takes so long.
 *
 * Whatever its kernel can notice, the others hear at once: they end within NOTICED_MS.  That of a
 * host that was started again can when it gets the first packet.  Else it is the idle timeout of
 * the last progress.
 *
 * Prints one line for a person and one for the table of reliability.rst; the exit status is 0 if
 * every survivor ended as it should: in time, with the right error, and naming rank 1, the reason
 * why it has left, and nobody else.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
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
#define PORT		7000
#define RECORDS		16
#define SHORT		10000
#define SLACK_MS	1000
#define NOTICED_MS	100
#define START_MS	500
#define DOWN_MS		1000

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

/* What all processes see. */
static struct seen {
	struct view view[MEMBERS];
	uint64_t first_ms[MEMBERS];	/* the first packet to the host that was started again */
	char why[200];		/* what went wrong there */
} *seen;

static struct view *views;
static uint64_t start_ms;
static unsigned int rank;
static int sock = -1;
static volatile sig_atomic_t told;
static pid_t again;	/* at the host that was started again */

static char prefix[32] = "shf-", what[16], mode[16] = "block", kind[16] = "shuffle";
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

static bool is(const char *name)
{
	return !strcmp(what, name);
}

static bool kind_is(const char *name)
{
	return !strcmp(kind, name);
}

static bool sends_to(unsigned int from, unsigned int to)
{
	return from != to || kind_is("shuffle");
}

/* Of the row's data, as the program brings it. */
static uint64_t row_bytes(void)
{
	return kind_is("shuffle") ? n * bytes : bytes;
}

/* What the bytes of a message are made from. */
static uint64_t key_of(unsigned int src, unsigned int dst)
{
	return sht_key(1, op, src, kind_is("shuffle") ? dst : 0);
}

static unsigned char *make_row(void)
{
	unsigned char *buf = malloc(n * bytes);
	unsigned int i;

	if (!buf)
		broken("row", ENOMEM);
	for (i = 0; i < n; i++)
		sht_fill(buf + i * bytes, bytes, key_of(rank, i), 0);
	return buf;
}

/* Are these the bytes of the message from @src? */
static bool right(const unsigned char *data, uint64_t len, unsigned int src, uint64_t off)
{
	return sht_check(data, len, key_of(src, rank), off) == len;
}

static uint64_t digest(void)
{
	if (!is("other"))
		return 0;
	return rank == VICTIM ? 2 : 1;
}

/* Begins the operation, with as much of its data as there is room for. */
static ssize_t announce(const void *data, size_t len, int flags)
{
	struct {
		struct shuffle_row row;
		uint64_t lens[MEMBERS];
	} row = { { .size = sizeof(row.row), .op_id = op, .count = n, .digest = digest() }, { 0 } };
	struct {
		struct shuffle_absent head;
		uint64_t bits;
	} absent = { { .size = sizeof(absent.head), .words = 1 }, 0 };
	struct iovec iov = { (void *)data, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union {
		struct cmsghdr align;
		char buf[1024];
	} control = { 0 };
	unsigned int i;

	for (i = 0; i < n; i++) {
		row.lens[i] = sends_to(rank, i) ? bytes : SHUFFLE_ABSENT;
		absent.bits |= (uint64_t)!sends_to(i, rank) << i;
	}
	if (kind_is("same"))
		row.row.flags = SHUFFLE_ROW_SAME;
	msg.msg_control = control.buf;
	sht_add_cmsg(&msg, SHUFFLE_CMSG_ROW, &row, sizeof(row.row) + n * sizeof(row.lens[0]));
	if (absent.bits)
		sht_add_cmsg(&msg, SHUFFLE_CMSG_ABSENT, &absent, sizeof(absent));
	return sendmsg(sock, &msg, MSG_NOSIGNAL | flags);
}

/* All that is left of the row; false: there is no room for now. */
static bool send_row(const unsigned char *buf, uint64_t *done, bool *announced, int flags)
{
	struct shuffle_row row = { .op_id = op, .first_rank = n };
	uint64_t all = row_bytes();
	ssize_t rc;

	while (*done < all || !*announced) {
		if (*announced)
			rc = sht_send(sock, &row, NULL, buf + *done, all - *done, flags);
		else
			rc = announce(buf, all, flags);
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
		    !right(data, rec->len, rec->rank, rec->offset))
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
	if (told && is("cancel")) {
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
	bool short_one = bytes < SHORT && !is("other");

	return rank != VICTIM && short_one ? START_MS + at + 100 : START_MS;
}

/* A socket at our address, with a group of @count members from @first on. */
static void open_sock(unsigned int first, unsigned int count, uint16_t port)
{
	struct shuffle_multicast all = { .size = sizeof(all), .ip_family = AF_INET,
					 .addr = { 239, 77, 0, 1 } };
	struct sockaddr_shuffle members[MEMBERS];
	char ns[64];
	unsigned int i;

	for (i = 0; i < count; i++)
		sht_addr(&members[i], SHT_RACK, 0, first + i, port);
	snprintf(ns, sizeof(ns), "%.31sh%u", prefix, rank);
	if (sht_enter_netns(ns))
		broken(ns, errno);
	sock = socket(sht_family(), SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0 || bind(sock, (struct sockaddr *)&members[rank - first], sizeof(*members)))
		broken("socket", errno);
	if (kind_is("same") && setsockopt(sock, SOL_SHUFFLE, SHUFFLE_MULTICAST, &all, sizeof(all)))
		broken("multicast", errno);
	if (sht_set_group(sock, members, count, rank - first))
		broken("group", errno);
}

static void member(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	bool alone = rank == VICTIM && is("close");
	bool announced = false;
	unsigned char *row;
	uint64_t done = 0;
	uint32_t ms = idle;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGUSR1, &act, NULL);
	open_sock(0, n, PORT);
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

static bool command(const char *format, ...)
{
	char cmd[1000];
	va_list args;

	va_start(args, format);
	vsnprintf(cmd, sizeof(cmd), format, args);
	va_end(args);
	if (!system(cmd))
		return true;
	snprintf(seen->why, sizeof(seen->why), "%.180s: failed", cmd);
	return false;
}

static bool reboots(void)
{
	return is("reboot") || is("bare");
}

/* When the first packet of each member comes to the host, which is a new one. */
static void reborn(int ready)
{
	unsigned char packet[64];
	uint64_t *first;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rank = VICTIM;
	if (is("bare"))
		open_sock(VICTIM, 1, PORT + 1);
	else
		open_sock(0, n, PORT);
	fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP));
	if (fd < 0)
		broken("AF_PACKET", errno);
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;) {
		/* a header without options; the address is 10.77.0.rank+1 */
		if (recv(fd, packet, sizeof(packet), 0) < 20 || packet[9] != IPPROTO_UDP)
			continue;
		first = &seen->first_ms[(packet[15] - 1) % MEMBERS];
		if (!*first)
			*first = elapsed();
	}
}

/* The host of rank 1 once more: names, addresses and links as lib.sh makes them. */
static void start_again(const char *mac)
{
	char byte;
	int ready[2];

	/* until the old link is gone */
	while (!system("ip -n $ns_br link show dev p1 >/dev/null 2>&1"))
		usleep(10000);
	usleep(DOWN_MS * 1000);
	command("ip netns add $ns_host && "
		"ip -n $ns_br link add p1 type veth peer name eth0 netns $ns_host index 99 address %s && "
		"{ [ ! -e /proc/sys/net/ipv6 ] || ip -n $ns_br link set p1 addrgenmode none; } && "
		"ip -n $ns_br link set p1 master br0 && "
		"ip -n $ns_host link set lo up && ip -n $ns_host addr add 10.77.0.2/16 dev eth0 && "
		"for at in \"$ns_host eth0\" \"$ns_br p1\"; do set -- $at; "
		"tc -n $1 qdisc replace dev $2 root tbf rate 20mbit burst 9100 limit 2000000 || exit 1; done",
		mac);
	if (pipe(ready))
		return;
	again = fork();
	if (!again)
		reborn(ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) == 1)
		command("ip -n $ns_host link set eth0 up && ip -n $ns_br link set p1 up");
	close(ready[0]);
}

static void mac_of_victim(char *mac, int size)
{
	FILE *f = popen("ip netns exec $ns_host cat /sys/class/net/eth0/address", "r");

	if (!f || !fgets(mac, size, f))
		snprintf(seen->why, sizeof(seen->why), "no address of eth0");
	mac[strcspn(mac, "\n")] = 0;
	if (f)
		pclose(f);
}

static void happens(pid_t pid)
{
	bool gone = is("netns") || reboots();
	char mac[32] = "";

	if (reboots())
		mac_of_victim(mac, sizeof(mac));
	/* the last words of its kernel are lost with it */
	if (gone)
		command("ip -n $ns_br link set p1 down");
	if (is("kill") || gone)
		kill(pid, SIGKILL);
	if (is("cancel") || is("close") || is("exit"))
		kill(pid, SIGUSR1);
	if (is("stop")) {
		kill(pid, SIGSTOP);
		sleep(3);
		kill(pid, SIGCONT);
	}
	if (gone)
		command("ip netns del $ns_host");
	if (reboots())
		start_again(mac);
	if (is("link"))
		command("ip -n $ns_br link set p1 down");
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
		{ "reboot", ECONNRESET, ENOENT }, { "bare", ECONNRESET, ENOENT },
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

/* When the new host could notice, ms. */
static uint64_t first_asked(void)
{
	uint64_t at = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		uint64_t ms = seen->first_ms[i];

		if (i != VICTIM && ms && (!at || ms < at))
			at = ms;
	}
	return at;
}

/* One line: what it got, and what it wanted.  Returns true if they are the same. */
static bool judge(uint64_t at_ms)
{
	bool lives = is("stop"), ok = true, all = true, early;
	uint64_t last = 0, end = 0, limit = NOTICED_MS;
	int error, left;
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
	if (seen->why[0]) {
		printf("# %s\n", seen->why);
		ok = false;
	}
	early = noticed(&error, &left);
	if (early && is("other"))
		at_ms = START_MS;
	else if (early && reboots())
		at_ms = first_asked();
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
		/* only its ACK is missing: the first probe tells, after some time limits */
		if (reboots() && bytes < SHORT)
			limit = 2000;
		if (end > at_ms + limit) {
			snprintf(verdict, sizeof(verdict), "got %llu ms after it, want %llu at most",
				 (unsigned long long)(end - at_ms), (unsigned long long)limit);
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
	for (i = 0; i < n && !ok; i++) {
		if (i == VICTIM)
			continue;
		printf("# rank %u ended %lld ms after it with %s, %lld ms after its last byte, and names:",
		       i, (long long)(views[i].end_ms - at_ms), sht_errno_name(views[i].error),
		       (long long)(views[i].end_ms - views[i].last_ms));
		for (r = 0; r < n; r++)
			if (views[i].named[r])
				printf(" %u (left: %s)", r, sht_errno_name(views[i].left[r]));
		printf("\n");
	}
	printf("%s, %s, %llu bytes a pair, %lu members, %s: the last survivor ended %.3f s after it and %.1f s after the last byte; named: %s (wanted: %s)%s%s\n",
	       what, kind, (unsigned long long)bytes, n, mode,
	       all ? ((double)end - at_ms) / 1000 : -1.0,
	       all ? ((double)end - last) / 1000 : -1.0, names, lives ? "nobody" : "1",
	       verdict[0] ? ": " : "", verdict);
	printf("ROW %-7s %-7s %10llu %8lu %7s %12.3f %12.1f  %s\n", what, kind,
	       (unsigned long long)bytes, n,
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
	       sscanf(arg, "kind=%15s", kind) == 1 ||
	       sscanf(arg, "prefix=%31s", prefix) == 1;
}

/* For the commands of a shell. */
static void name_hosts(void)
{
	char ns[64];

	snprintf(ns, sizeof(ns), "%.31sbr", prefix);
	setenv("ns_br", ns, 1);
	snprintf(ns, sizeof(ns), "%.31sh%u", prefix, VICTIM);
	setenv("ns_host", ns, 1);
}

int main(int argc, char **argv)
{
	static const char *const events[] = {
		"never", "kill", "exit", "stop", "cancel", "close", "netns", "reboot", "bare", "link",
		"other" };
	unsigned int i, left;
	pid_t pid[MEMBERS] = {};
	bool known = false;
	uint64_t at_ms;
	int a;

	for (i = 0; argc > 1 && i < sizeof(events) / sizeof(*events); i++)
		known |= !strcmp(argv[1], events[i]);
	for (a = 2; known && a < argc; a++)
		known = option(argv[a]);
	if (!known || n < 2 || n > MEMBERS || !bytes) {
		fprintf(stderr, "usage: death never|kill|exit|stop|cancel|close|netns|reboot|bare|link|other [kind=shuffle|same bytes= n= idle= at= op= most= mode=block|poll|want prefix=]\n");
		return 2;
	}
	strcpy(what, argv[1]);
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		return 2;
	views = seen->view;
	name_hosts();
	start_ms = sht_now_ms();
	for (rank = 0; rank < n; rank++) {
		if (rank == VICTIM && is("never"))
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
	if (again > 0)
		kill(again, SIGKILL);
	while (wait(NULL) > 0)
		;
	return !judge(at_ms);
}
