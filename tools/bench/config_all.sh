#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Settings of AF_SHUFFLE on all hosts of a rack.
#
# usage: config_all.sh HOSTS SETTING VALUE [SETTING VALUE]...
set -e

for ((h = 0; h < $1; h++)); do
	build/tools/shufflectl -n "h$h" config set "${@:2}"
done
