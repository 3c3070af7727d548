#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What rperf.sh runs inside the kernel (virtual time): shuffle-rperf where the truth is known, and
# the experiments of Katebzadeh's RPerf (chapter 5).  Lines "RPERF ..." for rperf_report.py.
#
# usage: rperf_guest.sh RUNS [PART...]
#
#   h0 asks h1; h2, h3, h4 send to h1 what fills the queue of its port p1.
#
# Truths: a delay of netem is one.  A first-come first-served queue of N times B bytes in front of a
# link of rate R that N flows keep full is another: W = N * B / R (the source's formula).  Full is
# to within a packet of 1514 bytes.
set -euo pipefail

runs=$1
shift
here=tools/bench
bin=build/tools
warm=0.1

rate=10000000		# b/s, of the queues whose length is known
mss=1448		# bytes of a TCP packet, with time stamps
buffer=302800		# B: 200 packets
fast=25000000000	# b/s, as the source's links are (56 Gb/s there)
fast_window=64
quick=(--duration 0.01 --warmup 0.005 --rate 50000)

# An idle rack without queues: whoever needs one adds it to the port of h1.
$here/rack.sh up 5 rate=none mtu=1500
for ((h = 1; h < 5; h++)); do
	from=()
	for ((k = 0; k < 5; k++)); do [ $k = $h ] || from+=("10.18.0.$((k + 1))"); done
	ip netns exec "h$h" $bin/shuffle-rperf serve "${from[@]}" >/dev/null &
done
for ((h = 0; h < 5; h++)); do
	ip netns exec "h$h" $bin/shufflectl config set echo-rate 1000000
	ip netns exec "h$h" sysctl -q -w net.ipv4.tcp_wmem='4096 33554432 33554432' \
		net.ipv4.tcp_rmem='4096 33554432 33554432' net.ipv4.tcp_no_metrics_save=1
	# takes packets away from their sockets: what waits in the port is the window, and not what
	# TCP small queues leave of it
	[ $h -lt 2 ] || tc -n "h$h" -batch - <<-END
		qdisc add dev eth0 root handle 1: netem delay 1us limit 1000000
		qdisc add dev eth0 parent 1:1 handle 2: tbf rate ${fast}bit burst 9100 limit 64000000
	END
done
sleep 1

# queue QDISC... - of the port of h1
queue()
{
	tc qdisc del dev p1 root 2>/dev/null || true
	[ $# = 0 ] || tc qdisc add dev p1 root handle 1: "$@"
}

# windows PACKETS - that h1 offers TCP's flows: so many are under way, whatever congestion control
# thinks of it
windows()
{
	local h

	for h in 2 3 4; do
		ip -n h1 route replace "10.18.0.$((h + 1))/32" dev eth0 \
			window $(($1 * mss)) initrwnd "$1"
		ip -n "h$h" route replace 10.18.0.2/32 dev eth0 initcwnd "$1"
	done
}

bulk=()	# hosts that are asked beside the first one

# ask CASE TRUTH_MEDIAN TRUTH_P999 MODE OPTIONS... - ns; truth "-": there is none
ask()
{
	local case=$1 median=$2 tail=$3 mode=$4 run
	shift 4

	for ((run = 1; run <= runs; run++)); do
		if ip netns exec h0 timeout 900 $bin/shuffle-rperf --mode "$mode" --warmup $warm \
			--json /tmp/rperf.json --quiet "$@" 10.18.0.2 "${bulk[@]}"; then
			echo "RPERF case=$case mode=$mode run=$run median=$median p999=$tail" \
				"$(tr -d '\n' </tmp/rperf.json)"
		else
			echo "RPERF case=$case mode=$mode run=$run failed"
		fi
	done
}

# flows N [DSCP] - options for N flows from other hosts
flows()
{
	local h

	for ((h = 2; h < $1 + 2; h++)); do
		echo "--flow tcp:10.18.0.2,from=h$h,size=4096,dscp=${2:-0}"
	done
}

delays()
{
	local us ns mode

	ask idle 0 0 tstamp --duration 2
	for us in 1 10 100 1000 10000; do
		queue netem delay ${us}us limit 100000
		ns=$((us * 1000))
		for mode in tstamp pingpong loopback; do
			ask "delay-${us}us" $ns $ns $mode --duration 2.5 --rate 200
		done
	done
	queue netem delay 100us 50us limit 100000
	ask jitter-100us-50us 100000 149900 tstamp --duration 20
	ask jitter-100us-50us 100000 149900 pingpong --duration 20
	queue
}

queues()
{
	local n ns h mode

	# and room for a few questions: they are not to be dropped by a queue that is full
	for n in 1 2 3; do
		queue tbf rate ${rate}bit burst 3100 limit $((n * buffer + 400))
		bulk=()
		for ((h = 2; h < n + 2; h++)); do
			bulk+=("10.18.0.2,from=h$h,size=1472,rate=2000,name=bulk")
		done
		ns=$((n * buffer * 8 * 1000 / (rate / 1000000)))
		for mode in tstamp pingpong; do
			ask "queue-$n" $ns $ns $mode --duration 5 --warmup 2 --rate 100 --random \
				--timeout 3 --short
		done
	done
	bulk=()
	queue
}

# The source's table: 64 B with 0 to 3 flows, in one queue and in a queue of its own; a flow that
# is in the queue of small messages, too.
source_table()
{
	local n

	windows $fast_window
	queue tbf rate ${fast}bit burst 9100 limit 4000000
	for n in 0 1 2 3; do
		# shellcheck disable=SC2046 # words
		ask "shared-$n" - - tstamp "${quick[@]}" $(flows $n)
	done
	queue tbf rate ${fast}bit burst 9100 limit 4000000
	tc qdisc add dev p1 parent 1:1 handle 2: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
	tc qdisc add dev p1 parent 2:1 handle 3: bfifo limit 1000000
	tc qdisc add dev p1 parent 2:2 handle 4: bfifo limit 4000000
	tc filter add dev p1 parent 2: protocol ip prio 1 u32 match ip tos 0xc0 0xc0 flowid 2:1
	for n in 0 1 2 3; do
		# shellcheck disable=SC2046 # words
		ask "dedicated-$n" - - tstamp "${quick[@]}" --dscp 48 $(flows $n)
	done
	# shellcheck disable=SC2046 # words
	ask gaming - - tstamp "${quick[@]}" --dscp 48 $(flows 2) \
		--flow tcp:10.18.0.2,from=h4,size=4096,dscp=48
	# shellcheck disable=SC2046 # words
	ask loopback-idle - - loopback --duration 1
	queue
}

[ $# -gt 0 ] || set -- delays queues source_table
for part; do
	$part
done
# shellcheck disable=SC2046 # words
kill $(jobs -p)
$here/rack.sh down
