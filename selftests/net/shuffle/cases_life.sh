#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: members that come late, do not read, give up, die or lose their
# namespace; system calls; unloading the module.
# Sourced by run_all.sh.
#
# shellcheck disable=SC2034,SC2154 # work, slow, KEEP, peer_pid: lib.sh, other cases

life_cases()
{
	local v groups

	for v in 4 6; do
		# Two minutes of a fast machine for all groups: each family has some of them.
		groups=1,3,5,12
		[ $v = 4 ] || groups=2,8
		# Twelve in all patterns are 20 minutes there.
		[ "$slow" -lt 20 ] || groups=4
		run_case "api-names-v$v" tap_program api_test -v $v
		run_case "api-messages-v$v" tap_program api_msg -v $v
		run_case "api-vectors-v$v" tap_program api_vectors -v $v
		run_case "api-want-v$v" tap_program api_want -v $v
		run_case "api-absent-v$v" tap_program api_absent -v $v
		run_case "api-same-v$v" tap_program api_same -v $v
		run_case "api-edges-v$v" tap_program api_edges -v $v
		run_case "api-delay-v$v" tap_program api_delay -v $v
		run_case "api-engine-v$v" tap_program api_engine -v $v
		run_case "api-coll-v$v" tap_program api_coll -v $v $groups
		run_case "api-later-v$v" tap_program api_later -v $v
		run_case "api-leave-v$v" tap_program api_leave -v $v
		run_case "api-alltoall-v$v" tap_program api_alltoall -v $v
		run_case "api-keys-v$v" tap_program api_keys -v $v
	done
	run_case "api-racks" tap_program api_racks
	run_case "late-starters" late_starters 2000
	run_case "late-sockets" late_sockets
	run_case "late-starters-two-operations" late_starters 500 ops=2 rounds=2
	run_case "early-packets-overflow" early_overflow
	run_case "early-packets-are-claimed" early_claimed
	run_case "member-that-never-comes" never_comes
	run_case "fifteen-that-never-come" few_asked
	run_case "killed-member" killed_member 0
	run_case "killed-member-v6" killed_member 1
	run_case "killed-member-restarts" killed_restarts
	run_case "closed-member" closed_member
	run_case "idle-timeout" idle_timeout
	run_case "cancel-everywhere" cancel_all
	run_case "cancel-one-member" cancel_one
	run_case "no-reader" no_reader
	run_case "no-reader-blocking" no_reader_blocking
	run_case "slow-reader" slow_reader
	run_case "exit-after-done" exit_after_done
	run_case "netns-name-deleted" netns_name
	run_case "netns-deleted" netns_deleted
	run_case "all-netns-deleted" netns_all
	run_case "counters" counters_exist
	run_case "unload-refused-then-works" unload
	run_case "unload-with-early-packets" unload_early
	run_case "unload-while-settings-change" unload_settings
	run_case "unsigned-module" unsigned_module
	run_case "unload-after-killed-members" unload_killed
}

# A program that speaks TAP itself becomes one case; its failures are the log.
tap_program()
{
	local rc

	"$BIN/$1" "${@:2}" >"$work/tap" 2>&1
	rc=$?
	grep -E '^not ok|^Bail|^# ' "$work/tap"
	tail -1 "$work/tap"
	grep -q '^1\.\.' "$work/tap" || { tail -3 "$work/tap"; fail "$1 ended early ($rc)"; }
	[ "$rc" = 0 ]
}

late_starters()
{
	rack 4
	peer n=4 matrix="skew:$(sz 65536 16384)" stagger="$1" "${@:2}" || shuffle_failed
	want_gt "no early packets were kept" "$(counters EarlyKept)" 0
	want_gt "none were claimed" "$(counters EarlyClaimed)" 0
}

# Not even bound when the others begin.
late_sockets()
{
	rack 3
	peer n=3 matrix="skew:$(sz 65536 16384)" 1:open_delay=1000 2:open_delay=2000 ||
		shuffle_failed
}

# More early data than is kept: what was dropped is asked for later.
early_overflow()
{
	rack 4 early-bytes 16384
	# host 0 is bound before others send
	peer n=4 matrix="uniform:$(sz 262144 65536)" 0:delay=$((1500 + 300 * slow)) \
		1-3:delay=$((300 * slow)) || shuffle_failed
	want_gt "nothing was dropped" "$(counter 0 EarlyFull)" 0
}

# Operations begin while their packets come, on several CPUs where there are: none may be kept that
# nobody looks for any more.  What is left would expire after early_expiry_ms.
early_claimed()
{
	local i kept claimed

	rack_down
	rack 4
	for i in 1 2 3; do
		peer n=4 op=$((i * 10000)) ops=16 rounds=$((40 / slow + 2)) matrix=uniform:500 ||
			shuffle_failed
	done
	kept=$(counters EarlyKept) claimed=$(counters EarlyClaimed)
	diag "$kept packets were kept, $claimed claimed"
	[ "$kept" -gt 0 ] || fail "no early packets were kept"
	[ "$kept" = "$claimed" ] || fail "$kept packets were kept, but $claimed claimed"
}

