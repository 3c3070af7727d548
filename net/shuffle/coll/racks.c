// SPDX-License-Identifier: GPL-2.0-only
/*
 * The racks of a socket's group.  Members of a rack have ranks one behind the other, so that a rank
 * is a place of plan.h.  Collectives that are under way keep the racks that they began with.
 */
#include <linux/slab.h>

#include "../shuffle.h"
#include "racks.h"

/* Sizes in @racks->first[1] and up become first members. */
static int sum_up(struct shuffle_racks *racks, u32 count)
{
	u32 i;

	for (i = 1; i <= racks->racks; i++) {
		if (!racks->first[i] || racks->first[i] > count - racks->first[i - 1])
			return -EINVAL;
		racks->first[i] += racks->first[i - 1];
	}
	return racks->first[racks->racks] == count ? 0 : -EINVAL;
}

static struct shuffle_racks *read_racks(sockptr_t optval, u32 n, u32 count)
{
	struct shuffle_racks *racks;
	int err;

	racks = kzalloc(struct_size(racks, first, n + 1), GFP_KERNEL_ACCOUNT);
	if (!racks)
		return ERR_PTR(-ENOMEM);
	refcount_set(&racks->ref, 1);
	racks->racks = n;
	err = copy_from_sockptr(racks->first + 1, optval, n * sizeof(racks->first[0])) ? -EFAULT :
	      sum_up(racks, count);
	if (!err)
		return racks;
	kfree(racks);
	return ERR_PTR(err);
}

/**
 * shuffle_racks_set() - option SHUFFLE_RACKS
 * @ssk: a socket with a group
 * @optval: a u32 for each rack: how many members it has
 * @optlen: bytes of them; 0: one rack
 *
 * Context: process, lock_sock held.
 * Return: 0, -ENOTCONN (no group), -EINVAL (a rack without members, or their sum is not the
 * group), -EFAULT or -ENOMEM.
 */
int shuffle_racks_set(struct shuffle_sock *ssk, sockptr_t optval, unsigned int optlen)
{
	struct shuffle_racks *racks = NULL;
	u32 n = optlen / sizeof(u32);

	sock_owned_by_me(&ssk->sk);
	if (!ssk->group)
		return -ENOTCONN;
	if (optlen % sizeof(u32) || n > ssk->group->count)
		return -EINVAL;
	if (n) {
		racks = read_racks(optval, n, ssk->group->count);
		if (IS_ERR(racks))
			return PTR_ERR(racks);
	}
	spin_lock_bh(&ssk->lock);
	swap(ssk->racks, racks);
	spin_unlock_bh(&ssk->lock);
	shuffle_racks_put(racks);
	return 0;
}

/**
 * shuffle_racks_get() - read the option SHUFFLE_RACKS back
 * @ssk: socket
 * @optval: room for a u32 for each rack; less than that gets the first ones
 * @optlen: in: size of the room; out: bytes written
 *
 * Context: process, lock_sock held.
 * Return: 0, -ENOTCONN or -EFAULT.
 */
int shuffle_racks_get(struct shuffle_sock *ssk, char __user *optval, int __user *optlen)
{
	const struct shuffle_racks *racks = ssk->racks;
	u32 i, n, size;
	int len;

	sock_owned_by_me(&ssk->sk);
	if (!ssk->group)
		return -ENOTCONN;
	if (get_user(len, optlen))
		return -EFAULT;
	n = min_t(u32, racks ? racks->racks : 1, max(len, 0) / sizeof(size));
	for (i = 0; i < n; i++) {
		size = racks ? racks->first[i + 1] - racks->first[i] : ssk->group->count;
		if (copy_to_user(optval + i * sizeof(size), &size, sizeof(size)))
			return -EFAULT;
	}
	return put_user((int)(n * sizeof(size)), optlen);
}

/**
 * shuffle_racks_hold() - the racks of the socket's group as they are now
 * @ssk: socket
 *
 * Context: any, ssk->lock held.
 * Return: racks with a reference, or NULL: one rack.
 */
struct shuffle_racks *shuffle_racks_hold(struct shuffle_sock *ssk)
{
	lockdep_assert_held(&ssk->lock);
	if (ssk->racks)
		refcount_inc(&ssk->racks->ref);
	return ssk->racks;
}

/**
 * shuffle_racks_put() - drop a reference
 * @racks: racks or NULL
 *
 * Context: any.
 */
void shuffle_racks_put(struct shuffle_racks *racks)
{
	if (racks && refcount_dec_and_test(&racks->ref))
		kfree(racks);
}
