#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: echoes of the kernel, and who gets them.
# Sourced by run_all.sh.
#
# shellcheck disable=SC2154 # work, hosts: lib.sh

echo_cases()
{
	run_case echo-answered echo_answered
	run_case echo-netns-exit echo_netns_exit
	# emulated processors have enough to do with these
	[[ $LANE != qemu* ]] || return 0
	run_case echo-for-members-only echo_strangers
	run_case echo-all echo_all
	run_case echo-rate echo_rate
	run_case echo-malformed echo_malformed
	run_case echo-group-with-a-key echo_with_key
	run_case echo-rperf echo_rperf
	run_case echo-truth echo_truth
	run_case echo-dscp echo_dscp
}

# echo_group [HOST...] - sockets on host 0 in a group with others
echo_group()
{
	: >"$work/serve"
	ip netns exec "${PFX}h0" "$BIN/shuffle-rperf" serve "$@" >"$work/serve" &
	serve=$!
	want_ok "host 0 does not serve" wait_for 5 grep -q serving "$work/serve"
}

# echo_from HOST WORDS... - in $answer what echo_ask says
echo_from()
{
	answer=$(nsx "h$1" "$BIN/echo_ask" "${@:2}") || fail "cannot ask: $*"
	diag "$*: $answer"
	[[ $answer = *"bad 0" ]] || fail "answers are not what they should be"
}

# The addresses of host 0 that others ask, and its group of IPv6 that answers.
echo_addresses=(10.77.0.1)
[ "$ipv6" = 0 ] || echo_addresses+=(fd77::1)

echo_group_ipv6()
{
	[ "$ipv6" = 0 ] || echo_group --port 8181 fd77::2
}

# echo_got SENT ANSWERS [BYTES] - SENT may be *: nobody listens, and the kernel says so
echo_got()
{
	local n='[0-9]+' want

	[ "$1" = '*' ] || n=$1
	want="^sent $n [0-9]+ answers $2 ${3-}"
	[[ $answer =~ $want ]] || fail "not $2 answers of $1"
}

# echo_counted NAME NUMBER - of host 0, and from now on no more
echo_counted()
{
	local n

	n=$(counter 0 "$1")
	[ "$n" = "$2" ] || fail "$1 is $n, not $2"
}

