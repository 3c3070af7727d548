#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: what is sent, from how many, how it is read, over which network.
# Sourced by run_all.sh.
#
# shellcheck disable=SC2034,SC2154 # work, slow, KEEP, peer_pid: lib.sh, other cases

# matrix_case HOSTS V6 MATRIX [ARGS...]
matrix_case()
{
	rack "$1"
	peer n="$1" v6="$2" matrix="$3" "${@:4}" || shuffle_failed
}

# All on one rack of each size: setting up 32 hosts takes long in slow lanes.
data_cases()
{
	local v n

	KEEP=1
	for n in 2 8 32; do
		for v in 4 6; do
			run_case "v$v-$n-empty" matrix_case $n $((v == 6)) empty
			run_case "v$v-$n-1-byte" matrix_case $n $((v == 6)) uniform:1
			run_case "v$v-$n-1-packet" matrix_case $n $((v == 6)) uniform:1000
			sized_cases $n $v
		done
	done
	KEEP=
	rack_down
}

sized_cases()
{
	local n=$1 v=$2 v6=$(($2 == 6))

	case $n in
	2)
		run_case "v$v-2-1M" matrix_case 2 $v6 uniform:1048576
		run_case "v$v-3x-rcvbuf" three_buffers $v6
		[ "$v" = 6 ] || run_case "control-packet-dscp" control_dscp
		;;
	8)
		run_case "v$v-8-1M" matrix_case 8 $v6 "uniform:$(sz 1048576 65536)"
		run_case "v$v-8-skew" matrix_case 8 $v6 "skew:$(sz 65536 16384)"
		run_case "v$v-8-onerow" matrix_case 8 $v6 "onerow:$(sz 262144 32768):0"
		run_case "v$v-8-mapreduce" matrix_case 8 $v6 "mapreduce:$(sz 131072 32768):4"
		run_case "v$v-8-incast" matrix_case 8 $v6 "incast:$(sz 262144 32768):3"
		[ "$v" = 6 ] || ways_cases
		;;
	32)
		run_case "v$v-32-32k" matrix_case 32 $v6 "uniform:$(sz 32768 4096)"
		run_case "v$v-32-skew" matrix_case 32 $v6 "skew:$(sz 8192 2048)"
		run_case "v$v-32-mapreduce" matrix_case 32 $v6 "mapreduce:$(sz 16384 4096):8"
		;;
	esac
}

# Ways to send and to read.
ways_cases()
{
	local mid small

	mid=skew:$(sz 65536 16384) small=skew:$(sz 16384 4096)
	run_case "two-operations" matrix_case 8 0 "$mid" ops=2
	run_case "eight-operations" matrix_case 8 0 "$small" ops=8
	run_case "twenty-rounds" matrix_case 8 0 "$small" rounds=20
	run_case "row-in-parts" matrix_case 8 0 "$mid" split=3
	run_case "small-writes" matrix_case 8 0 "$small" chunk=1111
	run_case "small-reads" matrix_case 8 0 "$small" recv_buf=999
	run_case "epoll" matrix_case 8 0 "$mid" mode=1 ops=2
	run_case "epoll-edge" matrix_case 8 0 "$mid" mode=2 ops=2
	run_case "blocking" matrix_case 8 0 "$mid" mode=3 ops=2
	run_case "asked-for" matrix_case 8 0 "$mid" want=1 ops=2 rounds=3 0:want=0 1:want=0 2:mode=1 3:mode=2
	run_case "asked-for-small-buffers" matrix_case 8 0 "$mid" want=1 rcvbuf=65536 sndbuf=32768 ops=2 split=3
	run_case "small-buffers" matrix_case 8 0 "$mid" rcvbuf=65536 sndbuf=32768 ops=2
	# a receiver takes its senders' buffers to be like its own
	run_case "small-send-buffer" matrix_case 2 0 one:3000000:0:1 0:sndbuf=30000
	run_case "tiny-buffers" matrix_case 8 0 "$small" rcvbuf=4096 sndbuf=4096
	run_case "unscheduled-overflows-buffer" unscheduled_overflows
	run_case "small-row-without-grants" small_row
	run_case "ack-rides-behind-super-packet" ack_rides
	run_case "members-share-hosts" shared_hosts
	run_case "one-host-loopback" loopback
	run_case "alone" alone
	run_case "pages-are-filled-again" pages_again
}

# A sender takes its receiver's buffer to be like its own, and sends far more without a grant:
# what does not fit is asked for in parts that do, and comes once more or little more than once.
unscheduled_overflows()
{
	local len=3000000 again

	rack 2 unscheduled 2m
	peer n=2 matrix="one:$len:0:1" 0:sndbuf=8000000 1:rcvbuf=65536 || shuffle_failed
	again=$(counters RetransBytes)
	diag "sent again: $again bytes, dropped: $(counters DropRcvbuf)"
	want_gt "it was not too much for the buffer" "$(counters DropRcvbuf)" 0
	want_le "$again bytes of $len were sent again" "$again" $((3 * len))
}

# One receiver would grant so much at once: nobody waits for that.
small_row()
{
	new_rack 4
	# all sockets are there first: a packet that is dropped is asked for, with a GRANT
	peer n=4 delay=500 matrix=uniform:1500 || shuffle_failed
	[ "$(counters GrantOut)" = 0 ] || shuffle_failed "$(counters GrantOut) GRANTs for short messages"
	peer n=4 matrix=uniform:1048576 || shuffle_failed
	want_gt "no GRANT for long ones" "$(counters GrantOut)" 0
}

