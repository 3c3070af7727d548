#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Launch agent that puts every host of an MPI job into a network namespace of its
# own, so that no shared memory hides the network:
#
#   mpirun --mca plm_rsh_agent .../ns_agent.sh -H 10.77.0.1,10.77.0.2 ...
#   mpiexec -launcher rsh -launcher-exec .../ns_agent.sh -hosts ...   (MPICH)
#
# The host's address 10.77.0.K+1 stands for the namespace shf-hK (see
# ../net/shuffle/lib.sh), or with another prefix $MPI_NS_PREFIX; the process gets the host name hK.
set -eu

while [ $# -gt 0 ]; do
	case $1 in
	-x | -q | -n) shift ;;
	-*) shift ;;
	*) break ;;
	esac
done
host=$1
shift
k=$((${host##*.} - 1))
# Both launchers pass a command line for the remote shell.
exec ip netns exec "${MPI_NS_PREFIX:-shf-h}$k" unshare --uts -- /bin/sh -c "hostname h$k; $*"
