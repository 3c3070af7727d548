// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Disturbers: each chooses actions by the weights of the mix, with dice of its own.  An action
 * notes what may follow from it before it does it: an operation that fails needs a reason.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <unistd.h>

#include "hosts.h"
#include "torture.h"

struct now {
	struct call *c;
	struct dice *d;
	unsigned int rank, op;
	int fd;
};

static void meddle(const struct now *n)
{
	slot->member[n->rank].meddled = 1;
	slot->disturbed = 1;
}

/* An operation of this member that runs, from n->op on. */
static bool running_op(struct now *n)
{
	unsigned int i, op;

	for (i = 0; i < slot->plan.ops; i++) {
		op = (n->op + i) % slot->plan.ops;
		if (slot->part[op][n->rank].started && !slot->part[op][n->rank].ended) {
			n->op = op;
			return true;
		}
	}
	return false;
}

static void do_cancel(struct now *n)
{
	if (!running_op(n))
		return;
	meddle(n);
	sht_cancel(n->fd, slot->plan.op[n->op].id);
}

static void do_cancel_nl(struct now *n)
{
	int fd = running_op(n) ? netlink_open() : -1;

	if (fd < 0)
		return;
	meddle(n);
	netlink_cancel(fd, slot->plan.op[n->op].id);
	close(fd);
}

/* The number of the descriptor stays taken, or another thread would use somebody else's file. */
static void do_close(struct now *n)
{
	int dead = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (dead < 0)
		return;
	meddle(n);
	slot->member[n->rank].gone = 1;
	dup3(dead, n->fd, O_CLOEXEC);
	close(dead);
}

static void do_dup(struct now *n)
{
	struct pollfd pfd = { .fd = dup(n->fd), .events = POLLIN | POLLOUT };

	nap_us(roll(n->d, 2000));
	poll(&pfd, 1, 0);
	close(pfd.fd);
}

