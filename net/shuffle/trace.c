// SPDX-License-Identifier: GPL-2.0-only
/* Instances of the tracepoints that trace.h describes. */
#include "shuffle.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
