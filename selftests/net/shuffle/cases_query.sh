# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # variables of lib.sh
#
# Queries of shuffle-query over sockets: the same result as by sqlite3, and members that die.
# To be sourced by run_all.sh.

query_op=1

query_cases()
{
	run_case query-4-hosts query_hosts 4 q1 q2 q3
	run_case query-v6-with-loss query_loss
	# what is the program's alone need not be seen on emulated processors
	[[ $LANE != qemu* ]] || return 0
	run_case query-1-host query_hosts 1 q3
	run_case query-8-hosts query_hosts 8 q3
	run_case query-32-hosts query_hosts 32 q3
	run_case query-data-sets query_data_sets
	run_case query-readme query_readme
	run_case query-over-relays query_over_relays
	run_case query-wrong-relays query_wrong_relays
	run_case query-member-dies query_dies
	run_case query-member-is-missing query_missing
	run_case query-member-has-a-bad-table query_bad_table
}

# query_tables SEED PARTS - few rows in $tables; repositories of which one is heavy
query_tables()
{
	local t rows

	tables=$state/tables
	rm -rf "$tables"
	for t in wiki edits commits languages; do
		rows=$(sz 1000 500)
		"$BIN/shuffle-query" generate "$t" --rows "$rows" --seed "$1" --parts "$2" \
			--out "$tables" || fail "generate $t"
	done
}

# query_group ADDRESS-PREFIX - the members, one a line
query_group()
{
	local h

	for ((h = 0; h < hosts; h++)); do
		case $1 in
		4) echo "10.77.0.$((h + 1)):7100" ;;
		6) echo "[fd77::$(printf %x $((h + 1)))]:7100" ;;
		esac
	done >"$work/group"
}

# query_start HOST QUERY [OPTIONS...] - on a host; its pid in query_pid, output in $work/out.HOST
query_start()
{
	ip netns exec "${PFX}h$1" "$BIN/shuffle-query" run "$2" --tables "$tables" \
		--group "$work/group" --rank "$1" --op "$query_op" "${@:3}" >"$work/out.$1" 2>"$work/err.$1" &
	query_pid[$1]=$!
}

# query_start_all QUERY [OPTIONS...]
query_start_all()
{
	local h

	for ((h = 0; h < hosts; h++)); do
		query_start "$h" "$@"
	done
}

# query_end - all hosts have ended well
query_end()
{
	local h bad=0

	for ((h = 0; h < hosts; h++)); do
		wait "${query_pid[h]}" || { bad=1; diag "host $h: $(cat "$work/err.$h")"; }
	done
	[ "$bad" = 0 ] || shuffle_failed query
}

