#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The benchmark: AF_SHUFFLE beside TCP on the same racks in virtual time (lane
# uml-time).  One boot per number of hosts and MTU; in it all transports take
# turns.  Writes build/bench/report.json, report.txt and report.svg.
#
# usage: [RUNS=5] run.sh [REGEX]
#
#   REGEX  (or CASE=REGEX) which cases; matched against the name of the case,
#          "uniform-24k", and against name, hosts and MTU, "uniform-24k-40-1500"
#   RUNS   runs of each case and transport
#   WAYS   transports, default "shuffle shuffle-auto tcp-all tcp-hadoop5
#          tcp-rotation tcp-cold tcp-all-fifo"; shuffle-auto is the module
#          without being told link rate and round trip; -fifo: the hosts' own
#          queues are FIFOs instead of fq
#   KEEP   not empty: add to the results that are there, replacing equal ones
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=selftests/vm/common.sh
. "$root/selftests/vm/common.sh"
cd "$root"

regex=${1:-${CASE:-.}}
runs=${RUNS:-5}
ways=${WAYS:-shuffle shuffle-auto tcp-all tcp-hadoop5 tcp-rotation tcp-cold tcp-all-fifo}
out=build/bench
case $runs in
'' | *[!0-9]* | 0) die "RUNS must be a positive number" ;;
esac

# hosts, MTU, cases
racks=(
	"8 1500 uniform-256k"
	"8 9000 uniform-256k"
	"40 1500 uniform-24k skew50-24k incast-256k uniform-256k"
	"40 9000 uniform-24k skew50-24k incast-256k uniform-256k"
)

# Keep the results, show one line for each.
progress()
{
	local line
	declare -A v

	while read -r line; do
		if [[ $line != 'BENCH '* ]]; then
			printf '   %s\n' "$line"
			continue
		fi
		printf '%s mtu=%s\n' "$line" "$mtu" >>"$raw"
		v=()
		for w in ${line#BENCH }; do v[${w%%=*}]=${w#*=}; done
		[ -z "${v[p99_ns]-}" ] || v[slowdown]="p99 ${v[p99_ns]} ns"
		[ "${v[ok]}" = 1 ] || v[slowdown]=FAILED
		printf '   %s, %d hosts, MTU %d, run %d: %-13s %s\n' "${v[case]}" "${v[hosts]}" \
			"$mtu" "${v[run]}" "${v[transport]}" "${v[slowdown]}"
	done
}

mkdir -p "$out"
make -s -C tools/lib OUT="$root/build/tools" UAPI="$root/uapi"
make -s -C tools/bench OUT="$root/build/tools" UAPI="$root/uapi"
make -s -C tools/shufflectl OUT="$root/build/tools" UAPI="$root/uapi"
make -s -C selftests/net/shuffle OUT="$root/build/tools" UAPI="$root/uapi"

raw=$out/raw.txt
rm -f "$out"/report.*
[ -n "${KEEP-}" ] || : >"$raw"
status=0 any=0
for rack in "${racks[@]}"; do
	read -r hosts mtu cases <<<"$rack"
	wanted=()
	for c in $cases; do
		if [[ $c =~ $regex || $c-$hosts-$mtu =~ $regex ]]; then wanted+=("$c"); fi
	done
	[ "${#wanted[@]}" -gt 0 ] || continue
	any=1
	note "$hosts hosts, MTU $mtu: ${wanted[*]}, $runs runs each"
	set +e
	selftests/vm/run.sh uml-time -p 'link_mbps=25000 rtt_ns=4000' -t 36000 -m 6000 \
		-o "$root/$out/vm" -e "BENCH_WAYS=$ways" \
		"$here/guest.sh" "$hosts" "$mtu" "$runs" "${wanted[@]}" |
		progress
	vm=${PIPESTATUS[0]}
	set -e
	if [ "$vm" != 0 ]; then
		note "the virtual machine ended with status $vm ($out/vm/console.log)"
		status=1
	fi
done
if [[ qdisc-grant-delay =~ $regex ]]; then
	any=1 mtu=1500
	note "8 hosts, MTU $mtu: qdisc-grant-delay, $runs runs"
	set +e
	selftests/vm/run.sh uml-time -p 'link_mbps=25000 rtt_ns=4000' -t 3600 -m 3000 \
		-o "$root/$out/vm" "$here/qdisc.sh" 8 $mtu "$runs" |
		progress
	vm=${PIPESTATUS[0]}
	set -e
	if [ "$vm" != 0 ]; then
		note "the virtual machine ended with status $vm ($out/vm/console.log)"
		status=1
	fi
fi
[ "$any" = 1 ] || die "no case matches '$regex'"

python3 "$here/report.py" "$raw" "$out" || die "nothing was measured"
echo
cat "$out/report.txt"
echo
note "$out/report.json, report.txt, report.svg"
exit "$status"
