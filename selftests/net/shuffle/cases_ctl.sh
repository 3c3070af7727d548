#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: shufflectl on the module's netlink family, as a person would use it.
# Sourced by run_all.sh, behind cases_qdisc.sh and cases_net.sh.
#
# shellcheck disable=SC2154 # work, peer_pid: lib.sh, cases_net.sh

ctl_cases()
{
	run_case "ctl-config" ctl_config
	run_case "ctl-config-save-load" ctl_save_load
	run_case "ctl-config-running" ctl_config_running
	run_case "ctl-window-modes" ctl_window_modes
	run_case "ctl-topology" ctl_topology
	run_case "ctl-permission" ctl_permission
	run_case "ctl-op" ctl_op
	run_case "ctl-op-cancel" ctl_cancel
	run_case "ctl-op-watch" ctl_watch
	run_case "ctl-stats" ctl_stats
	run_case "ctl-monitor" ctl_monitor
	run_case "ctl-monitor-under-load" ctl_monitor_load
	run_case "ctl-monitor-loses-and-resyncs" ctl_lost
	run_case "ctl-namespaces-apart" ctl_apart
	run_case "ctl-json-is-as-specified" ctl_json
	run_case "ctl-completion" ctl_completion
	run_case "ctl-no-module" ctl_no_module
	run_case "restore-what-is-in-etc" restore_all
}

# value HOST KEY - of the namespace's settings.
value()
{
	hctl "$1" -j config | sed -n "s/^\[{\([^}]*\)}.*/\1/p" | tr ',' '\n' |
		sed -n "s/^\"$2\":\"\{0,1\}\([^\"]*\).*/\1/p"
}

# is HOST KEY VALUE
is()
{
	local v

	v=$(value "$1" "$2")
	[ "$v" = "$3" ] || fail "$2 is $v, not $3"
}

ctl_config()
{
	rack 2
	is 0 overcommit 10
	want_ok "set" hctl 0 config set overcommit 7
	is 0 overcommit 7
	is 1 overcommit 10
	# several at once, units, names shortened, names as JSON has them
	want_ok "set" hctl 0 config set rtt 4us link-rate 25gbit rcv 1m control_dscp cs5 op-o smallest
	is 0 rtt 4000
	is 0 link_rate 25000
	is 0 rcvbuf 1048576
	is 0 control_dscp 40
	is 0 op_order smallest
	is 0 rtt_bytes_now 12500
	# all or none; the kernel's words name the attribute and its range
	refused 2 'overcommit' hctl 0 config set rtt 8us overcommit 0
	want_grep "no range" "$(<"$work/err")" '1.*1000'
	is 0 rtt 4000
	is 0 overcommit 7
	hctl 0 config set window-mode constant link-rate auto packet-size 1200 \
		resend-first 2ms resend-min 1500us resend-max 2s early-expiry 10s finished-max 100 \
		unscheduled 64k idle-timeout 5s || fail "set"
	is 0 resend_min 1500
	is 0 idle_timeout 5000
	is 0 window_mode constant
	# a device follows until it is told otherwise
	want_ok "set of a device" hctl 0 config set dev eth0 overcommit 3
	want_grep "the device has not taken it" "$(hctl 0 -j config show dev eth0)" '"overcommit":3'
	want_grep "more than that is its own" \
		"$(hctl 0 -j config show dev eth0)" '"own":\["overcommit"\]'
	is 0 overcommit 7
	refused 2 '' hctl 0 config set dev eth0 early-bytes 1m
	refused 3 'no device "nix"' hctl 0 config set dev nix overcommit 1
	want_ok "default" hctl 0 config set dev eth0 overcommit default
	want_grep "the device does not follow" "$(hctl 0 -j config show dev eth0)" '"overcommit":7'
	want_ok "default" hctl 0 config set overcommit default op-order default
	is 0 overcommit 10
	is 0 op_order fair
	refused 1 'out of range' hctl 0 config set overcommit 4294967296
	refused 1 'is not a whole number' hctl 0 config set overcommit -1
	refused 1 'one device at a time' hctl 0 config set dev eth0 dev lo overcommit 1
}

