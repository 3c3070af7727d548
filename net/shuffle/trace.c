// SPDX-License-Identifier: GPL-2.0-only
/* Bodies of the tracepoints. */
#include "shuffle.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
