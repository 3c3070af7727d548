#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# MPI_Alltoallv over AF_SHUFFLE beside Open MPI's TCP transport and MPICH's.
# Adds its rows to build/bench/report.json and writes build/bench/mpi.txt.
#
# usage: [RUNS=5] [HOSTS=8] [TRANSPORTS='shuffle ompi-tcp'] [KEEP=1] run.sh [REGEX]
#   REGEX   cases, matched against names such as mpi-network-uniform-64k
#   KEEP    not empty: add to the results that are there
#
#   mpi-network-*  lane uml-time: 25 Gb/s, 4 us, infinitely fast processors
#   mpi-cpu-*      lane qemu-icount: links without limits, all ranks on one processor
#                  whose time is counted in instructions; at most three runs
#   mpi-osu        nothing but calls, 8 ranks on 1, 2 and 8 hosts: lane uml (native speed, this
#                  machine's time) and, on 2 and 8, qemu-icount (at most two runs)
#   mpi-coll       the same of other collectives, 8 ranks on 8 hosts
#   mpi-neighbour  the same of calls of neighbours
#   mpi-comm       the same of communicators: made, used, freed
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
# shellcheck source=selftests/vm/common.sh
. "$root/selftests/vm/common.sh"
cd "$root"

regex=${1:-.}
runs=${RUNS:-5} hosts=${HOSTS:-8}
out=build/bench
raw=$out/mpi.raw

network="uniform-8:8 uniform-1k:1000 uniform-16k:16000 uniform-64k:64000 uniform-256k:256000
	skew25-64k:skew25-64k skew50-64k:skew50-64k skew75-64k:skew75-64k
	skew50-1k:skew50-1k skew50-256k:skew50-256k"
cpu="uniform-8:8:50 uniform-64:64:50 uniform-1k:1000:50 uniform-4k:4000:20 uniform-16k:16000:10
	uniform-64k:64000:5 uniform-256k:256000:2 uniform-1m:1000000:1
	skew50-1k:skew50-1k:50 skew50-64k:skew50-64k:5 skew50-256k:skew50-256k:2"

# chosen REGIME WORDS - those that the expression names
chosen()
{
	local w

	for w in $2; do
		[[ mpi-$1-${w%%:*} =~ $regex ]] || continue
		case $w in
		*:*:*) printf 'mpi-%s-%s ' "$1" "$w" ;;
		*) printf 'mpi-%s-%s:1 ' "$1" "$w" ;;
		esac
	done
}

mkdir -p "$out"
[ -n "${KEEP-}" ] || : >"$raw"
status=0
for regime in network cpu; do
	case $regime in
	network) lane=uml-time ways="shuffle ompi-tcp ompi-tcp-fifo mpich mpich-fifo shuffle-mpich" words=$(chosen network "$network") ;;
	*) lane=qemu-icount ways="shuffle ompi-tcp mpich shuffle-mpich" words=$(chosen cpu "$cpu") ;;
	esac
	# One boot for each case, what hangs costs one; where starting a job is what takes
	# long, one for all.
	while read -r line; do
		[ -n "$line" ] || continue
		# shellcheck disable=SC2086 # words
		selftests/vm/run.sh "$lane" -t 3600 -m 3072 -o "$root/build/out/bench-mpi" \
			-e "TRANSPORTS=${TRANSPORTS-$ways}" "$here/guest.sh" "$regime" "$hosts" \
			"$([ "$regime" = cpu ] && [ "$runs" -gt 3 ] && echo 3 || echo "$runs")" $line |
			sed -u "s/^BENCH /&lane=$lane /" | tee -a "$raw" || status=1
	done < <(if [ "$regime" = network ]; then tr ' ' '\n' <<<"$words"; else echo "$words"; fi)
done
# osu LANE alltoall|others|neighbours|communicators MILLISECONDS RUNS LAYOUT...
osu()
{
	local lane=$1
	shift
	# Where instructions are counted, the clock jumps over what is idle, also while the host reads a
	# file for the guest: by minutes, until a job has started.  So it is idle in a loop there.  (A
	# process of the lowest class would keep the processor until the next tick when a rank yields it.)
	selftests/vm/run.sh "$lane" -t 7200 -m 3072 -a idle=poll -o "$root/build/out/bench-mpi" \
		"$here/osu_guest.sh" "$@" | sed -u "s/^BENCH /&lane=$lane /" | tee -a "$raw" ||
		status=1
}

if [[ mpi-osu =~ $regex ]]; then
	osu uml alltoall 100 "$runs" 8x1 2x4 1x8
	osu qemu-icount alltoall 50 "$((runs > 2 ? 2 : runs))" 8x1 2x4
fi
if [[ mpi-coll =~ $regex ]]; then
	osu uml others 100 "$runs" 8x1
	osu qemu-icount others 50 "$((runs > 2 ? 2 : runs))" 8x1
fi
if [[ mpi-neighbour =~ $regex ]]; then
	osu uml neighbours 100 "$runs" 8x1
	osu qemu-icount neighbours 50 "$((runs > 2 ? 2 : runs))" 8x1
fi
if [[ mpi-comm =~ $regex ]]; then
	osu uml communicators 100 "$runs" 8x1 2x4
	osu qemu-icount communicators 50 "$((runs > 2 ? 2 : runs))" 8x1 2x4
fi
python3 "$here/report.py" "$raw" "$out/report.json" "$out/mpi.txt"
exit "$status"
