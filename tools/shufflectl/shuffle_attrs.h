/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Do not edit: made by tools/netlink/attrs.py (header) from
 * Documentation/netlink/specs/shuffle.yaml
 */
#ifndef _SHUFFLE_ATTRS_H
#define _SHUFFLE_ATTRS_H

#include <stdbool.h>
#include <stdint.h>

enum shuffle_attr_kind {
	SHUFFLE_ATTR_NONE,	/* no attribute has this number */
	SHUFFLE_ATTR_NEST,
	SHUFFLE_ATTR_U8,
	SHUFFLE_ATTR_U16,
	SHUFFLE_ATTR_U32,
	SHUFFLE_ATTR_U64,
	SHUFFLE_ATTR_STRING,
	SHUFFLE_ATTR_BINARY,
	SHUFFLE_ATTR_IPV4,	/* 4 bytes */
	SHUFFLE_ATTR_IPV6,	/* 16 bytes */
	SHUFFLE_ATTR_FLAG,
	SHUFFLE_ATTR_PAD,	/* to be skipped */
};

/* names of values, or of bits if is_flags */
struct shuffle_attr_enum {
	const char		*name;
	bool			is_flags;
	unsigned int		n;
	const char *const	*names;
	const char *const	*docs;	/* entries may be NULL */
};

struct shuffle_attr_set;

struct shuffle_attr {
	const char			*name;	/* as in the specification: link-rate */
	const char			*key;	/* for JSON: link_rate */
	enum shuffle_attr_kind		kind;
	bool				multi;	/* may come several times */
	const char			*unit;	/* or NULL */
	const struct shuffle_attr_enum	*names;	/* or NULL */
	const struct shuffle_attr_set	*nest;	/* what is in it, or NULL */
	uint64_t			min;	/* of numbers; strings: length */
	uint64_t			max;
	const char			*doc;
};

struct shuffle_attr_set {
	const char			*name;
	unsigned int			n;	/* attr[0..n-1], by attribute number */
	const struct shuffle_attr	*attr;
};

struct shuffle_attr_op {
	const char			*name;
	unsigned int			cmd;
	const struct shuffle_attr_set	*set;
	const char			*group;	/* of a notification, otherwise NULL */
	bool				has_dump;
	unsigned int			n_request;
	const unsigned int		*request;	/* attributes it takes */
	unsigned int			n_reply;
	const unsigned int		*reply;	/* attributes it gives, in order */
	const char			*doc;
};

extern const struct shuffle_attr_op shuffle_attr_ops[];
extern const unsigned int shuffle_attr_n_ops;

extern const struct shuffle_attr_set shuffle_attr_set_config;
extern const struct shuffle_attr_set shuffle_attr_set_op;
extern const struct shuffle_attr_set shuffle_attr_set_msg;
extern const struct shuffle_attr_set shuffle_attr_set_peer;
extern const struct shuffle_attr_set shuffle_attr_set_socket;
extern const struct shuffle_attr_set shuffle_attr_set_socket_local;
extern const struct shuffle_attr_set shuffle_attr_set_stat;

extern const struct shuffle_attr_enum shuffle_attr_enum_window_mode;
extern const struct shuffle_attr_enum shuffle_attr_enum_op_order;
extern const struct shuffle_attr_enum shuffle_attr_enum_op_state;
extern const struct shuffle_attr_enum shuffle_attr_enum_direction;
extern const struct shuffle_attr_enum shuffle_attr_enum_msg_state;
extern const struct shuffle_attr_enum shuffle_attr_enum_echo;
extern const struct shuffle_attr_enum shuffle_attr_enum_setting;

#endif /* _SHUFFLE_ATTRS_H */
