#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests of the program: files that are wrong, forms, generators, options.  TAP.
#
# usage: cli_test.sh PROGRAM, built with sanitizers
# shellcheck disable=SC2317	# t() calls the functions
set -uo pipefail

q=$1
of='query'
# shellcheck source=tools/common/cli_test.sh
. "$(dirname "$0")/../../common/cli_test.sh"

# bad TEXT CONTENT - a table of that content is refused.
bad()
{
	printf '%b' "$2" >bad
	fails 1 "$1" "$q" convert -c 'a b:int' bad out.csv
}

bad_csv()
{
	bad 'bad: it is empty' '' &&
	bad 'bad:1: there is no column "b"' 'a,c\nx,1\n' &&
	bad 'bad:1: column "a" is there twice' 'a,b,a\n' &&
	bad 'bad:3: 1 fields, the first line has 2' 'a,b\nx,1\nx\n' &&
	bad 'bad:2: 3 fields, the first line has 2' 'a,b\nx,1,2\n' &&
	bad 'bad:2: 1 fields' 'a,b\n\n' &&
	bad 'bad:2: b: "" is not a whole number' 'a,b\nx,\n' &&
	bad 'bad:2: b: "-" is not a whole number' 'a,b\nx,-\n' &&
	bad 'bad:2: b: "1.5" is not a whole number' 'a,b\nx,1.5\n' &&
	bad 'bad:2: b: "+1" is not a whole number' 'a,b\nx,+1\n' &&
	bad 'bad:2: b: " 1" is not a whole number' 'a,b\nx, 1\n' &&
	bad 'bad:2: b: "9223372036854775808" is not' 'a,b\nx,9223372036854775808\n' &&
	bad 'bad:2: b: "-9223372036854775809" is not' 'a,b\nx,-9223372036854775809\n' &&
	bad 'bad:2: a quote is not closed' 'a,b\n"x,1\n' &&
	bad 'bad:2: "y" after a quote' 'a,b\n"x"y,1\n' &&
	bad 'bad:2: a quote inside a field' 'a,b\nx"y,1\n' &&
	bad 'bad:2: CR without LF' 'a,b\nx\ry,1\n' &&
	bad 'bad:4: b: "z"' 'a,b\n"x\n",1\ny,z\n' &&
	bad 'bad:2: a NUL byte' 'a,b\nx\0000y,1\n'
}

good_csv()
{
	printf 'b,a,other\r\n-9223372036854775808,"x, ""y""\n",1\r\n9223372036854775807,,"2"' >good.csv
	printf 'a,b\n"x, ""y""\n",-9223372036854775808\n,9223372036854775807\n' >want.csv
	"$q" convert -c a,b:int good.csv got.csv && diff want.csv got.csv &&
	"$q" convert -c a,b:int good.csv got.shq && "$q" convert -c a,b:int got.shq back.csv &&
	diff want.csv back.csv
}

long_field()
{
	{
		echo a,b
		head -c 1100000 /dev/zero | tr '\0' x
		echo ,1
	} >long.csv
	fails 1 'long.csv:2: a field of more than 1048576 bytes' "$q" convert -c a,b:int long.csv o.csv
}

# Any file that is cut off or has a byte changed is refused or read, without a fault.
bad_binary()
{
	local size i

	printf 'a,b\nx,1\nyy,2\n,3\n' >s.csv
	"$q" convert -c a,b:int s.csv s.shq || return 1
	size=$(stat -c %s s.shq)
	for ((i = 8; i < size; i += 3)); do
		head -c "$i" s.shq >cut.shq
		fails 1 cut.shq "$q" convert -c a,b:int cut.shq o.csv || return 1
	done
	for ((i = 8; i < size; i += 5)); do
		cp s.shq turned.shq
		printf '\377' | dd of=turned.shq bs=1 seek="$i" conv=notrunc status=none
		"$q" convert -c a,b:int turned.shq o.csv >said 2>&1
		! grep -E 'Sanitizer|runtime error' said || return 1
	done
	{ cat s.shq; echo; } >more.shq
	fails 1 'bytes after the last row' "$q" convert -c a,b:int more.shq o.csv &&
	fails 1 'has strings, not numbers' "$q" convert -c a:int s.shq o.csv &&
	fails 1 'there is no column "c"' "$q" convert -c c s.shq o.csv
}

generated()
{
	local t

	for t in wiki edits commits languages; do
		"$q" generate "$t" -n 10000 -o whole && "$q" generate "$t" -n 10000 -o parts -p 3 &&
		"$q" generate "$t" -n 10000 -o columns -b || return 1
		{
			head -1 "whole/$t.csv"
			tail -q -n +2 "parts/$t.0.csv" "parts/$t.1.csv" "parts/$t.2.csv"
		} | diff -q - "whole/$t.csv" || return 1
		[ "$(wc -l <"whole/$t.csv")" = 10001 ] || return 1
	done
	"$q" generate wiki -n 10000 -o other -s 2 && ! cmp -s other/wiki.csv whole/wiki.csv
}

