#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: records merged by key on their way through members.  Sourced by run_all.sh.
#
# shellcheck disable=SC2154 # work, hosts: lib.sh

keys_port=7400

keys_cases()
{
	run_case keys-words words_counted
	# what is the program's alone need not be seen on emulated processors
	[[ $LANE != qemu* ]] || return 0
	run_case keys-words-collide words_collide
	run_case keys-words-member-missing words_missing
}

# words FIRST OPTIONS... - shuffle-wordcount on the hosts from FIRST on, each of its file
# $work/in<host>; exit status and output are in rc<host>, out<host> and err<host>
words()
{
	local first=$1 h group='' jobs=()
	shift

	keys_port=$((keys_port + 1))
	for ((h = 0; h < hosts; h++)); do
		group+=10.77.0.$((h + 1)):$keys_port,
	done
	for ((h = first; h < hosts; h++)); do
		{
			nsx "h$h" "$BIN/shuffle-wordcount" -g "$group" -r $h "$@" "$work/in$h" \
				>"$work/out$h" 2>"$work/err$h"
			echo $? >"$work/rc$h"
		} &
		jobs+=($!)
	done
	wait "${jobs[@]}"
}

# Files of the machine: texts of other lengths, one of them empty.
word_files()
{
	cat "$here"/*.sh >"$work/in0"
	cat "$here"/*.c >"$work/in1"
	: >"$work/in2"
	cat "$here/run_all.sh" "$here/../../../README.md" >"$work/in3"
}

# What the same words are by other means.
counted()
{
	cat "$work"/in? | LC_ALL=C tr -cs 'A-Za-z0-9\200-\377' '\n' | sed '/^$/d' |
		LC_ALL=C sort | uniq -c
}

words_counted()
{
	local h

	new_rack 4
	word_files
	counted >"$work/right"
	words 0 --receiver 2
	for ((h = 0; h < hosts; h++)); do
		[ "$(cat "$work/rc$h")" = 0 ] || fail "host $h: $(cat "$work/err$h")"
		[ $h = 2 ] || [ ! -s "$work/out$h" ] || fail "host $h prints something"
	done
	diff "$work/right" "$work/out2" >"$work/diff" || fail "$(head -5 "$work/diff")"
	[ "$(wc -l <"$work/out2")" -gt 1000 ] || fail "few words"

	words 0 --top 3 --json
	counted | LC_ALL=C sort -k1,1nr -k2 | head -3 |
		awk '{ printf "{\"word\": \"%s\", \"count\": %s}%s\n", $2, $1, NR < 3 ? "," : "]}" }' \
			>"$work/right"
	tail -n +2 "$work/out0" | diff "$work/right" - || fail "the first three"
}

# Two words with one key are named, and not summed: beta and psi have the same first 8 bits.
words_collide()
{
	new_rack 2
	echo alpha beta >"$work/in0"
	echo alpha psi >"$work/in1"
	words 0
	[ "$(cat "$work/out0")" = "$(printf '%7d alpha\n%7d beta\n%7d psi' 2 1 1)" ] ||
		fail "64 bits: $(cat "$work/out0")"
	words 0 --hash-bits 8 --timeout 1000
	[ "$(cat "$work/rc0")" = 1 ] || fail "no failure with two keys"
	[ ! -s "$work/out0" ] || fail "a result of two keys"
	grep -q 'the strings "beta" and "psi" have the same key' "$work/err0" ||
		fail "$(cat "$work/err0")"
}

# Host 0 does not run: the receiver names it.
words_missing()
{
	new_rack 4
	word_files
	words 1 --receiver 1 --timeout 1000
	[ "$(cat "$work/rc1")" = 1 ] || fail "no failure without host 0"
	[ ! -s "$work/out1" ] || fail "a result without host 0"
	grep -q 'member 0: nothing comes' "$work/err1" || fail "$(cat "$work/err1")"
}
