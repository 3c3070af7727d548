# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # variables of lib.sh
#
# Relays: members of groups that have no process, in racks; to be sourced by run_all.sh.

relay_cases()
{
	run_case relay-in-a-rack relay_rack
	run_case relay-to-several relay_several
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
	want_ok "no relay on host $h" \
		hctl "$h" relay add agg rank "$h" "$@" members $(members_of "$hosts")
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
	want_ok "sorted" merge "$PFX" - 0r 1r 1 2 2
	want_ok "many records" merge -n "$(sz 30000 3000)" -K 5000 -c 3 "$PFX" - 0r 1r 1 2 2
	want_ok "no records" merge -n 0 "$PFX" - 0r 1r 1 2 2
	wait_for 5 relay_done 5
	want_eq "relay_json 1 failed" "$(relay_json 1 failed)" 0
	want_eq "relay_json 1 from" "$(relay_json 1 from)" "[2, 3]"
	want_grep "hctl 1 relay show agg" "$(hctl 1 relay show agg)" '^relay agg'
	want_ok "not taken away" hctl 1 relay del agg
	want_ok "not taken away on host 2" hctl 2 relay del agg
	want_eq "there still" "$(hctl 1 -j relay show)" "[]"
	# where processors are emulated one will do
	[[ $LANE != qemu* ]] || opers=(none)
	for ((i = 0; i < ${#opers[@]}; i++)); do
		relay 1 to 0 from 2 3 4 5 oper "${opers[i]}" records 500
		want_ok "${opers[i]}" merge -t -n 3000 -K 1000 -O $i "$PFX" - 0r 1 1 1 1
		hctl 1 relay del agg
	done
}

# An all-reduce: what the relays of two racks merge is merged by another one, and goes to all hosts.
relay_several()
{
	new_rack 8
	relay 1 to 0 4 5 6 7 from 2 3 sorted
	relay 2 to 1 from 4 5 sorted
	relay 3 to 1 from 6 7 sorted
	want_ok "sorted" merge -A 1 "$PFX" - 0r 1r 1r 2 2 3 3
	want_ok "many records" \
		merge -A 1 -n "$(sz 50000 3000)" -K 20000 -c 3 "$PFX" - 0r 1r 1r 2 2 3 3
	want_ok "no records" merge -A 1 -n 0 "$PFX" - 0r 1r 1r 2 2 3 3
	wait_for 5 relay_done 5
	want_eq "relay_json 1 failed" "$(relay_json 1 failed)" 0
	want_eq "relay_json 1 to" "$(relay_json 1 to)" "[0, 4, 5, 6, 7]"
	want_eq "relay_json 2 to" "$(relay_json 2 to)" "[1]"
	# emulated processors have enough to do with that
	[[ $LANE != qemu* ]] || return 0
	hctl 1 relay del agg
	relay 1 to 0 4 5 6 7 from 2 3 records 700
	netem loss 2% duplicate 2%
	want_ok "a table, and loss" merge -A 1 -n 5000 -K 3000 -c 2 "$PFX" - 0r 1r 1r 2 2 3 3
	# one that takes no part holds up the others no longer than the idle timeout
	want_ok "a host that is not there" merge -A 1 -i 500 -e 110 "$PFX" - 0r 1r 1r 2 2 3 3x
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
		want_grep "$*" "$(<"$work/err")" "$text"
	}
	no 'name, rank and to' a from 2 members "${group[@]}"
	no 'is not ADDRESS:PORT' a rank 1 to 0 from 2 members 10.77.0.1
	no 'means nothing here' a rank 1 sideways to 0 from 2
	no 'none, or more than 256' a rank 1 to 0 members "${group[@]}"
	no 'no such rank, our own' a rank 1 to 0 from 1 members "${group[@]}"
	no 'no such rank, our own' a rank 1 to 0 from 2 2 members "${group[@]}"
	no 'to: no such rank, our own' a rank 1 to 1 from 2 members "${group[@]}"
	no 'to: no such rank, our own' a rank 1 to 0 2 2 from 2 members "${group[@]}"
	no 'there is no such member' a rank 3 to 1 from 2 members "${group[@]}"
	no 'cannot be bound to' a rank 2 to 1 from 0 members "${group[@]}"
	no 'can be no group' a rank 1 to 0 from 2 members "${group[@]}" "${group[0]}"
	no 'need no table' a rank 1 to 0 from 2 sorted records 5 members "${group[@]}"
	no 'oper: "more"' a rank 1 to 0 from 2 oper more members "${group[@]}"
	relay 1 to 0 from 2
	no 'there is a relay of this name' agg rank 1 to 0 from 2 members "${group[@]}"
	no 'cannot be bound to' b rank 1 to 0 from 2 members "${group[@]}"
	want_fail "b is no relay" hctl 1 relay del b 2>"$work/err"
	want_grep "err" "$(<"$work/err")" 'no such relay'
	printf '%s\n' '# a group' "${group[@]}" >"$work/group"
	hctl 1 relay del agg
	want_ok "members from a file" hctl 1 relay add agg rank 1 to 0 from 2 file "$work/group"
	# programs may look, and not change
	if setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
		! nsx h1 setpriv --reuid 65534 --clear-groups "$BIN/shufflectl" relay del agg \
			2>/dev/null || fail "taken away without privilege"
	fi
}

relay_key()
{
	new_rack 4
	umask 077
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
	want_ok "with the key" merge -k "$PFX" - 0r 1 1
	hctl 1 relay del agg
	SHUFFLE_KEY_FILE=$work/key relay 1 to 0 from 2 3 sorted
	want_ok "with the key, from the environment" merge -k -i 100 "$PFX" - 0r 1 1
	hctl 1 relay del agg
	relay 1 to 0 from 2 3 sorted
	want_ok "a relay without the key" merge -k -i 500 -e 110 "$PFX" - 0r 1 1
}

# A hundred operations at once: all have their turn, and nothing is left of them.
relay_many()
{
	new_rack 4
	relay 1 to 0 from 2 3 bytes 1M records 256
	want_ok "a hundred operations" merge -t -c 100 -n 300 "$PFX" - 0r 1 1
	wait_for 5 relay_done 100
	want_eq "operations are left" "$(hctl 1 -j op show)" "[]"
}

# Hardly any memory: one operation at a time, and long messages, packets of which end in a record.
relay_small()
{
	new_rack 4
	relay 1 to 0 from 2 3 bytes 64k records 200
	want_ok "long messages in a table" merge -t -n "$(sz 100000 30000)" -K 1000 "$PFX" - 0r 1 1
	hctl 1 relay del agg
	# nothing may go without a grant, or hardly anything
	config_all unscheduled 100
	relay 1 to 0 from 2 3 bytes 64k sorted
	want_ok "long messages" merge -n "$(sz 200000 60000)" "$PFX" - 0r 1 1
	want_ok "several operations" merge -c 5 -n 2000 "$PFX" - 0r 1 1
}

relay_through()
{
	new_rack 5
	netem "$@"
	relay 1 to 0 from 2 3 4 sorted
	want_ok "sorted" merge -n 20000 -c 3 "$PFX" - 0r 1 1 1
	hctl 1 relay del agg
	relay 1 to 0 from 2 3 4 records 1000
	want_ok "in a table" merge -t -n 20000 -c 3 "$PFX" - 0r 1 1 1
}

# A sender that is not there: the root's operation fails, and that of the relay, in their time.
relay_sender_missing()
{
	new_rack 4
	hctl 1 config set idle-timeout 300ms
	relay 1 to 0 from 2 3 sorted
	want_ok "without a sender" merge -i 1000 -e 110 "$PFX" - 0r 1 1x
	wait_for 5 relay_failed 1
}

# Relays in use go with their namespaces.
relay_namespace()
{
	new_rack 3
	relay 1 to 0 from 2 sorted
	merge -i 2000 -n 100000 -c 4 "$PFX" - 0r 1 >/dev/null 2>&1 &
	sleep 0.2
	want_ok "the namespace is not gone" ip netns del "${PFX}h1"
	wait $!
	rack_down
}
