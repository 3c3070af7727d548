# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What Open MPI is told where each host of a job is a network namespace of this machine.  Sourced, for
# tests and for benchmarks.

# launcher_settings COMPONENTS - export it; COMPONENTS is the folder of our component
launcher_settings()
{
	local here system

	here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	# Hosts share their processors here, which mpirun cannot see.
	export OMPI_MCA_mpi_yield_when_idle=1
	export OMPI_MCA_plm_rsh_agent=$here/ns_agent.sh
	# Open MPI 5 has a launcher of its own project, PRRTE
	export PRTE_MCA_plm_ssh_agent=$here/ns_agent.sh PRTE_MCA_rmaps_default_mapping_policy=slot:oversubscribe
	system=$(ompi_info --path pkglibdir --parsable | cut -d: -f3)
	export OMPI_MCA_mca_base_component_path=$1:$system
}
