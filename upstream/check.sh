#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The series of patches.  Each applies, and checkpatch has nothing to say of its text but that nobody
# has signed it off.  What the first two change is built for x86 with SELinux, and user headers; what
# each of the others adds builds with W=1 and sparse without a word.  A kernel with all of them boots
# and passes its own selftests, with AF_SHUFFLE as a module and built in.  TAP.  The tree is that of
# the test kernels.
#
# usage: check.sh
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
vm=$here/../selftests/vm
# shellcheck source=../selftests/vm/common.sh
. "$vm/common.sh"
# shellcheck source=../tools/common/tap.sh
. "$here/../tools/common/tap.sh"

work=$BUILD/in-tree
tree=$work/linux out=$work/um series=$work/series headers=$work/headers
cc=gcc
export KBUILD_BUILD_TIMESTAMP='Thu Jan 1 00:00:00 UTC 1970' KBUILD_BUILD_USER=shuffle KBUILD_BUILD_HOST=shuffle
if command -v ccache >/dev/null; then
	cc='ccache gcc'
	export CCACHE_DIR=$SHUFFLE_CACHE/ccache CCACHE_BASEDIR=$tree CCACHE_NOHASHDIR=1
fi

kmake()
{
	make -s -C "$tree" ARCH=um "O=$out" "CC=$cc" -j"$(nproc)" "$@"
}

# silent COMMAND... - it works and says nothing.
silent()
{
	local said

	said=$("$@" 2>&1) || fail "$said"
	want_eq "what it says" "$said" ""
}

# A tree of hard links: patch(1) writes files anew.
begin()
{
	local kernel

	kernel=$("$vm/build-kernel.sh" um | tail -1) || return 1
	rm -rf "$work"
	mkdir -p "$out"
	cp -al "$(readlink -f "$kernel/source")" "$tree" 2>/dev/null || {
		rm -rf "$tree"
		cp -a "$(readlink -f "$kernel/source")" "$tree" || return
	}
	cp "$kernel/.config" "$out/" &&
		"$here/in_tree.py" "$tree" --series "$series" && kmake olddefconfig
}

# where families are numbered: SELinux has a class for each
build_numbers()
{
	local x86=(make -s -C "$tree" ARCH=x86 "O=$work/x86" "CC=$cc" "-j$(nproc)")

	"${x86[@]}" defconfig && grep -q ^CONFIG_SECURITY_SELINUX=y "$work/x86/.config" &&
		"${x86[@]}" net/core/sock.o security/selinux/
}

# What is there, before Kconfig knows of it, and then, too: a make would ask for what is new.
build_parts()
{
	kmake olddefconfig && kmake CONFIG_AF_SHUFFLE=m W=1 C=1 CF=-D__CHECK_ENDIAN__ net/shuffle/
}

# static.sh checks the files where they come from; here: what a patch says, and whose files these are.
check_patch()
{
	perl "$tree/scripts/checkpatch.pl" -q --no-tree --no-signoff --show-types --types COMMIT_LOG_LONG_LINE,COMMIT_MESSAGE,TYPO_SPELLING,TRAILING_WHITESPACE,SPACE_BEFORE_TAB,SPDX_LICENSE_TAG,CONFIG_DESCRIPTION,NEW_LINE_AT_EOF "$1"
}

# patch FILE
patch_tests()
{
	local name

	name=$(basename "$1" .patch)
	t "$name: applies" patch -s -p1 -d "$tree" -i "$1"
	case $name in
	0001-*) t "$name: builds" build_numbers ;;
	0002-*) t "$name: builds" make -s -C "$tree" ARCH=x86 "O=$headers" headers ;;
	*) t "$name: builds without a word" silent build_parts ;;
	esac
	t "$name: checkpatch" silent check_patch "$1"
}

# configure y|m
configure()
{
	"$tree/scripts/config" --file "$out/.config" --set-val AF_SHUFFLE "$1" --module KUNIT \
		--module AF_SHUFFLE_KUNIT_TEST --enable USERFAULTFD
	kmake olddefconfig
}

install_selftests()
{
	make -s -C "$tree" ARCH=x86 "O=$headers" headers &&
		make -s -C "$tree/tools/testing/selftests" TARGETS=net/shuffle "O=$headers" \
			"INSTALL_PATH=$work/selftests" install
}

# boot y|m
boot()
{
	"$vm/run.sh" uml -k "$out" -o "$BUILD/out/in-tree-$1" -e "KERNEL=$out" -e "AS=$1" \
		"$here/guest.sh" "$work/selftests"
}

mkdir -p "$BUILD"
if t "a tree and a series of patches" begin; then
	for file in "$series"/00*.patch; do
		case $file in
		*/0000-*) ;;
		*) patch_tests "$file" ;;
		esac
	done
	t "the selftests build, and can be installed" install_selftests
	for value in m y; do
		t "AF_SHUFFLE=$value: is configured" configure $value
		t "AF_SHUFFLE=$value: is built" kmake linux modules
		t "AF_SHUFFLE=$value: boots and passes" boot $value
	done
fi
tap_end
