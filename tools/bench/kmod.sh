#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Build what the benchmark needs of the kernel and the test kernel does not have:
# DCTCP, and the qdisc that stops a host (sch_plug), as modules from the same
# source.  Prints their folder.
set -euo pipefail

# shellcheck source=selftests/vm/common.sh
. "$(dirname "$0")/../../selftests/vm/common.sh"

kdir=$(kernel_build_dir um)
# what the kernel was built from
src=$(sed -n 's/^include \(.*\)\/Makefile$/\1/p' "$kdir/Makefile")
dir=$BUILD/um/bench
mkdir -p "$dir"
if [ "$dir/sch_plug.ko" -nt "$kdir/linux" ] && [ "$dir/tcp_dctcp.ko" -nt "$kdir/linux" ]; then
	echo "$dir"
	exit 0
fi
[ -r "$src/net/sched/sch_plug.c" ] || die "the source of the kernel in $kdir is not there"
cp "$src"/net/ipv4/tcp_dctcp.[ch] "$src/net/sched/sch_plug.c" "$dir"
echo 'obj-m := tcp_dctcp.o sch_plug.o' >"$dir/Kbuild"
note "building DCTCP and sch_plug for um"
make -C "$kdir" ARCH=um M="$dir" modules >"$dir/build.log" 2>&1 ||
	die "they do not build; log: $dir/build.log"
echo "$dir"