# Host 1 has the message of host 0 when it starts, and its own to host 0 takes the ACK.
# Nobody is asked again meanwhile.  A machine that is too slow for a delay gets a longer one.
ack_rides()
{
	local ms

	for ms in 300 1000 2500; do
		new_rack 2
		config_all resend-first 10s resend-max 10s
		peer n=2 matrix=uniform:5000 0:delay=$((100 * slow)) 1:delay=$((ms * slow)) ||
			shuffle_failed
		[ "$(counter 1 EarlyClaimed)" = 0 ] || break
	done
	want_gt "no super-packet was sent" "$(counter 0 DataOut)" 4
	[ "$(counter 1 EarlyClaimed)" = 1 ] || shuffle_failed "host 0 was not earlier"
	[ "$(counter 1 AckOut)" = 1 ] || shuffle_failed "host 1 does not count 1 ACK"
	[ "$(counter 1 CtrlPktsOut)" = 0 ] || shuffle_failed "host 1 has sent a packet for it"
	rack_down	# nobody else wants these settings
}

# Pages that come back are filled again, and none are kept when nothing is sent.
pages_again()
{
	new_rack 2
	peer n=2 matrix=one:6000000:0:1 rounds=8 sndbuf=1000000 || shuffle_failed
	want_ge "pages filled again" "$(counter 0 PageReuse)" 100
	background peer n=2 matrix=one:6000000:0:1 linger=$(($(tmo 90) * 1000)) \
		timeout=$(($(tmo 120) * 1000))
	want_ok "no shuffle" wait_for 30 has_counted 0 OpsDone 9
	wait_for 20 holds_less 3000000 || fail "idle sockets hold $(mem_used) bytes"
	want_ne "the socket is gone" "$(hctl 0 socket)" ""
}

mem_used()
{
	hctl 0 -j config | tr -d ' \n' | sed -n 's/.*"mem_used":\([0-9]*\).*/\1/p'
}

holds_less()
{
	[ "$(mem_used)" -lt "$1" ]
}

# An empty message to oneself needs no packet, others need no packet for their ACK.
alone()
{
	new_rack 1
	peer n=1 matrix=empty || shuffle_failed
	[ "$(counter 0 CtrlPktsOut)$(counter 0 DataOut)" = 00 ] || shuffle_failed "it sent packets"
	peer n=1 matrix=uniform:100000 || shuffle_failed
	[ "$(counter 0 AckOut)" = 0 ] || shuffle_failed "it sent ACKs"
	[ "$(counter 0 DataBytesIn)" = 100000 ] || shuffle_failed "no data through the loopback"
	[ "$(counter 0 OpsDone)" = 2 ] || shuffle_failed "not both are done"
}

shared_hosts()
{
	rack 8
	peer n=24 hosts=8 matrix="skew:$(sz 16384 4096)" ops=2 || shuffle_failed
	peer n=24 hosts=8 v6="$ipv6" matrix="skew:$(sz 16384 4096)" || shuffle_failed "IPv6 shuffle failed"
}

loopback()
{
	rack 1
	nsx h0 "$BIN/shuffle_peer" n=8 net=2 matrix="skew:$(sz 32768 8192)" ops=2 \
		timeout=$(($(tmo 30) * 1000)) || shuffle_failed
	nsx h0 "$BIN/shuffle_peer" n=8 net=2 v6="$ipv6" op=5 matrix="skew:$(sz 32768 8192)" \
		timeout=$(($(tmo 30) * 1000)) || shuffle_failed
}

# SO_RCVBUF counts double, so a message of 3 x the value the kernel has.
three_buffers()
{
	rack 2
	want_ok "shuffle failed" \
		peer n=2 v6="$1" matrix=others:786432 rcvbuf=131072 check_mem=1 recv_buf=50000
	peer n=2 v6="$1" matrix=others:786432 rcvbuf=131072 check_mem=1 recv_buf=8000000 \
		mode=3 || shuffle_failed "blocking shuffle failed"
	want_ok "shuffle with a small SO_SNDBUF failed" \
		peer n=2 v6="$1" matrix=others:1200000 rcvbuf=100000 sndbuf=20000 check_mem=1
}

# Control packets carry DSCP CS6, data does not: u32 filters count them on the
# bridge port of host 1.
control_dscp()
{
	local ctrl before

	rack 2
	before=$(counter 1 CtrlPktsOut)
	tc -n shf-br qdisc add dev p1 clsact 2>/dev/null || skip "no clsact"
	tc -n shf-br filter add dev p1 ingress prio 1 protocol ip u32 \
		match ip tos 0xc0 0xfc match ip protocol 17 0xff action pass || skip "no u32"
	peer n=2 matrix=one:500000:0:1 || shuffle_failed
	ctrl=$(tc -n shf-br -s filter show dev p1 ingress |
		awk '/Sent/ { sum += $4 } END { print sum + 0 }')
	tc -n shf-br qdisc del dev p1 clsact
	before=$(($(counter 1 CtrlPktsOut) - before))
	diag "with DSCP CS6 from the receiver: $ctrl, control packets: $before"
	want_ge "no packets with DSCP CS6" "$ctrl" 2
	want_le "data has DSCP CS6" "$ctrl" $((before + 2))
}
