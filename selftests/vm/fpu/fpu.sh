#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# In the guest: see fpu.c.
exec "$SHUFFLE_ROOT/build/tools/fpu" 2
