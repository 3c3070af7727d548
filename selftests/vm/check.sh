#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run the test lanes and count.  The last line is "N passed, N failed, N skipped".
#
# usage: check.sh [check|smp|ci]
#   check  static checks, unit tests in user space, KUnit and selftests in
#          uml-debug, selftests on Debian's 6.12 and 6.1
#   smp    KUnit and selftests in qemu-debug (builds an x86 kernel, 16-27 min)
#   ci     check, and of smp all races and a fifth of the other cases: another
#          fifth for the next commit.  When the x86 kernel is not in the cache, it
#          is built after everything else, if SHUFFLE_DEADLINE leaves the time
#
# Every line of a lane is shown as "[lane] ..." and kept in build/check/LANE.log.
# Two workers take one lane after the other, the long ones first.
#
# SHUFFLE_DEADLINE, seconds since the epoch.  A machine that is too slow does not do all
# until then: what it leaves out is skipped, with that reason, and never what has failed or
# hangs.  See no_time(), cut_off() and, for the cases of a lane, CASES_END in
# selftests/net/shuffle/lib.sh.
# SHUFFLE_PART=K/N, smp: only the K-th of N parts of the cases.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"
cd "$SHUFFLE_ROOT" || exit 1

what=${1:-check}
dir=$BUILD/$what
[ "$what" = check ] || dir=$BUILD/check-$what
rm -rf "$dir"
mkdir -p "$dir/queue"
begin=$SECONDS

# left_s - seconds until the deadline.
left_s()
{
	[ -n "${SHUFFLE_DEADLINE-}" ] || { echo 1000000; return; }
	echo $((SHUFFLE_DEADLINE - $(date +%s)))
}

# limit SECONDS - that, or what is left until the deadline.
limit()
{
	local left

	left=$(left_s)
	[ "$left" -lt "$1" ] || left=$1
	[ "$left" -ge 10 ] || left=10
	echo "$left"
}

slow="no time left on this machine"
number=0	# of the commit, where it matters

# cut_off NAME STATUS - has the deadline ended a lane that went on until then?  One that has
# said nothing for 40 minutes hangs: where a guest gets an eighth of a CPU, one case takes 20.
cut_off()
{
	[ "$2" = 124 ] && [ "$(left_s)" -le 120 ] &&
		[ $(($(date +%s) - $(stat -c %Y "$dir/$1.log"))) -lt 2400 ]
}

# no_time JOB - is it too late to begin it?
no_time()
{
	local need=120

	case $1 in
	kernel-*) need=600 ;;
	selftests-* | mpi-* | planted-* | wireshark | kunit-* | static) need=900 ;;
	esac
	[ "$(left_s)" -lt "$need" ]
}

# skip_lane NAME REASON
skip_lane()
{
	echo "ok - lane $1 # SKIP $2" | tee "$dir/$1.log" | sed "s/^/[$1] /"
	echo "0 0 1 0" >"$dir/$1.tally"
}

minutes() { echo "$((($1 + 59) / 60)) min"; }

# lane NAME COMMAND... - run one lane, count its TAP lines into NAME.tally.
lane()
{
	local name=$1 status start=$SECONDS counts
	shift
	"$@" </dev/null 2>&1 | tee "$dir/$name.log" | sed -u "s/^/[$name] /"
	status=${PIPESTATUS[0]}
	if cut_off "$name" "$status"; then
		echo "ok - the rest of lane $name # SKIP $slow" | tee -a "$dir/$name.log" | sed "s/^/[$name] /"
		status=0
	fi
	counts=$(awk -v "name=$name" -v "status=$status" -f "$here/tally.awk" "$dir/$name.log" 2>"$dir/$name.why")
	sed "s/^/[$name] /" "$dir/$name.why"
	echo "$counts $((SECONDS - start))" >"$dir/$name.tally"
}

