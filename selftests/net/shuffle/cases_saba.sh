#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: shuffle-sabad shares the ports of a rack's switch, shuffle-saba takes profiles.
# Sourced by run_all.sh.
#
# shellcheck disable=SC2154 # work: lib.sh

saba_cases()
{
	run_case "saba-shares" saba_shares
	run_case "saba-nothing-lost" saba_nothing_lost
	run_case "saba-restart" saba_restart
	run_case "saba-somebody-else" saba_somebody_else
	run_case "saba-device-gone" saba_device_gone
	run_case "saba-who-may" saba_who_may
	run_case "saba-profile" saba_profile
}

saba()
{
	"$BIN/shuffle-saba" "$@"
}

# saba_daemon - on the switch, in the background.
saba_daemon()
{
	ip netns exec "${PFX}br" "$BIN/shuffle-sabad" --config "$work/saba.conf" \
		--socket "$SHUFFLE_SABA_SOCKET" 2>>"$work/daemon" &
	daemon=$!
	wait_for 5 saba_answers || { cat "$work/daemon"; fail "the daemon does not start"; }
}

saba_answers()
{
	saba show >/dev/null 2>&1
}

# saba_rack HOSTS [GRACE_MS] - a rack whose switch ports are 10 Mbit/s, two profiles.
saba_rack()
{
	local h b

	modprobe -q sch_ets 2>/dev/null
	modprobe -q sch_tbf 2>/dev/null
	modprobe -q cls_u32 2>/dev/null
	rack "$1"
	tc -n "${PFX}br" qdisc add dev p0 root ets bands 2 2>/dev/null || skip "no ets"
	tc -n "${PFX}br" qdisc del dev p0 root
	for h in LR TS; do
		echo "app $h"
		for b in 100 90 75 50 25 10 5; do
			# slowdown 1 - f + f / b
			awk -v b=$b -v f="$([ $h = LR ] && echo .8 || echo .033)" \
				'BEGIN { printf "sample %d %.6f\n", b, 1 - f + 100 * f / b }'
		done
	done >"$work/table"
	{
		echo "table $work/table"
		echo "grace ${2-10000}"
		for ((h = 0; h < $1; h++)); do
			echo "port p$h rate 10mbit queues 4 limit 1000000 to 10.77.0.$((h + 1)) to fd77::$((h + 1))"
		done
	} >"$work/saba.conf"
	export SHUFFLE_SABA_SOCKET=$work/saba.sock
	saba_daemon
}

# saba_send HOST APP TO SECONDS [ARGS...] - an unmodified program as an application.
saba_send()
{
	ip netns exec "${PFX}h$1" "$BIN/shuffle-saba" run --app "$2" --to "10.77.0.$(($3 + 1))" -- \
		iperf3 -c "10.77.0.$(($3 + 1))" -p "$((5201 + $1))" -t "$4" "${@:5}" >"$work/iperf-$1" 2>&1 &
}

# saba_receive HOST SENDERS...
saba_receive()
{
	local s

	for s in "${@:2}"; do
		ip netns exec "${PFX}h$1" iperf3 -s -p "$((5201 + s))" >/dev/null 2>&1 &
	done
	for s in "${@:2}"; do
		wait_for 5 saba_listens "$1" "$((5201 + s))" || fail "iperf3 does not listen"
	done
}

saba_listens()
{
	nsx "h$1" ss -Htln "sport = :$2" | grep -q .
}

# saba_sent PORT - bytes that have left each queue, in the order of the bands.
saba_sent()
{
	tc -n "${PFX}br" -s -j qdisc show dev "$1" | python3 -c '
import json, sys
q = {x["parent"]: x["bytes"] for x in json.load(sys.stdin) if x["kind"] == "bfifo"}
print(*(q[k] for k in sorted(q, key=lambda k: int(k.split(":")[1], 16))))'
}

