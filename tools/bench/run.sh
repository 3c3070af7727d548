#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The benchmark: AF_SHUFFLE beside TCP on the same racks in virtual time (lane
# uml-time).  One boot per rack (hosts, MTU, link, ...); in it all transports take
# turns.  Writes build/bench/report.json, report.txt and report.svg.
#
# usage: [RUNS=5] run.sh [REGEX|list|all]
#
#   REGEX  (or CASE=REGEX) which cases of the table "cases" beside this file;
#          matched against the beginning of group, name, or name, hosts and MTU
#          ("uniform-24k-40-1500"); without it: the group "default"
#   list   shows the groups
#   RUNS   runs of each case and transport
#   WAYS   transports: "shuffle shuffle-auto tcp-all tcp-hadoop5 tcp-rotation
#          tcp-cold tcp-all-fifo tcp-all-dctcp tcp-all-nogso" unless the table
#          says otherwise.  shuffle-auto: the module is not told link rate and
#          round trip; -fifo: the hosts' own queues are FIFOs instead of fq;
#          ompi-tcp, mpich: collectives of Open MPI and MPICH over TCP;
#          -dctcp: DCTCP, ports mark; -nogso: no GSO, TSO, GRO
#   KEEP   not empty: add to the results that are there, replacing equal ones
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=selftests/vm/common.sh
. "$root/selftests/vm/common.sh"
cd "$root"

regex=${1:-${CASE-}}
runs=${RUNS:-5}
out=build/bench
case $runs in
'' | *[!0-9]* | 0) die "RUNS must be a positive number" ;;
esac
if [ "$regex" = list ]; then
	exec python3 "$here/cases.py" "$here/cases" --groups
fi
mapfile -t wanted < <(python3 "$here/cases.py" "$here/cases" ${regex:+"$regex"})
[ "${#wanted[@]}" -gt 0 ] || exit 1
ways=${WAYS:-shuffle shuffle-auto tcp-all tcp-hadoop5 tcp-rotation tcp-cold tcp-all-fifo tcp-all-dctcp tcp-all-nogso}

# work MATRIX HOSTS WAYS - megabytes that all runs of a case send
work()
{
	local size=${1##*-} bytes w sum=0

	case $size in
	*m) bytes=$((${size%m} << 20)) ;;
	*k) bytes=$((${size%k} * 1000)) ;;
	*) bytes=$size ;;
	esac
	case $1 in
	incast-*) bytes=$((bytes * $2)) ;;
	*) bytes=$((bytes * $2 * $2)) ;;
	esac
	for w in $3; do
		case $w in
		shuffle*) sum=$((sum + 2)) ;;	# rounds, with those to warm up
		tcp-cold) sum=$((sum + 1)) ;;
		*) sum=$((sum + 3)) ;;
		esac
	done
	# a round costs something even if it sends nothing
	echo $(((bytes / 1000000 + $2) * sum * runs))
}

# Keep the results, show one line for each.
progress()
{
	local line left
	declare -A v

	while read -r line; do
		if [[ $line != 'BENCH '* ]]; then
			printf '   %s\n' "$line"
			continue
		fi
		v=()
		for w in ${line#BENCH }; do v[${w%%=*}]=${w#*=}; done
		printf '%s mtu=%s %s\n' "$line" "$mtu" "${facts[${v[case]%%+*}]}" >>"$raw"
		[ -z "${v[p99_ns]-}" ] || v[slowdown]="p99 ${v[p99_ns]} ns"
		[ "${v[ok]}" = 1 ] || v[slowdown]=FAILED
		left=
		if [[ ${v[case]} != *+* ]]; then
			done_work=$((done_work + $(work "${matrix_of[${v[case]}]}" "${v[hosts]}" "${v[transport]}") / runs))
			left=$(((SECONDS - begun) * (all_work - done_work) / done_work))
			left=", about $((left / 60)) min left"
		fi
		printf '   %s, %d hosts, MTU %d, run %d: %-13s %s (%d %%%s)\n' "${v[case]}" "${v[hosts]}" \
			"$mtu" "${v[run]}" "${v[transport]}" "${v[slowdown]}" \
			$((100 * done_work / all_work)) "$left"
	done
	echo "$done_work" >"$out/done"
}

mkdir -p "$out"
make -s -C tools/lib OUT="$root/build/tools" UAPI="$root/uapi"
make -s -C tools/bench OUT="$root/build/tools" UAPI="$root/uapi"
make -s -C tools/bench/mpi OUT="$root/build/tools"
make -s -C tools/shufflectl OUT="$root/build/tools" UAPI="$root/uapi"
make -s -C selftests/net/shuffle OUT="$root/build/tools" UAPI="$root/uapi"
modules=$("$here/kmod.sh")

raw=$out/raw.txt
rm -f "$out"/report.*
[ -n "${KEEP-}" ] || : >"$raw"

declare -A facts matrix_of
all_work=0 done_work=0 begun=$SECONDS status=0
# case_ways CASE - its transports
case_ways()
{
	local own=${1##*,ways=}

	if [ -n "${WAYS-}" ] || [ -z "$own" ]; then echo "$ways"; else echo "${own//+/ }"; fi
}
for line in "${wanted[@]}"; do
	read -r _ _ matrix hosts _ _ _ opts <<<"$line"
	all_work=$((all_work + $(work "$matrix" "$hosts" "$(case_ways "$opts")")))
done

for ((i = 0; i < ${#wanted[@]}; i = next)); do
	read -r part _ _ hosts mtu _ rack _ <<<"${wanted[i]}"
	facts=() matrix_of=() names=()
	: >"$out/boot.cases"
	for ((next = i; next < ${#wanted[@]}; next++)); do
		read -r group name matrix h m goal r opts <<<"${wanted[next]}"
		[ "$h $m $r" = "$hosts $mtu $rack" ] || break
		if [ "$group" != "$part" ] && [[ qdisc =~ ^($group|$part)$ ]]; then break; fi
		facts[$name]="group=$group matrix=$matrix goal=$goal ${rack//,/ } ${opts%%,*}"
		matrix_of[$name]=$matrix
		names+=("$name")
		echo "$name $matrix ${opts%%,ways=*} $(case_ways "$opts")" >>"$out/boot.cases"
	done
	note "$hosts hosts, MTU $mtu, ${rack//,/ }: ${names[*]}, $runs runs each"
	# What the hosts' buffers may hold, and the rest; one kernel is all hosts.
	mem=6000
	[ "$hosts" -lt 100 ] || mem=9000
	guest=("$here/guest.sh" "$hosts" "$mtu" "$runs" "$rack" "$out/boot.cases")
	[ "$part" != qdisc ] || guest=("$here/qdisc.sh" "$hosts" "$mtu" "$runs")
	set +e
	selftests/vm/run.sh uml-time -t 36000 -m "$mem" -o "$root/$out/vm" \
		-e "BENCH_MODULES=$modules" -e "MEM_MAX=${mem}m" "${guest[@]}" |
		progress
	vm=${PIPESTATUS[0]}
	set -e
	done_work=$(<"$out/done")
	if [ "$vm" != 0 ]; then
		note "the virtual machine ended with status $vm ($out/vm/console.log)"
		status=1
	fi
done
rm -f "$out/boot.cases" "$out/done"

python3 "$here/report.py" "$raw" "$out" || die "nothing was measured"
echo
cat "$out/report.txt"
echo
note "$out/report.json, report.txt, report.svg"
exit "$status"
