#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# In a guest: soak on a rack of four hosts.  TAP.
#
#   OPS, SEED, EACH, FIRST  see main.c: ops=, seed=, each=, first=
#   SOAK_STOP    no new batch when there is this file (default $SHUFFLE_OUT/stop)

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

setup_all
rack 4
"${SOAK:-$BIN/soak}" ops="${OPS:-10000}" seed="${SEED:-1}" each="${EACH:-2000}" first="${FIRST:-0}" \
	stop="${SOAK_STOP-$SHUFFLE_OUT/stop}" prefix="$PFX" 2>&1
status=$?
now=$(splat_count)
if [ "$now" -gt "$splats" ]; then
	dmesg | grep -E -A 25 'BUG:|WARNING:|KASAN:|possible|suspicious|ODEBUG|corruption' | tail -60 | sed 's/^/# /'
	echo "not ok - the kernel says nothing"
	status=1
fi
exit $status
