# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034 # variables of lib.sh, cases_bcube.sh, and for these
#
# Overlays in BCubes: packets carry their way, and programs of tc pass them on; to be sourced by
# run_all.sh behind cases_bcube.sh.

overlay_cases()
{
	# the smallest cubes: both kernels' verifiers see the programs, and take them back
	run_case bcube-overlay-square overlay_square
	run_case bcube-overlay-square-ipv6 overlay_square 6
	run_case bcube-overlay-removed overlay_removed
	# emulated processors have enough to do with racks
	[[ $LANE != qemu* ]] || return 0
	run_case bcube-overlay bcube_overlay
	run_case bcube-overlay-loss overlay_loss
	run_case bcube-overlay-strangers overlay_strangers
	run_case bcube-overlay-circle overlay_circle
	run_case bcube-overlay-forged overlay_forged
	run_case bcube-overlay-replan overlay_replan
}

# overlay_plan - servers of $work/plan that only pass on have overlays, and no relay
overlay_plan()
{
	want_ok "no overlay" \
		"$BIN/shuffle-plan" --check "$work/plan" --overlay "$work/ways" --quiet "$@"
	overlay=(--overlay "$work/ways")
}

# overlay_counter HOST NAME - what its overlay has counted
overlay_counter()
{
	hctl "$1" overlay show | sed -n "s/^# $2 //p"
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
	hctl "$1" overlay show
	ip -n "${PFX}h$1" route show proto 79
	ip -n "${PFX}h$1" -6 route show proto 79
	tc -n "${PFX}h$1" qdisc show | grep clsact
}

