#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# In the guest: load planted bugs.  usage: load.sh PLANTED.KO BUGS...
#
# Races are reached as torture reaches those of the module: by threads that write to a file.
ko=$1 file=/sys/kernel/debug/planted
shift
for bug; do
	insmod "$ko" bug="$bug"
	# a thread that dies of the bug has its report made: the others go on
	[ ! -e "$file" ] || timeout -k 5 60 build/tools/torture --planted "$file" -t "${PLANTED_SECONDS:-10}"
	rmmod planted 2>/dev/null || :
done
