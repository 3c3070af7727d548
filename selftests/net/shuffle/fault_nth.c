// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocations that fail, and copies from and to user space.
 *
 * usage: fault_nth calls [SECONDS]
 *	Each system call with its first fault, its second ... until it has no
 *	more (/proc/PID/fail-nth): it works or returns one of a few errors, what
 *	it was about is as it was or as it should be, and the same call without a
 *	fault works.  A pair of sockets shuffles after each series.  SECONDS
 *	(default 2) bound each series.
 *        fault_nth packets|copies|all SECONDS
 *	Shuffles whose every byte is checked, while faults come at random: in
 *	allocations that may not sleep (packets, timers); in this process's
 *	copies; in both.  Operations end, and those that are DONE are right.
 *
 *        fault_nth dry
 *	The calls of the first mode without any fault, on every kernel.
 *
 * Needs FAULT_INJECTION, its debugfs files, and root.  TAP.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>

#include "faults.h"
#include "nl.h"
#include "coll_ask.h"

/* ---- each call, and its faults ---- */

struct call {
	const char	*name;
	bool		(*prepare)(void);
	long		(*run)(void);
	bool		(*after)(long rc, int err);	/* true: as it should be */
	uint8_t		cmd;				/* netlink */
	uint16_t	flags;
};

static const struct call *now;
static int home_ns;
static uint64_t series_ms = 2000;
static int tmp_fd = -1;
static struct sockaddr_shuffle tmp_addr;
static struct {
	struct shuffle_group	g;
	struct sockaddr_shuffle	m[8];
} group;

static bool usual(int err)
{
	return err == ENOMEM || err == ENOBUFS || err == EFAULT || err == ENFILE ||
	       err == EAGAIN || err == ENOSPC || wrong(now->name, -1);
}

static bool nothing(void)
{
	return true;
}

static long run_socket(void)
{
	return new_socket(0);
}

static bool after_socket(long rc, int err)
{
	return rc < 0 ? usual(err) : !close(rc);
}

static bool one_socket(void)
{
	tmp_fd = new_socket(0);
	my_addr(&tmp_addr);
	return tmp_fd >= 0;
}

static long run_bind(void)
{
	return bind_to(tmp_fd, &tmp_addr);
}

/* What has failed works now. */
static bool after_bind(long rc, int err)
{
	bool ok = rc == 0 || usual(err);

	if (rc && bind_to(tmp_fd, &tmp_addr))
		ok = wrong("bind again", -1);
	close(tmp_fd);
	return ok;
}

static bool new_ns(void)
{
	return !sht_new_netns() && one_socket();
}

static bool back_home(bool ok)
{
	return setns(home_ns, CLONE_NEWNET) ? wrong("setns", -1) : ok;
}

static bool after_first_bind(long rc, int err)
{
	return back_home(after_bind(rc, err));
}

static bool bound_socket(void)
{
	unsigned int i;

	if (!one_socket() || bind_to(tmp_fd, &tmp_addr))
		return false;
	group.g.size = sizeof(group.g);
	group.g.member_size = sizeof(group.m[0]);
	group.g.rank = 3;
	group.g.count = 8;
	for (i = 0; i < 8; i++)
		my_addr(&group.m[i]);
	group.m[3] = tmp_addr;
	return true;
}

static long run_group(void)
{
	return setsockopt(tmp_fd, SOL_SHUFFLE, SHUFFLE_GROUP, &group, sizeof(group));
}

static bool after_group(long rc, int err)
{
	bool ok = rc == 0 || usual(err);

	if (rc && run_group())
		ok = wrong("SHUFFLE_GROUP again", -1);
	close(tmp_fd);
	return ok;
}

static bool in_group(void)
{
	return bound_socket() && !run_group();
}

static long run_getsockopt(void)
{
	socklen_t len = sizeof(group);

	return getsockopt(tmp_fd, SOL_SHUFFLE, SHUFFLE_GROUP, &group, &len);
}

static bool after_tmp(long rc, int err)
{
	bool ok = rc == 0 || usual(err);

	close(tmp_fd);
	return ok;
}

/* With an operation that nobody else knows. */
static bool with_operation(void)
{
	struct shuffle_row row = { .op_id = next_op++, .count = 8 };
	static const uint64_t lens[8] = { 3000, 0, 0, 500 };

	return in_group() && sht_send(tmp_fd, &row, lens, in_buf, 3500, MSG_DONTWAIT) == 3500;
}

