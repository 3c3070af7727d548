# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # variables of lib.sh
#
# Messages that go on to other members while they come (SHUFFLE_CMSG_FORWARD); to be sourced by
# run_all.sh.

forward_cases()
{
	local v

	for v in 4 6; do
		run_case "api-forward-v$v" tap_program api_forward -v $v
		run_case "api-reduce-v$v" tap_program api_reduce -v $v
	done
	run_case forward-to-all forward_ways -f
	run_case forward-in-a-chain forward_ways -F -k
	run_case forward-v6 forward_v6
	run_case forward-with-loss forward_through loss 2%
	run_case forward-twice-and-out-of-order forward_through delay 1ms 1ms duplicate 10%
	run_case forward-slow-receiver forward_slow
}

# forward_ways OPTIONS... - lengths: none, less than a packet, parts of packets, more than a buffer
forward_ways()
{
	local len

	new_rack 5
	for len in 0 1 1433 100001; do
		same "$@" 5 $len
	done
	same "$@" 5 "$(sz 12000000 3000000)"
	[ "$(counters ForwardBytes)" -gt 0 ] || shuffle_failed "nothing has been forwarded"
	[ "$(counters SameOut)" = 0 ] || shuffle_failed "by multicast, without an address"
}

forward_v6()
{
	new_rack 4
	same -6 -f 4 300000
	same -6 -F -p -k 4 300000
}

forward_through()
{
	new_rack 4
	netem "$@"
	same -F "$(sz 8 4)" 300000
	same -f "$(sz 8 4)" 300000
}

# One at the end reads nothing for a second: those before it keep no more than their buffers, and
# everybody gets all.
forward_slow()
{
	new_rack 4
	config_all unscheduled 64k rcvbuf 512k sndbuf 512k
	same -F -s 0 3 "$(sz 8000000)"
	# bytes in both buffers
	awk '$3 > 1500000 { exit 1 }' "$work/alone" || fail "$(cat "$work/alone")"
}
