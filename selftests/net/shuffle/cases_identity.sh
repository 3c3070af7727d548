#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: packets of strangers, and groups with a key.
# Sourced by run_all.sh.
#
# shellcheck disable=SC2154 # work, slow: lib.sh

identity_cases()
{
	run_case "wire-mutate-v4" wire_mutate 0
	run_case "wire-mutate-v6" wire_mutate 1
	run_case "wire-mutate-plausible" wire_rough
	run_case "wire-mutate-key" wire_mutate 0 key
	run_case "wire-mutate-collectives" wire_collectives
	run_case "wire-mutate-collectives-key" wire_collectives key
	run_case "wire-mutate-merge" wire_merge
	run_case "wire-mutate-merge-key" wire_merge key
	run_case "wire-flood" wire_flood
	run_case "process-without-privilege" unprivileged_flood
	run_case "socket-on-another-host" socket_elsewhere
	run_case "container-behind-nat-v4" behind_nat 0
	run_case "container-behind-nat-v6" behind_nat 1
	run_case "answers-only-known-nonces" no_reflection
	run_case "packets-of-a-former-operation" former_operation
	run_case "privileges-v4" tap_program api_privileges
	run_case "privileges-v6" tap_program api_privileges -v 6
	run_case "users-v4" users 4
	run_case "users-v6" users 6
	run_case "group-key-v4" group_key 0
	run_case "group-key-v6" group_key 1
	run_case "group-key-differs" other_key 8
	run_case "group-key-missing" other_key 0
	run_case "group-key-files-v4" tap_program api_key_file
	run_case "group-key-files-v6" tap_program api_key_file -v 6
	run_case "api-sandbox" tap_program api_sandbox
	run_case "group-key-of-programs" key_of_programs
}

# Host 0's packets are received by one CPU, so that none overtakes another (wire_mutate.c).
receive_in_order()
{
	local cpus=/sys/class/net/eth0/queues/rx-0/rps_cpus

	want_ok "host 0 does not receive in order" nsx h0 sh -c "[ ! -e $cpus ] || echo 1 >$cpus"
}

DROPS='Drop(Malformed|Version|Source|Tag|NoSocket|NoOp|Member|Nonce|NotGranted|State|Islands)'

# mutate_begin [key] - every field of every record that goes to host 0 is changed from now on.
mutate_begin()
{
	mutate_before=$(counter 0 "$DROPS")
	receive_in_order
	nsx br "$BIN/wire_mutate" at="${PFX}h0" dev=p0 ms=120000 until="$work/over" \
		${1:+key=1} >"$work/mutate" &
	mutate_pid=$!
	sleep 0.3
}

# mutate_end PART - and no more: of the packets that no receiver may accept at least one in PART is
# counted.  Those that come when their operation is over are filtered uncounted.  Sets "must".
mutate_end()
{
	local drops

	: >"$work/over"
	want_ok "wire_mutate sent nothing" wait "$mutate_pid"
	drops=$(($(counter 0 "$DROPS") - mutate_before))
	must=$(sed 's/.*"must_drop": \([0-9]*\).*/\1/' "$work/mutate")
	diag "drops counted: $drops; $(cat "$work/mutate")"
	want_ge "$must bad packets, $drops drops" "$drops" $((must / $1))
}

# wire_mutate V6 [key] - loss on host 0's way out makes the others ask it again; with a group key
# every such packet must be refused.
wire_mutate()
{
	local must

	rack 3
	rate 20
	tc -n shf-h0 qdisc add dev eth0 parent 1:1 netem loss 10% || skip "no netem"
	mutate_begin "${@:2}"
	peer n=3 v6="$1" matrix=others:150000 ops=2 rounds=6 ${2:+key=5} || shuffle_failed
	mutate_end 2
	nsx h0 cat /proc/net/shuffle/netstat
	want_no_grep "a type of record was not seen" \
		"$(<"$work/mutate")" -E '"(data|grant|ack|resend)": \{"seen": 0'
	return 0
}

