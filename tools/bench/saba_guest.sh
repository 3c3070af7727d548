#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What saba.sh runs inside the kernel (virtual time): applications that share the ports of a rack
# by max-min, by Saba, and by both beneath AF_SHUFFLE.  Each application goes on until all have a
# result, so that nobody is alone at the end.
#
# usage: saba_guest.sh HOSTS RUNS FACTOR APP...
#   FACTOR  of the workloads' seconds: LR takes 100 times as many
#
# The ports of the switch are the only place where something waits: hosts have no limit of their
# own, buffers hold whatever is sent, nothing is lost.
set -euo pipefail

hosts=$1 runs=$2 factor=$3
shift 3
apps=("$@")
here=tools/bench
bin=build/tools
rate=100000000
limit=32000000
status=0
case=saba-rack-$(tr '[:upper:]' '[:lower:]' <<<"${apps[*]}" | tr ' ' -)-$hosts
export SHUFFLE_SABA_SOCKET=/tmp/saba.sock

# job WAY RUN APP ARGS... - lines of one application
job()
{
	timeout 3000 "$bin/saba_job" -c "$case" -t "$1" -r "$2" -R $rate -S "$factor" "${@:4}" "$3" "$hosts" |
		sed -u 's/ transport=/ mtu=1500&/'
}

no_ports()
{
	local h

	for ((h = 0; h < hosts; h++)); do echo "qdisc del dev p$h root"; done >/tmp/ports
	tc -batch /tmp/ports 2>/dev/null || true
}

# ports QDISC... - of all hosts, under the limit of the rate, BITS of it
ports()
{
	local h

	no_ports
	for ((h = 0; h < hosts; h++)); do
		echo "qdisc add dev p$h root handle 1: tbf rate ${bits}bit burst 9100 limit $limit"
		echo "qdisc add dev p$h parent 1:1 handle 2: $*"
	done >/tmp/ports
	tc -batch /tmp/ports
}

# The same turn for each flow, and nothing dropped: max-min as TCP would have it.
fair=(fq_codel limit 1000000 flows 8192 quantum 1514 target 100s interval 100s memory_limit
	1000000000 noecn)

# profile MODE - slowdowns of all applications alone with less of the rate: the table of the daemon
profile()
{
	local app percent ns full

	for app in "${apps[@]}"; do
		full=''
		echo "app $app"
		for percent in 100 90 75 50 25 10 5; do
			bits=$((rate * percent / 100))
			ports "${fair[@]}" >&2
			job "$1-$percent" 0 "$app" -m "$1" >/tmp/alone
			ns=$(sed -n 's/.* completion_ns=\([0-9]*\) .*/\1/p' /tmp/alone)
			sed "s/^BENCH /PROFILE percent=$percent /" /tmp/alone >&2
			full=${full:-$ns}
			awk -v b=$percent -v t="$ns" -v f="$full" 'BEGIN { printf "sample %d %.6f\n", b, t / f }'
		done
	done
	bits=$rate
}

# together WAY RUN MODE [ARGS...] - all applications at once
together()
{
	local app start port=6000 pids=() p

	start=$(awk '{ printf "%.0f", ($1 + 3) * 1e9 }' /proc/uptime)
	: >/tmp/lines
	for app in "${apps[@]}"; do
		port=$((port + 1))
		"$bin/saba_job" -c "$case" -t "$1" -r "$2" -R $rate -S "$factor" -m "$3" -a "$start" -p $port -x \
			"${@:4}" "$app" "$hosts" >>/tmp/lines &
		pids+=($!)
	done
	while [ "$(wc -l </tmp/lines)" -lt "${#apps[@]}" ]; do
		kill -0 "${pids[@]}" 2>/dev/null || break
		sleep .1
	done
	kill -TERM "${pids[@]}" 2>/dev/null || true
	for p in "${pids[@]}"; do wait "$p" || status=1; done
	sed 's/ transport=/ mtu=1500&/' /tmp/lines
}

# daemon DEGREE - weights of the table by polynomials of that degree
daemon()
{
	local h p

	no_ports
	{
		echo "table /tmp/table"
		echo "degree $1"
		for ((h = 0; h < hosts; h++)); do
			echo "port p$h rate $((rate / 1000))kbit queues 8 limit $limit to 10.18.0.$((h + 1))"
		done
	} >/tmp/saba.conf
	$bin/shuffle-sabad --config /tmp/saba.conf --socket $SHUFFLE_SABA_SOCKET 2>/tmp/sabad.log &
	sabad=$!
	for ((p = 0; p < 100; p++)); do
		! $bin/shuffle-saba show >/dev/null 2>&1 || return 0
		sleep .1
	done
	cat /tmp/sabad.log
	exit 1
}

stop_daemon()
{
	$bin/shuffle-saba stop
	wait "$sabad"
}

$here/rack.sh up "$hosts" rate=none mtu=1500
$here/tcp_ready.sh "$hosts"
$here/config_all.sh "$hosts" link-rate 100 rtt 100000
for app in "${apps[@]}"; do $bin/saba_job -D "$app" 2; done

for mode in tcp shuffle; do
	profile $mode >/tmp/table
	sed 's/^/TABLE /' /tmp/table
	for ((run = 1; run <= runs; run++)); do
		bits=$rate
		ports "${fair[@]}"
		for app in "${apps[@]}"; do job $mode-alone "$run" "$app" -m $mode; done
		together $mode-flows "$run" $mode
		ports bfifo limit $limit
		together $mode-fifo "$run" $mode
		for degree in 0 1 2 3; do
			daemon $degree
			together $mode-saba-$degree "$run" $mode -s
			stop_daemon
		done
	done
done
exit $status
