#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# In a guest: torture with one seed after another, for some minutes.  TAP.
#
#   MINUTES    how long (default 10)
#   SEED       the first one; the others follow from it (default: the time)
#   MIXES      only these (torture --list), MIXES=mix,mix
#   WITHOUT    actions or mixes to leave out
#   TORTURE_SHOW  what shows a round of calm that stands still (default: its operations)
#   SECONDS_EACH  for each mix with one seed (default 20, in slow lanes 60)
#
# A mix that fails is repeated by 'torture -s SEED -t SECONDS -m MIX', and one round of it by -r.

# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

setup_all
TORTURE=${TORTURE:-$BIN/torture}
[ -x "$TORTURE" ] || { echo "Bail out! no $TORTURE: run make in selftests/net/shuffle"; exit 1; }
minutes=${MINUTES:-10}
seed=${SEED:-$(date +%s)}
each=20
[ "$slow" -lt 10 ] || each=60
each=${SECONDS_EACH:-$each}
end=$((SECONDS + minutes * 60))
export TORTURE_SHOW=${TORTURE_SHOW-$BIN/shufflectl op show}
options=()
[ -z "${MIXES-}" ] || options+=(-m "$MIXES")
[ -z "${WITHOUT-}" ] || options+=(-x "$WITHOUT")

# leaks - what kmemleak has seen, where there is one.
leaks()
{
	[ -w /sys/kernel/debug/kmemleak ] || return 1
	echo scan >/sys/kernel/debug/kmemleak
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak
	grep -q unreferenced /sys/kernel/debug/kmemleak
}

torture()
{
	timeout -k 10 $((12 * (each + $(tmo 60)))) "$TORTURE" -s "$seed" -t "$each" "${options[@]}" 2>&1 </dev/null
}

# Its lines as they come, results numbered as ours.
renumber()
{
	local line

	rm -f "$work/last"
	while IFS= read -r line; do
		case $line in
		'ok '* | 'not ok '*) tap "${line%% [0-9]*}" "${line#* - }" ;;
		1..*) echo end >"$work/last" ;;
		'#'*) printf '%s\n' "$line" ;;
		*) diag "$line" ;;
		esac
	done
	echo "$tap_count $tap_failed" >"$work/count"
}

diag "torture: $minutes minutes from seed $seed, ${options[*]-all mixes}"
while :; do
	torture | renumber
	[ "${PIPESTATUS[0]}" = 0 ] && [ -s "$work/last" ] && good=1 || good=0
	read -r tap_count tap_failed <"$work/count"
	[ -s "$work/last" ] || tap "not ok" "torture ends # seed $seed"
	now=$(splat_count)
	if [ "$now" -gt "$splats" ]; then
		splats=$now
		dmesg | grep -E -A 25 'BUG:|WARNING:|KASAN:|KCSAN:|possible|suspicious|ODEBUG|corruption' | tail -60 | sed 's/^/# /'
		tap "not ok" "the kernel says nothing # seed $seed"
		good=0
	fi
	[ "$good" = 1 ] || break
	[ "$SECONDS" -lt "$end" ] || break
	seed=$((seed + 1))
done
if [ -w /sys/kernel/debug/kmemleak ] && [ "$good" = 1 ]; then
	if leaks; then
		head -60 /sys/kernel/debug/kmemleak | sed 's/^/# /'
		tap "not ok" "kmemleak finds nothing"
	else
		tap ok "kmemleak finds nothing"
	fi
fi
finish_all
