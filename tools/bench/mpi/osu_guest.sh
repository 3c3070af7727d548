#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What run.sh runs inside the kernel: ranks on one, two and eight hosts, or more, call nothing but
# MPI_Alltoall and its relatives, other collectives, calls of neighbours, or make communicators
# (mpi_osu.c), with AF_SHUFFLE's component and without it.
#
# usage: [SIZES='8 65536'] osu_guest.sh alltoall|others|neighbours|communicators MILLISECONDS RUNS LAYOUT...
#   MILLISECONDS  that each row is measured for in each run
#   RUNS          jobs of each kind, in turns
#   LAYOUT        HOSTSxRANKS
set -euo pipefail

calls=$1 ms=$2 runs=$3
shift 3
here=tools/bench
bin=$PWD/build/tools
sizes=(1 64 1024 4096 16384 65536 262144 1048576)
name=mpi-osu
if [ "$calls" = others ]; then
	sizes=(8 64 1024 4096 16384 65536 262144 1048576)
	name=mpi-coll
	export OMPI_MCA_coll_shuffle_collectives=all
elif [ "$calls" = neighbours ]; then
	sizes=(8 1024 65536 1048576)
	name=mpi-neighbour
	export OMPI_MCA_coll_shuffle_collectives=neighbor
elif [ "$calls" = communicators ]; then
	sizes=(8)
	name=mpi-comm
fi
# shellcheck source=tools/bench/mpi/mpi_rack.sh
. $here/mpi/mpi_rack.sh

[ -z "${SIZES-}" ] || read -ra sizes <<<"$SIZES"
hosts=8
for layout; do ((${layout%x*} <= hosts)) || hosts=${layout%x*}; done
$here/rack.sh up "$hosts" rate=none
setup_mpi
# Ranks of one host have shared memory, with the component and without it.
export OMPI_MCA_btl=tcp,self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none

# job WAY HOSTS RANKS
job()
{
	local way=$1 n=$2 ranks=$3 h where=

	for ((h = 1; h <= n; h++)); do where=$where${where:+,}10.18.0.$h:$ranks; done
	set -- mpirun -np $((n * ranks)) -H "$where"
	[ "$way" = shuffle ] || set -- "$@" --mca coll ^shuffle
	on_h0 600 "$@" "$bin/mpi_osu" "$ms" "$calls" "${sizes[@]}" 2>/tmp/stderr
}

for layout; do
	n=${layout%x*} ranks=${layout#*x}
	for ((run = 1; run <= runs; run++)); do
		for way in shuffle ompi-tcp; do
			before=$(bytes_in)
			job "$way" "$n" "$ranks" >/tmp/rows || tail -5 /tmp/stderr
			# without the component nothing goes there
			[ "$way" = shuffle ] || [ "$(bytes_in)" = "$before" ] || : >/tmp/rows
			while read -r call bytes ns; do
				case=$name-$layout-$call-$bytes
				echo "BENCH case=$case hosts=$n transport=$way run=$run ok=1 ns=$ns"
			done </tmp/rows
			[ -s /tmp/rows ] ||
				echo "BENCH case=$name-$layout hosts=$n transport=$way run=$run ok=0"
		done
	done
done
