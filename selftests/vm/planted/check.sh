#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prove that a debug lane reports the bugs it is there for.  TAP.
#
# usage: check.sh uml-debug|qemu-smp|qemu-debug|qemu-kcsan
#
# Each lane has to report what it is there for; races where two CPUs run at once.
#
# All bugs in one boot.  A report may silence a later one (lockdep is off after its
# first, and after KASAN's): a bug that was not reported gets a boot of its own.
set -euo pipefail

vm=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=../common.sh
. "$vm/common.sh"
# shellcheck source=../../../tools/common/tap.sh
. "$vm/../../tools/common/tap.sh"

lane=${1:?usage: check.sh LANE}
case $lane in
uml-debug) bugs='sleep abba nest oob uaf leak' ;;
qemu-smp) bugs='list' ;;
qemu-debug) bugs='sleep abba nest oob uaf timer softirq leak' ;;
qemu-kcsan) bugs='count' ;;
*) die "nothing is planted for the lane '$lane'" ;;
esac
make -s -C "$SHUFFLE_ROOT/selftests/net/shuffle" "OUT=$BUILD/tools" "UAPI=$SHUFFLE_ROOT/uapi" "$BUILD/tools/torture"
ko=$("$vm/build-module.sh" -s selftests/vm/planted "$(kernel_of "$lane")")
said=

# boot BUGS... - status, said, and what the console holds in $out/console.log.
boot()
{
	local opts=()

	out=$BUILD/out/planted-$lane-$1
	[[ " $* " == *' leak '* ]] || opts=(-L)
	status=0
	said=$("$vm/run.sh" "$lane" -N "${opts[@]}" -t 0 -o "$out" \
		"$vm/planted/load.sh" "$ko" "$@" 2>&1 </dev/null) || status=$?
}

reported()
{
	[ "$status" = 70 ] && grep -qE "$1" "$out/console.log"
}

# shellcheck disable=SC2086 # words
boot $bugs
all_status=$status all_out=$out
while read -r bug want; do
	[[ " $bugs " == *" $bug "* ]] || continue
	status=$all_status out=$all_out
	reported "$want" || boot "$bug"
	if reported "$want"; then
		tap ok "$lane reports a planted bug: $bug"
	else
		diag "got status $status, want 70 and '$want'; said:
$said"
		tap "not ok" "$lane reports a planted bug: $bug"
	fi
done <<'END'
oob BUG: KASAN: slab-out-of-bounds
uaf BUG: KASAN: (slab-)?use-after-free
abba possible circular locking dependency
sleep BUG: sleeping function called from invalid context
nest BUG: Invalid wait context
leak kmemleak: unreferenced object
list list_(add|del) corruption
timer BUG: KASAN: (slab-)?use-after-free in planted_fires
softirq inconsistent lock state
count BUG: KCSAN: data-race in planted_
END
tap_end
