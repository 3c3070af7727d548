#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run.sh FOLDER RUNS TARGET... - the user-space tests and fuzz targets, as one TAP; PARSER_RUNS=N:
# and so many datagrams for the parser.  RUN: words in front of each program
# run.sh --parser FOLDER MILLIONS - only the parser, a line of TAP for each seed

# a sanitizer's finding must not go by as a skipped line
export ASAN_OPTIONS="detect_leaks=1:abort_on_error=0:exitcode=99:malloc_context_size=0"
export UBSAN_OPTIONS="print_stacktrace=1"
RUN=${RUN-}

# parse RUNS SEED - a line of TAP
parse()
{
	n=$((n + 1))
	# shellcheck disable=SC2086 # words
	if timeout 3600 $RUN "$out/parser" -runs="$1" -seed="$2" -max_len=512 >"$out/parser.log" 2>&1; then
		echo "ok $n - parser: $1 datagrams, seed $2"
	else
		bad=$((bad + 1))
		tail -n 40 "$out/parser.log" | sed 's/^/# /'
		echo "not ok $n - parser: $1 datagrams, seed $2"
	fi
}

n=0
bad=0
if [ "$1" = --parser ]; then
	out=$2
	seed=1
	while [ $((n * 50)) -lt "$3" ]; do
		parse 50000000 "$seed"
		seed=$((seed + 1))
	done
	echo "1..$n"
	[ "$bad" -eq 0 ]
	exit
fi
out=$1
runs=$2
shift 2

# every wait has an end
# shellcheck disable=SC2086 # words
timeout 1200 $RUN "$out/portable_test" >"$out/portable_test.tap" 2>"$out/portable_test.err"
status=$?
grep -v '^1\.\.' "$out/portable_test.tap"
sed 's/^/# /' "$out/portable_test.err"
n=$(grep -Ec '^(not )?ok ' "$out/portable_test.tap")
bad=$(grep -c '^not ok ' "$out/portable_test.tap")
if [ "$status" -gt 1 ] || ! grep -q '^1\.\.' "$out/portable_test.tap"; then
	n=$((n + 1))
	bad=$((bad + 1))
	echo "not ok $n - portable_test ended with status $status"
fi

for target in "$@"; do
	n=$((n + 1))
	log=$out/$target.log
	r=$runs
	# a datagram is soon walked; a sequence is checked after every step
	[ "$target" = fuzz_wire ] || r=$((runs / 10))
	# shellcheck disable=SC2086 # words
	if timeout 1200 $RUN "$out/$target" -runs="$r" -seed=1 -max_len=512 -len_control=0 \
			-artifact_prefix="$out/$target-" >"$log" 2>&1; then
		echo "ok $n - $target: $r runs"
	else
		bad=$((bad + 1))
		tail -n 40 "$log" | sed 's/^/# /'
		echo "not ok $n - $target: $r runs, see $log"
	fi
done
[ -z "${PARSER_RUNS-}" ] || parse "$PARSER_RUNS" 1
echo "1..$n"
[ "$bad" -eq 0 ]
