// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module with a bug of one's choice: proof that a lane sees such bugs.
 *
 * insmod planted.ko bug=oob|uaf|abba|sleep|leak
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static char *bug = "";
module_param(bug, charp, 0444);
MODULE_PARM_DESC(bug, "what to do wrong: oob, uaf, abba, sleep or leak");

static DEFINE_SPINLOCK(planted_a);
static DEFINE_SPINLOCK(planted_b);

static int planted_read(bool freed)
{
	size_t at = freed ? 0 : 32;
	char *p;
	int v;

	p = kzalloc(32, GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	if (freed)
		kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	v = READ_ONCE(p[at]);
	if (!freed)
		kfree(p);
	return v & 1;
}

static void planted_abba(void)
{
	spin_lock(&planted_a);
	spin_lock(&planted_b);
	spin_unlock(&planted_b);
	spin_unlock(&planted_a);

	spin_lock(&planted_b);
	spin_lock(&planted_a);
	spin_unlock(&planted_a);
	spin_unlock(&planted_b);
}

static void planted_sleep(void)
{
	spin_lock(&planted_a);
	might_sleep();
	spin_unlock(&planted_a);
}

static void planted_leak(void)
{
	int i;

	/* several: a stale pointer in a register or on a stack may hide one */
	for (i = 0; i < 8; i++) {
		void *p = kmalloc(200, GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(p);
	}
}

static int __init planted_init(void)
{
	if (!strcmp(bug, "oob"))
		planted_read(false);
	else if (!strcmp(bug, "uaf"))
		planted_read(true);
	else if (!strcmp(bug, "abba"))
		planted_abba();
	else if (!strcmp(bug, "sleep"))
		planted_sleep();
	else if (!strcmp(bug, "leak"))
		planted_leak();
	else
		return -EINVAL;
	return 0;
}

static void __exit planted_exit(void)
{
}

module_init(planted_init);
module_exit(planted_exit);
MODULE_DESCRIPTION("Planted bugs that a test lane must report");
MODULE_LICENSE("GPL");