static long run_close(void)
{
	return close(tmp_fd);
}

static bool after_close(long rc, int err)
{
	return rc == 0 || usual(err);
}

static bool small_op(void)
{
	op_begin(small_lens);
	return true;
}

static bool large_op(void)
{
	op_begin(large_lens);
	return true;
}

static long run_send(void)
{
	return side_send(&side[0], MSG_DONTWAIT);
}

static long run_send_wait(void)
{
	return side_send(&side[0], 0);
}

static bool after_send(long rc, int err)
{
	return side_sent(&side[0], rc, err) && op_end(true);
}

/* What is not DONE was cancelled by the call itself. */
static bool sent_op(void)
{
	struct pollfd pfd = { .fd = side[1].fd, .events = POLLIN };
	ssize_t rc;

	op_begin(large_lens);
	rc = side_send(&side[1], MSG_DONTWAIT);
	if (!side_sent(&side[1], rc, errno))
		return false;
	rc = side_send(&side[0], MSG_DONTWAIT);
	return side_sent(&side[0], rc, errno) && poll(&pfd, 1, HANG_MS) == 1;
}

static long run_recv(void)
{
	return side_recv(&side[1]);
}

static bool after_recv(long rc, int err)
{
	return side_take(&side[1], rc, err) && op_end(side[1].lost);
}

static long run_poll(void)
{
	struct pollfd pfd[64];
	unsigned int i;

	for (i = 0; i < 64; i++)
		pfd[i] = (struct pollfd){ .fd = side[i & 1].fd, .events = POLLIN };
	return poll(pfd, 64, 0);
}

static long run_cancel(void)
{
	return sht_cancel(side[0].fd, side[0].op);
}

static bool begun_op(void)
{
	ssize_t rc;

	op_begin(small_lens);
	rc = side_send(&side[0], MSG_DONTWAIT);
	return side_sent(&side[0], rc, errno) && rc == (ssize_t)side[0].total;
}

static bool after_cancel(long rc, int err)
{
	return (rc == 0 || usual(err)) && op_end(rc == 0);
}

/* ---- a collective ---- */

#define COLL_BYTES	64

static struct coll_ask coll;
static struct coll_table coll_part[2];

static bool new_coll(void)
{
	coll = (struct coll_ask){
		.op_id = next_op++, .len = COLL_BYTES,
		.kind = SHUFFLE_COLL_ALLREDUCE, .pattern = SHUFFLE_COLL_DOUBLING,
		.oper = SHUFFLE_COLL_XOR, .type = SHUFFLE_COLL_U64,
	};
	/* not in the call whose allocations fail */
	return !coll_ask_table(&coll_part[0], &coll, 0, 2) &&
	       !coll_ask_table(&coll_part[1], &coll, 1, 2);
}

static long start_coll(unsigned int member)
{
	return coll_table_send(side[member].fd, &coll_part[member], in_buf, COLL_BYTES,
			       MSG_DONTWAIT | MSG_NOSIGNAL);
}

static long run_coll(void)
{
	return start_coll(0);
}

/* If it has failed, another one works. */
static bool after_coll(long rc, int err)
{
	bool ok = rc == COLL_BYTES || (rc < 0 && usual(err));

	if (rc < 0 && new_coll() && start_coll(0) != COLL_BYTES)
		return wrong("another collective", -1);
	if (start_coll(1) != COLL_BYTES)
		return wrong("the other member", -1);
	return ok && !read_end(side[0].fd, coll.op_id) && !read_end(side[1].fd, coll.op_id);
}

static long run_unshare(void)
{
	return unshare(CLONE_NEWNET);
}

static bool after_unshare(long rc, int err)
{
	/* ENODEV and EINVAL are the kernel's own, where every allocation may fail: sysctls, the
	 * loopback's addresses
	 */
	return back_home(rc == 0 || usual(err) || err == ENODEV || err == EINVAL);
}

static long run_proc(void)
{
	int fd = open("/proc/net/shuffle/netstat", O_RDONLY | O_CLOEXEC);
	long rc;

	if (fd < 0)
		return fd;
	rc = read(fd, in_buf, 4096);
	close(fd);
	return rc;
}

static bool after_read(long rc, int err)
{
	return rc > 0 || usual(err);
}

/* ---- netlink ---- */

static struct nl_req req;