ctl_save_load()
{
	rack 2
	want_ok "set" hctl 0 config set overcommit 7 op-order deadline rtt 4us
	want_ok "set of a device" hctl 0 config set dev eth0 link-rate 25gbit window-mode constant
	want_ok "save" hctl 0 config save "$work/a"
	want_ok "set" hctl 0 config set overcommit 3 op-order default idle-timeout 1s
	want_ok "set of a device" hctl 0 config set dev eth0 link-rate default rtt 9us
	hctl 0 config save >"$work/b" || fail "save: got status $?, want 0"
	cmp -s "$work/a" "$work/b" && fail "nothing has changed"
	# what is not in the file goes back to what it follows
	want_ok "load" hctl 0 config load "$work/a"
	hctl 0 config save - >"$work/c"
	want_ok "not the same after a round trip" diff "$work/a" "$work/c"
	want_ok "load" hctl 0 config load <"$work/b"
	hctl 0 config save | diff "$work/b" - || fail "not the same after a second one"
	# the same file is a batch; another namespace takes it
	want_ok "batch" hctl 1 -b "$work/a"
	is 1 overcommit 7
	is 1 op_order deadline
	# a file that is wrong somewhere changes nothing
	{ cat "$work/a"; echo "config set dev eth0 overcommit"; } >"$work/bad"
	refused 1 'wants a value' hctl 0 config load "$work/bad"
	want_grep "it does not say where" "$(<"$work/err")" "bad:4"
	echo "op cancel 1" >"$work/bad"
	refused 1 'begins with "config set"' hctl 0 config load "$work/bad"
	hctl 0 config save | diff "$work/b" - || fail "a bad file has changed something"
	refused 3 'No such file' hctl 0 config load "$work/nix"
}

ctl_config_running()
{
	local id

	slow_op 2
	want_ok "a running operation does not follow" hctl 0 config set overcommit 4 resend-max 2s
	is 0 overcommit 4
	refused 2 'port' hctl 0 config set port 18519
	end_op
}

# Members need not have one window mode, and their settings may differ.
ctl_window_modes()
{
	local h

	rack 8
	for ((h = 0; h < 8; h++)); do
		want_ok "set on host $h" \
			hctl $h config set window-mode scale-back scale-back-exponent $((h % 4 + 1))
	done
	is 0 window_mode scale-back
	peer n=8 matrix="skew:$(sz 262144 32768)" || shuffle_failed
	hctl 1 config set window-mode constant
	hctl 2 config set window-mode pro-rata
	peer n=8 matrix="skew:$(sz 262144 32768)" || shuffle_failed
}

