# SPDX-License-Identifier: GPL-2.0-or-later
#
# Many shuffles of all hosts at once (coflows): Poisson arrivals, log-normal sizes, the same for
# all transports of a run.  Sourced by guest.sh.
#
# shellcheck shell=bash disable=SC2034,SC2154 # status, hosts, rack: guest.sh

COFLOWS=20		# shuffles
COFLOW_MEDIAN=8000	# bytes of a message
COFLOW_SIGMA=1.3	# of the logarithm
COFLOW_LEAST=1000
COFLOW_MOST=400000

# coflow_plan LOAD SEED - lines "NS BYTES": when each shuffle starts, and its message length.
# LOAD is what all bytes are of what a link carries until the last start, on average.
coflow_plan()
{
	awk -v load="$1" -v seed="$2" -v n=$COFLOWS -v median=$COFLOW_MEDIAN -v sigma=$COFLOW_SIGMA \
		-v least=$COFLOW_LEAST -v most=$COFLOW_MOST -v peers=$((hosts - 1)) \
		-v gbit="${rack[rate]}" '
		# Park and Miller, "Random number generators": exact in doubles
		function uniform() { x = x * 16807 % 2147483647; return x / 2147483647 }
		function normal() { return sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform()) }
		BEGIN {
			x = 1000003 * seed
			for (i = 0; i < 10; i++) uniform()
			for (i = 0; i < n; i++) {
				len = int(median * exp(sigma * normal()))
				size[i] = len < least ? least : len > most ? most : len
				sum += size[i]
			}
			gap = sum / n * peers * 8 / gbit / load
			for (i = 0; i < n; i++) {
				printf "%.0f %d\n", at, size[i]
				at -= gap * log(uniform())
			}
		}'
}

# coflow PROGRAM CASE RUN WAY LOAD [ARGS...] - all shuffles of one run; one result for each, and
# one with the mean and the 95th percentile of their times
coflow()
{
	local prog=$1 c=$2 run=$3 way=$4 load=$5 at ns bytes begin matrix i=0
	local -a pids=()

	rm -f /tmp/coflow.*
	coflow_plan "$load" "$run" >/tmp/coflow.plan
	begin=$(awk '{ printf "%.0f", ($1 + 30) * 1e9 }' /proc/uptime)
	while read -r ns bytes; do
		at=$((begin + ns))
		matrix=$(matrix_of "uniform-$bytes" 1)
		bench "$prog" "$c+$i" "$run" "$way" "$matrix" "${@:6}" \
			-p $((6100 + i)) -s 0 -a "$at" >"/tmp/coflow.$i" &
		pids+=($!)
		i=$((i + 1))
	done </tmp/coflow.plan
	for i in "${pids[@]}"; do wait "$i" || status=1; done
	cat /tmp/coflow.[0-9]*
	cat /tmp/coflow.[0-9]* | sed -n 's/.* slowdown=\([^ ]*\).* completion_ns=\([0-9]*\).*/\2 \1/p;
		s/.* completion_ns=\([0-9]*\).* slowdown=\([^ ]*\).*/\1 \2/p' | sort -n |
		awk -v head="BENCH case=$c hosts=$hosts transport=$way run=$run" -v n=$COFLOWS '
		{ t[NR] = $1; sum += $1; slow += $2 }
		END {
			if (NR != n) { print head " ok=0"; exit }
			printf "%s ok=1 slowdown=%.4f mean_ns=%.0f p95_ns=%.0f\n", head, slow / n,
				sum / n, t[int(n * .95)]
		}'
}
