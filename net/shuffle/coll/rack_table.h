/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of racks of a network namespace: which ranges of addresses share a rack.
 *
 * sn->config_mutex guards changes.  A table in use does not change: it is replaced.
 */
#ifndef _SHUFFLE_RACK_TABLE_H
#define _SHUFFLE_RACK_TABLE_H

#include <linux/bitmap.h>
#include <linux/in6.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct shuffle_membership;
struct shuffle_net;
struct shuffle_racks;

/* IPv4 and IPv6 addresses of twice as many hosts as a group has members */
#define SHUFFLE_RACK_ENTRIES	16384U

/* bytes of the name of a rack, with the zero behind it */
#define SHUFFLE_RACK_NAME_LEN	64U

/**
 * struct shuffle_rack_entry - a range of addresses
 * @v6: 1 for IPv6 addresses, 0 for IPv4 addresses
 * @len: leading bits that they have in common
 * @addr: the first one; the bits behind @len are 0
 * @rack: number of the rack
 */
struct shuffle_rack_entry {
	u8	v6;
	u8	len;
	u8	addr[16];
	u16	rack;
};

/**
 * struct shuffle_rack_table - all of them
 * @ref: the namespace, and readers
 * @n: entries
 * @racks: names
 * @lens: lengths that IPv4 and IPv6 entries have
 * @name: of each rack
 * @entry: sorted by their first three fields
 */
struct shuffle_rack_table {
	refcount_t	ref;
	u32		n;
	u32		racks;
	DECLARE_BITMAP(lens[2], 129);
	char		(*name)[SHUFFLE_RACK_NAME_LEN];
	struct shuffle_rack_entry entry[];
};

struct shuffle_rack_table *shuffle_rack_table_new(u32 entries);
struct shuffle_rack_table *shuffle_rack_table_get(struct shuffle_net *sn);
void shuffle_rack_table_put(struct shuffle_rack_table *t);
int shuffle_rack_table_add(struct shuffle_rack_table *t, const struct shuffle_rack_entry *e,
			   const char *name);
const struct shuffle_rack_entry *shuffle_rack_table_sort(struct shuffle_rack_table *t);
void shuffle_rack_table_replace(struct shuffle_net *sn, struct shuffle_rack_table *t);
const struct shuffle_rack_entry *
shuffle_rack_table_find(const struct shuffle_rack_table *t, bool v6, const u8 *addr);
struct shuffle_racks *shuffle_rack_table_group(struct shuffle_net *sn,
					       const struct shuffle_membership *group);

#endif /* _SHUFFLE_RACK_TABLE_H */