# query_sql QUERY - what sqlite3 says to the SQL of 'shuffle-query list'
query_sql()
{
	local t sql

	sql=$("$BIN/shuffle-query" list | awk -v q="$1" '$1 == q { getline; sub(/^ +/, ""); print }')
	{
		echo "CREATE TABLE wiki(language TEXT, views INTEGER);"
		echo "CREATE TABLE edits(contributor_ip TEXT);"
		echo "CREATE TABLE commits(repo_name TEXT, author TEXT);"
		echo "CREATE TABLE languages(repo_name TEXT, lang TEXT, lang_bytes INTEGER);"
		for t in "$tables"/*.csv; do
			echo ".import --csv --skip 1 $t $(basename "$t" | cut -d. -f1)"
		done
		echo ".mode list"
		echo ".separator ,"
		echo ".headers on"
		echo "$sql;"
	} | sqlite3 :memory:
}

# query_is_right QUERY
query_is_right()
{
	query_sql "$1" >"$work/want" || fail "sqlite3: got status $?, want 0"
	want_gt "$1: sqlite3 says nothing" "$(wc -l <"$work/want")" 1
	want_ok "$1: not what sqlite3 says" diff "$work/want" "$work/out.0"
}

query_have_sqlite()
{
	command -v sqlite3 >/dev/null || skip "no sqlite3"
}

# query_hosts HOSTS QUERIES...
query_hosts()
{
	local q query_op=1

	query_have_sqlite
	new_rack "$1"
	query_tables "$1" "$1"
	query_group 4
	for q in "${@:2}"; do
		query_start_all "$q" --hot on --deadline "$(($(tmo 30) * 1000))"
		query_end
		query_is_right "$q"
		query_op=$((query_op + 1))
	done
}

# Other tables and numbers of hosts, over sockets: tools/query/test has 200 data sets, without.
query_data_sets()
{
	local seed q all query_op=1
	local -a queries=(q3 repos q2 langs q3 q1) of=(2 3 5 6 7 8) hot=(auto off on)

	query_have_sqlite
	new_rack 8
	all=$hosts
	for seed in "${!queries[@]}"; do
		q=${queries[seed]} hosts=${of[seed]}
		query_tables $((seed + 100)) "$hosts"
		query_group 4
		query_start_all "$q" --hot "${hot[seed % 3]}" --deadline "$(($(tmo 30) * 1000))"
		query_end
		query_is_right "$q"
		query_op=$((query_op + 1))
	done
	hosts=$all
}

query_loss()
{
	query_have_sqlite
	new_rack 3
	netem loss 1%
	query_tables 7 3
	query_group 6
	query_start_all q3 --explain --deadline "$(($(tmo 30) * 1000))"
	query_end
	query_is_right q3
	want_grep "no explanation" "$(<"$work/err.0")" 'keys split'
}

# What README.md shows is what the programs print.
query_readme()
{
	"$here/readme.sh" 'Sort and query' >"$work/readme" 2>&1 || fail "$(cat "$work/readme")"
}

# query_plan - the tree of words_tree(), in which host 1 is a relay and host 4 merges; the hosts of
# the query are the others
query_plan()
{
	new_rack 6
	words_tree
	mv "$work/group" "$work/relays"
	query_group 4
	sed -i 2d "$work/group"
	tables=$state/tables
	rm -rf "$tables"
	mkdir "$tables"
}

# query_relays_all QUERY [OPTIONS...] - on the hosts of query_plan(); statuses in $work/rc.RANK
query_relays_all()
{
	local h rank=0 jobs=()

	for h in 0 2 3 4 5; do
		{
			nsx "h$h" "$BIN/shuffle-query" run "$1" --tables "$tables" --group "$work/group" \
				--rank "$rank" --relays "$work/relays" --roles "$work/roles" --explain \
				"${@:2}" >"$work/out.$rank" 2>"$work/err.$rank"
			echo $? >"$work/rc.$rank"
		} &
		jobs+=($!)
		rank=$((rank + 1))
	done
	wait "${jobs[@]}"
}

# query_relays_right QUERY RECORDS ALL - so many records reached host 0 of those that all hosts have
query_relays_right()
{
	local rank

	for rank in 0 1 2 3 4; do
		want_eq "$1: host $rank" "$(cat "$work/rc.$rank")" 0 "$(cat "$work/err.$rank")"
	done
	query_is_right "$1"
	[ -z "$2" ] || grep -q "over relays, $2 records come of $3 that" "$work/err.0" ||
		fail "$1: not $2 of $3 records: $(cat "$work/err.0")"
}

# query_keys FIRST LAST - rows of table wiki: short and long names, and one without any
query_keys()
{
	echo language,views
	awk -v a="$1" -v b="$2" 'BEGIN {
		for (i = a; i < b; i++) {
			print "l" i "," i * i - 700
			print "language number " i "," 3 - i
			print "seven" 10 + i "," i
		}
		print ",5"
	}'
}

# As many records reach host 0 as there are keys behind each of its children, all right: strings
# that are keys themselves, and others; two sums; a host without rows; sums that relays do not carry.
query_over_relays()
{
	local tables

	query_have_sqlite
	query_plan
	want_ok "no relay" words_plan install -- sorted
	# ranks 1 and 2 are behind the relay, 4 behind 3
	query_keys 0 10 >"$tables/wiki.0.csv"
	query_keys 0 40 >"$tables/wiki.1.csv"
	query_keys 20 50 >"$tables/wiki.2.csv"
	query_keys 30 60 >"$tables/wiki.3.csv"
	echo language,views >"$tables/wiki.4.csv"
	query_relays_all q1
	query_relays_right q1 $((3 * 50 + 1 + 3 * 30 + 1)) $((3 * 10 + 3 * 40 + 3 * 30 + 3 * 30 + 4))

	# rows that no 64 bits hold if they meet; they do not
	echo big,9223372036854775807 >>"$tables/wiki.2.csv"
	echo bigger,9223372036854775807 >>"$tables/wiki.3.csv"
	query_relays_all q1
	query_relays_right q1
	want_grep "err.0" "$(<"$work/err.0")" 'not over relays: a sum may not fit 64 bits'

	# a name that no relay takes
	query_keys 0 10 >"$tables/wiki.2.csv"
	query_keys 0 10 >"$tables/wiki.3.csv"
	{ head -c 40000 /dev/zero | tr '\0' x; echo ,1; } >>"$tables/wiki.3.csv"
	query_relays_all q1
	query_relays_right q1
	want_grep "err.0" "$(<"$work/err.0")" 'not over relays: a key is too long'

	# two sums
	"$BIN/shuffle-query" generate languages --rows 2000 --parts 5 --out "$tables" || fail generate
	query_relays_all langs
	query_relays_right langs
	want_grep "err.0" "$(<"$work/err.0")" 'gather lang: over relays'
}

# Roles that are not those of the query or of the relays: no result.
query_wrong_relays()
{
	local tables

	query_plan
	query_keys 0 10 >"$tables/wiki.csv"
	want_ok "no relay" words_plan install -- sorted
	cp "$work/roles" "$work/good"
	sed -i 's/^5 4 member/5 - none/' "$work/roles"
	query_relays_all q1 --deadline 2000
	want_grep "err.0" "$(<"$work/err.0")" 'rank 5 is host 4 of the query, and no member'
	want_eq "roles without a host of the query are taken" "$(cat "$work/rc.0")" 2

	sed -e 's/^0 - /0 2 /' -e 's/^2 1 /2 - /' "$work/good" >"$work/roles"
	query_relays_all q1 --deadline 2000
	want_grep "err.1" "$(<"$work/err.1")" 'rank 2 is the receiver, and not rank 0'

	# roles say that 3 sends to host 0, and the relay waits for it
	sed 's/^3 1 /3 0 /' "$work/good" >"$work/roles"
	query_relays_all q1 --deadline "$(($(tmo 1) * 300))"
	want_eq "no failure with a sender too few" "$(cat "$work/rc.0")" 1
	want_eq "a result" "$(<"$work/out.0")" ""
	want_grep "err.0" "$(<"$work/err.0")" 'a sum over relays has failed'
}

# query_names HOST - all others end with its name, and no other one
query_names()
{
	local h o

	for ((h = 0; h < hosts; h++)); do
		[ "$h" != "$1" ] || continue
		want_fail "host $h has ended well without host $1" wait "${query_pid[h]}"
		want_grep "host $h does not name host $1" \
			"$(<"$work/err.$h")" -F "member $1 (10.77.0.$(($1 + 1)):7100) is missing"
		for ((o = 0; o < hosts; o++)); do
			[ "$o" = "$1" ] || ! grep -q "member $o " "$work/err.$h" ||
				fail "host $h names host $o: $(tail -n +1 "$work"/err.*)"
		done
	done
}

# One that is killed while it waits for the last one to start.
query_dies()
{
	local h

	new_rack 4
	query_tables 1 4
	query_group 4
	for h in 0 1 2; do
		query_start "$h" q2 --deadline "$(($(tmo 1) * 300))"
	done
	sleep 0.3
	kill -KILL "${query_pid[2]}"
	query_start 3 q2 --deadline "$(($(tmo 1) * 300))"
	query_names 2
}

# One that never starts.
query_missing()
{
	new_rack 3
	query_tables 1 3
	query_group 4
	query_start 0 q1 --deadline "$(($(tmo 1) * 100))"
	query_start 2 q1 --deadline "$(($(tmo 1) * 100))"
	query_names 1
}

query_bad_table()
{
	new_rack 3
	query_tables 1 3
	query_group 4
	echo 'xx,12z' >>"$tables/wiki.1.csv"
	query_start_all q1 --deadline "$(($(tmo 1) * 200))"
	query_names 1
	want_grep "err.1" \
		"$(<"$work/err.1")" 'wiki.1.csv:[0-9]*: views: "12z" is not a whole number'
}
