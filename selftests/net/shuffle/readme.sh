#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run the commands of a section of README.md, lines "    $ COMMAND" of blocks of code, and compare
# what they print with the lines below them.  In a guest, with the module loaded, and in a folder of
# its own:
#
#   make tools && selftests/vm/run.sh uml selftests/net/shuffle/readme.sh ['Sort and query']
#
# Exit status: 0 if README.md is right.
set -uo pipefail

section=${1:-Sort and query}
# a guest has no other device for 127.0.0.1
ip link set lo up 2>/dev/null
dir=$(mktemp -d)

# The section's blocks that have a command.
awk -v want="## $section" '
	/^## / { on = $0 == want; next }
	!on || !/^    / { block = 0; next }
	/^    \$ / { block = 1 }
	block { print substr($0, 5) }' README.md >"$dir/want"
grep -q '^\$ ' "$dir/want" || { echo "README.md has no commands in section \"$section\"" >&2; exit 1; }

mkdir "$dir/run"
ln -s "$PWD/build" "$dir/run/build"
cd "$dir/run" || exit 1
while read -r prompt command; do
	[ "$prompt" = '$' ] || continue
	echo "\$ $command"
	eval "$command"
done <"$dir/want" >"$dir/got"
cat "$dir/got"
diff -u --label README.md "$dir/want" --label printed "$dir/got"
