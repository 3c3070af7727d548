#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: the netlink family and sock_diag, without and with the kernel's own
# command-line client.  Sourced by run_all.sh.
#
# shellcheck disable=SC2154 # work, state, peer_pid, here: lib.sh, cases_net.sh

netlink_cases()
{
	run_case "netlink-v4" tap_program nl_test
	run_case "netlink-v6" tap_program nl_test -v 6
	run_case "netlink-lower-bound-overflow" tap_program nl_lists overflow
	run_case "lists-many-sockets" tap_program nl_lists sockets
	run_case "lists-many-members" tap_program nl_lists members
	run_case "lists-many-events" tap_program nl_lists events
	run_case "netlink-malformed" tap_program nl_mutate 12000 1
	run_case "netlink-straggler" nl_straggler
	run_case "netlink-packet-size" nl_packet_size
	run_case "netlink-control-dscp" nl_dscp
	run_case "netlink-defaults" nl_defaults
	run_case "netlink-device-gone" nl_device_gone
	run_case "netlink-userns-caps" nl_userns_caps
	run_case "netlink-ynl-commands" nl_ynl
	run_case "netlink-ynl-events" nl_ynl_events
}

# listen HOST EVENT - in the background, into $work/event; returns when it does.
listen()
{
	background nsx "h$1" "$BIN/nl_test" events "$2" $(($(tmo 20))) >"$work/event"
	want_ok "nobody listens" wait_for 5 grep -q listening "$work/event"
}

# One sender's link goes away while the others' data flows on.  (On a slow machine
# others may fall behind as well.)
nl_straggler()
{
	rack 3
	# the others must still be sending when the link has been down for two timeouts
	rate 1
	listen 0 msg-straggler-ntf
	in_the_middle n=3 matrix=others:1000000
	ip -n shf-br link set p2 down
	wait_for 60 grep -q 'msg-straggler-ntf.* rank=2 ' "$work/event" || {
		diag "$(cat "$work/event")"
		fail "no event names rank 2"
	}
	ip -n shf-br link set p2 up
	rate 100
	peer_end || shuffle_failed
}

# packets HOST - that it has sent for every 100000 bytes.
packets()
{
	echo $(($(counter "$1" DataOut) * 100000 / $(counter "$1" DataBytesOut)))
}

nl_packet_size()
{
	local n

	rack 2
	want_ok "not set" nsx h0 "$BIN/shufflectl" config set packet-size 500
	peer n=2 matrix=others:300000 || shuffle_failed
	n=$(packets 0)
	diag "packets for 100000 bytes: $n, the other host $(packets 1)"
	want_ge "packets are larger than 500 bytes" "$n" 200
	want_lt "the other host has changed, too" "$(packets 1)" 100
}

nl_dscp()
{
	command -v tcpdump >/dev/null || skip "no tcpdump"
	rack 2
	want_ok "not set" nsx h1 "$BIN/shufflectl" config set control-dscp 10
	background nsx h0 tcpdump --immediate-mode -nvl -i eth0 'udp port 818 and src 10.77.0.2' \
		>"$work/dump" 2>"$work/dump.err"
	wait_for 5 grep -q listening "$work/dump.err" || skip "tcpdump does not start"
	# One way: what host 1 has to say cannot ride on data of its own.
	peer n=2 matrix=one:300000:0:1 || shuffle_failed
	want_ok "no control packet has the DSCP" wait_for 5 grep -q 'tos 0x28' "$work/dump"
	want_no_grep "some still have the old one" "$(<"$work/dump")" 'tos 0xc0'
}

# What was not set has its default, in every namespace, whatever another one has.
nl_defaults()
{
	local own other back

	want_ok "not set in the initial namespace" ctl config set overcommit 7
	new_rack 2
	want_ok "not set" hctl 0 config set overcommit 4
	own=$(hctl 0 config) other=$(hctl 1 config)
	want_ok "not given back" hctl 0 config set overcommit default
	back=$(hctl 0 config)
	ctl config set overcommit default
	want_grep "what was set" "$own" 'overcommit 4'
	want_grep "where nothing was set" "$other" 'overcommit 10'
	want_grep "what was given back" "$back" 'overcommit 10'
}

# A device that operations use goes; its settings go with it.
nl_device_gone()
{
	rack 2
	rate 1
	want_ok "not set" nsx h0 "$BIN/shufflectl" config set dev eth0 link-rate 1 rtt 1000000
	in_the_middle n=2 matrix=others:4000000 deadline=4000 expect=ETIMEDOUT
	ip -n shf-h0 link del eth0
	want_ok "the operation does not end" peer_end
	want_no_grep "its settings are still there" "$(nsx h0 "$BIN/shufflectl" config)" eth0
}

