#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# In-network aggregation: records merged by key on a BCube(4,1) and in racks, in virtual time,
# beside AF_SHUFFLE without aggregation and TCP on the same network; and what merging costs a
# processor whose time is counted.  Adds to build/bench/report.json; report-agg.txt; lines of the
# runs: raw-agg.txt.
#
# usage: [RUNS=3] [MTU=1500] agg.sh [REGEX]
#
#   REGEX  of the cases agg-bcube41-incast, agg-bcube41-shuffle-0, -0.5, -1,
#          agg-rack-allreduce-1m, agg-cpu
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=selftests/vm/common.sh
. "$root/selftests/vm/common.sh"
cd "$root"

regex=${1:-${CASE:-agg}}
runs=${RUNS:-3}
mtu=${MTU:-1500}
out=build/bench
raw=$out/raw-agg.txt
case $runs in
'' | *[!0-9]* | 0) die "RUNS must be a positive number" ;;
esac
mkdir -p "$out"
: >"$raw"
for t in lib bench topo shufflectl; do
	make -s -C tools/$t OUT="$root/build/tools" UAPI="$root/uapi"
done

status=0 any=0
# boot LANE WHAT SCRIPT ARGS...
boot()
{
	local vm

	any=1
	note "$2, $runs runs each"
	set +e
	selftests/vm/run.sh "$1" -t 7200 -m 6000 -o "$root/$out/vm-agg" "${@:3}" \
		</dev/null | sed -u 's/^[[:space:]]*BENCH /BENCH /' | tee -a "$raw" |
		sed -u 's/^BENCH case=/   /; s/ \(late_start\|[a-z]*_drops\|peak_\|Data\).*//'
	vm=${PIPESTATUS[0]}
	set -e
	if [ "$vm" != 0 ]; then
		note "the virtual machine ended with status $vm ($out/vm-agg/console.log)"
		status=1
	fi
}

wanted()
{
	local c

	for c; do
		[[ ! $c =~ ^($regex) ]] || return 0
	done
	return 1
}

! wanted agg-bcube41-incast agg-bcube41-shuffle-{0,0.5,1} ||
	boot uml-time "BCube(4,1), MTU $mtu" "$here/agg_guest.sh" \
		bcube "$mtu" "$runs" "$regex"
! wanted agg-rack-allreduce-1m ||
	boot uml-time "racks, MTU $mtu" "$here/agg_guest.sh" \
		racks "$mtu" "$runs" "$regex"
! wanted agg-cpu ||
	boot qemu-icount "one processor" "$here/agg_cpu_guest.sh" "$runs"
[ "$any" = 1 ] || die "no case matches '$regex'"

python3 "$here/agg_report.py" "$raw" "$out" || die "nothing was measured"
exit "$status"
