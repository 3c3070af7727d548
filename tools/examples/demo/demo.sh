#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The demo: makes messages between 12 hosts of files, boots a kernel with the hosts in
# it, shuffles them over AF_SHUFFLE and TCP, and shows how that went: messages as long as
# files are, and the same bytes in messages of one length.
#
# usage: demo.sh [LANE] [FILE|FOLDER ...]
#   LANE  of selftests/vm/run.sh (default qemu-icount)
#
# qemu-6.12 and qemu-6.1 become qemu-icount and qemu-icount-6.1: the same kernels
# with a clock that counts instructions, so that a busy machine does not slow
# the network down.
#
# DEMO_MBPS (5) is the rate of every link, DEMO_HOSTS (12) their number,
# DEMO_MEGABYTES (24) the most that is
# taken of the files.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
lane=qemu-icount
case ${1-} in
qemu-6.12) shift ;;
qemu-6.1)
	lane=qemu-icount-6.1
	shift
	;;
uml* | qemu-*)
	lane=$1
	shift
	;;
esac
mbps=${DEMO_MBPS:-5}
hosts=${DEMO_HOSTS:-12}
# As many bytes on their way in a round trip as with 25 Gb/s and 4 us.
rtt_us=${DEMO_RTT_US:-$((100000 / mbps))}
build=$root/build/demo
out=$build/out
bin=$root/build/tools

rm -rf "$out"
mkdir -p "$out" "$build/bin"
printf 'building the programs\n'
for d in examples shufflectl; do
	make -s -C "$root/tools/$d" OUT="$bin" UAPI="$root/uapi" >"$build.log" 2>&1 || {
		cat "$build.log" >&2
		exit 1
	}
done
for f in shuffle-cp tcp-a2a netwatch demo-report shufflectl; do
	cp "$bin/$f" "$build/bin/"
done
printf 'making messages: '
"$here/prepare.sh" "$build/matrix" "$hosts" "$@"
printf 'booting lane %s; all of it takes one to two minutes\n' "$lane"
status=0
"$root/selftests/vm/watch.py" "$root/selftests/vm/run.sh" "$lane" -t 0 -m 1024 -o "$out" \
	-e "DEMO_IN=$build" -e "DEMO_MBPS=$mbps" -e "DEMO_RTT_US=$rtt_us" \
	-e "DEMO_HOSTS=$hosts" "$here/run.sh" || status=$?
for svg in "$out"/*/demo.svg; do
	[ ! -e "$svg" ] || printf 'A picture: %s\n' "$svg"
done
exit $status
