#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: networks that lose, repeat, reorder, delay, go away or shrink.
# Sourced by run_all.sh.
#
# shellcheck disable=SC2034,SC2154 # work, slow, KEEP, peer_pid: lib.sh, other cases

net_cases()
{
	local v6 v mid

	mid=$(sz 65536 16384)
	KEEP=1
	for v in 4 6; do
		v6=$((v == 6))
		run_case "v$v-loss-1" netem_case $v6 "uniform:$(sz 262144 65536)" loss 1%
		run_case "v$v-loss-10" netem_case $v6 "uniform:$mid" loss 10%
		run_case "v$v-loss-10-skew" netem_case $v6 "skew:$mid" loss 10%
		run_case "v$v-duplicate" netem_case $v6 "uniform:$mid" duplicate 20%
		run_case "v$v-reorder" netem_case $v6 "uniform:$mid" delay 2ms reorder 30% 50%
		run_case "v$v-jitter" netem_case $v6 "uniform:$mid" delay 3ms 3ms
		run_case "v$v-delay-1ms" netem_case $v6 "uniform:$mid" delay 1ms
		run_case "v$v-delay-20ms" netem_case $v6 "uniform:$mid" delay 20ms
		run_case "v$v-everything" netem_case $v6 "skew:$mid" \
			delay 5ms 3ms loss 5% duplicate 5% reorder 10%
	done
	run_case "loss-10-empty" netem_case 0 empty loss 10%
	run_case "loss-30-1-byte" netem_case 0 uniform:1 loss 30%
	run_case "collectives-bad-network" tap_program api_coll -v 4 \
		delay 1ms 1ms loss 5% duplicate 5% reorder 10%
	run_case "corrupt" netem_case 0 "uniform:$mid" corrupt 3%
	KEEP=
	rack_down
	run_case "loss-of-single-packets" loss_packets
	run_case "probes-do-not-put-off-resend" probes_arrive
	run_case "slow-links" slow_links
	run_case "narrow-port-buffer" narrow_port
	run_case "cross-traffic" cross_traffic
	run_case "link-down-and-up" link_down 0
	run_case "link-down-and-up-v6" link_down 1
	run_case "mtu-shrinks-here" mtu_local
	run_case "path-mtu-shrinks-v4" mtu_path 0
	run_case "path-mtu-shrinks-v6" mtu_path 1
	run_case "small-mtu" small_mtu
	run_case "jumbo-mtu" jumbo_mtu
	run_case "one-narrow-among-jumbo" one_narrow 0
	run_case "one-narrow-among-jumbo-v6" one_narrow 1
	run_case "priority-band" priority_band
	run_case "bound-to-device" bound_device
}

# netem_case V6 MATRIX NETEM...  Small rows would go without GRANTs; what may go wrong
# with a GRANT has to.
netem_case()
{
	rack 4 unscheduled 8k
	netem "${@:3}"
	peer n=4 v6="$1" matrix="$2" 3:want=1 || shuffle_failed
	diag "retransmitted: $(counters RetransBytes), resends: $(counters ResendOut)," \
		"GRANTs: $(counters GrantOut), questions: $(counters QuestionOut)," \
		"proved: $(counters LossProved), disproved: $(counters LossDisproved)"
}

# Behind a segmenting tbf every packet is lost on its own.  Senders tell what has left.
loss_packets()
{
	local h

	rack 4 unscheduled 8k
	rate 500
	for ((h = 0; h < 4; h++)); do
		tc -n shf-h$h qdisc add dev eth0 parent 1:1 netem loss 5% || skip "no netem"
	done
	peer n=4 matrix="uniform:$(sz 262144 65536)" ops=2 || shuffle_failed
	want_gt "nothing was asked for again" "$(counters ResendOut)" 0
	want_gt "no loss was found without a time limit" "$(counters LossProved)" 0
	diag "questions: $(counters QuestionOut), proved: $(counters LossProved)," \
		"disproved: $(counters LossDisproved)"
}

slow_links()
{
	rack 4
	rate 10
	peer n=4 matrix=uniform:100000 || shuffle_failed
}

