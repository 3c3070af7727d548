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
	run_case keys-words-roles-refused words_roles_refused
	run_case keys-words-over-relays words_over_relays
	run_case keys-words-over-relays-collide words_over_relays_collide
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
		want_eq "host $h" "$(cat "$work/rc$h")" 0 "$(cat "$work/err$h")"
		[ $h = 2 ] || [ ! -s "$work/out$h" ] || fail "host $h prints something"
	done
	diff "$work/right" "$work/out2" >"$work/diff" || fail "$(head -5 "$work/diff")"
	want_gt "few words" "$(wc -l <"$work/out2")" 1000

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
	want_eq "64 bits" "$(cat "$work/out0")" "$(printf '%7d alpha\n%7d beta\n%7d psi' 2 1 1)"
	words 0 --hash-bits 8 --timeout 1000
	want_eq "no failure with two keys" "$(cat "$work/rc0")" 1
	want_eq "a result of two keys" "$(<"$work/out0")" ""
	want_grep "err0" "$(<"$work/err0")" 'the strings "beta" and "psi" have the same key'
}

# Host 0 does not run: the receiver names it.
words_missing()
{
	new_rack 4
	word_files
	words 1 --receiver 1 --timeout 1000
	want_eq "no failure without host 0" "$(cat "$work/rc1")" 1
	want_eq "a result without host 0" "$(<"$work/out1")" ""
	want_grep "err1" "$(<"$work/err1")" 'member 0: nothing comes'
}

# A tree of 6 hosts: 1 is a relay, 4 merges what 5 sends with its own words.  $work/plan,
# $work/group with the hosts, and $work/roles.
words_tree()
{
	local h

	cat >"$work/plan" <<-'END'
		shuffle-plan 1
		topology racks 1x6
		tree 0 senders 4 servers 6
		0 - - 2 root
		1 0 - 2 aggregate
		4 0 - 2 aggregate
		2 1 - 1 sender
		3 1 - 1 sender
		5 4 - 1 sender
	END
	keys_port=$((keys_port + 1))
	for ((h = 0; h < 6; h++)); do
		echo "$h 10.77.0.$((h + 1)):$keys_port ${PFX}h$h"
	done >"$work/hosts"
	cut -d' ' -f2 "$work/hosts" >"$work/group"
	words_plan roles >"$work/roles" || fail "no roles: got status $?, want 0"
}

# words_plan COMMAND WORDS... - of shuffle-plan-install
words_plan()
{
	"$here/../../../tools/topo/shuffle-plan-install" "$1" "$work/plan" "$work/hosts" \
		--run "ip netns exec %h env PATH=$BIN:$PATH" "${@:2}"
}

# words_roles OPTIONS... - shuffle-wordcount on all hosts that are members in $work/roles
words_roles()
{
	local h role jobs=() roles=$work/roles

	while read -r h _ role; do
		[ "$role" = member ] || continue
		{
			nsx "h$h" "$BIN/shuffle-wordcount" -g "$work/group" -r "$h" \
				--roles "$work/roles" "$@" "$work/in$h" \
				>"$work/out$h" 2>"$work/err$h"
			echo $? >"$work/rc$h"
		} &
		jobs+=($!)
	done <"$roles"
	wait "${jobs[@]}"
}

# distinct FILE... - bytes of records of their words
distinct()
{
	echo $((16 * $(cat "$@" | LC_ALL=C tr -cs 'A-Za-z0-9\200-\377' '\n' | sed '/^$/d' |
		LC_ALL=C sort -u | wc -l)))
}

# words_right BYTES - the receiver has the right result, and so many bytes of records came
words_right()
{
	local h got

	for h in 0 2 3 4 5; do
		want_eq "host $h" "$(cat "$work/rc$h")" 0 "$(cat "$work/err$h")"
	done
	python3 - "$work/out0" >"$work/got" <<-'END' || fail "no JSON: $(head -c 300 "$work/out0")"
		import json, sys
		with open(sys.argv[1], encoding="utf-8") as f:
		    all = json.load(f)
		for c in all["counts"]:
		    print("%7d %s" % (c["count"], c["word"]))
		print(all["record_bytes_received"])
	END
	got=$(tail -n 1 "$work/got")
	sed '$d' "$work/got" | diff "$work/right" - >"$work/diff" || fail "$(head -5 "$work/diff")"
	[ "$got" = "$1" ] || fail "$got bytes of records came, and not $1"
}

