// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module with a bug of one's choice: proof that a lane sees such bugs.
 *
 * insmod planted.ko bug=oob|uaf|abba|sleep|nest|leak
 *
 * These happen at once.  Races need two CPUs and somebody who writes to
 * /sys/kernel/debug/planted from several threads: torture --planted.
 *
 * insmod planted.ko bug=list|timer|softirq|count
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static char *bug = "";
module_param(bug, charp, 0444);
MODULE_PARM_DESC(bug, "what to do wrong: oob, uaf, abba, sleep, nest, leak, list, timer, softirq or count");

static DEFINE_SPINLOCK(planted_a);
static DEFINE_SPINLOCK(planted_b);
static DEFINE_RAW_SPINLOCK(planted_raw);

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

/* With PREEMPT_RT a spinlock sleeps, and a raw one does not allow that. */
static void planted_nest(void)
{
	raw_spin_lock(&planted_raw);
	spin_lock(&planted_a);
	spin_unlock(&planted_a);
	raw_spin_unlock(&planted_raw);
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

/* ---- races: what one write to the file does ---- */

struct planted_node {
	struct list_head	node;
	int			hits;
};

static LIST_HEAD(planted_list);
static struct planted_node *planted_shared;
static unsigned long planted_count;
static struct dentry *planted_file;

/* A list that threads change without a lock. */
static void planted_list_write(void)
{
	struct planted_node *n = kzalloc(sizeof(*n), GFP_KERNEL);

	if (!n)
		return;
	list_add_tail(&n->node, &planted_list);
	list_del(&n->node);
	kfree(n);
}

/* The timer of "timer" uses what a writer may just have freed, that of "softirq" a lock that was
 * held with softirqs on.
 */
static void planted_fires(struct timer_list *unused)
{
	struct planted_node *n;
	int i;

	if (!strcmp(bug, "softirq")) {
		spin_lock(&planted_a);
		planted_count++;
		spin_unlock(&planted_a);
		return;
	}
	n = READ_ONCE(planted_shared);
	if (n) {
		for (i = 0; i < 1000; i++)
			cpu_relax();
		WRITE_ONCE(n->hits, 1);
	}
}

static DEFINE_TIMER(planted_timer, planted_fires);

static void planted_timer_write(void)
{
	struct planted_node *n = kzalloc(sizeof(*n), GFP_KERNEL);

	mod_timer(&planted_timer, jiffies + 1);
	kfree(xchg(&planted_shared, n));
}

/* Before there is a timer: were it pending, it could meet the lock held on its own CPU, and the
 * guest would hang instead of telling.  Lockdep does not need the meeting.
 */
static void planted_softirq(void)
{
	spin_lock(&planted_a);
	planted_count++;
	spin_unlock(&planted_a);
}

/* A counter that threads add to without anything. */
static void planted_count_write(void)
{
	planted_count++;
}

static ssize_t planted_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	if (!strcmp(bug, "list"))
		planted_list_write();
	else if (!strcmp(bug, "timer"))
		planted_timer_write();
	else if (!strcmp(bug, "softirq"))
		mod_timer(&planted_timer, jiffies + 1);
	else
		planted_count_write();
	return len;
}

static const struct file_operations planted_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= planted_write,
};

static bool planted_is_race(void)
{
	return !strcmp(bug, "list") || !strcmp(bug, "timer") || !strcmp(bug, "softirq") ||
	       !strcmp(bug, "count");
}

static int __init planted_init(void)
{
	if (planted_is_race()) {
		if (!strcmp(bug, "softirq"))
			planted_softirq();
		planted_file = debugfs_create_file("planted", 0200, NULL, NULL, &planted_fops);
		return PTR_ERR_OR_ZERO(planted_file);
	}
	if (!strcmp(bug, "oob"))
		planted_read(false);
	else if (!strcmp(bug, "uaf"))
		planted_read(true);
	else if (!strcmp(bug, "abba"))
		planted_abba();
	else if (!strcmp(bug, "sleep"))
		planted_sleep();
	else if (!strcmp(bug, "nest"))
		planted_nest();
	else if (!strcmp(bug, "leak"))
		planted_leak();
	else
		return -EINVAL;
	return 0;
}

static void __exit planted_exit(void)
{
	debugfs_remove(planted_file);
	del_timer_sync(&planted_timer);
	kfree(planted_shared);
}

module_init(planted_init);
module_exit(planted_exit);
MODULE_DESCRIPTION("Planted bugs that a test lane must report");
MODULE_LICENSE("GPL");
