/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests over netlink, and what the kernel says about them. */
#ifndef SHUFFLE_NL_H
#define SHUFFLE_NL_H

#include <stdbool.h>
#include <stdint.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

/**
 * struct nl_reply - messages that came back, copies
 * @msg: array
 * @n: their number
 */
struct nl_reply {
	struct nl_msg	**msg;
	unsigned int	n;
};

/**
 * struct nl_said - the extended part of an answer
 * @error: 0 or -errno
 * @text: sentence of the kernel, "" if there is none
 * @attr: type of the attribute of the request that it is about, -1 if none
 * @missing: type of the attribute that is missing, -1 if none
 * @has_range: @min and @max hold what the attribute may be
 * @min: least
 * @max: greatest
 */
struct nl_said {
	int		error;
	char		text[200];
	int		attr;
	int		missing;
	bool		has_range;
	int64_t		min;
	uint64_t	max;
};

struct nl_sock *nl_open(int protocol);
struct nl_msg *nl_request(int type, int flags);
struct nl_msg *nl_large_request(int type, int flags, size_t room);
int nl_talk(struct nl_sock *sk, struct nl_msg *msg, struct nl_reply *reply,
	    struct nl_said *said);
void nl_reply_free(struct nl_reply *reply);
int nl_failed(const struct nl_said *said, const char *what);

#endif
