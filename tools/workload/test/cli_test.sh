#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests of the program: files, formats, errors, independence of threads.  TAP.
#
# usage: cli_test.sh PROGRAM [PROGRAM2]
#   PROGRAM2: the same, built otherwise; it must make the same matrices
# shellcheck disable=SC2317	# t() calls the functions
# shellcheck disable=SC2015	# A && B || C: C is for either failure
set -uo pipefail

w=$1
other=${2-}
of='workload'
# shellcheck source=tools/common/cli_test.sh
. "$(dirname "$0")/../../common/cli_test.sh"

# fails_once STATUS TEXT COMMAND... - it ends with the status and says the text, once.
fails_once()
{
	fails "$@" || return 1
	want_le "lines that are said" "$(printf '%s\n' "$said" | wc -l)" 2 "$said"
}

# bad_file TEXT CONTENT - a file with this content is refused.
bad_file()
{
	printf '%b' "$2" >bad
	fails_once 1 "$1" "$w" stats bad
}

bad_files()
{
	bad_file 'says nothing' '' &&
	bad_file 'says nothing' '# only\n\n' &&
	bad_file 'line 2: not a square: fewer than 2' '1,2\n3\n' &&
	bad_file 'line 2: not a square: more than 2' '1,2\n3,4,5\n' &&
	bad_file 'not a square: 3 columns, 2 rows' '1,2,3\n1,2,3\n' &&
	bad_file 'line 4: not a square: 2 columns, more' '1,2\n3,4\n#\n5,6\n' &&
	bad_file "line 2: '-4' is not a number" '1,2\n3,-4\n' &&
	bad_file "line 1: '2x' is not a number" '1,2x\n3,4\n' &&
	bad_file "line 1: '' is not a number" '1,\n3,4\n' &&
	bad_file 'is not a number of bytes' '1,99999999999999999999\n3,4\n' &&
	bad_file '1 hosts' '5\n' &&
	bad_file 'neither numbers' 'hello\n' &&
	bad_file 'line 2: 2 columns' 'from,to,bytes\n1,2\n' &&
	bad_file 'line 2: a host is missing' 'from,to,bytes\n,2,5\n' &&
	bad_file "line 2: 'x' is not a number" 'from,to,bytes\n1,2,x\n' &&
	bad_file 'host 4096' 'from,to,bytes\n0,4096,1\n' &&
	bad_file '0 hosts in the trace' 'from,to,bytes\n' &&
	bad_file 'operation b beside a' 'op,from,to,bytes\na,0,1,2\nb,0,1,2\n' &&
	bad_file 'header is cut off' 'SHFLMTX1\0002' &&
	bad_file 'bad header' 'SHFLMTX1\0001\0000\0000\0000\0000\0000\0000\0000' &&
	bad_file '2 hosts need 48' 'SHFLMTX1\0002\0000\0000\0000\0000\0000\0000\0000abc' &&
	fails_once 1 'No such file' "$w" stats /nonexistent &&
	fails_once 1 'Is a directory' "$w" stats . &&
	fails_once 1 'only a trace' "$w" stats --op 1 m.csv
}

