#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: bounds of memory and of work, and what goes on at them.
# Sourced by run_all.sh.
#
# shellcheck disable=SC2154 # work, slow: lib.sh

bounds_cases()
{
	run_case "api-bounds" bounds_of_calls
	run_case "api-waits" tap_program api_waits
	run_case "byte-by-byte" bytes_one_by_one
	run_case "memory-of-a-cgroup" cgroup_memory
	run_case "early-packets-are-charged" early_charged
	run_case "mem-limit-progress" mem_limit
}

# A slow kernel takes longer than ended operations are remembered.
bounds_of_calls()
{
	API_CONFIG='finished-expiry 3600000' tap_program api_bounds
}

# Packets hold copies of bytes behind which others are put.
bytes_one_by_one()
{
	rack 2
	peer n=2 matrix=others:6000 chunk=1 || shuffle_failed
	peer n=2 matrix=others:90000 chunk=100 ops=2 || shuffle_failed
}

# What hosts 1 to 3 have sent to host 0, which has not started; they are gone.
early_charged()
{
	local kept

	new_rack 4
	# virtual time can pass while a program is loaded
	want_ok "no expiry can be set" hctl 0 config set early-expiry 3600000
	background peer n=4 matrix=uniform:20000 0:delay=$(($(tmo 60) * 1000)) \
		1-3:delay=$((100 * slow)) 1-3:kill_ms=$((500 * slow)) timeout=$(($(tmo 90) * 1000))
	wait_for 20 has_counted 0 EarlyKept 3 || shuffle_failed "no early packets"
	want_ok "hosts 1 to 3 do not go" wait_for 20 no_sockets 1 2 3
	kept=$(mem_used)
	want_gt "only $kept bytes are charged" "$kept" 20000
}

# All sockets together may have 2 MiB, 128 KiB for each; each would take more, if it were alone.
mem_limit()
{
	local before rc=0

	rack 4
	before=$(mem_used)
	ctl config set mem-max 2097152 || skip "no limit can be set"
	peer n=16 hosts=4 matrix=uniform:"$(sz 100000 50000)" ops=2 || rc=1
	ctl config set mem-max default
	[ "$rc" = 0 ] || shuffle_failed "not all operations end at the memory limit"
	wait_for 20 mem_is_back "$before" || fail "$(mem_used) bytes stay in use"
}

# bytes_of NAME - of the cgroup's memory
bytes_of()
{
	awk -v name="$1" '$1 == name { n = $2 } END { print n + 0 }' "$work/cg/payer/memory.stat"
}

pays()
{
	[ "$(bytes_of "$1")" -ge "$2" ]
}

# What a process has told to be sent is its cgroup's, as long as nobody takes it.
cgroup_memory()
{
	local peer

	mkdir "$work/cg"
	mount -t cgroup2 none "$work/cg" 2>/dev/null || { rmdir "$work/cg"; skip "no cgroup2"; }
	# shellcheck disable=SC2064 # now
	trap "rmdir '$work/cg/payer'; umount '$work/cg'; rmdir '$work/cg'" EXIT
	echo +memory >"$work/cg/cgroup.subtree_control" 2>/dev/null || skip "no memory controller"
	mkdir "$work/cg/payer"
	new_rack 2
	(
		echo "$BASHPID" >"$work/cg/payer/cgroup.procs" || exit 1
		exec "$BIN/shuffle_peer" prefix="$PFX" op=1 n=2 matrix=one:400000:0:1 \
			sndbuf=200000 1:absent=1 deadline=$((5000 * slow)) expect=ETIMEDOUT
	) &
	peer=$!
	want_ok "the send buffer is nobody's" wait_for 20 pays sock 300000
	diag "$(cat "$work/cg/payer/memory.stat")"
	want_ok "not as expected" wait "$peer"
	want_ok "it is not given back" wait_for 20 gave_back sock 100000
}

gave_back()
{
	! pays "$@"
}

mem_is_back()
{
	[ "$(mem_used)" -le "$1" ]
}

no_sockets()
{
	local h

	for h; do
		[ -z "$(hctl "$h" socket)" ] || return 1
	done
}