never_comes()
{
	rack 4
	patiently $((1500 * slow)) n=4 matrix=uniform:20000 3:absent=1 \
		expect=ETIMEDOUT missing=3 || fail "others do not name rank 3"
	patiently $((1500 * slow)) n=4 matrix=onerow:20000:0 3:absent=1 \
		expect=ETIMEDOUT missing=3 || fail "empty messages: others do not name rank 3"
}

# Eight of them are asked at a time.  The wait doubles from 5 ms at least, so that there
# are no more than nine times in 1.5 s, and one more.
few_asked()
{
	local ms=1500 most=8 sent

	new_rack 2
	want_ok "rank 0 does not time out" \
		peer n=16 hosts=2 matrix=uniform:1000 1-15:absent=1 deadline=$ms expect=ETIMEDOUT
	while [ $((ms /= 2)) -ge 5 ]; do
		most=$((most + 8))
	done
	sent=$(counter 0 ResendOut)
	want_gt "nobody was asked" "$sent" 0
	[ "$sent" -le $((most + 8)) ] || fail "$sent RESENDs, expected $((most + 8)) at most"
}

# Those who are to miss a member must lack a part of its message when it goes: what a host sends
# in that time at 10 Mb/s, 400 000 bytes in 320 ms, must not be a whole message.
killed_member()
{
	rack 4
	rate 10
	patiently $((3000 + 1500 * slow)) n=4 v6="$1" matrix=others:600000 \
		2:kill_ms=300 expect=ECONNRESET missing=2 ||
		fail "others do not name rank 2"
}

# Same address, next operation: the peers' memory of the dead one is no hindrance.
killed_restarts()
{
	rack 3
	rate 10
	patiently $((1500 + 1000 * slow)) n=3 matrix=others:600000 \
		1:kill_ms=250 expect=ECONNRESET missing=1 || fail "first shuffle"
	want_ok "second shuffle" peer n=3 op=2 matrix=others:50000
}

closed_member()
{
	rack 4
	rate 10
	patiently $((3000 + 1500 * slow)) n=4 matrix=others:600000 1:close_ms=300 \
		expect=ECONNRESET missing=1 || fail "others do not name rank 1"
}

idle_timeout()
{
	rack 3
	peer n=3 matrix=uniform:20000 2:absent=1 idle=$((1000 * slow)) \
		expect=ETIMEDOUT missing=2 || fail "others do not name rank 2"
}

# All cancel the second of two operations; the first one ends well.
# Each by its own clock, from its own start: a late one hears of another's cancel first.
cancel_all()
{
	rack 4
	rate 10
	peer n=4 ops=2 matrix=others:100000 cancel_ms=250 cancel_op=1 \
		expect=done,cancelled || shuffle_failed
}

cancel_one()
{
	rack 4
	rate 10
	# of a row that does not fit its send buffer: however slow others are, they lack a part
	patiently $((5000 + 2000 * slow)) n=4 ops=2 matrix=others:100000 2:sndbuf=30000 \
		2:cancel_ms=1 2:cancel_op=1 \
		expect=done,ECONNRESET 2:expect=done,ECANCELED \
		missing=2 2:missing= || shuffle_failed
}

# Rank 0 does not read for 2 s: senders are held back once its buffer and
# theirs are full, memory stays within the limits, and then all arrives.
no_reader()
{
	rack 3
	peer n=3 matrix=incast:2000000:0 0:read_delay=2500 rcvbuf=100000 sndbuf=100000 \
		1-2:min_tx_ms=2400 check_mem=1 || shuffle_failed
	peer n=3 op=2 v6="$ipv6" mode=1 matrix=incast:2000000:0 0:read_delay=2500 rcvbuf=100000 \
		sndbuf=100000 1-2:min_tx_ms=2400 check_mem=1 || shuffle_failed "IPv6 shuffle failed"
}

no_reader_blocking()
{
	rack 3
	peer n=3 mode=3 matrix=incast:1000000:0 0:read_delay=2000 rcvbuf=100000 sndbuf=100000 \
		1-2:min_tx_ms=1900 check_mem=1 || shuffle_failed
}

slow_reader()
{
	rack 4
	peer n=4 matrix=uniform:200000 0:read_pause=5 0:recv_buf=20000 rcvbuf=50000 \
		check_mem=1 || shuffle_failed
}

# A lost ACK must be repeated on behalf of a process that is gone.
exit_after_done()
{
	local i

	rack 4
	netem loss 20%
	for i in 1 2 3 4 5; do
		peer n=4 op="$i" matrix=uniform:3000 || shuffle_failed "shuffle $i failed"
	done
	diag "ACKs for those who had gone: $(counters ReAck)"
}

# The members hold the namespace whose name is deleted.
netns_name()
{
	rack 4
	rate 10
	in_the_middle n=4 matrix=others:300000
	ip netns del shf-h1
	peer_end || shuffle_failed
}

netns_gone()
{
	! ip -n shf-br -o link show dev "$1" >/dev/null 2>&1
}

