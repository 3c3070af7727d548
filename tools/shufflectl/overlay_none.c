// SPDX-License-Identifier: GPL-2.0-or-later
/* "shufflectl overlay" of a machine that has had no libbpf, or no clang. */
#include "overlay_table.h"
#include "shufflectl.h"

static int none(void)
{
	return ctl_error("this shufflectl was built without overlays: missing: %s",
			 *OVERLAY_MISSING ? OVERLAY_MISSING : "OVERLAY=y");
}

int overlay_get(struct overlay_table *t, bool *found)
{
	(void)t;
	(void)found;
	return none();
}

int overlay_put(struct overlay_table *t)
{
	(void)t;
	return none();
}

int overlay_remove(void)
{
	return none();
}
