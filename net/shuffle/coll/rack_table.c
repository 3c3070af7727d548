// SPDX-License-Identifier: GPL-2.0-only
/* The table of racks of a network namespace. */
#include <linux/bsearch.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "../shuffle.h"
#include "rack_table.h"
#include "racks.h"

/* Names are interned: so many that are looked at for each entry, at most. */
#define RACKS_MAX	4096U

/**
 * shuffle_rack_table_new() - an empty table
 * @entries: that it will have at most
 *
 * Context: process, may sleep.
 * Return: the table or NULL.
 */
struct shuffle_rack_table *shuffle_rack_table_new(u32 entries)
{
	struct shuffle_rack_table *t;

	t = kvzalloc(struct_size(t, entry, entries), GFP_KERNEL_ACCOUNT);
	if (!t)
		return NULL;
	refcount_set(&t->ref, 1);
	t->name = kvcalloc(min(entries, RACKS_MAX), sizeof(*t->name), GFP_KERNEL_ACCOUNT);
	if (t->name)
		return t;
	kvfree(t);
	return NULL;
}

/**
 * shuffle_rack_table_put() - drop a reference
 * @t: table or NULL
 *
 * Context: process, may sleep.
 */
void shuffle_rack_table_put(struct shuffle_rack_table *t)
{
	if (!t || !refcount_dec_and_test(&t->ref))
		return;
	kvfree(t->name);
	kvfree(t);
}

/* Number of the rack of that name, t->racks if there is none.  Hosts of a rack follow each
 * other in most tables.
 */
static u32 find_name(const struct shuffle_rack_table *t, const char *name)
{
	u32 i;

	for (i = t->racks; i-- > 0;)
		if (!strcmp(t->name[i], name))
			return i;
	return t->racks;
}

static bool has_bits_behind(const struct shuffle_rack_entry *e)
{
	u32 i;

	for (i = e->len; i < 128; i++)
		if (e->addr[i / 8] & 0x80 >> i % 8)
			return true;
	return false;
}

/**
 * shuffle_rack_table_add() - one more entry, in any order
 * @t: table with room for it, which nobody else has
 * @e: the entry; its rack is filled in
 * @name: of the rack, shorter than SHUFFLE_RACK_NAME_LEN
 *
 * Context: process, may sleep.
 * Return: 0, -EINVAL (bits behind its length are set, or it is too long for an address),
 * -ENOSPC (too many racks), or -EINTR (the process is to die).
 */
