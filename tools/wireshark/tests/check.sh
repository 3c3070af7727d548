#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Captures small shuffles in a guest and checks the dissector on them.  TAP.
#
# usage: check.sh [LANE [FOLDER]]
#   LANE    one of selftests/vm/run.sh's (default uml)
#   FOLDER  what is captured and built goes there (default build/out/wireshark)
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
lane=${1:-uml}
out=${2:-$root/build/out/wireshark}

mkdir -p "$out"
rm -f "$out"/*.pcap
if ! "$root/selftests/vm/run.sh" "$lane" -L -t 0 -o "$out" \
	"$here/capture.sh" >"$out/capture.log" 2>&1; then
	tail -20 "$out/capture.log" | sed 's/^/# /'
	echo "Bail out! no capture: $out/capture.log"
	exit 1
fi
{
	cat "$root/net/shuffle/sched/wire.c"
	echo "const unsigned long wire_size = sizeof(struct shuffle_wire);"
} | gcc -shared -fPIC -O2 -I "$root/net/shuffle/sched" -o "$out/libwire.so" -x c -
export PYTHONDONTWRITEBYTECODE=1
# A configuration of its own, so that this user's preferences do not count.
export WIRESHARK_CONFIG_DIR=$out/config
mkdir -p "$WIRESHARK_CONFIG_DIR"
exec python3 "$here/check.py" "$root/tools/wireshark/shuffle.lua" "$out/libwire.so" "$out"
