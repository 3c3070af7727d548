#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Machines of relays for agg_allreduce, the last hosts of a rack of rack.sh: their ports become as
# fast as those of the hosts of a rack together.
#
# usage: agg_relays.sh HOSTS RACKS GBPS RTT_NS
#   HOSTS  without the relays
#   GBPS   of a host's port
#   RTT_NS between two of them
set -euo pipefail

hosts=$1 racks=$2 gbps=$3 rtt_ns=$4
bin=build/tools
fast=$((gbps * hosts / racks))

for ((r = 0; r < racks; r++)); do
	h=$((hosts + r))
	tc qdisc change dev "p$h" parent 1:1 handle 2: tbf rate "${fast}gbit" burst 91000 limit 10000000
	tc -n "h$h" qdisc change dev eth0 root handle 2: tbf rate "${fast}gbit" burst 91000 limit 64000000
	# the limit of grants is twice that of a fast link, for sorted streams wait for one another;
	# their unit is that of the hosts' links: so all hosts are granted some
	ip netns exec "h$h" $bin/shufflectl config set link-rate "${fast}000" rtt "$rtt_ns" \
		rtt-bytes $((gbps * rtt_ns / 8)) overcommit $((20 * hosts / racks))
done