# wire_collectives [key] - the same beside collectives, in the kernel and in user space: each is right.
# Without a key each host has one member: those of a host could pass for one another.
wire_collectives()
{
	local must members=3

	[ $# = 0 ] || members=6

	rack 3
	tc -n shf-h0 qdisc add dev eth0 root netem loss 10% || skip "no netem"
	mutate_begin "$@"
	"$BIN/coll_soak" prefix="$PFX" hosts=3 least=3 members=$members most=60000 ops=120 \
		timeout=$(($(tmo 30) * 1000)) ${1:+key=7} || shuffle_failed "collectives"
	mutate_end 4
	want_ge "only $must bad packets" "$must" 50
}

# wire_merge [key] - the same beside records that are merged on their way: each sum is right.
wire_merge()
{
	local must i

	if [ $# != 0 ]; then
		umask 077
		head -c 16 /dev/urandom >"$work/key"
		export SHUFFLE_KEY_FILE=$work/key
	fi
	new_rack 4
	tc -n shf-h0 qdisc add dev eth0 root netem loss 10% || skip "no netem"
	mutate_begin "$@"
	for ((i = 0; i < 4; i++)); do
		want_ok "a wrong sum, or none" tree -c 20 -n 3000 "$PFX" - 0 1 1
	done
	mutate_end 4
}

# Forgeries with the right nonce: operations may fail, but end.
wire_rough()
{
	rack 3
	rate 20
	background nsx br "$BIN/wire_mutate" at="${PFX}h0" dev=p0 ms=$((3000 + 3000 * slow)) rough=1
	sleep 0.3
	peer n=3 matrix=others:150000 ops=2 deadline=$((2000 + 1000 * slow)) expect=any \
		>"$work/peer.log"
	cat "$work/peer.log"
	want_no_grep "an operation does not end" "$(<"$work/peer.log")" 'ran out of time'
	sleep 1
	peer n=3 op=100 matrix=others:20000 deadline=$((3000 * slow)) expect=any >"$work/peer.log"
	want_no_grep "a later operation does not end" "$(<"$work/peer.log")" 'ran out of time'
	return 0
}

# flood_in_parts HOST - where the CPU takes no time, a flood would be over before a shuffle begins.
flood_in_parts()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		nsx "$1" "$BIN/wire_mutate" flood=10.77.0.1 count=$((2000 / slow))
		sleep 0.1
	done
}

# Noise from a stranger (host 3) and from a member (host 2), whose made-up
# operations fill the early store and no more.
wire_flood()
{
	new_rack 4
	rate 20
	# host 0 has the port open from then on
	peer n=3 hosts=3 matrix=others:1000 || shuffle_failed
	background flood_in_parts h3
	background flood_in_parts h2
	peer n=3 hosts=3 matrix="skew:$(sz 65536 16384)" rounds=5 || shuffle_failed
	diag "$(nsx h0 cat /proc/net/shuffle/netstat)"
	want_gt "no drops counted" "$(counter 0 "$DROPS")" 0
}

# A process without privilege on a member's own host sends from the member's address,
# but from a port that anybody may use: nothing behind that check sees its packets.
unprivileged_flood()
{
	local sent pid

	new_rack 3
	nsx h2 setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		"$BIN/wire_mutate" flood=10.77.0.1 count=10 && fail "nobody holds port 800"
	# host 0 has the port open from then on
	peer n=3 matrix=others:1000 || shuffle_failed
	nsx h2 setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		"$BIN/wire_mutate" flood=10.77.0.1 count=$((3000 / slow)) sport=0 >"$work/sent" &
	pid=$!
	peer n=3 matrix="skew:$(sz 65536 16384)" rounds=3 || shuffle_failed
	want_ok "nothing was sent" wait "$pid"
	sent=$(sed 's/.*"sent": \([0-9]*\).*/\1/' "$work/sent")
	diag "$(cat "$work/sent"), $(counter 0 DropSource) of them counted as DropSource"
	want_ok "packets of anybody came further, or not so far" \
		wait_for 5 has_counted 0 'DropSource|DropUdp' "$sent"
}

# A process without privilege on a host that is no member calls itself rank 1: it has a socket, whose
# packets the kernel sends from a port that counts.
socket_elsewhere()
{
	local stranger

	new_rack 3
	# not by nsx: this process is to be killed
	ip netns exec "${PFX}h2" setpriv --reuid 65534 --clear-groups --inh-caps=-all \
		--bounding-set=-all "$BIN/hello" 1 10.77.0.1:7000 10.77.0.3:7000 >"$work/hello" 2>&1 &
	stranger=$!
	# host 0 has the port open from then on
	peer n=2 hosts=2 matrix=others:1000 || shuffle_failed
	peer n=2 hosts=2 matrix="skew:$(sz 65536 16384)" rounds=3 linger=$((1000 * slow)) ||
		shuffle_failed
	want_ok "the stranger is gone" kill -0 "$stranger"
	kill "$stranger"
	want_gt "nothing of a stranger has come" "$(counter 0 DropMember)" 0
	want_eq "the stranger was told something" "$(<"$work/hello")" ""
}

# The same members, ports and operation id as before, and nobody remembers the operation that
# has ended; what host 1 had sent for it comes in the middle of the new one.
former_operation()
{
	local dump pid sent

	command -v tcpdump >/dev/null || skip "no tcpdump"
	new_rack 2
	config_all finished-max 0
	# not by nsx: this process is to be killed
	ip netns exec "${PFX}h1" tcpdump --immediate-mode -U -w "$work/former" -i eth0 \
		'udp port 818 and src 10.77.0.2' 2>"$work/dump.err" &
	dump=$!
	wait_for 5 grep -q listening "$work/dump.err" || skip "tcpdump does not start"
	peer n=2 op=77 matrix=others:1000 || shuffle_failed
	want_ok "nothing captured" wait_for 5 larger_than 1000 "$work/former"
	kill "$dump"
	wait "$dump"
	# slow, until all have been sent again
	rate 1
	peer n=2 op=77 seed=2 matrix=others:$((slow > 4 ? 6000000 : 2000000)) &
	pid=$!
	want_ok "the new operation does not begin" wait_for 20 has_counted 0 DataIn 20
	sent=$(nsx h1 python3 "$here/replay.py" "$work/former" eth0 50 2)
	want_grep "the new operation has ended too soon" "$(hctl 0 -j op 77)" '"state":"running"'
	rate 100
	wait "$pid" || shuffle_failed
	diag "$sent packets sent again, $(counter 0 DropNonce) counted as DropNonce"
	want_ge "packets of the former operation are not refused" "$(counter 0 DropNonce)" 25
}

larger_than()
{
	[ "$(stat -c %s "$2")" -gt "$1" ]
}

# A container on a member's host, where every process may use every port; NAT gives its
# packets the member's address and leaves them their port.
behind_nat()
{
	local to=10.77.0.1 sent

	need_ipv6
	command -v nft >/dev/null || skip "no nft"
	modprobe -aq nf_tables nft_chain_nat nft_masq 2>/dev/null
	new_rack 3
	ip netns add shf-ct
	want_ok "no veth" ip -n shf-ct link add eth0 type veth peer name ct netns shf-h2
	ip -n shf-ct -batch - <<-END || fail "no addresses in the container"
		link set lo up
		link set eth0 up
		addr add 10.99.0.2/24 dev eth0
		addr add fd99::2/64 dev eth0 nodad
		route add default via 10.99.0.1
	END
	ip -n shf-h2 -batch - <<-END || fail "no addresses for the container"
		link set ct up
		addr add 10.99.0.1/24 dev ct
		addr add fd99::1/64 dev ct nodad
	END
	want_ok "no route" ip -6 -n shf-ct route add default via fd99::1
	nsx h2 sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	nsx ct sysctl -qw net.ipv4.ip_unprivileged_port_start=0
	nsx h2 nft -f - <<-'END' || skip "no NAT in this kernel"
		table inet t {
			chain post {
				type nat hook postrouting priority srcnat
				oifname "eth0" masquerade
			}
		}
	END
	[ "$1" = 0 ] || to=fd77::1
	nsx ct ping -c 1 -W 5 "$to" >/dev/null ||
		fail "the container does not reach host 0: got status $?, want 0"
	# while host 2 has no socket the packets arrive, from a host that is no member
	peer n=2 v6="$1" matrix=others:1000 || shuffle_failed
	want_ok "nothing was sent" nsx ct "$BIN/wire_mutate" flood=$to count=50
	want_ok "the container's packets do not arrive" wait_for 5 has_counted 0 "$DROPS" 20
	peer n=3 v6="$1" matrix=others:1000 || shuffle_failed
	sent=$(counter 0 "$DROPS")
	nsx ct setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \
		"$BIN/wire_mutate" flood=$to count=500 || fail "nothing was sent"
	want_ok "forged packets are forwarded" wait_for 5 has_counted 2 DropForwarded 400
	want_eq "forged packets have arrived" "$(counter 0 "$DROPS")" "$sent"
	# members behind this host as their router are not touched
	want_eq "host 0 forwards nothing" "$(counter 0 DropForwarded)" 0
}

# A finished operation answers the nonces of its members, and one packet for a datagram
# at most.
no_reflection()
{
	local before

	rack 3
	peer n=3 op=77 matrix=others:3000 || shuffle_failed
	sleep 0.5
	before=$(counter 0 AckOut)
	want_ok "nothing was sent" nsx h2 "$BIN/wire_mutate" flood=10.77.0.1 count=1000 op=77
	want_ok "the records have not arrived" wait_for 5 has_counted 0 "$DROPS" 500
	[ "$(counter 0 AckOut)" = "$before" ] ||
		fail "$(($(counter 0 AckOut) - before)) answers to a stranger"
}

# users FAMILY - what one user can take from another.
users()
{
	API_CONFIG='early-bytes 65536' tap_program api_users -v "$1"
}

group_key()
{
	rack 8
	peer n=8 v6="$1" key=7 matrix="skew:$(sz 65536 16384)" ops=2 rounds=2 || shuffle_failed
	want_eq "a member's record was refused" "$(counters 'DropTag|DropMalformed')" 0
}

# other_key KEY - host 2 has another key than the others, or 0 for none: it hears nobody, and
# nobody hears it.
other_key()
{
	rack 3
	# all sockets are there first: a host that cannot be heard is not asked to begin
	patiently $((1500 * slow)) n=3 delay=$((250 * slow)) key=7 2:key="$1" matrix=others:5000 \
		expect=ETIMEDOUT missing=2 2:missing=0,1 || shuffle_failed
	want_gt "host 0 refuses no tag" "$(counter 0 DropTag)" 0
	want_gt "host 2 refuses no tag" "$(counter 2 DropTag)" 0
}

# copy_with KEY1 - two hosts copy; host 0 has the key "key", host 1 has KEY1, or "" for none.
copy_with()
{
	local h key=key pid=() rc=0

	rm -rf "$state/copy/to" "$work"/err.*
	for h in 0 1; do
		mkdir -p "$state/copy/to/$h"
		ip netns exec "${PFX}h$h" env ${key:+SHUFFLE_KEY_FILE="$work/$key"} \
			"$BIN/shuffle-cp" -g 10.77.0.1:7000,10.77.0.2:7000 -r "$h" -t "$copy_ms" \
			-o "$copy_op" -s "$state/copy/from" -d "$state/copy/to/$h" >"$work/err.$h" 2>&1 &
		pid[h]=$!
		key=$1
	done
	copy_op=$((copy_op + 1))
	for h in 0 1; do
		wait "${pid[h]}" || rc=1
	done
	diag "$(head -v "$work"/err.*)"
	return $rc
}

# A program knows nothing of keys: libshuffle takes that of SHUFFLE_KEY_FILE.
key_of_programs()
{
	local copy_op=$((tap_count * 1000)) copy_ms=$(($(tmo 20) * 1000)) before

	rack 2
	umask 077
	head -c 16 /dev/urandom >"$work/key"
	od -An -v -tx1 "$work/key" | tr -d ' ' >"$work/hex"
	echo 0123456789abcdef0123456789abcdef >"$work/other"
	echo 0123456789abcdef0123456789abcdef >"$work/open"
	chmod 644 "$work/open"
	mkdir -p "$state/copy/from"
	echo hello >"$state/copy/from/0"
	echo hello >"$state/copy/from/1"
	before=$(counters DropTag)
	want_ok "one key in two files" copy_with hex
	want_eq "no file has arrived" "$(cat "$state"/copy/to/*/* | grep -c hello)" 4
	want_eq "a tag was refused" "$(counters DropTag)" "$before"
	copy_ms=$((3000 * slow))
	copy_with other && fail "with different keys: got status 0, want another"
	want_eq "a file with a wrong key has arrived" "$(find "$state/copy/to" -name "[01]" -type f | wc -l)" 2
	# whoever is there first sends to a host without a socket, and is asked by the other
	want_gt "no tag was refused" "$(counters DropTag)" "$before"
	copy_with "" && fail "one without a key: got status 0, want another"
	want_eq "a file without a key has arrived" "$(find "$state/copy/to" -name "[01]" -type f | wc -l)" 2
	copy_with open && fail "with a key that others may read: got status 0, want another"
	want_grep "not said why" "$(<"$work/err.1")" 'SHUFFLE_KEY_FILE=.*others may read'
	rm -r "$state/copy"
}