# The namespace goes with its last member.
netns_deleted()
{
	rack 4
	rate 10
	in_the_middle n=4 matrix=others:700000 deadline=$((3000 + 1500 * slow)) \
		1:kill_ms=400 expect=fail missing=1	# its last packet may go with its device
	ip netns del shf-h1
	want_ok "the namespace does not go away" wait_for 40 netns_gone p1
	want_ok "others do not name rank 1" peer_end
}

netns_all()
{
	local h i

	for i in 1 2 3; do
		rack 3
		rate 10
		in_the_middle n=3 v6=$((i & ipv6)) op=$i ops=2 matrix=others:300000
		kill -9 "$peer_pid"
		for h in 0 1 2; do
			ip netns del shf-h$h
		done
		want_ok "the namespace does not go away" wait_for 20 netns_gone p0
		want_ok "the namespace does not go away" wait_for 20 netns_gone p2
		wait "$peer_pid" 2>/dev/null
	done
	return 0
}

counters_exist()
{
	local out in

	rack 2
	peer n=2 matrix=others:100000 || shuffle_failed
	out=$(counters DataBytesOut) in=$(counters DataBytesIn)
	diag "bytes out $out, in $in, retransmitted $(counters RetransBytes)"
	[ "$in" = 200000 ] || fail "DataBytesIn is $in, not 200000"
	want_ge "DataBytesOut is $out" "$out" 200000
	want_eq "OpsDone is" "$(counters OpsDone)" 2
	# shellcheck disable=SC2016 # for awk
	[ "$(nsx br awk 'NR == 2 { for (i = 2; i <= NF; i++) s += $i; print s + 0 }' \
		/proc/net/shuffle/netstat)" = 0 ] || fail "the bridge's namespace has counts"
	want_eq "the two lines differ in length" \
		"$(nsx h0 awk '{ print NF }' /proc/net/shuffle/netstat | uniq | wc -l)" 1
}

need_ko()
{
	[ -n "${SHUFFLE_KO-}" ] || modinfo shuffle >/dev/null 2>&1 || skip "no module file"
	module_loaded || skip "the module is built in"
}

unload()
{
	local i

	need_ko
	for i in 1 2 3; do
		rack 3
		rate 1
		stands_still n=3 v6=$((i & ipv6)) matrix=others:400000 deadline=300000
		if rmmod shuffle 2>/dev/null; then
			module_load
			fail "unloaded with live sockets"
		fi
		want_ok "the module has gone" module_loaded
		links up
		rate 100
		peer_end || shuffle_failed
		want_ok "cannot be unloaded after close" wait_for 10 rmmod shuffle
		module_loaded && fail "the module is still there"
		want_ok "cannot be loaded again" module_load
		peer n=3 op=50 matrix=others:10000 || shuffle_failed "shuffle after reload failed"
		rack_down
	done
}

# Nobody holds a socket, but packets of an operation not started wait in the
# store, and a finished operation is remembered.
unload_early()
{
	need_ko
	rack 3
	peer n=3 op=7 matrix=others:1000 || shuffle_failed
	peer n=3 matrix=others:30000 0:delay=100 0:deadline=1 0:expect=any \
		deadline=$((1000 * slow)) 1:absent=1 expect=any
	want_ok "cannot be unloaded" wait_for 10 rmmod shuffle
	rack_down
	want_ok "cannot be loaded again" module_load
}

unload_killed()
{
	need_ko
	rack 3
	rate 10
	in_the_middle n=3 ops=3 matrix=others:300000
	kill -9 "$peer_pid"
	wait "$peer_pid" 2>/dev/null
	want_ok "cannot be unloaded" wait_for 10 rmmod shuffle
	want_ok "cannot be loaded again" module_load
	peer n=3 op=50 matrix=others:10000 || shuffle_failed "shuffle after reload failed"
}

# A kernel that takes signed modules only says so, and the signed module works again.
unsigned_module()
{
	local said

	need_ko
	[ "$(cat /sys/module/module/parameters/sig_enforce 2>/dev/null)" = Y ] ||
		skip "this kernel takes unsigned modules"
	cp "$SHUFFLE_KO" "$work/unsigned.ko"
	strip --strip-debug "$work/unsigned.ko"
	want_ok "cannot be unloaded" wait_for 10 rmmod shuffle
	said=$(insmod "$work/unsigned.ko" 2>&1) && fail "a module without signature is loaded"
	want_grep "insmod" "$said" -E "Required key not available|Key was rejected"
	want_ok "cannot be loaded again" module_load
	rack 2
	peer n=2 matrix=others:10000 || shuffle_failed
}

# changes_of SETTING - until the module is not there.
# shellcheck disable=SC2317 # in the background
changes_of()
{
	local i

	for ((i = 1; i <= 500; i++)); do
		hctl 0 config set "$1" $i 2>/dev/null || return 0
	done
}

# Somebody changes a setting, and somebody listens, while the module goes.
unload_settings()
{
	local i

	need_ko
	rack 2
	for i in 1 2 3 4 5; do
		background changes_of overcommit
		background "$BIN/nl_test" events config-ntf 2 >/dev/null
		want_ok "cannot be unloaded" wait_for 10 rmmod shuffle
		want_ok "cannot be loaded again" module_load
	done
	rack_down
}