# saba_weight PORT APP - queue and weight of an application there.
saba_weight()
{
	saba --json show | python3 -c '
import json, sys
port = level = None
for r in json.load(sys.stdin):
    if r.get("app") == sys.argv[2]:
        level = r["level"]
    if r.get("port") == sys.argv[1]:
        port = r
if level is None or "level_%d_queue" % level not in port:
    sys.exit(1)
print(port["level_%d_queue" % level], port["level_%d_weight" % level])' "$1" "$2"
}

saba_state()
{
	saba --json show | python3 -c '
import json, sys
print(next(r["state"] for r in json.load(sys.stdin) if r.get("port") == sys.argv[1]))' "$1"
}

saba_is()
{
	[ "$(saba_state "$1")" = "$2" ]
}

saba_has()
{
	saba_weight "$1" "$2" >/dev/null
}

saba_waits()
{
	tc -n "${PFX}br" -s -j qdisc show dev "$1" | python3 -c '
import json, sys
band = "5362:%x" % (int(sys.argv[1]) + 3)
sys.exit(not any(q.get("parent") == band and q["backlog"] > 3000 for q in json.load(sys.stdin)))' "$2"
}

# saba_measure PORT SECONDS - measured shares of LR and TS are their weights', within 3 % of
# the link.
saba_measure()
{
	local lr ts wl wt before after

	read -r lr wl <<<"$(saba_weight "$1" LR)"
	read -r ts wt <<<"$(saba_weight "$1" TS)"
	[ -n "$wl$wt" ] || fail "LR or TS is not there"
	wait_for 20 saba_waits "$1" "$lr" || fail "nothing of LR waits"
	wait_for 20 saba_waits "$1" "$ts" || fail "nothing of TS waits"
	read -ra before <<<"$(saba_sent "$1")"
	sleep "$2"
	read -ra after <<<"$(saba_sent "$1")"
	awk -v a=$((after[lr + 2] - before[lr + 2])) -v b=$((after[ts + 2] - before[ts + 2])) \
		-v wa="$wl" -v wb="$wt" 'BEGIN {
		share = a / (a + b); want = wa / (wa + wb)
		printf "LR has %.4f of the bytes, %.4f of the weights\n", share, want
		exit !(a + b > 100000 && share > want - .03 && share < want + .03) }' ||
		fail "shares are not weights"
}

saba_shares()
{
	local ts after before

	saba_rack 3
	saba_receive 2 0 1
	saba_send 0 LR 2 100
	saba_send 1 TS 2 100
	wait_for 10 saba_has p2 TS || fail "TS is not registered"
	wait_for 10 saba_has p2 LR || fail "LR is not registered"
	saba show
	saba_measure p2 6
	# live
	saba set TS 70 || fail "a weight cannot be set"
	wait_for 5 saba_weighs p2 TS 70 || fail "the weight is not set"
	saba_measure p2 6
	saba set TS auto || fail "a weight cannot be given back"
	# only ports on the way are theirs
	! saba_has p0 TS || fail "TS is at a port that it does not use"
	# a light queue lends what it does not use
	saba set LR 90
	saba set TS 10
	wait_for 5 saba_weighs p2 TS 10 || fail "the weight is not set"
	pkill -INT -f "iperf3 -c 10.77.0.3 -p 5201" || fail "no sender"
	read -r ts _ <<<"$(saba_weight p2 TS)"
	sleep 1
	read -ra before <<<"$(saba_sent p2)"
	sleep 4
	read -ra after <<<"$(saba_sent p2)"
	[ $((after[ts + 2] - before[ts + 2])) -gt 3500000 ] ||
		fail "$((after[ts + 2] - before[ts + 2])) bytes in 4 s at 10 Mbit/s"
	saba stop || fail "it does not stop"
	! tc -n "${PFX}br" qdisc show | grep -E 'ets|tbf|bfifo' || fail "something is left"
	[ ! -e "$SHUFFLE_SABA_SOCKET" ] || fail "the socket is left"
}

saba_weighs()
{
	[ "$(saba_weight "$1" "$2" | cut -d' ' -f2)" = "$3" ]
}

