# SPDX-License-Identifier: GPL-2.0-or-later
#
# Count the TAP lines of one lane: prints "PASSED FAILED SKIPPED" and, on
# standard error, why a lane failed that has no failing test.
# Variables: name, status (the lane's exit status).

/^(not )?ok([ \t]|$)/ {
	seen++
	if (tolower($0) ~ /# *skip/)
		skipped++
	else if (/^not/)
		failed++
	else
		passed++
}
/^1\.\.[0-9]+/ {
	planned += substr($1, 4)
	plans++
}
# a lane that skips all of itself
/^1\.\.0/ {
	seen++
	skipped++
}
/^Bail out!/ { why("gave up: " $0) }

function why(text)
{
	printf "not ok - lane %s: %s\n", name, text >"/dev/stderr"
	failed++
}

END {
	if (status == 70)
		why("the kernel complained")
	else if (status == 71)
		why("the guest died")
	else if (status == 124 || status == 137)
		why("time ran out")
	else if (status != 0 && !failed)
		why("ended with status " status)
	if (!seen && !failed)
		why("no test ran")
	else if (plans && planned > seen)
		why(planned " tests planned, " seen " seen")
	print passed + 0, failed + 0, skipped + 0
}
