// SPDX-License-Identifier: GPL-2.0-only
/* The overlay of a network namespace: see overlay.h. */
#include <linux/bsearch.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "overlay.h"
#include "shuffle.h"

/**
 * shuffle_overlay_new() - an empty overlay
 * @neighbours: that it will have at most
 * @paths: likewise
 *
 * Context: process, may sleep.
 * Return: the overlay or NULL.
 */
struct shuffle_overlay *shuffle_overlay_new(u32 neighbours, u32 paths)
{
	struct shuffle_overlay *o;

	o = kvzalloc(struct_size(o, path, paths), GFP_KERNEL_ACCOUNT);
	if (!o)
		return NULL;
	refcount_set(&o->ref, 1);
	o->neighbour = kvcalloc(neighbours, sizeof(*o->neighbour), GFP_KERNEL_ACCOUNT);
	if (o->neighbour)
		return o;
	kvfree(o);
	return NULL;
}

/**
 * shuffle_overlay_put() - drop a reference
 * @o: overlay or NULL
 *
 * Context: process, may sleep.
 */
void shuffle_overlay_put(struct shuffle_overlay *o)
{
	if (!o || !refcount_dec_and_test(&o->ref))
		return;
	kvfree(o->neighbour);
	kvfree(o);
}

/**
 * shuffle_overlay_add_neighbour() - one more
 * @o: overlay with room for it, which nobody else has
 * @n: the neighbour
 *
 * Context: process.
 * Return: 0, or -EEXIST: its number or its address is another's, or the number is ours.
 */
int shuffle_overlay_add_neighbour(struct shuffle_overlay *o, const struct shuffle_neighbour *n)
{
	u32 i;

	if (n->server == o->server)
		return -EEXIST;
	for (i = 0; i < o->neighbours; i++)
		if (n->server == o->neighbour[i].server ||
		    !memcmp(&n->addr, &o->neighbour[i].addr, sizeof(n->addr)))
			return -EEXIST;
	o->neighbour[o->neighbours++] = *n;
	return 0;
}

/**
 * shuffle_overlay_add_path() - one more, in any order
 * @o: overlay with room for it and with all neighbours, which nobody else has
 * @path: the way; its first neighbour is filled in
 *
 * Context: process.
 * Return: 0, -ENOENT (its filter has the hop to no neighbour), or -EEXIST (to several).
 */
int shuffle_overlay_add_path(struct shuffle_overlay *o, const struct shuffle_path *path)
{
	struct shuffle_path *to = &o->path[o->paths];
	u32 i;

	*to = *path;
	to->via = NULL;
	for (i = 0; i < o->neighbours; i++) {
		if (!shuffle_bloom_has(&to->filter, o->server, o->neighbour[i].server))
			continue;
		if (to->via)
			return -EEXIST;
		to->via = &o->neighbour[i];
		if (o->copies)
			break;
	}
	if (!to->via)
		return -ENOENT;
	o->paths++;
	return 0;
}

static int order(const void *a, const void *b)
{
	return memcmp(a, b, offsetofend(struct shuffle_path, to));
}

/**
 * shuffle_overlay_sort() - all paths are there
 * @o: overlay
 *
 * Context: process.
 * Return: 0, or -EEXIST: there are two to one address.
 */
int shuffle_overlay_sort(struct shuffle_overlay *o)
{
	u32 i;

	sort(o->path, o->paths, sizeof(o->path[0]), order, NULL);
	for (i = 1; i < o->paths; i++)
		if (!order(&o->path[i - 1], &o->path[i]))
			return -EEXIST;
	return 0;
}

/**
 * shuffle_overlay_replace() - the namespace has another overlay from now on
 * @sn: namespace
 * @o: sorted overlay, whose reference is taken over on success; or NULL for none
 *
 * A server without sockets of its own passes packets on, too, so an overlay keeps the UDP sockets
 * open.  Groups keep the overlay that they have.
 *
 * Context: process, may sleep.
 * Return: 0, or an error of shuffle_udp_open().
 */
int shuffle_overlay_replace(struct shuffle_net *sn, struct shuffle_overlay *o)
{
	struct shuffle_overlay *old;
	int err = 0;

	mutex_lock(&sn->change_mutex);
	old = rcu_dereference_protected(sn->overlay, lockdep_is_held(&sn->change_mutex));
	if (o && !old)
		err = shuffle_udp_open(sn);
	if (!err) {
		mutex_lock(&sn->config_mutex);
		rcu_assign_pointer(sn->overlay, o);
		/* 0 is for dumps that have not begun */
		WRITE_ONCE(sn->overlay_gen, sn->overlay_gen + 1 ?: 1);
		mutex_unlock(&sn->config_mutex);
	}
	if (old && !o)
		shuffle_udp_put(sn);
	mutex_unlock(&sn->change_mutex);
	if (err || !old)
		return err;
	synchronize_rcu();
	shuffle_overlay_put(old);
	return 0;
}

/**
 * shuffle_overlay_get() - the overlay as it is now
 * @sn: namespace
 *
 * Context: any.
 * Return: overlay with a reference, or NULL.
 */
struct shuffle_overlay *shuffle_overlay_get(struct shuffle_net *sn)
{
	struct shuffle_overlay *o;

	/* a replaced one keeps its reference for as long as readers may see it */
	rcu_read_lock();
	o = rcu_dereference(sn->overlay);
	if (o)
		refcount_inc(&o->ref);
	rcu_read_unlock();
	return o;
}

/**
 * shuffle_overlay_path() - the way to a member
 * @o: sorted overlay
 * @to: address of the member
 *
 * Context: any, with a reference to the overlay.
 * Return: the way, or NULL: packets go to the member themselves.
 */
const struct shuffle_path *shuffle_overlay_path(const struct shuffle_overlay *o,
						const struct sockaddr_shuffle *to)
{
	struct sockaddr_shuffle key = *to;

	key.shs_port = 0;
	return bsearch(&key, o->path, o->paths, sizeof(o->path[0]), order);
}

/**
 * shuffle_path_record() - the record with which datagrams begin
 * @path: the way
 * @from: our address, as the member knows it
 * @p: room for shuffle_path_len() bytes
 *
 * Context: any.
 * Return: bytes written.
 */
unsigned int shuffle_path_record(const struct shuffle_path *path,
				 const struct sockaddr_shuffle *from, u8 *p)
{
	struct shuffle_wire_path w = {
		.v6 = path->to.shs_ip_family == AF_INET6,
		.filter = path->filter,
	};

	memcpy(w.from, from->shs_addr, 16);
	memcpy(w.to, path->to.shs_addr, 16);
	return shuffle_wire_path_build(p, &w);
}