saba_nothing_lost()
{
	local i

	saba_rack 2
	saba_receive 1 0
	saba_send 0 LR 1 12 -u -b 2M -l 1000 --json
	wait_for 10 saba_has p1 LR || fail "LR is not registered"
	for ((i = 0; i < 40; i++)); do
		saba set LR $((10 + i)) || fail "a weight cannot be set"
		# another application comes and goes: levels and filters change
		saba run --app TS --to 10.77.0.2 -- true || fail "TS does not run"
	done
	wait_for 30 grep -q sum_received "$work/iperf-0" || { cat "$work/iperf-0"; fail "no result"; }
	python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))["end"]["sum"]
print(r["packets"], "packets,", r["lost_packets"], "lost")
sys.exit(not (r["packets"] > 1000 and r["lost_packets"] == 0))' "$work/iperf-0" || fail "packets were lost"
}

saba_restart()
{
	local before

	saba_rack 3
	saba_receive 2 0 1
	saba_send 0 LR 2 100
	saba_send 1 TS 2 100
	wait_for 10 saba_has p2 TS || fail "TS is not registered"
	wait_for 10 saba_has p2 LR || fail "LR is not registered"
	saba_measure p2 3
	before=$(tc -n "${PFX}br" class show dev p2 | sort)
	kill -9 "$daemon"
	wait "$daemon" 2>/dev/null
	[ "$(tc -n "${PFX}br" class show dev p2 | sort)" = "$before" ] || fail "death has changed weights"
	saba_daemon
	grep -q 'port p2: queues taken over' "$work/daemon" || fail "the queues were not taken over"
	[ "$(tc -n "${PFX}br" class show dev p2 | sort)" = "$before" ] || fail "a start has changed weights"
	wait_for 10 saba_has p2 TS || fail "TS has not come back"
	wait_for 10 saba_has p2 LR || fail "LR has not come back"
	wait_for 20 saba_programs p2 || fail "the port is not programmed again"
	saba show
	saba_measure p2 3
}

saba_programs()
{
	saba --json show | python3 -c '
import json, sys
sys.exit(not any(r.get("port") == sys.argv[1] and r["programmed"] for r in json.load(sys.stdin)))' "$1"
}

saba_somebody_else()
{
	saba_rack 2
	tc -n "${PFX}br" qdisc replace dev p0 root handle 77: pfifo limit 50 || fail "no pfifo"
	wait_for 5 saba_is p0 foreign || { saba show; fail "it was not noticed"; }
	sleep 3
	tc -n "${PFX}br" qdisc show dev p0 | grep -q 'pfifo 77: root' || fail "it was fought"
	saba_is p1 ours || fail "the other port is $(saba_state p1)"
	saba reload
	tc -n "${PFX}br" qdisc show dev p0 | grep -q 'pfifo 77: root' || fail "reload has replaced it"
	# what somebody has changed
	tc -n "${PFX}br" class change dev p1 classid 5362:3 ets quantum 9000 || fail "no change"
	wait_for 5 saba_is p1 foreign || fail "the change was not noticed"
	tc -n "${PFX}br" qdisc del dev p0 root
	saba reload || fail "no reload"
	saba_is p0 ours || fail "p0 is $(saba_state p0)"
	tc -n "${PFX}br" qdisc add dev p1 clsact 2>/dev/null
	# a stop leaves alone what is not its own
	tc -n "${PFX}br" qdisc replace dev p0 root handle 78: pfifo || fail "no pfifo"
	wait_for 5 saba_is p0 foreign || fail "it was not noticed again"
	saba stop || fail "it does not stop"
	tc -n "${PFX}br" qdisc show dev p0 | grep -q 'pfifo 78: root' || fail "stop has removed it"
}

