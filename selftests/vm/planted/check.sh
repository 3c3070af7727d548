#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prove that a debug lane reports the bugs it is there for.  TAP.
#
# usage: check.sh uml-debug|qemu-debug
set -euo pipefail

vm=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=../common.sh
. "$vm/common.sh"

lane=${1:?usage: check.sh LANE}
ko=$("$vm/build-module.sh" -s selftests/vm/planted "$(kernel_of "$lane")")
n=0
echo "1..5"
while read -r bug want; do
	n=$((n + 1))
	status=0 opts=()
	[ "$bug" = leak ] || opts=(-L)
	said=$("$vm/run.sh" "$lane" -N "${opts[@]}" -t 120 -o "$BUILD/out/planted-$lane-$bug" \
		"$vm/planted/load.sh" "$ko" "$bug" 2>&1 </dev/null) || status=$?
	if [ "$status" = 70 ] && grep -qE "$want" <<<"$said"; then
		echo "ok $n - $lane reports a planted bug: $bug"
	else
		echo "not ok $n - $lane reports a planted bug: $bug"
		printf '# status %s, wanted 70 and "%s"; said:\n' "$status" "$want"
		printf '%s\n' "$said" | sed 's/^/# /'
	fi
done <<'END'
oob BUG: KASAN: slab-out-of-bounds
uaf BUG: KASAN: (slab-)?use-after-free
abba possible circular locking dependency
sleep BUG: sleeping function called from invalid context
leak kmemleak: unreferenced object
END
