#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# In the guest: load planted bugs.  usage: load.sh PLANTED.KO BUGS...
ko=$1
shift
for bug; do
	insmod "$ko" bug="$bug"
	rmmod planted
done