bad_arguments()
{
	[ "$("$w" 2>&1 >/dev/null | head -1)" = "usage: shuffle-workload COMMAND [OPTIONS]" ] &&
	! "$w" 2>/dev/null &&
	fails_once 2 "no command 'x'" "$w" x &&
	fails_once 2 'which workload' "$w" generate &&
	fails_once 2 "'x'" "$w" generate x -n 4 &&
	fails_once 2 'how many hosts' "$w" generate uniform &&
	fails_once 2 'hosts' "$w" generate uniform -n 5000 &&
	fails_once 2 'hosts' "$w" generate uniform -n -4 &&
	fails_once 2 'hosts' "$w" generate uniform -n 4x &&
	fails_once 1 '1 hosts' "$w" generate uniform -n 1 &&
	fails_once 2 'size' "$w" generate uniform -n 4 -s 4q &&
	fails_once 1 'mean message' "$w" generate uniform -n 4 -s 0 &&
	fails_once 2 'seed' "$w" generate uniform -n 4 -S 18446744073709551616 &&
	fails_once 2 'skewness' "$w" generate sort -n 4 -k 1.5 &&
	fails_once 2 'skewness' "$w" generate sort -n 4 -k nan &&
	fails_once 2 'empty' "$w" generate sort -n 4 -k 0.5:0.4 &&
	fails_once 1 'cannot be chosen' "$w" generate incast -n 4 -k 0.5 &&
	fails_once 2 'keys' "$w" generate sort -n 4 --keys x &&
	fails_once 2 'format' "$w" generate uniform -n 4 -f x &&
	fails_once 2 "what is 'more'" "$w" generate uniform -n 4 more &&
	fails_once 2 'unrecognized' "$w" generate uniform -n 4 --wrong &&
	fails_once 1 'no distribution' "$w" generate general -n 4 --mean 3.9:4 --stddev 3:4 &&
	fails_once 1 'cannot be reached' "$w" generate sort -n 4 -k 0:0.01 --no-self &&
	"$w" generate general -n 3 -k 0.9 --no-self >three.csv &&
	fails_once 1 '/nonexistent/x' "$w" generate uniform -n 4 -o /nonexistent/x &&
	fails_once 1 'No space' "$w" generate uniform -n 400 -o /dev/full &&
	fails_once 2 'which file' "$w" stats &&
	fails_once 2 'no such option' "$w" stats -f csv m.csv &&
	fails_once 2 'one file only' "$w" heatmap m.csv m.csv &&
	fails_once 2 'kind' "$w" sweep -n 4 -K uniform &&
	fails_once 2 'twice' "$w" sweep -n 4 -K sort,sort &&
	fails_once 2 'threads' "$w" sweep -n 4 -t 0 &&
	fails_once 2 'how many hosts' "$w" sweep &&
	fails_once 2 'how many hosts' "$w" cdfs
}

helps()
{
	local c
	"$w" --help | grep -q '^usage:' || return 1
	"$w" --version | grep -Eqx 'shuffle-workload [0-9]+(\.[0-9]+)+' || return 1
	for c in generate sweep stats heatmap convert cdfs; do
		want_grep "help" "$("$w" "$c" --help)" "^usage: shuffle-workload $c"
	done
}

formats()
{
	local k
	for k in uniform sort general lognormal neighbour graph mapreduce incast permutation; do
		"$w" generate "$k" -n 13 -S 7 -o a.csv &&
		"$w" convert -f binary a.csv -o a.bin &&
		"$w" convert -f trace a.bin -o a.trace &&
		"$w" convert a.trace -o b.csv &&
		grep -v '^#' a.csv | cmp - b.csv &&
		"$w" generate "$k" -n 13 -S 7 -f binary | cmp - a.bin || fail "$k: got status $?, want 0"
	done
}

# Golden: what the files hold, byte by byte.
golden()
{
	printf '# two\n 1,20\r\n\n300, 4000\n' >m &&
	"$w" convert m | cmp - <(printf '1,20\n300,4000\n') &&
	"$w" convert -f trace m | cmp - <(printf 'from,to,bytes\n0,0,1\n0,1,20\n1,0,300\n1,1,4000\n') &&
	"$w" convert -f binary m |
		cmp - <(printf 'SHFLMTX1\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\24\0\0\0\0\0\0\0\54\1\0\0\0\0\0\0\240\17\0\0\0\0\0\0')
}

traces()
{
	printf 'time,from,op,bytes,to\n1,web,7,10,db\n2,db,7,5,log\n3,web,8,1,x\n4,web,7,10,db\n' >t &&
	"$w" convert --op 7 t | cmp - <(printf '0,20,0\n0,0,5\n0,0,0\n') &&
	"$w" convert --op 8 t | cmp - <(printf '0,1\n0,0\n') &&
	fails_once 1 'operation 8 beside 7' "$w" convert t &&
	fails_once 1 'operation 9' "$w" convert --op 9 t &&
	printf 'from,to,bytes\n2,0,7\n3,3,0\n' | "$w" convert - |
		cmp - <(printf '0,0,0,0\n0,0,0,0\n7,0,0,0\n0,0,0,0\n')
}

