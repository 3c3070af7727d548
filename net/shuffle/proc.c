// SPDX-License-Identifier: GPL-2.0-only
/* /proc/net/shuffle: number of the address family, counters. */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "mib.h"
#include "netns.h"
#include "sock.h"

static int family_show(struct seq_file *seq, void *v)
{
	seq_printf(seq, "%d\n", shuffle_family);
	return 0;
}

/* Same layout as /proc/net/netstat, so that nstat can read the file. */
static int netstat_show(struct seq_file *seq, void *v)
{
	struct shuffle_net *sn = shuffle_net(seq_file_single_net(seq));
	int i;

	seq_puts(seq, "ShuffleExt:");
	for (i = 0; i < SHUFFLE_MIB_MAX; i++)
		seq_printf(seq, " %s", shuffle_mib_names[i]);
	seq_puts(seq, "\nShuffleExt:");
	for (i = 0; i < SHUFFLE_MIB_MAX; i++)
		seq_printf(seq, " %llu", shuffle_mib_value(sn, i));
	seq_putc(seq, '\n');
	return 0;
}

int shuffle_proc_init(struct shuffle_net *sn)
{
	struct proc_dir_entry *dir;

	dir = proc_net_mkdir(sn->net, "shuffle", sn->net->proc_net);
	if (!dir)
		return -ENOMEM;
	if (!proc_create_net_single("family", 0444, dir, family_show, NULL) ||
	    !proc_create_net_single("netstat", 0444, dir, netstat_show, NULL)) {
		remove_proc_subtree("shuffle", sn->net->proc_net);
		return -ENOMEM;
	}
	return 0;
}

void shuffle_proc_exit(struct shuffle_net *sn)
{
	remove_proc_subtree("shuffle", sn->net->proc_net);
}
