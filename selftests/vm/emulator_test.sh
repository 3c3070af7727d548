#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The rules of emulator.sh on consoles and logs that are made up.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=emulator.sh
. "$here/emulator.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# fault WANT LANE TEXT
fault()
{
	local got=no

	printf '%b\n' "$3" >"$dir/console"
	emulator_fault "$2" "$dir/console" >"$dir/why" && got=yes
	[ "$got" = "$1" ] || {
		echo "console '$3' in $2: an emulator's fault: got $got, want $1"
		exit 1
	}
}

fault yes qemu-6.12 'RSP: 0018:ffffc9 EFLAGS: 04f48666'
fault yes qemu-smp 'x\nRSP: 0018:ffffc9 EFLAGS: 00010246\nRSP: 0018:ffffc9 EFLAGS: 0f04e3c2'
fault yes qemu-6.1 'EFLAGS: 00010244'
fault no qemu-6.12 'RSP: 0018:ffffc9 EFLAGS: 00010246'
fault no qemu-6.12 'BUG: list_add corruption'
fault no uml-debug 'RSP: 0018:ffffc9 EFLAGS: 04f48666'
rm "$dir/console"
! emulator_fault qemu-6.12 "$dir/console" || { echo "no console: got an emulator's fault, want none"; exit 1; }

cat >"$dir/log" <<'L'
TAP version 13
ok 1 - v4-2-empty
# said
not ok 2 - loss-1%
ok 3 - netem-x # SKIP no netem
# lane qemu-6.12: the guest died before its first program ran (1); booting again (1 of 2); its console ended:
L
got=$(done_cases "$dir/log" | tr '\n' ',')
[ "$got" = 'v4-2-empty,loss-1%,netem-x,' ] || { echo "done cases: got $got"; exit 1; }
[ "$(early_deaths "$dir/log")" = 1 ] || { echo "early deaths: got $(early_deaths "$dir/log"), want 1"; exit 1; }
