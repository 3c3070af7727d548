#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What echo.sh runs inside the kernel: h0 asks h1, a thousand times each way.
#
# usage: guest.sh RUNS
set -euo pipefail

bin=build/tools
port=819	# of the program; the module has 818

tools/bench/rack.sh up 2 rate=none
ip netns exec h1 $bin/shufflectl config set echo all
ip netns exec h1 $bin/shufflectl config set echo-rate 1000000
ip netns exec h1 "$BUILT/echo_program" $port &
program=$!
sleep 0.5

# ask WHO OPTIONS...
ask()
{
	ip netns exec h0 $bin/shuffle-rperf --mode pingpong --duration 1 --quiet --json /tmp/asked \
		"${@:2}" 10.18.0.2
	python3 -B - "$1" <<-'END'
		import json, sys
		r = json.load(open("/tmp/asked"))["instances"][0]
		assert r["answered"] == r["sent"], r
		print("ECHO by=%s least_ns=%d median_ns=%d mean_ns=%d" %
		      (sys.argv[1], r["min_ns"], r["p50_ns"], r["mean_ns"]))
	END
}

for ((run = 0; run < $1; run++)); do
	ask program --port $port
	ask module
	tc -n h1 qdisc add dev eth0 clsact
	tc -n h1 filter add dev eth0 ingress bpf da obj "$BUILT/echo_tc.o" sec tc
	ask tc
	tc -n h1 qdisc del dev eth0 clsact
done
kill $program
