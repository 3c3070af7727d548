#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prove that a User-Mode Linux lane keeps the registers of processes, with the
# XSAVE area of this CPU and with a larger one (kernels/uml-xstate.patch).  TAP.
#
# usage: check.sh uml|uml-debug
set -euo pipefail

vm=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=../common.sh
. "$vm/common.sh"
# shellcheck source=../../../tools/common/tap.sh
. "$vm/../../tools/common/tap.sh"

lane=${1:?usage: check.sh LANE}
mkdir -p "$BUILD/tools"
gcc -O1 -Wall -Wextra -o "$BUILD/tools/fpu" "$vm/fpu/fpu.c"
# UML's main program reads the variable; run.sh hands its environment on.
for size in '' 16384; do
	status=0
	said=$(UML_XSTATE_SIZE=$size "$vm/run.sh" "$lane" -N -L -t 0 -o "$BUILD/out/fpu-$lane" \
		"$vm/fpu/fpu.sh" 2>&1 </dev/null) || status=$?
	what="$lane keeps registers, XSAVE area of $size bytes"
	[ -n "$size" ] || what="$lane keeps registers, XSAVE area of this CPU"
	if [ "$status" = 0 ] && grep -q 'registers: kept' <<<"$said"; then
		tap ok "$what"
	else
		diag "got status $status, want 0 and 'registers: kept'; said:
$said"
		tap "not ok" "$what"
	fi
done
tap_end
