#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A rack of hosts: network namespaces h0..hN-1, each with one veth (eth0) whose
# other end (p0..pN-1) is a port of one bridge in the current namespace.
#
#   h0 eth0 ---- p0 \
#   h1 eth0 ---- p1 -+- rack (bridge)      addresses 10.18.0.1, 10.18.0.2, ...
#   h2 eth0 ---- p2 /
#
# A port delays what goes to its host, then both directions have the same queues:
#
#   [port only: 1: netem delay] -> 2: tbf -> 3: prio -> 10: bfifo  band 0, control
#                                                   \-> 11: bfifo  band 1, the rest
#
# A round trip crosses two ports: 4 us.  No netem on the hosts: it takes packets
# away from their sockets, and then neither TCP small queues nor anybody else
# can tell how much waits in the host's own queue (on a real NIC they can).
# For the same reason that queue is deep: a host does not drop what it sends
# itself, it waits; the buffers of the ports are the scarce ones.  The small burst
# of tbf makes it segment super-packets, so the queues hold real packets; the bands
# count their own bytes because prio under tbf ignores the limit of tbf.  Band 0
# takes skb->priority 6 and 7 on a host, and DSCP CS6 and CS7 everywhere (crossing
# a veth clears skb->priority).
#
# With racks=R each of R bridges has a part of the hosts, in order, and a trunk to
# one more bridge, the core; a trunk has core= percent of what the hosts of a rack
# have together, both ways.  A round trip through the core takes twice as long:
#
#   rack0 (bridge) t0 ---- c0 core (bridge) c1 ---- t1 rack1 (bridge)
#
# With nic=1 the NIC of a host is apart, and both ways can be stopped (sch_plug):
# what arrives waits behind the link, at e0; what the host sends waits in front of
# its link, in the bands of eth0, which are plugs then.
#
#   h0 eth0 ---- e0 nic0 (bridge) q0 ---- p0 rack (bridge)
#
# rate=none leaves all queues out: only the CPU limits such a rack.
#
# usage: rack.sh up HOSTS [rate=25gbit|none] [mtu=1500] [buffer=1000000]
#                         [hostbuffer=64000000] [control=64000] [delay=2us]
#                         [hostdelay=0] [family=4|6|46] [loss=0] [prio=1]
#                         [racks=1] [core=100] [nic=0]
#        rack.sh down
#        rack.sh check HOSTS        ping h0 -> others, prints the RTT
#        rack.sh show HOSTS         tc -s of all band queues
set -euo pipefail

die()
{
	printf 'rack.sh: %s\n' "$*" >&2
	exit 1
}

# shellcheck source=tools/bench/rack_parts.sh
. "$(dirname "$0")/rack_parts.sh"

rack_of() { if [ "$racks" = 1 ]; then echo rack; else echo "rack$(($1 * racks / $2))"; fi; }

