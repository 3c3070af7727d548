# SPDX-License-Identifier: GPL-2.0-or-later
#
# The failing tests of one lane, each with what the lane said about it: the
# last lines ("# ...", and "  | ..." of a kernel's complaint) before its line.
# Variables: name.

BEGIN { most = 25 }

/^not ok/ {
	printf "%s: %s\n", name, $0
	for (i = n > most ? n - most : 0; i < n; i++)
		printf "    %s\n", said[i]
	n = 0
	next
}
/^ok([ \t]|$)/ {
	n = 0
	next
}
/^(#|  \||guest:|lane )/ { said[n++] = $0 }
