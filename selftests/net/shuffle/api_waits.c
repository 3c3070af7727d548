// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits that were not asked for: MSG_DONTWAIT beside a thread that is stuck in a copy, and beside
 * one that holds the kernel's lock of network devices.  No times are compared; a wait that does not
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
	if (!v6)
		test_beside_rtnl();
	return api_finish();
}