core_up()
{
	local n=$1 r i trunk

	# in Mb/s: larger numbers are too large for some awks
	trunk=$(awk -v r="${rate%bit}" -v n="$n" -v k="$racks" -v c="$core" '
		BEGIN { printf "%dmbit", r * (r ~ /g$/ ? 1e3 : 1) * n / k * c / 100 }')
	bridge_add core
	for ((r = 0; r < racks; r++)); do
		port_add "t$r" "c$r" "rack$r"
		echo "link set c$r master core addrgenmode none"
		echo "link set c$r up"
	done >"$tmp/trunks"
	ip -batch "$tmp/trunks"
	for ((r = 0; r < racks; r++)); do
		qdiscs "t$r" "$trunk" $((4 * buffer)) 0 "bfifo limit $((4 * control))" "bfifo limit $((4 * buffer))"
		qdiscs "c$r" "$trunk" $((4 * buffer)) "$delay" "bfifo limit $((4 * control))" "bfifo limit $((4 * buffer))"
	done >"$tmp/trunk-qdiscs"
	tc -batch "$tmp/trunk-qdiscs"
	for ((i = 0; i < n; i++)); do
		for ((r = 0; r < racks; r++)); do
			if [ "rack$r" = "$(rack_of "$i" "$n")" ]; then
				echo "fdb replace $(mac "$i") dev c$r master static"
			else
				echo "fdb replace $(mac "$i") dev t$r master static"
			fi
		done
	done >"$tmp/trunk-fdb"
	bridge -batch "$tmp/trunk-fdb"
}

rack_up()
{
	local n=$1 i j r near band0 band1

	tmp=$(mktemp -d)
	# shellcheck disable=SC2064 # the folder of now
	trap "rm -rf '$tmp'" EXIT

	sysctl -q -w net.core.netdev_max_backlog=10000000
	for i in 4 6; do
		sysctl -q -w net.ipv$i.neigh.default.gc_thresh3=1048576 \
			net.ipv$i.neigh.default.gc_thresh2=1048576 \
			net.ipv$i.neigh.default.gc_thresh1=1048576 2>/dev/null || true
	done

	for ((r = 0; r < racks; r++)); do
		bridge_add "$(rack_of $((r * n / racks + (r * n % racks > 0))) "$n")"
	done

	for ((i = 0; i < n; i++)); do echo "netns add h$i"; done >"$tmp/netns"
	ip -batch "$tmp/netns"
	near=p
	if [ "$nic" = 1 ]; then
		near=e
		for ((i = 0; i < n; i++)); do bridge_add "nic$i"; done
	fi
	for ((i = 0; i < n; i++)); do
		if [ "$nic" = 1 ]; then
			port_add "p$i" "q$i" "$(rack_of "$i" "$n")"
			echo "link set q$i master nic$i addrgenmode none"
			echo "link set q$i up"
		fi
		echo "link add $near$i mtu $mtu type veth peer name eth0 netns h$i mtu $mtu address $(mac "$i")"
		if [ "$nic" = 1 ]; then
			echo "link set e$i master nic$i addrgenmode none"
		else
			echo "link set p$i master $(rack_of "$i" "$n") addrgenmode none"
		fi
		echo "link set $near$i up"
	done >"$tmp/ports"
	ip -batch "$tmp/ports"
	lossy=$delay
	[ "$loss" = 0 ] || lossy="$delay loss $loss%"
	for ((i = 0; i < n; i++)); do
		qdiscs "p$i" "$rate" "$buffer" "$lossy" "bfifo limit $control" "bfifo limit $buffer"
		if [ "$nic" = 1 ]; then
			echo "qdisc add dev e$i root handle 12: plug limit $hostbuffer"
			echo "qdisc change dev e$i root handle 12: plug release_indefinite"
		fi
	done >"$tmp/qdiscs"
	tc -batch "$tmp/qdiscs"
	for ((i = 0; i < n; i++)); do echo "fdb replace $(mac "$i") dev p$i master static"; done >"$tmp/fdb"
	bridge -batch "$tmp/fdb"
	[ "$racks" = 1 ] || core_up "$n"

	for ((j = 0; j < n; j++)); do
		echo "neigh replace $(addr4 "$j") lladdr $(mac "$j") dev eth0 nud permanent"
		case $family in
		*6*) echo "neigh replace $(addr6 "$j") lladdr $(mac "$j") dev eth0 nud permanent" ;;
		esac
	done >"$tmp/neigh"
	band0="bfifo limit $control" band1=$hostqueue
	[ "$nic" = 0 ] || band0="plug limit $hostbuffer" band1="plug limit $hostbuffer"
	{
		qdiscs eth0 "$rate" "$hostbuffer" "$hostdelay" "$band0" "$band1"
		if [ "$nic" = 1 ]; then
			echo "qdisc change dev eth0 parent 3:1 handle 10: plug release_indefinite"
			echo "qdisc change dev eth0 parent 3:2 handle 11: plug release_indefinite"
		fi
	} >"$tmp/host-qdiscs"
	for ((i = 0; i < n; i++)); do
		{
			echo "link set lo up"
			case $family in
			*6*) ;;
			*) echo "link set eth0 addrgenmode none" ;;
			esac
			echo "addr add $(addr4 "$i")/16 dev eth0"
			echo "link set eth0 up"
			case $family in
			*6*) echo "addr add $(addr6 "$i")/64 dev eth0 nodad" ;;
			esac
			cat "$tmp/neigh"
		} >"$tmp/host"
		ip -n "h$i" -batch "$tmp/host"
		tc -n "h$i" -batch "$tmp/host-qdiscs"
	done
}

rack_down()
{
	local ns link

	for link in $(ip -o link show type veth | awk -F'[ @:]+' '$2 ~ /^[pet][0-9]+$/ { print $2 }'); do
		ip link del "$link"
	done
	for ns in $(ip netns list | awk '/^h[0-9]+/ { print $1 }'); do
		ip netns del "$ns"
	done
	for link in $(ip -o link show type bridge | awk -F'[ @:]+' '$2 ~ /^(rack|nic)[0-9]*$|^core$/ { print $2 }'); do
		ip link del "$link"
	done
}

rack_check()
{
	local n=$1 i

	for ((i = 1; i < n; i++)); do
		ip netns exec h0 ping -n -q -c 3 -i 0.01 -W 1 "$(addr4 "$i")" >/dev/null ||
			die "h$i does not answer h0"
	done
	ip netns exec h0 ping -n -q -c 3 -i 0.01 -W 1 "$(addr4 1)" |
		sed -n 's|^rtt [^=]*= \([^/]*\)/.*|rack.sh: RTT \1 ms|p'
}

rack_show()
{
	local n=$1 i

	for ((i = 0; i < n; i++)); do
		echo "== port p$i"
		tc -s qdisc show dev "p$i"
		echo "== host h$i"
		tc -n "h$i" -s qdisc show dev eth0
	done
}

cmd=${1:?usage: rack.sh up HOSTS [name=value ...] | down | check HOSTS | show HOSTS}
hosts=${2:-0}
rate=25gbit mtu=1500 buffer=1000000 hostbuffer=64000000 control=64000 delay=2us hostdelay=0 hostqueue='' family=4
loss=0 prio=1 racks=1 core=100 nic=0
for arg in "${@:3}"; do
	case $arg in
	rate=* | mtu=* | buffer=* | hostbuffer=* | control=* | delay=* | hostdelay=* | hostqueue=* | family=* | \
	loss=* | prio=* | racks=* | core=* | nic=*) declare "$arg" ;;
	*) die "unknown parameter $arg" ;;
	esac
done
hostqueue=${hostqueue:-bfifo limit $hostbuffer}
# Room for one packet at least, less than a super-packet.  Where hosts stop, no
# more than one: a link that has been idle may send so much at once.
burst=9100
[ "$nic" = 0 ] || burst=$((mtu + 100))
case $cmd in
up | check | show)
	if [ "$hosts" -lt 2 ] || [ "$hosts" -gt 1000 ]; then die "2 to 1000 hosts"; fi
	"rack_$cmd" "$hosts"
	;;
down) rack_down ;;
*) die "unknown command $cmd" ;;
esac