saba_device_gone()
{
	saba_rack 3
	saba_is p1 ours || fail "p1 is $(saba_state p1)"
	ip netns del "${PFX}h1"
	wait_for 5 saba_is p1 gone || fail "p1 is $(saba_state p1)"
	grep -q 'port p1: the device is gone' "$work/daemon" || fail "the log does not name it"
	saba_is p2 ours || fail "p2 is $(saba_state p2)"
	saba run --app LR -- true || fail "the others do not go on"
	ip -n "${PFX}br" link add p1 type veth peer name p1x || fail "no veth"
	ip -n "${PFX}br" link set p1 up
	wait_for 8 saba_is p1 ours || fail "p1 has not come back"
	tc -n "${PFX}br" qdisc show dev p1 | grep -q 'ets 5362:' || fail "no queues at p1"
}

saba_who_may()
{
	saba_rack 2
	chmod 755 "$work" "$state"
	setpriv --reuid 4321 --clear-groups "$BIN/shuffle-saba" run --app LR -- true ||
		fail "a user cannot run an application"
	for c in "set LR 50" "stop" "reload"; do
		# shellcheck disable=SC2086 # words
		! setpriv --reuid 4321 --clear-groups "$BIN/shuffle-saba" $c 2>"$work/said" || fail "a user may $c"
		grep -q CAP_NET_ADMIN "$work/said" || { cat "$work/said"; fail "no reason"; }
		# root of a user namespace of its own is nobody here
		# shellcheck disable=SC2086 # words
		if unshare -U -r true 2>/dev/null; then
			! setpriv --reuid 4321 --clear-groups unshare -U -r "$BIN/shuffle-saba" $c \
				2>/dev/null || fail "root of a user namespace may $c"
		fi
		# shellcheck disable=SC2086 # words
		! setpriv --inh-caps=-net_admin --bounding-set=-net_admin "$BIN/shuffle-saba" $c \
			2>/dev/null || fail "root without the capability may $c"
	done
	saba_answers || fail "the daemon is gone"
	! saba run --app nix -- true 2>"$work/said" || fail "an application without a profile"
	grep -q 'no profile' "$work/said" || fail "no reason"
	saba stop || fail "root may not stop it"
}

saba_profile()
{
	modprobe -q sch_tbf 2>/dev/null
	rack 2
	saba_receive 1 0
	profile=(profile P --table "$work/p.table" --nic "${PFX}h0:eth0" --nic "${PFX}h1:eth0" --rate 40mbit
		--percent "100,50,25")
	saba "${profile[@]}" --repeat 1 -- ip netns exec "${PFX}h0" iperf3 -c 10.77.0.2 -p 5201 -n 2M \
		>"$work/out" || fail "no profile"
	! ip netns exec "${PFX}h0" tc qdisc show dev eth0 | grep tbf || fail "the limit is left"
	# goes on where it was; then fails, and takes the limit away all the same
	saba "${profile[@]}" --repeat 2 --svg "$work/p.svg" -- ip netns exec "${PFX}h0" \
		iperf3 -c 10.77.0.2 -p 5201 -n 2M >"$work/out" 2>"$work/err" || fail "no second run"
	[ "$(grep -c '%:' "$work/err")" = 3 ] || { cat "$work/err"; fail "not 3 runs"; }
	! saba "${profile[@]}" --repeat 3 -- false 2>"$work/err" >/dev/null || fail "a failure is a run"
	grep -q 'false has failed' "$work/err" || fail "no reason"
	! ip netns exec "${PFX}h1" tc qdisc show dev eth0 | grep tbf || fail "the limit is left after a failure"
	cat "$work/p.table"
	saba --json table P --table "$work/p.table" | python3 -c '
import json, sys
(r,) = json.load(sys.stdin)
half, fourth = float(r["slowdown_50"]), float(r["slowdown_25"])
print(half, fourth)
sys.exit(not (1.5 < half < 2.5 and 2.8 < fourth < 5))' || fail "slowdowns"
	grep -q '</svg>' "$work/p.svg" || fail "no curve"
	# somebody's qdisc is not replaced
	ip netns exec "${PFX}h1" tc qdisc add dev eth0 root handle 9: pfifo
	! saba "${profile[@]}" --repeat 3 -- true 2>"$work/err" >/dev/null || fail "somebody's qdisc"
	grep -q 'would be lost' "$work/err" || fail "no reason"
}
