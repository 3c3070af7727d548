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
# shellcheck source=../../common/tap.sh
. "$here/../../common/tap.sh"

# refused TEXT WORDS... - status 2 and a message that has TEXT
refused()
{
	local text=$1 said status=0
	shift
	said=$("$rperf" "$@" 2>&1 </dev/null) || status=$?
	want_eq "status" "$status" 2
	want_grep "message" "$said" -F -e "$text"
}

# r TEXT WORDS... - a test of it
r()
{
	t "refused: ${*:2} ($1)" refused "$@"
}

same_log()
{
	want_eq "the log's values and 99th percentile" "$(python3 -B "$here/log.py" "$tmp/log")" \
		"$(sed -n 's/^# //p' "$tmp/tap")"
}

# the table ends with all, in us
whole_table()
{
	want_eq "values" "$(awk '$2 == "1.000000000000" { print $3 }' "$tmp/hgrm")" 70000
}

help_text()
{
	want_grep "--help" "$("$rperf" --help)" 'usage: shuffle-rperf'
}

# its tests are the first ones here
"$out/rperf-hist_test" "$tmp/log" "$tmp/hgrm" | tee "$tmp/tap" | sed '/^1\.\./d'
status=${PIPESTATUS[0]}
tap_count=$(grep -c '^ok\|^not' "$tmp/tap")
tap_failed=$(grep -c '^not' "$tmp/tap")
t "tests of histograms end as their lines say" want_eq "status" "$status" $((tap_failed > 0))
t "the log has what the histogram has" same_log
t "the table of percentiles is whole" whole_table
t "--help" help_text
r "whom to ask" --rate 5
r "44 to 65507" --size 43 10.0.0.1
r "whole number" 10.0.0.1,size=100.5
r "1e+06" --rate 2000000 10.0.0.1
r "no key" 10.0.0.1,sice=100
r "KEY=VALUE" 10.0.0.1,size
r "there are tstamp" --mode none 10.0.0.1
r "tcp:HOST" --flow tcp 10.0.0.1
r "there are tcp" --flow udp:10.0.0.2 10.0.0.1
printf '10.0.0.1\n10.0.0.2 a b\n' >"$tmp/hosts"
r "hosts:2:" --hosts "$tmp/hosts"
printf '10.0.0.1\n10.0.0.2\n' >"$tmp/hosts"
r "--rank says" --hosts "$tmp/hosts"
r "there are one-to-one" --hosts "$tmp/hosts" --pattern ring --rank 0
r "matrix of 3" --hosts "$tmp/hosts" --rank 0 --pattern "matrix:$here/3x3.csv"
r "who may ask" serve
r "means nothing" serve --nothing
tap_end