# Sizes, short answers, both families, an address of a link.
echo_answered()
{
	local to h n

	new_rack 2
	for ((h = 0; h < 2 * ipv6; h++)); do
		want_ok "no address" ip -n "${PFX}h$h" addr add fe80::$((h + 1))/64 dev eth0 nodad
	done
	echo_group 10.77.0.2
	echo_group_ipv6
	[ "$ipv6" = 0 ] || echo_group --port 8182 fe80::2%eth0
	for to in "${echo_addresses[@]}"; do
		echo_from 1 to="$to" count=50 gap_us=100
		echo_got 50 50 3200
		echo_from 1 to="$to" size=44 count=5
		echo_got 5 5 220
		echo_from 1 to="$to" size=1400 count=5
		echo_got 5 5 7000
		echo_from 1 to="$to" size=1400 what=short count=5
		echo_got 5 5 220
		# so much that it comes in fragments, and has an answer without padding
		echo_from 1 to="$to" size=20000 count=5
		echo_got 5 5 220
		echo_from 1 to="$to" size=1480 count=5
		echo_got 5 5 220
	done
	n=$((75 * ${#echo_addresses[@]}))
	echo_counted EchoIn $n
	echo_counted EchoOut $n
	echo_counted 'EchoRefused|EchoLimited|DropMalformed' 0
	# what a host asks itself
	echo_from 0 to=10.77.0.1 count=5
	echo_got 5 5
	[ "$ipv6" = 0 ] || want_ok "no answer by an address of a link" \
		nsx h1 "$BIN/shuffle-rperf" --quiet --duration 0.5 --timeout 5 fe80::1%eth0
	echo_counted EchoRefused 0
}

echo_strangers()
{
	new_rack 3
	# nobody listens
	echo_from 1 to=10.77.0.1 count=5
	echo_got '*' 0
	echo_group 10.77.0.2
	echo_from 1 to=10.77.0.1 count=10
	echo_got 10 10
	echo_from 2 to=10.77.0.1 count=10
	echo_got 10 0
	echo_counted EchoRefused 10
	# no privileged port
	echo_from 1 to=10.77.0.1 count=10 sport=5000
	echo_got 10 0
	echo_counted DropSource 10
	echo_counted EchoIn 20
	want_ok "echo off" hctl 0 config set echo off
	echo_from 1 to=10.77.0.1 count=10
	echo_got 10 0
	echo_from 0 to=10.77.0.1 count=10
	echo_got 10 0
	want_ok "echo default" hctl 0 config set echo default
	echo_from 1 to=10.77.0.1 count=10
	echo_got 10 10
	# the group has gone, the socket of the kernel has not
	kill $serve
	wait $serve
	echo_from 1 to=10.77.0.1 count=10
	echo_got 10 0
}

# Whoever asks, and without a socket.
echo_all()
{
	new_rack 2
	echo_from 1 to=10.77.0.1 count=5
	echo_got '*' 0
	want_ok "echo all" hctl 0 config set echo all
	echo_from 1 to=10.77.0.1 count=10
	echo_got 10 10
	# another port is opened at once; the old one is closed
	want_ok "port" hctl 0 config set port 819
	echo_from 1 to=10.77.0.1 count=10
	echo_got '*' 0
	want_ok "port 819" nsx h1 "$BIN/shuffle-rperf" --port 819 --duration 0.5 10.77.0.1
	# what somebody else has cannot be opened, and nothing is changed
	nsx h0 "$BIN/echo_ask" to=10.77.0.2 sport=820 count=200 gap_us=100000 >/dev/null &
	want_ok "nobody takes port 820" wait_for 5 port_taken 820
	want_fail "port 820 is not free" hctl 0 config set port 820 idle-timeout 12345
	want_eq "half is set" "$(hctl 0 -j config show | grep -c '"idle_timeout": *12345')" 0
	want_ok "port 819 again" nsx h1 "$BIN/shuffle-rperf" --port 819 --duration 0.5 10.77.0.1
}

port_taken()
{
	# hexadecimal, in the second column
	nsx h0 cat /proc/net/udp | grep -qE "^ *[0-9]+: [0-9A-F]+:0*$(printf %X "$1") "
}

echo_rate()
{
	local n

	new_rack 2
	echo_group 10.77.0.2
	want_ok "echo-rate" hctl 0 config set echo-rate 1
	echo_from 1 to=10.77.0.1 count=500
	n=$(counter 0 EchoOut)
	# 16 at once, and one a second: the machine may be slow, but not as slow as that
	[[ $n -ge 16 && $n -lt 200 ]] || fail "$n answers"
	echo_counted EchoLimited $((500 - n))
	want_ok "echo-rate" hctl 0 config set echo-rate 1000000
	echo_from 1 to=10.77.0.1 count=500 gap_us=50
	want_eq "a high rate is limited" "$(counter 0 EchoOut)" $((n + 500))
	want_fail "echo-rate 0" hctl 0 config set echo-rate 0
	return 0
}

echo_malformed()
{
	local what n=0 out

	new_rack 2
	echo_group 10.77.0.2 && hctl 0 config set echo-rate 1000000
	for what in behind rank port time nonce; do
		echo_from 1 to=10.77.0.1 count=10 what=$what
		echo_got 10 0
	done
	# the byte behind it, too
	echo_counted DropMalformed 60
	# two in a datagram would be two answers
	echo_from 1 to=10.77.0.1 count=10 what=two
	echo_got 10 0
	echo_counted DropMalformed 80
	echo_from 1 to=10.77.0.1 count=10 what=reply
	echo_got 10 0
	echo_counted DropState 10
	echo_counted 'EchoIn|EchoOut' 0
	echo_from 1 to=10.77.0.1 count=1000 what=flips
	# a fifth of them is as it should be; each has been dealt with
	n=$(counter 0 "$DROPS")
	out=$(counter 0 EchoOut)
	want_ge "$out answers" "$out" 100
	want_ge "$n drops and $out answers" $((n + out)) 1080
}

# The tag of a group protects its operations; echoes have none and change nothing.
echo_with_key()
{
	rack 3
	(nsx h1 "$BIN/shuffle-rperf" --quiet --rate 2000 --duration 1 --json "$work/json" \
		10.77.0.1 || true) &
	peer n=3 key=5 matrix=others:100000 ops=4 rounds=4 || shuffle_failed
	echo_counted DropTag 0
	wait
}

echo_rperf()
{
	new_rack 3
	# a flow without a limit would stop virtual time
	rate 50
	echo_group 10.77.0.2 10.77.0.3
	cat >"$work/hosts" <<-END
		10.77.0.1 shf-h0	# asked by all
		10.77.0.2 shf-h1
		10.77.0.3 shf-h2
	END
	"$BIN/shuffle-rperf" --hosts "$work/hosts" --pattern many-to-one --duration 0.3 \
		--rate 500 --json "$work/json" --log "$work/log.hdr" --svg "$work/svg" \
		--percentiles "$work/hgrm" --flow tcp:10.77.0.1,from=shf-h1 \
		--flow shuffle:10.77.0.1,from=shf-h2,size=100000 --timeout 5 || fail "rperf"
	python3 - "$work/json" <<-'END' || fail "$(cat "$work/json")"
		import json, sys
		run = json.load(open(sys.argv[1]))
		assert len(run["instances"]) == 2 and len(run["flows"]) == 2
		for i in run["instances"]:
		    assert i["sent"] == i["answered"] + i["lost"] and i["lost"] == 0, i
		    assert 0 < i["min_ns"] <= i["p50_ns"] <= i["p99.9_ns"] <= i["max_ns"], i
		assert all(f["bytes"] > 0 and "error" not in f for f in run["flows"])
	END
	want_ok "mode loopback" \
		nsx h1 "$BIN/shuffle-rperf" --mode loopback --duration 0.2 --rate 100 10.77.0.1
	nsx h1 "$BIN/shuffle-rperf" watch --duration 0.2 --tick 0.1 10.77.0.1 >"$work/watch" ||
		fail "watch: got status $?, want 0"
	want_grep "watch shows nothing" "$(<"$work/watch")" 'from min to p99.9'
	nsx h1 "$BIN/shufflectl" peer ping 10.77.0.1 count 3 interval 200ms >"$work/ping" ||
		fail "peer ping: got status $?, want 0"
	want_eq "ping" "$(grep -c 'time=' "$work/ping")" 3 "$(cat "$work/ping")"
}

# echo_median TRUTH - in ns, what host 1 measures is within 1 %
echo_median()
{
	want_ok "rperf" \
		nsx h1 "$BIN/shuffle-rperf" --quiet --duration 2 --rate 200 --json "$work/json" 10.77.0.1
	python3 - "$work/json" "$1" <<-'END' || fail "not $1 ns"
		import json, sys
		(i,) = json.load(open(sys.argv[1]))["instances"]
		print(i["p50_ns"], "ns,", i["answered"], "answers")
		assert i["answered"] > 300 and not i["lost"], i
		sys.exit(abs(i["p50_ns"] / float(sys.argv[2]) - 1) > .01)
	END
}

# Where a delay is known, rperf finds it: of questions, and of questions and answers.
echo_truth()
{
	[[ $LANE == *-time ]] || skip "what processors take is a delay, too"
	modprobe -q sch_netem 2>/dev/null
	new_rack 2
	echo_group 10.77.0.2
	tc -n "${PFX}br" qdisc add dev p0 root netem delay 1ms limit 10000 || skip "no netem"
	echo_median 1000000
	want_ok "no netem" tc -n "${PFX}br" qdisc add dev p1 root netem delay 1ms limit 10000
	echo_median 2000000
}

# echo_seen - packets on the wire: questions with DSCP 46, without it, and answers likewise
echo_seen()
{
	local p

	for p in p0 p1; do
		tc -n "${PFX}br" -s -j qdisc show dev $p | python3 -c '
import json, sys
rows = {r["handle"]: r["packets"] for r in json.load(sys.stdin)}
print(rows["10:"], rows["20:"])'
	done | paste -sd ' '
}

# echo_wire WORDS... - of rperf with these words; the difference is in $seen
echo_wire()
{
	local before after i

	read -ra before <<<"$(echo_seen)"
	want_ok "rperf $*" \
		nsx h1 "$BIN/shuffle-rperf" --quiet --duration 0.5 --rate 200 --timeout 5 "$@"
	read -ra after <<<"$(echo_seen)"
	seen=()
	for i in 0 1 2 3; do seen[i]=$((after[i] - before[i])); done
	diag "$*: ${seen[*]}"
}

# The DSCP that rperf is given is that of questions and of answers on the wire.
echo_dscp()
{
	local p to seen port=dport

	modprobe -q sch_prio 2>/dev/null
	modprobe -q cls_u32 2>/dev/null
	new_rack 2
	echo_group 10.77.0.2
	echo_group_ipv6
	for p in p0 p1; do
		tc -n "${PFX}br" -batch - <<-END || skip "no prio or no u32"
			qdisc add dev $p root handle 1: prio bands 3 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
			qdisc add dev $p parent 1:1 handle 10: pfifo limit 1000
			qdisc add dev $p parent 1:2 handle 20: pfifo limit 1000
			filter add dev $p parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:1
			filter add dev $p parent 1: protocol ip prio 2 u32 match ip $port 818 0xffff flowid 1:2
			filter add dev $p parent 1: protocol ipv6 prio 3 u32 match ip6 priority 0xb8 0xfc flowid 1:1
			filter add dev $p parent 1: protocol ipv6 prio 4 u32 match ip6 $port 818 0xffff flowid 1:2
		END
		port=sport
	done
	for to in "${echo_addresses[@]}"; do
		echo_wire --dscp 46 "$to"
		[[ ${seen[0]} -ge 50 && ${seen[*]} = "${seen[0]} 0 ${seen[0]} 0" ]] || fail "$to: marked"
		echo_wire "$to"
		[[ ${seen[1]} -ge 50 && ${seen[*]} = "0 ${seen[1]} 0 ${seen[1]}" ]] || fail "$to: not marked"
	done
}

# A namespace goes while it is asked.
echo_netns_exit()
{
	new_rack 2
	want_ok "echo all" hctl 0 config set echo all
	nsx h1 "$BIN/echo_ask" to=10.77.0.1 count=2000 gap_us=100 >/dev/null &
	want_ok "no answer" wait_for 5 has_counted 0 EchoOut 1
	ip netns del "${PFX}h0"
	sleep 0.1
	kill %% 2>/dev/null
	wait
}
