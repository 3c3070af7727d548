# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # variables of lib.sh
#
# Relays in BCubes, by the plans of shuffle-plan: servers with a NIC, and an address, for each
# dimension; to be sourced by run_all.sh beside cases_relayd.sh.

bcube_cases()
{
	# emulated processors have enough to do with racks
	[[ $LANE != qemu* ]] || return 0
	run_case bcube-methods bcube_methods
	run_case bcube-replan bcube_replan
}

# Host 0 is the server that receives, $root, and host $root is server 0.
server()
{
	case $1 in
	0) echo "$root" ;;
	"$root") echo 0 ;;
	*) echo "$1" ;;
	esac
}

# Of server S and dimension D: "digit" there, "index" of the switch of that dimension.
place()
{
	local -i unit=$((ports ** $2))

	digit=$(($1 / unit % ports))
	index=$(($1 / (unit * ports)))
	index=$((index * unit + $1 % unit))
}

# bcube PORTS DIMENSIONS ROOT [6] - with IPv6 addresses, or IPv4; a switch is a bridge, a NIC eth<dimension> with an address in the
# network of its switch; $work/hosts is for shuffle-plan-install.  Nobody has a route.
bcube()
{
	local h s d digit index at
	local -i n=$(($1 ** $2))

	ports=$1 dims=$2 root=$3 topology="$1,$(($2 - 1))"
	net_begin $n
	for ((d = 0; d < dims; d++)); do
		for ((s = 0; s < n / ports; s++)); do
			echo "link add l${d}s$s type bridge forward_delay 0 stp_state 0 mcast_snooping 0"
			echo "link set l${d}s$s up"
		done
	done | ip -n "${PFX}br" -batch - || fail "no switches"
	for ((h = 0; h < n; h++)); do
		s=$(server $h)
		for ((d = 0; d < dims; d++)); do
			place "$s" $d
			[ $d = 0 ] || echo "link add p${h}d$d type veth peer name eth$d netns ${PFX}h$h"
			[ $d = 0 ] || echo "link set p${h}d$d master l${d}s$index up"
			[ $d != 0 ] || echo "link set p$h master l${d}s$index up"
		done
	done | ip -n "${PFX}br" -batch - || fail "no links"
	for ((h = 0; h < n; h++)); do
		s=$(server $h)
		printf '%s ' "$s"
		{
			echo "link set lo up"
			for ((d = 0; d < dims; d++)); do
				place "$s" $d
				echo "link set eth$d up"
				[ $d = 0 ] || printf ',' >&3
				if [ "${4-}" = 6 ]; then
					at=fd80:$d:$index::$((digit + 1))
					echo "addr add $at/64 dev eth$d nodad"
					printf '[%s]:7000' "$at" >&3
				else
					at=10.$((80 + d)).$index.$((digit + 1))
					echo "addr add $at/24 dev eth$d"
					printf '%s:7000' "$at" >&3
				fi
			done
		} 3>&1 >"$work/batch"
		echo " ${PFX}h$h"
		want_ok "no addresses on host $h" ip -n "${PFX}h$h" -batch "$work/batch"
	done >"$work/hosts"
}

relay_words=(sorted)
# --overlay FILE: cases_overlay.sh
overlay=()

# plan_install COMMAND WORDS... - the relays of $work/plan, on the hosts of a BCube
plan_install()
{
	"$here/../../../tools/topo/shuffle-plan-install" "$1" "$work/plan" "$work/hosts" \
		"${@:2}" "${overlay[@]}" --run "ip netns exec %h env PATH=$BIN:$PATH" -- "${relay_words[@]}"
}

# tree_roles - the groups of $work/plan, and into "parents" what tree_member wants; "inner" are the
# members that merge
tree_roles()
{
	local h above role all

	want_ok "no groups" plan_install members "$work/group"
	plan_install roles >"$work/roles" || fail "no roles: got status $?, want 0"
	all=$(cut -d' ' -f2 "$work/roles" | tr '\n' ' ')
	parents=() inner=()
	while read -r h above role; do
		case $role in
		relay) parents[h]=${above}r ;;
		none) parents[h]=0x ;;
		*) parents[h]=$above ;;
		esac
		[ "$role" != member ] || [ "$h" = 0 ] || [[ " $all " != *" $h "* ]] || inner+=("$h")
	done <"$work/roles"
}

# plan OPTIONS... - a tree for $root
plan()
{
	want_ok "no plan" \
		"$BIN/shuffle-plan" --bcube "$topology" --receivers "$root" --table "$work/plan" --quiet "$@"
}

# Payload that all hosts have sent, without what was sent again.
first_sent()
{
	echo $(($(counters DataBytesOut) - $(counters RetransBytes)))
}

