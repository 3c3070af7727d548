// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits that were not asked for: calls beside a thread that is stuck in a copy, and beside one that
 * holds the kernel's lock of network devices.  No times are compared; a wait that does not
 * end is ended by a signal.
 *
 * Such threads copy from memory that nobody provides, until the test does (userfaultfd).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <linux/userfaultfd.h>
#include <net/if.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "api.h"

#define PAGE	4096U
#define PAGES	16U

/**
 * struct lazy - memory of which all but the first page is not there
 * @fd: userfaultfd
 * @mem: the memory, PAGES pages
 */
struct lazy {
	int fd;
	char *mem;
};

static bool lazy_open(struct lazy *l)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	/* poll() of one that blocks does not wait */
	l->fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (l->fd < 0 || ioctl(l->fd, UFFDIO_API, &api))
		return false;
	l->mem = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (l->mem == MAP_FAILED)
		return false;
	l->mem[0] = 0;
	reg.range.start = (uintptr_t)l->mem + PAGE;
	reg.range.len = (PAGES - 1) * PAGE;
	return !ioctl(l->fd, UFFDIO_REGISTER, &reg);
}

/* Somebody waits for it. */
static bool lazy_wanted(const struct lazy *l)
{
	struct pollfd pfd = { .fd = l->fd, .events = POLLIN };

	return EXPECT_EQ(poll(&pfd, 1, WAIT_MS), 1) && EXPECT_EQ(pfd.revents, POLLIN);
}

static bool lazy_provide(const struct lazy *l)
{
	struct uffdio_zeropage zero = {
		.range = { (uintptr_t)l->mem + PAGE, (PAGES - 1) * PAGE },
	};

	return !ioctl(l->fd, UFFDIO_ZEROPAGE, &zero);
}

static void lazy_close(struct lazy *l)
{
	munmap(l->mem, PAGES * PAGE);
	close(l->fd);
}

struct stuck {
	int fd;
	uint64_t op;
	const void *data;
	size_t len;
	ssize_t got;
};

static void *send_stuck(void *arg)
{
	struct shuffle_row row = { .count = 2 };
	uint64_t lens[2] = { 0 };
	struct stuck *s = arg;

	row.op_id = s->op;
	lens[1] = s->len;
	sht_send(s->fd, &row, lens, s->data, s->len, 0);
	return NULL;
}

static void nothing(int sig)
{
	(void)sig;
}

/* A thread that copies from memory which nobody provides does not stop another one that
 * does not want to wait.
 */
static void test_beside_copy(void)
{
	static char data[20000];
	struct shuffle_row row = { .count = 2 };
	uint64_t lens[2] = { 0, sizeof(data) };
	struct sockaddr_shuffle m[2];
	struct stuck s = { .op = next_op++ };
	pthread_t thread;
	struct lazy l;
	int fds[2];
	ssize_t rc;

	if (!lazy_open(&l)) {
		result(true, "send: MSG_DONTWAIT beside a stuck copy", "SKIP no userfaultfd");
		return;
	}
	open_pair(fds, m, 0);
	s.fd = fds[0];
	s.data = l.mem + PAGE;
	s.len = sizeof(data);
	pthread_create(&thread, NULL, send_stuck, &s);
	WORKS(lazy_wanted(&l), "send: a copy is stuck");

	row.op_id = next_op++;
	alarm(10);
	rc = sht_send(fds[0], &row, lens, data, sizeof(data), MSG_DONTWAIT);
	/* its row is announced, so nothing taken is not an error */
	WORKED(EXPECT_EQ(rc, 0) && alarm(600) > 0, "send: MSG_DONTWAIT beside a stuck copy");
	row.first_rank = 2;
	row.count = 0;
	alarm(10);
	errno = 0;
	rc = sht_send(fds[0], &row, NULL, data, sizeof(data), MSG_DONTWAIT);
	WORKED(EXPECT_EQ(rc, -1) && EXPECT_ERRNO(errno, EAGAIN) && alarm(600) > 0,
	       "send: and EAGAIN");
	WORKS(lazy_provide(&l), "send: the copy goes on");
	pthread_join(thread, NULL);
	lazy_close(&l);
	close_pair(fds);
}

static void *read_stuck(void *arg)
{
	struct stuck *s = arg;
	struct shuffle_record rec;
	unsigned int n = 1;
	sigset_t alarms;

	/* a signal would end the copy */
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	s->got = sht_recv(s->fd, (void *)s->data, s->len, &rec, &n, 0);
	return NULL;
}

/* Provides the memory if the test is not over soon: no signal ends a wait for a sock lock. */
static void *rescue(void *arg)
{
	sleep(20);
	lazy_provide(arg);
	return NULL;
}

/* A reader whose memory nobody provides does not stop another one that gets a signal, nor other
 * calls.
 */
