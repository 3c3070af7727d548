#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# MPI on the benchmarks' rack: hosts' names, parameters of both libraries.  Sourced; $hosts and
# $bin are the caller's.
#
# shellcheck disable=SC2034,SC2154 # list, busy: the caller's

# Hosts are up: what their TCP may do, and what all jobs have in common.
setup_mpi()
{
	local h

	list=
	for ((h = 0; h < hosts; h++)); do
		ip netns exec "h$h" sysctl -q -w net.ipv4.tcp_slow_start_after_idle=0 \
			net.ipv4.tcp_no_metrics_save=1 "net.ipv4.tcp_wmem=4096 1000000 8000000" \
			"net.ipv4.tcp_rmem=4096 1000000 8000000"
		list=$list${list:+,}10.18.0.$((h + 1))
	done

	# shellcheck source=../../../selftests/mpi/launcher.sh
	. "$PWD/selftests/mpi/launcher.sh"
	launcher_settings "$bin/openmpi"
	export MPI_NS_PREFIX=h
	# The hosts share a processor: Open MPI yields it, MPICH must be made to.
	export OMPI_MCA_pml=ob1 OMPI_MCA_mtl=^psm,psm2,ofi
	export UCX_TLS=tcp,self UCX_NET_DEVICES=eth0
}

# A process of the lowest class; it is $busy.
keep_busy()
{
	# Where instructions are counted, the clock jumps over what is idle, also while the
	# host reads a file for the guest: by minutes, until a job has started.  So nothing
	# is idle here; whoever has something to do takes the processor from this at once.
	sysctl -q -w kernel.sched_autogroup_enabled=0
	chrt -i 0 bash -c 'while :; do :; done' &
	busy=$!
}

# on_h0 SECONDS COMMAND... - in the first host, with its name
on_h0()
{
	local seconds=$1
	shift
	timeout "$seconds" ip netns exec h0 unshare --uts -- /bin/bash -c 'hostname h0; exec "$@"' - \
		"$@" </dev/null
}

# Bytes that AF_SHUFFLE has delivered on all hosts.
bytes_in()
{
	local h

	for ((h = 0; h < hosts; h++)); do ip netns exec "h$h" cat /proc/net/shuffle/netstat; done |
		awk 'NR % 2 { split($0, name); next }
			{ for (i = 2; i <= NF; i++) if (name[i] == "DataBytesIn") sum += $i }
			END { print sum + 0 }'
}
