#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What agg.sh runs on one processor whose time is counted: 8 hosts send records of the same keys
# through one that merges to one that reads, on a rack without queues.  That processor is all hosts:
# times are those of senders, network, merge and receiver together.
#
# usage: agg_cpu_guest.sh RUNS
#
#   shuffle         by shuffle_tree_*(), of which shuffle-relayd is made; sorted streams
#   shuffle-table   in a table
#   shuffle-none    every sender straight to the receiver: without a merge
#   user-hash       a hash table in a program, of records in memory: no network
set -euo pipefail

runs=$1
here=tools/bench
bin=build/tools
senders=8 records=65536
hosts=$((senders + 2))
facts="case=agg-cpu hosts=$hosts mtu=1500"

$here/rack.sh up $hosts rate=none mtu=1500
$bin/shuffle-workload generate uniform-8 -n $hosts -o /tmp/matrix
{
	echo "tree 0 senders $senders servers $hosts"
	echo "0 - - 1 root"
	echo "1 0 0 $senders aggregate"
	for ((h = 2; h < hosts; h++)); do echo "$h 1 0 1 sender"; done
} >/tmp/through
# each sender's records to the receiver
for ((h = 0; h < hosts; h++)); do
	printf '%d' $((h > 1 ? records * 16 : 0))
	printf ',0%.0s' $(seq 2 $hosts)
	echo
done >/tmp/straight

# one WAY RUN PROGRAM ARGS...
one()
{
	"$bin/$3" -u -c agg-cpu -t "$1" -r "$2" "${@:4}" |
		sed "s/case=agg-cpu hosts=[0-9]*/$facts records=$((senders * records))/" || {
		status=1
		echo "BENCH $facts transport=$1 run=$2 ok=0"
	}
}

status=0
for ((run = 1; run <= runs; run++)); do
	one shuffle "$run" agg_bench -M $records -G /tmp/through /tmp/matrix
	one shuffle-table "$run" agg_bench -Z -M $records -G /tmp/through /tmp/matrix
	one shuffle-none "$run" shuffle_bench /tmp/straight
	if user=$($bin/cpu_limits merge $senders $records); then
		echo "BENCH $facts transport=user-hash run=$run ok=1 $user"
	else
		status=1
		echo "BENCH $facts transport=user-hash run=$run ok=0"
	fi
done
exit $status
