// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows and columns in pieces: sendmsg() and recvmsg() with vectors of any shape, whose pieces end
 * within packets, within headers' places and at pages that are not there.  MTU 1500, so that
 * super-packets have many records.  TAP.
 *
 *	api_vectors [-v 6]
 */
#define _GNU_SOURCE
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "api.h"

#define LONGEST	300000
#define PIECES	1000	/* IOV_MAX is 1024 */
#define ROUNDS	12

static unsigned char data[LONGEST], got[LONGEST], scratch[LONGEST];
static uint64_t seed = 1;
static uint64_t done_op;	/* whose end recv_vector() has read last */

static unsigned int random_below(unsigned int n)
{
	seed = sht_mix(seed);
	return seed % n;
}

/* Cut @len bytes at @base into pieces, some of them empty; returns their number. */
static int cut(struct iovec *iov, unsigned char *base, size_t len)
{
	static const unsigned int usual[] = { 0, 1, 39, 40, 41, 1000, 1432, 1433, 4096, 33000 };
	int n = 0;

	while (len) {
		size_t piece = usual[random_below(sizeof(usual) / sizeof(usual[0]))];

		if (random_below(3) == 0)
			piece = random_below(3000);
		if (piece > len || n == PIECES - 1)
			piece = len;
		iov[n++] = (struct iovec){ base, piece };
		base += piece;
		len -= piece;
	}
	return n;
}

static ssize_t send_vector(int fd, uint64_t op, size_t len, struct iovec *iov, int n)
{
	struct row_buf row = { .row = { .size = sizeof(row.row), .op_id = op, .count = 2 },
			       .lens = { 0, len } };

	return send_raw_vector(fd, SOL_SHUFFLE, SHUFFLE_CMSG_ROW, &row, ROW_SIZE(2), iov, n, 0);
}

/* One recvmsg() into @iov, whose pieces lie behind one another in scratch[]; what it brings of
 * the message goes into got[].  Returns bytes, or -1.
 */
static ssize_t recv_vector(int fd, struct iovec *iov, int n)
{
	struct shuffle_record recs[16];
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	const unsigned char *p = scratch;
	unsigned int i, count = 16;
	ssize_t len;

	poll(&pfd, 1, WAIT_MS);
	len = sht_recv_vector(fd, iov, n, recs, &count, MSG_DONTWAIT);
	for (i = 0; i < count; i++) {
		const struct shuffle_record *r = &recs[i];

		if (r->type == SHUFFLE_RECORD_DONE)
			done_op = r->op_id;
		if (r->type != SHUFFLE_RECORD_DATA)
			continue;
		if (r->offset + r->len <= LONGEST)
			memcpy(got + r->offset, p, r->len);
		p += r->len;
	}
	return len;
}

/* Read a message of @len bytes by pieces. */
static bool read_whole(int fd, size_t len)
{
	struct iovec iov[PIECES];
	size_t have = 0;
	ssize_t n;

	memset(got, 0, sizeof(got));
	while (have < len) {
		size_t room = 1 + random_below(2 * LONGEST / 3);

		n = recv_vector(fd, iov, cut(iov, scratch, room));
		if (n < 0 && errno != EAGAIN)
			return false;
		have += n > 0 ? n : 0;
	}
	return have == len && !memcmp(got, data, len);
}

/* Both sockets see that an operation is done. */
static bool both_done(int fds[2], uint64_t op)
{
	return read_end(fds[0], op) == 0 && (done_op == op || read_end(fds[1], op) == 0);
}

static void test_pieces(int fds[2])
{
	static const size_t lens[] = { 1, 257, 1432, 1433, 20000, 60144, 60145, LONGEST };
	struct iovec iov[PIECES];
	char name[80];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		size_t len = lens[i % (sizeof(lens) / sizeof(lens[0]))];
		uint64_t op = next_op++;
		bool ok;

		ok = send_vector(fds[0], op, len, iov, cut(iov, data, len)) == (ssize_t)len &&
		     send_row(fds[1], op, 0, 0, NULL, 0, 0) == 0 && read_whole(fds[1], len) &&
		     both_done(fds, op);
		snprintf(name, sizeof(name), "%zu bytes in pieces, round %d", len, i);
		WORKS(ok, name);
	}
}

static void test_no_page(int fds[2])
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned char *bad = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec iov[3] = { { data, 50000 }, { bad, 1000 }, { data, 49000 } };
	uint64_t op = next_op++;
	ssize_t n = 0;
	int i, err;

	FAILS(send_vector(fds[0], op, 100000, iov, 3), "send: a piece that is not there", EFAULT);
	WORKS_ERRNO(read_end(fds[0], op), ECANCELED, "its operation is cancelled");

	op = next_op++;
	iov[0] = (struct iovec){ data, 100000 };
	send_vector(fds[0], op, 100000, iov, 1);
	send_row(fds[1], op, 0, 0, NULL, 0, 0);
	iov[0] = (struct iovec){ scratch, 3000 };
	/* what has no bytes may come first */
	for (i = 0; i < 10 && !n; i++)
		n = recv_vector(fds[1], iov, 2);
	err = errno;
	WORKS(EXPECT_EQ(n, -1) && EXPECT_ERRNO(err, EFAULT), "receive: a piece that is not there");
	WORKS(read_whole(fds[1], 100000), "nothing of the message is lost");
	WORKS(both_done(fds, op), "it ends");
	WORKS(pair_works(fds), "the pair still shuffles");
	munmap(bad, page);
}

static bool small_packets(void)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_mtu = 1500 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = ioctl(fd, SIOCSIFMTU, &req);

	close(fd);
	return !rc;
}

int main(int argc, char **argv)
{
	struct sockaddr_shuffle m[2];
	int fds[2];

	api_start(argc, argv);
	WORKS(small_packets(), "the loopback has MTU 1500");
	sht_fill(data, sizeof(data), 1, 0);
	open_pair(fds, m, 0);
	test_pieces(fds);
	test_no_page(fds);
	close_pair(fds);
	return api_finish();
}