# The same racks from each format, and a table as large as the limit.
ctl_topology()
{
	local i

	rack 2
	want_ok "clear" hctl 0 topology clear
	cat >"$work/slurm" <<-END
	# leaves
	SwitchName=a Nodes=10.9.0.[1-3] LinkSpeed=1
	switchname=b \\
		nodes=10.9.1.[1,3-4],fd00::[7-8]
	SwitchName=top Switches=[a-b]
	END
	cat >"$work/hadoop" <<-END
	10.9.0.1 a
	10.9.0.2	a	# not in order
	10.9.1.1 b
	10.9.1.3 b
	10.9.1.4 b
	10.9.0.3 a
	10.9.0.3 a
	fd00::7 b
	fd00:0::8 b
	END
	{
		echo 'Host,"Rack"'
		awk '{ print $1 "," $2 }' "$work/hadoop"
	} >"$work/csv"
	for i in slurm hadoop csv; do
		hctl 0 topology load "$work/$i" >"$work/said" || fail "load of $i"
		want_grep "$i" "$(<"$work/said")" 'addresses 8 .*racks 2'
		hctl 0 topology show >"$work/as-$i" || fail "show after $i"
		hctl 0 topology load "$work/$i" $i >/dev/null || fail "load of $i, as such"
		hctl 0 topology show | diff "$work/as-$i" - || fail "$i: as such it is something else"
	done
	for i in hadoop csv; do
		want_ok "$i is not the same" cmp "$work/as-slurm" "$work/as-$i"
	done
	want_eq "show of a host" "$(hctl 0 topology show 10.9.1.3)" "10.9.1.3           b"
	want_grep "JSON" "$(hctl 0 -j topology)" '{"hosts":"fd00::8","rack":"b"}'
	refused 2 'no such host' hctl 0 topology show 10.9.9.9
	# what is wrong changes nothing, and the file and its line are named
	echo '10.9.0.1 c' | cat "$work/hadoop" - >"$work/bad"
	refused 3 'bad:10: 10.9.0.1 is in rack "c", and in rack "a" in line 1' hctl 0 topology load "$work/bad"
	refused 3 'range of numbers' hctl 0 topology load - <<<'SwitchName=a Nodes=n[1-x]'
	refused 3 'bits' hctl 0 topology load - <<<'10.9.0.1/8 a'
	hctl 0 topology show | cmp - "$work/as-slurm" || fail "what is refused changes the table"
	want_eq "namespaces share a table" "$(hctl 1 topology show)" ""
	refused 3 'ermission denied' nobody h0 topology clear
	# as large as it may be, and larger
	seq -f '%.0f' 0 16383 | awk '{ print "10.9." int($1 / 256) "." $1 % 256 " rack-" int($1 / 4) }' >"$work/large"
	hctl 0 topology load "$work/large" >/dev/null ||
		fail "load of 16384 hosts: got status $?, want 0"
	want_eq "not all of 16384 hosts" "$(hctl 0 topology show | wc -l)" 16384
	echo '10.1.1.1 one-more' >>"$work/large"
	refused 3 'more' hctl 0 topology load "$work/large"
	want_ok "clear" hctl 0 topology clear
	want_eq "clear leaves something" "$(hctl 0 topology show)" ""
}

nobody()
{
	local h=$1
	shift
	nsx "$h" setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$BIN/shufflectl" "$@"
}

ctl_permission()
{
	local object

	rack 2
	for object in op peer socket config stats qdisc; do
		nobody h0 -j "$object" >/dev/null || fail "not everybody may look at $object"
	done
	# a case before may have left another default
	want_ok "root may not set it" hctl 0 config set overcommit 7
	refused 2 'not permitted' nobody h0 config set overcommit 3
	refused 2 'not permitted' nobody h0 op cancel 1
	is 0 overcommit 7
}

# slow_op HOSTS [ARGS...] - an operation that lasts until end_op; sets id.
slow_op()
{
	local n=$1
	shift

	[ -n "${have_rack-}" ] || rack "$n"
	rate 1
	stands_still n="$n" matrix=others:7000000 expect=ECANCELED "$@"
	id=$(hctl 0 op | sed -n 's/^op \([0-9]*\) .*/\1/p')
	want_ne "no operation" "$id" ""
}

end_op()
{
	local h

	for ((h = 0; h < hosts; h++)); do
		hctl "$h" op cancel "$id" >/dev/null || fail "cancel on host $h"
	done
	peer_end || shuffle_failed
}

