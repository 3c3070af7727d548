// SPDX-License-Identifier: BSD-3-Clause
/* Keyed collectives: why a call has failed, told to the parent and, if all receive, to all. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "keys.h"

void keys_fault_clear(struct shuffle_keys_fault *fault)
{
	memset(fault, 0, sizeof(*fault));
	fault->rank = SHUFFLE_KEYS_NOBODY;
}

/* -1, with errno.  The first one stays. */
int keys_fault(struct coll_keys *k, int error, uint32_t rank, const char *format, ...)
{
	struct shuffle_keys_fault *fault = k->fault;
	va_list args;

	if (!fault->error) {
		fault->error = error ? error : EIO;
		fault->rank = rank;
		va_start(args, format);
		vsnprintf(fault->text, sizeof(fault->text), format, args);
		va_end(args);
	}
	errno = fault->error;
	return -1;
}

/* The parent learns why nothing more comes, and that before our socket may be closed. */
static void tell_parent(struct coll_keys *k)
{
	size_t size = sizeof(k->fault->text);
	uint64_t number = k->failed_op - k->hook.first;

	/* it is the parent that does not take what we send */
	if (k->failed && (number & (SHUFFLE_MAX_MEMBERS - 1)) == k->c->rank)
		return;
	k->telling = 1;
	memcpy(k->out + KEYS_HEAD, k->fault->text, size);
	if (keys_send(k, size, KEYS_FAULT | KEYS_LAST))
		return;
	while (k->telling_op && !coll_advance(k->c, 0))
		;
}

/* The end of all streams of a member: @rc, and a fault goes up.  After a fault what still comes of
 * them is ours until keys_close(), and forgotten.
 */
int keys_end(struct coll_keys *k, int rc)
{
	int ours = k->c->hook == &k->hook;

	if (rc && !k->fault->error)
		keys_fault(k, errno, SHUFFLE_KEYS_NOBODY, "%s", strerror(errno));
	if (rc && k->parent != SHUFFLE_KEYS_NOBODY && k->out && ours && !k->c->error)
		tell_parent(k);
	if (!rc && ours)
		k->c->hook = NULL;
	if (!rc)
		return 0;
	errno = k->fault->error;
	return -1;
}
