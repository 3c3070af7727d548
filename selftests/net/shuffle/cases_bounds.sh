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
