#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A component that is installed on a whole cluster: interfaces of all kinds, firewalls, limits, hosts
# that differ, several ranks on a host.  Sourced by run_all.sh.
#
# shellcheck disable=SC2154 # calls: cases_calls.sh

# shellcheck source=../net/shuffle/cases_saba.sh
. "$mpi_here/../net/shuffle/cases_saba.sh"

work=${work-}

# said COMMAND... - run it; what it says is kept.
said()
{
	"$@" >"$work/said" 2>&1
	local status=$?

	cat "$work/said"
	want_eq "status $status: $*" "$status" 0
}

# declined WHY COMMAND... - the call is made by the component before, and one line says why.
declined()
{
	local why=$1
	shift

	carried 0 said "$@"
	want_grep "no reason given" "$(<"$work/said")" -E "declined: .*$why"
}

# An interface in front of eth0, with a network of its own: extra_net NAME NET [same].
# NET.H is the address of host H; same: all have NET.1
extra_net()
{
	local h ip

	for ((h = 0; h < hosts; h++)); do
		ip=$2.$((h + 1))
		[ -z "${3-}" ] || ip=$2.1
		want_ok "no bridge" ip -n "${PFX}h$h" link add "$1" index 50 type bridge
		ip -n "${PFX}h$h" addr add "$ip/24" dev "$1"
		ip -n "${PFX}h$h" link set "$1" up
	done
}

no_extra_net()
{
	local h

	for ((h = 0; h < hosts; h++)); do
		ip -n "${PFX}h$h" link del "$1"
	done
}

tcp_eth0=(--mca btl_tcp_if_include eth0)
loud=(--mca coll_shuffle_verbose 1)

# A bridge that every host has with the same address, as containers' networks are.
same_address()
{
	rack 3
	extra_net docker0 172.17.0 same
	carried 6000 mpi 60 3 3 "${tcp_eth0[@]}" --mca coll_shuffle_if_exclude lo \
		"$calls" all 1000 3
	# nothing else is left
	declined "none of its addresses" mpi 60 3 3 "${tcp_eth0[@]}" "${loud[@]}" \
		--mca coll_shuffle_if_include docker0 "$calls" all 1000 3
	no_extra_net docker0
}

# What Open MPI's TCP transport was told is told to us.
inherited()
{
	rack 3
	extra_net eth9 172.18.0
	carried 6000 mpi 60 3 3 "${tcp_eth0[@]}" "$calls" all 1000 3
	carried 6000 mpi 60 3 3 --mca btl_tcp_if_exclude eth9,lo "$calls" all 1000 3
	no_extra_net eth9
}

# A network whose hosts do not reach each other: all find out together.
no_network()
{
	rack 3
	extra_net eth9 172.18.0
	declined "does not reach all others" mpi 60 3 3 "${tcp_eth0[@]}" "${loud[@]}" \
		--mca coll_shuffle_if_include eth9 "$calls" all 1000 3
	no_extra_net eth9
}

# AF_SHUFFLE's packets do not arrive at one host; the first call of "order" must not wait.
unreachable()
{
	rack 3
	want_ok "cannot change the port" hctl 1 config set port 6099
	declined "does not reach all others" mpi 60 3 3 "${loud[@]}" "$calls" all 1000 3
	declined "does not reach all others" mpi 60 3 3 "${loud[@]}" "$calls" order
	declined "does not reach all others" mpi 60 3 3 "${loud[@]}" "$calls" order
	# the next communicators do not try again
	declined "has not reached all others before" mpi 60 3 3 "${loud[@]}" "$calls" many 20
	rack_down
}

# Of ranks that have passed a trial together a communicator makes none: a call is one operation.
proven()
{
	local before

	rack 4
	before=$(counters OpsStarted)
	carried 60000 mpi 60 4 4 "$calls" many 20
	want_between "operations of 80 calls, and of the first trials" \
		"$(($(counters OpsStarted) - before))" 84 130
}

