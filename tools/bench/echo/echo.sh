#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What an answer to an ECHO costs in the module, in a program with a UDP socket, and in a program of
# tc at the device: round trips as shuffle-rperf's ping-pong sees them, in counted instructions (lane
# qemu-icount, 2 ns each; no clock of this machine is read).
#
# usage: [RUNS=3] echo.sh
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
# shellcheck source=selftests/vm/common.sh
. "$root/selftests/vm/common.sh"
cd "$root"

out=build/bench/echo
mkdir -p "$out"
for d in rperf shufflectl; do
	make -s -C "tools/$d" OUT="$root/build/tools" UAPI="$root/uapi"
done
gcc -O2 -Wall -Wextra -D_GNU_SOURCE -o "$out/echo_program" "$here/program.c"
clang -target bpf -O2 -g -Wall -Wextra -idirafter "/usr/include/$(gcc -print-multiarch)" -c \
	-o "$out/echo_tc.o" "$here/tc.bpf.c"
exec selftests/vm/run.sh qemu-icount -t 900 -o "$root/$out/vm" -e BUILT="$root/$out" \
	"$here/guest.sh" "${RUNS:-3}"
