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
	run_case query-readme query_readme
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
	query_sql "$1" >"$work/want" || fail "sqlite3"
	[ "$(wc -l <"$work/want")" -gt 1 ] || fail "$1: sqlite3 says nothing"
	diff "$work/want" "$work/out.0" || fail "$1: not what sqlite3 says"
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
	grep -q 'keys split' "$work/err.0" || fail "no explanation: $(cat "$work/err.0")"
}

# What README.md shows is what the programs print.
query_readme()
{
	"$here/readme.sh" 'Sort and query' >"$work/readme" 2>&1 || fail "$(cat "$work/readme")"
}

# query_names HOST - all others end with its name, and no other one
query_names()
{
	local h o

	for ((h = 0; h < hosts; h++)); do
		[ "$h" != "$1" ] || continue
		! wait "${query_pid[h]}" || fail "host $h has ended well without host $1"
		grep -qF "member $1 (10.77.0.$(($1 + 1)):7100) is missing" "$work/err.$h" ||
			fail "host $h does not name host $1: $(cat "$work/err.$h")"
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
	grep -q 'wiki.1.csv:[0-9]*: views: "12z" is not a whole number' "$work/err.1" ||
		fail "$(cat "$work/err.1")"
}