# impossible_cpu CONSOLE - has the kernel died with flags that no processor can have?  Bits 3, 5, 15
# and those from 22 on are always 0, bit 1 is always 1.  Then QEMU has miscalculated (seen with
# 7.2, two processors and counted instructions: a fork that died with EFLAGS 04f48666), and
# whatever follows says nothing about the module.
impossible_cpu()
{
	local flags

	while read -r flags; do
		[ $((16#$flags & 0xffc08028)) = 0 ] && [ $((16#$flags & 2)) != 0 ] || return 0
	done < <(grep -oE 'EFLAGS: [0-9a-f]{8}' "$1" 2>/dev/null | cut -d' ' -f2)
	return 1
}

# in_vm NAME LANE SECONDS SCRIPT [ARGS...] - a lane inside a kernel.
in_vm()
{
	local name=$1 vm=$2 seconds=$3 failed
	shift 3
	set -- lane "$name" "$here/run.sh" "$vm" -o "$BUILD/out/$name" -t "$seconds" "$@"
	"$@"
	read -r _ failed _ <"$dir/$name.tally"
	[ "$failed" != 0 ] && impossible_cpu "$BUILD/out/$name/console.log" || return 0
	echo "[$name] # flags that no processor has: the emulator has failed; once more"
	cp "$BUILD/out/$name/console.log" "$dir/$name.console-emulator"
	"$@"
}

selftests=selftests/net/shuffle/run_all.sh

# kernel KIND - build one.  Lanes that need it are taken when it is there, and
# never when it could not be built.
kernel()
{
	lane "kernel-$1" build_kernel "$1"
	read -r _ failed _ <"$dir/kernel-$1.tally"
	[ "$failed" != 0 ] || touch "$dir/queue/ready-$1"
	touch "$dir/queue/over-$1"
}

# shellcheck disable=SC2317 # by lane
build_kernel()
{
	local status=0

	timeout "$(limit 3000)" "$here/build-kernel.sh" "$1" >/dev/null || status=$?
	if [ "$status" = 0 ]; then
		echo "ok - the $1 kernel is there"
	else
		echo "not ok - the $1 kernel was not built (status $status)"
	fi
}

# job NAME - one entry of the queue.
job()
{
	case $1 in
	kernel-*) kernel "${1#kernel-}" ;;
	static) lane static timeout "$(limit 3600)" "$here/static.sh" ;;
	unit) lane unit timeout "$(limit 3600)" make -s -C net/shuffle/test OUT="$BUILD/portable" check ;;
	workload) lane workload timeout "$(limit 2700)" make -s -C tools/workload OUT="$BUILD/workload" check ;;
	sim) lane sim timeout "$(limit 3600)" make -s -C tools/sim OUT="$BUILD/tools" check ;;
	topo) lane topo timeout "$(limit 2700)" make -s -C tools/topo OUT="$BUILD/topo" check ;;
	rperf) lane rperf timeout "$(limit 900)" make -s -C tools/rperf OUT="$BUILD/rperf" check ;;
	stream) lane stream timeout "$(limit 2700)" make -s -C tools/stream OUT="$BUILD/stream" check ;;
	saba) lane saba timeout "$(limit 2700)" make -s -C tools/saba OUT="$BUILD/saba" check ;;
	sort) lane sort timeout "$(limit 2700)" make -s -C tools/sort OUT="$BUILD/sort" check ;;
	query) lane query timeout "$(limit 2700)" make -s -C tools/query OUT="$BUILD/query" check ;;
	planted-*) lane "$1" timeout "$(limit 2700)" "$here/planted/check.sh" "${1#planted-}" ;;
	fpu-*) lane "$1" timeout "$(limit 900)" "$here/fpu/check.sh" "${1#fpu-}" ;;
	kunit-*) in_vm "$1" "${1#kunit-}" 1800 "$here/kunit.sh" ;;
	mpi-*) in_vm "$1" "${1#mpi-}" 1500 -L -e MPI_QUICK=1 selftests/mpi/run_all.sh ;;
	wireshark) lane wireshark timeout "$(limit 2700)" tools/wireshark/tests/check.sh uml-debug ;;
	selftests-qemu-debug) in_vm "$1" qemu-debug 5400 "$selftests" ;;
	# K of N, and all races in every part
	races-and-part-*) in_vm selftests-qemu-debug qemu-debug 3000 -e CASES_ALWAYS=^race- \
		-e "CASES_PART=${1#races-and-part-}" "$selftests" ;;
	races) in_vm selftests-qemu-debug qemu-debug 1500 -e CASES=^race- "$selftests" ;;
	part-*) in_vm "selftests-qemu-debug-${1#part-}" qemu-debug 3600 \
		-e "CASES_PART=${1#part-}/$parts" "$selftests" ;;
	selftests-*) in_vm "$1" "${1#selftests-}" 6000 -e "CASES_FIRST=$(first_set "$1")" "$selftests" ;;
	*) die "no lane $1" ;;
	esac
}

# first_set NAME - the set of cases that a lane begins with: where time is short, each lane and
# each commit leaves out others.
first_set()
{
	case $1 in
	*-6.12) echo $((number + 3)) ;;
	*-6.1) echo $((number + 6)) ;;
	*) echo "$number" ;;
	esac
}

# needs NAME - the kernel that has to be built before.
needs()
{
	case $1 in
	kernel-*) ;;
	*uml-debug | *uml-debug-time | wireshark) echo um-debug ;;
	*qemu-debug | race* | part-*) echo x86-debug ;;
	esac
}

