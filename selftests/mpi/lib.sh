#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Shared by the MPI tests: racks on which every host is a network namespace with a
# host name of its own, and mpirun on them.  Sourced.

# shellcheck source=../net/shuffle/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../net/shuffle/lib.sh"
mpi_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# shellcheck source=launcher.sh
. "$mpi_here/launcher.sh"
launcher_settings "$BIN/openmpi"
# setpgid() of a child that has already started its program
export OMPI_MCA_plm_base_verbose=-1
# topo/treematch of Open MPI 4.1 hangs, or ends the program, when it makes some graphs
export OMPI_MCA_topo=basic

# ompi_is VERSION - is that how the version of this Open MPI begins?
ompi_is()
{
	[[ $(ompi_info --version) == "Open MPI v$1"* ]]
}

# work is the case's folder, see ../net/shuffle/lib.sh
work=${work-}

# host_list N [SLOTS] - N hosts for -H
host_list()
{
	local h list=

	for ((h = 1; h <= $1; h++)); do
		list=$list${list:+,}10.77.0.$h:${2:-1}
	done
	echo "$list"
}

# on_host0 SECONDS COMMAND... - in the first host, with its name.
on_host0()
{
	local seconds=$1
	shift
	timeout -k 5 "$(tmo "$seconds")" ip netns exec "${PFX}h0" unshare --uts -- \
		/bin/bash -c 'hostname h0; exec "$@"' - "$@" </dev/null
}

# mpi SECONDS HOSTS RANKS ARGS... - mpirun; args are more of its options, then the
# program.
mpi()
{
	local seconds=$1 n=$2 ranks=$3
	shift 3
	on_host0 "$seconds" mpirun -np "$ranks" \
		-H "$(host_list "$n" $(((ranks + n - 1) / n)))" "$@"
}

# carried BYTES COMMAND... - run it; AF_SHUFFLE must have delivered at least so many
# bytes meanwhile, on every host.  0: it must have delivered none.
carried()
{
	local least=$1 h before=() after
	shift

	for ((h = 0; h < hosts; h++)); do
		before+=("$(counter "$h" DataBytesIn)")
	done
	"$@" || fail "status $?: $*"
	for ((h = 0; h < hosts; h++)); do
		after=$(($(counter "$h" DataBytesIn) - before[h]))
		echo "host $h received $after bytes over AF_SHUFFLE"
		if [ "$least" = 0 ]; then
			want_eq "host $h used AF_SHUFFLE" "$after" 0
		else
			want_ge "not carried by AF_SHUFFLE: host $h" "$after" "$least"
		fi
	done
}