# overlay_others - bytes of members and relays that are no records
overlay_others()
{
	local h other=()

	for ((h = 0; h < ${#parents[@]}; h++)); do
		[[ ${parents[h]} != *r ]] || other+=("$h")
	done
	echo $(($(overhead) + $(other_bytes "${other[@]}")))
}

# overlay_install - the relays and overlays of $work/plan; overlay_remove takes them away
overlay_install()
{
	tree_roles
	want_ok "no relays, or no overlays" plan_install install
}

overlay_remove()
{
	want_ok "relays or overlays are left" plan_install remove
}

# Each packet is passed on once, as the plan has it: five flows of two hops, of two links each.
overlay_once()
{
	local parents inner sent

	figure_2a | sed '/^2 0/d; s/^0 - - 6/0 - - 5/; s/senders 6 servers 12/senders 5 servers 11/' \
		>"$work/plan"
	overlay_plan
	tree_roles
	want_grep "relays where none is needed" "$(plan_install install)" -x 'relays: 0, install'
	tree -g "$work/group" "$PFX" "${parents[@]}" || fail "records: $(cat "$work/ways")"
	sent=$(($(first_sent) - $(overlay_others)))
	want_eq "bytes of five flows" $sent $((5 * 16000))
	want_eq "packets passed on" "$(overlay_counters PassedOn)" \
		$(($(counters DataOut) + $(counters CtrlPktsOut)))
	want_gt "server 4 does not pass on" "$(overlay_counter 4 PassedOn)" 0
	want_eq "server 4 takes part" "$(counter 4 OpsStarted)" 0
	hctl 4 overlay show >"$work/shown"
	want_grep "shown" "$(<"$work/shown")" -x "server 4"
	want_ok "what is shown cannot be loaded" hctl 4 overlay load - <"$work/shown"
	hctl 4 overlay show | cmp -s - "$work/shown" || fail "$(hctl 4 overlay show)"
	overlay_remove
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
		overlay_install
		tree -g "$work/group" -n 2000 "$PFX" "${parents[@]}" ||
			fail "filter of $bits bits: $(for ((h = 0; h < 4; h++)); do hctl $h overlay show; done)"
	done
	# nothing but what has been sent, and all of it, whatever was whole on the way
	want_gt "packets passed on" "$(overlay_counters PassedOn)" 0
	want_eq "packets passed on" "$(overlay_counters PassedOn)" "$(overlay_counters Sent)"
	want_eq "packets taken" "$(overlay_counters Taken)" "$(overlay_counters Sent)"
	overlay_remove
	for ((h = 0; h < 4; h++)); do
		want_eq "of host $h is left" "$(overlay_left $h)" ""
	done
	overlay=()
}

# overlay_packet HOST ARGS... - of overlay_packet.py
overlay_packet()
{
	nsx "h$1" python3 "$here/overlay_packet.py" "${@:2}"
}

# overlay_programs N - so many programs and maps are in the kernel
overlay_programs()
{
	[ "$(python3 "$here/overlay_packet.py" left)" = "$1" ]
}

# overlay_clsact HOST - its devices that have one, and the filters of others there
overlay_clsact()
{
	local dev

	for dev in eth0 eth1; do
		tc -n "${PFX}h$1" qdisc show dev $dev clsact
		tc -n "${PFX}h$1" filter show dev $dev ingress
	done
}

# The programs go without a trace: by "clear", by another overlay that has fewer links, by one that
# cannot be loaded, and with their namespace; what others have in tc stays.
overlay_removed()
{
	local n before

	bcube 2 2 0
	wait_for 10 overlay_programs 0 || fail "programs of former cases are left"
	tc -n "${PFX}h1" qdisc add dev eth1 clsact || skip "no clsact"
	tc -n "${PFX}h1" filter add dev eth1 ingress prio 7 protocol arp matchall action ok ||
		skip "no matchall"
	before=$(overlay_clsact 1)
	overlay_set 1 'server 1' 'neighbour 0 10.80.0.1 10.80.0.2' 'neighbour 3 10.81.1.2 10.81.1.1' \
		"path 10.80.1.1 hops 2 $(overlay_packet 1 filter '1>3' '3>2')" || fail "$(cat "$work/err")"
	n=$(python3 "$here/overlay_packet.py" left)
	want_gt "programs and maps" "$n" 3
	want_grep "route" "$(ip -n "${PFX}h1" route show proto 79)" '10.80.1.1 via 10.81.1.2 dev eth1'
	# another one in its place: as many, and no link that it does not have
	overlay_set 1 'server 1' 'neighbour 3 10.81.1.2 10.81.1.1' || fail "$(cat "$work/err")"
	wait_for 10 overlay_programs "$n" || fail "programs and maps of a former one are left"
	want_eq "on eth0" "$(tc -n "${PFX}h1" qdisc show dev eth0 clsact)" ""
	want_eq "routes" "$(ip -n "${PFX}h1" route show proto 79)" ""
	want_ok "clear" hctl 1 overlay clear
	want_eq "of others" "$(overlay_clsact 1)" "$before"
	wait_for 10 overlay_programs 0 ||
		fail "programs and maps: $(python3 "$here/overlay_packet.py" left), want 0"
	want_ok "clear what is not there" hctl 1 overlay clear
	# there is another route to the member already
	ip -n "${PFX}h0" route add 10.80.1.2 dev eth0
	overlay_set 0 'server 0' 'neighbour 1 10.80.0.2 10.80.0.1' \
		"path 10.80.1.2 hops 2 $(overlay_packet 0 filter '0>1' '1>3')" && fail "taken beside a route"
	want_grep "refused" "$(<"$work/err")" 'another route to 10.80.1.2'
	want_eq "of what was refused" "$(hctl 0 overlay show; overlay_clsact 0)" ""
	overlay_set 2 'server 2' 'neighbour 3 10.80.1.2 10.80.1.1' || fail "$(cat "$work/err")"
	ip netns del "${PFX}h2"
	wait_for 10 overlay_programs 0 || fail "programs of a namespace that is gone"
}

# Filters instead of relays with one input, in trees that merge, with loss, too.
bcube_overlay()
{
	local parents inner

	bcube 4 2 0
	overlay_once
	plan "${senders[@]}" --method irs --irs inter
	overlay_plan
	overlay_install
	tree -g "$work/group" -c 8 "$PFX" "${parents[@]}" || fail "$(cat "$work/plan")"
	overlay_remove
	bcube 3 3 0
	# the label of a server is not its number here
	plan --senders 13,26 --method unicast
	overlay_plan --bloom 128
	overlay_install
	tree -g "$work/group" "$PFX" "${parents[@]}" || fail "three dimensions: $(cat "$work/ways")"
	# many records in a super-packet
	want_ok "many records" tree -g "$work/group" -n 20000 "$PFX" "${parents[@]}"
	want_eq "filters are not exact" \
		"$(overlay_counters PathAmbiguous)$(overlay_counters DropNoHop)$(overlay_counters DropHops)" 000
	overlay_remove
	overlay=()
}

# Packets are lost, come twice and out of order, at servers that pass on, too.
overlay_loss()
{
	local parents inner

	bcube 4 2 0
	plan "${senders[@]}" --method irs --irs inter
	overlay_plan
	overlay_install
	netem loss 3% duplicate 2% delay 50us 20us
	tree -g "$work/group" -c 4 "$PFX" "${parents[@]}" || fail "loss: $(cat "$work/plan")"
	overlay=()
}

# overlay_set HOST LINES... - load them
overlay_set()
{
	printf '%s\n' "${@:2}" | hctl "$1" overlay load - 2>"$work/err"
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
	overlay_refuses 'one neighbour only' 'server 1' 'copies'
	overlay_refuses 'no device has our address 10.80.0.9' 'server 1' 'neighbour 0 10.80.0.1 10.80.0.9'
	overlay_refuses 'or ours' 'server 1' 'neighbour 1 10.80.0.1 10.80.0.2'
	overlay_refuses "another's" 'server 1' 'neighbour 2 10.80.0.1 10.80.0.2' 'neighbour 2 10.80.0.3 10.80.0.2'
	filter='hops 6 bits 64 hashes 22 salt 0 filter'
	overlay_refuses 'no neighbour of ours' 'server 1' 'neighbour 0 10.80.0.1 10.80.0.2' \
		"path 10.80.3.4 $filter 0000000000000000"
	overlay_refuses 'several neighbours' 'server 1' 'neighbour 0 10.80.0.1 10.80.0.2' \
		'neighbour 2 10.80.0.3 10.80.0.2' "path 10.80.3.4 $filter ffffffffffffffff"
	overlay_refuses 'of one length' 'server 1' 'neighbour 0 10.80.0.1 10.80.0.2' \
		"path 10.80.3.4 hops 6 bits 65 hashes 22 salt 0 filter ffffffffffffffff"
	want_eq "an overlay of refused lines" "$(hctl 1 overlay show)" ""

	figure_2a >"$work/plan"
	overlay_plan
	overlay_install
	# server 4 knows neither 5 nor 0
	overlay_set 4 'server 4' 'neighbour 12 10.81.0.4 10.81.0.2' || fail "$(cat "$work/err")"
	want_ok "without a way" tree -g "$work/group" -i 700 -e 110 "$PFX" "${parents[@]}"
	want_gt "server 4 takes packets of strangers" "$(overlay_counter 4 DropNeighbour)" 0
	overlay_set 4 'server 4' 'neighbour 5 10.80.1.2 10.80.1.1' || fail "$(cat "$work/err")"
	want_ok "without a hop" tree -g "$work/group" -i 700 -e 110 "$PFX" "${parents[@]}"
	want_gt "server 4 has a hop" "$(overlay_counter 4 DropNoHop)" 0
	# a filter that leads everywhere is dropped behind a server that has one neighbour only
	hctl 5 overlay show | sed '/^path/s/hops .*/hops 3 bits 64 hashes 2 salt 0 filter ffffffffffffffff/
		/^neighbour [^4]/d' >"$work/wide"
	hctl 5 overlay load "$work/wide" || fail "$(cat "$work/wide")"
	overlay_install
	hctl 5 overlay load "$work/wide" || fail "$(cat "$work/wide")"
	want_ok "by a wide filter" tree -g "$work/group" -i 700 -e 110 "$PFX" "${parents[@]}"
	want_gt "one hop of many is taken" "$(overlay_counter 4 PathAmbiguous)" 0
	overlay=()
}

# A filter that leads in a circle: a packet has its hops, and goes nowhere back.
overlay_circle()
{
	local filter

	bcube 2 2 0
	filter=$(overlay_packet 0 filter '0>1' '1>3' '3>2' '2>0')
	overlay_set 0 'server 0' 'neighbour 1 10.80.0.2 10.80.0.1' 'neighbour 2 10.81.0.2 10.81.0.1' \
		"path 10.90.0.1 hops 64 $filter" "path 10.90.0.2 hops 5 $filter" \
		"path 10.90.0.3 hops 9 $(overlay_packet 0 filter '0>1' '1>0')" || fail "$(cat "$work/err")"
	overlay_set 1 'server 1' 'neighbour 0 10.80.0.1 10.80.0.2' \
		'neighbour 3 10.81.1.2 10.81.1.1' || fail "$(cat "$work/err")"
	overlay_set 3 'server 3' 'neighbour 1 10.81.1.1 10.81.1.2' \
		'neighbour 2 10.80.1.1 10.80.1.2' || fail "$(cat "$work/err")"
	overlay_set 2 'server 2' 'neighbour 3 10.80.1.2 10.80.1.1' \
		'neighbour 0 10.81.0.1 10.81.0.2' || fail "$(cat "$work/err")"
	overlay_packet 0 plain 10.90.0.1
	wait_for 5 overlay_counted DropHops 1 || fail "it goes on: $(overlay_counters PassedOn) hops"
	want_eq "hops of 64" "$(overlay_counters PassedOn) $(overlay_counters Sent)" "63 1"
	overlay_packet 0 plain 10.90.0.2
	wait_for 5 overlay_counted DropHops 2 || fail "it goes on: $(overlay_counters PassedOn) hops"
	want_eq "hops of 5" "$(($(overlay_counters PassedOn) - 63))" 4
	# back to where it comes from is no way
	overlay_packet 0 plain 10.90.0.3
	wait_for 5 overlay_counted DropNoHop 1 || fail "it goes back"
	want_eq "hops" "$(overlay_counters PassedOn)" 67
	want_eq "copies" "$(overlay_counters PathAmbiguous)$(overlay_counters Taken)" 00
}

# overlay_counted NAME N - for wait_for
overlay_counted()
{
	[ "$(overlay_counters "$1")" = "$2" ]
}

# forged NAME COMMAND... - host 1 sends it, and host 0 counts that
forged()
{
	local name=$1 before
	shift

	before=$(overlay_counters "$name")
	overlay_packet 1 "$@" || fail "not sent: $*"
	wait_for 5 overlay_counted "$name" $((before + 1)) ||
		fail "$*: $name $before, then $(overlay_counters "$name"): $(hctl 0 overlay show)"
}

# Packets with a filter that no kernel sends: nobody takes them.
overlay_forged()
{
	local link='10.80.0.2 10.80.0.1' other

	bcube 2 2 0
	overlay_set 0 'server 0' 'neighbour 1 10.80.0.2 10.80.0.1' 'neighbour 2 10.81.0.2 10.81.0.1' \
		"path 10.80.1.2 hops 4 $(overlay_packet 0 filter '0>1' '1>3')" || fail "$(cat "$work/err")"
	# what is right is taken, or goes on
	# shellcheck disable=SC2086 # two words
	{
		forged Taken way $link 9 10.80.1.2 10.80.0.1 -- '1>0'
		forged PassedOn way $link 9 10.80.1.2 10.81.0.2 -- '1>0' '0>2'
		forged DropHops way $link 1 10.80.1.2 10.81.0.2 -- '1>0' '0>2'
		forged DropHops way $link 65 10.80.1.2 10.81.0.2 -- '1>0' '0>2'
		forged DropNoHop way $link 9 10.80.1.2 10.81.0.2 -- '1>0'
		forged DropMember way $link 9 10.80.1.9 10.80.0.1 -- '1>0'
		for other in flags=1 hashes=0 hashes=33 bits=0 bits=1025 bits=1024 zero=1 port=819 proto=6 \
			cut=1 cut=8 cut=16 cut=43; do
			forged DropMalformed way $link 9 10.80.1.2 10.80.0.1 $other -- '1>0'
		done
		forged DropSource raw 5000 $link 37
		forged DropMalformed raw 901 $link 37
	}
	# not the address of the link, or not to it
	forged DropNeighbour way 10.81.1.1 10.80.0.1 9 10.80.1.2 10.80.0.1 -- '1>0'
	ip -n "${PFX}h1" route add 10.81.0.1 via 10.80.0.1
	forged DropNeighbour way 10.80.0.2 10.81.0.1 9 10.80.1.2 10.80.0.1 -- '1>0'
	want_eq "taken" "$(overlay_counters Taken)" 1
}

# overlay_over SERVER - a plan from server 3 to 0 over this one, in a square
overlay_over()
{
	printf '%s\n' 'shuffle-plan 1' 'topology bcube 2,1' 'tree 0 senders 1 servers 3' '0 - - 1 root' \
		"$1 0 $(($1 - 1)) 1 forward" "3 $1 $((2 - $1)) 1 sender" >"$work/plan"
	overlay_plan
}

# A server dies in the middle of an operation: it goes on when the others have the ways of another
# plan, without having been told, and counters go on, too.
overlay_replan()
{
	local parents inner before

	bcube 2 2 0
	overlay_over 1
	overlay_install
	want_ok "no slow link" nsx h3 tc qdisc add dev eth0 root netem rate 10mbit
	want_ok "no slow link" nsx h3 tc qdisc add dev eth1 root netem rate 10mbit
	tree -g "$work/group" -n 200000 "$PFX" "${parents[@]}" &
	# that counted in a shell of its own
	peer_calls=$((peer_calls + 1))
	wait_for 10 overlay_passes 1 100 || fail "server 1 passes nothing on"
	ip -n "${PFX}h1" link set eth0 down
	ip -n "${PFX}h1" link set eth1 down
	before=$(overlay_counter 3 Sent)
	overlay_over 2
	want_ok "no other overlay" plan_install install
	want_ok "an operation whose way has died" wait $!
	want_gt "server 2 does not pass on" "$(overlay_counter 2 PassedOn)" 100
	want_gt "Sent begins again" "$(overlay_counter 3 Sent)" "$before"
	overlay=()
}

# overlay_passes HOST N - for wait_for
overlay_passes()
{
	[ "$(overlay_counter "$1" PassedOn)" -ge "$2" ]
}