# worker JOBS... - take what nobody has taken, the first for which all is there.
worker()
{
	local j k name took waiting

	while :; do
		took='' waiting=''
		for j; do
			name=${j//\//-of-}
			k=$(needs "$j")
			[ ! -e "$dir/queue/taken-$name" ] || continue
			if [ -n "$k" ] && [ ! -e "$dir/queue/ready-$k" ]; then
				[ -e "$dir/queue/over-$k" ] || waiting=1
				continue
			fi
			mkdir "$dir/queue/taken-$name" 2>/dev/null || continue
			took=1
			if no_time "$j"; then
				skip_lane "$name" "$slow"
			else
				job "$j"
			fi
			break
		done
		[ -n "$took" ] && continue
		[ -n "$waiting" ] || return 0
		sleep 1
	done
}

# run_jobs JOBS... - by two workers.
run_jobs()
{
	local other

	worker "$@" &
	other=$!
	worker "$@"
	wait "$other"
}

# A kernel first: lanes without one run while it is built.  Then the long ones.
checks=(kernel-um-debug selftests-uml-debug-time static selftests-qemu-6.12 selftests-qemu-6.1
	mpi-uml-debug sim planted-uml-debug wireshark unit workload topo query sort stream saba rperf kunit-uml-debug
	fpu-uml-debug)

# What the races and a fifth of the other cases take beside other lanes, with
# planted bugs and KUnit; the races by themselves; the kernel.
ci_smp_s=$((26 * 60))
ci_races_s=$((12 * 60))
ci_kernel_s=$((30 * 60))

# A number for this commit: consecutive commits have consecutive ones.
ci_number()
{
	local n

	n=$(git -c safe.directory='*' rev-list --count HEAD 2>/dev/null) || n=0
	if [ "$(git -c safe.directory='*' rev-parse --is-shallow-repository 2>/dev/null)" = true ]; then
		n=$((0x$(git -c safe.directory='*' rev-parse HEAD | cut -c1-7)))
	fi
	echo "$n"
}

smp_skipped()
{
	skip_lane selftests-qemu-debug "$1; run 'make check-smp' by hand"
}

# What is left of the time decides.
ci_smp_last()
{
	local left

	left=$(left_s)
	if [ "$left" -lt $((ci_kernel_s + ci_races_s)) ]; then
		smp_skipped "the x86 kernel is not in the cache; to build it and to run the races takes about $(
			minutes $((ci_kernel_s + ci_races_s))), and $(minutes "$left") are left"
		return
	fi
	# By itself, so that a slow machine skips rather than fails.
	note "building the x86-debug kernel: $(minutes "$left") are left"
	if ! timeout -k 30 $((left - ci_races_s)) "$here/build-kernel.sh" x86-debug >/dev/null </dev/null; then
		left=$(left_s)
		[ "$left" -gt $((ci_races_s + 60)) ] ||
			{ smp_skipped "building its kernel took too long on this machine"; return; }
		kernel x86-debug	# says why it fails
		return
	fi
	touch "$dir/queue/ready-x86-debug"
	if [ "$(left_s)" -ge "$ci_smp_s" ]; then
		run_jobs "races-and-part-$part" planted-qemu-debug kunit-qemu-debug
	else
		note "the races only: $(minutes "$(left_s)") are left"
		run_jobs races
	fi
}

case $what in
check)
	run_jobs "${checks[@]}"
	;;
smp)
	part=${SHUFFLE_PART-}
	[[ $part =~ ^([1-9][0-9]*/[1-9][0-9]*)?$ ]] || die "PART=$part: it is K/N, such as 1/5"
	parts=5
	case $part in
	'') jobs=(part-1 part-2 part-3 part-4 part-5 planted-qemu-debug kunit-qemu-debug) ;;
	1/*) parts=${part#*/} jobs=(part-1 planted-qemu-debug kunit-qemu-debug) ;;
	*) parts=${part#*/} jobs=("part-${part%/*}") ;;
	esac
	# One at a time: each has two CPUs.
	worker kernel-x86-debug "${jobs[@]}"
	;;
ci)
	number=$(ci_number)
	part=$((number % 5 + 1))/5
	if [ -e "$SHUFFLE_CACHE/build-x86-debug/.shuffle-done" ] &&
	   "$here/build-kernel.sh" -n x86-debug; then
		note "SMP lane: the races, and part $part of the other cases"
		touch "$dir/queue/ready-x86-debug"
		run_jobs kernel-um-debug "races-and-part-$part" "${checks[@]:1}" \
			planted-qemu-debug kunit-qemu-debug
	else
		run_jobs "${checks[@]}"
		ci_smp_last
	fi
	;;
*)
	die "usage: check.sh [check|smp|ci]"
	;;
esac

echo
printf '%-26s %7s %7s %7s %7s\n' lane minutes passed failed skipped
for f in "$dir"/*.tally; do
	read -r p n s t <"$f"
	printf '%-26s %5d.%d %7s %7s %7s\n' "$(basename "$f" .tally)" $((t / 60)) $((t % 60 / 6)) "$p" "$n" "$s"
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
