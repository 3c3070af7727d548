#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Which commit made a case of the budget dear?  git bisect, in a work tree of its own below
# build/; module and programs of each commit that it tries are built there, and run by the
# scripts of this tree.  Ends with the first bad commit and a table of what was measured.
#
# usage: budget_bisect.sh GOOD..BAD CASE BOUND
#        budget_bisect.sh step CASE NANOSECONDS	(for git bisect run, in the work tree)
#
#   BOUND  more is bad: ms, or with a unit (73.5, 73.5ms, 880us)
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=selftests/vm/common.sh
. "$root/selftests/vm/common.sh"

dir=$root/build/bisect
tree=$dir/tree
table=$dir/table

# step CASE NS - measure the commit that is checked out; 0: good, 1: bad, 125: cannot tell
step()
{
	local figures median least most word=good

	if ! figures=$("$here/budget.sh" -m "$tree" "$1" 2>"$dir/log"); then
		tail -5 "$dir/log" >&2
		git -C "$tree" show -s --format='%h skip - - - %cs %s' >>"$table"
		return 125
	fi
	read -r median least most <<<"$figures"
	[ "$median" -le "$2" ] || word=bad
	git -C "$tree" show -s --format="%h $word $median $least $most %cs %s" >>"$table"
	tail -1 "$table" | show_table
	[ "$word" = good ]
}

# show_table - lines of the table, for people
show_table()
{
	awk '{
		for (i = 3; i <= 5; i++)
			$i = $i == "-" ? "-" : sprintf("%.2f", $i / 1e6)
		figure = sprintf("%9s ms (%s to %s)", $3, $4, $5)
		head = sprintf("# %s %-4s %-30s %s", $1, $2, figure, $6)
		$1 = $2 = $3 = $4 = $5 = $6 = ""
		sub(/^ +/, "")
		print head, $0
	}'
}

nanoseconds()
{
	awk -v t="$1" 'BEGIN {
		if (t !~ /^[0-9.]+(ms|us)?$/) exit 1
		printf "%.0f", t * (t ~ /us$/ ? 1e3 : 1e6)
	}'
}

if [ "${1-}" = step ]; then
	step "$2" "$3"
	exit
fi

[[ $# = 3 && $1 = *..* ]] ||
	die "usage: make budget BISECT=good..bad CASE=name BOUND=ms"
case=$2
ns=$(nanoseconds "$3") || die "BOUND='$3': want milliseconds, as in 73.5, or 880us"
cd "$root"
good=$(git rev-parse --verify -q "${1%%..*}^{commit}") || die "BISECT: no commit '${1%%..*}'"
bad=$(git rev-parse --verify -q "${1##*..}^{commit}") || die "BISECT: no commit '${1##*..}'"
git merge-base --is-ancestor "$good" "$bad" || die "BISECT: $good is not before $bad"

mkdir -p "$dir"
# One that was interrupted leaves its tree: what is built in it is still of use.
[ -e "$tree/.git" ] || {
	rm -rf "$tree"
	git worktree prune
	git worktree add -q --detach "$tree" "$good"
}
: >"$table"
git -C "$tree" bisect reset >/dev/null 2>&1 || true
end_of()
{
	local status=0

	git -C "$tree" checkout -q "$1"
	step "$case" "$ns" || status=$?
	[ "$status" != 125 ] || die "$case cannot be measured at $(git rev-parse --short "$1")"
	[ "$status" = "$2" ] || die "$case is not $3 at $(git rev-parse --short "$1"): no bound between the two"
}
end_of "$good" 0 good
end_of "$bad" 1 bad
git -C "$tree" bisect start "$bad" "$good" >/dev/null
git -C "$tree" bisect run "$here/budget_bisect.sh" step "$case" "$ns" >"$dir/bisect.log" 2>&1 ||
	{ tail -5 "$dir/bisect.log" >&2; die "git bisect did not end"; }
found=$(git -C "$tree" rev-parse --short refs/bisect/bad)
echo "# $case, more than $3 is bad; by time of commit:"
git rev-list --reverse "$good^..$bad" | while read -r c; do
	grep "^$(git rev-parse --short "$c") " "$table" || :
done | awk '!seen[$1]++' | show_table
echo "# first bad commit:"
git show -s --format='%h %s' "$found"
git -C "$tree" bisect reset >/dev/null 2>&1
