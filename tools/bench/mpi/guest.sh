#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What run.sh runs inside the kernel: MPI_Alltoallv of all cases by all transports.
#
# usage: guest.sh network|cpu HOSTS RUNS CASE:MATRIX:CALLS...
#   network  25 Gb/s links, 4 us round trip; a job for each case, each run is a round
#   cpu      links without limits; the transports take turns, each run is a job with
#            all cases
set -euo pipefail

regime=$1 hosts=$2 runs=$3
shift 3
here=tools/bench
bin=$PWD/build/tools
params=/sys/module/shuffle/parameters
transports=${TRANSPORTS:-shuffle ompi-tcp mpich}

idle=nap
if [ "$regime" = network ]; then
	$here/rack.sh up "$hosts" rate=25gbit mtu=1500 buffer=1000000
	# as a NIC would say
	echo 25000 >$params/link_mbps
	echo 4000 >$params/rtt_ns
else
	# Where instructions are counted, the clock jumps over what is idle, also while the
	# host reads a file for the guest: by minutes, until a job has started.  So nothing
	# is idle here; whoever has something to do takes the processor from this at once.
	sysctl -q -w kernel.sched_autogroup_enabled=0
	chrt -i 0 bash -c 'while :; do :; done' &
	# shellcheck disable=SC2064 # the process of now
	trap "kill $!" EXIT
	idle=yield
	$here/rack.sh up "$hosts" rate=none
fi
list=
for ((h = 0; h < hosts; h++)); do
	ip netns exec "h$h" sysctl -q -w net.ipv4.tcp_slow_start_after_idle=0 \
		net.ipv4.tcp_no_metrics_save=1 "net.ipv4.tcp_wmem=4096 1000000 8000000" \
		"net.ipv4.tcp_rmem=4096 1000000 8000000"
	list=$list${list:+,}10.18.0.$((h + 1))
done

export MPI_NS_PREFIX=h OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm_rsh_agent=$PWD/selftests/mpi/ns_agent.sh
# The hosts share a processor: Open MPI yields it, MPICH must be made to.
export OMPI_MCA_mpi_yield_when_idle=1
# No transport but what is measured
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self OMPI_MCA_mtl=^psm,psm2,ofi
export OMPI_MCA_mca_base_component_path=$bin/openmpi:/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3
export UCX_TLS=tcp,self UCX_NET_DEVICES=eth0

# host_queue QDISC... - what waits in a host for its link
host_queue()
{
	local h

	[ "$regime" = network ] || return 0
	for ((h = 0; h < hosts; h++)); do
		tc -n "h$h" qdisc del dev eth0 parent 3:2 handle 11:
		tc -n "h$h" qdisc add dev eth0 parent 3:2 handle 11: "$@"
	done
}

# job TRANSPORT ARGS... - the benchmark's program on all hosts
job()
{
	local way=$1 command preload=() pmpi=
	shift
	# TCP connections share a link well if each has its turn (fq); where all hosts
	# send in the same order, as here, a FIFO may do better: both are measured
	case $way in
	*-fifo) host_queue bfifo limit 64000000 ;;
	*) host_queue fq limit 100000 flow_limit 50000 ;;
	esac
	case $way in
	*mpich*)
		# MPICH has no components
		[ "$way" != shuffle-mpich ] || pmpi=$bin/libshuffle_pmpi.so:
		command=(mpiexec.mpich -launcher rsh -launcher-exec "$OMPI_MCA_plm_rsh_agent"
			-iface eth0 -hosts "$list" -n "$hosts" -genv LD_PRELOAD "$pmpi$bin/mpi_blocking.so"
			-genv MPI_IDLE "$idle" "$bin/mpi_bench_mpich")
		;;
	*)
		[ "$regime" = cpu ] || preload=(-x "LD_PRELOAD=$bin/mpi_blocking.so")
		command=(mpirun -np "$hosts" -H "$list" "${preload[@]}")
		[ "$way" = shuffle ] || command+=(--mca coll ^shuffle)
		command+=("$bin/mpi_bench")
		;;
	esac
	timeout 300 ip netns exec h0 unshare --uts -- /bin/bash -c 'hostname h0; exec "$@"' - \
		"${command[@]}" "$@" </dev/null 2>/tmp/stderr
}

bytes_in()
{
	local h

	for ((h = 0; h < hosts; h++)); do ip netns exec "h$h" cat /proc/net/shuffle/netstat; done |
		awk 'NR % 2 { split($0, name); next }
			{ for (i = 2; i <= NF; i++) if (name[i] == "DataBytesIn") sum += $i }
			END { print sum + 0 }'
}

# measure WAY FIRST WARM ROUNDS - one job with all cases; each round is a run, or their
# median is the one run FIRST
measure()
{
	local way=$1 first=$2 warm=$3 rounds=$4 before carried i case run ns

	before=$(bytes_in)
	job "$way" "$warm" "$rounds" "${matrices[@]}" >/tmp/rounds || true
	# AF_SHUFFLE has carried it, or has not, as the name says
	carried=$([ "$(bytes_in)" -le "$before" ] || echo shuffle)
	[ "$carried" = "$([[ $way != shuffle* ]] || echo shuffle)" ] || : >/tmp/rounds
	for ((i = 0; i < ${#cases[@]}; i++)); do
		case=${cases[i]}
		# the lines come in the order of the cases
		sed -n "$((i * rounds + 1)),$(((i + 1) * rounds))s/.* //p" /tmp/rounds >/tmp/ns
		run=$first
		if [ "$(wc -l </tmp/ns)" != "$rounds" ]; then
			tail -5 /tmp/stderr
			echo "BENCH case=$case hosts=$hosts transport=$way run=$run ok=0"
			continue
		fi
		if [ "$regime" = cpu ]; then
			sort -n /tmp/ns | sed -n "$(((rounds + 1) / 2))p" >/tmp/ns1
			mv /tmp/ns1 /tmp/ns
		fi
		while read -r ns; do
			echo "BENCH case=$case hosts=$hosts transport=$way run=$run ok=1 ns=$ns"
			run=$((run + 1))
		done </tmp/ns
	done
}

cases=() matrices=()
for word; do
	IFS=: read -r case matrix calls <<<"$word"
	if [[ $matrix = *[!0-9]* ]]; then
		"$bin/shuffle-workload" generate "$matrix" -n "$hosts" -S 1 -o "/tmp/$matrix"
		matrix=/tmp/$matrix
	fi
	cases+=("$case")
	matrices+=("$matrix:$calls")
done
if [ "$regime" = network ]; then
	for way in $transports; do measure "$way" 1 20 "$runs"; done
else
	for ((r = 1; r <= runs; r++)); do
		for way in $transports; do measure "$way" "$r" 1 5; done
	done
fi
