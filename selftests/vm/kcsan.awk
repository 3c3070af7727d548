# SPDX-License-Identifier: GPL-2.0-or-later
#
# A console without KCSAN's reports of races of the kernel with itself: those in which no function
# of a module of ours stands.  6.12 has some: flush_memcg_stats_dwork and tick_do_update_jiffies64.
#
# usage: awk -f kcsan.awk CONSOLE

/BUG: KCSAN:/ { held = 1; text = ""; ours = 0 }
held {
	text = text $0 "\n"
	ours = ours || /shuffle|planted/
	if (/=====/) {
		if (ours)
			printf "%s", text
		held = 0
	}
	next
}
{ print }
END { if (held) printf "%s", text }
