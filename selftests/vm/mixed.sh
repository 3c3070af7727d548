#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A group of two architectures: an amd64 guest and another one on one wire, in real time, run
# selftests/net/shuffle/mixed.sh.  TAP.
#
# usage: mixed.sh arm64|s390x
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"
# shellcheck source=arch.sh
. "$here/arch.sh"
# shellcheck source=../../tools/common/tap.sh
. "$here/../../tools/common/tap.sh"
cd "$SHUFFLE_ROOT" || exit 1

arch=${1:?usage: mixed.sh arm64|s390x}
out=$BUILD/out/mixed-$arch
guest_programs "$arch" >&2 || die "no programs for $arch"
for k in 6.12 "$arch"; do
	"$here/build-module.sh" "$k" >/dev/null || exit 1
done
wire=$(mktemp -d /tmp/wire.XXXXXX) || exit 1
trap 'rm -rf "$wire"; kill $(jobs -p) 2>/dev/null' EXIT

# side SIDE LANE PROGRAMS - one guest; its lines are marked.
side()
{
	mkdir -p "$out-$1"
	"$here/run.sh" "$2" -t 900 -o "$out-$1" -w "$wire/$1,$wire/$((1 - $1))" -e "SHUFFLE_BIN=$3" \
		selftests/net/shuffle/mixed.sh "$1" </dev/null 2>&1 | sed -u "s/^/$1 /"
	echo "$1 status ${PIPESTATUS[0]}"
}

both()
{
	side 0 qemu-smp "$BUILD/tools" &
	side 1 "qemu-$arch-smp" "$BUILD/tools-$arch" &
	wait
}

# What all four have sorted, one part behind the other, beside what they had.
sorted()
{
	local r input=()

	for r in 0 1 2 3; do
		"$BUILD/tools/shuffle-sort" generate -n 30000 --first $((r * 30000)) --keys skewed "$wire/in$r" ||
			fail "no input"
		input+=(-i "$wire/in$r")
		mv "$out-$((r % 2))/sorted/$r" "$wire/$r" || fail "no part $r"
	done
	want_ok "the parts" "$BUILD/tools/shuffle-sort" verify --records 120000 "${input[@]}" "$wire"/{0..3}
}

while read -r k line; do
	case $line in
	"ok "*) tap ok "$([ "$k" = 0 ] && echo amd64 || echo "$arch"): ${line#* - }" ;;
	"not ok "*) tap "not ok" "$([ "$k" = 0 ] && echo amd64 || echo "$arch"): ${line#* - }" ;;
	"status 0" | "TAP version 13" | 1..*) ;;
	"status "*) tap "not ok" "guest $k: got $line, want 0" ;;
	*) diag "$k $line" ;;
	esac
done < <(both)
t "what four members of two byte orders have sorted is in order" sorted
tap_end