# More communicators than descriptors.
descriptors()
{
	rack 3
	(
		ulimit -n 90
		carried 30000 said mpi 60 3 3 "${loud[@]}" "$calls" many 90
	) || fail "with 90 descriptors"
	want_grep "the limit was not reached" "$(<"$work/said")" 'declined: .*it has no socket'
}

# The component is switched off on one host only.
mixed()
{
	rack 3
	# shellcheck disable=SC2016 # expanded on the host
	declined "switched off there" mpi 60 3 3 "${loud[@]}" /bin/sh -c \
		'[ "$(hostname)" != h1 ] || export OMPI_MCA_coll_shuffle_priority=0; exec "$@"' - \
		"$calls" all 1000 3
}

no_data()
{
	rack 3
	carried 2000 mpi 60 3 3 "$calls" zero
}

# Shared memory is what one host has; of several hosts it takes what it can.
shared_hosts()
{
	local n before after

	rack 2
	said on_host0 60 mpirun -np 3 -H 10.77.0.1:3 "${loud[@]}" "$calls" all 70000 3
	want_grep "one host" "$(<"$work/said")" 'declined: .*all ranks are on this host'
	# with a component above ours, which calls ours, and ours the one before; that of Open MPI
	# 6.0.0rc2 crashes in MPI_Init
	ompi_is 6.0.0rc || want_ok "monitored" on_host0 60 mpirun -np 3 -H 10.77.0.1:3 \
		--mca pml_monitoring_enable 1 "$calls" all 1000 3
	# 4 ranks on each: 16 of 28 pairs by the network
	before=$(counter 0 DataBytesIn)
	want_ok "two hosts" mpi 60 2 8 --map-by ppr:4:node:oversubscribe "$calls" all 30000 5
	after=$(counter 0 DataBytesIn)
	n=$((4 * 4 * 30000 * 5))
	echo "$((after - before)) bytes by the network, $n expected"
	want_eq "pairs of one host use the network" "$((after - before))" "$n"
	carried 100000 mpi 100 2 6 "$BIN/mpi_random" 60 5
	want_ok "non-blocking calls" mpi 60 2 8 "$calls" order
}

# By the parameter, packets are in the queue of the application's level.
share_links()
{
	local queue before after

	saba_rack 3
	# registered before, so that the first packets find their queue
	nsx h0 "$BIN/shuffle-saba" run --app LR -- sleep 600 &
	want_ok "LR is not at p1" wait_for 10 saba_has p1 LR
	want_ok "p1 is not programmed" wait_for 10 saba_programs p1
	read -r queue _ <<<"$(saba_weight p1 LR)"
	before=$(saba_left p1 $((2 + queue)))
	carried 6000 mpi 60 3 3 "$calls" all 1000 3
	want_eq "marked without the parameter" "$(saba_left p1 $((2 + queue)))" "$before"
	carried 6000 mpi 60 3 3 -x SHUFFLE_SABA_SOCKET --mca coll_shuffle_saba LR "$calls" all 1000 3
	after=$(saba_left p1 $((2 + queue)))
	echo "$((after - before)) bytes in the queue of LR"
	want_ge "not marked" $((after - before)) 6000
	said carried 6000 mpi 60 3 3 -x SHUFFLE_SABA_SOCKET --mca coll_shuffle_saba nix "$calls" all 1000 3
	want_grep "no reason" "$(<"$work/said")" 'nix: no profile'
	want_ok "it does not stop" saba stop
	rack_down
}

cluster_cases()
{
	run_case "an address that all hosts have" same_address
	run_case "interfaces as the TCP transport was told" inherited
	run_case "one host, and several ranks on two" shared_hosts
	run_case "no data, nobody to wait for" no_data
	run_case "links shared by shuffle-sabad" share_links
	[ -z "${MPI_QUICK-}" ] || return 0
	run_case "a network that reaches nobody" no_network
	run_case "a host that others do not reach" unreachable
	run_case "communicators of ranks that have passed a trial" proven
	run_case "more communicators than descriptors" descriptors
	run_case "switched off on one host" mixed
}
