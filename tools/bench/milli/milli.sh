#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Flash bursts: how many records can be sorted, and rows be queried, in 1 ms and in 10 ms, on the
# network of the other cases (25 Gb/s, 4 us) in virtual time, lane uml-time.  Computation is
# charged to virtual time (shuffle-sort --charge) by two models: "source", the measured costs of
# Li's servers (a quarter of a machine: 10 cores of 2.4 GHz), and "counted", instructions of these
# programs (lane qemu-icount), one a cycle at 2.4 GHz, 10 cores for the local sort, which has
# threads, and one core for all else.  See Documentation/evaluation-milli.rst.
#
# usage: [RUNS=3] [KEEP=1] milli.sh [REGEX]
#
#   REGEX  of milli-sort, milli-sort-10ms, milli-partition, milli-q1, milli-q2, milli-q3,
#          milli-q-10ms, milli-mpi; milli-sort-10ms-counted and milli-q-10ms-counted are
#          those with counted costs; a host count may follow: milli-sort-120
#   RUNS   of which the median counts, at the largest number
#   KEEP   not empty: add to the results that are there
#
# Writes build/bench/milli.json, milli.txt, milli.svg and rows of report.json.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
# shellcheck source=selftests/vm/common.sh
. "$root/selftests/vm/common.sh"
cd "$root"

regex=${1:-milli}
runs=${RUNS:-3}
out=build/bench
raw=$out/milli.raw
case $runs in
'' | *[!0-9]* | 0) die "RUNS must be a positive number" ;;
esac
mkdir -p "$out"
for t in lib sort query bench bench/mpi shufflectl; do
	make -s -C tools/$t OUT="$root/build/tools" UAPI="$root/uapi"
done
[ -n "${KEEP-}" ] || rm -f "$raw" "$out/milli.count"

if [ ! -s "$out/milli.count" ]; then
	note "instructions of the programs"
	selftests/vm/run.sh qemu-icount -N -t 600 -m 1000 -o "$root/$out/vm-milli" \
		"$here/count.sh" | tee "$out/milli.count" | sed 's/^/   /'
fi
# ns KIND CORES - virtual ns at 2 ns an instruction become ns at 2.4 GHz
ns()
{
	awk -v k="$1" -v c="$2" '$1 == "COUNT" && $2 == k { printf "%.3f", $3 / 2 / 2.4 / c }' \
		"$out/milli.count"
}

counted=sort=$(ns sort 10),place=$(ns place 1),pivot=$(ns pivot 1)
network=sort=1.644,place=18.3

