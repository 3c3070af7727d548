#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: rows whose messages have the same bytes, which go to a multicast address once.
# Sourced by run_all.sh.
#
# shellcheck disable=SC2154 # work, hosts: lib.sh

same_op=1

same_cases()
{
	run_case same-v4 same_once 8 "$(sz 40 10)" 300000
	run_case same-v6-with-a-key same_once 8 "$(sz 40 10)" 300000 -6 -k -p
	run_case same-lengths same_lengths
	run_case same-all-to-all same_once 6 10 70000 -a
	run_case same-with-loss same_through loss 3%
	run_case same-with-much-loss same_through loss 20%
	run_case same-twice-and-out-of-order same_through delay 1ms 1ms duplicate 10%
	run_case same-not-reached same_not_reached
	run_case same-slow-receiver same_slow
	run_case same-examples same_examples
}

# same OPTIONS... OPERATIONS LENGTH - exit status and lines of same_member
same()
{
	local n=$#

	same_op=$((same_op + 1000))	# no operation twice
	"$BIN/same_member" -o $same_op "${@:1:n-2}" "$PFX" "$hosts" "${@:n-1}" >"$work/alone" ||
		shuffle_failed "rows with the same bytes"
}

# Members to which others send alone.
left_alone()
{
	awk '{ n += $2 } END { print n + 0 }' "$work/alone"
}

# Where no time passes but on links nothing is late: nothing is sent again, and nobody seems to be
# out of reach.
nothing_late()
{
	[[ $LANE == *time* ]]
}

# same_once HOSTS OPERATIONS LENGTH OPTIONS... - each byte once on the way to the switch
same_once()
{
	local n=$1 ops=$2 len=$3 sent=$(($2 * $3))
	shift 3

	[[ $* != *-a* ]] || sent=$((sent * n))
	new_rack "$n"
	same "$@" "$ops" "$len"
	[ "$(counters DataBytesIn)" = $((sent * (n - 1))) ] || shuffle_failed "what has come"
	want_gt "nothing has gone to all" "$(counters SameOut)" 0
	nothing_late || return 0
	[ "$(counters DataBytesOut)" = $sent ] ||
		shuffle_failed "$(counters DataBytesOut) bytes have left the hosts, not $sent"
	want_eq "some were alone" "$(left_alone)" 0
}

# More than a socket's buffers hold, nothing, and what goes in parts.
same_lengths()
{
	rack 4
	same 6 0
	same 6 1
	same 6 257
	same -w 100 6 12345
	same -w 10000 6 1000001
	same 3 "$(sz 12000000)"
}

same_through()
{
	new_rack 5
	netem "$@"
	same "$(sz 15 5)" 200000
	want_gt "nothing has gone to all" "$(counters SameOut)" 0
	netem delay 0
	# nothing of what was lost counts any more
	same 10 30000
	! nothing_late || [ "$(left_alone)" = 0 ] || fail "some are alone for ever"
}

# The switch does not let multicast through to one member: it gets all alone, and the others do not
# wait for it.
same_not_reached()
{
	local before

	new_rack 4
	bridge -n "${PFX}br" link set dev p2 mcast_flood off
	same 8 100000
	[ "$(left_alone)" -ge 3 ] || fail "alone: $(left_alone), not host 2 for each of the others"
	! nothing_late || [ "$(left_alone)" = 3 ] || fail "alone: $(left_alone)"
	before=$(counters ResendOut)
	want_gt "nothing has gone to all" "$(counters SameOut)" 0
	want_gt "nobody has missed anything" "$before" 0
}

# A member that does not read for a second holds up its own message and nothing else for long.
# Little goes without a grant: what the others do not grant has to stop what goes to all.
same_slow()
{
	new_rack 4
	config_all unscheduled 64k
	same -s 3 5 "$(sz 4000000)"
	! nothing_late || [ "$(left_alone)" = 0 ] || fail "some are alone for ever"
	[ "$(counters SameAlone)" -gt 0 ] || shuffle_failed "nobody has been left alone"
}

# example PROGRAM PORT - on all hosts: what each reads and writes is in a file of its own
example()
{
	local h members=() jobs=()

	for ((h = 0; h < hosts; h++)); do
		members+=("10.77.0.$((h + 1)):$2")
	done
	for ((h = 0; h < hosts; h++)); do
		nsx "h$h" "$BIN/$1" $h "${members[@]}" <"$work/in$h" >"$work/out$h" &
		jobs+=($!)
	done
	for h in "${jobs[@]}"; do
		want_ok "$1" wait "$h"
	done
}

# The programs of tools/examples that use collectives.
same_examples()
{
	local h

	new_rack 4
	for ((h = 0; h < hosts; h++)); do
		echo "$((h * h)) $h" >"$work/in$h"
	done
	example average 7300
	for ((h = 0; h < hosts; h++)); do
		diff - "$work/out$h" <<-END || fail "average on host $h"
			mean 3.5, largest 9 of member 3
			mean 1.5, largest 3 of member 3
		END
	done
	cat "$BIN/shuffle_peer" "$BIN/shuffle_peer" >"$work/in0"	# more than a piece
	example cast 7301
	want_eq "to all, without an address" "$(counters SameOut)" 0
	want_ok "cast" cmp "$work/in0" "$work/out1"
	CAST_GROUP=239.77.0.2 example cast 7302
	for ((h = 1; h < hosts; h++)); do
		want_ok "cast to all, on host $h" cmp "$work/in0" "$work/out$h"
	done
	! nothing_late || [ "$(counters SameOut)" -gt 0 ] || fail "nothing has gone to all"
}
