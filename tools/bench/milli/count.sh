#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What milli.sh runs on a processor whose time is counted: what computation costs, "COUNT KIND NS".
set -euo pipefail

bin=build/tools
rows=20000

# count_query QUERY ZIPF TABLES... - without a network, for each row scanned
count_query()
{
	local q=$1 zipf=$2 t
	shift 2

	for t; do
		$bin/shuffle-query generate "$t" -n $rows -b -z "$zipf" -o "/tmp/$q" 2>/dev/null
	done
	$bin/shuffle-query run "$q" --tables "/tmp/$q" --local -j >"/tmp/$q.json"
	sed 's/.*"took_ns": \([0-9]*\).*/\1/' "/tmp/$q.json" |
		awk -v q="$q" -v n=$((rows * $#)) '{ printf "COUNT row-%s %.2f\n", q, $1 / n }'
}

$bin/milli_count
count_query q1 1 wiki
count_query q2 1 edits
count_query q3 0.5 commits languages
