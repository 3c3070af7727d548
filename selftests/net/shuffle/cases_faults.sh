#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: allocations and copies that fail, for kernels with fault injection (the
# debug lanes).  Sourced by run_all.sh.
#
# shellcheck disable=SC2154 # slow, work: lib.sh

faults_cases()
{
	run_case "faults-in-calls" faults calls $((1 + slow / 8))
	run_case "faults-in-packets" faults packets $((3 + slow / 2))
	run_case "faults-in-copies" faults copies $((3 + slow / 2))
	run_case "faults-everywhere" faults all $((3 + slow / 2))
}

# Where the kernel can look at the stack, only what the module asks for fails.
faults_of_module()
{
	local dir text=/sys/module/shuffle/sections/.text start

	[ -r $text ] || return 0
	start=$(cat $text)
	for dir in /sys/kernel/debug/fail{slab,_page_alloc,_usercopy}; do
		[ -w "$dir/require-start" ] || continue
		echo "$start" >"$dir/require-start"
		printf '0x%x\n' $((start + 0x80000)) >"$dir/require-end"
		echo 32 >"$dir/stacktrace-depth"
	done
}

faults_of_all()
{
	local dir

	for dir in /sys/kernel/debug/fail{slab,_page_alloc,_usercopy}; do
		echo 0 >"$dir/probability"
		[ -w "$dir/require-start" ] || continue
		echo 0 >"$dir/require-start"
		echo 0xffffffffffffffff >"$dir/require-end"
	done 2>/dev/null
}

faults()
{
	local rc

	if [ ! -w /proc/self/fail-nth ] || [ ! -d /sys/kernel/debug/failslab ]; then
		skip "this kernel has no fault injection"
	fi
	[ "$1" != calls ] || faults_of_module
	timeout -k 5 300 "$BIN/fault_nth" "$@" >"$work/tap" 2>&1
	rc=$?
	faults_of_all
	cat "$work/tap"
	want_grep "fault_nth ended early ($rc)" "$(<"$work/tap")" '^1\.\.'
	[ "$rc" = 0 ]
}
