# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # variables of lib.sh
#
# Relays: members of groups that have no process, in racks and in a BCube; to be sourced by
# run_all.sh.

relay_cases()
{
	run_case relay-in-a-rack relay_rack
	run_case relay-with-key relay_key
	run_case relay-goes-with-its-namespace relay_namespace
	# emulated processors have enough to do with these
	[[ $LANE != qemu* ]] || return 0
	run_case relay-refused relay_refused
	run_case relay-many-operations relay_many
	run_case relay-small relay_small
	run_case relay-with-loss relay_through loss 2%
	run_case relay-twice-and-out-of-order relay_through delay 1ms 1ms duplicate 10%
	run_case relay-sender-missing relay_sender_missing
	run_case relay-bcube relay_bcube
	run_case relay-replan relay_replan
}

# merge ARGS... - merge_member of this rack; operations have other numbers than those before
merge()
{
	local -i ops=256

	peer_calls=$((peer_calls + 1))
	"$BIN/merge_member" -o $((peer_calls * ops)) "$@"
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

# relay HOST ARGS... - of a rack
relay()
{
	local h=$1
	shift
	# shellcheck disable=SC2046 # several words
	hctl "$h" relay add agg rank "$h" "$@" members $(members_of "$hosts") ||
		fail "no relay on host $h"
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

relay_failed()
{
	[ "$(relay_json 1 failed)" = "$1" ]
}

# Two relays, one behind the other; sorted or not, with all operators.
relay_rack()
{
	local opers=(none sum min max count sumcount or and) i

	new_rack 6
	relay 1 to 0 from 2 3 sorted
	relay 2 to 1 from 4 5 sorted
	merge "$PFX" - 0r 1r 1 2 2 || fail "sorted"
	merge -n "$(sz 30000 3000)" -K 5000 -c 3 "$PFX" - 0r 1r 1 2 2 || fail "many records"
	merge -n 0 "$PFX" - 0r 1r 1 2 2 || fail "no records"
	wait_for 5 relay_done 5
	[ "$(relay_json 1 failed)" = 0 ] || fail "$(hctl 1 relay show)"
	[ "$(relay_json 1 from)" = "[2, 3]" ] || fail "$(hctl 1 -j relay show)"
	hctl 1 relay show agg | grep -q '^relay agg' || fail "$(hctl 1 relay show agg)"
	hctl 1 relay del agg || fail "not taken away"
	hctl 2 relay del agg || fail "not taken away on host 2"
	[ "$(hctl 1 -j relay show)" = "[]" ] || fail "there still"
	# where processors are emulated one will do
	[[ $LANE != qemu* ]] || opers=(none)
	for ((i = 0; i < ${#opers[@]}; i++)); do
		relay 1 to 0 from 2 3 4 5 oper "${opers[i]}" records 500
		merge -t -n 3000 -K 1000 -O $i "$PFX" - 0r 1 1 1 1 || fail "${opers[i]}"
		hctl 1 relay del agg
	done
}

relay_refused()
{
	local group

	new_rack 3
	# shellcheck disable=SC2207 # words
	group=($(members_of 3))
	no()
	{
		local text=$1
		shift
		if hctl 1 relay add "$@" 2>"$work/err"; then
			fail "taken: $*"
		fi
		grep -q "$text" "$work/err" || fail "$*: $(cat "$work/err")"
	}
	no 'name, rank and to' a from 2 members "${group[@]}"
	no 'is not ADDRESS:PORT' a rank 1 to 0 from 2 members 10.77.0.1
	no 'means nothing here' a rank 1 to 0 sideways from 2
	no 'none, or more than 256' a rank 1 to 0 members "${group[@]}"
	no 'no such rank, our own' a rank 1 to 0 from 1 members "${group[@]}"
	no 'no such rank, our own' a rank 1 to 0 from 2 2 members "${group[@]}"
	no 'both are the same' a rank 1 to 1 from 2 members "${group[@]}"
	no 'no such member' a rank 3 to 1 from 2 members "${group[@]}"
	no 'cannot be bound to' a rank 2 to 1 from 0 members "${group[@]}"
	no 'can be no group' a rank 1 to 0 from 2 members "${group[@]}" "${group[0]}"
	no 'need no table' a rank 1 to 0 from 2 sorted records 5 members "${group[@]}"
	no 'oper: "more"' a rank 1 to 0 from 2 oper more members "${group[@]}"
	relay 1 to 0 from 2
	no 'there is a relay of this name' agg rank 1 to 0 from 2 members "${group[@]}"
	no 'cannot be bound to' b rank 1 to 0 from 2 members "${group[@]}"
	! hctl 1 relay del b 2>"$work/err" || fail "b is no relay"
	grep -q 'no such relay' "$work/err" || fail "$(cat "$work/err")"
	printf '%s\n' '# a group' "${group[@]}" >"$work/group"
	hctl 1 relay del agg
	hctl 1 relay add agg rank 1 to 0 from 2 file "$work/group" || fail "members from a file"
	# programs may look, and not change
	if setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
		! nsx h1 setpriv --reuid 65534 --clear-groups "$BIN/shufflectl" relay del agg \
			2>/dev/null || fail "taken away without privilege"
	fi
}

relay_key()
{
	new_rack 4
	python3 - >"$work/key" <<-'END'
		import struct, sys
		def mix(x):
		    m = (1 << 64) - 1
		    x = (x + 0x9e3779b97f4a7c15) & m
		    x = ((x ^ x >> 30) * 0xbf58476d1ce4e5b9) & m
		    x = ((x ^ x >> 27) * 0x94d049bb133111eb) & m
		    return x ^ x >> 31
		sys.stdout.buffer.write(struct.pack("<QQ", mix(4711), mix(~4711 & (1 << 64) - 1)))
	END
	relay 1 to 0 from 2 3 sorted key "$work/key"
	merge -k "$PFX" - 0r 1 1 || fail "with the key"
	hctl 1 relay del agg
	relay 1 to 0 from 2 3 sorted
	merge -k -i 500 -e 110 "$PFX" - 0r 1 1 || fail "a relay without the key"
}

# A hundred operations at once: all have their turn, and nothing is left of them.
relay_many()
{
	new_rack 4
	relay 1 to 0 from 2 3 bytes 1M records 256
	merge -t -c 100 -n 300 "$PFX" - 0r 1 1 || fail "a hundred operations"
	wait_for 5 relay_done 100
	[ "$(hctl 1 -j op show)" = "[]" ] || fail "operations are left"
}

# Hardly any memory: one operation at a time, and long messages, packets of which end in a record.
relay_small()
{
	new_rack 4
	relay 1 to 0 from 2 3 bytes 64k records 200
	merge -t -n "$(sz 100000 30000)" -K 1000 "$PFX" - 0r 1 1 || fail "long messages in a table"
	hctl 1 relay del agg
	# nothing may go without a grant, or hardly anything
	config_all unscheduled 100
	relay 1 to 0 from 2 3 bytes 64k sorted
	merge -n "$(sz 200000 60000)" "$PFX" - 0r 1 1 || fail "long messages"
	merge -c 5 -n 2000 "$PFX" - 0r 1 1 || fail "several operations"
}

relay_through()
{
	new_rack 5
	netem "$@"
	relay 1 to 0 from 2 3 4 sorted
	merge -n 20000 -c 3 "$PFX" - 0r 1 1 1 || fail "sorted"
	hctl 1 relay del agg
	relay 1 to 0 from 2 3 4 records 1000
	merge -t -n 20000 -c 3 "$PFX" - 0r 1 1 1 || fail "in a table"
}

# A sender that is not there: the root's operation fails, and that of the relay, in their time.
relay_sender_missing()
{
	new_rack 4
	hctl 1 config set idle-timeout 300ms
	relay 1 to 0 from 2 3 sorted
	merge -i 1000 -e 110 "$PFX" - 0r 1 1x || fail "without a sender"
	wait_for 5 relay_failed 1
}

# Relays in use go with their namespaces.
relay_namespace()
{
	new_rack 3
	relay 1 to 0 from 2 sorted
	merge -i 2000 -n 100000 -c 4 "$PFX" - 0r 1 >/dev/null 2>&1 &
	sleep 0.2
	ip netns del "${PFX}h1" || fail "the namespace is not gone"
	wait $!
	rack_down
}

# bcube SERVER edges|routes - BCube(4,1): 16 servers with a NIC for each of 2 levels, 8 switches.
# Host 0 is SERVER, and host SERVER is server 0.  With "routes" a server has one address, on lo, and
# routes to one-hop neighbours; with "edges" each NIC has an address in the network of its switch.
bcube()
{
	local h t s u

	net_begin 16
	server()
	{
		case $1 in
		0) echo "$2" ;;
		"$2") echo 0 ;;
		*) echo "$1" ;;
		esac
	}
	{
		for ((s = 0; s < 4; s++)); do
			echo "link add l0s$s type bridge forward_delay 0 stp_state 0 mcast_snooping 0"
			echo "link add l1s$s type bridge forward_delay 0 stp_state 0 mcast_snooping 0"
			echo "link set l0s$s up"
			echo "link set l1s$s up"
		done
		for ((h = 0; h < 16; h++)); do
			s=$(server "$h" "$1")
			echo "link add b$h type veth peer name eth1 netns ${PFX}h$h"
			echo "link set p$h master l0s$((s / 4)) up"
			echo "link set b$h master l1s$((s % 4)) up"
		done
	} | ip -n "${PFX}br" -batch - || fail "no switches"
	for ((h = 0; h < 16; h++)); do
		s=$(server "$h" "$1")
		{
			echo "link set lo up"
			echo "link set eth0 up"
			echo "link set eth1 up"
			if [ "$2" = edges ]; then
				echo "addr add 10.80.$((s / 4)).$((s % 4 + 1))/24 dev eth0"
				echo "addr add 10.81.$((s % 4)).$((s / 4 + 1))/24 dev eth1"
			else
				echo "addr add 10.80.0.$((h + 1))/32 dev lo"
			fi
			for ((t = 0; t < 16; t++)); do
				[ "$2" = routes ] || break
				u=$(server "$t" "$1")
				if ((t != h && s / 4 == u / 4)); then
					echo "route add 10.80.0.$((t + 1)) dev eth0 src 10.80.0.$((h + 1))"
				elif ((t != h && s % 4 == u % 4)); then
					echo "route add 10.80.0.$((t + 1)) dev eth1 src 10.80.0.$((h + 1))"
				fi
			done
		} | ip -n "${PFX}h$h" -batch - || fail "no links on host $h"
	done
}

relay_words=(sorted)

# plan_install COMMAND WORDS... - the relays of $work/plan, on the hosts of a BCube
plan_install()
{
	"$here/../../../tools/topo/shuffle-plan-install" "$1" "$work/plan" "$work/hosts" \
		"${@:2}" --run "ip netns exec %h env PATH=$BIN:$PATH" -- "${relay_words[@]}"
}

# bcube_hosts SERVER edges|routes - the members of such a group, for shuffle-plan-install
bcube_hosts()
{
	local h s

	for ((h = 0; h < 16; h++)); do
		s=$(server $h "$1")
		if [ "$2" = edges ]; then
			echo "$s 10.80.$((s / 4)).$((s % 4 + 1)):7000,$(
			)10.81.$((s % 4)).$((s / 4 + 1)):7000 ${PFX}h$h"
		else
			echo "$s 10.80.0.$((h + 1)):7000 ${PFX}h$h"
		fi
	done
}

# tree_roles - the groups of $work/plan, and into "parents" what merge_member wants; "inner" are the
# members that merge
tree_roles()
{
	local h above role all

	plan_install members "$work/group" || fail "no groups"
	plan_install roles >"$work/roles" || fail "no roles"
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

tree_of=(--bcube 4,1 --senders 2,5,9,10,11,14 --receivers)

# in_tree RECEIVER COST edges|routes OPTIONS... - the tree of shuffle-plan in a BCube: who has no
# records is a relay; what is sent, of flows of the same keys, is the cost of the plan
in_tree()
{
	local r=$1 cost=$2 n=1000 parents inner sent

	bcube "$r" "$3"
	"$BIN/shuffle-plan" "${tree_of[@]}" "$r" --table "$work/plan" --quiet "${@:4}" ||
		fail "no plan"
	bcube_hosts "$r" "$3" >"$work/hosts"
	tree_roles
	plan_install install || fail "relays are not installed"
	sent=$(counters DataBytesOut)
	merge -g "$work/group" -n $n "$PFX" "${parents[@]}" || fail "tree of $r: $(cat "$work/plan")"
	# what members that merge send to themselves goes by no link
	sent=$(($(counters DataBytesOut) - sent - $(counters RetransBytes) - ${#inner[@]} * n * 16))
	# each hop is two links
	[ $((2 * sent)) = $((cost * n * 16)) ] ||
		fail "tree of $r: $((2 * sent)) bytes on links, not $cost flows"
	plan_install remove || fail "relays are not taken away"
}

# mend WITHOUT EPOCH - the plan is mended, without that
mend()
{
	PATH=$BIN:$PATH "$here/../../../tools/topo/shuffle-plan-mend" "$work/plan" "$work/hosts" \
		--plan "${tree_of[*]} 0" --run "ip netns exec %h env PATH=$BIN:$PATH" \
		-- "${relay_words[@]}" >"$work/mend" 2>&1 || fail "not mended: $(cat "$work/mend")"
	grep -qx "# without $1" "$work/plan" || fail "$(cat "$work/mend" "$work/plan")"
	grep -qx "epoch $2" "$work/mend" || fail "$(cat "$work/mend")"
	tree_roles
	merge -g "$work/group" "$PFX" "${parents[@]}" || fail "epoch $2: $(cat "$work/plan")"
}

relay_runs()
{
	[ "$(relay_json 1 running)" != 0 ]
}

# A relay dies in the middle of an operation, then a NIC: senders start over by another plan.
relay_replan()
{
	local parents inner

	bcube 0 edges
	"$BIN/shuffle-plan" "${tree_of[@]}" 0 --table "$work/plan" --quiet || fail "no plan"
	bcube_hosts 0 edges >"$work/hosts"
	tree_roles
	plan_install install || fail "relays are not installed"
	nsx h1 tc qdisc add dev eth0 root netem rate 10mbit || fail "no slow link"
	merge -g "$work/group" -n 100000 -i 1000 -e 110 "$PFX" "${parents[@]}" &
	# that counted in a shell of its own
	peer_calls=$((peer_calls + 1))
	wait_for 10 relay_runs
	ip -n "${PFX}h1" link set eth0 down
	ip -n "${PFX}h1" link set eth1 down
	wait $! || fail "operations end otherwise when a relay dies"
	mend 1 2
	ip -n "${PFX}h14" link set eth1 down
	mend 1,14/1 3
	"$here/../../../tools/topo/shuffle-plan-mend" "$work/plan" "$work/hosts" --dry-run \
		--run "ip netns exec %h env PATH=$BIN:$PATH" | grep -q 'edges are alive' ||
		fail "dead edges are left"
}

# The golden vectors of a BCube of 16 servers: what the plan says is what goes over the links.
relay_bcube()
{
	in_tree 0 16 routes --method irs --irs inter
	in_tree 0 14 edges --method irs --irs post
	in_tree 3 12 edges --method irs --irs post
	in_tree 8 12 edges --method irs --irs post
}
