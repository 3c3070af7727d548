#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cases: random collectives in random groups, every byte compared; a short slice of coll_soak.sh,
# and one of 'make soak'.
# Sourced by run_all.sh and coll_soak.sh.
#
#   SOAK_OPS=N	collectives of all cases together (default 200); a share for each.  Below
#		1000 only three of the cases, with up to 8 members.
#   SOAK_SEED=N	what is random depends on it
#
# shellcheck disable=SC2034,SC2154 # work, slow, KEEP: lib.sh

SOAK_OPS=${SOAK_OPS:-200}
SOAK_SEED=${SOAK_SEED:-1}

soak_cases()
{
	run_case "soak-members-come-and-go" soak_slice
	run_case "soak-collectives" soak 30
	KEEP=1
	run_case "soak-collectives-killed" soak_killed 10
	run_case "soak-collectives-no-memory" soak_no_memory 10
	[ "$SOAK_OPS" -lt 1000 ] || soak_long_cases
	KEEP=
	rack_down
}

soak_long_cases()
{
	run_case "soak-collectives-loss-1" soak_net 10 loss 1%
	run_case "soak-collectives-loss-10" soak_net 10 loss 10%
	run_case "soak-collectives-duplicate" soak_net 10 duplicate 20%
	run_case "soak-collectives-reorder" soak_net 10 delay 2ms reorder 30% 50%
	run_case "soak-collectives-link-flap" soak_flap 10
}

# soak PERCENT OPTIONS... - that many of all collectives.
soak()
{
	"$BIN/coll_soak" seed="$SOAK_SEED" ops=$((SOAK_OPS * $1 / 100)) \
		members=$((SOAK_OPS < 1000 ? 8 : 64)) \
		timeout=$(($(tmo 30) * 1000)) fault_timeout=$((1000 * slow)) "${@:2}" ||
		fail "coll_soak ${*:2}"
}

# A slice of 'make soak': soak/main.c.
soak_slice()
{
	[ -n "${SHUFFLE_VIRTUAL-}" ] || skip "takes long where time is not virtual"
	rack 4
	"$BIN/soak" ops=300 each=150 seed=3 prefix="$PFX" || fail "soak"
}

# On hosts with a network between them.
soak_rack()
{
	rack 8
	soak "$1" prefix="$PFX" hosts=8 "${@:2}"
}

soak_net()
{
	rack 8
	netem "${@:2}"
	soak_rack "$1"
	each_port qdisc del root
}

# each_port ARGS... - tc on the way to every host; what is not there does not matter.
each_port()
{
	local h

	for ((h = 0; h < hosts; h++)); do
		tc -n "${PFX}br" "$1" "$2" dev "p$h" "${@:3}" 2>/dev/null
	done
	return 0
}

# Members that are killed, give up, or stand still for a while.
soak_killed()
{
	soak_rack "$1" faults=40 stops=20
}

# Each link goes down and comes up again.
flap()
{
	local h=0

	while sleep 0.3; do
		ip -n "${PFX}br" link set "p$h" down
		sleep 0.1
		ip -n "${PFX}br" link set "p$h" up
		h=$(((h + 1) % 8))
	done
}

soak_flap()
{
	local pid

	rack 8
	background flap
	pid=$!
	soak_rack "$1"
	kill "$pid"
	wait "$pid"
	printf 'link set p%d up\n' 0 1 2 3 4 5 6 7 | ip -n "${PFX}br" -batch -
}

# Allocations in softirq fail, and of what members ask for, some.  The hosts are there before: an
# interface that comes up without memory has its address, but no IPv6 route to it, ever.
soak_no_memory()
{
	local dir rc

	[ -d /sys/kernel/debug/failslab ] || skip "this kernel has no fault injection"
	rack 8
	for dir in /sys/kernel/debug/fail{slab,_page_alloc}; do
		echo N >"$dir/task-filter"
		echo 200000 >"$dir/times"
		echo 0 >"$dir/verbose"
		echo 5 >"$dir/probability"
	done
	echo Y >/sys/kernel/debug/failslab/ignore-gfp-wait
	(soak "$1" prefix="$PFX" hosts=8)
	rc=$?
	for dir in /sys/kernel/debug/fail{slab,_page_alloc}; do
		echo 0 >"$dir/probability"
	done
	return $rc
}
