#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run jobs of jobs.sh and count.  The last line is "N passed, N failed, N skipped".
#
# usage: check.sh check|deep|all|list
#        check.sh job NAME
#
#   check  what a user runs: no test kernel is built
#   deep   what .ci/run runs after check, whose results count, too
#   all    every job; JOBS='NAME...' only these, PART=K/N the K-th of N parts, CONTINUE=1
#          those that have no result yet, or failed
#   list   the jobs of 'all'
#   job    one job, without anything around it
#
# Two workers take one job after the other.  Every line of a job is shown as "[JOB] ..." and kept
# in build/check/JOB.log (build/check-all with 'all').  No job has a time limit: watch.py
# ends what makes no progress.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=common.sh
. "$here/common.sh"
# shellcheck source=emulator.sh
. "$here/emulator.sh"
# shellcheck source=jobs.sh
. "$here/jobs.sh"
cd "$SHUFFLE_ROOT" || exit 1

what=${1-}
dir=$BUILD/check
begin=$SECONDS

# lane NAME - run one job, count its TAP lines into NAME.tally.
lane()
{
	local job=$1 name=${1//\//-of-} status start=$SECONDS counts

	rm -f "$dir/$name".{log,times,tally}
	"$here/watch.py" -n "$name" -l "$dir/$name.log" -t "$dir/$name.times" "$here/check.sh" job "$job"
	status=$?
	counts=$(awk -v "name=$name" -v "status=$status" -f "$here/tally.awk" "$dir/$name.log" 2>"$dir/$name.why")
	sed "s/^/[$name] /" "$dir/$name.why"
	echo "$counts $((SECONDS - start))" >"$dir/$name.tally"
}

# failed NAME - or has no result.
failed()
{
	local f

	read -r _ f _ <"$dir/${1//\//-of-}.tally" 2>/dev/null || return 0
	[ "$f" != 0 ]
}

# worker JOBS... - take what nobody has taken, the first for which all is there.
worker()
{
	local j k name took waiting

	while :; do
		took='' waiting=''
		for j; do
			name=${j//\//-of-}
			k=$(job_needs "$j")
			[ ! -e "$dir/queue/taken-$name" ] || continue
			if [ -n "$k" ] && [[ " $* " == *" kernel-$k "* ]] && [ ! -e "$dir/queue/over-kernel-$k" ]; then
				waiting=1
				continue
			fi
			mkdir "$dir/queue/taken-$name" 2>/dev/null || continue
			took=1
			if [ -n "$k" ] && [[ " $* " == *" kernel-$k "* ]] && failed "kernel-$k"; then
				echo "not ok - job $name: its kernel was not built" | tee "$dir/$name.log"
				echo "0 1 0 0" >"$dir/$name.tally"
			else
				lane "$j"
			fi
			touch "$dir/queue/over-$name"
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

	rm -rf "$dir/queue"
	mkdir -p "$dir/queue"
	worker "$@" &
	other=$!
	worker "$@"
	wait "$other"
}

# part_of JOBS... - those of PART=K/N, and the kernels that they need.
part_of()
{
	local j i=0 k kernels='' mine=''

	[[ ${PART-} =~ ^[1-9][0-9]*/[1-9][0-9]*$ ]] || die "PART=${PART-}: K/N, such as 1/2"
	for j; do
		[[ $j != kernel-* ]] || continue
		i=$((i + 1))
		[ $((i % ${PART#*/})) = $((${PART%/*} % ${PART#*/})) ] || continue
		k=$(job_needs "$j")
		[ -z "$k" ] || [[ " $kernels " == *" kernel-$k "* ]] || kernels="$kernels kernel-$k"
		mine="$mine $j"
	done
	echo "$kernels $mine"
}

# last_page - what took how long, what failed, and the count.
last_page()
{
	local f name p n s t faults=0 deaths=0

	echo
	printf '%-30s %7s %7s %7s %7s\n' 'job, slowest first' minutes passed failed skipped
	for f in "$dir"/*.tally; do
		read -r p n s t <"$f"
		echo "$t $(basename "$f" .tally) $p $n $s"
	done | sort -rn | while read -r t name p n s; do
		printf '%-30s %5d.%d %7s %7s %7s\n' "$name" $((t / 60)) $((t % 60 / 6)) "$p" "$n" "$s"
	done
	echo
	echo "slowest tests, seconds:"
	for f in "$dir"/*.times; do
		[ ! -e "$f" ] || sed "s|\$| ($(basename "$f" .times))|" "$f"
	done | sort -rn | head -10 | sed 's/^/  /'
	echo
	for f in "$dir"/*.log; do
		name=$(basename "$f" .log)
		cat "$f" "$dir/$name.why" 2>/dev/null | awk -v "name=$name" -f "$here/failures.awk"
		n=$(grep -c '^# the emulator has failed' "$f")
		faults=$((faults + n))
		deaths=$((deaths + $(early_deaths "$f")))
	done
	echo "guests that died of the emulator's faults: $faults, before their first program: $deaths"
	echo "took $(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s; logs in $dir"
	awk '{ p += $1; f += $2; s += $3 }
		END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$dir"/*.tally |
		tee "$dir/total"
	return "${PIPESTATUS[0]}"
}

case $what in
check)
	rm -rf "$dir"
	run_jobs "${check_jobs[@]}"
	;;
deep)
	run_jobs "${deep_jobs[@]}"
	;;
all)
	dir=$BUILD/check-all
	jobs=("${all_jobs[@]}")
	[ -z "${JOBS-}" ] || read -ra jobs <<<"$JOBS"
	[ -z "${PART-}" ] || read -ra jobs <<<"$(part_of "${jobs[@]}")"
	if [ -n "${CONTINUE-}" ]; then
		for j in "${jobs[@]}"; do
			! failed "$j" || left+=("$j")
		done
		jobs=("${left[@]}")
	else
		rm -rf "$dir"
	fi
	mkdir -p "$dir"
	[ "${#jobs[@]}" = 0 ] || run_jobs "${jobs[@]}"
	;;
list)
	printf '%s\n' "${all_jobs[@]}"
	exit
	;;
job)
	run_job "${2-}"
	exit
	;;
*)
	die "usage: check.sh check|deep|all|list|job NAME"
	;;
esac
last_page
