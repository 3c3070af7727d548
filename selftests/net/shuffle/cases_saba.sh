#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: shuffle-sabad shares the ports of a rack's switch, shuffle-saba takes profiles.
# Sourced by run_all.sh.
#
# shellcheck disable=SC2154 # work: lib.sh

saba_cases()
{
	# these look for races of the module, and here it does little
	[[ $LANE != qemu-debug && $LANE != qemu-kcsan ]] || return 0
	# what Debian's kernels may do in another way: their qdiscs, notifications and credentials
	run_case "saba-library" saba_library
	run_case "saba-restart" saba_restart
	run_case "saba-somebody-else" saba_somebody_else
	run_case "saba-device-gone" saba_device_gone
	run_case "saba-who-may" saba_who_may
	[[ $LANE != qemu* ]] || return 0
	run_case "saba-shares" saba_shares
	run_case "saba-shares-3" saba_three
	run_case "saba-rest" saba_rest
	run_case "saba-chain" saba_chain
	run_case "saba-gaming" saba_gaming
	run_case "saba-nothing-lost" saba_nothing_lost
	run_case "saba-shuffle" saba_shuffle
	run_case "saba-library-refused" saba_library_refused
	run_case "saba-daemons" saba_daemons
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

# saba_profile_of APP F - slowdown 1 - F + F / b
saba_profile_of()
{
	local b

	echo "app $1"
	for b in 100 90 75 50 25 10 5; do
		awk -v b=$b -v f="$2" 'BEGIN { printf "sample %d %.6f\n", b, 1 - f + 100 * f / b }'
	done
}

# saba_conf HOSTS RATE LIMIT [WORDS] - configuration of the daemon.
saba_conf()
{
	local h

	echo "table $work/table"
	# applications have to come back meanwhile, on any machine
	echo "grace $(saba_exact && echo 1000 || echo 2000)"
	for ((h = 0; h < $1; h++)); do
		echo "port p$h rate $2 queues 4 limit $3 ${4-} to 10.77.0.$((h + 1)) to fd77::$((h + 1))"
	done
}

# saba_net HOSTS - a rack whose kernel has what the daemon needs.
saba_net()
{
	modprobe -q sch_ets 2>/dev/null
	modprobe -q sch_tbf 2>/dev/null
	modprobe -q cls_u32 2>/dev/null
	rack "$1"
	tc -n "${PFX}br" qdisc add dev p0 root ets bands 2 2>/dev/null || skip "no ets"
	tc -n "${PFX}br" qdisc del dev p0 root
	export SHUFFLE_SABA_SOCKET=$work/saba.sock
}

# saba_rack HOSTS [LIMIT [WORDS]] - a rack whose switch ports are 4 Mbit/s, three profiles; WORDS of
# the configuration are for each port.
saba_rack()
{
	saba_net "$1"
	{
		saba_profile_of LR .8
		saba_profile_of PR .133
		saba_profile_of TS .033
	} >"$work/table"
	saba_conf "$1" 4mbit "${2-1000000}" "${3-}" >"$work/saba.conf"
	saba_daemon
}

# saba_send HOST APP TO MBIT - an unmodified program as an application; its number
# is sender[HOST].
saba_send()
{
	ip netns exec "${PFX}h$1" "$BIN/shuffle-saba" run --app "$2" --to "10.77.0.$(($3 + 1))" -- \
		python3 "$here/saba_flow.py" send "10.77.0.$(($3 + 1))" "$4" >"$work/flow-$1" 2>&1 &
	sender[$1]=$!
}

# saba_senders TO APP... - hosts 0, 1, ... send, one application each, more than the port carries.
saba_senders()
{
	local to=$1 app h=0
	shift

	for app in "$@"; do
		saba_send $h "$app" "$to" 5
		h=$((h + 1))
	done
	for app in "$@"; do
		want_ok "$app is not registered" wait_for 10 saba_has "p$to" "$app"
	done
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

# A process is what takes longest: no interpreter for what is asked again and again.
saba_state()
{
	saba show | sed -n "s/^port $1  state \([a-z]*\) .*/\1/p"
}

saba_is()
{
	[ "$(saba_state "$1")" = "$2" ]
}

saba_has()
{
	saba_weight "$1" "$2" >/dev/null
}

saba_weighs()
{
	[ "$(saba_weight "$1" "$2" | cut -d' ' -f2)" = "$3" ]
}

# saba_measure PORT APP... [rest=PERCENT] - shares of the bytes are those of the weights.
saba_measure()
{
	want_ok "shares are not weights" \
		python3 "$here/saba_share.py" "$BIN/shuffle-saba" "${PFX}br" "$1" 3000000 "${@:2}"
}

saba_classes()
{
	tc -n "${PFX}br" class show dev "$1" | sort
}

# saba_exact - programs never fall behind: shares can be counted.  Emulated processors send too
# little for queues that never run empty.
saba_exact()
{
	[ -n "${SHUFFLE_VIRTUAL-}" ] && [[ $LANE != qemu* ]]
}

# saba_exactly - for cases that count long.
saba_exactly()
{
	saba_exact || skip "measured in virtual time"
}

saba_shares()
{
	saba_exactly
	saba_rack 3
	saba_senders 2 LR TS
	saba_measure p2 LR TS
	# live, 1:4
	want_ok "a weight cannot be set" saba set TS 80
	want_ok "the weight is not set" wait_for 5 saba_weighs p2 TS 80
	saba_measure p2 LR TS
	want_ok "a weight cannot be given back" saba set TS auto
	# only ports on the way are theirs
	want_fail "TS is at a port that it does not use" saba_has p0 TS
	# a light queue has what another one does not use
	saba set LR 90
	saba set TS 10
	want_ok "the weight is not set" wait_for 5 saba_weighs p2 TS 10
	saba_measure p2 LR TS
	saba_send 2 PR 1 5
	want_ok "PR is not registered" wait_for 10 saba_has p1 PR
	want_ok "no sender" pkill -STOP -P "${sender[0]}"
	want_ok "the link does not do what it can" saba_lends
	want_ok "it does not stop" saba stop
	! tc -n "${PFX}br" qdisc show | grep -E 'ets|tbf|bfifo' || fail "something is left"
	[ ! -e "$SHUFFLE_SABA_SOCKET" ] || fail "the socket is left"
}

# saba_band PORT APP - where its packets wait.
saba_band()
{
	local queue

	read -r queue _ <<<"$(saba_weight "$1" "$2")"
	echo $((2 + queue))
}

# saba_empty PORT BAND - nothing waits there.
saba_empty()
{
	tc -n "${PFX}br" -s -j qdisc show dev "$1" | python3 -c '
import json, sys
parent = "5362:%x" % (int(sys.argv[1]) + 1)
waits = [q["backlog"] for q in json.load(sys.stdin) if q.get("parent") == parent]
sys.exit(waits != [0])' "$2"
}

# Two ports of one rate, TS alone at one of them and LR, though registered, silent: that
# port sends as much of TS as the other one meanwhile of PR.
saba_lends()
{
	local lends other band

	saba_weighs p2 LR 90 || return 1
	# what LR has left behind
	wait_for 20 saba_empty p2 "$(saba_band p2 LR)" || return 1
	band=$(saba_band p2 TS)
	lends=$(saba_left p2 "$band")
	other=$(saba_bytes p1)
	wait_for 20 saba_sent p1 $((other + 600000)) || return 1
	lends=$(($(saba_left p2 "$band") - lends))
	other=$(($(saba_bytes p1) - other))
	echo "TS has sent $lends bytes, PR at the other port $other"
	[ $((lends * 10)) -gt $((other * 9)) ]
}

# saba_sent PORT BYTES - so much, for wait_for.
saba_sent()
{
	[ "$(saba_bytes "$1")" -ge "$2" ]
}

saba_three()
{
	saba_exactly
	saba_rack 4
	saba_senders 3 LR PR TS
	saba_measure p3 LR PR TS
	saba set LR 60
	saba set PR 25
	saba set TS 15
	want_ok "the weight is not set" wait_for 5 saba_weighs p3 TS 15
	saba_measure p3 LR PR TS
}

# What belongs to no level has the part of the link that is reserved for it.
saba_rest()
{
	saba_exactly
	saba_rack 4 1000000 "capacity 80"
	saba_senders 3 LR TS
	nsx h2 python3 "$here/saba_flow.py" send 10.77.0.4 5 >/dev/null 2>&1 &
	saba_measure p3 LR TS rest=20
}

# Profiles that are measured, the table of them, the daemon, shares: 1 MB takes .2 s with all of the
# rate, so that FOURTH sends for a fourth of its time.  The optimum is in the ratio of the roots,
# 2:1; slow starts and headers are as much as a percent or two.
saba_chain()
{
	local weight

	saba_exactly
	saba_net 3
	saba_receives
	profile=(--table "$work/table" --nic "${PFX}h0:eth0" --nic "${PFX}h1:eth0" --rate 40mbit
		--repeat 1 -- ip netns exec "${PFX}h0")
	bulk=(python3 "$here/saba_flow.py" bulk 10.77.0.2 1000000)
	want_ok "no profile of FULL" saba profile FULL "${profile[@]}" "${bulk[@]}"
	want_ok "no profile of FOURTH" \
		saba profile FOURTH "${profile[@]}" sh -c "sleep .6; ${bulk[*]}"
	saba_conf 3 4mbit 1000000 >"$work/saba.conf"
	saba_daemon
	saba_senders 2 FULL FOURTH
	read -r _ weight <<<"$(saba_weight p2 FULL)"
	[[ $weight = 6[4-9] ]] || { cat "$work/table"; fail "the weight of FULL is $weight"; }
	saba_measure p2 FULL FOURTH
}

# Neither many processes and connections nor many bytes are more of the link.
saba_gaming()
{
	local before i

	saba_rack 3
	saba_senders 2 LR TS
	before="$(saba_weight p2 LR) $(saba_weight p2 TS)"
	for i in {1..8}; do
		nsx h1 "$BIN/shuffle-saba" run --app TS --to 10.77.0.3 --to 10.77.0.3 -- sleep 600 &
	done
	wait_for 10 saba_clients TS 9 || { saba show; fail "they do not register"; }
	saba run --app TS --to 10.77.0.3 -- \
		ip netns exec "${PFX}h1" python3 "$here/saba_flow.py" send 10.77.0.3 20 >/dev/null 2>&1 &
	wait_for 10 saba_clients TS 10 || { saba show; fail "the large one does not register"; }
	[ "$(saba_weight p2 LR) $(saba_weight p2 TS)" = "$before" ] || {
		saba show
		fail "weights were $before"
	}
	! saba_exact || saba_measure p2 LR TS
}

saba_nothing_lost()
{
	local i before after receiver sent

	saba_rack 2 8000000
	: >"$work/count"
	ip netns exec "${PFX}h1" python3 "$here/saba_flow.py" count >"$work/count" &
	receiver=$!
	want_ok "no receiver" wait_for 5 grep -q ready "$work/count"
	# more than the link bears: something waits all the time
	saba_send 0 LR 1 5
	want_ok "LR is not registered" wait_for 10 saba_has p1 LR
	before=$(saba_programmed p1)
	for ((i = 0; i < 12; i++)); do
		want_ok "a weight cannot be set" saba set LR $((10 + i))
		# another application comes and goes: levels and filters change
		want_ok "TS does not run" saba run --app TS --to 10.77.0.2 -- true
		# changes that come together are programmed together
		sleep .06
	done
	after=$(saba_programmed p1)
	want_ge "programmed $before to $after times" "$after" $((before + 8))
	want_ok "no sender" pkill -TERM -P "${sender[0]}"
	wait "${sender[0]}"
	sent=$(cat "$work/flow-0")
	want_ok "something still waits" wait_for 20 saba_drained p1
	kill -TERM "$receiver"
	wait "$receiver"
	[ "$(tail -1 "$work/count")" = "$sent" ] ||
		fail "$(tail -1 "$work/count") of $sent packets have come"
}

saba_drained()
{
	! tc -n "${PFX}br" -s qdisc show dev "$1" | grep -E 'backlog [1-9]'
}

# A program of AF_SHUFFLE that knows nothing of Saba: what it sends is in its queue, control
# packets are in the strict band.
saba_shuffle()
{
	local h queue rest

	saba_rack 2
	hosts_file 2
	sort_begin
	# registered before, so that the first packets find their queue
	nsx h0 "$BIN/shuffle-saba" run --app LR --to 10.77.0.1 --to 10.77.0.2 -- sleep 600 &
	want_ok "LR is not at p0" wait_for 10 saba_has p0 LR
	want_ok "LR is not at p1" wait_for 10 saba_has p1 LR
	for h in 0 1; do
		ip netns exec "${PFX}h$h" "$BIN/shuffle-saba" run --app LR --to "10.77.0.$((2 - h))" -- \
			"$BIN/shuffle-sort" -g "$work/group" -r $h -o "$sort_op" -d "$state/sorted" \
			--no-progress --generate 2000 -j >"$work/json.$h" 2>"$work/err.$h" &
		# shellcheck disable=SC2034 # sort_wait, of cases_sort.sh
		sort_pid[h]=$!
	done
	read -r queue _ <<<"$(saba_weight p1 LR)"
	want_ok "the sort failed" sort_wait
	read -r rest queue <<<"$(saba_left p1 1 $((2 + queue)))"
	echo "$queue bytes in its queue, $rest in that of everything else"
	# about half of 2000 records of 100 bytes
	want_gt "data is not in its queue" "$queue" 80000
	want_lt "data is among everything else" "$rest" 20000
}

# saba_left PORT BAND... - bytes that have left each.
saba_left()
{
	tc -n "${PFX}br" -s -j qdisc show dev "$1" | python3 -c '
import json, sys
left = {q.get("parent"): q["bytes"] for q in json.load(sys.stdin)}
print(*(left["5362:%x" % (int(b) + 1)] for b in sys.argv[1:]))' "${@:2}"
}

# saba_member HOST [APP] - of a group of both hosts that shuffles; its number is member[HOST].
saba_member()
{
	ip netns exec "${PFX}h$1" "$BIN/saba_member" "$1" 10.77.0.1 10.77.0.2 "${@:2}" \
		>"$work/member-$1" 2>"$work/said-$1" &
	member[$1]=$!
}

# saba_clients APP N - so many processes have registered it.
saba_clients()
{
	[ "$(saba show | sed -n "/^app $1 /s/.*  clients \([0-9]*\) .*/\1/p")" = "$2" ]
}

saba_no_app()
{
	! saba show | grep -q "^app $1 "
}

saba_has_not()
{
	! saba_has "$1" "$2"
}

saba_queue_sent()
{
	[ "$(saba_left "$1" "$2")" -gt "$3" ]
}

# Groups register by themselves, the daemon being there or not, and are gone when they end.
saba_library()
{
	local queue before

	saba_rack 2
	kill -9 "$daemon"
	wait "$daemon" 2>/dev/null
	export SHUFFLE_SABA=1 SHUFFLE_SABA_NAME=LR
	saba_member 0
	saba_member 1
	want_ok "no warning" wait_for 10 grep -q 'LR is not registered' "$work/said-0"
	saba_daemon
	wait_for 10 saba_clients LR 2 || { saba show; fail "members do not register"; }
	wait_for 10 saba_has p0 LR || { saba show; fail "LR is not at p0"; }
	wait_for 10 saba_has p1 LR || { saba show; fail "LR is not at p1"; }
	[ "$(wc -l <"$work/said-0")" = 1 ] || { cat "$work/said-0"; fail "not one warning"; }
	want_ok "p1 is not programmed" wait_for 20 saba_programs p1
	read -r queue _ <<<"$(saba_weight p1 LR)"
	before=$(saba_left p1 $((2 + queue)))
	wait_for 20 saba_queue_sent p1 $((2 + queue)) $((before + 100000)) ||
		fail "data is not in the queue of LR: $(saba_left p1 1 $((2 + queue)))"
	kill -USR1 "${member[0]}"
	wait_for 10 saba_has_not p1 LR || { saba show; fail "a closed socket has a connection"; }
	want_ok "an application without sockets is registered" saba_clients LR 1
	kill -9 "${member[1]}"
	wait_for 10 saba_no_app LR || { saba show; fail "what was killed is registered"; }
	kill "${member[0]}"
	wait "${member[0]}" || fail "member 0: $(cat "$work/said-0")"
}

# By the function, and what the daemon does not know.
saba_library_refused()
{
	saba_rack 2
	saba_member 0 nix
	wait "${member[0]}"
	[ $? = 3 ] || { cat "$work/said-0"; fail "an application without a profile"; }
	grep -q 'nix: no profile' "$work/said-0" || { cat "$work/said-0"; fail "no reason"; }
	saba_member 0 TS
	SHUFFLE_SABA=$SHUFFLE_SABA_SOCKET SHUFFLE_SABA_NAME=nix saba_member 1
	wait_for 10 saba_has p1 TS || { saba show; fail "TS is not registered"; }
	saba_clients TS 1 || { saba show; fail "nix is TS"; }
	wait_for 10 grep -q 'nix: no profile' "$work/said-1" || { cat "$work/said-1"; fail "no reason"; }
	kill "${member[@]}"
	wait "${member[1]}" || fail "member 1: $(cat "$work/said-1")"
	want_gt "it has not shuffled" "$(cat "$work/member-1")" 0
	want_ok "TS is still there" wait_for 10 saba_no_app TS
}

saba_programmed()
{
	saba --json show | python3 -c '
import json, sys
print(next(r["programmed"] for r in json.load(sys.stdin) if r.get("port") == sys.argv[1]))' "$1"
}

saba_programs()
{
	[ "$(saba_programmed "$1")" != 0 ]
}

# saba_bytes PORT - what has left the port since its queues were installed.
saba_bytes()
{
	tc -n "${PFX}br" -s -j qdisc show dev "$1" | python3 -c '
import json, sys
print(next(q["bytes"] for q in json.load(sys.stdin) if q["kind"] == "ets"))'
}

saba_restart()
{
	local before bytes

	saba_rack 3
	saba_senders 2 LR TS
	! saba_exact || saba_measure p2 LR TS
	before=$(saba_classes p2)
	kill -9 "$daemon"
	wait "$daemon" 2>/dev/null
	want_eq "death has changed weights" "$(saba_classes p2)" "$before"
	bytes=$(saba_bytes p2)
	# the next one has another rate and limit in its configuration
	saba_conf 3 3mbit 900000 >"$work/saba.conf"
	saba_daemon
	want_grep "the queues were not taken over" "$(<"$work/daemon")" 'port p2: queues taken over'
	want_eq "a start has changed weights" "$(saba_classes p2)" "$before"
	want_ge "the queues are other ones" "$(saba_bytes p2)" "$bytes"
	want_grep "the rate is the former one" \
		"$(tc -n "${PFX}br" qdisc show dev p2)" 'tbf 5361: root .* rate 3Mbit'
	[ "$(tc -n "${PFX}br" qdisc show dev p2 | grep -c 'limit 900000b')" = 6 ] ||
		fail "limits are the former ones: $(tc -n "${PFX}br" qdisc show dev p2)"
	want_ok "TS has not come back" wait_for 10 saba_has p2 TS
	want_ok "LR has not come back" wait_for 10 saba_has p2 LR
	want_ok "the port is not programmed again" wait_for 20 saba_programs p2
	! saba_exact || saba_measure p2 LR TS
}

# saba_daemon_of NAME HOST... - one that has only the ports of these hosts.
saba_daemon_of()
{
	local name=$1 h
	shift

	{
		saba_conf 0
		echo "cluster table"
		for h in "$@"; do
			saba_conf $((h + 1)) 4mbit 1000000 | tail -1
		done
	} >"$work/$name.conf"
	ip netns exec "${PFX}br" "$BIN/shuffle-sabad" --config "$work/$name.conf" \
		--socket "$work/$name.sock" 2>>"$work/daemon-$name" &
	daemons[$name]=$!
	SHUFFLE_SABA_SOCKET=$work/$name.sock wait_for 5 saba_answers ||
		{ cat "$work/daemon-$name"; fail "daemon $name does not start"; }
}

# saba_knows NAME APP - that daemon has the application; its level is in $level.
saba_knows()
{
	level=$(SHUFFLE_SABA_SOCKET=$work/$1.sock saba show |
		sed -n "s/^app $2 .* level \([0-9]*\) .*/\1/p")
	[ -n "$level" ]
}

# Two daemons with some ports each: levels are the same, whoever has heard of whom, and one that
# has restarted hears of all that happened meanwhile.
saba_daemons()
{
	local -A daemons
	local app before count level other

	saba_rack 3
	want_ok "it does not stop" saba stop
	saba_daemon_of a 0 1
	saba_daemon_of b 2
	export SHUFFLE_SABA_SOCKET=$work/a.sock,$work/b.sock
	# order of coming: not that of the table
	saba_send 1 TS 2 5
	want_ok "TS is not registered" wait_for 10 saba_has p2 TS
	saba_send 0 LR 2 5
	want_ok "LR is not registered" wait_for 10 saba_has p2 LR
	want_ok "LR is at a port that it does not use" saba_has_not p0 LR
	# that of the table's first profile, and not of the first one that came
	saba_knows a LR
	want_eq "LR has level $level" "$level" 1
	before=$(saba_classes p2)
	kill -9 "${daemons[b]}"
	wait "${daemons[b]}" 2>/dev/null
	# shares of what is left do not change, and life goes on at the other one
	saba_send 2 PR 1 5
	SHUFFLE_SABA_SOCKET=$work/a.sock wait_for 10 saba_has p1 PR || fail "PR is not registered"
	want_eq "a death has changed weights" "$(saba_classes p2)" "$before"
	count=$(SHUFFLE_SABA_SOCKET=$work/a.sock saba_programmed p1)
	saba_daemon_of b 2
	want_grep "the queues were not taken over" \
		"$(<"$work/daemon-b")" 'port p2: queues taken over'
	for app in LR PR TS; do
		wait_for 10 saba_knows b $app || { saba show; fail "$app has not come back"; }
		other=$level
		want_ok "$app is gone" saba_knows a $app
		[ "$level" = "$other" ] || fail "level of $app: $level and $other"
	done
	want_ok "the port is not programmed again" wait_for 20 saba_programs p2
	want_ok "LR is not at p2" wait_for 10 saba_has p2 LR
	want_eq "the other daemon has programmed something" \
		"$(SHUFFLE_SABA_SOCKET=$work/a.sock saba_programmed p1)" "$count"
	! saba_exact || saba_measure p2 LR TS
	kill -9 "${sender[0]}"
	for app in a b; do
		SHUFFLE_SABA_SOCKET=$work/$app.sock wait_for 10 saba_no_app LR ||
			fail "LR is still known to $app"
	done
	want_ok "they do not stop" saba stop
	! tc -n "${PFX}br" qdisc show | grep -E 'ets|tbf|bfifo' || fail "something is left"
}

saba_somebody_else()
{
	saba_rack 2
	want_ok "no pfifo" tc -n "${PFX}br" qdisc replace dev p0 root handle 77: pfifo limit 50
	wait_for 5 saba_is p0 foreign || { saba show; fail "it was not noticed"; }
	sleep 3
	want_grep "it was fought" "$(tc -n "${PFX}br" qdisc show dev p0)" 'pfifo 77: root'
	saba_is p1 ours || fail "the other port is $(saba_state p1)"
	saba reload
	want_grep "reload has replaced it" "$(tc -n "${PFX}br" qdisc show dev p0)" 'pfifo 77: root'
	# what somebody has changed
	for change in "class change dev p1 classid 5362:3 ets quantum 9000" \
		"filter del dev p1 parent 5362: pref 2" \
		"qdisc change dev p1 root handle 5361: tbf rate 5mbit burst 3100 limit 1000000" \
		"qdisc change dev p1 parent 5362:4 handle 5366: bfifo limit 70000"; do
		# shellcheck disable=SC2086 # words
		want_ok "no change: $change" tc -n "${PFX}br" $change
		want_ok "not noticed: $change" wait_for 5 saba_is p1 foreign
		want_ok "no reload" saba reload
		wait_for 5 saba_is p1 ours || fail "p1 is $(saba_state p1)"
	done
	want_grep "the rate is not back" \
		"$(tc -n "${PFX}br" qdisc show dev p1)" 'tbf 5361: root .* rate 4Mbit'
	tc -n "${PFX}br" qdisc del dev p0 root
	want_ok "no reload" saba reload
	saba_is p0 ours || fail "p0 is $(saba_state p0)"
	tc -n "${PFX}br" qdisc add dev p1 clsact 2>/dev/null
	# a stop leaves alone what is not its own
	want_ok "no pfifo" tc -n "${PFX}br" qdisc replace dev p0 root handle 78: pfifo
	want_ok "it was not noticed again" wait_for 5 saba_is p0 foreign
	want_ok "it does not stop" saba stop
	want_grep "stop has removed it" "$(tc -n "${PFX}br" qdisc show dev p0)" 'pfifo 78: root'
}

saba_device_gone()
{
	saba_rack 3
	saba_is p1 ours || fail "p1 is $(saba_state p1)"
	ip netns del "${PFX}h1"
	wait_for 5 saba_is p1 gone || fail "p1 is $(saba_state p1)"
	want_grep "the log does not name it" "$(<"$work/daemon")" 'port p1: the device is gone'
	saba_is p2 ours || fail "p2 is $(saba_state p2)"
	want_ok "the others do not go on" saba run --app LR -- true
	want_ok "no veth" ip -n "${PFX}br" link add p1 type veth peer name p1x
	ip -n "${PFX}br" link set p1 up
	want_ok "p1 has not come back" wait_for 8 saba_is p1 ours
	want_grep "no queues at p1" "$(tc -n "${PFX}br" qdisc show dev p1)" 'ets 5362:'
}

saba_who_may()
{
	saba_rack 2
	chmod 755 "$work" "$state"
	want_ok "a user cannot run an application" \
		setpriv --reuid 4321 --clear-groups "$BIN/shuffle-saba" run --app LR -- true
	for c in "set LR 50" "stop" "reload"; do
		# shellcheck disable=SC2086 # words
		want_fail "a user may $c" \
			setpriv --reuid 4321 --clear-groups "$BIN/shuffle-saba" $c 2>"$work/said"
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
	want_ok "the daemon is gone" saba_answers
	want_fail "an application without a profile" saba run --app nix -- true 2>"$work/said"
	want_grep "no reason" "$(<"$work/said")" 'no profile'
	want_ok "root may not stop it" saba stop
}

saba_receives()
{
	nsx h1 python3 "$here/saba_flow.py" take &
	want_ok "nobody listens" wait_for 5 saba_listens
}

saba_listens()
{
	nsx h1 ss -Htln "sport = :5201" | grep -q .
}

saba_profile()
{
	saba_exactly
	modprobe -q sch_tbf 2>/dev/null
	rack 2
	saba_receives
	profile=(profile P --table "$work/p.table" --nic "${PFX}h0:eth0" --nic "${PFX}h1:eth0" --rate 40mbit
		--percent "100,50,25")
	saba "${profile[@]}" --repeat 1 -- ip netns exec "${PFX}h0" python3 "$here/saba_flow.py" bulk 10.77.0.2 1000000 \
		>"$work/out" || fail "no profile"
	! ip netns exec "${PFX}h0" tc qdisc show dev eth0 | grep tbf || fail "the limit is left"
	# goes on where it was; then fails, and takes the limit away all the same
	saba "${profile[@]}" --repeat 2 --svg "$work/p.svg" -- ip netns exec "${PFX}h0" \
		python3 "$here/saba_flow.py" bulk 10.77.0.2 1000000 >"$work/out" 2>"$work/err" || fail "no second run"
	[ "$(grep -c '%:' "$work/err")" = 3 ] || { cat "$work/err"; fail "not 3 runs"; }
	! saba "${profile[@]}" --repeat 3 -- false 2>"$work/err" >/dev/null || fail "a failure is a run"
	want_grep "no reason" "$(<"$work/err")" 'false has failed'
	! ip netns exec "${PFX}h1" tc qdisc show dev eth0 | grep tbf || fail "the limit is left after a failure"
	cat "$work/p.table"
	saba --json table P --table "$work/p.table" | python3 -c '
import json, sys
(r,) = json.load(sys.stdin)
half, fourth = float(r["slowdown_50"]), float(r["slowdown_25"])
print(half, fourth)
sys.exit(not (1.8 < half < 2.2 and 3.6 < fourth < 4.4))' || fail "slowdowns"
	want_grep "no curve" "$(<"$work/p.svg")" '</svg>'
	# somebody's qdisc is not replaced
	ip netns exec "${PFX}h1" tc qdisc add dev eth0 root handle 9: pfifo
	! saba "${profile[@]}" --repeat 3 -- true 2>"$work/err" >/dev/null || fail "somebody's qdisc"
	want_grep "no reason" "$(<"$work/err")" 'would be lost'
}
