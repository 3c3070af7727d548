#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What cpu.sh runs inside the kernel for the case cpu-bh-off: loads with many members, many
# operations and many bytes, and how long the module kept bottom halves off in each.
# The function tracer's own work is part of the times.
set -euo pipefail

here=tools/bench
bin=build/tools
t=/sys/kernel/tracing

mountpoint -q $t || mount -t tracefs none $t
echo 100000 >$t/buffer_size_kb
# shuffle_output_flush: local_bh_disable() itself is inline
echo _raw_spin_lock_bh _raw_spin_unlock_bh __local_bh_enable_ip shuffle_output_flush \
	shuffle_input_packet timer_fires egress_run >$t/set_ftrace_filter
for event in irq/softirq_entry irq/softirq_exit irq/irq_handler_entry irq/irq_handler_exit \
	irq_vectors/local_timer_entry irq_vectors/local_timer_exit; do
	echo 1 >$t/events/$event/enable
done
echo 0 >$t/tracing_on
echo function >$t/current_tracer

# traced NAME COMMAND... - its sections, longest first
traced()
{
	local name=$1 line max

	shift
	: >$t/trace
	echo 1 >$t/tracing_on
	"$@" >/tmp/load.log 2>&1 || { cat /tmp/load.log; return 1; }
	echo 0 >$t/tracing_on
	grep -h '^overrun: *[1-9]' $t/per_cpu/*/stats && echo "# $name: the trace is not whole"
	$here/bh_off.py /proc/kallsyms <$t/trace >/tmp/bh_off
	sed "s/^/# $name: /" /tmp/bh_off
	read -r line </tmp/bh_off
	max=${line#*max_us=}
	echo "BENCH case=cpu-bh-off hosts=1 matrix=none mtu=1500 transport=$name run=1 ok=1" \
		"bh_off_ns=$((${max%% *} * 1000))"
}

ip link set lo up
traced 2-of-4096 $bin/crowd 4096 2 600
traced 1024-ops $bin/crowd 64 1024 300
$here/rack.sh up 8 rate=none mtu=1500
$bin/shuffle-workload generate uniform-1m -n 8 -o /tmp/matrix
traced 8x1m $bin/shuffle_bench -u /tmp/matrix
