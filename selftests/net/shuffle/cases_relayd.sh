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
		wait_for 5 hctl "$h" relay --daemon show >/dev/null 2>&1 || fail "no daemon on host $h"
	done
}

# drelay HOST ARGS... - of a rack; PORT: of its members
drelay()
{
	local h=$1
	shift
	# shellcheck disable=SC2046 # several words
	want_ok "no relay on host $h" \
		hctl "$h" relay --daemon add "${NAME:-agg}" rank "$h" "$@" \
		members $(members_of "$hosts" "10.77.0.%d:${PORT:-7000} ")
}

# drelay_json HOST KEY - of its only relay
drelay_json()
{
	hctl "$1" -j relay --daemon show | python3 -c "import json, sys; print(json.load(sys.stdin)[0]['$2'])"
}

drelay_done()
{
	[ "$(drelay_json 1 running)" = 0 ] && [ "$(drelay_json 1 "done")" = "$1" ]
}

# Two relays, one behind the other; sorted or not, with all operators.
relayd_rack()
{
	local opers=(none sum min max count sumcount or and) i

	new_rack 6
	relayd 1 2
	drelay 1 to 0 from 2 3 sorted
	drelay 2 to 1 from 4 5 sorted
	want_ok "sorted" tree "$PFX" - 0r 1r 1 2 2
	want_ok "many records" tree -n "$(sz 30000 3000)" -K 5000 -c 3 "$PFX" - 0r 1r 1 2 2
	want_ok "one key" tree -n 30000 -K 1 "$PFX" - 0r 1r 1 2 2
	want_ok "no records" tree -n 0 "$PFX" - 0r 1r 1 2 2
	wait_for 5 drelay_done 6
	want_eq "failed" "$(drelay_json 1 failed)" 0
	want_eq "from" "$(drelay_json 1 from)" "[2, 3]"
	want_grep "shown" "$(hctl 1 relay --daemon show agg)" '^relay agg'
	want_ok "not taken away" hctl 1 relay --daemon del agg
	want_ok "not taken away on host 2" hctl 2 relay --daemon del agg
	want_eq "there still" "$(hctl 1 -j relay --daemon show)" "[]"
	want_ok "a member that merges" tree "$PFX" - 0 1 1 2 2
	[[ $LANE != qemu* ]] || opers=(none)
	for ((i = 0; i < ${#opers[@]}; i++)); do
		drelay 1 to 0 from 2 3 4 5 oper "${opers[i]}" records 500
		want_ok "${opers[i]}" tree -t -n 3000 -K 1000 -O $i "$PFX" - 0r 1 1 1 1
		hctl 1 relay --daemon del agg
		drelay 1 to 0 from 2 3 4 5 oper "${opers[i]}" sorted
		want_ok "${opers[i]}, sorted" tree -n 3000 -K 1000 -O $i "$PFX" - 0r 1 1 1 1
		hctl 1 relay --daemon del agg
	done
}

# dsent - bytes that hosts have sent as messages, without what was sent again
dsent()
{
	echo $(($(counters DataBytesOut) - $(counters RetransBytes)))
}

# other_bytes HOST... - that relays have sent and that are no records
other_bytes()
{
	local h
	local -i sum=0

	for h; do
		sum+=$(hctl "$h" -j relay --daemon show | python3 -c "import json, sys
print(sum(r['bytes_out'] - 16 * r['records_out'] for r in json.load(sys.stdin)))")
	done
	echo $sum
}

# in_dtree COST OPTIONS... - as in_tree of cases_bcube.sh, with daemons
in_dtree()
{
	local cost=$1 n=1000 parents sent relays=() other h
	# shellcheck disable=SC2034 # tree_roles sets it
	local inner
	shift

	tree_roles
	for ((h = 0; h < ${#parents[@]}; h++)); do
		[[ ${parents[h]} != *r ]] || relays+=("$h")
	done
	# who waits for the others has sent something already
	sent=$(dsent)
	want_ok "relays are not installed" plan_install install --daemon
	tree "$@" -g "$work/group" -n $n "$PFX" "${parents[@]}" || fail "$*: $(cat "$work/plan")"
	other=$(($(sed -n 's/^overhead //p' "$work/tree") + $(other_bytes "${relays[@]}")))
	sent=$(($(dsent) - sent))
	echo "cost $cost: $sent bytes sent, $other of them no records"
	# each hop is two links
	[ $((2 * (sent - other))) = $((cost * n * 16)) ] ||
		fail "$((2 * (sent - other))) bytes on links, not $cost flows: $(cat "$work/plan")"
	want_ok "relays are not taken away" plan_install remove --daemon
}

# The golden vectors of the source's figures: what the plan says is what goes over the links.
relayd_costs()
{
	bcube 4 2 0
	[ $# = 0 ] || netem "$@"
	plan "${senders[@]}" --method irs --irs inter
	in_dtree 16
	plan "${senders[@]}" --method irs --irs post
	in_dtree 14
	bcube 4 2 3
	[ $# = 0 ] || netem "$@"
	plan "${senders[@]}" --method irs --irs post
	in_dtree 12
	bcube 4 2 8
	[ $# = 0 ] || netem "$@"
	plan "${senders[@]}" --method irs --irs post
	in_dtree 12
}

relayd_through()
{
	new_rack 5
	netem "$@"
	relayd 1
	drelay 1 to 0 from 2 3 4 sorted
	want_ok "sorted" tree -n 20000 -c 3 "$PFX" - 0r 1 1 1
	hctl 1 relay --daemon del agg
	drelay 1 to 0 from 2 3 4 records 1000
	want_ok "in a table" tree -t -n 20000 -c 3 "$PFX" - 0r 1 1 1
}

# A sender that dies in the middle is named, at once and to all; so is one that never comes, when
# the time is over; and the next operations are none the worse for it.
relayd_dead()
{
	new_rack 6
	relayd 1 2
	drelay 1 to 0 from 2 3 sorted idle 700ms
	drelay 2 to 1 from 4 5 sorted idle 300ms
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
	drelay 1 to 0 from 2 3 sorted
	drelay 2 to 1 from 4 5 sorted
	# what is granted already waits in the ports before what says so
	netem rate 200mbit
	want_ok "given up" \
		tree -n 200000 -c 2 -C 150 -e 125 -B 0 -w 80 "$PFX" - 0r 1r 1 2 2
	want_eq "operations are left at host 1" "$(drelay_json 1 running)" 0
	want_eq "operations are left at host 2" "$(drelay_json 2 running)" 0
	want_ok "afterwards" tree "$PFX" - 0r 1r 1 2 2
}

# One member has another operator, or another plan.
relayd_other()
{
	new_rack 4
	relayd 1
	drelay 1 to 0 from 2 3 sorted
	want_ok "another operator" tree -D 3:2 -e 71 -B 3 "$PFX" - 0r 1 1
	want_grep "text" "$(<"$work/tree")" 'member 3 has operator min, member 1 has sum'
	hctl 1 relay --daemon del agg
	drelay 1 to 0 from 2 3 sorted oper max
	want_ok "a relay has another one" tree -e 71 "$PFX" - 0r 1 1
	hctl 1 relay --daemon del agg
	drelay 1 to 0 from 2 3 sorted tree 5
	want_ok "another plan" tree -e 71 "$PFX" - 0r 1 1
	want_grep "text" "$(<"$work/tree")" 'has plan 0, member 1 has 5'
	hctl 1 relay --daemon del agg
	drelay 1 to 0 from 2 3
	want_ok "sorted or not" tree -e 71 "$PFX" - 0r 1 1
}

# A hundred operations at once, begun in another order by each: all have their turn, in little
# memory, and nothing is left of them.
relayd_many()
{
	new_rack 6
	relayd 1 2
	drelay 1 to 0 from 2 3 bytes 1M records 256
	drelay 2 to 1 from 4 5 bytes 1M records 256
	want_ok "a hundred operations" tree -t -c 100 -n 300 "$PFX" - 0r 1r 1 2 2
	wait_for 5 drelay_done 100
	want_ok "in other orders" tree -t -r -c 100 -n 300 "$PFX" - 0r 1r 1 2 2
	wait_for 5 drelay_done 200
	want_ok "long ones, in other orders" tree -t -r -c 30 -n 20000 "$PFX" - 0r 1r 1 2 2
	wait_for 5 drelay_done 230
	want_eq "operations are left" "$(drelay_json 1 running)" 0
	want_eq "memory is left" "$(drelay_json 1 memory)" 0
	hctl 1 relay --daemon show
	[ "$(drelay_json 1 memory_most)" -le $((8 << 20)) ] ||
		fail "memory: $(drelay_json 1 memory_most) bytes"
}

# Trees of one host beside one another.
relayd_trees()
{
	local i pids=()

	new_rack 5
	relayd 1
	for ((i = 0; i < 4; i++)); do
		NAME=t$i PORT=$((7000 + i)) drelay 1 to 0 from 2 3 4 sorted
	done
	for ((i = 0; i < 4; i++)); do
		"$BIN/tree_member" -p $((7000 + i)) -c 5 -n 5000 "$PFX" - 0r 1 1 1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		want_ok "a tree" wait "$i"
	done
	want_eq "trees" "$(hctl 1 relay --daemon show | grep -c '^relay t')" 4
}

# Programs end, and others of the same members begin.
relayd_again()
{
	local i

	new_rack 4
	relayd 1
	drelay 1 to 0 from 2 3 sorted
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
	drelay 1 to 0 from 2 3 sorted key "$work/key"
	SHUFFLE_KEY_FILE=$work/key want_ok "with the key" tree "$PFX" - 0r 1 1
	hctl 1 relay --daemon del agg
	drelay 1 to 0 from 2 3 sorted
	SHUFFLE_KEY_FILE=$work/key want_ok "a relay without the key" \
		tree -i 500 -e 110 "$PFX" - 0r 1 1
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
		if hctl 1 relay --daemon add "$@" 2>"$work/err"; then
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
	drelay 1 to 0 from 2
	no 'there is a relay of this name' agg rank 1 to 0 from 2 members "${group[@]}"
	no 'another socket has it' b rank 1 to 0 from 2 members "${group[@]}"
	want_fail "b is no relay" hctl 1 relay --daemon del b 2>"$work/err"
	want_grep "err" "$(<"$work/err")" 'no such relay'
	printf '%s\n' '# a group' "${group[@]}" >"$work/group"
	hctl 1 relay --daemon del agg
	want_ok "members from a file" hctl 1 relay --daemon add agg rank 1 to 0 from 2 file "$work/group"
	want_fail "no daemon on host 0" hctl 0 relay --daemon show 2>"$work/err"
	want_grep "err" "$(<"$work/err")" 'no shuffle-relayd'
	# programs may look, and not change
	if setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
		nsx h1 setpriv --reuid 65534 --clear-groups "$BIN/shufflectl" relay --daemon show \
			>/dev/null || fail "may not look"
		! nsx h1 setpriv --reuid 65534 --clear-groups "$BIN/shufflectl" relay --daemon del agg \
			2>"$work/err" || fail "taken away without privilege"
		want_grep "err" "$(<"$work/err")" 'only root'
	fi
}
