#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The table of Documentation/networking/reliability.rst: who leaves how, when the others know, and
# whom they name.
#
#	selftests/net/shuffle/death.sh			runs it in virtual time and writes the table
#	selftests/net/shuffle/death.sh guest		in the guest: prints its rows
#
# A quarter of an hour.
set -eu

doc=Documentation/networking/reliability.rst

guest()
{
	local what bytes n
	# shellcheck source=lib.sh
	. "$(dirname "$0")/lib.sh"
	# shellcheck source=cases_death.sh
	. "$here/cases_death.sh"

	setup_all >/dev/null
	set +e
	for what in kill exit cancel close other never netns link stop; do
		for bytes in 1000 1000000 20000000; do
			for n in 2 4; do
				tap_count=$((tap_count + 1))
				death "$what" "$bytes" "$n" | grep -E '^ROW|^#'
			done
		done
	done
	return 0
}

host()
{
	local rows

	cd "$(dirname "$0")/../../.."
	rows=$(mktemp)
	selftests/vm/run.sh uml-debug-time -L -t 3000 selftests/net/shuffle/death.sh guest | tee /dev/stderr |
		sed -n 's/^ROW //p' >"$rows"
	[ "$(wc -l <"$rows")" = 54 ] || { echo "not all rows: $rows"; return 1; }
	awk -v rows="$rows" '
		BEGIN { rule = "======= ========== ======== ============ ============ ========" }
		/^\.\. the table ends/ { skip = 0 }
		!skip { print }
		/^\.\. the table begins/ {
			skip = 1
			print ""
			print rule
			print "event   bytes      members  after it, s  progress, s  named"
			print rule
			while ((getline line < rows) > 0) {
				split(line, f, " +")
				name = f[7]
				for (i = 8; i in f; i++) name = name " " f[i]
				printf "%-7s %10d %8d %12.3f %12.1f %s\n", f[1], f[2], f[3], f[5], f[6], name
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
