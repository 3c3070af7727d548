#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What budget.sh runs inside the kernel: cases, one behind the other.  Each has a module that
# has just been loaded and hosts that have just been made, so that nothing that the module has
# learnt in one case is there in the next.
#
# Run 0 of each is another matter, and does not count: pages are allocated, routes found, and the
# module learns how long a round trip takes.
#
# usage: budget_guest.sh CASE...	a case is one word, as in the table of budget.sh
set -euo pipefail

bench=$(dirname "$0")

# The last users of the module, namespaces, go a while after they have been deleted.
unload()
{
	local i

	for ((i = 0; i < 100; i++)); do
		! rmmod shuffle 2>/dev/null || return 0
		sleep 0.1
	done
	echo "budget_guest.sh: the module is still in use" >&2
	return 1
}

depends=$(modinfo -F depends "$BUDGET_KO")
# shellcheck disable=SC2086 # words
[ -z "$depends" ] || modprobe -aq ${depends//,/ }
status=0
for c in "$@"; do
	read -ra word <<<"$c"
	name=${word[0]} hosts=${word[1]} mtu=${word[3]} runs=${RUNS:-${word[4]}}
	insmod "$BUDGET_KO"
	"$bench/rack.sh" up "$hosts" rate=none mtu="$mtu"
	"$BUDGET_BIN/shuffle-workload" generate "${word[2]}" -n "$hosts" -o /tmp/matrix
	for ((run = 0; run <= runs; run++)); do
		"$BUDGET_BIN/${word[5]}" "${word[@]:6}" -u -t shuffle -c "$name" -r "$run" /tmp/matrix ||
			status=1
	done
	"$bench/rack.sh" down
	unload
done
exit $status
