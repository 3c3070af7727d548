#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Time-slice building in virtual time (lane uml-time), in one boot: shuffle-stream with times from
# its builders (dfs), without (none: 16 tickets; none-4: the default) and in other ways; the same
# over TCP (tcp: stream_tcp.c); and a matrix over TCP, which is no stream.  Writes
# build/bench/report-stream.json and .txt.
#
# usage: [RUNS=1] stream.sh [REGEX]     which of the cases below, by name
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=selftests/vm/common.sh
. "$root/selftests/vm/common.sh"
cd "$root"

# name, inputs, builders, time-slices of an interval, intervals; ways
most="none-4 none-2 none grants bench tcp matrix clocks slow slow-median"
cases=(
	"stream-8x8    8 8 160 40    dfs $most"
	"stream-20x20  20 20 200 24  dfs $most"
	"stream-64x64  64 64 320 20  dfs none-4 bench tcp grants none"
)

regex=${1:-${CASE:-stream}}
[ "$regex" != stream ] || regex='stream-(8x8|20x20)'
runs=${RUNS:-1}
out=build/bench
raw=$out/raw-stream.txt
mkdir -p "$out"
[ -n "${KEEP-}" ] || : >"$raw"
make -s -C tools/stream OUT="$root/build/tools"
make -s -C tools/shufflectl OUT="$root/build/tools" UAPI="$root/uapi"
make -s -C tools/bench OUT="$root/build/tools" UAPI="$root/uapi"
make -s -C selftests/net/shuffle OUT="$root/build/tools" UAPI="$root/uapi"

status=0 any=0
for c in "${cases[@]}"; do
	read -r name inputs builders slices intervals ways <<<"$c"
	[[ $name =~ ^$regex ]] || continue
	any=1
	note "$name, $runs runs each: ${WAYS:-$ways}"
	set +e
	# shellcheck disable=SC2086 # words
	selftests/vm/run.sh uml-time -t 36000 -m 9000 -o "$root/$out/vm-stream" \
		"$here/stream_guest.sh" "$name" "$inputs" "$builders" "$slices" "$intervals" \
		"$runs" ${WAYS:-$ways} </dev/null | tee -a "$raw"
	vm=${PIPESTATUS[0]}
	set -e
	if [ "$vm" != 0 ]; then
		note "the virtual machine ended with status $vm ($out/vm-stream/console.log)"
		status=1
	fi
done
[ "$any" = 1 ] || die "no case matches '$regex'"

python3 "$here/stream_report.py" report "$raw" "$out" || die "nothing was measured"
cat "$out/report-stream.txt"
exit "$status"
