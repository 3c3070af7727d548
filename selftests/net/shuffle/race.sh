#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Races, for kernels with several CPUs and every checker on: TAP.
#
#   CASES=regex      only cases whose name matches
#   RACE_SECONDS     duration of each (default 10)
#
# shellcheck disable=SC2034,SC2154 # work, slow, KEEP, peer_pid: lib.sh, other cases

race()
{
	timeout -k 5 $((RACE_SECONDS + $(tmo 100))) \
		"$BIN/shuffle_race" "$1" "$RACE_SECONDS" "${2-1}" || fail "$1 failed: $?"
}

# All of them beside each other, in namespaces of their own.
race_all()
{
	local t pids=()

	for t in close_receive cancel_send want_cancel coll_cancel coll_threads netns_exit \
		many_processes options open_close; do
		"$BIN/shuffle_race" $t "$RACE_SECONDS" 7 &
		pids+=("$!")
	done
	set --
	for t in "${pids[@]}"; do
		wait "$t" || set -- failed
	done
	want_eq "a race failed" $# 0
}

# While a socket is open no attempt to unload may succeed; afterwards one does.
race_unload_held()
{
	local n=0 pid

	need_ko
	"$BIN/shuffle_race" hold "$RACE_SECONDS" &
	pid=$!
	sleep 1
	background "$BIN/shuffle_race" open_close "$((RACE_SECONDS - 1))"
	while kill -0 "$pid" 2>/dev/null && [ "$n" -lt 10000 ]; do
		rmmod shuffle 2>/dev/null && kill -0 "$pid" 2>/dev/null &&
			fail "unloaded with a live socket"
		module_load 2>/dev/null
		n=$((n + 1))
	done
	want_ok "hold failed" wait "$pid"
	diag "$n attempts to unload"
	want_ok "cannot be loaded again" module_load
}

# Unloading whenever it is possible, beside sockets that come and go.
race_unload()
{
	local n=0 done=0 t pids=()

	need_ko
	for t in open_close close_receive netns_exit; do
		"$BIN/shuffle_race" $t "$RACE_SECONDS" 5 &
		pids+=("$!")
	done
	while kill -0 "${pids[0]}" 2>/dev/null && [ "$n" -lt 10000 ]; do
		rmmod shuffle 2>/dev/null && done=$((done + 1))
		module_load 2>/dev/null
		n=$((n + 1))
	done
	for t in "${pids[@]}"; do
		want_ok "a race failed" wait "$t"
	done
	diag "$n attempts to unload, $done succeeded"
	want_ok "cannot be loaded again" module_load
}

# Two hosts whose link, namespace and members go at any moment.
race_rack()
{
	local i end=$((SECONDS + RACE_SECONDS))

	for ((i = 1; SECONDS < end; i++)); do
		rack 2
		peer n=2 op=1 ops=4 matrix=uniform:300000 0:kill_ms=$((i % 7 * 40 + 20)) \
			1:kill_ms=$((i % 5 * 50 + 20)) >/dev/null &
		set -- "$!"
		sleep 0.0$((i % 9 + 1))
		ip netns del shf-h0
		ip -n shf-br link del p1
		wait "$1"
	done
	diag "$i rounds"
}

# Relays and members of a tree go while records are merged: sums are right, or there are none.
race_relays()
{
	local i end=$((SECONDS + RACE_SECONDS)) how pid good=0

	new_rack 5
	relayd 1
	for ((i = 1; SECONDS < end; i++)); do
		how=(sorted)
		[ $((i % 2)) = 0 ] || how=(records $((1 << i % 11)))
		relay 1 to 0 from 2 3 4 "${how[@]}"
		peer_calls=$((peer_calls + 1))
		"$BIN/tree_member" -o $((peer_calls * 256)) ${how[1]+-t} -c 8 -n 4000 \
			-i $((700 * slow)) \
			"$PFX" - 0r 1 1 1 >"$work/tree" 2>&1 &
		pid=$!
		sleep 0.$((i * 7 % 30))
		case $((i % 3)) in
		0) kill -9 $pid 2>/dev/null ;;
		1) hctl 1 relay del agg || fail "no relay to delete" ;;
		2)
			ip -n "${PFX}h1" link set eth0 down
			sleep 0.05
			ip -n "${PFX}h1" link set eth0 up
			;;
		esac
		wait $pid && good=$((good + 1))
		grep -E 'there should be|come twice|not sorted|no tree' "$work/tree" &&
			fail "a wrong sum, or members that cannot begin"
		[ $((i % 3)) = 1 ] || hctl 1 relay del agg || fail "no relay to delete at the end"
	done
	diag "$i rounds, $good of them with all sums"
	relay 1 to 0 from 2 3 4 sorted
	want_ok "nothing is merged afterwards" tree "$PFX" - 0r 1 1 1
}

race_cases()
{
	local t

	for t in close_receive cancel_send want_cancel coll_cancel coll_threads netns_exit \
		many_processes options; do
		run_case "race-$t" race $t
	done
	run_case "race-unload-held" race_unload_held
	run_case "race-unload" race_unload
	run_case "race-rack" race_rack
	run_case "race-relays" race_relays
	run_case "race-all-at-once" race_all
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	RACE_SECONDS=${RACE_SECONDS:-10}
	# shellcheck source=lib.sh
	. "$(dirname "$0")/lib.sh"
	# shellcheck source=cases_life.sh
	. "$here/cases_life.sh"
	# shellcheck source=cases_relayd.sh
	. "$here/cases_relayd.sh"
	setup_all
	race_cases
	finish_all
fi