static int send_fd(int through, int fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { "x", 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf,
			      .msg_controllen = sizeof(control.buf) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	return sendmsg(through, &msg, 0) == 1 ? 0 : -1;
}

static int recv_fd(int through)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char x;
	struct iovec iov = { &x, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf,
			      .msg_controllen = sizeof(control.buf) };
	int fd = -1;

	if (recvmsg(through, &msg, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

/* The same socket in place of itself, by another way. */
static void do_pass(struct now *n)
{
	int pair[2], fd;

	if (slot->member[n->rank].gone || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
		return;
	if (!send_fd(pair[0], n->fd)) {
		nap_us(roll(n->d, 500));
		fd = recv_fd(pair[1]);
		/* not over what another disturber has closed meanwhile, if that can be seen */
		if (fd >= 0 && !slot->member[n->rank].gone && mix->weight[ACT_close] == 0)
			dup3(fd, n->fd, O_CLOEXEC);
		if (fd >= 0)
			close(fd);
	}
	close(pair[0]);
	close(pair[1]);
}

/* On its way to nobody for some time. */
static void do_hide(struct now *n)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
		return;
	send_fd(pair[0], n->fd);
	if (roll(n->d, 3) == 0 && mix->weight[ACT_close])
		do_close(n);
	nap_us(roll(n->d, 5000));
	close(pair[0]);
	close(pair[1]);
}

static void do_kill(struct now *n)
{
	int pid = slot->member[n->rank].pid;

	if (!pid)
		return;
	meddle(n);
	slot->member[n->rank].gone = 1;
	kill(pid, SIGKILL);
}

static void do_stop(struct now *n)
{
	int pid = slot->member[n->rank].pid;

	if (!pid)
		return;
	meddle(n);
	kill(pid, SIGSTOP);
	nap_us(roll(n->d, 300000));
	kill(pid, SIGCONT);
}

/* A caught signal ends a call that waits.  It may come before the call has begun to wait: again,
 * until that call is over.
 */
static void do_signal(struct now *n)
{
	unsigned int i, at, calls = slot->calls < MAX_CALLS ? slot->calls : MAX_CALLS;
	uint64_t seq, start = sht_now_ms(), waited = 0, last = start, now;
	struct call *c = NULL;

	at = roll(n->d, MAX_CALLS);
	for (i = 0; i < calls; i++) {
		c = &slot->call[(at + i) % calls];
		if (c != n->c && c->action >= ACT_send && c->action <= ACT_receive)
			break;
	}
	if (i == calls)
		return;
	seq = c->seq;
	/* of a row that is broken off its member's operation fails */
	if (c->rank < MAX_MEMBERS)
		slot->member[c->rank].meddled = 1;
	slot->disturbed = 1;
	while (c->seq == seq && !slot->over && !shared->failed) {
		/* of a process that was killed: the call has ended, and nobody wrote that down */
		if (syscall(SYS_tgkill, c->pid, c->tid, SIGUSR1) && errno == ESRCH)
			return;
		nap_us(waited < 20 ? 1000 : 50000);
		now = sht_now_ms();
		/* only time in which this thread itself could run */
		waited += now - last < 1000 ? now - last : 0;
		last = now;
		if (waited > tmo_ms(2)) {
			wrong("a caught signal does not end %s of member %u, operation %d, in %llu ms",
			      action_name[c->action], c->rank, (int)c->op,
			      (unsigned long long)(now - start));
			return;
		}
	}
}

static void do_options(struct now *n)
{
	static const struct {
		int level, name;
	} some[] = {
		{ SOL_SOCKET, SO_PRIORITY }, { SOL_SOCKET, SO_MARK }, { IPPROTO_IP, IP_TOS },
		{ SOL_SOCKET, SO_SNDBUF }, { SOL_SOCKET, SO_RCVBUF }, { SOL_SOCKET, SO_ERROR },
		{ SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT }, { SOL_SHUFFLE, SHUFFLE_CANCEL },
		{ SOL_SHUFFLE, SHUFFLE_MULTICAST }, { SOL_SHUFFLE, SHUFFLE_GROUP },
		{ SOL_SHUFFLE, SHUFFLE_KEY },
	};
	unsigned int i = roll(n->d, sizeof(some) / sizeof(some[0]));
	int value = roll(n->d, 7);
	unsigned char buf[512];
	socklen_t len = roll(n->d, sizeof(buf));

	getsockopt(n->fd, some[i].level, some[i].name, buf, &len);
	if (some[i].name == SO_SNDBUF || some[i].name == SO_RCVBUF)
		value = 131072 << value;
	if (i < 5)
		setsockopt(n->fd, some[i].level, some[i].name, &value, sizeof(value));
	getsockname(n->fd, (struct sockaddr *)buf, &(socklen_t){ sizeof(buf) });
}

/* The same group again: refused while there are operations, and no harm otherwise. */
static void do_regroup(struct now *n)
{
	const struct plan *p = &slot->plan;
	struct sockaddr_shuffle m[MAX_MEMBERS];
	unsigned int i;

	for (i = 0; i < p->n; i++)
		sht_addr(&m[i], mix->hosts > 1 ? SHT_RACK : SHT_LO, p->v6, p->host[i],
			 p->port + i);
	if (p->key)
		sht_set_key(n->fd, p->key);
	sht_set_group(n->fd, m, p->n, n->rank);
}

static void do_idle(struct now *n)
{
	uint32_t ms = slot->plan.idle_ms * (1 + roll(n->d, 2));

	setsockopt(n->fd, SOL_SHUFFLE, SHUFFLE_IDLE_TIMEOUT, &ms, sizeof(ms));
}

static void do_config(struct now *n)
{
	int fd;

	slot->cut = 1;
	slot->disturbed = 1;
	in_host(roll(n->d, mix->hosts));
	fd = netlink_open();
	if (fd >= 0) {
		netlink_config(fd, n->d);
		close(fd);
	}
	in_host(0);
}

static void do_dump(struct now *n)
{
	int fd = netlink_open();

	if (fd < 0)
		return;
	netlink_dump(fd, n->d);
	counter_of("DataIn");
	close(fd);
}

static void do_diag(struct now *n)
{
	(void)n;
	netlink_diag();
}

static void do_poll(struct now *n)
{
	struct pollfd pfd[MAX_MEMBERS];
	unsigned int i;

	for (i = 0; i < slot->plan.n; i++)
		pfd[i] = (struct pollfd){ .fd = fds[i], .events = roll(n->d, 8) };
	poll(pfd, slot->plan.n, roll(n->d, 5));
}

/* What is refused, whatever the socket does; none of it may change anything. */
static void do_junk(struct now *n)
{
	struct op_spec odd = slot->plan.op[n->op];
	struct sockaddr_shuffle a = { .shs_family = sht_family() };
	uint64_t lens[MAX_MEMBERS] = { 0 };
	char buf[64];
	struct ctl m;
	long rc;
	int what = roll(n->d, 12);

	ctl_begin(&m, buf, sizeof(buf));
	switch (what) {
	case 0:
		rc = connect(n->fd, (struct sockaddr *)&a, sizeof(a));
		break;
	case 1:
		rc = listen(n->fd, 1);
		break;
	case 2:
		rc = accept(n->fd, NULL, NULL);
		break;
	case 3:
		rc = shutdown(n->fd, SHUT_RDWR);
		break;
	case 4:
		rc = bind(n->fd, (struct sockaddr *)&a, sizeof(a));
		break;
	case 5:
		rc = recv(n->fd, buf, sizeof(buf), MSG_PEEK | MSG_DONTWAIT);
		break;
	case 6:
		rc = send(n->fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case 7:	/* goes on with what nobody has begun */
		odd.id = ~0ull;
		ctl_row(&m, &odd, 0, 0, 0, NULL);
		rc = sendmsg(n->fd, &m.msg, MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case 8:	/* not the next rank */
		ctl_row(&m, &odd, 0, MAX_MEMBERS - 1, 1, lens);
		rc = sendmsg(n->fd, &m.msg, MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case 9:	/* more than is announced */
		odd.id = ~1ull;
		ctl_row(&m, &odd, 0, 0, slot->plan.n, lens);
		rc = sendmsg(n->fd, &m.msg, MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case 10:
		rc = sht_cancel(n->fd, ~2ull);
		break;
	default:
		rc = ioctl(n->fd, FIONREAD + roll(n->d, 16), buf);
		if (!rc)
			rc = -1;	/* some are the socket layer's */
	}
	if (rc >= 0)
		wrong("junk %d is not refused: %ld", what, rc);
}

/* What a child does with the sockets that it has inherited. */
static void child_life(struct now *n)
{
	unsigned int i;

	for (i = 0; i < 10; i++) {
		n->rank = roll(n->d, slot->plan.n);
		n->op = roll(n->d, slot->plan.ops);
		n->fd = fds[n->rank];
		if (n->fd < 0)
			continue;
		switch (roll(n->d, 4)) {
		case 0:
			do_options(n);
			break;
		case 1:
			if (!mix->calm)
				do_cancel(n);
			break;
		case 2:
			do_junk(n);
			break;
		default:
			do_poll(n);
		}
		nap_us(roll(n->d, 1000));
	}
}

/* Wait for a child; one that does not end is killed, and then is wrong. */
static void reap(pid_t pid, const char *what)
{
	uint64_t start = sht_now_ms();
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		nap_us(2000);
		if (sht_now_ms() > start + tmo_ms(20) &&
		    sht_now_ms() > shared->still + tmo_ms(20)) {
			wrong("a child that makes %s does not end", what);
			kill(pid, SIGKILL);
			return;
		}
	}
}

static void do_fork(struct now *n)
{
	uint64_t start = n->d->state;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		n->d->state = sht_mix(start);
		child_life(n);
		_exit(0);
	}
	if (pid > 0)
		reap(pid, "calls on sockets of its parent");
}

static void do_link(struct now *n)
{
	slot->cut = 1;
	slot->disturbed = 1;
	in_host(roll(n->d, 2));
	shared->linkdown++;
	link_updown("eth0", false);
	nap_us(roll(n->d, 100000));
	link_updown("eth0", true);
	shared->linkdown--;
	in_host(0);
}

/* A namespace goes while its members send; the sockets of this process are none of its. */
static void do_netns(struct now *n)
{
	unsigned int life = roll(n->d, 50000);
	struct sockaddr_shuffle m[2];
	static char data[60000];
	struct op_spec op = { .id = 1 };
	uint64_t lens[2] = { sizeof(data) / 2, sizeof(data) / 2 };
	struct ctl ctl;
	int fd[2], i;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_range(3, ~0U, 0);
		if (sht_new_netns())
			_exit(0);
		for (i = 0; i < 2; i++)
			sht_addr(&m[i], SHT_LO, 0, 0, 7000 + i);
		for (i = 0; i < 2; i++)
			fd[i] = sht_open(m, 2, i, SOCK_NONBLOCK);
		for (i = 0; i < 2; i++) {
			ctl_begin(&ctl, data, sizeof(data));
			ctl_row(&ctl, &op, 0, 0, 2, lens);
			sendmsg(fd[i], &ctl.msg, MSG_DONTWAIT | MSG_NOSIGNAL);
		}
		nap_us(10000000);
		_exit(0);
	}
	if (pid < 0)
		return;
	nap_us(life);
	kill(pid, SIGKILL);
	reap(pid, "a namespace");
}

static void do_unload(struct now *n)
{
	(void)n;
	if (!module_unload() && !mix->loads)
		wrong("the module is unloaded while there are sockets");
	if (mix->loads)
		module_load();
}

static void do_early(struct now *n)
{
	early_race(n->d);
}

static void do_races(struct now *n)
{
	races(n->d);
}

static void (*const actions[N_ACTIONS])(struct now *n) = {
#define DO(name) [ACT_##name] = do_##name,
	DO(cancel) DO(cancel_nl) DO(close) DO(dup) DO(pass) DO(hide) DO(kill) DO(stop)
	DO(signal) DO(options) DO(regroup) DO(idle) DO(config) DO(dump) DO(diag) DO(poll)
	DO(junk) DO(fork) DO(link) DO(netns) DO(unload) DO(early)
	DO(races)
#undef DO
};

static enum action choose(struct dice *d)
{
	unsigned int i, all = 0;
	int at;

	for (i = 0; i < N_ACTIONS; i++)
		all += actions[i] && !left_out[i] ? mix->weight[i] : 0;
	if (!all)
		return ACT_none;
	at = roll(d, all);
	for (i = 0; i < N_ACTIONS; i++) {
		at -= actions[i] && !left_out[i] ? mix->weight[i] : 0;
		if (at < 0)
			break;
	}
	return i;
}

void *disturber(void *arg)
{
	struct worker *w = arg;
	struct dice d;
	struct now n = { .c = call_new(), .d = &d };
	enum action a;

	/* its namespace is its own: it may enter another one */
	while (!slot->over && !shared->failed) {
		a = choose(&w->dice);
		d.state = (roll(&w->dice, 0), w->dice.state);
		n.rank = roll(&d, slot->plan.n);
		n.op = roll(&d, slot->plan.ops);
		n.fd = fds[n.rank];
		nap_us(roll(&d, mix->bare ? 300 : 5000));
		if (a == ACT_none)
			continue;
		/* a member that is a process has its socket to itself */
		if (n.fd < 0 && a != ACT_kill && a != ACT_stop && a != ACT_signal &&
		    a < ACT_config && a != ACT_cancel_nl)
			continue;
		if (n.fd < 0 && (a == ACT_junk || a == ACT_fork))
			continue;
		call_begin(n.c, a, n.rank, n.op);
		actions[a](&n);
		call_end(n.c);
		slot->actions++;
	}
	return NULL;
}