static void test_beside_reader(void)
{
	static char data[20000], more[20000];
	struct stuck s = { .op = next_op++ };
	struct sockaddr_shuffle m[2], name;
	socklen_t len = sizeof(name);
	/* again and again: it may come before a call has begun to wait */
	struct itimerval soon = { { 0, 200000 }, { 0, 200000 } }, never = { 0 };
	pthread_t thread, rescuer;
	struct shuffle_record rec[4];
	struct pollfd pfd = { .events = POLLIN };
	unsigned int n = 4;
	struct lazy l;
	int fds[2];

	if (!lazy_open(&l)) {
		result(true, "recv: beside a stuck reader", "SKIP no userfaultfd");
		return;
	}
	open_pair(fds, m, 0);
	send_row(fds[0], s.op, 0, 0, data, 0, 0);
	WORKS_EQ(sht_recv(fds[0], more, sizeof(more), rec, &n, 0), 0,
		 "recv: a member's message to itself");
	n = 4;
	send_row(fds[1], s.op, sizeof(data), 0, data, sizeof(data), 0);
	pfd.fd = fds[0];
	WORKS_EQ(poll(&pfd, 1, WAIT_MS), 1, "recv: a message has come");
	s.fd = fds[0];
	s.data = l.mem + PAGE;
	s.len = sizeof(data);
	pthread_create(&rescuer, NULL, rescue, &l);
	pthread_create(&thread, NULL, read_stuck, &s);
	WORKS(lazy_wanted(&l), "recv: a reader is stuck");

	setitimer(ITIMER_REAL, &soon, NULL);
	FAILS(sht_recv(fds[0], more, sizeof(more), rec, &n, 0),
	      "recv: a signal ends the wait for another reader", EINTR);
	n = 4;
	FAILS(sht_recv(fds[0], more, sizeof(more), rec, &n, MSG_DONTWAIT),
	      "recv: with MSG_DONTWAIT, too", EINTR);
	setitimer(ITIMER_REAL, &never, NULL);
	alarm(600);
	WORKS_EQ(getsockname(fds[0], (struct sockaddr *)&name, &len), 0,
		 "getsockname() beside a stuck reader");
	/* all that was tried came before the memory did */
	WORKS(lazy_provide(&l), "recv: the stuck reader goes on");
	pthread_join(thread, NULL);
	WORKS_EQ(s.got, (ssize_t)sizeof(data), "recv: and has its message");
	WORKS_EQ(read_end(fds[0], s.op), 0, "recv: the operation ends");
	pthread_cancel(rescuer);
	pthread_join(rescuer, NULL);
	lazy_close(&l);
	close_pair(fds);
}

/* SIOCETHTOOL reads what it has been asked for while it holds the lock. */
static void *hold_rtnl(void *arg)
{
	struct ifreq ifr = { .ifr_name = "shf0", .ifr_data = arg };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ioctl(fd, SIOCETHTOOL, &ifr);
	close(fd);
	return NULL;
}

/* The first operation by a device learns of it without waiting for its lock. */
static void test_beside_rtnl(void)
{
	static const uint32_t command = ETHTOOL_GSTRINGS;
	struct shuffle_row row = { .op_id = next_op++, .count = 2 };
	uint64_t lens[2] = { 0, 100 };
	struct sockaddr_shuffle m[2];
	pthread_t thread;
	struct lazy l;
	char data[100];
	ssize_t rc;
	int fd;

	if (system("ip link add shf0 type dummy && ip link set shf0 up && "
		   "ip addr add 10.77.0.1/24 dev shf0")) {
		result(true, "send: beside one that holds rtnl", "SKIP no dummy device");
		return;
	}
	if (!lazy_open(&l)) {
		result(true, "send: beside one that holds rtnl", "SKIP no userfaultfd");
		return;
	}
	sht_addr(&m[0], SHT_RACK, 0, 0, next_port++);
	sht_addr(&m[1], SHT_RACK, 0, 1, next_port++);
	fd = sht_open(m, 2, 0, 0);
	if (fd < 0)
		tap_bail("no socket at a dummy device: %s", strerror(errno));
	/* the command is there, what follows is not */
	memcpy(l.mem + PAGE - sizeof(command), &command, sizeof(command));
	pthread_create(&thread, NULL, hold_rtnl, l.mem + PAGE - sizeof(command));
	WORKS(lazy_wanted(&l), "send: somebody holds rtnl");
	alarm(10);
	rc = sht_send(fd, &row, lens, data, sizeof(data), MSG_DONTWAIT);
	WORKED(EXPECT_EQ(rc, (ssize_t)sizeof(data)) && alarm(600) > 0,
	       "send: beside one that holds rtnl");
	WORKS(lazy_provide(&l), "send: who holds rtnl goes on");
	pthread_join(thread, NULL);
	/* its rate is asked for again then, where the device is locked already */
	WORKS_EQ(system("ip link set shf0 down && ip link set shf0 up"), 0, "a used device goes up");
	close(fd);
	lazy_close(&l);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = nothing };

	api_start(argc, argv);
	sigaction(SIGALRM, &sa, NULL);
	test_beside_copy();
	test_beside_reader();
	if (!v6)
		test_beside_rtnl();
	return api_finish();
}
