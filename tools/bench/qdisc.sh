#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What "shufflectl qdisc install" is worth: how long grants are on their way
# while data saturates the rack (a shuffle, and a TCP stream out of and into every
# host), without and with it.  Runs in the guest (lane
# uml-time); prints lines for report.py.
#
# A host's eth0 is the port of a bridge inside it, which has the address: a
# capture there sees a packet before eth0's qdisc does, and the other host's
# sees it when it has arrived.
#
#   h0 hb - eth0 ---- p0 \
#   h1 hb - eth0 ---- p1 -+- rack
#
# usage: MEM_MAX=BYTES qdisc.sh HOSTS MTU RUNS
set -euo pipefail

hosts=$1 mtu=$2 runs=$3
here=tools/bench
bin=build/tools
dir=$SHUFFLE_OUT/grants
mac() { printf '02:18:00:00:00:%02x' $(($1 + 1)); }

# One queue on every link, with room; a port delays by half a round trip.
queues()
{
	echo "qdisc del dev $1 root"
	if [ "$2" = 0 ]; then
		echo "qdisc add dev $1 root handle 2: tbf rate 25gbit burst 9100 limit 64000000"
	else
		echo "qdisc add dev $1 root handle 1: netem delay $2 limit 1000000"
		echo "qdisc add dev $1 parent 1:1 handle 2: tbf rate 25gbit burst 9100 limit 1000000"
	fi
}

mkdir -p "$dir"
$bin/shufflectl config set mem-max "$MEM_MAX"
$here/rack.sh up "$hosts" rate=25gbit mtu="$mtu"
$here/config_all.sh "$hosts" link-rate 25000 rtt 4000
for ((h = 0; h < hosts; h++)); do
	queues "p$h" 2us
done | tc -batch -
for ((h = 0; h < hosts; h++)); do
	{
		echo "addr flush dev eth0"
		echo "link add hb type bridge stp_state 0 mcast_snooping 0 forward_delay 0"
		echo "link set hb mtu $mtu address $(mac "$h") addrgenmode none up"
		echo "link set eth0 master hb"
		echo "addr add 10.77.0.$((h + 1))/16 dev hb"
		for ((j = 0; j < hosts; j++)); do
			echo "neigh replace 10.77.0.$((j + 1)) lladdr $(mac "$j") dev hb nud permanent"
		done
	} | ip -n "h$h" -batch -
	queues eth0 0 | tc -n "h$h" -batch -
done

each_device()
{
	local h

	for ((h = 0; h < hosts; h++)); do
		$bin/shufflectl -n "h$h" qdisc "$1" eth0
		$bin/shufflectl qdisc "$1" "p$h"
	done
}

status=0
for ((run = 1; run <= runs; run++)); do
	op=$((run * 100))
	for way in without with; do
		[ "$way" = without ] || each_device install
		dumps=()
		for ((h = 0; h < hosts; h++)); do
			ip netns exec "h$h" tcpdump -q -n -i hb -s 256 -B 32768 --immediate-mode \
				--time-stamp-precision=nano -w "$dir/$h" \
				'udp dst port 818 and ip[1] & 0xfc = 0xc0' 2>"$dir/$h.log" &
			dumps+=($!)
		done
		sleep 1
		# data that saturates every link for as long as the shuffle lasts
		bulk=()
		for ((h = 0; h < hosts; h++)); do
			ip netns exec "h$h" python3 $here/bulk.py 10000000 "10.77.0.$(((h + 1) % hosts + 1))" &
			bulk+=($!)
		done
		# addresses as the selftests have them; every byte is compared
		timeout 300 $bin/shuffle_peer prefix= n="$hosts" matrix=uniform:262144 ops=4 \
			op=$op seed="$run" >"$dir/peer.log" ||
			{ status=1; tail -3 "$dir/peer.log"; }
		wait "${bulk[@]}" || status=1
		sleep 1
		kill -INT "${dumps[@]}"
		wait "${dumps[@]}" || true
		grep -h '[1-9][0-9]* packets\{0,1\} dropped by kernel' "$dir"/*.log && status=1
		python3 $here/grants.py "$way" "$run" "$dir" "$hosts" || status=1
		[ "$way" = without ] || each_device remove
		op=$((op + 50))
	done
done
exit $status