# What costs memory is bounded by the initial namespace where a network namespace belongs
# to a user namespace; elsewhere it is not.
nl_userns_caps()
{
	local ctl=$BIN/shufflectl s
	local user=(unshare --user --map-root-user --net)

	"${user[@]}" true 2>/dev/null || skip "no user namespaces"
	want_ok "not set" "$ctl" config set finished-max 1000 early-bytes 1000000
	for s in "finished-max 1001" "early-bytes 1000001" "sndbuf 16777216" "rcvbuf 16777216"; do
		# shellcheck disable=SC2086 # a name and a value
		want_fail "$s is not refused" "${user[@]}" "$ctl" config set $s 2>"$work/err"
		want_grep "$s" "$(<"$work/err")" "${s%% *}: more than"
	done
	for s in "finished-max 1000" "early-bytes 999999" "rcvbuf 100000" "finished-max default"; do
		# shellcheck disable=SC2086
		want_ok "$s is refused" "${user[@]}" "$ctl" config set $s
	done
	want_grep "begins above the bound" "$("${user[@]}" "$ctl" config)" 'finished-max 1000'
	rack 2
	want_ok "the administrator is bounded" nsx h0 "$ctl" config set finished-max 5000
	want_ok "not given back" "$ctl" config set finished-max default early-bytes default
}

# The kernel's client, which knows nothing but the specification.
ynl_begin()
{
	local dir

	python3 -c 'import yaml, jsonschema' 2>/dev/null ||
		skip "no python3-yaml and python3-jsonschema"
	[ -n "${SHUFFLE_CACHE-}" ] || skip "no SHUFFLE_CACHE"
	for dir in "$SHUFFLE_CACHE"/linux-* "$SHUFFLE_CACHE"/ynl-*; do
		[ ! -e "$dir/tools/net/ynl/cli.py" ] || ynl_dir=$dir
	done
	[ -n "${ynl_dir-}" ] || skip "no kernel source with tools/net/ynl"
	mkdir -p "$state/Documentation/netlink/specs"
	cp "$ynl_dir"/Documentation/netlink/*.yaml "$state/Documentation/netlink/"
	spec=$state/Documentation/netlink/specs/shuffle.yaml
	cp "$here/../../../Documentation/netlink/specs/shuffle.yaml" "$spec"
}

# ynl_expect HOST < COMMANDS - see ynl_expect.py.
ynl_expect()
{
	nsx "h$1" python3 "$here/ynl_expect.py" "$ynl_dir/tools/net/ynl" "$spec" >"$work/answers" 2>&1 ||
		fail "$(cat "$work/answers")"
}

nl_ynl()
{
	ynl_begin
	rack 2
	rate 1
	# by its command line, too
	nsx h0 python3 "$ynl_dir/tools/net/ynl/cli.py" --spec "$spec" --do config-get >"$work/answers" 2>&1 ||
		fail "$(cat "$work/answers")"
	want_grep "answers" "$(<"$work/answers")" -E "'family': (18|22)"
	stands_still n=2 op=99 matrix=others:8000000 expect=ECANCELED
	ynl_expect 0 <<-'END'
		do config-set {"overcommit": 4, "op-order": "smallest"} => None
		dump config-get => 'own': .'(overcommit|op-order)', '(overcommit|op-order)'
		do config-set {"overcommit": 5000} => out of range.*min-value': 1, 'max-value': 1000.*overcommit
		do config-set {"unset": ["op-order", "overcommit"]} => None
		dump op-get => 'op-id': 99
		do op-get {"op-id": 99} => 'members': 2
		dump msg-get {"op-id": 99} => 'direction': 'in'
		dump peer-get => 'ipv4': '10.77.0.2'
		do peer-get {"ipv4": "0a4d0002"} => 'path-mtu': 1500
		dump socket-get => 'rcvbuf'
		dump stats-get => 'name': 'DataOut'
		do stats-get {"name": "OpsStarted"} => 'value': [1-9]
		do op-cancel {"op-id": 99} => 'count': 1
		do op-cancel {"op-id": 99} => no such operation
	END
	ynl_expect 1 <<<"do op-cancel {\"op-id\": 99} => 'count': 1"
	want_ok "the operation was not cancelled" peer_end
}

nl_ynl_events()
{
	local listen

	ynl_begin
	listen=("$here/ynl_listen.py" "$ynl_dir/tools/net/ynl" "$spec" ops)
	rack 2
	# virtual time passes while Python's files are read: not while it is waited for
	nsx h0 python3 "${listen[@]}" 0 >"$work/events" 2>&1 || fail "$(cat "$work/events")"
	background nsx h0 python3 "${listen[@]}" 4 >"$work/events" 2>&1
	wait_for 20 grep -q listening "$work/events" || fail "it does not start: $(cat "$work/events")"
	peer n=2 op=100 ops=2 matrix=others:5000 || shuffle_failed
	wait_for 10 grep -c 'op-finished-ntf' "$work/events" >/dev/null || fail "$(cat "$work/events")"
	wait_for 10 test "$(grep -c ntf "$work/events")" -ge 4 || fail "$(cat "$work/events")"
	want_grep "events" "$(<"$work/events")" 'op-started-ntf.*"op-id": 100'
	want_grep "events" "$(<"$work/events")" 'op-finished-ntf.*slowdown'
}
