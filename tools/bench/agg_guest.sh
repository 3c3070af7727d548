#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What agg.sh runs inside the kernel (virtual time): records merged on their way, the same bytes
# without, and TCP, in turns.
#
# usage: agg_guest.sh bcube|racks MTU RUNS REGEX
#   REGEX  of the cases agg-bcube41-incast, agg-bcube41-shuffle-<delta>, agg-rack-allreduce-1m
set -euo pipefail

net=$1 mtu=$2 runs=$3 regex=$4
here=tools/bench
bin=build/tools
rate=25 rtt_ns=4000
racks=4 hosts=40
egress=262144
status=0

# What the module takes for granted; and as good as TCP gets.
setup()
{
	$bin/shufflectl config set mem-max 5000m
	$here/config_all.sh "$1" link-rate $((rate * 1000)) rtt "$rtt_ns"
	$here/tcp_ready.sh "$1"
}

# one CASE WAY RUN PROGRAM ARGS...
one()
{
	timeout 3000 "$bin/$4" -c "$1" -t "$2" -r "$3" -R "${rate}e9" -T "$rtt_ns" "${@:5}" |
		sed "s/ transport=/ mtu=$mtu&/" || {
		status=1
		echo "BENCH case=$1 hosts=16 mtu=$mtu transport=$2 run=$3 ok=0"
	}
}

# matrix FIRST_SENDER SENDERS FIRST_RECEIVER RECEIVERS - 1 MiB each
matrix()
{
	awk -v s="$1" -v ss="$2" -v r="$3" -v rr="$4" 'BEGIN {
		for (i = 0; i < 16; i++) {
			for (j = 0; j < 16; j++)
				printf("%s%d", j ? "," : "", (i != j && i >= s && i < s + ss &&
				       j >= r && j < r + rr) ? 1048576 : 0)
			print ""
		}
	}'
}

# plan METHOD DELTA FIRST_SENDER SENDERS FIRST_RECEIVER RECEIVERS
plan()
{
	$bin/shuffle-plan --bcube 4,1 --method "$1" --delta "$2" --quiet --progress off --table /tmp/plan \
		--senders "$(seq -s, "$3" $(($3 + $4 - 1)))" \
		--receivers "$(seq -s, "$5" $(($5 + $6 - 1)))"
}

without()
{
	one "$1" shuffle-none "$2" shuffle_bench /tmp/matrix
	one "$1" tcp-all "$2" tcp_bench -m all -w 1 /tmp/matrix
	[[ $1 != *shuffle* ]] || one "$1" tcp-hadoop5 "$2" tcp_bench -m hadoop5 -w 1 /tmp/matrix
}

bcube()
{
	local run delta c any

	$here/bcube.sh up rate=${rate}gbit mtu="$mtu" delay=$((rtt_ns / 2000))us
	$here/bcube.sh ways >/tmp/ways
	setup 16
	# What may wait in a host's own queues is a limit of the host and not of a NIC: with two NICs
	# a short queue in front of one leaves the other one idle.
	$here/config_all.sh 16 egress-bytes "$egress"
	for ((run = 1; run <= runs; run++)); do
		c=agg-bcube41-incast
		if [[ "$c" =~ ^($regex) ]]; then
			matrix 1 15 0 1 >/tmp/matrix
			plan irs 0 1 15 0 1
			one "$c" shuffle "$run" agg_bench -G /tmp/plan -W /tmp/ways /tmp/matrix
			one "$c" shuffle-table "$run" agg_bench -Z -G /tmp/plan -W /tmp/ways /tmp/matrix
			without "$c" "$run"
		fi
		matrix 0 12 4 12 >/tmp/matrix
		any=''
		for delta in 0 0.5 1; do
			c=agg-bcube41-shuffle-$delta
			[[ "$c" =~ ^($regex) ]] || continue
			any=1
			plan srs "$delta" 0 12 4 12
			one "$c" shuffle "$run" agg_bench -G /tmp/plan -W /tmp/ways -D "$delta" /tmp/matrix
		done
		[ -z "$any" ] || without agg-bcube41-shuffle "$run"
	done
}

racks()
{
	local c=agg-rack-allreduce-1m run how

	$here/rack.sh up $((hosts + racks)) rate=${rate}gbit mtu="$mtu" delay=$((rtt_ns / 2000))us
	setup $((hosts + racks))
	$bin/shuffle-workload generate uniform-8 -n "$hosts" -o /tmp/hosts
	$bin/shuffle-workload generate uniform-8 -n $((hosts + racks)) -o /tmp/all
	$here/agg_relays.sh "$hosts" "$racks" "$rate" "$rtt_ns"
	for ((run = 1; run <= runs; run++)); do
		one "$c" shuffle "$run" agg_allreduce -K "$racks" /tmp/all
		for how in auto ring; do
			one "$c" "shuffle-none-$how" "$run" coll_bench -C "allreduce:1048576:$how" /tmp/hosts
		done
	done
}

case $net in
bcube) bcube ;;
racks) racks ;;
*) exit 2 ;;
esac
exit $status
