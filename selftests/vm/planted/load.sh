#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# In the guest: load a planted bug.  usage: load.sh PLANTED.KO BUG
insmod "$1" bug="$2"
rmmod planted
