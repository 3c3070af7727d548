#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Checks that need no kernel to run: checkpatch --strict, sparse and W=1 on both
# of Debian's kernels, shellcheck, house rules.  TAP.
#
# usage: [ALL=1] static.sh [REGEX]   only the tests whose name matches
#
# What is checked file by file is checked in files that have changed since the last tag, or in the
# last 50 commits, or are not committed; with ALL=1, and where git does not say, in all.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"
cd "$SHUFFLE_ROOT" || exit 1

# shellcheck source=../../tools/common/tap.sh
. "$SHUFFLE_ROOT/tools/common/tap.sh"
tap_prefix=static tap_only=${1-}

# files PATTERN... - the project's own files: tracked or new, not ignored.
files()
{
	if [ -e .git ] && command -v git >/dev/null; then
		git -c safe.directory='*' ls-files -co --exclude-standard -- "$@" | while read -r f; do
			[ ! -f "$f" ] || echo "$f"
		done
	else
		local p
		for p; do
			find . -path ./build -prune -o -type f -path "./$p" -print | sed 's#^\./##'
		done
	fi | sort -u
}

# since - the commit with which files are compared; fails when all files are to be checked.
since()
{
	local git=(git -c "safe.directory=*") tag

	[ -z "${ALL-}" ] && [ -e .git ] && command -v git >/dev/null || return 1
	tag=$("${git[@]}" describe --tags --abbrev=0 2>/dev/null) && [ "$("${git[@]}" rev-list --count "$tag..")" -lt 50 ] ||
		tag=HEAD~50
	"${git[@]}" rev-parse -q --verify "$tag^{commit}"
}

# changed PATTERN... - files that have, of files().
changed()
{
	if [ -z "$base" ]; then
		files "$@"
		return
	fi
	comm -12 <(files "$@") <({
		git -c safe.directory='*' diff --name-only "$base" -- "$@"
		git -c safe.directory='*' ls-files -o --exclude-standard -- "$@"
	} | sort -u)
}

checkpatch_dir()
{
	local version dir=$SHUFFLE_CACHE/checkpatch tar=/usr/src/linux-source-6.12.tar.xz

	version=$(dpkg-query -W -f '${Version}' linux-source-6.12) || return 1
	if [ "$(cat "$dir/.done" 2>/dev/null)" != "$version" ]; then
		rm -rf "$dir"
		mkdir -p "$dir"
		if [ -e "$SHUFFLE_CACHE/linux-$version/scripts/checkpatch.pl" ]; then
			cp "$SHUFFLE_CACHE/linux-$version"/scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch} "$dir/"
		else
			tar -xf "$tar" -C "$dir" --strip-components=2 --wildcards \
				'*/scripts/checkpatch.pl' '*/scripts/spelling.txt' \
				'*/scripts/const_structs.checkpatch' || return 1
		fi
		echo "$version" >"$dir/.done"
	fi
	echo "$dir"
}

