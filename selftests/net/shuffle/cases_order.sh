#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: which of several operations goes first.  Sourced by run_all.sh, behind cases_net.sh and
# cases_ctl.sh.
#
# shellcheck disable=SC2154 # BIN, peer_pid: lib.sh, cases_net.sh

order_cases()
{
	run_case "order-setting" order_setting
	run_case "order-collectives" order_collectives
	# emulated processors have enough to do with these
	[[ $LANE != qemu* ]] || return 0
	run_case "order-many" order_many
	# where time is real, what has come when depends on the machine's load
	[[ $LANE == *-time ]] || return 0
	run_case "unscheduled-of-many" unscheduled_of_many
	run_case "order-fair" order_of fair
	run_case "order-smallest" order_of smallest
	run_case "order-deadline" order_of deadline deadline=1000000
	# what the operations say themselves
	run_case "order-hint-smallest" order_said fair 2 2
	run_case "order-hint-deadline" order_said fair 3 3 deadline=1000000
	run_case "order-hint-fair" order_said smallest 1 1
	run_case "order-hint-second" order_said fair 0 2
	run_case "order-hint-first" order_said fair 2 0
}

order_setting()
{
	rack 2
	is 0 op_order fair
	want_ok "set" hctl 0 config set op-order smallest
	is 0 op_order smallest
	is 1 op_order fair
	# a device has its own
	want_ok "set of a device" hctl 0 config set dev eth0 op-order deadline
	want_grep "the device has not taken it" \
		"$(hctl 0 -j config show dev eth0)" '"op_order":"deadline"'
	is 0 op_order smallest
	refused 1 'op-order' hctl 0 config set op-order largest
	is 0 op_order smallest
	want_ok "default" hctl 0 config set op-order default
	is 0 op_order fair
}

# order_of ORDER [ARGS of the second...] - two operations of three hosts, where op-order is ORDER
order_of()
{
	local waits=1

	[ "$1" != fair ] || waits=0
	two_share "$1" 0 "$waits" "${@:2}"
}

# order_said SET FIRST SECOND [ARGS of the second...] - the same, and the two say what they want: 1
# (fair), 2 (smallest), 3 (deadline) or nothing (0).  Where one of them is fair they share
# evenly, whatever the other one says.
order_said()
{
	local waits=1

	case $1/$2/$3 in
	*/1/* | */*/1 | fair/0/* | fair/*/0) waits=0 ;;
	esac
	two_share "$1" "$2" "$waits" order="$3" "${@:4}"
}

# two_share SET FIRST WAITS [ARGS of the second...] - two operations of three hosts, the second a
# quarter of the first, which has order=FIRST.  What has come of the first when the second is
# complete tells their order: as much as of the second if they share evenly, and less, but not
# nothing, if the first waits.
two_share()
{
	local len=1000000 first second before

	rack 3
	rate 20
	config_all op-order "$1" rtt 100us link-rate 20mbit rtt-bytes 6000
	in_the_middle n=3 matrix=others:$((4 * len)) order="$2"
	before=$(counter 0 DataBytesIn)
	peer n=3 port=7100 op=999 matrix=others:$len "${@:4}" || shuffle_failed
	second=$((2 * len))
	first=$(($(counter 0 DataBytesIn) - before - second))
	diag "of the first $first bytes, of the second $second"
	if [ "$3" = 0 ]; then
		want_gt "the first has had to wait" "$first" $((second * 3 / 4))
		want_lt "the second has had to wait" "$first" $((second * 4 / 3))
	else
		want_lt "the second has had to wait" "$first" $((second * 3 / 4))
		# more than what was on its way
		want_gt "the first got nothing" "$first" $((second / 16))
	fi
	peer_end || shuffle_failed
}

# Operations of one socket that begin together send as much without a grant as one would, and
# less for each that is there already: 64, 32, 21 ... kB, not 8 times 64.
unscheduled_of_many()
{
	local sent all

	rack 2
	config_all rtt-bytes 64k
	peer n=2 matrix=others:1000000 ops=8 1:delay=20000 >"$work/peer.log" 2>&1 &
	all=$!
	want_ok "they do not start" wait_for 10 has_counted 0 OpsStarted 8
	sent=-1
	while [ "$sent" != "$(counter 0 DataBytesOut)" ]; do
		sent=$(counter 0 DataBytesOut)
		sleep 0.2
	done
	has_counted 1 OpsStarted 1 && fail "the receiver has started too soon"
	diag "$sent bytes"
	want_ge "less than one" "$sent" 65536
	want_lt "each as much as one" "$sent" 300000
	wait "$all" || shuffle_failed
}

# Many operations of one socket, of all sizes: all end.
order_many()
{
	rack 4
	config_all op-order smallest
	peer n=4 matrix="skew:$(sz 65536 8192)" ops=8 || shuffle_failed
	peer n=4 matrix=uniform:100 ops=8 || shuffle_failed
	want_gt "no short message has gone in front" "$(counters AheadOut)" 0
	peer n=4 v6="$ipv6" matrix="uniform:$(sz 65536 8192)" ops=8 key=1 || shuffle_failed
}

order_collectives()
{
	API_CONFIG='op-order smallest' tap_program api_engine -v 4
}