static bool nl_prepare(void)
{
	if (!begun_op())
		return false;
	tmp_fd = nl_open();
	nl_begin(&req, now->cmd, now->flags);
	switch (now->cmd) {
	case SHUFFLE_CMD_CONFIG_SET:
		nl_u32(&req, SHUFFLE_A_CONFIG_OVERCOMMIT, 4);
		break;
	case SHUFFLE_CMD_OP_GET:
	case SHUFFLE_CMD_OP_CANCEL:
		if (!now->flags)
			nl_u64(&req, SHUFFLE_A_OP_OP_ID, side[0].op);
		break;
	case SHUFFLE_CMD_MSG_GET:
		nl_u64(&req, SHUFFLE_A_MSG_OP_ID, side[0].op);
		break;
	}
	((struct nlmsghdr *)req.buf)->nlmsg_len = req.len;
	return true;
}

/* The request, and what is answered at once. */
static long nl_run(void)
{
	long rc = send(tmp_fd, req.buf, req.len, 0);
	int i;

	for (i = 0; rc >= 0 && i < 4; i++)
		rc = recv(tmp_fd, in_buf, 16384, MSG_DONTWAIT);
	return rc;
}

/* The operation is there as before, if nobody has cancelled it. */
static bool nl_after(long rc, int err)
{
	close(tmp_fd);
	return (rc >= 0 || usual(err)) && op_end(now->cmd == SHUFFLE_CMD_OP_CANCEL);
}

#define NL(NAME, CMD, FLAGS) \
	{ NAME, nl_prepare, nl_run, nl_after, SHUFFLE_CMD_##CMD, FLAGS }

static const struct call calls[] = {
	{ "socket", nothing, run_socket, after_socket, 0, 0 },
	{ "bind", one_socket, run_bind, after_bind, 0, 0 },
	{ "bind, the first of a namespace", new_ns, run_bind, after_first_bind, 0, 0 },
	{ "setsockopt SHUFFLE_GROUP", bound_socket, run_group, after_group, 0, 0 },
	{ "getsockopt SHUFFLE_GROUP", in_group, run_getsockopt, after_tmp, 0, 0 },
	{ "sendmsg, small row", small_op, run_send, after_send, 0, 0 },
	{ "sendmsg, large row", large_op, run_send, after_send, 0, 0 },
	{ "sendmsg, large row, waiting", large_op, run_send_wait, after_send, 0, 0 },
	{ "recvmsg", sent_op, run_recv, after_recv, 0, 0 },
	{ "sendmsg, a collective", new_coll, run_coll, after_coll, 0, 0 },
	{ "poll", nothing, run_poll, after_close, 0, 0 },
	{ "setsockopt SHUFFLE_CANCEL", begun_op, run_cancel, after_cancel, 0, 0 },
	{ "close", in_group, run_close, after_close, 0, 0 },
	{ "close with an operation", with_operation, run_close, after_close, 0, 0 },
	{ "a new namespace", nothing, run_unshare, after_unshare, 0, 0 },
	{ "/proc/net/shuffle/netstat", nothing, run_proc, after_read, 0, 0 },
	NL("config-set", CONFIG_SET, 0),
	NL("config-get", CONFIG_GET, 0),
	NL("dump config-get", CONFIG_GET, NLM_F_DUMP),
	NL("op-get", OP_GET, 0),
	NL("dump op-get", OP_GET, NLM_F_DUMP),
	NL("dump msg-get", MSG_GET, NLM_F_DUMP),
	NL("dump peer-get", PEER_GET, NLM_F_DUMP),
	NL("dump socket-get", SOCKET_GET, NLM_F_DUMP),
	NL("dump stats-get", STATS_GET, NLM_F_DUMP),
	NL("op-cancel", OP_CANCEL, 0),
};

/* One attempt; returns how many faults were left of @n, 0 if it came. */
static unsigned int attempt(unsigned int n, bool *ok, bool *failed)
{
	unsigned int left;
	long rc;
	int err;

	errno = 0;
	if (!now->prepare()) {
		*ok = wrong("cannot prepare", n);
		return 1;
	}
	arm(n);
	errno = 0;
	rc = now->run();
	err = errno;
	left = disarm();
	errno = err;
	*failed = rc < 0 && err != EAGAIN;
	if (*failed && left)
		*ok = wrong("an error without a fault", rc);
	errno = err;
	if (!now->after(rc, err))
		*ok = wrong(now->name, rc);
	return left;
}

static void series(const struct call *c)
{
	const unsigned int far = 1000000;
	uint64_t until = now_ms() + series_ms;
	unsigned int n, step, all, faults = 0, errors = 0;
	bool ok = true, failed;
	char detail[400];

	now = c;
	why[0] = 0;
	all = dry ? 1 : far;
	all -= attempt(all, &ok, &failed);
	/* how long it takes decides how many can be tried of very many */
	step = all > 300 ? all / 60 + 1 : 1;
	for (n = step > 1 ? 1 + now_ms() % step : 1; ok && now_ms() < until; n += step) {
		unsigned int left = attempt(n, &ok, &failed);

		if (left)
			break;
		faults++;
		errors += failed;
	}
	if (!shuffle(small_lens, false) || !shuffle(large_lens, false))
		ok = false;
	snprintf(detail, sizeof(detail), "%u places, %u faults, %u errors%s%s%s", all, faults,
		 errors, step > 1 || n <= all ? ", not all" : "", why[0] ? ": " : "", why);
	result(ok, c->name, detail);
}

static void open_members(uint32_t n)
{
	int size = 4 << 20;
	uint32_t i;

	members = n;
	for (i = 0; i < n; i++)
		my_addr(&member[i]);
	for (i = 0; i < n; i++) {
		side[i].fd = sht_open(member, n, i, 0);
		side[i].row = malloc(ROW_MAX);
		if (side[i].fd < 0 || !side[i].row) {
			printf("Bail out! no sockets: %s\n", strerror(errno));
			exit(1);
		}
		memset(side[i].row, 1, ROW_MAX);
		setsockopt(side[i].fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size));
	}
	memset(in_buf, 1, sizeof(in_buf));
}

