/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The generic netlink family of the module. */
#ifndef SHUFFLECTL_GENL_H
#define SHUFFLECTL_GENL_H

#include "nl.h"
#include "shuffle_attrs.h"

/* Room for the attributes of any set, by number. */
#define GENL_MAX_ATTRS	64

/**
 * struct genl - a connection to the module
 * @sk: socket
 * @family: number of the family
 */
struct genl {
	struct nl_sock	*sk;
	int		family;
};

int genl_open(struct genl *g, bool quiet);
void genl_close(struct genl *g);
struct nl_msg *genl_request(const struct genl *g, unsigned int cmd, bool dump);
struct nl_msg *genl_large_request(const struct genl *g, unsigned int cmd, size_t room);
int genl_talk(const struct genl *g, struct nl_msg *msg, const struct shuffle_attr_op *op,
	      struct nl_reply *reply);
const struct shuffle_attr_op *genl_op(unsigned int cmd);
int genl_parse(struct nl_msg *msg, const struct shuffle_attr_set *set, struct nlattr **tb);
int genl_parse_nested(struct nlattr *nla, const struct shuffle_attr_set *set, struct nlattr **tb);
uint64_t genl_u64(const struct shuffle_attr_set *set, struct nlattr **tb, unsigned int attr);

#endif