int shuffle_rack_table_add(struct shuffle_rack_table *t, const struct shuffle_rack_entry *e,
			   const char *name)
{
	struct shuffle_rack_entry *to = &t->entry[t->n];

	if (e->len > (e->v6 ? 128 : 32) || has_bits_behind(e))
		return -EINVAL;
	*to = *e;
	to->rack = find_name(t, name);
	if (to->rack == RACKS_MAX)
		return -ENOSPC;
	if (to->rack == t->racks)
		strscpy(t->name[t->racks++], name, SHUFFLE_RACK_NAME_LEN);
	__set_bit(e->len, t->lens[e->v6]);
	t->n++;
	/* many names that begin alike take seconds */
	cond_resched();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

static int order(const void *a, const void *b)
{
	return memcmp(a, b, offsetof(struct shuffle_rack_entry, rack));
}

/**
 * shuffle_rack_table_sort() - all entries are there
 * @t: table
 *
 * Context: process.
 * Return: NULL, or an entry that is there twice.
 */
const struct shuffle_rack_entry *shuffle_rack_table_sort(struct shuffle_rack_table *t)
{
	u32 i;

	sort(t->entry, t->n, sizeof(t->entry[0]), order, NULL);
	for (i = 1; i < t->n; i++)
		if (!order(&t->entry[i - 1], &t->entry[i]))
			return &t->entry[i];
	return NULL;
}

/**
 * shuffle_rack_table_replace() - the namespace has another table from now on
 * @sn: namespace
 * @t: sorted table, or NULL for none
 *
 * Context: process, may sleep.
 */
void shuffle_rack_table_replace(struct shuffle_net *sn, struct shuffle_rack_table *t)
{
	mutex_lock(&sn->config_mutex);
	t = rcu_replace_pointer(sn->rack_table, t, lockdep_is_held(&sn->config_mutex));
	/* 0 is for dumps that have not begun */
	WRITE_ONCE(sn->rack_gen, sn->rack_gen + 1 ?: 1);
	mutex_unlock(&sn->config_mutex);
	if (!t)
		return;
	synchronize_rcu();
	shuffle_rack_table_put(t);
}

/**
 * shuffle_rack_table_get() - the table as it is now
 * @sn: namespace
 *
 * Context: any.
 * Return: table with a reference, or NULL.
 */
struct shuffle_rack_table *shuffle_rack_table_get(struct shuffle_net *sn)
{
	struct shuffle_rack_table *t;

	/* a replaced one keeps its reference for as long as readers may see it */
	rcu_read_lock();
	t = rcu_dereference(sn->rack_table);
	if (t)
		refcount_inc(&t->ref);
	rcu_read_unlock();
	return t;
}

static void keep_bits(u8 *addr, u32 len)
{
	u32 byte = len / 8;

	if (byte == 16)
		return;
	addr[byte] &= ~(0xff >> len % 8);
	memset(addr + byte + 1, 0, 15 - byte);
}

/**
 * shuffle_rack_table_find() - the longest range that has an address
 * @t: sorted table
 * @v6: is it an IPv6 address?
 * @addr: 4 or 16 bytes
 *
 * Context: any, with a reference to the table.
 * Return: the entry or NULL.
 */
const struct shuffle_rack_entry *
shuffle_rack_table_find(const struct shuffle_rack_table *t, bool v6, const u8 *addr)
{
	struct shuffle_rack_entry key = { .v6 = v6 };
	const struct shuffle_rack_entry *e = NULL;
	int len;

	memcpy(key.addr, addr, v6 ? 16 : 4);
	for (len = v6 ? 128 : 32; len >= 0 && !e; len--) {
		if (!test_bit(len, t->lens[v6]))
			continue;
		key.len = len;
		keep_bits(key.addr, len);
		e = bsearch(&key, t->entry, t->n, sizeof(key), order);
	}
	return e;
}

/* Number of a member's rack, or SHUFFLE_NONE. */
static u32 rack_of(const struct shuffle_rack_table *t, const struct sockaddr_shuffle *a)
{
	const struct shuffle_rack_entry *e;

	e = shuffle_rack_table_find(t, a->shs_ip_family == AF_INET6, a->shs_addr);
	return e ? e->rack : SHUFFLE_NONE;
}

/* Ranks at which a rack begins, in racks->first.  Returns false if there is one rack only, or a
 * rack begins twice, or a member has none.  @seen: room for a bit for each rack.
 */
static bool find_racks(const struct shuffle_rack_table *t, const struct shuffle_membership *group,
		       struct shuffle_racks *racks, unsigned long *seen)
{
	u32 i, rack, last = SHUFFLE_NONE;

	for (i = 0; i < group->count; i++, last = rack, cond_resched()) {
		rack = rack_of(t, &group->member[i].addr);
		if (rack == last && i)
			continue;
		if (rack == SHUFFLE_NONE || __test_and_set_bit(rack, seen))
			return false;
		racks->first[racks->racks++] = i;
	}
	racks->first[racks->racks] = group->count;
	return racks->racks > 1;
}

/**
 * shuffle_rack_table_group() - the racks of a group after its namespace's table
 * @sn: namespace
 * @group: group
 *
 * Ranks are places (plan.h), so the members of each rack have to have ranks one behind the
 * other.
 *
 * Context: process, may sleep.
 * Return: racks with a reference; NULL: one rack, for the table does not know all members, or
 * the ranks do not allow it; -ENOMEM.
 */
struct shuffle_racks *shuffle_rack_table_group(struct shuffle_net *sn,
					       const struct shuffle_membership *group)
{
	struct shuffle_rack_table *t;
	struct shuffle_racks *racks;
	unsigned long *seen;

	t = shuffle_rack_table_get(sn);
	if (!t)
		return NULL;
	racks = kzalloc(struct_size(racks, first, group->count + 1), GFP_KERNEL_ACCOUNT);
	seen = bitmap_zalloc(RACKS_MAX, GFP_KERNEL);
	if (!racks || !seen) {
		kfree(racks);
		racks = ERR_PTR(-ENOMEM);
	} else if (find_racks(t, group, racks, seen)) {
		refcount_set(&racks->ref, 1);
	} else {
		kfree(racks);
		racks = NULL;
	}
	bitmap_free(seen);
	shuffle_rack_table_put(t);
	return racks;
}
