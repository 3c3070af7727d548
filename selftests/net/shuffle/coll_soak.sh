#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A soak of collectives, as root inside a guest: TAP.
#
#   SOAK_OPS=N	collectives of all cases together (default 10000)
#   SOAK_SEED=N	what is random depends on it; printed, and different each time by default
#   CASES=regex	only cases whose name matches

SOAK_OPS=${SOAK_OPS:-10000}
SOAK_SEED=${SOAK_SEED:-$((RANDOM * 32768 + RANDOM))}
SHUFFLE_VERBOSE=${SHUFFLE_VERBOSE-1}
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=cases_life.sh
. "$here/cases_life.sh"
# shellcheck source=cases_soak.sh
. "$here/cases_soak.sh"

echo "# SOAK_SEED=$SOAK_SEED SOAK_OPS=$SOAK_OPS"
setup_all
soak_cases
run_case "soak-collectives-64M" soak 100 long=8 least=2 members=2 most=$((64 << 20))
run_case "soak-collectives-64M-rack" soak_rack 100 long=3 least=4 members=4 most=$((64 << 20))
finish_all
