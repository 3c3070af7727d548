#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What smp.sh runs inside the kernel.  Each line is one run of one program: the mean time of its
# rounds.  Lines "-locks": the same beside two probes, and how long both CPUs have waited for locks
# that the module takes.
#
# usage: smp_guest.sh RUNS
set -euo pipefail

runs=$1
here=tools/bench
bin=build/tools
rounds=8 warm_up=2
tracing=/sys/kernel/tracing

$here/rack.sh up 3 rate=none mtu=1500
$here/tcp_ready.sh 3
$bin/shuffle-workload generate uniform-4m -n 2 -o /tmp/pair
$bin/shuffle-workload generate incast-4m -n 3 -o /tmp/incast
status=0

# measure CASE TRANSPORT RUN PART CPUS PORT MATRIX - in the background; PART tells programs apart
# that run at the same time
measure()
{
	local prog=(shuffle_bench)

	[ "$2" = shuffle ] || prog=(tcp_bench -m all)
	"$bin/${prog[0]}" "${prog[@]:1}" -u -w $warm_up -n $rounds -B "$5" -p "$6" -t "$2" -c "$1" -r 1 "$7" \
		>"/tmp/out.$4" 2>"/tmp/err.$4" &
	jobs+=($!)
	parts+=("$1 $2 $3 $4")
}

# Where a CPU begins to wait for a spin lock, and where it has it.  Only the slow path is probed, so
# locks that are free cost nothing; a word of the stack says which function wants the lock.
probe_locks()
{
	local i stack=

	for ((i = 0; i < 6; i++)); do stack+=" f$i=+$((8 * i))(\$stack):symbol"; done
	echo "p:lock_wait native_queued_spin_lock_slowpath$stack" >>$tracing/kprobe_events
	echo "r:lock_got native_queued_spin_lock_slowpath" >>$tracing/kprobe_events
	echo 4096 >$tracing/buffer_size_kb
}

# locks CASE RUN - wait for all of the case as it is traced
locks()
{
	finish
	echo 0 >$tracing/events/kprobes/enable
	awk -f $here/smp_locks.awk $tracing/trace >/tmp/locks
	sed -n 's/^# /#   /p' /tmp/locks
	echo "BENCH case=$1 hosts=2 mtu=1500 transport=shuffle run=$2 part=locks ok=1" \
		"rounds=$((rounds + warm_up)) $(head -1 /tmp/locks)"
}

# Wait for all; mean completion of each program's rounds.
finish()
{
	local i name way run part

	for i in "${!jobs[@]}"; do
		read -r name way run part <<<"${parts[i]}"
		wait "${jobs[i]}" || {
			status=1
			sed 's/^/# /' "/tmp/err.$part"
		}
		awk -v head="BENCH case=$name hosts=2 mtu=1500 transport=$way run=$run part=$part" \
			-v want=$rounds '
			match($0, /completion_ns=[0-9]+/) {
				sum += substr($0, RSTART + 14, RLENGTH - 14)
				n += / ok=1 /
			}
			END { print head, "ok=" (n == want), "completion_ns=" int(sum / (n ? n : 1)) }
			' "/tmp/out.$part"
	done
	jobs=() parts=()
}

jobs=() parts=()
for ((run = 1; run <= runs; run++)); do
	for way in shuffle tcp; do
		# two hosts of one program on one CPU; two such programs on two
		measure smp-sockets-one $way $run a 0 7300 /tmp/pair
		finish
		measure smp-sockets-two $way $run a 0 7300 /tmp/pair
		measure smp-sockets-two $way $run b 1 7400 /tmp/pair
		finish
		# hosts 1 and 2 send to host 0: what host 2 sends is received on its CPU
		measure smp-receive-one $way $run a 0 7300 /tmp/incast
		finish
		measure smp-receive-two $way $run a 0,0,1 7300 /tmp/incast
		finish
	done
done

probe_locks
for ((run = 1; run <= 3; run++)); do
	for name in smp-sockets-locks smp-receive-locks; do
		echo >$tracing/trace
		echo 1 >$tracing/events/kprobes/enable
		if [ $name = smp-sockets-locks ]; then
			measure $name shuffle $run a 0 7300 /tmp/pair
			measure $name shuffle $run b 1 7400 /tmp/pair
		else
			measure $name shuffle $run a 0,0,1 7300 /tmp/incast
		fi
		locks $name $run
	done
done
exit $status
