#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# One side of a wire between two guests, whose processors differ: members of one group.  TAP.
# selftests/vm/mixed.sh runs both sides.
#
# usage: mixed.sh SIDE       0 or 1
#
#   SHUFFLE_OUT   a folder for its part of what is sorted
#
#   side 0: members 0 and 2      side 1: members 1 and 3
#     10.79.0.1 [wire]---------------[wire] 10.79.0.2

# shellcheck source=../../../tools/common/tap.sh
. "$(dirname "$0")/../../../tools/common/tap.sh"

bin=${SHUFFLE_BIN:-build/tools} side=$1
group="10.79.0.1:7000 10.79.0.2:7000 10.79.0.1:7001 10.79.0.2:7001"
work=$(mktemp -d)

wire_up()
{
	local dev=''

	modprobe -q virtio_net
	for _ in {1..100}; do
		dev=$(ip -o link | awk -F': ' '$2 != "lo" { print $2; exit }')
		[ -z "$dev" ] || break
		sleep 0.1
	done
	want_ne "the device of the wire" "$dev" ""
	want_ok "its address" ip addr add "10.79.0.$((side + 1))/24" dev "$dev"
	want_ok "it is up" ip link set "$dev" up
	# the other guest may be slow
	for _ in {1..300}; do
		ping -q -c 1 -W 1 "10.79.0.$((2 - side))" >"$work/ping" 2>&1 && return
		sleep 0.5
	done
	fail "no answer from the other guest: $(cat "$work/ping")"
}

# both NAME COMMAND... - at both members of this side at once; their number is behind the command
both()
{
	local r pids='' bad=0

	for r in "$side" $((side + 2)); do
		"${@:2}" "$r" >"$work/$1-$r" 2>&1 &
		pids="$pids $!"
	done
	for r in $pids; do
		wait "$r" || bad=1
	done
	return $bad
}

member()
{
	# shellcheck disable=SC2086 # words
	"$bin/mixed_member" "$1" $group
}

# What members have said: a line is one test.
say()
{
	local r line

	for r in "$side" $((side + 2)); do
		while IFS= read -r line; do
			case $line in
			"ok "*) tap ok "member $r: ${line#* - }" ;;
			"not ok "*) tap "not ok" "member $r: ${line#* - }" ;;
			1..*) ;;
			"Bail out!"*) tap "not ok" "member $r: $line" ;;
			*) diag "$line" ;;
			esac
		done <"$work/$1-$r"
	done
}

sort_part()
{
	"$bin/shuffle-sort" --group "${group// /,}" --rank "$1" --output "$SHUFFLE_OUT/sorted" \
		--generate 30000 --first $(($1 * 30000)) --keys skewed "${sort_options[@]}" --no-progress
}

sorts()
{
	sort_options=("$@")
	rm -rf "$SHUFFLE_OUT/sorted"
	mkdir "$SHUFFLE_OUT/sorted"
	both sort sort_part || fail "$(cat "$work"/sort-*)"
	diag "$(cat "$work"/sort-*)"
}

mean()
{
	# shellcheck disable=SC2086 # words
	echo "$1" | "$bin/average" "$1" $group
}

# A structure of the program's, which it combines itself: its bytes mean something else there.
refused()
{
	local r

	both average mean && fail "no error: $(cat "$work"/average-*)"
	for r in "$side" $((side + 2)); do
		want_grep "what member $r says" "$(cat "$work/average-$r")" 'the all-reduce has failed: Protocol error'
		diag "member $r: $(cat "$work/average-$r")"
	done
}

# The same among members of one processor.
accepted()
{
	group="127.0.0.1:7100 127.0.0.1:7101 127.0.0.1:7102 127.0.0.1:7103"
	mean $(((side + 1) % 4)) >"$work/a" 2>&1 & 
	mean $(((side + 3) % 4)) >"$work/b" 2>&1 &
	both average mean || fail "$(cat "$work"/average-*)"
	wait
	want_grep "what member $side says" "$(cat "$work/average-$side")" '^mean 1.5, largest 3 of member 3$'
}

t "the other guest answers" wire_up
both member member || true
say member
t "a sort of four members" sorts
t "a sort that holds little in memory" sorts --memory 1M
t "what the program combines itself is refused with a message" refused
t "and not where all members have one byte order" accepted
tap_end
