# SPDX-License-Identifier: GPL-2.0-or-later
#
# A console without KCSAN's reports of races of the kernel with itself.  A report is ours if an access
# is in a function of a module of ours, or if all accesses are made on its behalf: a kernel's list or
# copy.  What an interrupt has interrupted has no part in it: 6.12's timers race with those who wait
# for them, whoever runs meanwhile; and so do those who wake and those who poll.
#
# usage: awk -f kcsan.awk CONSOLE

/BUG: KCSAN:/ { held = 1; text = ""; top = stacks = with = frames = outer = mine = 0 }
held {
	text = text $0 "\n"
	if (/(read|write).* to 0x.* of [0-9]+ bytes by/) {
		stacks++
		frames = outer = mine = 0
	} else if (/ asm_(sysvec|common_interrupt|exc)/) {
		outer = 1
	} else if (stacks && !outer && /\+0x[0-9a-f]+\/0x[0-9a-f]+/) {
		if (/\[(shuffle|planted)\]/) {
			top = top || !frames
			with += !mine
			mine = 1
		}
		frames++
	}
	if (/=====/) {
		if (top || (stacks && with == stacks))
			printf "%s", text
		held = 0
	}
	next
}
{ print }
END { if (held) printf "%s", text }
