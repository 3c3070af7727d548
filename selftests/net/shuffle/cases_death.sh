#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: a member leaves, or is late.  The others end at once where its kernel can notice, else
# within the idle timeout of the last progress, and name it and nobody else.  In virtual time, where
# waiting costs nothing.  Sourced by run_all.sh.
#
# shellcheck disable=SC2154 # work: lib.sh

death_cases()
{
	local what

	for what in never kill exit stop cancel close netns reboot bare link other; do
		run_case "death-$what" death_sizes "$what" 1000:2 1000:4 1000000:2 1000000:4 20000000:2
	done
	for what in never kill stop; do
		run_case "death-$what-long" death_sizes "$what" 20000000:4
	done
	run_case "death-same" death_kind same kill never link reboot bare stop
	run_case "death-eight-members" death_sizes kill 1000000:8
	run_case "death-rows-asked-for" death_mode want
	run_case "signal-ends-sendmsg" tap_program api_signal
	run_case "reader-that-does-not-read-is-idle" death_reader
}

# death WHAT BYTES MEMBERS [ARGS...]
death()
{
	rack_down
	rack "$3"
	rate 20
	overtake
	"$BIN/death" "$1" bytes="$2" n="$3" op="$((tap_count * 100 + 1))" prefix="$PFX" "${@:4}"
}

# Ports of a switch with two queues: what has the DSCP of control packets overtakes data, as in the
# hosts' own qdiscs, which go by skb->priority.
overtake()
{
	local h

	modprobe -q sch_prio 2>/dev/null
	modprobe -q cls_u32 2>/dev/null
	for ((h = 0; h < hosts; h++)); do
		tc -n "${PFX}h$h" qdisc add dev eth0 parent 1: handle 2: prio || skip "no prio"
		tc -n "${PFX}br" -batch - <<-END || skip "no prio or no u32"
			qdisc replace dev p$h root handle 1: tbf rate 20mbit burst 9100 limit 2000000
			qdisc add dev p$h parent 1: handle 2: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
			filter add dev p$h parent 2: protocol ip u32 match ip dsfield 0xc0 0xfc flowid 2:1
			filter add dev p$h parent 2: protocol ipv6 u32 match ip6 priority 0xc0 0xfc flowid 2:1
		END
	done
}

death_sizes()
{
	local what=$1 pair rc=0
	shift

	[ -n "${SHUFFLE_VIRTUAL-}" ] || skip "takes minutes where time is not virtual"
	for pair in "$@"; do
		death "$what" "${pair%:*}" "${pair#*:}" || rc=1
	done
	return $rc
}

# death_kind KIND WHAT...
death_kind()
{
	local kind=$1 what rc=0
	shift

	[ -n "${SHUFFLE_VIRTUAL-}" ] || skip "takes minutes where time is not virtual"
	for what in "$@"; do
		death "$what" 1000000 4 kind="$kind" || rc=1
	done
	return $rc
}

death_mode()
{
	local rc=0 what

	[ -n "${SHUFFLE_VIRTUAL-}" ] || skip "takes minutes where time is not virtual"
	for what in never kill; do
		death "$what" 10000000 3 mode="$1" || rc=1
	done
	return $rc
}

# What Documentation/networking/api.rst says: waiting for a reader counts as idle time.
death_reader()
{
	[ -n "${SHUFFLE_VIRTUAL-}" ] || skip "waits for long"
	rack 2
	peer n=2 matrix=incast:2000000:0 0:read_delay=4000 rcvbuf=100000 sndbuf=100000 idle=2000 \
		expect=ETIMEDOUT || shuffle_failed
	peer n=2 matrix=incast:2000000:0 0:read_delay=4000 rcvbuf=100000 sndbuf=100000 idle=6000 ||
		shuffle_failed "given up before the idle timeout"
}
