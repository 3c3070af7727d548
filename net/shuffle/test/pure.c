// SPDX-License-Identifier: GPL-2.0-only
/* A copy of the pure files of its own for the test module: nothing is exported. */
#include "../heap.c"
#include "../link.c"
#include "../policy.c"
#include "../ranges.c"
#include "../wire.c"