# has_received BYTES - host 0, by eth0, of anything; for wait_for
# shellcheck disable=SC2317
has_received()
{
	[ "$(nsx h0 cat /sys/class/net/eth0/statistics/rx_bytes)" -ge "$1" ]
}

# Receivers grant less while others send to their host, and only then.
cross_traffic()
{
	local sender ways before

	rack 4
	rate 50
	peer n=4 matrix=uniform:200000 || shuffle_failed
	want_eq "alone, and somebody was given way to" "$(counters GaveWay)" 0
	before=$(nsx h0 cat /sys/class/net/eth0/statistics/rx_bytes)
	nsx h1 python3 "$here/saba_flow.py" send 10.77.0.1 10 >"$work/sent" &
	sender=$!
	# an interpreter may take longer to start than a shuffle
	want_ok "nothing comes from the other one" wait_for 20 has_received $((before + 50000))
	peer n=4 matrix=uniform:200000 ops=2 || shuffle_failed
	ways=$(counter 0 GaveWay)
	want_gt "host 0 has not given way" "$ways" 0
	want_eq "other hosts have given way, too" "$(counters GaveWay)" "$ways"
	want_ok "set" hctl 0 config set give-way 0
	peer n=4 matrix=uniform:200000 ops=2 || shuffle_failed
	kill $sender
	wait $sender
	# an operation may have given way before the setting was looked at
	want_le "the setting is without effect" "$(counter 0 GaveWay)" $((ways + 1))
	diag "given way: $ways times; datagrams of the other one: $(cat "$work/sent")"
}

# A bridge port with room for 20 packets: an incast overflows it unless the
# receiver's grants hold the senders back; either way nothing may be missing.
narrow_port()
{
	rack 8
	rate 50
	tc -n shf-br qdisc replace dev p0 root tbf rate 50mbit burst 9100 limit 30000 ||
		skip "no tbf"
	peer n=8 matrix="incast:$(sz 200000 50000):0" || shuffle_failed
}

# in_the_middle ARGS... - start a slow shuffle, return when data is flowing.
in_the_middle()
{
	local goal=$(($(counter 0 DataBytesIn) + 20000))

	peer "$@" >"$work/peer.log" 2>&1 &
	peer_pid=$!
	wait_for 10 has_counted 0 DataBytesIn "$goal" || {
		cat "$work/peer.log"
		fail "the shuffle does not start"
	}
}

# links up|down - of all hosts.
links()
{
	local h

	for ((h = 0; h < hosts; h++)); do
		ip -n shf-br link set "p$h" "$1"
	done
}

# stands_still ARGS... - a shuffle that has begun and cannot end, however slow the
# machine is, until "links up".
stands_still()
{
	in_the_middle deadline=1000000 timeout=1000000 "$@"
	links down
}

# All data for host 2 is lost at first, but not the questions whether it has arrived,
# which then come more often than its own timer fires.
probes_arrive()
{
	rack 3
	want_ok "not set" nsx h2 "$BIN/shufflectl" config set resend-first 3s resend-max 10s
	ip -n shf-h2 link set eth0 mtu 600
	background mtu_later
	peer n=3 matrix=others:1000 deadline=$((8000 + 2000 * slow)) || shuffle_failed
	want_gt "nothing was lost" "$(counter 2 ResendOut)" 0
}

both_have_sent()
{
	has_counted 0 DataBytesOut 2000 && has_counted 1 DataBytesOut 2000
}

mtu_later()
{
	wait_for 10 both_have_sent
	sleep 0.5
	ip -n shf-h2 link set eth0 mtu 1500
}

peer_end()
{
	wait "$peer_pid"
	local rc=$?

	cat "$work/peer.log"
	return $rc
}

link_down()
{
	rack 4
	rate 10
	in_the_middle n=4 v6="$1" matrix=others:400000
	ip -n shf-br link set p2 down
	sleep 2
	ip -n shf-br link set p2 up
	sleep 0.3
	# and on the host's own side, where addresses and routes go, too
	ip -n shf-h1 link set eth0 down
	sleep 1
	ip -n shf-h1 -batch - <<-END
		link set eth0 up
		${no6}addr replace fd77::2/64 dev eth0 nodad
	END
	peer_end || shuffle_failed
}

