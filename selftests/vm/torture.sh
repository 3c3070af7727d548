#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Boot a lane and run selftests/net/shuffle/torture in it.
#
# usage: torture.sh [LANE [MINUTES [SEED]]]
#
# Whatever is in MIXES, WITHOUT, SECONDS_EACH is passed on: selftests/net/shuffle/torture/run.sh.
set -euo pipefail

vm=$(cd "$(dirname "$0")" && pwd)
lane=${1:-qemu-smp} minutes=${2:-10} seed=${3:-$(date +%s)}
options=(-e "MINUTES=$minutes" -e "SEED=$seed")
for name in MIXES WITHOUT SECONDS_EACH; do
	[ -z "${!name-}" ] || options+=(-e "$name=${!name}")
done
exec "$vm/watch.py" "$vm/lane.sh" "$vm/../../build/out/torture-$lane" "$lane" "${options[@]}" \
	"$vm/../net/shuffle/torture/run.sh"
