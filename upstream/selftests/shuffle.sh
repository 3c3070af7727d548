#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Shuffles of 2, 8 and 32 members, each in a network namespace on one bridge.

# shellcheck disable=SC1091,SC2154 # in_tree.py puts the others beside it

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=cases_data.sh
. "$here/cases_data.sh"

# they want shufflectl, which is not in this tree
ways_cases()
{
	:
}

setup_all
data_cases
finish_all
