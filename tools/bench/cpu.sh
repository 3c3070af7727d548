#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The CPU-limited half of the benchmark: AF_SHUFFLE beside TCP on one CPU whose
# time is counted in instructions (lane qemu-icount), on racks without queues.
# One boot a case; in it all transports take turns.  Adds to
# build/bench/report.json and report.txt; lines of the runs: raw-cpu.txt.
#
# usage: [RUNS=5] [KEEP=1] cpu.sh [REGEX]
#
#   REGEX  matched against the beginning of the case's name
#   RUNS   of each transport; at most so many as the case says, because one takes
#          up to minutes
#   KEEP   not empty: add to the results that are there
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=selftests/vm/common.sh
. "$root/selftests/vm/common.sh"
cd "$root"

# case, hosts, matrix, MTU, runs at most, transports
all='shuffle tcp-all tcp-rotation tcp-nogso tcp-cold'
cases=(
	"cpu-1pair-64m  2   incast-64m  1500 5 shuffle shuffle-key tcp-all tcp-nogso iperf3 memcpy"
	"cpu-1pair-64m  2   incast-64m  9000 5 shuffle tcp-all tcp-nogso iperf3 memcpy"
	"cpu-8x1m       8   uniform-1m  1500 5 $all"
	"cpu-8x1m       8   uniform-1m  9000 5 $all"
	"cpu-32x8k      32  uniform-8k  1500 5 $all"
	"cpu-64x64b     64  uniform-64  1500 5 shuffle-key $all"
	"cpu-scale-1k   8   uniform-1k  1500 5 shuffle tcp-all"
	"cpu-scale-1k   16  uniform-1k  1500 5 shuffle tcp-all"
	"cpu-scale-1k   32  uniform-1k  1500 5 shuffle tcp-all"
	"cpu-scale-1k   64  uniform-1k  1500 3 shuffle tcp-all"
	"cpu-scale-1k   128 uniform-1k  1500 2 shuffle"
	"cpu-scale-1k   256 uniform-1k  1500 1 shuffle"
	"coll-cpu-barrier-0   8  uniform-8 1500 5 shuffle shuffle-user"
	"coll-cpu-barrier-0   32 uniform-8 1500 5 shuffle shuffle-user"
	"coll-cpu-bcast-8     8  uniform-8 1500 5 shuffle shuffle-user"
	"coll-cpu-bcast-8     32 uniform-8 1500 5 shuffle shuffle-user"
	"coll-cpu-bcast-65536 8  uniform-8 1500 5 shuffle shuffle-user"
	"coll-cpu-bcast-65536 32 uniform-8 1500 5 shuffle shuffle-user"
	"coll-cpu-reduce-65536 8  uniform-8 1500 5 shuffle shuffle-user"
	"coll-cpu-reduce-65536 32 uniform-8 1500 5 shuffle shuffle-user"
	"coll-cpu-allreduce-8 8  uniform-8 1500 5 shuffle shuffle-user"
	"coll-cpu-allreduce-8 32 uniform-8 1500 5 shuffle shuffle-user"
	"coll-cpu-alltoall-8    32 uniform-8 1500 5 shuffle-flat shuffle-spread shuffle-cool-p-p"
	"coll-cpu-alltoall-64   32 uniform-8 1500 5 shuffle-flat shuffle-spread shuffle-cool-p-p"
	"coll-cpu-alltoall-256  32 uniform-8 1500 5 shuffle-flat shuffle-spread shuffle-cool-p-p"
	"coll-cpu-alltoall-512  32 uniform-8 1500 5 shuffle-flat shuffle-spread shuffle-cool-p-p"
	"coll-cpu-alltoall-4096 32 uniform-8 1500 5 shuffle-flat shuffle-spread shuffle-cool-p-p"
	"cpu-sort-25000 8    none        1500 3 shuffle"
	"cpu-sort-25000 32   none        1500 3 shuffle"
	"cpu-sched      1   none        1500 3 none"
	"cpu-bh-off     1   none        1500 1 none"
)

regex=${1:-${CASE:-cpu}}
runs=${RUNS:-5}
out=build/bench
raw=$out/raw-cpu.txt
mkdir -p "$out"
[ -n "${KEEP-}" ] || : >"$raw"
make -s -C tools/lib OUT="$root/build/tools" UAPI="$root/uapi"
make -s -C tools/sort OUT="$root/build/tools" UAPI="$root/uapi"
make -s -C tools/bench OUT="$root/build/tools" UAPI="$root/uapi"

status=0 any=0
for c in "${cases[@]}"; do
	read -r name hosts matrix mtu most ways <<<"$c"
	[[ $name =~ ^$regex || $name-$hosts-$mtu =~ ^$regex ]] || continue
	any=1
	n=$((runs < most ? runs : most))
	note "$name, $hosts hosts, MTU $mtu, $n runs each: $ways"
	set +e
	# shellcheck disable=SC2086 # words
	selftests/vm/run.sh qemu-icount -t 7200 -m 4000 -o "$root/$out/vm-cpu" \
		"$here/cpu_guest.sh" "$name" "$hosts" "$matrix" "$mtu" "$n" $ways |
		tee -a "$raw" | sed -u 's/^BENCH case=[^ ]* /   /; s/ \(ok\|data_bytes\|bound_ns\|slowdown\|[a-z]*_drops\|peak_queue\)=[^ ]*//g; s/ DataOut=.*//'
	vm=${PIPESTATUS[0]}
	set -e
	if [ "$vm" != 0 ]; then
		note "the virtual machine ended with status $vm ($out/vm-cpu/console.log)"
		status=1
	fi
done
[ "$any" = 1 ] || die "no case matches '$regex'"

python3 "$here/cpu_report.py" "$raw" "$out" || die "nothing was measured"
exit "$status"
