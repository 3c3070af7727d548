#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests of the program without sockets: records that are made, verification, errors, and the golden
# values of the partitioning.  TAP.
#
# usage: cli_test.sh PROGRAM FAST
#   FAST: the same without sanitizers, for what takes long
# shellcheck disable=SC2317	# t() calls the functions
# shellcheck disable=SC2015	# A && B || C: C is for either failure
set -uo pipefail

s=$1
fast=$2
of='sort'
# shellcheck source=tools/common/cli_test.sh
. "$(dirname "$0")/../../common/cli_test.sh"

helps()
{
	local c

	for c in "" generate verify quality; do
		# shellcheck disable=SC2086 # no command, no word
		"$s" $c --help | grep -q '^Usage: shuffle-sort' || return 1
	done
}

bad_arguments()
{
	local g=127.0.0.1:1,127.0.0.1:2

	fails 2 "are needed" "$s" -r 0 &&
		fails 2 "the group has 2 members" "$s" -g "$g" -r 2 -o 1 -d out -n 1 &&
		fails 2 "either input files or --generate" "$s" -g "$g" -r 0 -o 1 -d out &&
		fails 2 "either input files or --generate" "$s" -g "$g" -r 0 -o 1 -d out -n 1 file &&
		fails 2 '--reduction: "1" is not a number from 2' "$s" --reduction 1 &&
		fails 2 '--pivots: "0" is not' "$s" --pivots 0 &&
		fails 2 '--key-length: "0" is not' "$s" --key-length 0 &&
		fails 2 '--key-length: "4097" is not a number from 1 to 4096' "$s" --key-length 4097 &&
		fails 2 '--key-length 11: a record has 10 bytes' \
			"$s" generate -n 1 --record-length 10 --key-length 11 &&
		fails 2 '--field 3,2: ends before it begins' "$s" verify -T -k 3,2 x &&
		fails 2 'are for --text' "$s" verify -k 3 x &&
		fails 2 'is not one character' "$s" verify -T -t ab x &&
		fails 2 'there is no "odd"' "$s" generate -n 1 --keys odd &&
		fails 2 '--threads: "0" is not' "$s" --threads 0 &&
		fails 2 '--memory: "999999" is not a number from 1000000' "$s" --memory 999999 &&
		fails 2 'what is more than memory holds needs --output' \
			"$s" -g "$g" -r 0 -o 1 --no-output --memory 1M -n 1 &&
		fails 2 'either --output or --no-output' "$s" -g "$g" -r 0 -o 1 -d out --no-output -n 1 &&
		fails 2 '--one-file needs --output' \
			"$s" -g 127.0.0.1:1 -r 0 -o 1 --no-output --one-file -n 1 &&
		fails 2 '--start: "soon" is not a time' "$s" --start soon &&
		fails 2 '--charge "sort=1,x": there are source' "$s" --charge sort=1,x &&
		fails 2 '--charge "sort=-1": a number of ns' "$s" --charge sort=-1 &&
		fails 2 '--charge "sort=nan": a number of ns' "$s" --charge sort=nan &&
		fails 2 '"5G" is not a number from 0 to 4294967295' "$s" generate -n 5G &&
		fails 2 'is not a number from' "$s" generate -n 99999999999999999999 &&
		fails 2 'there is no "both"' "$s" quality --keys both &&
		fails 2 'no files' "$s" verify &&
		fails 2 'is not a hexadecimal number' "$s" verify --checksum xyz f
}

# Record i is the same whoever makes it; the layout is gensort's.
generates()
{
	local kind

	for kind in uniform skewed clustered equal sorted; do
		"$s" generate -n 100 --keys "$kind" all && "$s" generate -n 40 --keys "$kind" a &&
			"$s" generate -n 60 --first 40 --keys "$kind" b || return 1
		cat a b | cmp - all || return 1
	done
	"$s" generate -n 3 --first 18 -a | tail -c 90 | tr -d '\r' >last
	echo "  00000000000000000000000000000014  444455556666777788889999AAAABBBBCCCCDDDDEEEEFFFF0000" |
		cmp - last || return 1
	"$s" generate -n 3 --first 18 | tail -c 90 >last
	{
		printf '\x00\x11%s\x88\x99\xaa\xbb' 00000000000000000000000000000014
		printf '%s\xcc\xdd\xee\xff' 444455556666777788889999AAAABBBBCCCCDDDDEEEEFFFF
	} | cmp - last || return 1
	# skewed: the same few keys again and again
	[ "$("$s" generate -n 3000 --keys skewed -a | cut -c1-10 | sort -u | wc -l)" -lt 2700 ]
}

