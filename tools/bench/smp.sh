#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a second CPU gives, beside TCP: lane qemu-smp, Debian's kernel on two emulated CPUs that
# run at once, in real time.  A figure is a quotient of throughputs of one boot, whose runs
# follow each other; on a busy machine all of them become smaller.
#
# usage: [RUNS=10] smp.sh
#
# Writes build/bench/raw-smp.txt, report-smp.txt and rows of report.json.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=selftests/vm/common.sh
. "$root/selftests/vm/common.sh"
cd "$root"

runs=${RUNS:-10}
out=build/bench
mkdir -p "$out"
make -s -C tools/bench OUT="$root/build/tools" UAPI="$root/uapi"
[ "$(nproc)" -ge 2 ] || die "two CPUs are needed, for this is measured in real time"
note "load of this machine: $(cut -d ' ' -f 1-3 /proc/loadavg); what else runs takes part of the second CPU"

status=0
selftests/vm/run.sh qemu-smp -t 3600 -m 3000 -o "$root/$out/vm-smp" "$here/smp_guest.sh" "$runs" |
	tee "$out/raw-smp.txt" | sed -u 's/^BENCH /   /' || status=$?
python3 "$here/smp_report.py" "$out/raw-smp.txt" "$out" || die "nothing was measured"
exit "$status"
