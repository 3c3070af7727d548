#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs in a guest: captures what host 0 sends and receives in small shuffles over
# IPv4 and IPv6, with and without super-packets, with losses on the way to and
# from it.  Leaves capture.pcap and the counters of host 0 in SHUFFLE_OUT.
set -u

# shellcheck source=../../../selftests/net/shuffle/lib.sh
. "$(dirname "$0")/../../../selftests/net/shuffle/lib.sh"

work=$(mktemp -d)
state=$work

host0_counters()
{
	nsx h0 cat /proc/net/shuffle/netstat
}

# shellcheck disable=SC2317 # wait_for calls it
capturing()
{
	grep -q 'listening on' "$SHUFFLE_OUT/$1.log"
}

# Host 0 loses nothing behind the place of the capture: what it has counted is
# in the file.  The others lose on their way out, and the ports on theirs.
losses()
{
	local h

	for h in 1 2; do
		tc -n "shf-h$h" qdisc replace dev eth0 root netem loss "$1" limit 20000 || exit 1
		tc -n shf-br qdisc replace dev "p$h" root netem loss "$1" limit 20000 || exit 1
	done
}

rack 3 link-rate 10000 rtt 100000
host0_counters >"$SHUFFLE_OUT/before"
dumps=()
for dev in eth0 lo; do
	ip netns exec shf-h0 tcpdump -i $dev --immediate-mode -s 65535 -B 131072 -U -Z root \
		-w "$SHUFFLE_OUT/$dev.pcap" udp 2>"$SHUFFLE_OUT/$dev.log" &
	dumps+=($!)
	wait_for 10 capturing $dev || { cat "$SHUFFLE_OUT/$dev.log"; exit 1; }
done
status=0
for v6 in 0 1; do
	losses 0%
	peer n=3 v6=$v6 matrix=uniform:400000 || status=1	# more than goes without GRANTs
	peer n=3 v6=$v6 matrix=uniform:100 || status=1
	peer n=3 v6=$v6 matrix=empty || status=1
	losses 10%
	peer n=3 v6=$v6 matrix=skew:250000 ops=2 || status=1
done
sleep 0.5	# repeated ACKs on their way
host0_counters >"$SHUFFLE_OUT/after"
sleep 0.3
kill -TERM "${dumps[@]}"
wait "${dumps[@]}"
rack_down
rm -rf "$work"
exit $status