# name, hosts, memory in MB, what
cases=(
	"milli-sort      40  3000 largest sort source 1000 10000"
	"milli-sort      80  4000 largest sort source 1000 11000"
	"milli-sort      120 6000 largest sort source 1000 10900"
	"milli-sort      120 6000 largest sort $counted 1000 6000"
	"milli-sort      160 8000 largest sort source 1000 10000"
	"milli-sort-10ms 120 14000 largest sort source 10000 120000"
	"milli-sort-10ms-counted 120 10000 largest sort $counted 10000 50000"
	"milli-partition 40  3000 once sort $network 7000 network-2-level"
	"milli-partition 40  3000 once sort $network 7000 network-1-level --reduction 512"
	"milli-partition 40  3000 once sort source 7000 source-2-level"
	"milli-partition 40  3000 once sort source 7000 source-1-level --reduction 512"
	"milli-partition 80  4000 once sort $network 7000 network-2-level"
	"milli-partition 80  4000 once sort $network 7000 network-1-level --reduction 512"
	"milli-partition 80  4000 once sort source 7000 source-2-level"
	"milli-partition 80  4000 once sort source 7000 source-1-level --reduction 512"
	"milli-partition 120 6000 once sort $network 7000 network-2-level"
	"milli-partition 120 6000 once sort $network 7000 network-1-level --reduction 512"
	"milli-partition 120 6000 once sort source 7000 source-2-level"
	"milli-partition 120 6000 once sort source 7000 source-1-level --reduction 512"
	"milli-partition 120 6000 once sort source,message=625 7000 source-messages"
	"milli-partition 160 8000 once sort source 7000 source-2-level"
	"milli-partition 160 8000 once sort source 7000 source-1-level --reduction 512"
	"milli-mpi       16  3000 versus none uniform 7000"
	"milli-mpi       16  3000 versus none skewed 7000"
	"milli-mpi       16  3000 versus none clustered 7000"
	"milli-mpi       16  3000 versus none uniform 25000"
	"milli-mpi       16  3000 versus none skewed 25000"
	"milli-mpi       16  3000 versus none clustered 25000"
	"milli-mpi       40  4000 versus none uniform 7000"
	"milli-mpi       40  4000 versus none skewed 7000"
	"milli-mpi       40  4000 versus none clustered 7000"
	"milli-q1        120 6000 largest q1 row=2.7 1000 300000"
	"milli-q1        120 6000 largest q1 row=$(ns row-q1 1) 1000 4000"
	"milli-q1        160 8000 largest q1 row=2.7 1000 300000"
	"milli-q2        120 6000 largest q2 row=12 1000 50000"
	"milli-q2        160 8000 largest q2 row=12 1000 55000"
	"milli-q2        120 6000 largest q2 row=$(ns row-q2 1) 1000 2000"
	"milli-q3        60  4000 largest q3 row=1200 1000 420"
	"milli-q3        120 6000 largest q3 row=1200 1000 420"
	"milli-q3        120 6000 largest q3 row=$(ns row-q3 1) 1000 300"
	"milli-q3        160 8000 largest q3 row=1200 1000 500"
	"milli-q-10ms    120 12000 largest q1 row=2.7 10000 3650000"
	"milli-q-10ms    120 12000 largest q2 row=12 10000 600000"
	"milli-q-10ms    120 12000 largest q3 row=1200 10000 7000"
	"milli-q-10ms-counted 120 6000 largest q1 row=$(ns row-q1 1) 10000 46000"
	"milli-q-10ms-counted 120 6000 largest q2 row=$(ns row-q2 1) 10000 23000"
	"milli-q-10ms-counted 120 6000 largest q3 row=$(ns row-q3 1) 10000 5000"
)

status=0 any=0 boot=
# boot_cases - what has been collected, on one rack
boot_cases()
{
	[ -n "$boot" ] || return 0
	note "$boot hosts: $(wc -l <"$out/milli.cases") cases, $runs runs each"
	set +e
	selftests/vm/run.sh uml-time -t 36000 -m "$mem" -e "MEM_MAX=$((mem / 2))m" \
		-o "$root/$out/vm-milli" "$here/guest.sh" "$boot" 25 4 "$runs" "$out/milli.cases" |
		tee -a "$raw" | sed -u '/^MILLI/d; s/^/   /'
	vm=${PIPESTATUS[0]}
	set -e
	if [ "$vm" != 0 ]; then
		note "the virtual machine ended with status $vm ($out/vm-milli/console.log)"
		status=1
	fi
}

for hosts in 16 40 60 80 120 160; do
	mem=0 boot=
	: >"$out/milli.cases"
	for c in "${cases[@]}"; do
		read -r name n m words <<<"$c"
		[ "$n" = "$hosts" ] || continue
		[[ $name =~ ^($regex) || $name-$n =~ ^($regex)$ ]] || continue
		boot=$hosts any=1
		[ "$m" -le "$mem" ] || mem=$m
		echo "$words" >>"$out/milli.cases"
	done
	boot_cases
done
rm -f "$out/milli.cases"
[ "$any" = 1 ] || die "no case matches '$regex'"
python3 -B "$here/report.py" "$raw" "$out/milli.count" "$out" || die "nothing was measured"
exit "$status"
