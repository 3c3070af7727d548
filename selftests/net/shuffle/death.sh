#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The table of Documentation/networking/reliability.rst: who leaves how, when the others know, and
# whom they name.
#
#	selftests/net/shuffle/death.sh			runs it in virtual time and writes the table
#	selftests/net/shuffle/death.sh guest		in the guest: prints its rows
#
# In the kernel without checks, which is faster; the cases of cases_death.sh are for the others.
set -eu

doc=Documentation/networking/reliability.rst
causes=(kill exit cancel close other reboot bare never netns link stop)

guest()
{
	local what bytes n
	# shellcheck source=lib.sh
	. "$(dirname "$0")/lib.sh"
	# shellcheck source=cases_death.sh
	. "$here/cases_death.sh"

	setup_all >/dev/null
	set +e
	for what in "${causes[@]}"; do
		for bytes in 1000 1000000 20000000; do
			for n in 2 4 8; do
				row "$what" "$bytes" "$n" shuffle
			done
		done
	done
	for what in "${causes[@]}"; do
		row "$what" 1000000 4 same
	done
	return 0
}

# row WHAT BYTES MEMBERS KIND
row()
{
	tap_count=$((tap_count + 1))
	death "$1" "$2" "$3" kind="$4" | grep -E '^ROW|^#|wanted: [^)]*\): '
}

host()
{
	local rows

	cd "$(dirname "$0")/../../.."
	rows=$(mktemp)
	selftests/vm/run.sh uml-time -t 3000 selftests/net/shuffle/death.sh guest | tee /dev/stderr |
		sed -n 's/^ROW //p' >"$rows"
	[ "$(wc -l <"$rows")" = $((${#causes[@]} * 10)) ] || { echo "not all rows: $rows"; return 1; }
	awk -v rows="$rows" '
		BEGIN { rule = "======= ======= ========== ======== ============ ============ ========" }
		/^\.\. the table ends/ { skip = 0 }
		!skip { print }
		/^\.\. the table begins/ {
			skip = 1
			print ""
			print rule
			print "event   kind    bytes      members  after it, s  progress, s  named"
			print rule
			while ((getline line < rows) > 0) {
				split(line, f, " +")
				name = f[8]
				for (i = 9; i in f; i++) name = name " " f[i]
				printf "%-7s %-7s %10d %8d %12.3f %12.1f %s\n", f[1], f[2], f[3], f[4],
					f[6], f[7], name
			}
			print rule
			print ""
		}' "$doc" >"$doc.new"
	mv "$doc.new" "$doc"
	rm -f "$rows"
}

if [ "${1-}" = guest ]; then
	guest
else
	host
fi
