#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What cpu.sh runs inside the kernel: one case, all its transports in turns.
#
# usage: cpu_guest.sh CASE HOSTS MATRIX MTU RUNS TRANSPORT...
set -euo pipefail

name=$1 hosts=$2 matrix=$3 mtu=$4 runs=$5
shift 5
here=tools/bench
bin=build/tools
facts="case=$name hosts=$hosts matrix=$matrix mtu=$mtu"

if [ "$name" = cpu-sched ]; then
	for ((run = 1; run <= runs; run++)); do
		for n in 1 64 1024; do
			echo "BENCH $facts transport=messages-$n run=$run ok=1 $($bin/cpu_limits sched $n)"
		done
	done
	exit 0
fi

if [ "$name" = cpu-bh-off ]; then
	exec $here/bh_off_guest.sh
fi

$here/rack.sh up "$hosts" rate=none mtu="$mtu"
$here/tcp_ready.sh "$hosts"
if [[ $name = cpu-sort-* ]]; then
	exec $here/sort_cpu_guest.sh "$hosts" "${name##*-}" "$runs" "$facts"
fi
$bin/shuffle-workload generate "$matrix" -n "$hosts" -o /tmp/matrix

offloads=on
# offload on|off - of all devices; veth has no GRO unless told
offload()
{
	local h

	[ "$offloads" != "$1" ] || return 0
	offloads=$1
	ethtool -K rack tso "$1" gso "$1" >/dev/null
	for ((h = 0; h < hosts; h++)); do
		ethtool -K "p$h" tso "$1" gso "$1" >/dev/null
		ip netns exec "h$h" ethtool -K eth0 tso "$1" gso "$1" >/dev/null
	done
}

# One long message, the case's bytes, by the program that people use for it.
iperf()
{
	local bytes=$((64 << 20)) bps

	ip netns exec h0 iperf3 -s -1 -D
	sleep 0.2
	bps=$(ip netns exec h1 iperf3 -c 10.18.0.1 -n $bytes -l 1M -J |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["end"]["sum_received"]["bits_per_second"])')
	python3 -c "print(f'bytes=$bytes completion_ns={8e9 * $bytes / $bps:.0f}')"
}

# The collective of coll-cpu-KIND-BYTES, as coll_bench wants it.
collective()
{
	local kind=${name#coll-cpu-}

	echo "${kind/-/:}"
}

# measure RUN TRANSPORT
measure()
{
	local run=$1 way=$2 line by

	offload on
	case $name/$way in
	coll-cpu-alltoall-*) set -- coll_bench -C "$(collective):${way#shuffle-}" -k 4:100 ;;
	coll-cpu-*/shuffle.*)	# shuffle.ENGINE.PATTERN.RADIX
		IFS=. read -ra by <<<"$way"
		set -- coll_bench -C "$(collective):${by[2]}:${by[3]}" -E "${by[1]}"
		;;
	coll-cpu-*) set -- coll_bench -C "$(collective)" -E "$([ "$way" = shuffle-user ] && echo user || echo kernel)" ;;
	*/shuffle) set -- shuffle_bench -v ;;
	*/shuffle-key) set -- shuffle_bench -K -v ;;
	*/tcp-nogso)
		offload off
		set -- tcp_bench -m all -w 1
		;;
	*/tcp-cold) set -- tcp_bench -m cold ;;
	*/tcp-*) set -- tcp_bench -m "${way#tcp-}" -w 1 ;;
	*/iperf3)
		echo "BENCH $facts transport=$way run=$run ok=1 $(iperf)"
		return
		;;
	*/memcpy)
		line=$($bin/cpu_limits memcpy $((64 << 20)))
		echo "BENCH $facts transport=$way run=$run ok=1 ${line/ ns=/ completion_ns=}"
		return
		;;
	esac
	$bin/"$1" "${@:2}" -u -t "$way" -c "$name" -r "$run" /tmp/matrix | sed "s/ hosts=/ matrix=$matrix mtu=$mtu&/" || {
		status=1
		echo "BENCH $facts transport=$way run=$run ok=0"
	}
}

status=0
for ((run = 1; run <= runs; run++)); do
	for way in "$@"; do
		measure "$run" "$way"
	done
done
exit $status
