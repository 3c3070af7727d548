// SPDX-License-Identifier: GPL-2.0-only
/* Instances of the tracepoints that trace.h describes. */
#include "rx/msg_in.h"
#include "sock.h"
#include "tx/msg_out.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
