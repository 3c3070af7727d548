# SPDX-License-Identifier: GPL-2.0-or-later
#
# How long CPUs have waited for locks that the module takes, from a trace of smp_guest.sh's two
# probes: lock_wait where a CPU begins to wait for a spin lock, with words of its stack as f0 ...;
# lock_got where it has it.  A wait is the module's if one of these words is inside the module.
#
# Prints "wait_ns=N waits=N", and a line "# FUNCTION: NS in N waits" for each that has waited.

match($0, /\[[0-9]+\]/) {
	cpu = substr($0, RSTART, RLENGTH)
	match($0, / [0-9]+\.[0-9]+: /)
	now = substr($0, RSTART, RLENGTH - 2) * 1e9
}

/ lock_wait: / {
	began[cpu] = now
	waiter[cpu] = ""
	for (i = NF; i > 1; i--)
		if ($i == "[shuffle]")
			waiter[cpu] = $(i - 1)
	gsub(/^f[0-9]+=|\+.*/, "", waiter[cpu])
}

/ lock_got: / && cpu in began {
	if (waiter[cpu] != "") {
		ns[waiter[cpu]] += now - began[cpu]
		n[waiter[cpu]]++
		all_ns += now - began[cpu]
		all_n++
	}
	delete began[cpu]
}

END {
	printf "wait_ns=%d waits=%d\n", all_ns, all_n
	for (f in n)
		printf "# %s: %d in %d waits\n", f, ns[f], n[f]
}
