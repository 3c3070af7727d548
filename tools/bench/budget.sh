#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a shuffle costs, in counted instructions (lane qemu-icount, 2 ns each), held against
# the figures in tools/bench/budget.  TAP: a case that costs more than its budget allows is
# red.  No clock of this machine is read: a busy one only takes longer.
#
# Medians of one boot differ from those of another by some percent in cases whose packets meet by
# chance.  A case above its budget is measured in two more boots, and the middle of the three medians
# counts; what has become dearer is dearer in each.
#
# usage: [RUNS=n] [UPDATE=1|all] budget.sh [REGEX]
#        budget.sh -m TREE CASE
#
#   REGEX   only the cases whose names begin so
#   RUNS    of each case; its median counts (default: as many as the table below says)
#   UPDATE  1: lower the figures of cases that cost less than their budgets allow for;
#           all: write down what was measured, whatever it is
#   SHUFFLED=SEED  the cases in another order: they must not influence one another
#   -m      measure only: the median of CASE in ns, with module and programs of TREE
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=selftests/vm/common.sh
. "$root/selftests/vm/common.sh"
cd "$root"

# case, hosts, matrix, MTU, runs, program of tools/bench and its options
cases=(
	"64m-1pair      2  incast-64m 1500 5 shuffle_bench"
	"64m-1pair-9000 2  incast-64m 9000 5 shuffle_bench"
	"64m-1pair-key  2  incast-64m 1500 5 shuffle_bench -K"
	"8x1m           8  uniform-1m 1500 7 shuffle_bench"
	"8x1m-9000      8  uniform-1m 9000 7 shuffle_bench"
	"32x8k          32 uniform-8k 1500 5 shuffle_bench"
	"64x64b         64 uniform-64 1500 9 shuffle_bench"
	"64x64b-key     64 uniform-64 1500 3 shuffle_bench -K"
	"64x1k          64 uniform-1k 1500 3 shuffle_bench"
	"barrier-8      8  uniform-8  1500 5 coll_bench -C barrier:0"
	"barrier-32     32 uniform-8  1500 5 coll_bench -C barrier:0"
	"bcast-8x1m     8  uniform-8  1500 5 coll_bench -C bcast:1048576:spread:20"
)

# build TREE - its module for Debian's kernel, and its programs
build()
{
	local d

	for d in lib workload bench; do
		make -s -C "$1/tools/$d" OUT="$1/build/tools" UAPI="$1/uapi" || return
	done
	ko=$(env -u SHUFFLE_ROOT -u BUILD "$1/selftests/vm/build-module.sh" 6.12)
}

# measure TREE OUT CASE... - lines of results into OUT/raw; the whole case is one word
measure()
{
	local tree=$1 out=$2

	shift 2
	mkdir -p "$out"
	"$here/../../selftests/vm/run.sh" qemu-icount -N -t 3600 -m 4000 -o "$out" \
		-e BUDGET_KO="$ko" -e BUDGET_BIN="$tree/build/tools" -e RUNS="${RUNS-}" \
		"$here/budget_guest.sh" "$@" | tee "$out/raw" |
		sed -nu 's/^BENCH case=\([^ ]*\).* run=\([0-9]*\) .*completion_ns=\([0-9]*\) .*/# \1 run \2: \3 ns/p' >&2 || {
		note "a run failed, or the virtual machine did: $out/console.log; its last lines:"
		tail -5 "$out/raw" | cut -c1-200 >&2
		return 1
	}
}

chosen=()
# choose REGEX
choose()
{
	local c name

	for c in "${cases[@]}"; do
		read -r name _ <<<"$c"
		[[ $name =~ ^($1) ]] || continue
		chosen+=("$c")
	done
	[ ${#chosen[@]} -gt 0 ] || die "no case begins with '$1'"
}

if [ "${1-}" = -m ]; then
	choose "$3\$"
	build "$2"
	measure "$2" "$root/build/bisect/vm" "${chosen[0]}"
	exec python3 -B "$here/budget_report.py" median "$root/build/bisect/vm/raw"
fi

choose "${1-}"
if [ -n "${SHUFFLED-}" ]; then
	mapfile -t chosen < <(printf '%s\n' "${chosen[@]}" | shuf --random-source=<(yes "$SHUFFLED"))
fi
build "$root"
out=$root/build/budget
measure "$root" "$out" "${chosen[@]}" || : # the report names what is missing
boots=$out/raw
mapfile -t again < <(python3 -B "$here/budget_report.py" above "$here/budget" "$out/raw" \
	"${chosen[@]%% *}")
if [ ${#again[@]} -gt 0 ]; then
	note "above the budget, so measured in two more boots: ${again[*]}"
	words=("${chosen[@]}") chosen=()
	for c in "${words[@]}"; do
		[[ " ${again[*]} " != *" ${c%% *} "* ]] || chosen+=("$c")
	done
	for boot in 2 3; do
		measure "$root" "$out/boot$boot" "${chosen[@]}" || :
		boots+=" $out/boot$boot/raw"
	done
	chosen=("${words[@]}")
fi
exec python3 -B "$here/budget_report.py" check "$here/budget" "${UPDATE-}" "$boots" \
	"${chosen[@]%% *}"
