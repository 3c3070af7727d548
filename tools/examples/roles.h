/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What members of a group do where relays merge, see roles.c. */
#ifndef EXAMPLES_ROLES_H
#define EXAMPLES_ROLES_H

#include <stdint.h>

#include "common.h"
#include "shuffle_tree.h"

#define ROLE_NOBODY	UINT32_MAX

enum role_kind { ROLE_NONE, ROLE_MEMBER, ROLE_RELAY };

/**
 * struct role - what a member of the group does, as shuffle-plan-install(1) says
 * @kind: enum role_kind
 * @parent: rank of the member to which it sends, or ROLE_NOBODY
 * @children: how many send to it
 */
struct role {
	enum role_kind kind;
	uint32_t parent;
	uint32_t children;
};

struct role *roles_read(const char *path, uint32_t count, uint32_t *to);

/* Agree with the other members on operations' numbers.  -1: errno, and who was missing. */
int roles_agree(const struct role *role, const struct group *group, uint32_t rank,
		uint64_t timeout_ms, uint64_t *first_op, uint32_t *missing);

/* Be one of the members that have a role; @spec has what is not a matter of roles.  NULL: errno. */
struct shuffle_tree *roles_open(const struct role *role, const struct group *group, uint32_t rank,
				struct shuffle_tree_spec *spec);

#endif /* EXAMPLES_ROLES_H */
