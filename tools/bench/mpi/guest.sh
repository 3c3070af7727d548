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
transports=${TRANSPORTS:-shuffle ompi-tcp mpich}
# shellcheck source=tools/bench/mpi/mpi_rack.sh
. $here/mpi/mpi_rack.sh

idle=nap
if [ "$regime" = network ]; then
	$here/rack.sh up "$hosts" rate=25gbit mtu=1500 buffer=1000000
	# as a NIC would say
	$here/config_all.sh "$hosts" link-rate 25000 rtt 4000
else
	keep_busy
	# shellcheck disable=SC2064 # the process of now
	trap "kill $busy" EXIT
	idle=yield
	$here/rack.sh up "$hosts" rate=none
fi
setup_mpi
# No transport but what is measured
export OMPI_MCA_btl=tcp,self

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
	on_h0 300 "${command[@]}" "$@" 2>/tmp/stderr
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
