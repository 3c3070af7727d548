#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Build the shuffle module for one kernel, in a copy of the sources of its own:
# build/KERNEL/module/net/shuffle/shuffle.ko.
#
# usage: build-module.sh [-c] KERNEL [MAKE-ARGUMENTS...]
#   KERNEL  um, um-debug, x86-debug (built from linux-source), 6.12, 6.1 (Debian's)
#   -c      check: everything anew, sparse on every file, any warning fails
#
# Prints the module's path.  Nothing is done when nothing has changed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"

check=0
[ "${1-}" != -c ] || { check=1; shift; }
kernel=${1:?usage: build-module.sh [-c] um|um-debug|x86-debug|6.12|6.1}
shift
case $kernel in
um | um-debug) arch=um ;;
6.12 | 6.1 | x86-debug) arch=x86_64 ;;
*) die "build-module.sh: unknown kernel '$kernel' (um, um-debug, x86-debug, 6.12, 6.1)" ;;
esac

kdir=$(kernel_build_dir "$kernel")
[ -e "$kdir/Makefile" ] || die "no kernel headers in $kdir: run 'make deps'"
copy=$BUILD/$kernel/module
[ "$check" = 0 ] || copy=$BUILD/$kernel/module-check
log=$copy/build.log
ko=$copy/net/shuffle/shuffle.ko

mkdir -p "$copy"
exec 7>"$copy.lock"
flock 7
[ "$check" = 0 ] || rm -rf "$copy"
mkdir -p "$copy"
stamp=$(cd "$SHUFFLE_ROOT" && {
	find Kbuild net uapi -type f -print0 | sort -z | xargs -0 sha256sum
	sha256sum "$kdir/Module.symvers"
	echo "$kdir $*"
} | sha256sum)
if [ "$check" = 0 ] && [ -e "$ko" ] && [ "$(cat "$copy/.done" 2>/dev/null)" = "$stamp" ]; then
	echo "$ko"
	exit 0
fi
rm -f "$copy/.done"
# By content, so that an unchanged file is not compiled again.
(cd "$SHUFFLE_ROOT" && rsync -rlpc --delete --exclude='*.o' --exclude='*.ko' --exclude='*.cmd' \
	--exclude='*.mod' --exclude='*.mod.c' --relative Kbuild net uapi "$copy/")

args=(W=1 "ARCH=$arch" "M=$copy" -j"$(nproc)")
[ "$check" = 0 ] || args+=(C=2 "CF=-D__CHECK_ENDIAN__")
note "building the module for $kernel"
if ! make -C "$kdir" "${args[@]}" "$@" modules >"$log" 2>&1; then
	grep -E 'error|Error|undefined' "$log" | head -30 >&2 || tail -20 "$log" >&2
	die "the module does not build for $kernel; log: $log"
fi
if grep -E 'warning:|WARNING:' "$log" >&2 && [ "$check" = 1 ]; then
	die "the module builds with warnings for $kernel; log: $log"
fi
echo "$stamp" >"$copy/.done"
echo "$ko"
