#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The relays that agg_allreduce needs, on a rack of rack.sh whose last hosts they are: their ports
# become as fast as those of the hosts of a rack together.
#
# usage: agg_relays.sh HOSTS RACKS GBPS RTT_NS PORT
#   HOSTS  without the relays
#   GBPS   of a host's port
#   RTT_NS between two of them
#   PORT   of slice 0
set -euo pipefail

hosts=$1 racks=$2 gbps=$3 rtt_ns=$4 port=$5
bin=build/tools
top=$((hosts + racks))
fast=$((gbps * hosts / racks))

addr() { echo "10.18.0.$(($1 + 1)):$2"; }

relay()
{
	ip netns exec "h$h" $bin/shufflectl relay add "$@" sorted bytes 64M members "${members[@]}"
}

for ((r = 0; r < racks; r++)); do
	h=$((hosts + r))
	tc qdisc change dev "p$h" parent 1:1 handle 2: tbf rate "${fast}gbit" burst 91000 limit 10000000
	tc -n "h$h" qdisc change dev eth0 root handle 2: tbf rate "${fast}gbit" burst 91000 limit 64000000
	# the limit of grants is twice that of a fast link, for sorted streams wait for one another;
	# their unit is that of the hosts' links: so all hosts are granted some
	ip netns exec "h$h" $bin/shufflectl config set link-rate "${fast}000" rtt "$rtt_ns" \
		rtt-bytes $((gbps * rtt_ns / 8)) overcommit $((20 * hosts / racks))
	for ((s = 0; s < racks; s++)); do
		members=()
		for ((i = 0; i < hosts + racks; i++)); do members+=("$(addr $i $((port + s)))"); done
		members+=("$(addr $((hosts + s)) $((port + 8)))")
		from=()
		for ((i = 0; i < hosts; i++)); do
			[ $((i * racks / hosts)) != $r ] || from+=("$i")
		done
		relay "slice$s" rank $h to $top from "${from[@]}"
		[ $s = $r ] || continue
		from=()
		for ((i = 0; i < racks; i++)); do from+=($((hosts + i))); done
		# shellcheck disable=SC2046 # several words
		relay top rank $top to $(seq 0 $((hosts - 1))) from "${from[@]}"
	done
done
