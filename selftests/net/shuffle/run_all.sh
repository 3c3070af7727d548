#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The AF_SHUFFLE selftests.  Run as root inside a guest, with the module loaded
# or in $SHUFFLE_KO.  TAP on standard output, the plan at the end.
#
#   CASES=regex      only cases whose name matches
#   CASES_PART=K/N   of these the K-th of N parts; parts 1/N to N/N are all
#   CASES_ALWAYS=regex  cases that are in every part
#   CASES_CORE=1     only those of cases.core; with CASES_PART, these and a part of the others
#   CASES_DONE=FILE  but not those that FILE names
#   CASES_TIMES=N    each N times
#   CASES_LIST=1     print their names, run nothing
#   SHUFFLE_LANE     uml-debug-time, qemu-6.12, qemu-debug, ...: sizes and waits
#   SHUFFLE_BIN      where the programs are (default build/tools)
#   SHUFFLE_VERBOSE  show the log of every case
#   SHUFFLE_TIMES    show how long cases take
#   FAULTS=1         also cases_faults.sh, where the kernel has fault injection
#   RACE_SECONDS     also run race.sh's races, so long each; in qemu-debug and
#                    qemu-kcsan they are run anyhow

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=cases_data.sh
. "$here/cases_data.sh"
# shellcheck source=cases_net.sh
. "$here/cases_net.sh"
# shellcheck source=cases_networks.sh
. "$here/cases_networks.sh"
# shellcheck source=cases_life.sh
. "$here/cases_life.sh"
# shellcheck source=cases_anew.sh
. "$here/cases_anew.sh"
# shellcheck source=cases_death.sh
. "$here/cases_death.sh"
# shellcheck source=cases_identity.sh
. "$here/cases_identity.sh"
# shellcheck source=cases_echo.sh
. "$here/cases_echo.sh"
# shellcheck source=cases_qdisc.sh
. "$here/cases_qdisc.sh"
# shellcheck source=cases_ctl.sh
. "$here/cases_ctl.sh"
# shellcheck source=cases_order.sh
. "$here/cases_order.sh"
# shellcheck source=cases_netlink.sh
. "$here/cases_netlink.sh"
# shellcheck source=cases_faults.sh
. "$here/cases_faults.sh"
# shellcheck source=cases_bounds.sh
. "$here/cases_bounds.sh"
# shellcheck source=cases_cool.sh
. "$here/cases_cool.sh"
# shellcheck source=cases_same.sh
. "$here/cases_same.sh"
# shellcheck source=cases_keys.sh
. "$here/cases_keys.sh"
# shellcheck source=cases_bcube.sh
. "$here/cases_bcube.sh"
# shellcheck source=cases_overlay.sh
. "$here/cases_overlay.sh"
# shellcheck source=cases_relayd.sh
. "$here/cases_relayd.sh"
# shellcheck source=cases_sort.sh
. "$here/cases_sort.sh"
# shellcheck source=cases_stream.sh
. "$here/cases_stream.sh"
# shellcheck source=cases_saba.sh
. "$here/cases_saba.sh"
# shellcheck source=cases_query.sh
. "$here/cases_query.sh"
# shellcheck source=cases_topology_install.sh
. "$here/cases_topology_install.sh"
# shellcheck source=cases_soak.sh
. "$here/cases_soak.sh"
# shellcheck source=race.sh
. "$here/race.sh"

case $LANE in
qemu-debug | qemu-kcsan) RACE_SECONDS=${RACE_SECONDS-20} ;;
esac

sets=(data net networks life anew death identity echo qdisc ctl order netlink bounds cool same
	query keys topology_install sort stream bcube overlay relayd saba soak)

if [ -n "${CASES_CORE-}" ]; then
	core="^($(grep -v '^#' "$here/cases.core" | paste -sd '|'))\$"
	if [ -n "$CASES_PART" ]; then
		CASES_ALWAYS=$core
	else
		CASES=$core
	fi
fi

setup_all
for set in "${sets[@]}"; do
	"${set}_cases"
done
[ -z "${FAULTS-}" ] || faults_cases
[ -z "${RACE_SECONDS-}" ] || race_cases
finish_all