ctl_op()
{
	local id

	slow_op 3
	hctl 0 op >"$work/ops"
	cat "$work/ops"
	want_grep "no rank, no members" "$(<"$work/ops")" 'rank 0  members 3'
	want_grep "show ID" "$(hctl 0 -j op "$id")" "\"op_id\":$id,\"state\":\"running\""
	hctl 0 op messages "$id" >"$work/msgs" || fail "messages: got status $?, want 0"
	want_eq "not 3 messages come" "$(grep -c '^from ' "$work/msgs")" 3 "$(cat "$work/msgs")"
	want_eq "not 3 messages go" "$(grep -c '^to ' "$work/msgs")" 3
	want_eq "from 2" "$(hctl 0 op messages "$id" from 2 | grep -c '^from 2 ')" 1
	# one of the two others may not have been heard yet
	want_grep "no length" "$(<"$work/msgs")" '^from .*length 6.7MiB'
	hctl 0 peer >"$work/peers"
	want_grep "no peer" "$(<"$work/peers")" '^10.77.0.2  dev eth0'
	want_grep "peer ADDRESS" "$(hctl 0 -j peer 10.77.0.3)" '"ipv4":"10.77.0.3"'
	want_grep "socket" "$(hctl 0 socket)" '^socket [0-9]*  at 10.77.0.1:7'
	refused 2 "no operation 4711 in this namespace" hctl 0 op 4711
	refused 2 "operation" hctl 0 op messages 4711
	refused 2 "no such peer" hctl 0 peer 10.77.0.99
	refused 2 "no such socket" hctl 0 socket 999999
	# on the same device: the qdisc is one that shuffles use
	want_grep "qdisc does not know the device" \
		"$(hctl 0 -j qdisc)" '"dev":"eth0".*"in_use":true'
	end_op
	want_eq "it is still there" "$(hctl 0 op)" ""
	want_eq "no empty list" "$(hctl 0 -j op)" "[]"
}

ctl_cancel()
{
	local id

	slow_op 2
	refused 2 'operation' hctl 0 op cancel 4711
	want_grep "cancel" "$(hctl 0 op cancel "$id")" "^op $id cancelled  sockets 1$"
	want_grep "cancel, JSON" "$(hctl 1 -j op cancel "$id")" "\"op_id\":$id,\"count\":1"
	want_ok "not ECANCELED" peer_end
	refused 2 'operation' hctl 0 op cancel "$id"
}

