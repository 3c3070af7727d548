#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# shuffle-rperf where the truth is known, in virtual time, and the experiments of its source.  Adds
# to build/bench/report.json and report-rperf.txt.
#
# usage: [RUNS=3] rperf.sh [REGEX]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=selftests/vm/common.sh
. "$root/selftests/vm/common.sh"
cd "$root"

runs=${RUNS:-3}
out=build/bench
mkdir -p "$out"
for d in tools/lib tools/rperf tools/shufflectl; do
	make -s -C $d OUT="$root/build/tools" UAPI="$root/uapi"
done
note "rperf: 5 hosts, $runs runs each"
status=0
selftests/vm/run.sh uml-time -t 3000 -m 2000 -o "$root/$out/vm-rperf" \
	"$here/rperf_guest.sh" "$runs" >"$out/raw-rperf.txt" || status=$?
[ "$status" = 0 ] ||
	note "the virtual machine ended with status $status ($out/vm-rperf/console.log)"
python3 "$here/rperf_report.py" "$out/raw-rperf.txt" "$out" || die "nothing was measured"
exit "$status"