# checkpatch_ignored FILE - what does not fit this file, and why.
checkpatch_ignored()
{
	local user=CAMELCASE,PREFER_KERNEL_TYPES,NEW_TYPEDEFS,PREFER_DEFINED_ATTRIBUTE_MACRO
	user=$user,BIT_MACRO,STRCPY,STRNCPY,CONST_STRUCT,SPLIT_STRING,CONSIDER_KSTRTO,SSCANF_TO_KSTRTO
	user=$user,ENOSYS,ARRAY_SIZE,VOLATILE,AVOID_EXTERNS,PREFER_FALLTHROUGH,UNCOMMENTED_DEFINITION
	user=$user,EMBEDDED_FUNCTION_NAME,LONG_LINE_STRING,QUOTED_WHITESPACE_BEFORE_NEWLINE,MACRO_ARG_REUSE,NAKED_SSCANF
	user=$user,UNNECESSARY_PARENTHESES

	case $1 in
	# Made by programs: regen.sh checks them.
	*/shuffle_netlink.h | */netlink_gen.[ch] | */shuffle_attrs.[ch])
		echo "$user,LONG_LINE,LONG_LINE_STRING,LONG_LINE_COMMENT,OPEN_ENDED_LINE,BLOCK_COMMENT_STYLE,LINE_SPACING" ;;
	uapi/*) echo BIT_MACRO ;;			# BIT() is not for user space
	net/shuffle/trace.h) echo OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT ;; # as all trace headers
	# A list of counters with the names that nstat shows.
	net/shuffle/mib.[ch]) echo CAMELCASE,COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_UNUSED ;;
	# The list of settings.
	net/shuffle/config.h | net/shuffle/netlink/config.c)
		echo COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_UNUSED,TRAILING_SEMICOLON,MULTISTATEMENT_MACRO_USE_DO_WHILE,CONSTANT_COMPARISON ;;
	net/shuffle/sched/portable.h) echo PREFER_KERNEL_TYPES ;;	# defines them for user space
	net/shuffle/sched/wire.h) echo BIT_MACRO ;;		# also compiled in user space
	# Locks are explained in the kernel-doc of their structs.
	net/shuffle/group.h | net/shuffle/netns.h | net/shuffle/op.h | \
	net/shuffle/peer.h | net/shuffle/sock.h | net/shuffle/tx/*.h | net/shuffle/rx/*.h)
		echo CAMELCASE,UNCOMMENTED_DEFINITION ;;
	# checkpatch takes macros, compound literals, 1e-9 and _Atomic for something else
	net/shuffle/test/user.h) echo "$user,COMPLEX_MACRO,SPACING" ;;
	tools/common/tap.h) echo "$user,COMPLEX_MACRO,SPACING,INDENTED_LABEL" ;;	# _Generic, a literal
	tools/saba/mark.c) echo "$user,SPACING,FUNCTION_ARGUMENTS" ;;	# pointers to functions
	tools/saba/*) echo "$user,SPACING" ;;
	selftests/net/shuffle/api.h) echo "$user,SPACING,PARENTHESIS_ALIGNMENT" ;;
	selftests/net/shuffle/torture/*) echo "$user,COMPLEX_MACRO,LINE_SPACING,BRACKET_SPACE" ;;
	selftests/net/shuffle/shuffle_race.c) echo "$user,LINE_SPACING" ;;
	net/shuffle/test/* | tools/lib/test/*) echo "$user,COMPLEX_MACRO,MACRO_ARG_REUSE" ;; # also compiled in user space
	selftests/vm/fpu/*) echo "$user,COMPLEX_MACRO" ;;	# an asm statement
	# The list of calls.
	tools/mpi/calls.h | tools/mpi/before.c | tools/mpi/collectives.c | tools/mpi/neighbour.c | tools/mpi/pmpi.c)
		echo "$user,COMPLEX_MACRO,MACRO_ARG_UNUSED,DO_WHILE_MACRO_WITH_TRAILING_SEMICOLON" ;;
	selftests/vm/tsc-khz.c) echo PREFER_KERNEL_TYPES ;;
	net/* | selftests/vm/*) echo CAMELCASE ;;	# the counters' names
	*) echo "$user" ;;				# no kernel helpers there
	esac
}

# checkpatch FILES...
checkpatch()
{
	local dir f said bad=0

	dir=$(checkpatch_dir) || { echo "no checkpatch.pl: linux-source-6.12 is missing"; return 1; }
	for f; do
		# From another folder: it would keep a cache in this one.
		said=$(cd "$dir" && perl ./checkpatch.pl --no-tree --strict --terse --show-types -q \
			--ignore "FILE_PATH_CHANGES,$(checkpatch_ignored "$f")" -f "$SHUFFLE_ROOT/$f" 2>&1 |
			grep -E ':[0-9]+: (ERROR|WARNING|CHECK)|cannot|Can.t')
		[ -z "$said" ] || { printf '%s\n' "${said//$SHUFFLE_ROOT\//}"; bad=1; }
	done
	return $bad
}

spdx()
{
	local f bad=0
	while read -r f; do
		case $f in
		LICENSES/* | .gitignore | *.svg | *.json | *.png) continue ;;
		esac
		head -3 "$f" | grep -q 'SPDX-License-Identifier' || { echo "$f: no SPDX line"; bad=1; }
	done < <(files '*.c' '*.h' '*.sh' '*.py' '*.lua' '*.awk' '*Makefile' '*Kbuild' '*.yaml' '*.rst' '.ci/run')
	return $bad
}

no_version_checks()
{
	! files 'net/*' 'uapi/*' 'tools/*' | grep -v '/compat/' |
		xargs -r grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION'
}

short_files()
{
	files '*.c' '*.h' '*.sh' '*.py' '*.lua' | grep -v '/shuffle_attrs\.c$' | xargs -r wc -l | awk '$2 != "total" && $1 > 800 { print; bad = 1 } END { exit bad }'
}

scripts()
{
	changed '*.sh' .ci/run | xargs -r shellcheck
}

base=$(since) || base=
if [ -n "$base" ]; then
	echo "# checkpatch, shellcheck, modules: what has changed since $(git -c safe.directory='*' log -1 --format='%h %s' "$base"); ALL=1: everything"
fi
t "SPDX line in every file" spdx
t "no kernel version checks outside compat" no_version_checks
t "no file over 800 lines" short_files
t "shellcheck" scripts
t "run.sh: only a guest that dies before its first program is booted again" "$here/boot_test.sh"
t "emulator.sh: what is the emulator's fault" "$here/emulator_test.sh"
t "lane.sh: after an emulator's fault, cases without a result" "$here/lane_test.sh"
t "watch.py: what hangs, and what is slow" "$here/watch_test.sh"
t "security.rst: each row has a test" "$here/shown.py"
t "shown.py: what must not be missing" "$here/shown_test.sh"
t "netlink: what is made from the specification" tools/netlink/regen.sh --check
t "abi.rst: every number is that of uapi/" selftests/abi/check.py
t "shufflectl: make install, manual pages, completion" tools/shufflectl/check.sh
while read -r d; do
	mapfile -t f < <(changed "$d/*.c" "$d/*.h" | grep -E "^$d/[^/]*$")
	t "checkpatch --strict $d" checkpatch "${f[@]}"
done < <(changed '*.c' '*.h' | sed 's#/[^/]*$##' | sort -u)
if [ -n "$(changed net/shuffle uapi Kbuild selftests/vm/build-module.sh)" ]; then
	for k in 6.12 6.1; do
		if [ -n "$(headers_package "$k")" ]; then
			t "module: sparse and W=1 on $k" "$here/build-module.sh" -c "$k"
		else
			tap_skip "module: sparse and W=1 on $k" "Debian $(debian_release) has no such kernel"
		fi
	done
fi
tap_end
