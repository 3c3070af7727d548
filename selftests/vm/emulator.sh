#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# By which rules a failure is the emulator's and not the module's.  Sourced.

# impossible_cpu CONSOLE - has the kernel died with flags that no processor can have?  Bits 3, 5, 15
# and those from 22 on are always 0, bit 1 is always 1.  Then QEMU has miscalculated (seen with
# 7.2 and two processors: after a cmpxchg16b, flags taken from a register), and whatever follows
# says nothing about the module.
impossible_cpu()
{
	local flags

	while read -r flags; do
		[ $((16#$flags & 0xffc08028)) = 0 ] && [ $((16#$flags & 2)) != 0 ] || return 0
	done < <(grep -oE 'EFLAGS: [0-9a-f]{8}' "$1" 2>/dev/null | cut -d' ' -f2)
	return 1
}

# emulator_fault LANE CONSOLE - why a lane that has failed has done so, when it was the emulator;
# fails when it was not.
emulator_fault()
{
	[[ $1 == qemu* ]] || return 1
	if impossible_cpu "$2"; then
		echo "flags that no processor has"
		return 0
	fi
	return 1
}

# early_deaths LOG - guests of a lane that died before their first program, and were booted again.
early_deaths()
{
	grep -c '^# lane .*: the guest died before its first program ran' "$1"
}

# done_cases LOG - names of the cases whose result is known.
done_cases()
{
	sed -nE '/# *SKIP/!s/^(not )?ok [0-9]+ - //p; s/^ok [0-9]+ - (.*[^ ]) *# *SKIP.*/\1/p' "$1"
}
