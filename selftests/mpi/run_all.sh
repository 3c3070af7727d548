#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# MPI programs over AF_SHUFFLE, every rank or two on a host of their own.  Run as
# root inside a guest.  TAP.
#
#   CASES=regex     only cases whose name matches
#   MPI_QUICK=1     the cases of "make check"
#   SHUFFLE_BIN     where the programs are (default build/tools)

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=cases_calls.sh
. "$mpi_here/cases_calls.sh"
# shellcheck source=cases_cluster.sh
. "$mpi_here/cases_cluster.sh"
# shellcheck source=cases_mpich.sh
. "$mpi_here/cases_mpich.sh"
# shellcheck source=cases_programs.sh
. "$mpi_here/cases_programs.sh"

if ! command -v mpirun >/dev/null || [ ! -e "$BIN/openmpi/mca_coll_shuffle.so" ]; then
	echo "1..0 # SKIP Open MPI is not installed, or the component is not built"
	exit 0
fi
setup_all
KEEP=1
cluster_cases
mpich_cases
calls_cases
[ -n "${MPI_QUICK-}" ] || programs_cases
finish_all
