#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a distributed sort costs beside a local one, on one CPU whose time is counted in instructions;
# run by cpu_guest.sh, whose rack is up.
#
# usage: sort_cpu_guest.sh HOSTS RECORDS RUNS FACTS
#
# The local sort is that of a group of one: the local sort and the placing of values; the phases
# between, which are messages to oneself, are not counted.  The distributed one is the time from the
# common start until the last host has its part: the CPU is all hosts, their kernels and the links.
set -euo pipefail

hosts=$1 records=$2 runs=$3 facts=$4
bin=build/tools
json=/tmp/sort.json

# field NAME - of the host that has printed the line
field() { sed "s/.*\"own\": {[^}]*\"$1\": \([0-9]*\).*/\1/" "$2"; }

# sort_at HOST GROUP RANK OP ARGS...
sort_at()
{
	ip netns exec "h$1" $bin/shuffle-sort -g "$2" -r "$3" -o "$4" --no-output --threads 1 \
		--no-progress -j -n "$records" "${@:5}"
}

for ((h = 0; h < hosts; h++)); do
	echo "10.18.$(((h + 1) / 256)).$(((h + 1) % 256)):7000"
done >/tmp/group
for ((run = 1; run <= runs; run++)); do
	# the shortest of three: they are short, and what else the kernel does counts
	local_ns=0
	for try in 0 1 2; do
		sort_at 0 10.18.0.1:7001 0 $((3 * run + try)) --seed "$run" >$json
		ns=$(($(field sort_ns $json) + $(field place_ns $json)))
		[ $local_ns != 0 ] && [ $local_ns -le $ns ] || local_ns=$ns
	done
	start=$(($(date +%s) + 30))
	pids=()
	for ((h = 0; h < hosts; h++)); do
		sort_at "$h" /tmp/group "$h" "$run" --seed "$run" --start $start >"$json.$h" &
		pids+=($!)
	done
	ok=1
	for pid in "${pids[@]}"; do wait "$pid" || ok=0; done
	first=0 last=0
	for ((h = 0; h < hosts; h++)); do
		begin=$(field start_ns "$json.$h")
		end=$begin
		for phase in sort partition shuffle place; do
			end=$((end + $(field ${phase}_ns "$json.$h")))
		done
		[ "$first" != 0 ] && [ "$first" -le "$begin" ] || first=$begin
		[ "$last" -ge "$end" ] || last=$end
	done
	echo "BENCH $facts transport=shuffle run=$run ok=$ok records=$records" \
		"local_ns=$((local_ns * hosts)) completion_ns=$((last - first))"
done
