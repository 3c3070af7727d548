#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What somebody meets who has just installed Debian: the commands of README.md, as they are written
# there, in a system that debootstrap has made.  TAP, then the count.
#
# usage: check.sh [12|13 [COMMAND]...]
#   COMMAND  one of this project, such as 'make check-mpi', instead of the README's
#   SHUFFLE_CACHE keeps the bare system (0.3 GB), and the kernels that it builds.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../vm/common.sh
. "$here/../vm/common.sh"
# shellcheck source=../vm/debian.sh
. "$here/../vm/debian.sh"
# shellcheck source=../../tools/common/tap.sh
. "$here/../../tools/common/tap.sh"

release=${1:-13}
shift $(($# ? 1 : 0))
given=("$@")
suite=$(debian_suite "$release") || exit 2
[ "$(id -u)" = 0 ] || die "this needs root (chroot, mount)"
bare=$SHUFFLE_CACHE/bare-$release
work=$BUILD/newcomer-$release
project=/root/af_shuffle	# where somebody has put it
begin=$SECONDS
mkdir -p "$SHUFFLE_CACHE" "$work"
exec 9>"$work/lock"
until flock -w 60 9; do
	note "waiting for another check in a bare Debian $release"
done

debian_once "$bare" "a bare Debian $release" "$work/root.log" debian_bootstrap "$suite"
rm -rf "$work"/system "$work"/system.*
binds="/dev:/dev /sys:/sys"
"$here/../deb/copy-sources.sh" "$work/system$project" || exit 1

# commands SECTION - of the README, without their comments
commands()
{
	sed -n "/^## $1\$/,/^## /p" "$SHUFFLE_ROOT/README.md" | sed -n 's/^    //; t ok; d; :ok; s/  *#.*//; /./p'
}

# in_system COMMAND - as a shell runs it
in_system()
{
	debian_above "$bare" "$work/system" sh -c "cd $project && $1" </dev/null >"$work/output" 2>&1
}

# run COMMAND - what the README says of it
run()
{
	local status=0

	in_system "$1" || status=$?
	if [[ $1 = *KERNEL=6.1* && $release != 12 ]]; then
		[ $status != 0 ] || fail "there is no such kernel"
		want_grep "which kernel is missing" "$(<"$work/output")" -F "KERNEL=6.1: Debian $release has no such kernel"
		return
	fi
	[ $status = 0 ] || fail "status $status; $(tail -20 "$work/output")"
	case $1 in
	'make demo'*) want_grep "every byte of both demos" "$(<"$work/output")" -E 'SHA-256.* 144 of 144 .* 144 of 144' ;;
	'make deb') want_ge "packages" "$(find "$work/system$project/build/deb" -name '*.deb' | wc -l)" 5 ;;
	esac
}

mapfile -t readme < <(commands 'Try it'; commands 'Install it' | grep '^make deb')
[ "${#readme[@]}" -ge 4 ] || die "README.md has no commands below 'Try it'"
if [ "${#given[@]}" = 0 ]; then
	given=("${readme[@]}")
else
	# make itself, first
	given=("${readme[0]}" "${given[@]}")
	mkdir -p "$SHUFFLE_CACHE/kernels-$release"
	binds="$binds $SHUFFLE_CACHE/kernels-$release:/root/.cache/shuffle"
fi
note "Debian $release, ${#given[@]} commands; what they print: $work/output"
for command in "${given[@]}"; do
	start=$SECONDS
	t "Debian $release: $command" run "$command"
	grep -aE '^(not ok|[0-9]+ passed)|# SKIP' "$work/output" | sed 's/^/# /'
	diag "$((SECONDS - start)) s"
done
tap_end
rm -rf "$work"/system "$work"/system.*
echo
echo "took $(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s"
echo "$((tap_count - tap_failed)) passed, $tap_failed failed, 0 skipped"
[ "$tap_failed" = 0 ]
