#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run an MPI program on hosts of this kernel, and say what AF_SHUFFLE carried.
#
# usage: try.sh HOSTS PROGRAM [ARGS...]	one rank on each host
#
# Options for mpirun go into the environment, as OMPI_MCA_name=value.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

[ $# -ge 2 ] || { sed -n '/^# usage/,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
n=$1
shift
state=$(mktemp -d)
work=$state
module_load || exit 1
rack "$n"
export OMPI_MCA_coll_shuffle_verbose=${OMPI_MCA_coll_shuffle_verbose-1}
mpi 3600 "$n" "$n" "$@"
status=$?
for ((h = 0; h < n; h++)); do
	echo "h$h: sent $(counter "$h" DataBytesOut), received $(counter "$h" DataBytesIn) bytes over AF_SHUFFLE"
done
rack_down
exit "$status"
