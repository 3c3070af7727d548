#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Random operations in virtual time: selftests/net/shuffle/soak in guests side by side, one for
# each processor.  TAP.
#
# usage: soak.sh [OPS [SEED [LANE]]]
#
#   MINUTES  no new batch after so many (default: until all operations are made)
#   GUESTS   how many (default 2); guest K has the seed SEED + K - 1 and a share of the operations
#   EACH, FIRST  operations of a batch, and the first one: to repeat one
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"
# shellcheck source=../../tools/common/tap.sh
. "$here/../../tools/common/tap.sh"

ops=${1:-1000000} seed=${2:-1} lane=${3:-uml-time}
guests=${GUESTS:-2} begin=$SECONDS out=$BUILD/out/soak-$lane timer=
[ "$ops" -gt 2000 ] || guests=1

# guest K - its lines, marked.
guest()
{
	local options=(-e "OPS=$(((ops + guests - 1) / guests))" -e "SEED=$((seed + $1 - 1))")

	[ -z "${EACH-}" ] || options+=(-e "EACH=$EACH")
	[ -z "${FIRST-}" ] || options+=(-e "FIRST=$FIRST")
	"$here/run.sh" "$lane" -t 0 -o "$out-$1" "${options[@]}" "$here/../net/shuffle/soak/run.sh" \
		</dev/null 2>&1 | sed -u "s/^/$1 /"
	echo "$1 status ${PIPESTATUS[0]}"
}

# all - of all guests as they come.
all()
{
	local k

	for ((k = 1; k <= guests; k++)); do
		mkdir -p "$out-$k"
		rm -f "$out-$k/stop"
		guest "$k" &
	done
	wait
}

stop_later()
{
	local k

	# killed with this subshell
	sleep $((MINUTES * 60)) &
	# shellcheck disable=SC2064 # now
	trap "kill $! 2>/dev/null; exit" TERM
	wait "$!"
	for ((k = 1; k <= guests; k++)); do
		touch "$out-$k/stop"
	done
}

echo "# soak: $ops operations in $guests guests of $lane, seed $seed"
if [ -n "${MINUTES-}" ]; then
	stop_later &
	timer=$!
	trap 'kill "$timer" 2>/dev/null' EXIT
fi
made=0
while read -r k line; do
	case $line in
	'ok '*) tap ok "guest $k: ${line#* - }" ;;
	'not ok '*) tap "not ok" "guest $k: ${line#* - }" ;;
	'status 0') ;;
	'status '*) tap "not ok" "guest $k ends: got $line, want status 0" ;;
	1..*) ;;
	*)
		[[ ! $line =~ ^#\ ([0-9]+)\ operations,\ .*\ in\ [0-9]+\ batches ]] ||
			made=$((made + BASH_REMATCH[1]))
		diag "[$k] ${line#\# }"
		;;
	esac
done < <(all)
took=$((SECONDS - begin + 1))
diag "$made operations in $((took / 60)) min $((took % 60)) s: $((made * 60 / took)) a minute"
if [ -n "${MINUTES-}" ]; then
	tap "$([ "$made" -gt 0 ] && echo ok || echo "not ok")" "operations are made: got $made"
else
	tap "$([ "$made" -ge "$ops" ] && echo ok || echo "not ok")" "all operations are made: got $made, want $ops"
fi
tap_end
