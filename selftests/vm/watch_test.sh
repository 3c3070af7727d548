#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# watch.py on commands that end, sleep and spin.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# expect STATUS PATTERN COMMAND... - watch.py ends so and says that.
expect()
{
	local got=0

	rm -f "$dir/log" "$dir/times"
	"$here/watch.py" -n n -l "$dir/log" -t "$dir/times" -q 4 -c 3 -s 1 "${@:3}" >"$dir/said" 2>&1 || got=$?
	if [ "$got" != "$1" ] || ! grep -q -- "$2" "$dir/said"; then
		echo "'${*:3}': got status $got, want $1 and '$2'; said:"
		cat "$dir/said"
		exit 1
	fi
}

expect 0 '^\[n\] ok 1 - a$' echo 'ok 1 - a'
grep -qE '^[0-9.]+ a$' "$dir/times" || { echo "times: got '$(cat "$dir/times")', want the test a"; exit 1; }
expect 3 '^\[n\] x' sh -c 'echo x; exit 3'
# shellcheck disable=SC2016 # for the inner shell
expect 143 'x' sh -c 'echo x; kill -TERM $$'
expect 124 'no progress: nothing said for' sh -c 'echo x; sleep 1000'
grep -q '^# no progress' "$dir/log" || { echo "log: got '$(cat "$dir/log")', want the reason"; exit 1; }
expect 124 's of a processor used, and nothing said' sh -c 'while :; do :; done'
# Slow, but neither idle nor silent for long.
# shellcheck disable=SC2016 # for the inner shell
expect 0 '^\[n\] 5' sh -c 'for i in 1 2 3 4 5; do sleep 1; echo $i; done'
# What is left behind does not hold it.
expect 0 '^\[n\] x' sh -c 'echo x; sleep 1000 & exit 0'
