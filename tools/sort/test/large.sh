#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A sort of many records on namespaces, verified; minutes, so not a part of "make check":
#
#   selftests/vm/run.sh uml -t 3600 -m 9000 tools/sort/test/large.sh [HOSTS [RECORDS [ARGS...]]]
#
# 16 hosts and 10^7 records if nothing is said.  ARGS are those of shuffle-sort, such as
# --memory 20M, --keys skewed.  The output is in the guest's memory.
set -euo pipefail

hosts=${1:-16} records=${2:-10000000}
shift $(($# < 2 ? $# : 2))
bin=build/tools
dir=$(mktemp -d)

tools/bench/rack.sh up "$hosts" rate=none mtu=9000
for ((h = 0; h < hosts; h++)); do
	echo "10.18.$(((h + 1) / 256)).$(((h + 1) % 256)):7000"
done >"$dir/group"
pids=()
for ((h = 0; h < hosts; h++)); do
	# the rest of the division is spread
	n=$((records * (h + 1) / hosts - records * h / hosts))
	ip netns exec "h$h" $bin/shuffle-sort -g "$dir/group" -r "$h" -o 1 -d "$dir/out" -j -e \
		--no-progress --deadline 3600000 -n $n --first $((records * h / hosts)) "$@" \
		>"$dir/json.$h" &
	pids+=($!)
done
# the most memory that any of them has had; the kernel counts it
peak=0
while kill -0 "${pids[0]}" 2>/dev/null; do
	for pid in "${pids[@]}"; do
		kb=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status" 2>/dev/null || true)
		[ "${kb:-0}" -le "$peak" ] || peak=$kb
	done
	sleep 1
done
for pid in "${pids[@]}"; do wait "$pid"; done
sum=$(sed 's/.*"checksum": "\([0-9a-f]*\)", "largest.*/\1/' "$dir/json.0")
excess=$(sed 's/.*"excess_percent": \([0-9.]*\).*/\1/' "$dir/json.0")
$bin/shuffle-sort verify --records "$records" --checksum "$sum" "$dir/out"
echo "$hosts hosts, excess of the largest part $excess %, at most $peak kB of memory for a host"