# The same on any number of hosts, from any form, whatever is split.
same_result()
{
	local name

	for name in q1 q2 q3 repos langs; do
		"$q" run "$name" -T whole -l >r1 && "$q" run "$name" -T whole -l -n 5 -k on >r2 &&
			"$q" run "$name" -T parts -l -n 2 -k off >r3 &&
			"$q" run "$name" -T columns -l -n 7 >r4 || return 1
		cmp r1 r2 && cmp r1 r3 && cmp r1 r4 || return 1
		want_gt "$name: rows" "$(wc -l <r1)" 10
	done
}

as_json()
{
	printf 'language,views\n"a ""\\\t",1\n\377,2\n\303\251,3\n' >json/wiki.csv
	"$q" run q1 -T json -l -n 2 -j | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["rows"] == [["a \"\\\t", 1], ["\u00e9", 3], ["\ufffd", 2]], r["rows"]
assert r["columns"] == ["language", "views"] and r["hosts"] == 2
assert r["phases"][0]["rows_out"] == 3, r["phases"]'
}

explained()
{
	"$q" run q3 -T whole -l -n 4 -e 2>said >/dev/null || return 1
	cat said
	grep -q '^exchange by repo_name .*[0-9]$' said &&
	grep -Eq 'skew by hash [2-9]\.[0-9]+, [1-9][0-9]* keys split, then 1\.[0-2]' said
}

too_large()
{
	printf 'language,views\na,9223372036854775807\na,1\n' >large/wiki.csv
	fails 1 'column "views": a sum is larger than 64 bits' "$q" run q1 -T large -l
}

wrong_usage()
{
	fails 2 'there is no query "q9"' "$q" run q9 -T whole -l &&
	fails 2 'either --group or --local' "$q" run q1 -T whole &&
	fails 2 '--tables is needed' "$q" run q1 -l &&
	fails 2 '--rank is needed: neither' "$q" run q1 -T whole -g 127.0.0.1:1 &&
	fails 2 'PMI_SIZE is 3, but the group has 2 members' \
		env PMI_RANK=0 PMI_SIZE=3 "$q" run q1 -T whole -g 127.0.0.1:1,127.0.0.1:2 &&
	fails 2 'SLURM_PROCID: "2" is not a number from 0 to 1' \
		env SLURM_PROCID=2 SLURM_NTASKS=2 "$q" run q1 -T whole -g 127.0.0.1:1,127.0.0.1:2 &&
	fails 2 '--rank 2: the group has 2 members' "$q" run q1 -T whole -g 127.0.0.1:1,127.0.0.1:2 -r 2 &&
	fails 2 '--roles and --relays: both' "$q" run q1 -T whole -g 127.0.0.1:1 -r 0 --roles x &&
	fails 2 '--roles and --relays: both' "$q" run q1 -T whole -l --roles x --relays y &&
	fails 2 '--deadline 0' "$q" run q1 -T whole -l -t 0 &&
	fails 2 '--hot "x"' "$q" run q1 -T whole -l -k x &&
	fails 2 '--start "x": is not a time' "$q" run q1 -T whole -l --start x &&
	fails 2 '--charge "row=": a number of ns' "$q" run q1 -T whole -l --charge row= &&
	fails 2 'no command "x"' "$q" x &&
	fails 2 '--zipf: "x"' "$q" generate wiki -o o -z x &&
	fails 2 'there is no table "x"' "$q" generate x -o o &&
	fails 2 'are the same file' "$q" convert -c a s.csv ./s.csv &&
	fails 2 'no type "real"' "$q" convert -c a:real s.csv o.csv &&
	fails 1 'No such file' "$q" run q1 -T nowhere -l &&
	fails 1 'there is no wiki.csv' "$q" run q1 -T empty -l
}

twice()
{
	cp whole/wiki.csv twice/wiki.csv
	cp columns/wiki.shq twice/wiki.shq
	fails 1 'would be there twice' "$q" run q1 -T twice -l
	cp whole/wiki.csv mixed/wiki.csv
	cp whole/wiki.csv mixed/wiki.0.csv
	fails 1 'would be there twice' "$q" run q1 -T mixed -l
}

mkdir json large empty twice mixed
t "CSV that is wrong" bad_csv
t "CSV with quotes, CR LF, other columns" good_csv
t "CSV with a field that is too long" long_field
t "columnar files that are cut off or changed" bad_binary
t "tables are the same however they are split" generated
t "results are the same on any number of hosts" same_result
t "JSON" as_json
t "--explain shows a heavy key that is split" explained
t "a sum that is too large" too_large
t "wrong usage" wrong_usage
t "rows that would be there twice" twice
tap_end
