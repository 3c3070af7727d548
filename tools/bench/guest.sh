#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What run.sh runs inside the kernel: all cases and transports on one rack.
#
# usage: guest.sh HOSTS MTU RUNS CASE...
set -euo pipefail

hosts=$1 mtu=$2 runs=$3
shift 3
here=tools/bench
bin=build/tools
read -ra ways <<<"${BENCH_WAYS:-shuffle tcp-all}"
params=/sys/module/shuffle/parameters

# tell LINK_MBPS RTT_NS - what the module takes for granted; 0: finds out
tell()
{
	echo "$1" >$params/link_mbps
	echo "$2" >$params/rtt_ns
}

# As good as TCP gets: no buffer is ever the limit, connections stay warm.
# shellcheck disable=SC2086 # RACK: parameters of rack.sh, words
$here/rack.sh up "$hosts" rate=25gbit mtu="$mtu" ${RACK-}
$here/rack.sh check "$hosts"
sysctl -q -w net.ipv4.tcp_mem='2000000 3000000 4000000'
for ((h = 0; h < hosts; h++)); do
	ip netns exec "h$h" sysctl -q -w \
		net.ipv4.tcp_wmem='4096 4194304 33554432' \
		net.ipv4.tcp_rmem='4096 4194304 33554432' \
		net.ipv4.tcp_slow_start_after_idle=0 \
		net.ipv4.tcp_no_metrics_save=1 \
		net.ipv4.tcp_max_syn_backlog=65536 \
		net.core.somaxconn=65536
done

# host_queue fq|fifo - what waits in a host for its own link.  Several TCP
# connections share a link far better with fq (each in turn, paced, ACKs not
# behind data), but where all hosts send in the same order a FIFO happens to be a
# perfect rotation: both are measured.
host_queue()
{
	local h kind=$1

	case $kind in
	"$queue") return ;;
	fq) set -- fq limit 100000 flow_limit 50000 buckets 4096 ;;
	fifo) set -- bfifo limit 64000000 ;;
	esac
	queue=$kind
	for ((h = 0; h < hosts; h++)); do
		tc -n "h$h" qdisc del dev eth0 parent 3:2 handle 11:
		tc -n "h$h" qdisc add dev eth0 parent 3:2 handle 11: "$@"
	done
}

# measure CASE RUN TRANSPORT
measure()
{
	local c=$1 run=$2 way=$3 cmd matrix

	# Every run has its own skewed matrix, the same for all transports.
	matrix=/tmp/$c.$run
	[ -s "$matrix" ] || $bin/shuffle-workload generate "$c" -n "$hosts" -S "$run" -o "$matrix"
	case $c/$way in
	incast*/tcp-rotation)
		return 0	# the same as all at once
		;;
	*/shuffle)
		tell 25000 4000
		cmd=(shuffle_bench -v)
		;;
	*/shuffle-auto)
		tell 0 0
		cmd=(shuffle_bench -v)
		;;
	*/tcp-*)
		cmd=(tcp_bench -m "${mode#tcp-}")
		;;
	*)
		echo "unknown transport $way"
		exit 2
		;;
	esac
	timeout 300 "$bin/${cmd[0]}" "${cmd[@]:1}" -t "$way" -c "$c" -r "$run" "$matrix" || {
		status=1
		echo "BENCH case=$c hosts=$hosts transport=$way run=$run ok=0"
	}
}

status=0 queue=''
for ((run = 1; run <= runs; run++)); do
	for kind in fq fifo; do
		for c in "$@"; do
			for way in "${ways[@]}"; do
				mode=${way%-fifo}
				case $kind/$way in
				fq/*-fifo) ;;
				fq/* | fifo/*-fifo)
					host_queue $kind
					measure "$c" "$run" "$way"
					;;
				esac
			done
		done
	done
done
exit $status