/* A row is more than one packet. */
static void loopback_mtu(int mtu)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ifr.ifr_mtu = mtu;
	if (ioctl(fd, SIOCSIFMTU, &ifr))
		perror("# SIOCSIFMTU");
	close(fd);
}

static void all_calls(void)
{
	unsigned int i;

	open_members(2);
	close(nl_open());	/* asks for the family's number once */
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	quiet("N");
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		series(&calls[i]);
	quiet("Y");
}

/* ---- at random ---- */

static void at_random(const char *mode, unsigned int seconds)
{
	bool packets = strcmp(mode, "copies"), copies = strcmp(mode, "packets");
	unsigned int ops = 0, failed = 0, i, j;
	uint64_t lens[MEMBERS * MEMBERS];
	bool ok = true;
	char detail[300];
	uint64_t until;

	open_members(MEMBERS);
	deadline_ms = 20000;
	quiet("Y");
	if (packets) {
		knob("failslab", "times", "200000");
		knob("failslab", "probability", "7");
		knob("fail_page_alloc", "times", "200000");
		knob("fail_page_alloc", "probability", "7");
	}
	if (copies) {
		knob("fail_usercopy", "task-filter", "Y");
		knob("fail_usercopy", "probability", "3");
		put("/proc/self/make-it-fail", "1");
	}
	for (until = now_ms() + seconds * 1000; ok && now_ms() < until; ops++) {
		for (i = 0; i < MEMBERS * MEMBERS; i++) {
			j = sht_mix(next_op * 16 + i) % 7;
			lens[i] = j ? sht_mix(next_op * 32 + i) % (10u << (2 * j)) : 0;
		}
		ok = shuffle(lens, true);
		for (i = 0; i < MEMBERS && !side[i].error; i++)
			;
		failed += i < MEMBERS;
	}
	no_faults();
	quiet("Y");
	for (i = 0; ok && i < 5; i++)
		ok = shuffle(lens, false);
	snprintf(detail, sizeof(detail), "%u operations, %u of them failed%s%s", ops, failed,
		 why[0] ? ": " : "", why);
	result(ok && ops > failed, mode, detail);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	unsigned int seconds = argc > 2 ? atoi(argv[2]) : 2;

	dry = !strcmp(mode, "dry");
	if (!dry && (access("/proc/self/fail-nth", W_OK) || access(KNOBS "failslab", F_OK))) {
		printf("1..0 # SKIP this kernel has no fault injection\n");
		return 4;
	}
	api_start(1, argv);
	alarm(280);
	home_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	loopback_mtu(1500);
	if (dry || !strcmp(mode, "calls")) {
		series_ms = seconds * 1000;
		all_calls();
	} else if (!strcmp(mode, "packets") || !strcmp(mode, "copies") || !strcmp(mode, "all")) {
		at_random(mode, seconds);
	} else {
		fprintf(stderr, "usage: fault_nth calls|packets|copies|all|dry [SECONDS]\n");
		return 2;
	}
	return api_finish();
}
