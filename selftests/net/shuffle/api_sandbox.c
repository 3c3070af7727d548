// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What libshuffle says of a process that may not open sockets of the family, as systemd's
 * RestrictAddressFamilies= forbids it.  TAP.
 *
 *	api_sandbox
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "api.h"
#include "../../../tools/lib/shuffle.h"

/* For this process and its children: socket() of the family fails with EAFNOSUPPORT.  The family is
 * the low half of the first argument, wherever that stands.
 */
static int forbid(int family)
{
	const unsigned int low = offsetof(struct seccomp_data, args[0]) + (htons(1) == 1 ? 4 : 0);
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)family, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ?:
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* socket() may be a system call that makes many others, too, which a filter cannot look into. */
static bool is_call_of_many(void)
{
#ifdef SYS_socketcall
	return true;
#else
	return is_compat();
#endif
}

int main(int argc, char **argv)
{
	struct sockaddr_shuffle a;

	api_start(argc, argv);
	if (shuffle_addr(&a, "127.0.0.1", 0))
		tap_bail("no address");
	WORKS(EXPECT_GE(shuffle_bind(&a, 0), 0), "without a filter a socket opens");
	if (is_call_of_many() || forbid(shuffle_family())) {
		tap_skip("a filter",
			 is_call_of_many() ? "its socket() is a call of many" : strerror(errno));
		return api_finish();
	}
	a.shs_port = 0;
	FAILS(shuffle_bind(&a, 0), "with a filter it does not", EAFNOSUPPORT);
	WORKS(strstr(shuffle_family_str(), "RestrictAddressFamilies"),
	      "the reason names what forbids it, and not the module");
	return api_finish();
}
