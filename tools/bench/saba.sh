#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Saba: all parts, or one.  Adds to build/bench/report.json and report-PART.txt; lines of the runs:
# raw-PART.txt.
#
# usage: [RUNS=3] [HOSTS=32] [FACTOR=0.002] [SETUPS=100]
#        saba.sh [saba | saba-rack | saba-controller | saba-sim]
#
#   saba-rack        applications that share a rack, by max-min and by Saba, over TCP and over
#                    AF_SHUFFLE, in virtual time; FACTOR of the workloads' seconds
#                    (tools/saba/kinds.c)
#   saba-controller  how long the controller computes, on one CPU of this machine; needs no kernel
#   saba-sim         speed-ups over max-min by flow, simulated; needs no kernel: SETUPS random
#                    set-ups on 32 hosts (by samples, by exact slowdowns, with connections of
#                    stages), and two on 1944 with 2, 8 and unlimited queues
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=selftests/vm/common.sh
. "$root/selftests/vm/common.sh"
cd "$root"

# What is written goes on, and standard error says what has been measured.
progress()
{
	awk '{ print; fflush() }
		/^(BENCH|PROFILE) / {
			text = ""
			for (i = 1; i <= NF; i++)
				if ($i ~ /^(percent|transport|run|app)=/)
					text = text " " $i
			print "   saba:" text >"/dev/stderr"
		}'
}

runs=${RUNS:-3} hosts=${HOSTS:-32} part=${1:-saba}
case $runs$hosts in
*[!0-9]* | 0*) die "RUNS and HOSTS must be positive numbers" ;;
esac
out=build/bench
mkdir -p "$out"

# report PART
report()
{
	python3 "$here/saba_report.py" "$1" "$out/raw-$1.txt" "$out" || die "$1: nothing was measured"
}

controller()
{
	local run

	make -s -C tools/saba OUT="$root/build/tools" UAPI="$root/uapi"
	note "saba-controller: 1000 applications, $runs runs (a minute or two each)"
	for ((run = 1; run <= runs; run++)); do
		build/tools/saba-bench
	done >"$out/raw-saba-controller.txt"
	report saba-controller
}

# simulate HOSTS MODEL OPTIONS... - lines that say so
simulate()
{
	build/tools/shuffle-saba-sim "${@:3}" 2>/dev/null |
		sed -u "s/^{/{\"hosts\": $1, \"model\": \"$2\", /"
}

simulator()
{
	local setups=${SETUPS:-100} q

	case $setups in
	*[!0-9]* | 0*) die "SETUPS must be a positive number" ;;
	esac
	make -s -C tools/saba OUT="$root/build/tools" UAPI="$root/uapi"
	note "saba-sim: $setups set-ups on 32 hosts (ten seconds each), 1944 servers (some minutes)"
	{
		simulate 32 degree-0 --runs "$setups" --policies jobs,saba
		simulate 32 exact --runs "$setups" --policies saba --exact
		simulate 32 stages --runs "$setups" --policies saba --stages
		simulate 1944 8-queues --spine-leaf --core .25 --runs 2
		for q in 2 0; do
			simulate 1944 "$([ $q = 0 ] && echo unlimited || echo $q-queues)" \
				--spine-leaf --core .25 --runs 2 --queues $q --policies saba
		done
	} >"$out/raw-saba-sim.txt"
	report saba-sim
}

rack()
{
	local t status=0

	for t in lib workload bench saba topo shufflectl; do
		make -s -C tools/$t OUT="$root/build/tools" UAPI="$root/uapi"
	done
	note "saba-rack: LR and TS, $hosts hosts, $runs runs each"
	selftests/vm/run.sh uml-time -t 7200 -m 5000 -o "$root/$out/vm-saba" "$here/saba_guest.sh" \
		"$hosts" "$runs" "${FACTOR:-0.002}" LR TS </dev/null | progress >"$out/raw-saba-rack.txt" ||
		status=$?
	[ "$status" = 0 ] ||
		note "the virtual machine ended with status $status ($out/vm-saba/console.log)"
	report saba-rack
	return "$status"
}

case $part in
saba) rack && controller && simulator ;;
saba-controller) controller ;;
saba-rack) rack ;;
saba-sim) simulator ;;
*) die "$part is none of saba, saba-rack, saba-controller, saba-sim" ;;
esac