# overhead - bytes that members of the last tree have sent and that are no records
overhead()
{
	sed -n 's/^overhead //p' "$work/tree"
}

# in_tree COST OPTIONS... - merge by $work/plan: who has no records is a relay; records that are
# sent, of flows of the same keys, are the cost of the plan
in_tree()
{
	local cost=$1 n=1000 parents inner sent relays=() other h
	shift

	tree_roles
	for ((h = 0; h < ${#parents[@]}; h++)); do
		[[ ${parents[h]} != *r ]] || relays+=("$h")
	done
	# who waits for the others has sent something already
	sent=$(first_sent)
	want_ok "relays are not installed" plan_install install
	tree "$@" -g "$work/group" -n $n "$PFX" "${parents[@]}" || fail "$*: $(cat "$work/plan")"
	other=$(($(overhead) + $(other_bytes "${relays[@]}")))
	sent=$(($(first_sent) - sent))
	echo "cost $cost: $sent bytes sent, $other of them no records"
	# each hop is two links
	[ $((2 * (sent - other))) = $((cost * n * 16)) ] ||
		fail "$((2 * (sent - other))) bytes on links, not $cost flows: $(cat "$work/plan")"
	want_ok "relays are not taken away" plan_install remove
}

senders=(--senders "2,5,9,10,11,14")

# Figure 2(a) of the source: five flows that never meet before the receiver.
figure_2a()
{
	cat <<-END
		shuffle-plan 1
		topology bcube 4,1
		tree 0 senders 6 servers 12
		0 - - 6 root
		1 0 0 1 forward
		3 0 0 1 forward
		4 0 1 1 forward
		8 0 1 1 forward
		12 0 1 1 forward
		2 0 0 1 sender
		5 4 0 1 sender
		9 1 1 1 sender
		10 8 0 1 sender
		11 3 1 1 sender
		14 12 0 1 sender
	END
}

# plan_cost - of $work/plan, if all flows have the same keys
plan_cost()
{
	"$BIN/shuffle-plan" --check "$work/plan" | sed 's/.*cost \([0-9]*\),.*/\1/'
}

# Other cubes, all methods, sorted and in tables.
bcube_methods()
{
	bcube 2 3 0
	plan --senders 1,3,5,6,7 --method unicast
	relay_words=(sorted)
	in_tree "$(plan_cost)"
	plan --senders 1,3,5,6,7 --method kmb
	relay_words=(oper count records 2000)
	in_tree "$(plan_cost)" -t -O 4
	plan --senders 1,3,5,6,7 --method exact
	relay_words=(oper min sorted)
	in_tree "$(plan_cost)" -O 2
	bcube 3 3 0
	plan --senders 4,8,13,14,20,22,25,26 --method irs
	relay_words=(oper sumcount)
	in_tree "$(plan_cost)" -t -O 5
}

# plan_program NAME OPTIONS... - shuffle-plan-mend or -watch
plan_program()
{
	${exec_program-} env PATH="$BIN:$PATH" "$here/../../../tools/topo/$1" "$work/plan" "$work/hosts" \
		--plan "--bcube 4,1 --receivers 0 ${senders[*]}" \
		--run "${on_host:-ip netns exec %h env PATH=$BIN:$PATH}" "${@:2}" \
		-- "${relay_words[@]}"
}

# mend_plan OPTIONS... - shuffle-plan-mend
mend_plan()
{
	plan_program shuffle-plan-mend "$@" >"$work/mend" 2>&1
}

# The plan has this epoch, and members that start over merge by it.
merged_again()
{
	grep -qx "# epoch $1" "$work/plan" || fail "$(cat "$work/mend" "$work/plan")"
	tree_roles
	tree -g "$work/group" "$PFX" "${parents[@]}" || fail "epoch $1: $(cat "$work/plan")"
}

# mended WITHOUT EPOCH - the plan is mended, without that
mended()
{
	mend_plan || fail "not mended: $(cat "$work/mend")"
	want_eq "what the plan does without" \
		"$(sed -n 's/^# without //p' "$work/plan" | paste -sd,)" "$1" "$(cat "$work/mend" "$work/plan")"
	want_grep "mend" "$(<"$work/mend")" -x "epoch $2"
	merged_again "$2"
}

monitors()
{
	pgrep -fc '^shufflectl -j monitor'
}

# 16 of them
all_listen()
{
	[ "$(monitors)" = 16 ]
}

watch_mends()
{
	grep -q '"event":"mend".*"status":0,"epoch":3,' "$work/mend"
}

# A NIC of host 14 dies, and nobody but the kernels says so.
replan_watched()
{
	local watch

	(exec_program="exec" plan_program shuffle-plan-watch --json --pause 1) >"$work/mend" 2>&1 &
	watch=$!
	wait_for 30 all_listen || fail "$(monitors) monitors: $(cat "$work/mend")"
	ip -n "${PFX}h14" link set eth1 down
	want_ok "operations end otherwise when a NIC dies" \
		tree -g "$work/group" -i 1000 -e 110 "$PFX" "${parents[@]}"
	wait_for 30 watch_mends || fail "$(cat "$work/mend" "$work/plan")"
	want_grep "mend" "$(<"$work/mend")" -E '"because":"(op-failed|msg-straggler) at'
	kill "$watch"
	wait "$watch" || fail "shuffle-plan-watch ends with status $?"
	want_eq "monitors are left" "$(monitors)" 0
	want_eq "what the plan does without" \
		"$(sed -n 's/^# without //p' "$work/plan" | paste -sd,)" 1,14/1 "$(cat "$work/mend" "$work/plan")"
	merged_again 3
}

# Host 11 loses both links, and there is no other plan; then everybody gets a way to the receiver
# that the topology does not have.
replan_unicast()
{
	local h address

	ip -n "${PFX}br" link set p11 nomaster
	ip -n "${PFX}br" link set p11d1 nomaster
	# that one is known
	echo "# without 11/1" >>"$work/plan"
	cp "$work/plan" "$work/plan.2"
	mend_plan
	want_eq "no plan, and no way" $? 4 "$(cat "$work/mend")"
	want_grep "mend" "$(<"$work/mend")" 'no plan, no route: 5 9 10 11 14 cannot reach 0'
	cmp -s "$work/plan" "$work/plan.2" || fail "$(cat "$work/mend" "$work/plan")"
	ip -n "${PFX}br" link add way type bridge forward_delay 0 stp_state 0 mcast_snooping 0
	ip -n "${PFX}br" link set way up
	for h in 0 2 5 9 10 11 14; do
		ip -n "${PFX}br" link add "w$h" master way up type veth peer name way netns "${PFX}h$h"
		ip -n "${PFX}h$h" link set way up
		[ $h != 0 ] || continue
		address=$(sed -n "s/^$h \([0-9.]*\):.*/\1/p" "$work/hosts")
		ip -n "${PFX}h$h" route add 10.80.0.1/32 dev way src "$address"
		ip -n "${PFX}h0" route add "$address/32" dev way
	done
	mend_plan || fail "no unicast: $(cat "$work/mend")"
	want_grep "mend" "$(<"$work/mend")" 'unicast: 6 senders to 0'
	merged_again 4
	want_eq "roles" "$(grep -c ' 0 member$' "$work/roles")" 6 "$(cat "$work/roles")"
	want_grep "relays of the old plan are left" "$(plan_install remove)" -x 'relays: 0, remove'
}

relay_runs()
{
	[ "$(relay_json 1 running)" != 0 ]
}

# A relay dies in the middle of an operation, then a NIC: senders start over by another plan.
bcube_replan()
{
	local parents inner

	bcube 4 2 0
	plan "${senders[@]}"
	tree_roles
	want_ok "relays are not installed" plan_install install
	want_ok "no slow link" nsx h1 tc qdisc add dev eth0 root netem rate 10mbit
	tree -g "$work/group" -n 100000 -i 1000 -e 110 "$PFX" "${parents[@]}" &
	# that counted in a shell of its own
	peer_calls=$((peer_calls + 1))
	wait_for 10 relay_runs
	ip -n "${PFX}h1" link set eth0 down
	ip -n "${PFX}h1" link set eth1 down
	want_ok "operations end otherwise when a relay dies" wait $!
	cp "$work/plan" "$work/plan.1"
	# those who cannot be asked are not dead
	on_host='false %h' mend_plan && fail "mended without having asked"
	want_grep "mend" "$(<"$work/mend")" 'cannot be asked, the other'
	cmp -s "$work/plan" "$work/plan.1" || fail "$(cat "$work/mend" "$work/plan")"
	# host 1 has crashed: it cannot be asked, and nobody reaches it
	cat >"$work/run-on" <<-END
		[ "\$1" != "${PFX}h1" ] || exit 255
		exec ip netns exec "\$@"
	END
	on_host="env PATH=$BIN:$PATH bash $work/run-on %h" mended 1 2
	replan_watched
	mend_plan --dry-run || fail "dead edges are left: $(cat "$work/mend")"
	want_grep "mend" "$(<"$work/mend")" 'edges are alive'
	replan_unicast
	# what stands in a table is not run
	cp "$work/plan.1" "$work/plan"
	echo "# epoch failed[\$(touch $work/run)0]" >>"$work/plan"
	mend_plan && fail "an epoch that is no number"
	want_grep "mend" "$(<"$work/mend")" 'epoch is no number'
	[ ! -e "$work/run" ] || fail "a table is run"
}
