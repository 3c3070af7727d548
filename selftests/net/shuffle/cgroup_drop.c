// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Drop what a control group sends: attach a BPF filter of two instructions to it.
 *
 *	cgroup_drop DIRECTORY
 *
 * It stays until the group goes.  Exit status 2: this kernel cannot do that.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>

int main(int argc, char **argv)
{
	struct bpf_insn drop[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;
	int prog, group;

	if (argc != 2)
		return 1;
	group = open(argv[1], O_RDONLY | O_DIRECTORY);
	if (group < 0) {
		perror(argv[1]);
		return 1;
	}
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_CGROUP_SKB;
	attr.expected_attach_type = BPF_CGROUP_INET_EGRESS;
	attr.insns = (uintptr_t)drop;
	attr.insn_cnt = sizeof(drop) / sizeof(drop[0]);
	attr.license = (uintptr_t)"GPL";
	prog = syscall(__NR_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (prog < 0) {
		perror("BPF_PROG_LOAD");
		return errno == ENOSYS || errno == EINVAL ? 2 : 1;
	}
	memset(&attr, 0, sizeof(attr));
	attr.target_fd = group;
	attr.attach_bpf_fd = prog;
	attr.attach_type = BPF_CGROUP_INET_EGRESS;
	if (syscall(__NR_bpf, BPF_PROG_ATTACH, &attr, sizeof(attr))) {
		perror("BPF_PROG_ATTACH");
		return errno == EINVAL ? 2 : 1;
	}
	return 0;
}