mtu_local()
{
	rack 4
	rate 10
	in_the_middle n=4 matrix=others:400000
	ip -n shf-h1 link set eth0 mtu 1280
	ip -n shf-br link set p1 mtu 1280
	ip -n shf-h0 link set eth0 mtu 1280
	ip -n shf-h2 link set eth0 mtu 1280
	ip -n shf-h3 link set eth0 mtu 1280
	peer_end || shuffle_failed
}

# The router's way to host 1 gets narrower: ICMP tells the senders.
mtu_path()
{
	routed 3
	rate 10
	in_the_middle n=3 net=1 v6="$1" matrix=others:500000 2:want=1
	# both ends of the link: a host that sends more than its neighbour takes
	# is a broken network that no ICMP tells about
	ip -n shf-h1 link set eth0 mtu 1300
	ip -n shf-br link set p1 mtu 1300
	peer_end || shuffle_failed
}

small_mtu()
{
	local h

	rack 3
	for ((h = 0; h < 3; h++)); do
		ip -n shf-h$h link set eth0 mtu 1280
		ip -n shf-br link set p$h mtu 1280
	done
	peer n=3 v6="$ipv6" matrix=uniform:200000 || shuffle_failed "IPv6 shuffle failed"
	for ((h = 0; h < 3; h++)); do
		ip -n shf-h$h link set eth0 mtu 600
		ip -n shf-br link set p$h mtu 600
	done
	peer n=3 op=2 matrix=uniform:200000 || shuffle_failed "shuffle at MTU 600 failed"
}

jumbo_mtu()
{
	local h

	rack 3
	for ((h = 0; h < 3; h++)); do
		ip -n shf-br link set p$h mtu 9000
		ip -n shf-h$h link set eth0 mtu 9000
	done
	peer n=3 matrix="uniform:$(sz 500000 100000)" || shuffle_failed
	netem loss 5%
	peer n=3 op=2 v6="$ipv6" matrix="uniform:$(sz 500000 100000)" || shuffle_failed "lossy shuffle failed"
}

# One host has an MTU of 1500 among those with 9000, and nobody says so.  A veth lets super-packets
# pass whatever their segments' size, and drops single packets: what is sent again.
one_narrow()
{
	local h bytes

	rack 3
	for ((h = 0; h < 3; h++)); do
		ip -n shf-br link set p$h mtu 9000
		ip -n shf-h$h link set eth0 mtu 9000
	done
	ip -n shf-h2 link set eth0 mtu 1500
	# one packet of less than full size; several, of which the last is short; many
	for bytes in 4000 61003 500000; do
		peer n=3 op="$bytes" v6="$1" matrix="uniform:$bytes" ||
			shuffle_failed "$bytes bytes a pair, shrunk: $(counters PathShrunk)"
	done
	want_gt "the path was not narrow" "$(counters PathShrunk)" 0
}

# skb->priority: control packets leave in prio's first band.
priority_band()
{
	local first

	rack 2
	modprobe -q sch_prio 2>/dev/null
	tc -n shf-h1 qdisc add dev eth0 root handle 1: prio bands 3 \
		priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 || skip "no prio"
	peer n=2 matrix=one:500000:0:1 || shuffle_failed
	first=$(tc -n shf-h1 -s class show dev eth0 | awk '
		/class prio 1:1 / { on = 1 } on && /Sent/ { print $4; exit }')
	diag "packets in the first band: $first"
	want_ge "control packets are not in the first band" "${first:-0}" 2
}

# dummy_device - host 0 has dummy0, which leads nowhere.
dummy_device()
{
	modprobe -q dummy 2>/dev/null
	ip -n shf-h0 link add dummy0 type dummy || skip "no dummy device"
	ip -n shf-h0 link set dummy0 up
}

# A socket bound to a device that leads nowhere cannot send; one bound to the
# right one can.  api_msg checks the option itself.
bound_device()
{
	rack 2
	dummy_device
	want_ok "data came in spite of the device" \
		peer n=2 matrix=others:5000 0:device=dummy0 deadline=2000 expect=ETIMEDOUT 1:missing=0
	peer n=2 op=2 matrix=others:5000 0:device=eth0 || shuffle_failed
}
