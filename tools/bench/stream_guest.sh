#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What stream.sh runs inside the kernel: a stream in several ways, on one rack of 25 Gb/s and 4 us.
#
# usage: stream_guest.sh NAME INPUTS BUILDERS SLICES INTERVALS RUNS WAY...
set -euo pipefail

name=$1 inputs=$2 builders=$3 slices=$4 intervals=$5 runs=$6
shift 6
here=tools/bench
bin=build/tools
hosts=$((inputs + builders))
PIECE=65536

$here/rack.sh up "$hosts" rate=25gbit mtu=9000 buffer=1000000 delay=2us
$here/rack.sh check "$hosts"
sysctl -q -w net.ipv4.tcp_mem='2000000 3000000 4000000'
$bin/shufflectl config set mem-max 6000m
$here/config_all.sh "$hosts" link-rate 25000 rtt 4000
for ((h = 0; h < hosts; h++)); do
	tc -n "h$h" qdisc del dev eth0 parent 3:2 handle 11:
	tc -n "h$h" qdisc add dev eth0 parent 3:2 handle 11: fq limit 100000 flow_limit 50000 \
		buckets 4096
	ip netns exec "h$h" sysctl -q -w net.ipv4.tcp_slow_start_after_idle=0 \
		net.ipv4.tcp_no_metrics_save=1 "net.ipv4.tcp_wmem=4096 4194304 33554432" \
		"net.ipv4.tcp_rmem=4096 4194304 33554432"
	kind=input
	[ "$h" -lt "$inputs" ] || kind=builder
	echo "$kind 10.18.$(((h + 1) / 256)).$(((h + 1) % 256)):7100"
done >/tmp/members

# unscheduled BYTES - that a row sends without a grant; 0: what the module thinks right
unscheduled()
{
	$here/config_all.sh "$hosts" unscheduled "$1"
}

# args_of WAY STREAM - of all members of shuffle-stream
args_of()
{
	args=(--members /tmp/members --stream "$2" --slices "$slices" --piece "$PIECE" --json
		--timeout 10000 --schedule dfs --tickets 16)
	case $1 in
	none | bench) args+=(--schedule "$1") ;;
	grants) args+=(--schedule none) ;;
	none-*) args+=(--schedule none --tickets "${1#none-}") ;;
	dfs-*) args+=(--tickets "${1#dfs-}") ;;
	slow-median) args+=(--change 0) ;;
	esac
}

# member WAY HOST KIND RANK - one of them, in the background; its last words in /tmp/logs/end.HOST
member()
{
	local -a own=()

	if [ "$1" = tcp ]; then
		ip netns exec "h$2" "$bin/stream_tcp" "$3" /tmp/members "$4" "$slices" \
			"$intervals" "$PIECE" 16 "/tmp/logs/$3.$4" >"/tmp/logs/end.$2" &
		return
	fi
	[ "$3" = builder ] || own=(--intervals "$intervals")
	case $1,$3 in
	# as many as recovery may need
	slow*,input) own=(--intervals 40 --slow '15-25,25') ;;
	# the two ends of what clocks may be
	clocks,*) own+=(--clock "$(($2 % 7 - 3)),$(($2 % 2 ? 50 : -50))") ;;
	esac
	ip netns exec "h$2" "$bin/shuffle-stream" "$3" --rank "$4" "${args[@]}" "${own[@]}" \
		--log "/tmp/logs/$3.$4" >"/tmp/logs/end.$2" &
}

# members WAY STREAM - all of them; logs in /tmp/logs
members()
{
	local h status=0
	local -a args pids=()

	args_of "$1" "$2"
	[ "$1" != grants ] || unscheduled 9000
	rm -rf /tmp/logs
	mkdir /tmp/logs
	for ((h = 0; h < hosts; h++)); do
		if [ "$h" -lt "$inputs" ]; then
			member "$1" "$h" input "$h"
		else
			member "$1" "$h" builder $((h - inputs))
		fi
		pids+=($!)
	done
	for h in "${pids[@]}"; do wait "$h" || status=1; done
	[ "$1" != grants ] || unscheduled 0
	return $status
}

# counted - counters of all hosts, NAME=VALUE
counted()
{
	local h name names=()

	for ((h = 0; h < hosts; h++)); do names+=("h$h"); done
	for name in AnnounceOut GrantOut AckOut ResendOut CtrlPktsOut RetransBytes; do
		echo "$name=$("$bin/host_counter" '' $name "${names[@]}")"
	done
}

# matrix RUN - sixteen pieces of each pair over TCP, once, all at the same time
matrix()
{
	local i j line

	for ((i = 0; i < hosts; i++)); do
		line=
		for ((j = 0; j < hosts; j++)); do
			line+=,$((i < inputs && j >= inputs ? 16 * PIECE : 0))
		done
		echo "${line#,}"
	done >/tmp/matrix
	timeout 3000 "$bin/tcp_bench" -m all -t tcp-all -c "$name" -r "$1" -R 25e9 -T 4000 \
		-k 1:100 /tmp/matrix | sed -n "s/^BENCH .* slowdown=\([0-9.]*\).*/\1/p"
}

status=0 stream=0
for ((run = 1; run <= runs; run++)); do
	for way; do
		if [ "$way" = matrix ]; then
			s=$(matrix $run)
			echo "BENCH case=$name hosts=$hosts mtu=9000 transport=matrix run=$run ok=1" \
				"gbit=$(awk -v s="$s" 'BEGIN { print 25 / s }')"
			continue
		fi
		counted >/tmp/before
		stream=$((stream + 1))
		if members "$way" $stream; then
			counted >/tmp/after
			python3 $here/stream_report.py run "$way" /tmp/logs "$name" "$hosts" "$run"
		else
			echo "BENCH case=$name hosts=$hosts mtu=9000 transport=$way run=$run ok=0"
			status=1
		fi
	done
done
exit $status
