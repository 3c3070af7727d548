#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Checks that need no kernel to run: checkpatch --strict, sparse and W=1 on both
# of Debian's kernels, shellcheck, house rules.  TAP.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"
cd "$SHUFFLE_ROOT" || exit 1

n=0
# t NAME COMMAND... - one test: the command succeeds.
t()
{
	local name=$1 said
	shift
	n=$((n + 1))
	if said=$("$@" 2>&1); then
		echo "ok $n - static: $name"
	else
		echo "not ok $n - static: $name"
		printf '%s\n' "$said" | tail -60 | sed 's/^/# /'
	fi
}

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

# User-space C keeps the kernel's style, but has no kernel helpers or types.
user_ignore=CAMELCASE,PREFER_KERNEL_TYPES,USE_NEGATIVE_ERRNO,NEW_TYPEDEFS,PREFER_DEFINED_ATTRIBUTE_MACRO
user_ignore=$user_ignore,STRCPY,STRLCPY,STRNCPY,CONST_STRUCT,SPLIT_STRING,CONSIDER_KSTRTO,SSCANF_TO_KSTRTO
user_ignore=$user_ignore,ENOSYS,ARRAY_SIZE,USLEEP_RANGE,VOLATILE,LONG_LINE,AVOID_EXTERNS,MACRO_ARG_REUSE
user_ignore=$user_ignore,PREFER_ASM_HEADER,EXPORT_SYMBOL

# checkpatch IGNORE FILES...
checkpatch()
{
	local dir ignore=$1 said
	shift
	[ $# -gt 0 ] || return 0
	dir=$(checkpatch_dir) || { echo "no checkpatch.pl: linux-source-6.12 is missing"; return 1; }
	said=$(perl "$dir/checkpatch.pl" --no-tree --strict --terse --show-types -q \
		--ignore "FILE_PATH_CHANGES,$ignore" -f "$@" 2>&1)
	# Function-like trace macros have a layout of their own.
	said=$(grep -E ':[0-9]+: (ERROR|WARNING|CHECK)|cannot|Can.t' <<<"$said")
	[ -z "$said" ] || { printf '%s\n' "$said"; return 1; }
}

spdx()
{
	local f bad=0
	while read -r f; do
		case $f in
		LICENSES/* | .gitignore | *.svg | *.json | *.png) continue ;;
		esac
		head -3 "$f" | grep -q 'SPDX-License-Identifier' || { echo "$f: no SPDX line"; bad=1; }
	done < <(files '*.c' '*.h' '*.sh' '*.py' '*.awk' '*Makefile' '*Kbuild' '*.yaml' '*.rst' '.ci/run')
	return $bad
}

no_version_checks()
{
	! files 'net/*' 'uapi/*' 'tools/*' | grep -v '/compat/' |
		xargs -r grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION'
}

short_files()
{
	files '*.c' '*.h' '*.sh' '*.py' | xargs -r wc -l | awk '$2 != "total" && $1 > 800 { print; bad = 1 } END { exit bad }'
}

scripts()
{
	{
		files '*.sh'
		echo .ci/run
	} | xargs shellcheck
}

t "SPDX line in every file" spdx
t "no kernel version checks outside compat" no_version_checks
t "no file over 800 lines" short_files
t "shellcheck" scripts
for d in net/shuffle net/shuffle/compat uapi/linux selftests/vm/planted; do
	mapfile -t f < <(files "$d/*.c" "$d/*.h" | grep -E "^$d/[^/]*$")
	[ "${#f[@]}" -eq 0 ] || t "checkpatch --strict $d" checkpatch MULTISTATEMENT_MACRO_USE_DO_WHILE "${f[@]}"
done
for d in net/shuffle/test tools/lib tools/examples tools/examples/demo tools/bench selftests/net/shuffle; do
	mapfile -t f < <(files "$d/*.c" "$d/*.h" | grep -E "^$d/[^/]*$")
	[ "${#f[@]}" -eq 0 ] || t "checkpatch --strict $d" checkpatch "$user_ignore" "${f[@]}"
done
for k in 6.12 6.1; do
	t "module: sparse and W=1 on $k" "$here/build-module.sh" -c "$k"
done
echo "1..$n"