verifies()
{
	"$s" generate -n 1000 --keys sorted a && "$s" generate -n 500 --first 1000 --keys sorted b &&
		"$s" verify a b --records 1500 | grep -q '^1500 records, 0 with' &&
		fails 1 "1 out of order, the first: a: record 1" "$s" verify b a &&
		fails 1 "not as many records as wanted" "$s" verify --records 7 a &&
		fails 1 "not as many records as the input" "$s" verify -i b a &&
		fails 1 "not the checksum" "$s" verify --checksum 1 a || return 1
	# the same records but for one byte of one
	cp a c
	printf x | dd of=c bs=1 seek=50050 conv=notrunc status=none
	fails 1 "not the records of the input" "$s" verify -i a c || return 1
	# one twice, another one missing
	{ head -c 99900 a; head -c 99900 a | tail -c 100; } >c
	fails 1 "not the records of the input" "$s" verify -i a c || return 1
	"$s" generate -n 10 --keys equal e
	"$s" verify -j e | grep -q '"ok": true, "records": 10, .*"equal_keys": 9, "out_of_order": 0' ||
		return 1
	# folders: of an input all files, in order of names, but those that are hidden
	mkdir in in/folder && cp a in/y && cp b in/x && echo >in/.z &&
		"$s" verify -i in a b --records 1500 >/dev/null || return 1
	fails 1 "in: there is no file 0" "$s" verify in || return 1
	mkdir d && mv a d/0 && mv b d/1 && "$s" verify --records 1500 d >/dev/null || return 1
	fails 1 "there is no file 0" "$s" verify /
}

bad_files()
{
	head -c 250 /dev/zero >short
	fails 1 "short: 250 bytes are no whole number of records of 100" "$s" verify short &&
		fails 1 "none: No such file" "$s" verify none || return 1
	{ echo a; head -c 70000 /dev/zero | tr '\0' x; } >long
	fails 1 "long:2: a line of more than 65536 bytes" "$s" verify -T long || return 1
	if [ -e /dev/full ]; then
		fails 1 "/dev/full: cannot write" "$s" generate -n 100 /dev/full
	fi
}

# The keys of lines are those of sort(1): what it has sorted is in order.
fields()
{
	local k

	awk 'BEGIN { srand(1); for (i = 0; i < 2000; i++)
		printf "%*s%d:%c %d  w%d:%s\n", i % 3, "", rand() * 50, 97 + rand() * 5, rand() * 9,
			rand() * 1000, i % 5 ? "" : " end" }' >lines
	for k in "" "-k 1" "-k 2" "-k 2,2" "-k 1,2" "-k 4" "-k 9" "-t : -k 2" "-t : -k 1,1" \
		"-t : -k 2,2" "-t : -k 3,3" "-t : -k 1,3"; do
		# shellcheck disable=SC2086 # words
		LC_ALL=C sort -s $k lines >sorted && "$s" verify -T $k sorted >/dev/null &&
			"$s" verify -T $k -i lines sorted >said ||
				fail "sort $k: got status $?, want 0"
		[ "$k" != "" ] || continue
		fails 1 "out of order" "$s" verify -T lines || return 1
	done
}

# golden VALUE WANT NAME - within 15 percent.
golden()
{
	want_near "$3" "$1" "$2" "$(awk -v w="$2" 'BEGIN { print 0.15 * w }')"
}

# Table 2.2 of the source: excess of the largest part in percent.
quality()
{
	local naive50 naive90 weighted50 weighted90 said

	said=$("$fast" quality --keys uniform --pivots 120,600 --runs 100 --no-progress) || return 1
	echo "$said"
	read -r _ _ naive50 naive90 weighted50 weighted90 <<<"$(grep ' 120 ' <<<"$said")"
	golden "$naive50" 33.6 "naive, P50" && golden "$naive90" 45.5 "naive, P90" &&
		golden "$weighted50" 6.9 "120 weighted pivots, P50" &&
		golden "$weighted90" 8.6 "120 weighted pivots, P90" || return 1
	read -r _ _ naive50 naive90 weighted50 weighted90 <<<"$(grep ' 600 ' <<<"$said")"
	golden "$weighted50" 2.0 "600 weighted pivots, P50" &&
		golden "$weighted90" 2.4 "600 weighted pivots, P90"
}

quality_json()
{
	"$s" quality --hosts 5 -n 100 --runs 3 --pivots 5,10 -j | python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
assert [(r["keys"], r["pivots"]) for r in rows] == [
    ("uniform", 5), ("uniform", 10), ("gaussian", 5), ("gaussian", 10)], rows'
}

t "--help" helps
t "bad arguments" bad_arguments
t "records in the format of gensort" generates
t "verification" verifies
t "bad files" bad_files
t "fields of lines as sort(1) has them" fields
t "golden: excess of the largest part, 120 hosts, 100 runs" quality
t "the same as JSON" quality_json
tap_end