ctl_watch()
{
	local id

	slow_op 2
	hctl 0 op watch -i 0.1 -c 2 >"$work/watch" || fail "watch: got status $?, want 0"
	cat "$work/watch"
	want_eq "not two frames" "$(grep -c ' 1 operations in shf-h0' "$work/watch")" 2
	want_grep "no progress bar" "$(<"$work/watch")" -E '0/2 +running +\[#*\.*\] +[0-9]+%'
	hctl 0 -j op watch -i 0.1 -c 2 >"$work/watch" || fail "watch, JSON: got status $?, want 0"
	want_eq "not one object a line" \
		"$(grep -c '^{"time":"20.*"ops":\[{"op_id":' "$work/watch")" 2
	end_op
}

# Another kilobyte; have differences been shown, one of them not zero?
rates_shown()
{
	peer n=2 matrix=others:1000 >"$work/peer.log" || shuffle_failed "$(cat "$work/peer.log")"
	[ "$(wc -l <"$work/live")" -ge 2 ] &&
		grep -qE '"name":"DataBytesIn","value":[0-9]+000,"difference":[1-9][0-9]*000,"per_second":[1-9]' \
			"$work/live"
}

ctl_stats()
{
	local n

	rack 2
	peer n=2 matrix=others:1000 || shuffle_failed
	hctl 0 -s stats 'data*' >"$work/stats" || fail "stats: got status $?, want 0"
	want_grep "stats" "$(<"$work/stats")" -E '^DataBytesIn +1000 +payload bytes received'
	want_eq "not the 4 that are called Data" "$(wc -l <"$work/stats")" 4 "$(cat "$work/stats")"
	# the same as in /proc
	n=$(hctl 0 -j stats | grep -o '"name":' | wc -l)
	want_eq "$n counters, /proc has others" \
		"$n" "$(nsx h0 head -1 /proc/net/shuffle/netstat | wc -w | awk '{ print $1 - 1 }')"
	refused 2 'no counter is called "nix"' hctl 0 stats nix
	hctl 0 -j stats -i 0.1 -c 2 databytesin >"$work/live" ||
		fail "stats -i: got status $?, want 0"
	want_eq "live" \
		"$(grep -cE '"value":1000,"difference":0,"per_second":0' "$work/live")" 2 "$(cat "$work/live")"
	background hctl 0 -j stats -i 0.5 databytesin >"$work/live"
	wait_for 10 rates_shown || fail "no rates: $(cat "$work/live")"
	# each is that to the reading before; the first one to a kilobyte or more
	sed 's/.*"value":\([0-9]*\),"difference":\([0-9]*\),.*/\1 \2/' "$work/live" |
		awk 'NR == 1 ? $1 - $2 < 1000 : $1 - last != $2 { exit 1 } { last = $1 }' ||
		fail "differences: $(cat "$work/live")"
}

event()
{
	grep -q " $1  " "$work/events"
}

ctl_monitor()
{
	rack 2
	background hctl 0 monitor >"$work/events"
	background hctl 0 -j monitor ops >"$work/json"
	background hctl 0 monitor -c 1 config >"$work/one"
	want_ok "monitor does not start" wait_for 5 listening 3
	peer n=2 matrix=others:20000 || shuffle_failed
	want_ok "no op-finished" wait_for 5 event op-finished
	want_ok "no op-started" event op-started
	want_ok "set" hctl 0 config set overcommit 9
	want_ok "no config" wait_for 5 event config
	want_grep "not what was set" "$(<"$work/events")" 'overcommit 9'
	want_ok "-c" wait_for 5 grep -q ' config ' "$work/one"
	peer n=2 matrix=others:20000 1:absent=1 deadline=500 expect=ETIMEDOUT || shuffle_failed "deadline"
	want_ok "no op-failed" wait_for 5 event op-failed
	want_grep "who is missing is missing" "$(grep -A5 op-failed "$work/events")" 'missing-in 1'
	want_grep "json" "$(<"$work/json")" '^{"time":"20.*Z","event":"op-finished","op_id":[0-9]*,'
	want_no_grep "config was not asked for" "$(<"$work/json")" '"event":"config"'
	cat "$work/events"
}

# Nothing is lost while many operations come and go and settings change.
ctl_monitor_load()
{
	local i

	rack 4
	background hctl 0 -j monitor >"$work/json"
	want_ok "monitor does not start" wait_for 5 listening 1
	for ((i = 0; i < 100; i++)); do
		echo "config set overcommit $((i % 20 + 5))"
	done >"$work/batch"
	background hctl 0 -b "$work/batch"
	peer n=4 ops=16 matrix=others:20000 || shuffle_failed
	wait_for 20 events 16 op-started || fail "$(events_are op-started) started, not 16"
	wait_for 20 events 16 op-finished || fail "$(events_are op-finished) finished, not 16"
	wait_for 20 events 100 config || fail "$(events_are config) changes, not 100"
	want_no_grep "events were lost" "$(<"$work/json")" '"event":"lost"'
	return 0
}

events_are()
{
	grep -c "\"event\":\"$1\"" "$work/json"
}

events()
{
	[ "$(events_are "$2")" = "$1" ]
}

# So many programs listen to events in host 0.
listening()
{
	# shellcheck disable=SC2016 # for awk
	[ "$(nsx h0 awk '$2 == 16 && $4 != "00000000" { n++ } END { print n + 0 }' /proc/net/netlink)" -ge "$1" ]
}

events_dropped()
{
	# shellcheck disable=SC2016 # for awk
	nsx h0 awk '$2 == 16 && $9 > 0 { n++ } END { exit !n }' /proc/net/netlink
}

# A listener that may not have a large buffer, and does not read for a while.
ctl_lost()
{
	local i pid old

	rack 2
	old=$(cat /proc/sys/net/core/rmem_max)
	echo 8192 >/proc/sys/net/core/rmem_max || skip "rmem_max cannot be set"
	background nobody h0 monitor >"$work/events"
	want_ok "monitor does not start" wait_for 5 listening 1
	echo "$old" >/proc/sys/net/core/rmem_max
	pid=$(pgrep -n -u 65534 shufflectl) || fail "where is it?"
	kill -STOP "$pid"
	for ((i = 0; i < 200; i++)); do
		echo "config set overcommit $((i % 100 + 1))"
	done >"$work/batch"
	want_ok "batch" hctl 0 -b "$work/batch"
	# a worker sends them: it waits for a listener that reads
	want_ok "its buffer holds all of them" wait_for 5 events_dropped
	kill -CONT "$pid"
	want_ok "not a word about losses" wait_for 10 grep -q ' resynced' "$work/events"
	want_grep "resynced, but not lost" "$(<"$work/events")" ' lost .*buffer was full'
	# the last one is known, although its event may have been lost
	want_grep "no state" "$(<"$work/events")" 'resync yes.*'
	want_grep "the last state is not known" \
		"$(sed -n '/ lost /,$p' "$work/events")" 'overcommit 100'
	want_ok "set" hctl 0 config set overcommit 55
	want_ok "it does not go on" wait_for 5 grep -q 'overcommit 55' "$work/events"
}

ctl_apart()
{
	local id

	rack 2
	background ctl -n shf-br monitor >"$work/events"
	have_rack=1 slow_op 2
	want_eq "another namespace sees it" \
		"$(ctl -n shf-br op)$(ctl -n shf-br socket)$(ctl -n shf-br peer)" ""
	want_eq "host 0 sees more than its own" "$(hctl 0 op | grep -c '^op ')" 1
	want_ok "set" hctl 0 config set overcommit 5
	is 1 overcommit 10
	refused 2 'operation' ctl -n shf-br op cancel "$id"
	end_op
	want_eq "another namespace hears it" "$(<"$work/events")" ""
}

ctl_json()
{
	local id spec=$here/../../../Documentation/netlink/specs/shuffle.yaml j=$work

	python3 -c 'import yaml' 2>/dev/null || skip "no python3-yaml"
	[ -e "$spec" ] || skip "no specification here"
	rack 2
	background hctl 0 -j monitor >"$j/events"
	want_ok "monitor does not start" wait_for 5 listening 1
	want_ok "set" hctl 0 config set dev eth0 overcommit 5
	peer n=2 matrix=others:20000 || shuffle_failed
	have_rack=1 slow_op 2 op=$((tap_count * 1000 + 500))
	hctl 0 -j config >"$j/config-get"
	hctl 0 -j op >"$j/op-get"
	hctl 0 -p op messages "$id" >"$j/msg-get"
	hctl 0 -p peer >"$j/peer-get"
	hctl 0 -j socket >"$j/socket-get"
	hctl 0 -p stats >"$j/stats-get"
	end_op
	peer n=2 matrix=others:20000 1:absent=1 deadline=300 expect=ETIMEDOUT op=$((tap_count * 1000 + 900)) || shuffle_failed "deadline"
	want_ok "no event" wait_for 5 grep -q op-failed "$j/events"
	python3 "$here/ctl_json.py" "$spec" "$j"/{config,op,msg,peer,socket,stats}-get "$j/events" ||
		fail "not as specified"
}

# completes WORDS... - what bash offers for the last of these words.
completes()
{
	bash -c '
		. "$1"
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_shufflectl
		printf "%s\n" "${COMPREPLY[@]}"' bash "$here/../../../tools/shufflectl/completion.bash" \
		"$BIN/shufflectl" "$@" | sort | tr '\n' ' '
}

# offers WORD WORDS... - completion of the latter offers the former.
offers()
{
	local word=$1 said
	shift
	said=$(completes "$@")
	[[ " $said" == *" $word "* ]] || fail "no $word for '$*': $said"
}

ctl_completion()
{
	local id

	[ -e "$here/../../../tools/shufflectl/completion.bash" ] || skip "no completion here"
	slow_op 2
	offers config co
	offers shf-h1 -n shf-h
	offers "$id" -n shf-h0 op ''
	offers "$id" -n shf-h0 op cancel ''
	offers 10.77.0.2 -n shf-h0 peer show ''
	offers eth0 -n shf-h0 qdisc install ''
	offers --kind -n shf-h0 qdisc install eth0 --
	offers mqprio qdisc install eth0 --kind ''
	offers overcommit config set ov
	offers window-mode config set op-order fair w
	offers smallest config set op-order ''
	offers DataBytesIn -n shf-h0 stats Data
	offers memory monitor ''
	offers install topology ins
	offers --dry-run topology install 239.7.0.1 --d
	offers eth0 -n shf-h0 topology install 239.7.0.1 --route ''
	offers watch op w
	end_op
}

ctl_no_module()
{
	local object

	[ -n "${SHUFFLE_KO-}" ] || skip "the module would have to be found again"
	rack 1
	rack_down
	wait_for 5 rmmod shuffle 2>/dev/null || skip "the module is in use"
	for object in op peer socket config stats monitor; do
		refused 3 'modprobe shuffle' ctl $object
	done
	ctl qdisc >/dev/null || fail "qdisc wants the module: got status $?, want 0"
	want_ok "it cannot be loaded again" module_load
	want_eq "op" "$(ctl -j op)" "[]"
}

# restore [ARG...] - on host 1, from $state/etc, which outlives the case
restore()
{
	nsx h1 env "PATH=$BIN:$PATH" sh "$here/../../../tools/systemd/shuffle-restore.sh" --etc "$state/etc" "$@"
}

# What a machine has after a reboot: shuffle-restore(8).
restore_all()
{
	new_rack 3
	want_status "an unknown option" 2 restore --nix
	want_status "two devices" 2 restore eth0 eth1
	want_ok "nothing is there, and nothing to do" restore
	rm -rf "${state:?}/etc"
	mkdir "$state/etc"
	want_ok "config set" hctl 0 config set overcommit 7
	want_ok "config set dev" hctl 0 config set dev eth0 rtt 77000
	want_ok "save" hctl 0 config save "$state/etc/config"
	printf '%s\n' '# a comment' '' 'eth7 --rate 1gbit' 'eth0 --kind prio # this one' >"$state/etc/qdiscs"
	printf '10.77.0.%s\n' '[1-2] a' '3 b' | sed 's/\(.*\) \(.\)$/SwitchName=\2 Nodes=\1/' >"$state/etc/topology"
	echo "agg rank 1 to 0 from 2 sorted members $(members_of 3)" >"$state/etc/relays"
	nsx h1 "$BIN/shuffle-relayd" --start || fail "no relayd"
	want_ok "restore" restore
	want_ok "once more" restore
	is 1 overcommit 7
	want_grep "no setting of the device" "$(hctl 1 -j config show dev eth0)" '"rtt":77000'
	want_grep "no qdisc" "$(tc -n shf-h1 qdisc show dev eth0)" 'prio 5348:'
	want_eq "the rack of host 3" "$(hctl 1 topology show 10.77.0.3)" "10.77.0.3          b"
	want_grep "no relay" "$(hctl 1 relay show)" agg
	# a device that comes later, and one that nobody has named
	ip -n shf-h1 link add eth7 type dummy || skip "no dummy devices"
	ip -n shf-h1 link add eth8 type dummy || fail "no second dummy"
	want_ok "a device" restore eth7
	want_ok "another one" restore eth8
	want_grep "no qdisc" "$(tc -n shf-h1 qdisc show dev eth7)" 5348:
	want_no_grep "a qdisc" "$(tc -n shf-h1 qdisc show dev eth8)" 5348:
	# what is wrong is named, and the rest is done
	echo 'overcommit much' >"$state/etc/config"
	want_ok "remove" hctl 1 qdisc remove eth0
	refused 1 'etc/config: failed' restore
	want_grep "no qdisc" "$(tc -n shf-h1 qdisc show dev eth0)" 'prio 5348:'
}
