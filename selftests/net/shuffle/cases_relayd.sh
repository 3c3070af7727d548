# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # variables of lib.sh
#
# shuffle-relayd: members of trees that have no records, in user space; to be sourced by run_all.sh
# behind cases_bcube.sh.

relayd_cases()
{
	run_case relayd-in-a-rack relayd_rack
	run_case relayd-dead-sender relayd_dead
	run_case relayd-given-up relayd_given_up
	run_case relayd-other-parameters relayd_other
	# emulated processors have enough to do with these
	[[ $LANE != qemu* ]] || return 0
	run_case relayd-golden-costs relayd_costs
	run_case relayd-golden-costs-with-loss relayd_costs loss 2% duplicate 2% delay 50us 20us
	run_case relayd-with-loss relayd_through loss 2%
	run_case relayd-twice-and-out-of-order relayd_through delay 1ms 1ms duplicate 10%
	run_case relayd-many-operations relayd_many
	run_case relayd-several-trees relayd_trees
	run_case relayd-again relayd_again
	run_case relayd-key relayd_key
	run_case relayd-refused relayd_refused
	run_case relayd-of-nobody relayd_of_nobody
	run_case relayd-small relayd_small
	run_case relayd-many-children relayd_wide
	run_case relayd-v6 relayd_v6
	run_case relayd-ends-with-its-last-relay relayd_ends
}

# members_of [-6] N [FORMAT] - the members of a rack, as shufflectl wants them
members_of()
{
	local h

	if [ "$1" = -6 ]; then
		for ((h = 1; h <= $2; h++)); do
			printf '[fd77::%x]:7000 ' "$h"
		done
		return
	fi
	for ((h = 1; h <= $1; h++)); do
		# shellcheck disable=SC2059 # the format is the caller's
		printf "${2:-10.77.0.%d:7000 }" "$h"
	done
}

# tree ARGS... - tree_member of this rack; operations have other numbers than those before
tree()
{
	local -i ops=256

	peer_calls=$((peer_calls + 1))
	timeout 250 "$BIN/tree_member" -o $((peer_calls * ops)) "$@" | tee "$work/tree"
	return "${PIPESTATUS[0]}"
}

# relayd HOST... - daemons
relayd()
{
	local h

	for h; do
		nsx "h$h" "$BIN/shuffle-relayd" &
		wait_for 5 hctl "$h" relay show >/dev/null 2>&1 || fail "no daemon on host $h"
	done
}

# relay HOST ARGS... - of a rack; NAME, PORT: of its members
relay()
{
	local h=$1
	shift
	# shellcheck disable=SC2046 # several words
	want_ok "no relay on host $h" \
		hctl "$h" relay add "${NAME:-agg}" rank "$h" "$@" \
		members $(members_of "$hosts" "10.77.0.%d:${PORT:-7000} ")
}

# relay_json HOST KEY - of its only relay
relay_json()
{
	hctl "$1" -j relay show | python3 -c "import json, sys; print(json.load(sys.stdin)[0]['$2'])"
}

relay_done()
{
	[ "$(relay_json 1 running)" = 0 ] && [ "$(relay_json 1 "done")" = "$1" ]
}

