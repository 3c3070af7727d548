#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Applications that share a rack, by max-min and by Saba, over TCP and over AF_SHUFFLE, in virtual
# time.  Adds to build/bench/report.json and report-saba.txt; lines of the runs: raw-saba.txt.
#
# usage: [RUNS=3] [HOSTS=32] [FACTOR=0.002] saba.sh
#
#   FACTOR  of the workloads' seconds (tools/saba/kinds.c)
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

runs=${RUNS:-3} hosts=${HOSTS:-32}
case $runs$hosts in
*[!0-9]* | 0*) die "RUNS and HOSTS must be positive numbers" ;;
esac
out=build/bench
mkdir -p "$out"
for t in lib workload bench saba topo; do
	make -s -C tools/$t OUT="$root/build/tools" UAPI="$root/uapi"
done
note "saba: LR and TS, $hosts hosts, $runs runs each"
status=0
selftests/vm/run.sh uml-time -t 7200 -m 5000 -o "$root/$out/vm-saba" "$here/saba_guest.sh" \
	"$hosts" "$runs" "${FACTOR:-0.002}" LR TS </dev/null | progress >"$out/raw-saba.txt" ||
	status=$?
[ "$status" = 0 ] ||
	note "the virtual machine ended with status $status ($out/vm-saba/console.log)"
python3 "$here/saba_report.py" "$out/raw-saba.txt" "$out" || die "nothing was measured"
exit "$status"
