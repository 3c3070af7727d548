#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: the same programs with the same members and ports, again and again, and again after all
# have been killed at a random moment.  Nobody has given them a number of an operation.
# Sourced by run_all.sh.
#
#   ANEW_TIMES=N	of each program in a row (default 20; 1000: as it should be once)
#   ANEW_KILLS=N	so often killed and started again (default 10; 100)
#   ANEW_SEED=N		when they are killed
# The long one: ANEW_TIMES and ANEW_KILLS by -e to selftests/vm/lane.sh OUT uml-time, CASES=anew.
#
# shellcheck disable=SC2154 # work: lib.sh

ANEW_TIMES=${ANEW_TIMES:-20}
ANEW_KILLS=${ANEW_KILLS:-10}
ANEW_SEED=${ANEW_SEED:-1}

anew_cases()
{
	local p

	for p in hello average cast shuffle-{cp,wordcount,sort,query,rperf}; do
		run_case "anew-$p" anew "$p"
		run_case "anew-killed-$p" anew_killed "$p"
	done
	run_case "anew-a-host-forgets" anew_forgets 0 1 2
	run_case "anew-a-host-forgets-and-is-first" anew_forgets 1 2 0
	run_case "anew-comes-as-the-others-go-on" anew_comes_late
}

anew_group=(10.77.0.1:7000 10.77.0.2:7000 10.77.0.3:7000)

# anew_begin [PROGRAM]
anew_begin()
{
	local h

	rack 3
	# a flow without a limit would stop virtual time
	[ "${1-}" != shuffle-rperf ] || rate 50
	anew_tmp=$state/anew
	mkdir -p "$anew_tmp/tables"
	for h in 0 1 2; do
		echo "of host $h" >"$anew_tmp/$h"
	done
	(IFS=$'\n'; echo "${anew_group[*]}") >"$anew_tmp/group"
	"$BIN/shuffle-query" generate wiki --rows 100 --parts 3 --out "$anew_tmp/tables" ||
		fail "no table"
	RANDOM=$ANEW_SEED
}

# anew_start PROGRAM HOST - in the background.
anew_start()
{
	local call=("$BIN/$1" -g "$anew_tmp/group" -r "$2") in=/dev/null

	case $1 in
	hello | average | cast) call=("$BIN/$1" "$2" "${anew_group[@]}") in=$anew_tmp/number ;;
	shuffle-cp) call+=(-s "$anew_tmp" -d "$anew_tmp/to.$2") ;;
	shuffle-wordcount) call+=("$anew_tmp/$2") ;;
	shuffle-sort) call+=(--generate 20 --no-output --no-progress -j) ;;
	shuffle-query) call+=(-T "$anew_tmp/tables" -j) ;;
	shuffle-rperf)
		call=("$BIN/$1" --warmup 0 --duration 0.01 --timeout 0.1 --rate 500
			--flow "shuffle:10.77.0.1,size=1000" 10.77.0.1)
		[ "$2" != 0 ] || call=("$BIN/$1" serve 10.77.0.2 10.77.0.3)
		;;
	esac
	echo $(($2 * 3)) >"$anew_tmp/number.$2"
	[ "$in" = /dev/null ] || in+=.$2
	[ "$1" != shuffle-query ] || call=("$BIN/$1" run q1 "${call[@]:1}")
	ip netns exec "${PFX}h$2" "${call[@]}" <"$in" >"$anew_tmp/out.$2" 2>"$anew_tmp/err.$2" &
	anew_pid[$2]=$!
}

# anew_run PROGRAM WHEN [FIRST] [OTHERS...] - all succeed, with the right result where it is a short
# one.  FIRST: host that starts before the others.
anew_run()
{
	local first=${3-0} others=(1 2) h rc=0

	[ $# -le 3 ] || others=("${@:4}")
	anew_start "$1" "$first"
	[ "$1" != shuffle-rperf ] || wait_for 5 grep -q serving "$anew_tmp/out.0" ||
		fail "$1, $2: host 0 does not serve"
	[ "$first" = 0 ] || sleep 0.1
	for h in "${others[@]}"; do
		anew_start "$1" "$h"
	done
	for h in 1 2; do
		wait "${anew_pid[h]}" || rc=1
	done
	[ "$1" != shuffle-rperf ] || kill "${anew_pid[0]}"
	wait "${anew_pid[0]}" || [ "$1" = shuffle-rperf ] || rc=1
	[ $rc = 0 ] || fail "$1, $2: $(tail -qn 2 "$anew_tmp"/err.*)"
	case $1 in
	hello) want_eq "$2: lines" "$(cat "$anew_tmp"/out.* | grep -c '^from [0-2]: hello')" 9 ;;
	cast) want_eq "$2: copies" "$(cat "$anew_tmp"/out.* | grep -cx 0)" 2 ;;
	average) want_eq "$2: means" "$(cat "$anew_tmp"/out.* | grep -c '^mean 3, largest 6 of member 2')" 3 ;;
	esac
}

anew()
{
	local i

	anew_begin "$1"
	for ((i = 1; i <= ANEW_TIMES; i++)); do
		anew_run "$1" "run $i of $ANEW_TIMES"
	done
	rm -r "$anew_tmp"
}

# A moment of up to 4 ms, more often a short one.
anew_pause()
{
	sleep "$(printf '0.%06d' $((RANDOM % (1 << RANDOM % 13))))"
}

anew_killed()
{
	local h i

	anew_begin "$1"
	for ((i = 1; i <= ANEW_KILLS; i++)); do
		for h in $(((i + 1) % 3)) $(((i + 2) % 3)) $((i % 3)); do
			anew_start "$1" "$h"
			anew_pause
		done
		for h in $((RANDOM % 3)) 0 1 2; do
			kill -KILL "${anew_pid[h]}" 2>/dev/null
			anew_pause
		done
		for h in 0 1 2; do
			wait "${anew_pid[h]}"
		done 2>/dev/null
		anew_run "$1" "after kill $i of $ANEW_KILLS, seed $ANEW_SEED"
	done
	rm -r "$anew_tmp"
}

# anew_forgets FIRST OTHERS... - host 1's kernel remembers nothing, as of a host that has been started
# again.  Where it begins before the others' sockets are there, it is told all the same.
anew_forgets()
{
	local h i

	new_rack 3
	anew_begin
	hctl 1 config set finished-max 0 || fail "config set finished-max on host 1"
	for i in 1 2 3 4 5; do
		anew_run hello "run $i" "$@"
	done
	want_gt "host 1 was told nothing" "$(counter 1 AbortIn)" 0
	# an operation that nobody has told of its end waits for ten seconds
	want_eq "host 1: failed and was not told" "$(counter 1 OpsFailed)" "$(counter 1 AbortIn)"
	for h in 0 2; do
		want_eq "host $h: failed" "$(counter $h OpsFailed)" 0
	done
	rm -r "$anew_tmp"
	rack_down
}

anew_comes_late()
{
	[ -n "${SHUFFLE_VIRTUAL-}" ] || skip "takes long where time is not virtual"
	tap_program api_agree
}
