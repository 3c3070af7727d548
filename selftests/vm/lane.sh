#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run a script of cases in a lane to its end, whatever the emulator does.
#
# usage: lane.sh OUT LANE [OPTIONS OF run.sh] SCRIPT [ARGS...]
#
# As run.sh -o OUT LANE.  Where a guest died of a fault that is the emulator's by the rules
# of emulator.sh, the cases that have no result yet are run in a new guest, three times at
# most.  Each fault is a line in OUT/emulator-faults, and the guest's console is kept beside
# it.  Every other failure is one.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"
# shellcheck source=emulator.sh
. "$here/emulator.sh"

[ $# -ge 3 ] || die "usage: lane.sh OUT LANE [OPTIONS] SCRIPT [ARGS...]"
mkdir -p "$1"
out=$(cd "$1" && pwd) lane=$2
shift 2
rm -f "$out"/{done,log,emulator-faults} "$out"/console-emulator-*
: >"$out/done"

for ((faults = 0; ; )); do
	"$here/run.sh" "$lane" -t 0 -o "$out" -e "CASES_DONE=$out/done" "$@" </dev/null 2>&1 | tee -a "$out/log"
	status=${PIPESTATUS[0]}
	[ "$status" != 0 ] || exit 0
	why=$(emulator_fault "$lane" "$out/console.log") || exit "$status"
	faults=$((faults + 1))
	cp "$out/console.log" "$out/console-emulator-$faults.log"
	done_cases "$out/log" >"$out/done"
	echo "# the emulator has failed: $why; $(wc -l <"$out/done") cases have results, now the others" |
		tee -a "$out/emulator-faults" "$out/log"
	[ "$faults" -le 3 ] || exit "$status"
done
