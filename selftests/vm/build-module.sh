#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Build the shuffle module for one kernel, in a copy of the sources of its own:
# build/KERNEL/module/net/shuffle/shuffle.ko, and the KUnit suites beside it
# where the kernel has KUnit.
#
# usage: build-module.sh [-c] [-s FOLDER] KERNEL
#   KERNEL  um, um-debug, um-small, x86-debug, x86-kcsan (built from linux-source), 6.12, 6.1 (Debian's),
#           7, rt, arm64, s390x, armhf (of Debian 13, by compilers of that: debian-root.sh)
#   -c      check: everything anew, sparse on every file, any warning fails
#   -s      another module, whose Kbuild is in FOLDER
#
# Prints the module's path.  Nothing is done when nothing has changed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"
# shellcheck source=arch.sh
. "$here/arch.sh"

check=0 folder=
while getopts 'cs:' opt; do
	case $opt in
	c) check=1 ;;
	s) folder=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
kernel=${1:?usage: build-module.sh [-c] [-s FOLDER] um|um-debug|um-small|x86-debug|x86-kcsan|6.12|6.1|7|rt|arm64|s390x|armhf}
case $kernel in
um | um-debug | um-small) arch=um ;;
7 | rt | 6.12 | 6.1 | x86-debug | x86-kcsan) arch=x86_64 ;;
arm64 | s390x | armhf) arch_is "$kernel" && arch=$karch ;;
*) die "build-module.sh: unknown kernel '$kernel' (um, um-debug, um-small, x86-debug, x86-kcsan, 6.12, 6.1, 7, rt, arm64, s390x, armhf)" ;;
esac

kdir=$(kernel_build_dir "$kernel")
[ -e "$kdir/Makefile" ] || die "no kernel headers in $kdir: run 'make deps'"
if [ -n "$folder" ]; then
	name=$(basename "$folder")
	copy=$BUILD/$kernel/$name
	ko=$copy/$name.ko
	sources=("$folder")
else
	name=shuffle
	copy=$BUILD/$kernel/module
	ko=$copy/net/shuffle/shuffle.ko
	sources=(Kbuild net uapi)
fi
[ "$check" = 0 ] || copy=$copy-check
log=$copy/build.log

mkdir -p "$BUILD/$kernel"
exec 7>"$copy.lock"
flock 7
[ "$check" = 0 ] || rm -rf "$copy"
mkdir -p "$copy"
stamp=$(cd "$SHUFFLE_ROOT" && {
	find "${sources[@]}" -type f -print0 | sort -z | xargs -0 sha256sum
	sha256sum "$kdir/Module.symvers" "$here/build-module.sh"
	cat "$kdir/certs/signing_key.x509" 2>/dev/null || :
	echo "$kdir"
} | sha256sum)
if [ "$check" = 0 ] && [ -e "$ko" ] && [ "$(cat "$copy/.done" 2>/dev/null)" = "$stamp" ]; then
	echo "$ko"
	exit 0
fi
rm -f "$copy/.done"
# By content and without times, so that an unchanged file is not compiled again.
keep=(-rlpc --delete --exclude='*.o' --exclude='*.ko' --exclude='.*.cmd'
	--exclude='*.mod' --exclude='*.mod.c' --exclude='.*.d')
if [ -n "$folder" ]; then
	rsync "${keep[@]}" "$SHUFFLE_ROOT/$folder/" "$copy/"
else
	for s in net uapi; do
		rsync "${keep[@]}" "$SHUFFLE_ROOT/$s/" "$copy/$s/"
	done
	cp "$SHUFFLE_ROOT/Kbuild" "$copy/Kbuild"
fi

args=(W=1 "ARCH=$arch" "M=$copy" -j"$(nproc)")
[[ $arch = um || $arch = x86_64 ]] || args+=("CROSS_COMPILE=$triplet-")
[ "$check" = 0 ] || args+=(C=2 "CF=-D__CHECK_ENDIAN__")
# UBSAN's check of a bool reads it once more, and not as READ_ONCE() does: KCSAN takes that for a race.
[ "$kernel" != x86-kcsan ] || args+=(UBSAN_SANITIZE=n)
note "building the module $name for $kernel"
if ! kernel_make "$kernel" "$kdir" "${args[@]}" modules >"$log" 2>&1; then
	grep -E -A3 'error|Error|undefined' "$log" | head -40 >&2 || tail -20 "$log" >&2
	die "the module $name does not build for $kernel; log: $log"
fi
# 6.1 takes ranges as not const; the generator of 6.12 makes them const, and the
# kernel never writes to them.
if sed -E '/netlink_gen\.c:.*(\(different modifiers\)|struct netlink_range_validation)/d' "$log" |
   grep -E -A3 'warning:|WARNING:' >&2 && [ "$check" = 1 ]; then
	die "the module $name builds with warnings for $kernel; log: $log"
fi
# As modules_install does, where the kernel takes no module without a signature of its own key.
if [ "$check" = 0 ] && grep -qs '^CONFIG_MODULE_SIG_FORCE=y' "$kdir/.config"; then
	hash=$(sed -n 's/^CONFIG_MODULE_SIG_HASH="\(.*\)"$/\1/p' "$kdir/.config")
	find "$copy" -name '*.ko' -exec "$kdir/scripts/sign-file" "$hash" \
		"$kdir/certs/signing_key.pem" "$kdir/certs/signing_key.x509" {} \;
fi
[ "$check" = 1 ] || echo "$stamp" >"$copy/.done"
echo "$ko"
