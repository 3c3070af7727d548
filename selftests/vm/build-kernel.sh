#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Build a test kernel from Debian's linux-source-6.12 into the cache.
#
# usage: build-kernel.sh [-n | -s] {um|um-debug|um-small|x86-debug|x86-kcsan} [WHO]
#   -n  build nothing; fails when the kernel is not there or out of date
#   -s  build nothing; say for WHO what will be built and how long it takes
#
# Prints the output directory on the last line of standard output.  A kernel
# that is there already and was made from the same configuration, source and
# patches is not built again.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"

only=
case ${1-} in
-n | -s)
	only=$1
	shift
	;;
esac
kind=${1:?usage: build-kernel.sh [-n | -s] um|um-debug|um-small|x86-debug|x86-kcsan}
case $kind in
um)        arch=um;     target=linux;   frags="um";          takes="3 to 8" ;;
um-debug)  arch=um;     target=linux;   frags="um um-debug"; takes="4 to 12" ;;
um-small)  arch=um;     target=linux;   frags="um um-small"; takes="2 to 6" ;;
x86-debug) arch=x86_64; target=vmlinux; frags="x86-debug";   takes="8 to 20" ;;
x86-kcsan) arch=x86_64; target=vmlinux; frags="x86-debug x86-kcsan"; takes="8 to 20" ;;
*) die "build-kernel.sh: unknown kernel '$kind' (um, um-debug, um-small, x86-debug, x86-kcsan)" ;;
esac

tarball=/usr/src/linux-source-6.12.tar.xz
patches=("$here"/kernels/*.patch)
if ! version=$(dpkg-query -W -f '${Version}' linux-source-6.12 2>/dev/null) || [ ! -r "$tarball" ]; then
	[ "$only" != -n ] || exit 1
	[ "$only" = -s ] || die "$tarball is missing: apt-get install linux-source-6.12"
fi
src=$SHUFFLE_CACHE/linux-$version
out=$SHUFFLE_CACHE/build-$kind

frag_files=()
for f in $frags; do frag_files+=("$here/kernels/$f.config"); done
# The patches change arch/um only.
applied=()
[ "$arch" != um ] || applied=("${patches[@]}")
stamp="$version $(cat "${frag_files[@]}" "${applied[@]}" | sha256sum)"

there()
{
	[ "$(cat "$out/.shuffle-done" 2>/dev/null)" = "$stamp" ]
}

case $only in
-n)
	there
	exit
	;;
-s)
	there || note "$2 needs the kernel '$kind', which is not built yet: that takes $takes minutes, once"
	exit 0
	;;
esac
there || note "the $kind kernel will be built: $takes minutes, once, and longer on a busy machine"

mkdir -p "$SHUFFLE_CACHE"
exec 9>"$SHUFFLE_CACHE/lock-source"
flock -n 9 || { note "waiting for another build to unpack the source"; flock 9; }
want=$(cat "${patches[@]}" | sha256sum)
if [ "$(cat "$src/.shuffle-patched" 2>/dev/null)" != "$want" ]; then
	note "unpacking linux-source-6.12 ($version)"
	rm -rf "$src" "$src.tmp"
	mkdir -p "$src.tmp"
	tar -xf "$tarball" --strip-components=1 -C "$src.tmp"
	for p in "${patches[@]}"; do patch -s -p1 -d "$src.tmp" <"$p"; done
	echo "$want" >"$src.tmp/.shuffle-patched"
	mv "$src.tmp" "$src"
fi
flock -u 9

exec 8>"$SHUFFLE_CACHE/lock-$kind"
flock -n 8 || { note "waiting for another build of $kind"; flock 8; }
if there; then
	echo "$out"
	exit 0
fi
mkdir -p "$out"
rm -f "$out/.shuffle-done"
cc=gcc
if command -v ccache >/dev/null; then
	cc='ccache gcc'
	export CCACHE_DIR=$SHUFFLE_CACHE/ccache CCACHE_BASEDIR=$src
	export CCACHE_NOHASHDIR=1 KBUILD_BUILD_TIMESTAMP='' KBUILD_BUILD_USER=shuffle KBUILD_BUILD_HOST=shuffle
fi
cat "${frag_files[@]}" >"$out/.config"
log=$out/build.log
note "building the $kind kernel ($takes minutes); log: $log"
make -s -C "$src" ARCH="$arch" O="$out" olddefconfig >"$log" 2>&1 ||
	{ tail -20 "$log" >&2; die "configuring $kind failed"; }
# UBSAN is for our module (build-module.sh), which needs the kernel's part of it.  The kernel's own
# shifts and bounds are not what is tested, and checking them takes 6 % of the compiler's time.
make -C "$src" ARCH="$arch" O="$out" CC="$cc" UBSAN_SANITIZE=n -j"$(nproc)" \
	"$target" modules >>"$log" 2>&1 &
pid=$!
progress_while "$pid" "$log" "$kind kernel" "$([ "$arch" = um ] && echo 1500 || echo 2450)"
wait "$pid" || { tail -30 "$log" >&2; die "building $kind failed"; }
echo "$stamp" >"$out/.shuffle-done"
note "$kind kernel built"
echo "$out"
