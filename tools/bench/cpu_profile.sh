#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where the time of a CPU-limited shuffle goes, ours beside TCP's: lane qemu-icount, one boot a case.
# Prints two tables for each case, and writes build/bench/profile-CASE.txt with the functions behind
# them: samples by what the code is for, and events that the kernel counts (packets, system calls,
# softirqs, ...).
#
# The sampler takes 3 to 6 % of the time at its 2500 samples a second; at 20 000 the rounds behave
# in other ways.  It samples where interrupts are on, so what ends a section without them collects
# that section's samples; helpers (spin locks, RCU) are charged to the function that calls them.
#
# usage: [ROUNDS=n] cpu_profile.sh [cpu-profile[-REGEX]]
#
#   REGEX   which cases: matched against the beginning of 64m-1pair, 8x1m, 32x8k, 64x64b
#   ROUNDS  that are sampled, instead of the case's own number
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=selftests/vm/common.sh
. "$root/selftests/vm/common.sh"
cd "$root"

# case, hosts, matrix, MTU, rounds that are sampled
cases=(
	"64m-1pair 2  incast-64m 1500 12"
	"8x1m      8  uniform-1m 1500 12"
	"32x8k     32 uniform-8k 1500 20"
	"64x64b    64 uniform-64 1500 8"
)

selftests/vm/deps.sh profile
for d in lib workload bench; do
	make -s -C tools/$d OUT="$root/build/tools" UAPI="$root/uapi"
done
out=$root/build/bench
regex=${1-}
regex=${regex#cpu-profile}
regex=${regex#-}
any=0
for c in "${cases[@]}"; do
	read -r name hosts matrix mtu rounds <<<"$c"
	[[ $name =~ ^($regex) ]] || continue
	any=1
	note "$name: $hosts hosts, MTU $mtu, ${ROUNDS:-$rounds} rounds of each transport"
	vm=$out/vm-profile-$name
	mkdir -p "$vm"
	selftests/vm/run.sh qemu-icount -t 3600 -m 4000 -o "$vm" "$here/cpu_profile_guest.sh" \
		"$name" "$hosts" "$matrix" "$mtu" "${ROUNDS:-$rounds}" >"$vm/raw" || {
		tail -5 "$vm/raw" >&2
		die "$name: a run failed, or the virtual machine did ($vm/console.log)"
	}
	for way in shuffle tcp; do
		perf script -f --kallsyms "$vm/kallsyms" -i "$vm/$way.data" -F comm,ip,sym \
			>"$vm/$way.script" 2>/dev/null
	done
	# which file of the module a function is in
	nm -l "$(selftests/vm/build-module.sh 6.12 2>/dev/null)" >"$vm/symbols"
	python3 -B "$here/cpu_profile_report.py" "$name" "$vm" "$out/profile-$name.txt"
done
[ "$any" = 1 ] || die "no case begins with '$regex'"
