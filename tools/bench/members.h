/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The group of all hosts, for the programs that use AF_SHUFFLE. */
#ifndef MEMBERS_H
#define MEMBERS_H

#include "../lib/shuffle.h"

/* The members in order, at bench_opt.port; or end. */
struct sockaddr_shuffle *bench_members(void);

#endif /* MEMBERS_H */
