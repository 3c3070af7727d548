#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What cpu_profile.sh runs inside the kernel: a case by both transports, counted and sampled.  Leaves
# in SHUFFLE_OUT, for each, TRANSPORT.stat (events of few and of many rounds) and TRANSPORT.data
# (samples, for perf), and kallsyms, the addresses of this boot.
#
# usage: cpu_profile_guest.sh CASE HOSTS MATRIX MTU ROUNDS
set -euo pipefail

name=$1 hosts=$2 matrix=$3 mtu=$4 rounds=$5
here=tools/bench
bin=build/tools
few=2 many=8

mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing
echo 0 >/proc/sys/kernel/kptr_restrict
$here/rack.sh up "$hosts" rate=none mtu="$mtu"
$here/tcp_ready.sh "$hosts"
$bin/shuffle-workload generate "$matrix" -n "$hosts" -o /tmp/matrix

events=net:net_dev_start_xmit,raw_syscalls:sys_enter,irq:softirq_entry,sched:sched_switch
events+=,workqueue:workqueue_execute_start,timer:hrtimer_expire_entry,timer:timer_expire_entry,kmem:kmem_cache_alloc,kmem:kmalloc

# rounds_of TRANSPORT N - N rounds and one to warm up
rounds_of()
{
	local prog=(shuffle_bench)

	[[ $1 == shuffle* ]] || prog=(tcp_bench -m all)
	"$bin/${prog[0]}" "${prog[@]:1}" -u -w 1 -n "$2" -t "$1" -c "$name" -r 1 /tmp/matrix
}

# what runs below perf
export bin name
export -f rounds_of

cat /proc/kallsyms >"$SHUFFLE_OUT/kallsyms"
for way in shuffle tcp; do
	rounds_of $way 2 >/dev/null
	for n in $few $many; do
		perf stat -a -x, -o /tmp/stat -e "$events" -- bash -c "rounds_of $way $n" >/dev/null
		sed -n "s/^\([0-9]*\),,\([^,]*\),.*/$n \2 \1/p" /tmp/stat
	done >"$SHUFFLE_OUT/$way.stat"
	rounds_of $way "$rounds"
	perf record -q -a -e cpu-clock -F 2500 -g -o /tmp/perf.data -- \
		bash -c "rounds_of $way-sampled $rounds"
	mv /tmp/perf.data "$SHUFFLE_OUT/$way.data"
done