# The same words with relays, with a host that merges but has no words, and straight to the receiver.
words_over_relays()
{
	local h n all=0

	new_rack 6
	word_files
	cp "$work/in0" "$work/in4"
	cp "$work/in3" "$work/in5"
	# the relay has none
	rm "$work/in1"
	cat "$here"/*.c >"$work/in3"
	counted >"$work/right"
	words_tree
	want_ok "no relay" words_plan install -- sorted
	words_roles --json
	words_right $(($(distinct "$work/in2" "$work/in3") + $(distinct "$work/in4" "$work/in5")))
	# each sender says what it has sent
	for h in 2 3 4 5; do
		n=$(distinct "$work/in$h")
		all=$((all + n))
		want_grep "host $h" "$(<"$work/out$h")" "\"record_bytes\": $n,"
	done
	# again, as other operations
	words_roles
	diff "$work/right" "$work/out0" >"$work/diff" || fail "again: $(head -5 "$work/diff")"
	want_ok "the relay stays" words_plan remove

	# a plan without relays: all straight to host 0
	sed -i 's/^\([2-5]\) [^ ]*/\1 0/; s/^1 .*/1 - none/' "$work/roles"
	words_roles --op 5 --json
	words_right "$all"

	# roles and relays of different plans: a sender too few is noticed
	words_tree
	sed -i '/^3 /d; s/^1 0 - 2 aggregate/1 0 - 1 forward/; s/senders 4 servers 6/senders 3 servers 5/' \
		"$work/plan"
	want_ok "no relay" words_plan install -- sorted
	words_roles --timeout 500
	want_eq "a result without host 3's words" "$(cat "$work/rc0")" 1
	want_eq "a result with words missing" "$(<"$work/out0")" ""
	want_grep "err0" "$(<"$work/err0")" 'member 3 is not in the result'
}

# Two longer words with one key are named where they meet, at one sender or at the receiver:
# bandwidth and nevertheless have the same first 8 bits.
words_over_relays_collide()
{
	local which='the strings ".*" and ".*" have the same key 00000000000000b1'

	new_rack 6
	words_tree
	want_ok "no relay" words_plan install -- sorted
	: | tee "$work"/in{0,3,4}
	echo alpha bandwidth >"$work/in2"
	echo alpha nevertheless >"$work/in5"
	words_roles
	want_eq "56 bits" \
		"$(cat "$work/out0")" "$(printf '%7d alpha\n%7d bandwidth\n%7d nevertheless' 2 1 1)" "$(cat "$work/out0" "$work/err0")"
	words_roles --hash-bits 8
	want_eq "no failure with two keys" "$(cat "$work/rc0")" 1
	want_eq "a result of two keys" "$(<"$work/out0")" ""
	want_grep "err0" "$(<"$work/err0")" "$which"
	echo bandwidth nevertheless >"$work/in3"
	words_roles --op 5 --hash-bits 8 --timeout 500
	want_grep "err3" "$(<"$work/err3")" "member 3: $which"
	want_eq "no failure without member 3" "$(cat "$work/rc0")" 1
}

# Files that say nothing useful are named, with the line.
words_roles_refused()
{
	no()
	{
		local rc

		printf '%b' "$1" >"$work/roles"
		"$BIN/shuffle-wordcount" -g 127.0.0.1:7000,127.0.0.1:7001,127.0.0.1:7002 -r "${3-0}" \
			--roles "$work/roles" /dev/null >"$work/out" 2>"$work/err"
		rc=$?
		want_eq "$1: exit status $rc" $rc 2
		want_grep "$1" "$(<"$work/err")" -- "$2"
	}
	no '0 -\n' 'roles:1: want RANK PARENT'
	no '0 - member\n3 0 member\n' 'roles:2: the group has no such rank'
	no '0 - member\n\n1 9 member\n' 'roles:3: the group has no such parent'
	no '0 - member\n0 - member\n' 'roles:2: this rank was there before'
	no '0 - king\n' 'roles:1: the third word'
	no '0 - relay\n' 'roles:1: a relay has a parent'
	no '0 1 none\n' 'roles:1: who takes no part'
	no '0 - member\n1 0 member\n' 'rank 2 of the group is not there'
	no '0 - member\n1 0 member\n2 - member\n' 'ranks 0 and 2 have no parent'
	no '0 - none\n1 - none\n2 - none\n' 'no receiver'
	no '0 - member\n1 2 member\n2 1 member\n' 'rank 1 sends does not reach the receiver'
	no '0 - member\n1 0 relay\n2 0 member\n' 'rank 1 is a relay, and nobody'
	no '0 - member\n1 - none\n2 - none\n' 'nobody sends to the receiver'
	no '0 - member\n1 0 relay\n2 1 member\n' 'rank 1 is a relay, which needs no program' 1
	no '0 - member\n1 - none\n2 0 member\n' 'rank 1 takes no part' 1
}
