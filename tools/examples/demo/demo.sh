#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The demo: cuts files into an 8 x 8 matrix, boots a kernel with 8 hosts in it,
# shuffles the matrix over AF_SHUFFLE and TCP, and shows how that went.
#
# usage: demo.sh [LANE] [FILE|FOLDER ...]
#   LANE  of selftests/vm/run.sh (default qemu-6.12)
#
# DEMO_MBPS (10) is the rate of every link, DEMO_MEGABYTES (12) the most that is
# taken of the files.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
lane=qemu-6.12
case ${1-} in
uml* | qemu-*)
	lane=$1
	shift
	;;
esac
mbps=${DEMO_MBPS:-10}
build=$root/build/demo
out=$build/out
bin=$root/build/tools

mkdir -p "$build" "$out" "$build/bin"
printf 'building the programs\n'
if ! make -s -C "$root/tools/examples" OUT="$bin" >"$build.log" 2>&1; then
	cat "$build.log" >&2
	exit 1
fi
for f in shuffle-cp tcp-a2a netwatch demo-report; do
	cp "$bin/$f" "$build/bin/"
done
printf 'cutting files: '
"$here/prepare.sh" "$build/matrix" "$@"
printf 'booting lane %s\n' "$lane"
status=0
"$root/selftests/vm/run.sh" "$lane" -p "link_mbps=$mbps" -t 400 -m 1024 -o "$out" \
	-e "DEMO_IN=$build" -e "DEMO_MBPS=$mbps" "$here/run.sh" || status=$?
[ ! -e "$out/demo.svg" ] || printf 'The picture: %s\n' "$out/demo.svg"
exit $status