# Two relays, one behind the other; sorted or not, with all operators.
relayd_rack()
{
	local opers=(none sum min max count sumcount or and) i

	new_rack 6
	relayd 1 2
	relay 1 to 0 from 2 3 sorted
	relay 2 to 1 from 4 5 sorted
	want_ok "sorted" tree "$PFX" - 0r 1r 1 2 2
	want_ok "many records" tree -n "$(sz 30000 3000)" -K 5000 -c 3 "$PFX" - 0r 1r 1 2 2
	want_ok "one key" tree -n 30000 -K 1 "$PFX" - 0r 1r 1 2 2
	want_ok "no records" tree -n 0 "$PFX" - 0r 1r 1 2 2
	wait_for 5 relay_done 6
	want_eq "failed" "$(relay_json 1 failed)" 0
	want_eq "from" "$(relay_json 1 from)" "[2, 3]"
	want_grep "shown" "$(hctl 1 relay show agg)" '^relay agg'
	want_ok "not taken away" hctl 1 relay del agg
	want_ok "not taken away on host 2" hctl 2 relay del agg
	want_eq "there still" "$(hctl 1 -j relay show)" "[]"
	want_ok "a member that merges" tree "$PFX" - 0 1 1 2 2
	[[ $LANE != qemu* ]] || opers=(none)
	for ((i = 0; i < ${#opers[@]}; i++)); do
		relay 1 to 0 from 2 3 4 5 oper "${opers[i]}" records 500
		want_ok "${opers[i]}" tree -t -n 3000 -K 1000 -O $i "$PFX" - 0r 1 1 1 1
		hctl 1 relay del agg
		relay 1 to 0 from 2 3 4 5 oper "${opers[i]}" sorted
		want_ok "${opers[i]}, sorted" tree -n 3000 -K 1000 -O $i "$PFX" - 0r 1 1 1 1
		hctl 1 relay del agg
	done
}

# other_bytes HOST... - that relays have sent and that are no records
other_bytes()
{
	local h
	local -i sum=0

	for h; do
		sum+=$(hctl "$h" -j relay show | python3 -c "import json, sys
print(sum(r['bytes_out'] - 16 * r['records_out'] for r in json.load(sys.stdin)))")
	done
	echo $sum
}

# The golden vectors of the source's figures: what the plan says is what goes over the links.
relayd_costs()
{
	bcube 4 2 0
	[ $# = 0 ] || netem "$@"
	figure_2a >"$work/plan"
	in_tree 22
	plan "${senders[@]}" --method irs --irs inter
	in_tree 16
	plan "${senders[@]}" --method irs --irs post
	in_tree 14
	bcube 4 2 3
	[ $# = 0 ] || netem "$@"
	plan "${senders[@]}" --method irs --irs post
	in_tree 12
	bcube 4 2 8
	[ $# = 0 ] || netem "$@"
	plan "${senders[@]}" --method irs --irs post
	in_tree 12
}

relayd_through()
{
	new_rack 5
	netem "$@"
	relayd 1
	relay 1 to 0 from 2 3 4 sorted
	want_ok "sorted" tree -n 20000 -c 3 "$PFX" - 0r 1 1 1
	hctl 1 relay del agg
	relay 1 to 0 from 2 3 4 records 1000
	want_ok "in a table" tree -t -n 20000 -c 3 "$PFX" - 0r 1 1 1
}

# A sender that dies in the middle is named, at once and to all; so is one that never comes, when
# the time is over; and the next operations are none the worse for it.
relayd_dead()
{
	new_rack 6
	relayd 1 2
	relay 1 to 0 from 2 3 sorted idle 700ms
	relay 2 to 1 from 4 5 sorted idle 300ms
	netem rate 20mbit
	want_ok "killed" \
		tree -n 200000 -X 5@300 -e 104 -B 5 -w 200 "$PFX" - 0r 1r 1 2 2
	want_ok "not there" tree -i 2000 -e 110 -B 5 "$PFX" - 0r 1r 1 2 2x
	want_ok "afterwards" tree "$PFX" - 0r 1r 1 2 2
	want_ok "a relay dies: the members" relayd_dies
}

relayd_dies()
{
	tree -n 200000 -e 104 -B 1 "$PFX" - 0r 1r 1 2 2 &
	sleep 0.3
	# the daemon is all that runs there
	ip netns pids "${PFX}h1" | xargs kill -9
	wait $!
}

# The receiver gives operations up: so do relays and senders, at once.
relayd_given_up()
{
	new_rack 6
	relayd 1 2
	relay 1 to 0 from 2 3 sorted
	relay 2 to 1 from 4 5 sorted
	# what is granted already waits in the ports before what says so
	netem rate 200mbit
	want_ok "given up" \
		tree -n 200000 -c 2 -C 150 -e 125 -B 0 -w 80 "$PFX" - 0r 1r 1 2 2
	want_eq "operations are left at host 1" "$(relay_json 1 running)" 0
	want_eq "operations are left at host 2" "$(relay_json 2 running)" 0
	want_ok "afterwards" tree "$PFX" - 0r 1r 1 2 2
}

# One member has another operator, or another plan.
relayd_other()
{
	new_rack 4
	relayd 1
	relay 1 to 0 from 2 3 sorted
	want_ok "another operator" tree -D 3:2 -e 71 -B 3 "$PFX" - 0r 1 1
	want_grep "text" "$(<"$work/tree")" 'member 3 has operator min, member 1 has sum'
	hctl 1 relay del agg
	relay 1 to 0 from 2 3 sorted oper max
	want_ok "a relay has another one" tree -e 71 "$PFX" - 0r 1 1
	hctl 1 relay del agg
	relay 1 to 0 from 2 3 sorted tree 5
	want_ok "another plan" tree -e 71 "$PFX" - 0r 1 1
	want_grep "text" "$(<"$work/tree")" 'has plan 0, member 1 has 5'
	hctl 1 relay del agg
	relay 1 to 0 from 2 3
	want_ok "sorted or not" tree -e 71 "$PFX" - 0r 1 1
}

# A hundred operations at once, begun in another order by each: all have their turn, in little
# memory, and nothing is left of them.
relayd_many()
{
	new_rack 6
	relayd 1 2
	relay 1 to 0 from 2 3 bytes 1M records 256
	relay 2 to 1 from 4 5 bytes 1M records 256
	want_ok "a hundred operations" tree -t -c 100 -n 300 "$PFX" - 0r 1r 1 2 2
	wait_for 5 relay_done 100
	want_ok "in other orders" tree -t -r -c 100 -n 300 "$PFX" - 0r 1r 1 2 2
	wait_for 5 relay_done 200
	want_ok "long ones, in other orders" tree -t -r -c 30 -n 20000 "$PFX" - 0r 1r 1 2 2
	wait_for 5 relay_done 230
	want_eq "operations are left" "$(relay_json 1 running)" 0
	want_eq "memory is left" "$(relay_json 1 memory)" 0
	hctl 1 relay show
	[ "$(relay_json 1 memory_most)" -le $((8 << 20)) ] ||
		fail "memory: $(relay_json 1 memory_most) bytes"
}

# Trees of one host beside one another.
relayd_trees()
{
	local i pids=()

	new_rack 5
	relayd 1
	for ((i = 0; i < 4; i++)); do
		NAME=t$i PORT=$((7000 + i)) relay 1 to 0 from 2 3 4 sorted
	done
	for ((i = 0; i < 4; i++)); do
		"$BIN/tree_member" -p $((7000 + i)) -c 5 -n 5000 "$PFX" - 0r 1 1 1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		want_ok "a tree" wait "$i"
	done
	want_eq "trees" "$(hctl 1 relay show | grep -c '^relay t')" 4
}

# Programs end, and others of the same members begin.
relayd_again()
{
	local i

	new_rack 4
	relayd 1
	relay 1 to 0 from 2 3 sorted
	for ((i = 0; i < 20; i++)); do
		want_ok "program $i" tree -n 100 "$PFX" - 0r 1 1
	done
}

relayd_key()
{
	new_rack 4
	umask 077
	head -c 16 /dev/urandom >"$work/key"
	relayd 1
	relay 1 to 0 from 2 3 sorted key "$work/key"
	SHUFFLE_KEY_FILE=$work/key want_ok "with the key" tree "$PFX" - 0r 1 1
	hctl 1 relay del agg
	SHUFFLE_KEY_FILE=$work/key relay 1 to 0 from 2 3 sorted
	SHUFFLE_KEY_FILE=$work/key want_ok "with that of the environment" tree "$PFX" - 0r 1 1
	hctl 1 relay del agg
	relay 1 to 0 from 2 3 sorted
	SHUFFLE_KEY_FILE=$work/key want_ok "a relay without the key" \
		tree -i 500 -e 110 "$PFX" - 0r 1 1
}

# as USER SHUFFLECTL'S-WORDS... - on host 1, by the socket of a daemon of 65534's
as()
{
	nsx h1 env SHUFFLE_RELAYD_SOCKET="$open/relayd" setpriv --reuid "$1" --clear-groups \
		"$BIN/shufflectl" relay "${@:2}"
}

# A daemon needs no privilege, and does what its own user says, or root, and nobody else.
relayd_of_nobody()
{
	local group add open

	setpriv --reuid 65534 --clear-groups true 2>/dev/null || skip "no setpriv"
	new_rack 3
	# shellcheck disable=SC2207 # words
	group=($(members_of 3))
	add=(agg rank 1 to 0 from 2 members "${group[@]}")
	# not below our own folders, which are closed to others
	open=$(mktemp -d /tmp/relayd.XXXXXX)
	# shellcheck disable=SC2064 # now
	trap "rm -r '$open'" EXIT
	chmod 777 "$open"
	nsx h1 setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		"$BIN/shuffle-relayd" --socket "$open/relayd" &
	wait_for 5 as 0 show >/dev/null 2>&1 || fail "no daemon"
	want_ok "another user may not look" as 65533 show
	want_fail "another user adds a relay" as 65533 add "${add[@]}" 2>"$work/err"
	want_grep "err" "$(<"$work/err")" 'only root'
	want_ok "its own user adds none" as 65534 add "${add[@]}"
	want_grep "nobody is told of it" "$(as 65533 show)" agg
	want_fail "another user takes it away" as 65533 del agg 2>"$work/err"
	want_ok "root does not" as 0 del agg
}

relayd_refused()
{
	local group

	new_rack 3
	relayd 1
	# shellcheck disable=SC2207 # words
	group=($(members_of 3))
	no()
	{
		local text=$1
		shift
		if hctl 1 relay add "$@" 2>"$work/err"; then
			fail "taken: $*"
		fi
		want_grep "$*" "$(<"$work/err")" "$text"
	}
	no 'name, rank and to' a from 2 members "${group[@]}"
	no 'is not ADDRESS:PORT' a rank 1 to 0 from 2 members 10.77.0.1
	no 'means nothing here' a rank 1 sideways to 0 from 2
	no 'from: none' a rank 1 to 0 members "${group[@]}"
	no 'no such rank, our own' a rank 1 to 0 from 1 members "${group[@]}"
	no 'no such rank, our own' a rank 1 to 0 from 2 2 members "${group[@]}"
	no 'to: no such rank, our own' a rank 1 to 1 from 2 members "${group[@]}"
	no 'to: no such rank, our own' a rank 1 to 2 from 2 members "${group[@]}"
	no 'one member gets the result' a rank 1 to 0 2 from 2 members "${group[@]}"
	no 'there is no such member' a rank 3 to 1 from 2 members "${group[@]}"
	no 'cannot be bound to' a rank 2 to 1 from 0 members "${group[@]}"
	no 'can be no group' a rank 1 to 0 from 2 members "${group[@]}" "${group[0]}"
	no 'need no table' a rank 1 to 0 from 2 sorted records 5 members "${group[@]}"
	no 'oper: "more"' a rank 1 to 0 from 2 oper more members "${group[@]}"
	relay 1 to 0 from 2
	no 'there is a relay of this name' agg rank 1 to 0 from 2 members "${group[@]}"
	no 'another socket has it' b rank 1 to 0 from 2 members "${group[@]}"
	want_fail "b is no relay" hctl 1 relay del b 2>"$work/err"
	want_grep "err" "$(<"$work/err")" 'no such relay'
	printf '%s\n' '# a group' "${group[@]}" >"$work/group"
	hctl 1 relay del agg
	want_ok "members from a file" hctl 1 relay add agg rank 1 to 0 from 2 file "$work/group"
	want_fail "no daemon on host 0" hctl 0 relay show 2>"$work/err"
	want_grep "err" "$(<"$work/err")" 'no shuffle-relayd'
	# programs may look, and not change
	if setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
		nsx h1 setpriv --reuid 65534 --clear-groups "$BIN/shufflectl" relay show \
			>/dev/null || fail "may not look"
		! nsx h1 setpriv --reuid 65534 --clear-groups "$BIN/shufflectl" relay del agg \
			2>"$work/err" || fail "taken away without privilege"
		want_grep "err" "$(<"$work/err")" 'only root'
	fi
}

# Hardly any memory: one operation at a time, and long messages.
relayd_small()
{
	new_rack 4
	relayd 1
	relay 1 to 0 from 2 3 bytes 64k records 200
	want_ok "long messages in a table" tree -t -n "$(sz 100000 30000)" -K 1000 "$PFX" - 0r 1 1
	hctl 1 relay del agg
	# nothing may go without a grant, or hardly anything
	config_all unscheduled 100
	relay 1 to 0 from 2 3 bytes 64k sorted
	want_ok "long messages" tree -n "$(sz 200000 60000)" "$PFX" - 0r 1 1
	want_ok "several operations" tree -r -c 20 -n 2000 "$PFX" - 0r 1 1
	want_eq "memory is left" "$(relay_json 1 memory)" 0
}

# More children than have all that stands by for one.
relayd_wide()
{
	local n=62 from parents=(- 0r) h

	new_rack $((n + 2))
	mapfile -t from <<<"$(seq 2 $((n + 1)))"
	for h in "${from[@]}"; do
		parents+=(1)
	done
	relayd 1
	relay 1 to 0 from "${from[@]}" sorted
	want_ok "once" tree -n 500 -K 700 "$PFX" "${parents[@]}"
	want_ok "again, many at once" tree -c 10 -n 100 "$PFX" "${parents[@]}"
	hctl 1 relay del agg
	relay 1 to 0 from "${from[@]}" bytes 1M records 1000
	want_ok "in a table, with little memory" tree -t -c 4 -n 3000 -K 5000 "$PFX" "${parents[@]}"
}

relayd_v6()
{
	new_rack 5
	relayd 1 2
	# shellcheck disable=SC2046 # several words
	hctl 1 relay add agg rank 1 to 0 from 2 sorted members $(members_of -6 5) || fail "no relay"
	# shellcheck disable=SC2046
	hctl 2 relay add agg rank 2 to 1 from 3 4 sorted members $(members_of -6 5) || fail "no relay"
	want_ok "IPv6" tree -6 -c 3 -n 5000 "$PFX" - 0r 1r 2 2
	netem loss 2%
	want_ok "IPv6, with loss" tree -6 -n 5000 "$PFX" - 0r 1r 2 2
}

no_daemon()
{
	! hctl 1 relay show >/dev/null 2>&1
}

# One that was started for a plan is there once, for all plans, and goes with the last of them.
relayd_ends()
{
	new_rack 4
	want_ok "not started" nsx h1 "$BIN/shuffle-relayd" --start
	NAME=a PORT=7000 relay 1 to 0 from 2 3
	want_ok "not the same" nsx h1 "$BIN/shuffle-relayd" --start
	NAME=b PORT=7001 relay 1 to 0 from 2 3
	want_eq "relays" "$(hctl 1 relay show | grep -c ^relay)" 2
	want_ok "not taken away" hctl 1 relay del a
	want_ok "it has ended too soon" hctl 1 relay show b
	want_ok "not taken away" hctl 1 relay del b
	wait_for 5 no_daemon || fail "it is still there"
}
