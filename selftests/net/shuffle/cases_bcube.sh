# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # variables of lib.sh
#
# Relays in BCubes, by the plans of shuffle-plan: servers with a NIC, and an address, for each
# dimension; to be sourced by run_all.sh behind cases_relay.sh.

bcube_cases()
{
	run_case bcube-ways-square by_ways overlay_square
	run_case bcube-ways-square-ipv6 by_ways overlay_square 6
	# emulated processors have enough to do with racks
	[[ $LANE != qemu* ]] || return 0
	run_case bcube-methods bcube_methods
	run_case bcube-replan bcube_replan
	run_case bcube-overlay bcube_overlay
	run_case bcube-overlay-loss overlay_loss
	run_case bcube-overlay-strangers overlay_strangers
	run_case bcube-ways by_ways bcube_overlay
	run_case bcube-ways-loss by_ways overlay_loss
	run_case bcube-ways-strangers by_ways overlay_strangers
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
# --overlay FILE, perhaps --tc
overlay=()
# who passes on: the module (overlay), or programs of tc (ways)
overlay_by=overlay

by_ways()
{
	local overlay_by=ways

	"$@"
}

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

# overlay_plan - servers of $work/plan that only pass on have overlays, and no relay
overlay_plan()
{
	want_ok "no overlay" \
		"$BIN/shuffle-plan" --check "$work/plan" --overlay "$work/ways" --quiet "$@"
	overlay=(--overlay "$work/ways")
	[ $overlay_by = overlay ] || overlay+=(--tc)
}

# overlay_counter HOST NAME - what its overlay has counted
overlay_counter()
{
	if [ $overlay_by = overlay ]; then
		counter "$1" "$2"
	else
		hctl "$1" ways show | sed -n "s/^# $2 //p"
	fi
}

# overlay_counters NAME - of all hosts
overlay_counters()
{
	local h n sum=0

	for ((h = 0; h < hosts; h++)); do
		n=$(overlay_counter $h "$1")
		sum=$((sum + ${n:-0}))
	done
	echo $sum
}

# overlay_left HOST - what is left of an overlay on a host, and should not be
overlay_left()
{
	hctl "$1" $overlay_by show
	ip -n "${PFX}h$1" route show proto 79
	ip -n "${PFX}h$1" -6 route show proto 79
	tc -n "${PFX}h$1" qdisc show | grep clsact
}

# Each packet is passed on once, as the plan has it: five flows of two hops, of two links each.
overlay_once()
{
	local parents inner

	figure_2a | sed '/^2 0/d; s/^0 - - 6/0 - - 5/; s/senders 6 servers 12/senders 5 servers 11/' \
		>"$work/plan"
	overlay_plan
	tree_roles
	want_grep "relays where none is needed" "$(plan_install install)" -x 'relays: 0, install'
	tree -g "$work/group" "$PFX" "${parents[@]}" || fail "records: $(cat "$work/ways")"
	want_eq "bytes of five flows" $(($(first_sent) - $(overhead))) $((5 * 16000))
	[ "$(overlay_counters PassedOn)" = $(($(counters DataOut) + $(counters CtrlPktsOut))) ] ||
		fail "$(overlay_counters PassedOn) of $(counters DataOut) and $(counters CtrlPktsOut) packets"
	want_gt "server 4 does not pass on" "$(overlay_counter 4 PassedOn)" 0
	want_eq "server 4 takes part" "$(counter 4 OpsStarted)" 0
	hctl 4 $overlay_by show >"$work/shown"
	want_grep "shown" "$(<"$work/shown")" -x "server 4"
	want_ok "what is shown cannot be loaded" hctl 4 $overlay_by load - <"$work/shown"
	hctl 4 $overlay_by show | cmp -s - "$work/shown" || fail "$(hctl 4 $overlay_by show)"
	want_ok "overlays are left" plan_install remove
	want_eq "of server 4 is left" "$(overlay_left 4)" ""
	want_eq "of server 5 is left" "$(overlay_left 5)" ""
}

# overlay_square [6] - four servers: the smallest cube that passes on, for the verifiers of all kernels;
# filters of all sizes
overlay_square()
{
	local parents inner bits h

	bcube 2 2 0 "$@"
	plan --senders 3 --method unicast
	for bits in 64 448 1024; do
		overlay_plan --bloom $bits
		tree_roles
		want_ok "no overlays" plan_install install
		tree -g "$work/group" -n 2000 "$PFX" "${parents[@]}" ||
			fail "filter of $bits bits: $(for ((h = 0; h < 4; h++)); do hctl $h $overlay_by show; done)"
	done
	# nothing but what has been sent, and all of it, whatever was whole on the way
	want_gt "packets passed on" "$(overlay_counters PassedOn)" 0
	want_eq "packets passed on" "$(overlay_counters PassedOn)" "$(overlay_counters Sent)"
	want_eq "packets taken" "$(overlay_counters Taken)" "$(overlay_counters Sent)"
	want_ok "overlays are left" plan_install remove
	for ((h = 0; h < 4; h++)); do
		want_eq "of host $h is left" "$(overlay_left $h)" ""
	done
	overlay=()
}

# Filters instead of relays with one input, in trees that merge, with loss, too.
bcube_overlay()
{
	local parents inner

	bcube 4 2 0
	overlay_once
	plan "${senders[@]}" --method irs --irs inter
	overlay_plan
	tree_roles
	want_ok "no relays, or no overlays" plan_install install
	tree -g "$work/group" -c 8 "$PFX" "${parents[@]}" || fail "$(cat "$work/plan")"
	want_ok "relays or overlays are left" plan_install remove
	bcube 3 3 0
	# the label of a server is not its number here
	plan --senders 13,26 --method unicast
	overlay_plan --bloom 128
	tree_roles
	want_ok "no overlays" plan_install install
	tree -g "$work/group" "$PFX" "${parents[@]}" || fail "three dimensions: $(cat "$work/ways")"
	# many records in a super-packet
	want_ok "many records" tree -g "$work/group" -n 20000 "$PFX" "${parents[@]}"
	want_eq "filters are not exact" \
		"$(overlay_counters PathAmbiguous)$(overlay_counters DropNoHop)$(overlay_counters DropHops)" 000
	want_ok "overlays are left" plan_install remove
	overlay=()
}

# Packets are lost, come twice and out of order, at servers that pass on, too.
overlay_loss()
{
	local parents inner

	bcube 4 2 0
	plan "${senders[@]}" --method irs --irs inter
	overlay_plan
	tree_roles
	want_ok "no relays, or no overlays" plan_install install
	netem loss 3% duplicate 2% delay 50us 20us
	tree -g "$work/group" -c 4 "$PFX" "${parents[@]}" || fail "loss: $(cat "$work/plan")"
	overlay=()
}

# overlay_set HOST LINES... - load them
overlay_set()
{
	printf '%s\n' "${@:2}" | hctl "$1" $overlay_by load - 2>"$work/err"
}

# overlay_refuses WORDS LINES... - loading them fails, and says so
overlay_refuses()
{
	overlay_set 1 "${@:2}" && fail "${*:2}: taken"
	want_grep "${*:2}" "$(<"$work/err")" "$1"
}

# What is wrong in a table, and packets that have no way here.
overlay_strangers()
{
	local parents inner filter

	bcube 4 2 0
	overlay_refuses 'a neighbour, are needed' 'server 1'
	overlay_refuses 'no line "server N"' '# nothing'
	overlay_refuses 'both ends' 'server 1' 'neighbour 0 fe80::1 fe80::2'
	overlay_refuses 'both ends' 'server 1' 'neighbour 0 10.80.0.1 fd00::1'
	overlay_refuses 'none of hops' 'server 1' 'neighbour 0 10.80.0.1 10.80.0.2' 'path 10.80.0.1 hop 3'
	overlay_refuses 'line 1' 'servers 1'
	if [ $overlay_by = ways ]; then
		overlay_refuses 'one neighbour only' 'server 1' 'copies'
		overlay_refuses 'no device has our address 10.80.0.9' 'server 1' \
			'neighbour 0 10.80.0.1 10.80.0.9'
	fi
	overlay_refuses 'or ours' 'server 1' 'neighbour 1 10.80.0.1 10.80.0.2'
	overlay_refuses "another's" 'server 1' 'neighbour 2 10.80.0.1 10.80.0.2' 'neighbour 2 10.80.0.3 10.80.0.2'
	filter='hops 6 bits 64 hashes 22 salt 0 filter'
	overlay_refuses 'no neighbour of ours' 'server 1' 'neighbour 0 10.80.0.1 10.80.0.2' \
		"path 10.80.3.4 $filter 0000000000000000"
	overlay_refuses 'several neighbours' 'server 1' 'neighbour 0 10.80.0.1 10.80.0.2' \
		'neighbour 2 10.80.0.3 10.80.0.2' "path 10.80.3.4 $filter ffffffffffffffff"
	overlay_refuses 'of one length' 'server 1' 'neighbour 0 10.80.0.1 10.80.0.2' \
		"path 10.80.3.4 hops 6 bits 65 hashes 22 salt 0 filter ffffffffffffffff"
	want_eq "an overlay of refused lines" "$(hctl 1 $overlay_by show)" ""

	figure_2a >"$work/plan"
	overlay_plan
	tree_roles
	plan_install install >"$work/out" || fail "no overlays: $(cat "$work/out")"
	# server 4 knows neither 5 nor 0
	overlay_set 4 'server 4' 'neighbour 12 10.81.0.4 10.81.0.2' || fail "$(cat "$work/err")"
	want_ok "without a way" tree -g "$work/group" -i 700 -e 110 "$PFX" "${parents[@]}"
	want_gt "server 4 takes packets of strangers" "$(overlay_counter 4 DropNeighbour)" 0
	overlay_set 4 'server 4' 'neighbour 5 10.80.1.2 10.80.1.1' || fail "$(cat "$work/err")"
	want_ok "without a hop" tree -g "$work/group" -i 700 -e 110 "$PFX" "${parents[@]}"
	want_gt "server 4 has a hop" "$(overlay_counter 4 DropNoHop)" 0
	# a filter that leads everywhere is dropped behind a server that has one neighbour only
	hctl 5 $overlay_by show | sed '/^path/s/hops .*/hops 3 bits 64 hashes 2 salt 0 filter ffffffffffffffff/
		/^neighbour [^4]/d' >"$work/wide"
	hctl 5 $overlay_by load "$work/wide" || fail "$(cat "$work/wide")"
	plan_install install >"$work/out" 2>&1
	hctl 5 $overlay_by load "$work/wide" || fail "$(cat "$work/wide")"
	want_ok "by a wide filter" tree -g "$work/group" -i 700 -e 110 "$PFX" "${parents[@]}"
	want_gt "one hop of many is taken" "$(overlay_counter 4 PathAmbiguous)" 0
	overlay=()
	[ $overlay_by = overlay ] || return 0
	overlay_copies
}

# The source's form: packets go to all of them, until they have had their hops.
overlay_copies()
{
	local h

	for h in 0 1 2 3 4 6 7 8 12 13; do
		{ hctl $h overlay show; echo copies; } | hctl $h overlay load - 2>"$work/err" ||
			[ -z "$(hctl $h overlay show)" ] || fail "no copies: $(cat "$work/err")"
	done
	tree -g "$work/group" "$PFX" "${parents[@]}" ||
		fail "copies: $(hctl 4 stats show) $(hctl 0 stats show) $(hctl 5 stats show)"
	[ "$(counters DupBytes)" -gt 0 ] || [ "$(counters DropHops)" -gt 0 ] || fail "no copies"
}