json()
{
	"$w" generate general -n 12 -k 0.4 -o m.csv && "$w" stats -j m.csv m.csv >s.json &&
	"$w" cdfs -n 12 -j >c.json && "$w" sweep -q -n 6 -p 1 -b 2 -j >w.json &&
	python3 - <<-'PY'
	import json
	a, b = json.load(open("s.json"))
	assert a == b and a["hosts"] == 12 and abs(a["skewness"] - 0.4) < 0.0026, a
	assert a["row"]["sums"] == [288000] * 12 == a["column"]["sums"]
	assert len(a["out_degree"]["hosts"]) == 12
	c = json.load(open("c.json"))
	assert c["filled"] >= 48, c["filled"]
	for d in c["distributions"]:
	    xs, ys = zip(*d["points"])
	    assert list(xs) == sorted(xs) and list(ys) == sorted(ys) and 0 < xs[0] and xs[-1] < 12
	    # the mean of steps, by hand
	    if d["form"] == "steps":
	        xs, ys = xs + (12,), (0,) + ys + (1,)
	        mean = sum(x * (ys[i + 1] - ys[i]) for i, x in enumerate(xs))
	        assert abs(mean - d["mean"]) < 1e-5 * 12, d
	w = json.load(open("w.json"))
	assert w["matrices"] == 4 and len(w["intervals"]) == 4
	PY
}

text_stats()
{
	printf '0,6,6\n6,0,6\n6,6,0\n' >m
	"$w" stats m | grep -q '^skewness *0.500000$' && "$w" stats m | grep -q '^bound *12 bytes'
}

pictures()
{
	printf '0,0,9\n9,0,0\n0,9,0\n' >m &&
	"$w" heatmap m | tail -n +2 | cmp - <(printf '|    @@|\n|@@    |\n|  @@  |\n') &&
	"$w" heatmap --svg m -o m.svg && python3 -c 'import xml.etree.ElementTree as e; e.parse("m.svg")' &&
	[ "$(grep -c 'd="M2 0h1v1h-1zM0 1h1v1h-1zM1 2h1v1h-1z"' m.svg)" = 1 ] &&
	"$w" generate sort -n 300 | "$w" heatmap --svg -c 50 - >big.svg && [ "$(wc -c <big.svg)" -lt 100000 ]
}

# Quick variant of the full sweep: every interval, same result for any threads.
sweeps()
{
	"$w" sweep -q -n 40 -p 2 -t 1 -f csv -o one >one.txt && "$w" sweep -q -n 40 -p 2 -t 3 -f csv -o three >three.txt &&
	diff -r one three && diff <(sed '$s/in .* s,//' one.txt) <(sed '$s/in .* s,//' three.txt) &&
	[ "$(find one -name '*.csv' | wc -l)" = 80 ] && [ "$(wc -l <one.txt)" = 42 ] || return 1
	# Without messages to oneself, 9 hosts have at least 1/8: 18 intervals are left.
	"$w" sweep -q -n 9 -p 1 --no-self | tail -1 | grep -q '^36 matrices'
}

progress()
{
	local pid tries ok=1

	"$w" sweep -n 8 -p 100000 >/dev/null 2>err &
	pid=$!
	for ((tries = 0; tries < 300 && ok; tries++)); do
		! grep -Eq '^[0-9]+ of 4000000 matrices, [0-9]+ s, [0-9]+ s left$' err || ok=0
		sleep 0.2
	done
	kill "$pid"
	wait "$pid"
	return "$ok"
}

same_elsewhere()
{
	local k
	for k in sort general lognormal graph; do
		"$w" generate "$k" -n 31 -S 5 -o x && "$other" generate "$k" -n 31 -S 5 -o y &&
		cmp x y || fail "$k: got status $?, want 0"
	done
}

"$w" generate uniform -n 4 -o m.csv || echo "Bail out! $w does not run"
t "--help" helps
t "bad arguments" bad_arguments
t "bad files" bad_files
t "formats hold the same" formats
t "formats byte by byte" golden
t "traces with names, operations, silent hosts" traces
t "JSON" json
t "text" text_stats
t "pictures" pictures
t "sweep covers all intervals, whatever the number of threads" sweeps
t "sweep shows progress" progress
if [ -n "$other" ]; then
	t "another build makes the same matrices" same_elsewhere
fi
tap_end
