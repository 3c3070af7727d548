#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A BCube(4,1): network namespaces h0..h15, whose two digits in base 4 are their label, each with a
# NIC for each level.  Servers that differ in one digit meet at a switch (bridge) of its level:
#
#   h0 eth0 ---- p0 \                           h0 eth1 ---- b0 \
#   h1 eth0 ---- p1 -+- l0s0 (h0 h1 h2 h3)      h4 eth1 ---- b4 -+- l1s0 (h0 h4 h8 h12)
#   ...                                         ...
#
# A server has one address, on lo.  Servers at distance 2 have two ways of one server between; half
# of the pairs take the one, half the other: the digit of level 1 is corrected first if the sum of
# all four digits is even.  Servers between forward IP.  Queues are those of rack.sh on all ports
# and NICs, and fq in front of the NICs: a hop from server to server and back takes 4 us.
#
# usage: bcube.sh up [rate=25gbit] [mtu=1500] [delay=2us]
#        bcube.sh ways     of all pairs: FROM TO, and the server between if there is one
set -euo pipefail

ports=4 servers=16

# way FROM TO
way()
{
	local a0=$(($1 % ports)) a1=$(($1 / ports)) b0=$(($2 % ports)) b1=$(($2 / ports))

	[ "$a0" != "$b0" ] && [ "$a1" != "$b1" ] || return 0
	if (((a0 + a1 + b0 + b1) % 2)); then
		echo $((a1 * ports + b0))
	else
		echo $((b1 * ports + a0))
	fi
}

rate=25gbit mtu=1500 buffer=1000000 hostbuffer=64000000 control=64000 delay=2us family=4 prio=1
burst=9100
# shellcheck source=tools/bench/rack_parts.sh
. "$(dirname "$0")/rack_parts.sh"

# level FROM TO - of the switch at which they meet
level() { echo $(($1 / ports != $2 / ports)); }

# mac_at HOST LEVEL
mac_at() { printf '02:18:00:0%d:00:%02x' "$2" "$1"; }

switches()
{
	local h s

	for ((s = 0; s < ports; s++)); do
		bridge_add "l0s$s"
		bridge_add "l1s$s"
	done
	for ((h = 0; h < servers; h++)); do echo "netns add h$h"; done >"$tmp/netns"
	ip -batch "$tmp/netns"
	for ((h = 0; h < servers; h++)); do
		echo "link add p$h mtu $mtu type veth peer name eth0 netns h$h mtu $mtu address $(mac_at $h 0)"
		echo "link add b$h mtu $mtu type veth peer name eth1 netns h$h mtu $mtu address $(mac_at $h 1)"
		echo "link set p$h master l0s$((h / ports)) addrgenmode none up"
		echo "link set b$h master l1s$((h % ports)) addrgenmode none up"
	done >"$tmp/ports"
	ip -batch "$tmp/ports"
	for ((h = 0; h < servers; h++)); do
		qdiscs "p$h" "$rate" "$buffer" "$delay" "bfifo limit $control" "bfifo limit $buffer"
		qdiscs "b$h" "$rate" "$buffer" "$delay" "bfifo limit $control" "bfifo limit $buffer"
	done >"$tmp/qdiscs"
	tc -batch "$tmp/qdiscs"
	for ((h = 0; h < servers; h++)); do
		echo "fdb replace $(mac_at $h 0) dev p$h master static"
		echo "fdb replace $(mac_at $h 1) dev b$h master static"
	done >"$tmp/fdb"
	bridge -batch "$tmp/fdb"
}

# routes HOST - for ip -batch; neighbours have an address of each NIC, 10.19.<level>.<host + 1>
routes()
{
	local h=$1 t via l

	for l in 0 1; do
		echo "addr add 10.19.$l.$((h + 1))/24 dev eth$l"
		echo "link set eth$l addrgenmode none"
		echo "link set eth$l up"
	done
	echo "addr add $(addr4 "$h")/32 dev lo"
	echo "link set lo up"
	for ((t = 0; t < servers; t++)); do
		[ $t != "$h" ] || continue
		via=$(way "$h" "$t")
		via=${via:-$t}
		l=$(level "$h" "$via")
		if [ "$via" = $t ]; then
			echo "neigh replace 10.19.$l.$((t + 1)) lladdr $(mac_at $t "$l") dev eth$l nud permanent"
		fi
		echo "route add $(addr4 $t)/32 via 10.19.$l.$((via + 1)) dev eth$l src $(addr4 "$h")"
	done
}

up()
{
	local h l

	tmp=$(mktemp -d)
	# shellcheck disable=SC2064 # the folder of now
	trap "rm -rf '$tmp'" EXIT
	sysctl -q -w net.core.netdev_max_backlog=10000000
	switches
	for ((h = 0; h < servers; h++)); do
		routes $h >"$tmp/host"
		ip -n "h$h" -batch "$tmp/host"
		for l in 0 1; do
			qdiscs eth$l "$rate" $hostbuffer 0 "bfifo limit $control" \
				"fq limit 100000 flow_limit 50000 buckets 4096"
		done >"$tmp/host"
		tc -n "h$h" -batch "$tmp/host"
		ip netns exec "h$h" sysctl -q -w net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 \
			net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.eth0.send_redirects=0 \
			net.ipv4.conf.eth1.send_redirects=0
	done
	for h in 1 4 5 6; do
		ip netns exec h0 ping -n -q -c 2 -i 0.01 -W 1 "$(addr4 $h)" >/dev/null || {
			echo "bcube.sh: h$h does not answer h0" >&2
			exit 1
		}
	done
}

case ${1-} in
up)
	for arg in "${@:2}"; do
		case $arg in
		rate=* | mtu=* | delay=*) declare "$arg" ;;
		*)
			echo "bcube.sh: unknown parameter $arg" >&2
			exit 2
			;;
		esac
	done
	up
	;;
ways)
	for ((i = 0; i < servers; i++)); do
		for ((k = 0; k < servers; k++)); do
			[ $i = $k ] || echo "$i $k $(way $i $k)"
		done
	done
	;;
*)
	echo "usage: bcube.sh up [name=value ...] | ways" >&2
	exit 2
	;;
esac
