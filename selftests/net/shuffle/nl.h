/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small generic netlink client, for the tests of the control plane. */
#ifndef NL_H
#define NL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/shuffle_diag.h>
#include <linux/shuffle_netlink.h>

#define NL_MAX_ATTR	64
#define NL_BUF		32768

/* What a request came to. */
struct nl_result {
	int		err;		/* 0, or a positive errno */
	char		msg[256];	/* extack */
	int		bad_attr;	/* type of the attribute at fault, 0 none */
	int		miss_attr;	/* type of the one that is missing, 0 none */
	uint64_t	min, max;	/* range of bad_attr */
	bool		has_range;
	bool		interrupted;	/* a dump that is not of one piece */
	unsigned int	n;		/* messages */
};

struct nl_req {
	uint8_t		buf[4096];
	size_t		len;
};

/* Attributes of a message, by type; of several the last. */
typedef void (*nl_cb)(uint8_t cmd, struct nlattr **attrs, void *arg);

/* Socket, family and its groups; ends the program if there is none. */
int nl_open(void);
void nl_join(int fd, const char *group);
uint16_t nl_family(void);

void nl_begin(struct nl_req *r, uint8_t cmd, uint16_t flags);
void nl_add(struct nl_req *r, uint16_t type, const void *data, size_t len);
void nl_u32(struct nl_req *r, uint16_t type, uint32_t v);
void nl_u64(struct nl_req *r, uint16_t type, uint64_t v);
/* Send and read all that is answered. */
struct nl_result nl_call(int fd, struct nl_req *r, nl_cb cb, void *arg);
/* Read events until one of @cmd (0: any) or @ms have passed; errno ENOBUFS,
 * ETIMEDOUT.
 */
bool nl_event(int fd, uint8_t cmd, int ms, nl_cb cb, void *arg);

/* SOCK_DIAG_BY_FAMILY on a socket of NETLINK_SOCK_DIAG: how many are found, the last one
 * in *m; or a negative errno.
 */
int nl_diag(int fd, uint16_t flags, const struct shuffle_diag_req *q, struct shuffle_diag_msg *m);

uint32_t nl_get_u32(const struct nlattr *a);
uint64_t nl_get_u64(const struct nlattr *a);
const char *nl_get_str(const struct nlattr *a);
const void *nl_data(const struct nlattr *a);
int nl_len(const struct nlattr *a);

#endif /* NL_H */
