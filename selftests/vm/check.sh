#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run the test lanes and count.  The last line is "N passed, N failed, N skipped".
#
# usage: check.sh [smp]
#   without: static checks, unit tests in user space, KUnit and selftests in
#            uml-debug, selftests on Debian's 6.12 and 6.1
#   smp:     KUnit and selftests in qemu-debug (builds an x86 kernel, 16-27 min)
#
# Every line of a lane is shown as "[lane] ..." and kept in build/check/LANE.log.
# SHUFFLE_DEADLINE, seconds since the epoch: lanes are cut off there.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"
cd "$SHUFFLE_ROOT" || exit 1

what=${1:-check}
dir=$BUILD/$what
[ "$what" = check ] || dir=$BUILD/check-$what
rm -rf "$dir"
mkdir -p "$dir"
begin=$SECONDS

# limit SECONDS - that, or what is left until the deadline.
limit()
{
	local left=$(($1))

	if [ -n "${SHUFFLE_DEADLINE-}" ]; then
		left=$((SHUFFLE_DEADLINE - $(date +%s)))
		[ "$left" -lt "$1" ] || left=$1
		[ "$left" -ge 10 ] || left=10
	fi
	echo "$left"
}

# lane NAME COMMAND... - run one lane, count its TAP lines into NAME.tally.
lane()
{
	local name=$1 status start=$SECONDS counts
	shift
	"$@" </dev/null 2>&1 | tee "$dir/$name.log" | sed -u "s/^/[$name] /"
	status=${PIPESTATUS[0]}
	counts=$(awk -v "name=$name" -v "status=$status" -f "$here/tally.awk" "$dir/$name.log" 2>"$dir/$name.why")
	sed "s/^/[$name] /" "$dir/$name.why"
	echo "$counts $((SECONDS - start))" >"$dir/$name.tally"
}

# in_vm NAME LANE SECONDS SCRIPT [ARGS...] - a lane inside a kernel.
in_vm()
{
	local name=$1 vm=$2 seconds=$3
	shift 3
	lane "$name" "$here/run.sh" "$vm" -o "$BUILD/out/$name" -t "$(limit "$seconds")" "$@"
}

selftests=selftests/net/shuffle/run_all.sh

debug_lane()
{
	local vm=$1 seconds=$2 kernel

	kernel=$(kernel_of "$vm")
	if ! timeout "$(limit 3000)" "$here/build-kernel.sh" "$kernel" >/dev/null; then
		echo "0 1 0 0" >"$dir/$vm.tally"
		echo "not ok - the $kernel kernel was not built" | tee "$dir/$vm.log" | sed "s/^/[$vm] /"
		return
	fi
	lane "planted-$vm" timeout "$(limit 900)" "$here/planted/check.sh" "$vm"
	in_vm "kunit-$vm" "$vm" 600 "$here/kunit.sh"
	in_vm "selftests-$vm" "$vm" "$seconds" "$selftests"
	[ "$what" = smp ] || in_vm "mpi-$vm" "$vm" 400 -L -e MPI_QUICK=1 selftests/mpi/run_all.sh
	[ "$what" = smp ] || lane wireshark timeout "$(limit 900)" tools/wireshark/tests/check.sh "$vm"
}

stream_a()
{
	lane static timeout "$(limit 1800)" "$here/static.sh"
	lane unit timeout "$(limit 1800)" make -s -C net/shuffle/test OUT="$BUILD/portable" check
	lane workload timeout "$(limit 900)" make -s -C tools/workload OUT="$BUILD/workload" check
	lane sim timeout "$(limit 1200)" make -s -C tools/sim OUT="$BUILD/tools" check
	in_vm selftests-qemu-6.12 qemu-6.12 2400 "$selftests"
}

# The debug kernel is built while the first lanes of the other stream run.
stream_b()
{
	debug_lane uml-debug 2400
	in_vm selftests-qemu-6.1 qemu-6.1 2400 "$selftests"
}

case $what in
check)
	stream_b &
	b=$!
	stream_a
	wait "$b"
	;;
smp)
	debug_lane qemu-debug 5400
	;;
*)
	die "usage: check.sh [smp]"
	;;
esac

echo
printf '%-26s %7s %7s %7s %8s\n' lane passed failed skipped seconds
for f in "$dir"/*.tally; do
	read -r p n s t <"$f"
	printf '%-26s %7s %7s %7s %8s\n' "$(basename "$f" .tally)" "$p" "$n" "$s" "$t"
done
echo
for f in "$dir"/*.log; do
	name=$(basename "$f" .log)
	cat "$f" "$dir/$name.why" 2>/dev/null | awk -v "name=$name" -f "$here/failures.awk"
done
echo "took $(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s; logs in $dir"
awk '{ p += $1; f += $2; s += $3 }
	END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$dir"/*.tally |
	tee "$dir/total"
exit "${PIPESTATUS[0]}"
