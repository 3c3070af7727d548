// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives in which each member has a length of its own.  Who is no root knows its own only, so
 * nobody can forward: plans are flat, and carried out in user space.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"

/* Where the blocks of all begin, one behind the other; NULL: no memory, or too much of it. */
static uint64_t *offsets_of(const size_t *sizes, uint32_t n)
{
	uint64_t *at = malloc((n + 1) * sizeof(*at));
	uint32_t i;

	if (!at)
		return NULL;
	at[0] = 0;
	for (i = 0; i < n; i++) {
		at[i + 1] = at[i] + sizes[i];
		if (at[i + 1] < at[i]) {
			free(at);
			errno = EMSGSIZE;
			return NULL;
		}
	}
	return at;
}

/* Our own block is the first one, and the only one that goes through our hands. */
static uint64_t *own_offsets(size_t size, uint32_t n)
{
	uint64_t *at = malloc((n + 1) * sizeof(*at));
	uint32_t i;

	if (!at)
		return NULL;
	at[0] = 0;
	for (i = 1; i <= n; i++)
		at[i] = size;
	return at;
}

static int make_plan(struct work *w, struct shuffle_coll *c, int kind, unsigned int root,
		     const uint64_t *offsets, uint32_t base)
{
	int rc, pattern;

	/* calls that have begun are not to be planned with this pattern */
	if (!offsets || (!c->in_wait && coll_later_first(c)))
		return coll_fail(c);
	pattern = c->pattern;
	c->pattern = SHUFFLE_COLL_FLAT;
	c->no_tables = 1;
	rc = coll_make_plan(w, c, kind, root, 0);
	c->pattern = pattern;
	c->no_tables = 0;
	w->in_kernel = 0;
	w->blocks.size = 1;
	w->blocks.offsets = offsets;
	w->blocks.base = base;
	return rc;
}

int shuffle_gatherv(struct shuffle_coll *c, const void *from, size_t size, void *to,
		    const size_t *sizes, unsigned int root)
{
	int rc, is_root = c->rank == root;
	uint64_t *at = is_root ? offsets_of(sizes, c->count) : own_offsets(size, c->count);
	struct work w = { .data = is_root ? to : (char *)from };

	rc = make_plan(&w, c, SHUFFLE_COLL_GATHER, root, at, is_root ? 0 : c->rank);
	if (!rc && is_root && size != sizes[root]) {
		errno = EINVAL;
		rc = coll_fail(c);
	}
	if (!rc && is_root && size)
		memmove(w.data + at[root], from, size);
	if (!rc)
		rc = coll_run_steps(&w);
	free(at);
	return rc;
}

int shuffle_scatterv(struct shuffle_coll *c, const void *from, const size_t *sizes, void *to,
		     size_t size, unsigned int root)
{
	int rc, is_root = c->rank == root;
	uint64_t *at = is_root ? offsets_of(sizes, c->count) : own_offsets(size, c->count);
	struct work w = { .data = is_root ? (char *)from : to };

	rc = make_plan(&w, c, SHUFFLE_COLL_SCATTER, root, at, is_root ? 0 : c->rank);
	if (!rc && is_root && size != sizes[root]) {
		errno = EINVAL;
		rc = coll_fail(c);
	}
	if (!rc)
		rc = coll_run_steps(&w);
	if (!rc && is_root && size)
		memmove(to, w.data + at[root], size);
	free(at);
	return rc;
}

int shuffle_allgatherv(struct shuffle_coll *c, const void *from, void *to, const size_t *sizes)
{
	uint64_t *at = offsets_of(sizes, c->count);
	struct work w = { .data = to };
	int rc;

	rc = make_plan(&w, c, SHUFFLE_COLL_ALLGATHER, 0, at, 0);
	if (!rc && sizes[c->rank])
		memmove(w.data + at[c->rank], from, sizes[c->rank]);
	if (!rc)
		rc = coll_run_steps(&w);
	free(at);
	return rc;
}

int shuffle_reduce_scatterv(struct shuffle_coll *c, const void *from, void *to,
			    const size_t *sizes, shuffle_combine combine, void *arg)
{
	uint64_t *at = offsets_of(sizes, c->count);
	struct work w = { .combine = combine, .arg = arg };
	int rc;

	rc = make_plan(&w, c, SHUFFLE_COLL_REDUCE_SCATTER, 0, at, 0);
	/* what others have of our block is combined with it */
	w.data = rc ? NULL : malloc(at[c->count] + 1);
	if (!rc && !w.data)
		rc = coll_fail(c);
	if (!rc && at[c->count])
		memcpy(w.data, from, at[c->count]);
	if (!rc)
		rc = coll_run_steps(&w);
	if (!rc && sizes[c->rank])
		memcpy(to, w.data + at[c->rank], sizes[c->rank]);
	free(w.data);
	free(at);
	return rc;
}
