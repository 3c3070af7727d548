#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What needs no network: histograms, what the log says, the command line.  TAP.  The rest is in
# selftests/net/shuffle/cases_echo.sh.
#
# usage: check.sh FOLDER, where hist_test and shuffle-rperf are
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=$1
rperf=$out/shuffle-rperf
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0 n=100

tap()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		failed=1
	fi
}

# refused TEXT WORDS... - status 2 and a message that has TEXT
refused()
{
	local text=$1 said
	shift
	said=$("$rperf" "$@" 2>&1 </dev/null)
	[ $? = 2 ] && [[ $said = *"$text"* ]]
	tap $? "refused: $* ($text)"
}

"$out/rperf-hist_test" "$tmp/log" "$tmp/hgrm" | tee "$tmp/tap" | sed '/^1\.\./d'
[ "${PIPESTATUS[0]}" = 0 ] || failed=1
[ "# $(python3 -B "$here/log.py" "$tmp/log")" = "$(grep '^#' "$tmp/tap")" ]
tap $? "the log has what the histogram has"
# the table ends with all, in us
[ "$(awk '$2 == "1.000000000000" { print $3 }' "$tmp/hgrm")" = 70000 ]
tap $? "the table of percentiles is whole"
"$rperf" --help | grep -q 'usage: shuffle-rperf'
tap $? "--help"
refused "whom to ask" --rate 5
refused "44 to 65507" --size 43 10.0.0.1
refused "whole number" 10.0.0.1,size=100.5
refused "1e+06" --rate 2000000 10.0.0.1
refused "no key" 10.0.0.1,sice=100
refused "KEY=VALUE" 10.0.0.1,size
refused "there are tstamp" --mode none 10.0.0.1
refused "tcp:HOST" --flow tcp 10.0.0.1
refused "there are tcp" --flow udp:10.0.0.2 10.0.0.1
printf '10.0.0.1\n10.0.0.2 a b\n' >"$tmp/hosts"
refused "hosts:2:" --hosts "$tmp/hosts"
printf '10.0.0.1\n10.0.0.2\n' >"$tmp/hosts"
refused "--rank says" --hosts "$tmp/hosts"
refused "there are one-to-one" --hosts "$tmp/hosts" --pattern ring --rank 0
refused "matrix of 3" --hosts "$tmp/hosts" --rank 0 --pattern "matrix:$here/3x3.csv"
refused "who may ask" serve
refused "means nothing" serve --nothing
echo "1..$((n - 100 + $(grep -c '^ok\|^not' "$tmp/tap")))"
exit $failed
