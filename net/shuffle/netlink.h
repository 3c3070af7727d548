/* SPDX-License-Identifier: GPL-2.0-only */
/* The control plane: shared by netlink*.c. */
#ifndef _SHUFFLE_NETLINK_H
#define _SHUFFLE_NETLINK_H

#include <net/genetlink.h>

#include "netlink_gen.h"

#endif /* _SHUFFLE_NETLINK_H */
